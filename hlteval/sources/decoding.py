"""Decoding: bytes to text, strictly, with the location of the first invalid byte and a guess."""

import codecs
import hashlib
import re

import msgspec

from hlteval.findings import Finding, entry, excerpt, finding, spot
from hlteval.sources.names import KINDS, archive_kind, document_kind, has_signature

_BOM = "\ufeff"
_REPLACEMENT = "\ufffd"
_MARKS = (
    ("UTF-32", codecs.BOM_UTF32_LE),
    ("UTF-32", codecs.BOM_UTF32_BE),
    ("UTF-16", codecs.BOM_UTF16_LE),
    ("UTF-16", codecs.BOM_UTF16_BE),
)
#: Number of bytes from which UTF-16 is guessed.
_HEAD = 4096
#: A run of bytes beyond ASCII, and the letters next to it.
_RUN = re.compile(rb"([A-Za-z]?)([\x80-\xff]+)([A-Za-z]?)")
_SHORT = re.compile(rb"(?<![\x80-\xff])[\x80-\xff]{1,2}(?![\x80-\xff])")
#: A pair of bytes of the most frequent characters in East Asian encodings.
_FREQUENT = re.compile(rb"[\xa1-\xa4\xb0-\xd7][\xa1-\xfe]")
#: Fewest different pairs from which an encoding is guessed.
_FEWEST = 4
_NOT_IN_WINDOWS_1252 = bytes.fromhex("818d8f909d")


#: Codecs of Python that are not encodings of text files: of host names, and of escapes.
_UNSUITABLE = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})


def check_encoding(name: str) -> None:
    """Check that a codec decodes the bytes of text files.

    Raises:
        LookupError: for an unknown codec, and for one of something else, such as host names.

    Examples:
        >>> check_encoding("Latin-1")
        >>> check_encoding("idna")
        Traceback (most recent call last):
        LookupError: idna is not an encoding of text files
    """
    try:
        unsuitable = codecs.lookup(name).name in _UNSUITABLE
        if not unsuitable:
            b"a".decode(name, "replace")  # refuses codecs from bytes to bytes
    except (LookupError, ValueError) as error:
        raise LookupError(f"unknown encoding {name}") from error
    if unsuitable:
        raise LookupError(f"{name} is not an encoding of text files")


class DecodeResult(msgspec.Struct, frozen=True):
    """The text of a file, None if it cannot be decoded, and the findings of its bytes."""

    text: str | None
    findings: tuple[Finding, ...] = ()


def decode(
    data: bytes, *, display: str, encoding: str = "utf-8", replace: bool = False
) -> DecodeResult:
    r"""The text of a file; line endings are not changed.

    A byte order mark is removed and reported (SRC202). The first invalid byte (SRC201, SRC204) or
    NUL character (SRC203) is reported, or that the file is a spreadsheet, picture or other document
    (SRC205); the file has no text then.

    Args:
        data: the bytes of the file.
        display: name of the file in findings.
        encoding: name of a Python codec.
        replace: whether the file has a text all the same, with U+FFFD for invalid bytes.

    Raises:
        LookupError: for an unknown encoding.

    Examples:
        >>> decode(b"\xef\xbb\xbfab", display="d1.a2").text
        'ab'
        >>> decode(b"ab\nc\xe9", display="d1.a2").findings[0].span
        Span(line=2, column=2, end_column=3)
    """
    if kind := not_text(data):
        problem = finding("SRC205", file=display, kind=kind)
        return DecodeResult(data.decode(encoding, "replace") if replace else None, (problem,))
    problems: tuple[Finding, ...] = ()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = data.decode(encoding, "replace")
        index = len(data[: error.start].decode(encoding))
        utf8 = codecs.lookup(encoding).name == "utf-8"
        guess = _guess(data, text, error) if utf8 else ""
        values = {"byte": f"0x{data[error.start]:02x}", "offset": error.start, "encoding": encoding}
        code = "SRC201" if utf8 else "SRC204"
        problems = (_finding_at(code, display, text, index, guess=guess, **values),)
    else:
        if "\0" in text:
            kind, index = _guess_wide(data), text.index("\0")
            values = {"count": text.count("\0"), "guess": f"{kind}; " if kind else ""}
            problems = (_finding_at("SRC203", display, text, index, **values),)
    if problems:
        return DecodeResult(text.removeprefix(_BOM) if replace else None, problems)
    if text.startswith(_BOM):
        return DecodeResult(text[1:], (finding("SRC202", file=display),))
    return DecodeResult(text)


