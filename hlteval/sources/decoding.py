"""Decoding: bytes to text, strictly, with the place of the first byte that does not fit."""

from __future__ import annotations

import codecs
import hashlib

import msgspec

from hlteval.findings import Finding, Span, excerpt, finding, spot
from hlteval.sources.signatures import KINDS, by_content

_BOM = "\ufeff"
_UNKNOWN = "\ufffd"
_MARKS = (
    ("UTF-32", codecs.BOM_UTF32_LE),
    ("UTF-32", codecs.BOM_UTF32_BE),
    ("UTF-16", codecs.BOM_UTF16_LE),
    ("UTF-16", codecs.BOM_UTF16_BE),
)
_HEAD = 4096
"""Bytes that a guess at UTF-16 is made from."""
_NOT_IN_WINDOWS_1252 = bytes.fromhex("818d8f909d")


class Decoded(msgspec.Struct, frozen=True):
    """The text of a file, or None where it has none, and what is to be said about its bytes."""

    text: str | None
    findings: tuple[Finding, ...] = ()


def decode(data: bytes, *, display: str, encoding: str = "utf-8") -> Decoded:
    r"""The text of a file; line ends are left as they are.

    A byte order mark is taken away and told (SRC202). A byte that does not fit (SRC201, SRC204) or
    a NUL character (SRC203) is told once, at its first place, and there is no text then.

    Args:
        data: the whole file.
        display: how findings name it.
        encoding: a name that Python knows.

    Raises:
        LookupError: if there is no such encoding.

    Examples:
        >>> decode(b"\xef\xbb\xbfab", display="d1.a2").text
        'ab'
        >>> decode(b"ab\nc\xe9", display="d1.a2").findings[0].span
        Span(line=2, column=2, end_column=3)
    """
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        return Decoded(None, (_misfit(data, error, display, encoding),))
    if "\0" in text:
        return Decoded(None, (_nul(data, text, display),))
    if text.startswith(_BOM):
        return Decoded(text[1:], (finding("SRC202", file=display),))
    return Decoded(text)


def sha256(data: bytes) -> str:
    """The SHA-256 digest of a file, in hexadecimal.

    Examples:
        >>> sha256(b"")[:8]
        'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def _misfit(data: bytes, error: UnicodeDecodeError, display: str, encoding: str) -> Finding:
    """The finding about the first byte that cannot be decoded."""
    text = data.decode(encoding, "replace")
    span, line = _place(text, len(data[: error.start].decode(encoding)))
    utf8 = codecs.lookup(encoding).name == "utf-8"
    return finding(
        "SRC201" if utf8 else "SRC204",
        file=display,
        span=span,
        excerpt=excerpt(line, span),
        byte=f"0x{data[error.start]:02x}",
        offset=error.start,
        encoding=encoding,
        guess=_guess(data, text, error) if utf8 else "",
    )


def _nul(data: bytes, text: str, display: str) -> Finding:
    """The finding about the first NUL character."""
    span, line = _place(text, text.index("\0"))
    kind = _wide(data)
    return finding(
        "SRC203",
        file=display,
        span=span,
        excerpt=excerpt(line, span),
        count=text.count("\0"),
        guess=f"{kind}; " if kind else "",
    )


def _place(text: str, index: int) -> tuple[Span, str]:
    """The place of a code point and the line around it, a byte order mark not being counted."""
    if text.startswith(_BOM) and index > 0:
        text, index = text[1:], index - 1
    start, end = text.rfind("\n", 0, index) + 1, text.find("\n", index)
    return spot(text, index), text[start:] if end < 0 else text[start:end]


def _guess(data: bytes, text: str, error: UnicodeDecodeError) -> str:
    """What the file may be instead of UTF-8, by simple facts; empty where they say nothing."""
    packing, kind = by_content(data[:512]), _wide(data)
    if packing:
        return f"the file is {KINDS[packing]}, not text; "
    if kind:
        return f"{kind}; "
    misfits = text.count(_UNKNOWN) - data.count(_UNKNOWN.encode())
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore")) - text.count(_UNKNOWN)
    if error.reason == "unexpected end of data":
        kind = "the file ends within a character and is probably truncated"
    elif beyond_ascii > 2 * misfits:
        kind = "most of the file is UTF-8, so this part is damaged or pasted from elsewhere"
    else:
        kind = _eight_bit(data)
    count = f"{misfits} invalid places in total" if misfits > 1 else ""
    return "".join(f"{part}; " for part in (kind, count) if part)


def _wide(data: bytes) -> str:
    """Whether a file looks like UTF-16 or UTF-32: by its mark, or by a NUL in every second byte."""
    for name, mark in _MARKS:
        if data.startswith(mark):
            return f"the file starts with a {name} byte order mark (BOM)"
    head = data[:_HEAD]
    first, second, pairs = head[::2].count(0), head[1::2].count(0), len(head) // 2
    if max(first, second) * 2 <= pairs or min(first, second) * 10 > pairs:
        return ""
    return f"the file looks like UTF-16-{'BE' if first > second else 'LE'}"


def _eight_bit(data: bytes) -> str:
    """Whether a file looks Western European: mostly ASCII, and no byte that is unused there."""
    high = data.translate(None, bytes(range(0x80)))
    if 3 * len(high) > len(data) or any(byte in high for byte in _NOT_IN_WINDOWS_1252):
        return ""
    windows = any(byte < 0xA0 for byte in high)
    return f"the file looks like {'windows-1252' if windows else 'Latin-1 or windows-1252'}"
