"""Large files of BioC, read part by part: some megabytes of documents at a time.

expat parses the file once to find the cuts between parts. A file that is not well-formed gives no
part at all, so that the result does not depend on the size of parts. lxml builds a tree of each
part and validates it. The bytes of the file stay in memory, a tree only while it is read.

expat alone knows lines and columns anywhere in XML, so it reads; lxml holds a file to its schema.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pyexpat import ExpatError, ParserCreate
from typing import TYPE_CHECKING, NamedTuple

from hlteval.findings import Finding, Problem
from hlteval.sources import Member, Unreadable, decode, sha256
from hlteval.sources.decoding import not_text
from hlteval.syntax.xml_elements import (
    DEEPEST,
    Malformed,
    Reader,
    accepts,
    explain,
    lxml_parser,
    parse,
)
from hlteval.syntax.xml_places import starts

if TYPE_CHECKING:
    from lxml import etree

_SCHEMA, _ROOT, _ITEM = "bioc", "collection", "document"
#: Bytes of a part; larger parts use more memory and save no time.
PART = 1_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the elements below the root.

    Attributes:
        root: the root element with only these elements.
        ordinals: the ordinal of each element in the file.
        problems: what breaks the schema.
        passed: the ordinals of the elements to skip.
        cut: its place in the file.
    """

    root: etree._Element
    ordinals: Mapping[etree._Element, int]
    problems: Sequence[Problem]
    passed: frozenset[int]
    cut: Cut

    def places(self, wanted: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Line and column of elements, by ordinal, in the file."""
        cut = self.cut
        inside = {ordinal - cut.before: ordinal for ordinal in wanted}
        found = starts(cut.text(), inside)
        return {inside[ordinal]: cut.in_file(*place) for ordinal, place in found.items()}


@dataclass(frozen=True)
class Cut:
    """A stretch of a file below the root, from one item to another.

    Attributes:
        head: the file up to the end of the start tag of the root.
        written: the stretch.
        tail: the end tag of the root.
        before: the number of elements of the file between the root and the stretch.
        line: the number of lines between them.
        column: code points of its line before the stretch begins.
    """

    head: bytes
    written: bytes
    tail: bytes
    before: int
    line: int
    column: int

    def text(self) -> str:
        """The stretch as a file of its own."""
        return (self.head + self.written + self.tail).decode()

    def in_file(self, line: int, column: int) -> tuple[int, int]:
        """Line and column in the whole file, given those in `text()`."""
        last, width = self._end_of_head  # the line in which the head ends, and its code points
        if line < last or (line == last and column <= width):
            return line, column
        if line > last:
            return line + self.line, column
        return line + self.line, column - width + self.column

    @cached_property
    def _end_of_head(self) -> tuple[int, int]:
        return _lines(self.head) + 1, len(_last_line(self.head))


def parts(data: bytes, size: int = PART) -> Iterator[Part]:
    """A file part by part, each of complete documents.

    Args:
        data: the file, in UTF-8.
        size: bytes of a part.

    Raises:
        Malformed: if the file is not well-formed or has another root; before the first part.

    Examples:
        >>> file = b"<collection><document/><document/></collection>"
        >>> [len(part.root) for part in parts(file, 1)]
        [1, 1, 0]
    """
    for number, cut in enumerate(_Ends(data, size).cuts()):
        yield _part(cut, first=number == 0)


class _Rejected(Exception):
    """The file is well-formed, but has what is never read."""


class _Ends:
    """The places where a file can be cut: after each item that completes a part."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data, self.size = data, size
        self.parser = ParserCreate("utf-8")
        self.parser.ordered_attributes = True  # the fastest, as attributes are ignored
        self.depth = self.count = 0
        self.inner = -1
        """The start of the content of the root."""
        self.outer = -1
        """The start of its end tag."""
        self.empty = False
        """Whether the root is a single tag."""
        self.found: list[tuple[int, int]] = []
        """The cuts, and the number of elements before each."""

    def cuts(self) -> Iterator[Cut]:
        """The parts of the file."""
        self.look()
        head, tail = self.data[: self.inner], f"</{_ROOT}>".encode()
        if self.empty:
            head = head[:-2] + b">"
        begin, before, line, column = self.inner, 0, 0, len(_last_line(head))
        for end, count in [*self.found, (self.outer, self.count)]:
            written = self.data[begin:end]
            yield Cut(head, written, tail, before, line, column)
            begin, before = end, count - 1
            lines = _lines(written)
            line += lines
            column = len(_last_line(written)) + (0 if lines else column)

    def look(self) -> None:
        """Find the cuts; if the file cannot be read, a slower reader gives the reason."""
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = lambda *event: self.reject(event[-1])
        self.parser.SkippedEntityHandler = lambda *_: self.reject(True)
        try:
            self.parser.Parse(self.data, True)
        except (ExpatError, _Rejected):
            _Forgetful(self.data.decode()).read()
            raise

    def reject(self, wrong: object) -> None:
        """Reject an entity, or a document type with a subset of its own."""
        if wrong:
            raise _Rejected

    def start(self, tag: str, _: object) -> None:
        """Enter an element."""
        self.count += 1
        self.depth += 1
        if self.depth > DEEPEST or (self.depth == 1 and tag != _ROOT):
            raise _Rejected
        if self.depth == 2 and self.inner < 0:
            self.inner = self.parser.CurrentByteIndex

    def end(self, tag: str) -> None:
        """Leave an element; the file can be cut after an item that completes a part."""
        self.depth -= 1
        if self.depth == 1 and tag == _ITEM:
            at = self.parser.CurrentByteIndex  # after the tag if the element is empty
            if self.data.startswith(f"</{tag}".encode(), at):
                at = self.data.index(b">", at) + 1
            if at - (self.found[-1][0] if self.found else self.inner) >= self.size:
                self.found.append((at, self.count))
        elif self.depth == 0:
            self.outer = self.parser.CurrentByteIndex
            if self.inner < 0:
                self.inner = self.outer
                self.empty = not self.data.startswith(b"</", self.outer)


class _Forgetful(Reader):
    """A reader that keeps no elements, for the reason why a file cannot be read."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        super().start(tag, attributes)
        self.elements.clear()
        if len(self.open) == 1 and tag != _ROOT:
            raise Malformed(self.open[0].problem("XML110", root=_ROOT))


def _part(cut: Cut, *, first: bool) -> Part:
    """A part with its problems; those of the root are only in the first."""
    from lxml import etree

    written = cut.head + cut.written + cut.tail
    options = {"remove_comments": True, "remove_pis": True}
    try:
        tree = etree.fromstring(written, lxml_parser(**options))
        conforms = accepts(tree, _SCHEMA)
    except etree.XMLSyntaxError:  # a prefix without a namespace
        tree, conforms = etree.fromstring(written, lxml_parser(**options, recover=True)), False
    ordinals = {element: at for at, element in enumerate(tree.iter(), start=cut.before + 1)}
    if conforms:
        return Part(tree, ordinals, (), frozenset(), cut)
    for element in tree.iter("{*}*"):
        name = str(element.tag)
        if name.startswith("{") and element.prefix is None:  # names are as they are written
            element.tag = name.rpartition("}")[2]
    elements = parse(cut.text()).elements
    problems, passed = explain(elements, _SCHEMA)
    of_root = elements[0].problem("XML106")[1:3]
    in_file = []
    for problem in problems:
        if first or problem[1:3] != of_root:
            line, column = cut.in_file(problem.record, problem.start + 1)
            in_file.append(problem._replace(record=line).shift(column - 1 - problem.start))
    numbers = frozenset(ordinal + cut.before for ordinal in passed)
    return Part(tree, ordinals, in_file, numbers, cut)


def _lines(data: bytes) -> int:
    """Line ends, as XML counts them."""
    if b"\r" not in data:
        return data.count(b"\n")
    return data.count(b"\n") + data.replace(b"\r\n", b"\n").count(b"\r")


def _last_line(data: bytes) -> str:
    """The text after the last line end."""
    return data[max(data.rfind(b"\n"), data.rfind(b"\r")) + 1 :].decode()


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
    """Whether a file is valid UTF-8, without byte order mark."""
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