def not_text(data: bytes) -> str:
    r"""The kind of a file that is not text, in words, by its bytes; empty for a text.

    Examples:
        >>> not_text(bytes([0x1F, 0x8B, 8])), not_text(b"T1\tGene 0 4\tABI3")
        ('a gzip archive', '')
    """
    if not has_signature(data):
        return ""
    if kind := document_kind(data):
        return kind
    archive = archive_kind(data[:512])
    return KINDS[archive] if archive else ""


def sha256(data: bytes) -> str:
    """The SHA-256 digest of a file, in hexadecimal.

    Examples:
        >>> sha256(b"")[:8]
        'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def _finding_at(code: str, display: str, text: str, index: int, **values: object) -> Finding:
    """The finding about a code point of a text; a byte order mark does not count."""
    if text.startswith(_BOM) and index > 0:
        text, index = text[1:], index - 1
    start, end = text.rfind("\n", 0, index) + 1, text.find("\n", index)
    span, line = spot(text, index), text[start:] if end < 0 else text[start:end]
    return entry(code).finding(values, file=display, span=span, excerpt=excerpt(line, span))


def _guess(data: bytes, text: str, error: UnicodeDecodeError) -> str:
    """A guess at what the file is instead of UTF-8; empty if there is no evidence."""
    if kind := _guess_wide(data):
        return f"{kind}; "
    invalid = text.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore")) - text.count(_REPLACEMENT)
    if error.reason == "unexpected end of data":
        kind = "the file ends within a character and is probably truncated"
    elif beyond_ascii > 2 * invalid:
        kind = "most of the file is UTF-8, so this part is damaged or pasted from elsewhere"
    else:
        kind = _guess_by_runs(data)
    count = f"{invalid} invalid places in total" if invalid > 1 else ""
    return "".join(f"{part}; " for part in (kind, count) if part)


def wide_encoding(data: bytes) -> str:
    r"""The codec of a file that begins with the byte order mark of UTF-16 or UTF-32; or empty.

    Examples:
        >>> wide_encoding("a".encode("utf-16")), wide_encoding(b"a")
        ('UTF-16', '')
    """
    return next((name for name, mark in _MARKS if data.startswith(mark)), "")


def _guess_wide(data: bytes) -> str:
    """UTF-16 or UTF-32, by a byte order mark or by a NUL in every second byte; or empty."""
    if name := wide_encoding(data):
        return f"the file starts with a {name} byte order mark (BOM), which --fix converts"
    head = data[:_HEAD]
    first, second, pairs = head[::2].count(0), head[1::2].count(0), len(head) // 2
    if max(first, second) * 2 <= pairs or min(first, second) * 10 > pairs:
        return ""
    return f"the file looks like UTF-16-{'BE' if first > second else 'LE'}"


def _guess_by_runs(data: bytes) -> str:
    """A Western European or East Asian encoding, by the runs of bytes beyond ASCII; or empty.

    Western letters are alone or in twos, next to ASCII letters. East Asian characters are pairs of
    bytes, the first being that of the most frequent characters in GB 2312, EUC-KR or EUC-JP.
    """
    high = data.translate(None, bytes(range(0x80)))
    runs = _RUN.findall(data)
    beside = sum(bool(before or after) for before, _, after in runs)
    single = sum(len(run) == 1 for _, run, _ in runs)
    short = len(_SHORT.findall(data)) * 4 >= len(runs) * 3
    if short and max(single, beside) * 2 >= len(runs):
        # Western files are mostly ASCII and have no byte that is unused in windows-1252.
        if 3 * len(high) > len(data) or any(byte in high for byte in _NOT_IN_WINDOWS_1252):
            return ""
        windows = any(byte < 0xA0 for byte in high)
        return f"the file looks like {'windows-1252' if windows else 'Latin-1 or windows-1252'}"
    unique = {run for _, run, _ in runs}
    pairs = [run[at : at + 2] for run in unique for at in range(0, len(run), 2)]
    frequent = sum(_FREQUENT.fullmatch(pair) is not None for pair in pairs)
    if len(pairs) < _FEWEST or frequent * 10 < 9 * len(pairs):
        return ""
    return "the file looks like GB18030 or another East Asian encoding"
