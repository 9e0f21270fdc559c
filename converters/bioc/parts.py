"""Large files of BioC, read part by part: some megabytes of documents at a time.

expat parses the file once to find the cuts between parts. A file that is not well-formed gives no
part at all, so that the result does not depend on the size of parts. lxml builds a tree of each
part and validates it. The bytes of the file stay in memory, a tree only while it is read.

expat alone knows lines and columns anywhere in XML, so it reads; lxml holds a file to its schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pyexpat import ExpatError, ParserCreate
from typing import TYPE_CHECKING

from hlteval.findings import Problem
from hlteval.syntax import xml_elements
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
    ends = _ends(data, size)
    inner, _ = ends[0]
    tag = f"</{_ROOT}>".encode()
    head = data[:inner]
    if head.endswith(b"/>"):  # the root is a single tag
        head = head[:-2] + b">"
    before, line, column = 0, 0, len(_last_line(head))
    for (begin, _), (end, count) in pairwise(ends):
        written = data[begin:end]
        yield _part(Cut(head, written, tag, before, line, column), first=begin == inner)
        before, lines = count - 1, _lines(written)
        column = len(_last_line(written)) + (0 if lines else column)
        line += lines


class _Rejected(Exception):
    """The file is well-formed, but has what is never read."""


def _ends(data: bytes, size: int) -> list[tuple[int, int]]:
    """The places where the root, and each item that completes a part, can be cut.

    Returns:
        Offsets in bytes, each with the number of elements before it: where the content of the root
        starts, where these items end, and where that content ends.
    """
    parser = ParserCreate("utf-8")
    parser.ordered_attributes = True  # the fastest, as attributes are ignored
    depth = count = 0
    ends: list[tuple[int, int]] = []

    def start(tag: str, _: object) -> None:
        nonlocal depth, count
        count += 1
        depth += 1
        if depth > xml_elements.DEEPEST or (depth == 1 and tag != _ROOT):
            raise _Rejected
        if depth == 2 and not ends:
            ends.append((parser.CurrentByteIndex, 1))

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        at = parser.CurrentByteIndex  # after the tag if the element is empty
        if depth == 1 and tag == _ITEM:
            if data.startswith(f"</{tag}".encode(), at):
                at = data.index(b">", at) + 1
            if at - ends[-1][0] >= size:
                ends.append((at, count))
        elif depth == 0:
            ends.extend([(at, count)] * (1 if ends else 2))

    def reject(wrong: object) -> None:
        """Reject an entity, or a document type with a subset of its own."""
        if wrong:
            raise _Rejected

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = lambda *event: reject(event[-1])
    parser.SkippedEntityHandler = lambda *_: reject(True)
    try:
        parser.Parse(data, True)
    except (ExpatError, _Rejected):
        _Forgetful(data.decode()).read()  # a slower reader, which gives the reason
        raise
    return ends


class _Forgetful(xml_elements.Reader):
    """A reader that keeps no elements, for the reason why a file cannot be read."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        super().start(tag, attributes)
        self.elements.clear()
        if len(self.open) == 1 and tag != _ROOT:
            raise xml_elements.Malformed(self.open[0].problem("XML110", root=_ROOT))


def _part(cut: Cut, *, first: bool) -> Part:
    """A part with its problems; those of the root are only in the first."""
    from lxml import etree

    written = cut.head + cut.written + cut.tail
    options = {"remove_comments": True, "remove_pis": True}
    try:
        tree = etree.fromstring(written, xml_elements.lxml_parser(**options))
        conforms = xml_elements.accepts(tree, _SCHEMA)
    except etree.XMLSyntaxError:  # a prefix without a namespace
        tree = etree.fromstring(written, xml_elements.lxml_parser(**options, recover=True))
        conforms = False
    ordinals = {element: at for at, element in enumerate(tree.iter(), start=cut.before + 1)}
    if conforms:
        return Part(tree, ordinals, (), frozenset(), cut)
    for element in tree.iter("{*}*"):
        name = str(element.tag)
        if name.startswith("{") and element.prefix is None:  # names are as they are written
            element.tag = name.rpartition("}")[2]
    elements = xml_elements.parse(cut.text()).elements
    problems, passed = xml_elements.explain(elements, _SCHEMA)
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


_DECLARATION = re.compile(rb"""<\?xml\b[^>]*?\bencoding\s*=\s*["']([^"'<>]{1,40})["']""")


def declared_encoding(data: bytes) -> str | None:
    """The encoding in the XML declaration of a file.

    Examples:
        >>> declared_encoding(b"<?xml version='1.0' encoding='UTF-8'?><a/>")
        'UTF-8'
    """
    found = _DECLARATION.match(data)
    return found[1].decode("ascii", "replace") if found else None
