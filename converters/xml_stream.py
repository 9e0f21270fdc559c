"""Large XML files, part by part: some megabytes of what stands below the root at a time.

A file that is not well-formed gives nothing at all, so that what is read does not depend on the
size of the parts. The bytes of the file are kept, its elements only for as long as a part lasts.
"""

from __future__ import annotations

import codecs
import re
from array import array
from collections.abc import Iterator, Sequence
from pyexpat import ExpatError, ParserCreate
from typing import NamedTuple, overload

from hlteval.converters.xml_elements import Element, Fault, Malformed, Reader
from hlteval.converters.xml_structure import conforms, explain
from hlteval.findings import Finding
from hlteval.sources import Member, Unreadable, decode, sha256

PART = 8_000_000
"""Bytes of a part; more cost memory and gain no time."""
_CHUNK = 1 << 18
_DECLARATION = re.compile(rb"""<\?xml\b[^>]*?\bencoding\s*=\s*["']([^"'<>]{1,40})["']""")


class Part(NamedTuple):
    """Some of the elements below the root.

    Attributes:
        elements: these and all that is in them, in the order of their tags.
        faults: what the schema does not have.
        passed: the ordinals of the elements that are to be passed over.
    """

    elements: Sequence[Element]
    faults: Sequence[Fault]
    passed: frozenset[int]


class Bytes(NamedTuple):
    """A file as text in UTF-8, if it is some, its digest as it was, and what is wrong with it."""

    data: bytes | None
    digest: str
    findings: tuple[Finding, ...]


def utf8(member: Member) -> Bytes:
    """A file in UTF-8, without a mark of its encoding; decoded piecewise where nothing is wrong."""
    try:
        data = member.fetch()
    except Unreadable as reason:
        return Bytes(None, "", (reason.finding,))
    if _faultless(data, member.encoding):
        return Bytes(data, sha256(data), ())
    decoded = decode(data, display=member.display, encoding=member.encoding)
    text = decoded.text
    return Bytes(None if text is None else text.encode(), sha256(data), decoded.findings)


def declared_encoding(data: bytes) -> str | None:
    """The encoding that the XML declaration of a file names.

    Examples:
        >>> declared_encoding(b"<?xml version='1.0' encoding='UTF-8'?><a/>")
        'UTF-8'
    """
    found = _DECLARATION.match(data)
    return found[1].decode("ascii", "replace") if found else None


def _faultless(data: bytes, encoding: str) -> bool:
    if codecs.lookup(encoding).name != "utf-8" or data.startswith(codecs.BOM_UTF8) or 0 in data:
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


def parts(data: bytes, schema: str, root: str, item: str, size: int = PART) -> Iterator[Part]:
    """A file part by part.

    Args:
        data: the file, in UTF-8.
        schema: name of its schema.
        root: the root element.
        item: the element below it that there are many of; a part is made of whole ones.
        size: bytes of a part.

    Raises:
        Malformed: for a file that is no XML, or of another root; before the first part.

    Examples:
        >>> file = b"<collection><document/><document/></collection>"
        >>> [len(part.elements) for part in parts(file, "bioc", "collection", "document", 30)]
        [3, 0]
    """
    if not _well_formed(data):
        for _ in _Stream(data, root, item).cuts(size):  # comes upon what is wrong
            pass
    told = False
    for cut in (stream := _Stream(data, root, item)).cuts(size):
        yield _checked(cut, stream.head, schema, again=told)
        told = True


def _well_formed(data: bytes) -> bool:
    """Whether a file can be read: it may name a document type, but have no entities of its own."""
    parser = ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = _no_subset
    parser.SkippedEntityHandler = _no_entity
    try:
        parser.Parse(data, True)
    except (ExpatError, _Refused):
        return False
    return True


class _Refused(Exception):
    """Something that is well-formed, and not read."""


def _no_subset(root: str, system: str | None, public: str | None, subset: int) -> None:
    del root, system, public
    if subset:
        raise _Refused


def _no_entity(name: str, parameter: bool) -> None:
    del name, parameter
    raise _Refused


class _Cut(NamedTuple):
    """Elements, the root they stand in, and what is written of them."""

    elements: list[Element]
    root: Element
    written: bytes


def _checked(cut: _Cut, head: bytes, schema: str, *, again: bool) -> Part:
    """A part with what the schema does not have; `head` is what stands before the first item."""
    root, within = cut.root, [one for one in cut.elements if one is not cut.root]
    end = f"</{root.tag}>".encode()
    if conforms((head + cut.written + end).decode(), schema):
        return Part(cut.elements, (), frozenset())
    faults, passed = explain([root, *within], schema)
    if again:
        faults = [fault for fault in faults if fault[1:3] != (root.line, root.column)]
    return Part(cut.elements, faults, frozenset(passed))


class _Stream(Reader):
    """A reader that forgets what was handed on."""

    def __init__(self, data: bytes, root: str, item: str) -> None:
        super().__init__("")
        self.data, self.root, self.item = data, root, item
        self.head = b""
        self.first = -1
        """Where the first item begins."""
        self.cut = (0, -1)
        """How many elements are whole, and where the last of them ends."""
        self.parser.buffer_text = True

    def written(self) -> str:
        return self.data.decode()

    def cuts(self, size: int) -> Iterator[_Cut]:
        """The file in parts of about this size."""
        self.listen()
        view, begin, step = memoryview(self.data), -1, min(size, _CHUNK)
        try:
            for at in range(0, len(self.data), step):
                self.parser.Parse(view[at : at + step], False)
                begin = max(begin, self.first)
                if self.first >= 0 and self.cut[1] - begin >= size:
                    yield self.taken(begin)
                    begin = self.cut[1]
            self.parser.Parse(b"", True)
        except ExpatError as error:
            raise Malformed(self.malformed(error)) from error
        yield self.taken(begin)

    def taken(self, begin: int) -> _Cut:
        """What is whole, which is forgotten here."""
        count, end = self.cut
        if not self.head:
            begin = begin if begin >= 0 else end
            self.head = self.data[:begin]
        whole, self.elements = self.elements[:count], self.elements[count:]
        root = self.open[0] if self.open else self.last
        found = _Cut(whole, root._replace(chunks=list(root.chunks)), self.data[begin:end])
        root.chunks.clear()
        self.cut = (0, end)
        return found

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        super().start(tag, attributes)
        if len(self.open) == 1:
            self.last = self.open[0]
            if tag != self.root:
                raise Malformed(self.open[0].fault("XML110", root=self.root))
        elif self.first < 0 and len(self.open) == 2 and tag == self.item:
            self.first = self.parser.CurrentByteIndex

    def end(self, tag: str) -> None:
        super().end(tag)
        if len(self.open) == 1 and self.first >= 0:
            self.cut = (len(self.elements), self.data.index(b">", self.parser.CurrentByteIndex) + 1)
        elif not self.open:
            self.cut = (len(self.elements), self.parser.CurrentByteIndex)


class Written(Sequence[str]):
    """The lines of a file in UTF-8 as XML counts them, decoded where they are looked at."""

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
