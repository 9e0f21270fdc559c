"""Lines and columns of offsets in a text, and the offsets of keys and values of a TOML document.

`tomllib` has no places: only a document about which there is something to report is parsed again,
with the grammar of its keys and values (`grammars/toml.lark`), for their lines and columns.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hlteval.findings import Excerpt, Finding, Problem, Span
from hlteval.findings.finding import WINDOW
from hlteval.grammars import load

if TYPE_CHECKING:
    from lark import Token, Tree

#: The path to a value: names of members and indices of items.
Path = tuple[str | int, ...]


def line_end(text: str, at: int) -> int:
    """The end of the line that an offset is in."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


class Places:
    """Lines and columns of offsets in a text; quick for offsets that are near the previous one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line, self.begin, self.end = 1, 0, line_end(text, 0)

    def seek(self, at: int) -> None:
        """Go to the line of an offset."""
        if at < self.begin:
            self.line -= self.text.count("\n", at, self.begin)
        elif at > self.end:
            self.line += self.text.count("\n", self.end, at)
        else:
            return
        self.begin = self.text.rfind("\n", 0, at) + 1
        self.end = line_end(self.text, at)

    def span(self, start: int, end: int) -> Span:
        """The span of a stretch of the text, up to the end of its first line."""
        self.seek(start)
        if end > self.end:
            end = max(start, self.end - self.text.endswith("\r", self.begin, self.end))
        return Span(self.line, start - self.begin + 1, end - self.begin + 1)

    def excerpt(self, span: Span) -> Excerpt:
        """The excerpt of the current line, which may have many megabytes."""
        length = self.end - self.begin
        if length <= WINDOW:
            return Excerpt(self.text[self.begin : self.end].removesuffix("\r"))
        offset = max(0, min(span.column - 1 - WINDOW // 4, length - WINDOW))
        begin = self.begin + offset
        return Excerpt(self.text[begin : begin + WINDOW], offset, cut=offset + WINDOW < length)

    def finding(self, problem: Problem, file: str, identifier: str | None = None) -> Finding:
        r"""The finding of a problem whose start and end are offsets in the text.

        Args:
            problem: the problem.
            file: the display path of the file.
            identifier: the identifier of the record, such as its path in a JSON file.

        Examples:
            >>> problem = Problem("JSN106", 2, 4, 5, {"path": "$"})
            >>> Places("[1\n 2]").finding(problem, "a.json").span
            Span(line=2, column=2, end_column=3)
        """
        span = self.span(problem.start, problem.end)
        return problem.finding(file, span, self.excerpt(span), identifier)


class Extent(NamedTuple):
    """A place in a text: the offsets of its first character, and after its last."""

    start: int
    end: int


class KeyPlaces(NamedTuple):
    """The places of a key and its value; a table has that of its header, or of its first key."""

    key: Extent
    value: Extent


def locate(text: str) -> Mapping[Path, KeyPlaces]:
    r"""Locate all keys and values of a valid TOML document, by their paths.

    Args:
        text: the document, which `tomllib` accepts.

    Examples:
        >>> found = locate("[a.b]\nc = [1, 22]\n[[d]]\n[[d]]\ne = 'x'\n")
        >>> found["a", "b", "c"].key, found["a", "b", "c", 1].value
        (Extent(start=6, end=7), Extent(start=14, end=16))
        >>> sorted(path for path in found if path[0] == "d")
        [('d',), ('d', 0), ('d', 1), ('d', 1, 'e')]
    """
    places: dict[Path, KeyPlaces] = {}  # of a table, the first one stays
    tables: Counter[Path] = Counter()
    at: Path = ()
    parts: list[Any] = load("toml").parse(text).children
    for part in filter(None, parts):
        if part.data == "pair":
            for path, place in _pairs(at, part):
                places.setdefault(path, place)
            continue
        key = part.children[0]
        extent, at = _extent(key), ()
        for name in _names(key):  # in the last element of each array of tables on the way
            at = (*at, tables[at] - 1, name) if at in tables else (*at, name)
        for size in range(1, len(at) + 1):
            places.setdefault(at[:size], KeyPlaces(extent, extent))
        if part.data == "table_array":
            at = (*at, tables[at])
            tables[at[:-1]] += 1
            places[at] = KeyPlaces(extent, extent)
    return places


def _pairs(at: Path, pair: Tree[Token]) -> Iterator[tuple[Path, KeyPlaces]]:
    """The place of a key, of the tables that it names, and of all that is in its value."""
    parts: list[Any] = pair.children
    key, value = parts
    path = (*at, *_names(key))
    place = KeyPlaces(_extent(key), _extent(value))
    yield path, place
    yield from ((path[:size], place) for size in range(len(at) + 1, len(path)))
    yield from _values(path, value)


def _values(path: Path, value: Any) -> Iterator[tuple[Path, KeyPlaces]]:
    """The places of all that is in an array or an inline table."""
    kind = getattr(value, "data", "")
    items = [item for item in getattr(value, "children", ()) if item is not None]
    for index, item in enumerate(items):
        if kind == "inline_table":
            yield from _pairs(path, item)
        else:
            yield (*path, index), KeyPlaces(_extent(item), _extent(item))
            yield from _values((*path, index), item)


def _names(key: Tree[Token]) -> Path:
    """The names of a dotted key."""
    return tuple(
        tomllib.loads(f"name = {part}")["name"] if part[:1] in {"'", '"'} else part
        for part in map(str, key.children)
    )


def _extent(part: Any) -> Extent:
    """The extent of a token or a tree."""
    meta = getattr(part, "meta", part)
    return Extent(meta.start_pos, meta.end_pos)
