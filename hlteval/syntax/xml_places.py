"""Places in an XML file: tags, the values of their attributes, and the text after them."""

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pyexpat import ExpatError, ParserCreate
from typing import Any, NamedTuple

import polars as pl

from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem, Span, excerpt
from hlteval.sources import Member, decode

_TAG = re.compile(r"""(<[^\s<>/]+)(?:\s+[^\s=<>/]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>""")
_ATTRIBUTE = re.compile(r"""([^\s=<>/"']+)\s*=\s*("[^"]*"|'[^']*')""")
_MARKUP = re.compile(r"<[!?][^<>\[]*>|&[\w.#-]*;")
#: Lines of the longest tag in which single attributes are located.
_LINES = 100


def starts(text: str, wanted: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Line and column, from 1, of the start tags of elements by ordinal, as far as can be read."""
    found: dict[int, tuple[int, int]] = {}
    left = set(wanted)
    count = 0
    parser = ParserCreate("utf-8")

    def start(*_: Any) -> None:
        nonlocal count
        count += 1
        if count in left:
            found[count] = (parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

    parser.StartElementHandler = start
    with suppress(ExpatError):
        parser.Parse(text.encode(), True)
    return found


def lines_of(text: str) -> list[str]:
    """The lines as expat counts them: a single carriage return also ends a line (XML 1.0, 2.11)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class _Tag(NamedTuple):
    """A tag as written, and the spans of its parts in it."""

    written: str
    spans: Mapping[str, tuple[int, int]]
    several: bool
    """Whether that is several lines; a line of megabytes is not searched for line ends."""


class Written:
    """The lines of a file in UTF-8 as XML counts them, decoded on access."""

    def __init__(self, data: bytes) -> None:
        self.data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
        ends = (found.end() for found in re.finditer(b"\n", self.data))
        self.begins = array("q", chain([0], ends))
        self.kept = (-1, "")

    def __len__(self) -> int:
        return len(self.begins)

    def __getitem__(self, index: int) -> str:
        if self.kept[0] != index:
            end = self.begins[index + 1] - 1 if index + 1 < len(self) else len(self.data)
            self.kept = (index, self.data[self.begins[index] : end].decode())
        return self.kept[1]


class Lines:
    """The lines of a file, for the places of tags and of their attributes."""

    def __init__(self, text: str | Written) -> None:
        self.lines = lines_of(text) if isinstance(text, str) else text
        self.tags: dict[tuple[int, int], _Tag] = {}

    def location(self, line: int, column: int, field: str = "") -> Location:
        """The location of a tag, of an attribute's value, or of the text after the tag (`text`)."""
        if (line, column) not in self.tags:
            self.tags = {(line, column): self.tag(line, column)}  # places come tag by tag
        tag = self.tags[line, column]
        start, end = tag.spans.get(field, tag.spans[""])
        down, begin = 0, start
        if tag.several:
            down = tag.written.count("\n", 0, start)
            begin = start - (tag.written.rfind("\n", 0, start) + 1)
        own = self.lines[line - 1 + down]
        span = Span(line + down, begin + 1, max(min(begin + end - start, len(own)), begin) + 1)
        return Location(span, excerpt(own, span))

    def tag(self, line: int, column: int) -> _Tag:
        """The tag at a line and column."""
        written, several = self.lines[line - 1], False
        found = _TAG.match(written, column - 1)
        if found is None:
            several = True
            last = min(line - 1 + _LINES, len(self.lines))
            written = "\n".join(self.lines[number] for number in range(line - 1, last))
            found = _TAG.match(written, column - 1)
        if found is None:
            other = _MARKUP.match(written, column - 1)
            return _Tag(written, {"": other.span() if other else (column - 1, column)}, several)
        end = written.find("<", found.end())
        spans = {"text": (found.end(), end if end >= 0 else len(written)), "": found.span()}
        for match in _ATTRIBUTE.finditer(written, found.end(1), found.end()):
            spans[match[1]] = (match.start(2) + 1, match.end(2) - 1)
        return _Tag(written, spans, several)

    def finding(self, problem: Problem, file: str, identifier: str | None = None) -> Finding:
        """The finding of a problem with an element.

        Args:
            problem: the problem.
            file: the display path of the file.
            identifier: the identifier of the element.
        """
        place = self.location(problem.record, problem.start + 1, problem.field)
        return problem.finding(file, place.span, place.excerpt, identifier)


#: A problem, and the identifier of its element.
Named = tuple[Problem, str | None]


def located_findings(
    text: str,
    problems: Sequence[Named],
    file: Member,
    explain: Callable[[Lines, Problem, str, str | None], Finding] = Lines.finding,
) -> list[Finding]:
    """The findings of problems, each with the identifier of its element.

    Args:
        text: the text of the file.
        problems: the problems with their identifiers.
        file: the file.
        explain: makes the finding of a problem, of the lines, the name of the file and both.
    """
    if not problems:
        return []
    lines, bounded = Lines(text), Bounded(file.max_per_code)

    def finding(_: int, named: Named) -> Finding:
        return explain(lines, named[0], file.display, named[1])

    for named in problems:
        bounded.add(named[0].code, named[0].record, finding, named)
    return bounded.findings


#: Gives line and column of elements of a text by ordinal.
FindStarts = Callable[[str, Collection[int]], Mapping[int, tuple[int, int]]]


def locate_elements(
    member: Member, places: Sequence[FieldRef], find_starts: FindStarts = starts
) -> list[Location | None]:
    """The locations of fields of a file whose records are its elements; None for one it lacks."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    found = find_starts(text, {place.record for place in places})
    lines = Lines(text)
    return [
        lines.location(*found[place.record], place.field) if place.record in found else None
        for place in places
    ]


#: Characters that XML cannot hold.
ABSENT = "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
_TEXT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
_VALUE = {**_TEXT, '"': "&quot;", "\t": "&#9;", "\n": "&#10;"}


def escape(written: str, escapes: Mapping[str, str] = _TEXT) -> str:
    """Text between tags, or with other characters that are escaped.

    Examples:
        >>> escape('AT&T "x"')
        'AT&amp;T "x"'
    """
    if written.isalnum():  # as most values are
        return written
    for character, reference in escapes.items():
        written = written.replace(character, reference)
    return written


def attributes(pairs: Iterable[tuple[str, str | None]]) -> str:
    """The attributes with a value, each after a space.

    Examples:
        >>> attributes([("id", 'a"b'), ("lang", None)])
        ' id="a&quot;b"'
    """
    return "".join(
        f' {name}="{escape(value, _VALUE)}"' for name, value in pairs if value is not None
    )


def content(column: str) -> pl.Expr:
    """A column as text between tags."""
    return pl.col(column).cast(pl.String).str.replace_many(_TEXT)


def attribute(name: str, column: str = "") -> pl.Expr:
    """A column as an attribute after a space; null where the value is null."""
    text = pl.col(column or name).cast(pl.String)
    return pl.format(f' {name}="{{}}"', text.str.replace_many(_VALUE))


def start_tag(element: str, *values: pl.Expr) -> pl.Expr:
    """A start tag with the attributes that are not null."""
    return pl.concat_str(pl.lit(f"<{element}"), *values, pl.lit(">"), ignore_nulls=True)
