"""XML files as bytes: their encoding, their declaration and their lines."""

from __future__ import annotations

import codecs
import re
from array import array
from collections.abc import Sequence
from typing import NamedTuple, overload

from hlteval.findings import Finding
from hlteval.sources import Member, Unreadable, decode, sha256
from hlteval.sources.decoding import not_text

_CHUNK = 1 << 18
_DECLARATION = re.compile(rb"""<\?xml\b[^>]*?\bencoding\s*=\s*["']([^"'<>]{1,40})["']""")


class Bytes(NamedTuple):
    """A file in UTF-8, None if it cannot be decoded; the digest of the original; findings."""

    data: bytes | None
    digest: str
    findings: tuple[Finding, ...]


def utf8(member: Member) -> Bytes:
    """A file in UTF-8 without byte order mark; valid UTF-8 is checked in chunks, not copied."""
    try:
        data = member.fetch()
    except Unreadable as reason:
        return Bytes(None, "", (reason.finding,))
    if _is_valid(data, member.encoding):
        return Bytes(data, sha256(data), ())
    decoded = decode(data, display=member.display, encoding=member.encoding)
    text = decoded.text
    return Bytes(None if text is None else text.encode(), sha256(data), decoded.findings)


def declared_encoding(data: bytes) -> str | None:
    """The encoding in the XML declaration of a file.

    Examples:
        >>> declared_encoding(b"<?xml version='1.0' encoding='UTF-8'?><a/>")
        'UTF-8'
    """
    found = _DECLARATION.match(data)
    return found[1].decode("ascii", "replace") if found else None


def _is_valid(data: bytes, encoding: str) -> bool:
    if codecs.lookup(encoding).name != "utf-8" or data.startswith(codecs.BOM_UTF8) or 0 in data:
        return False
    if not_text(data):
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for at in range(0, len(data), _CHUNK):
            decoder.decode(view[at : at + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


class Written(Sequence[str]):
    """The lines of a file in UTF-8 as XML counts them, decoded on access."""

    def __init__(self, data: bytes) -> None:
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.data = data
        self.begins = array("q", [0])
        at = data.find(b"\n")
        while at >= 0:
            self.begins.append(at + 1)
            at = data.find(b"\n", at + 1)
        self.kept = (-1, "")

    def __len__(self) -> int:
        return len(self.begins)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if self.kept[0] != index:
            end = self.begins[index + 1] - 1 if index + 1 < len(self) else len(self.data)
            self.kept = (index, self.data[self.begins[index] : end].decode())
        return self.kept[1]
