"""JSON files: read fast where they are valid, explained where they are not.

`strict` is the bulk path: it accepts valid JSON and gives the value. `items` finds the items of the
array that a text should be, whatever is wrong with it. A text has problems for `items` if and only
if `strict` rejects it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from json.scanner import c_make_scanner  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import msgspec

from hlteval.findings import Problem
from hlteval.syntax.json_parser import (
    DEPTH,
    ELLIPSIS,
    Parsed,
    blanks,
    parse,
)
from hlteval.syntax.places import line_end

_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)


def strict(data: bytes) -> tuple[bool, Any]:
    """Whether bytes in UTF-8 are valid JSON, and the value.

    Examples:
        >>> strict(b'[{"a": 1}]'), strict(b'[{"a": 1, "a": 2}]')[0], strict(b"[NaN]")[0]
        ((True, [{'a': 1}]), False, False)
    """
    try:
        value = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return False, None
    return not _repeats_keys(data, value), value


def _repeats_keys(data: bytes, value: Any) -> bool:
    """Whether members were lost: the text has more strings than the value, or nests too deeply.

    Counting quotation marks takes a hundredth of the time of a callback per member.
    """
    escaped = data.count(b'\\"')
    if escaped and b"\\\\" in data:
        data, escaped = _ESCAPE.sub(b"", data), 0
    try:
        return data.count(b'"') - escaped != 2 * _strings(value, DEPTH)
    except RecursionError:
        return True


def _strings(value: Any, depth: int) -> int:
    """The number of strings in a value, names of members included.

    Raises:
        RecursionError: if it is nested deeper than `depth`.
    """
    if isinstance(value, str):
        return 1
    if not isinstance(value, (list, dict)):
        return 0
    if depth == 0:
        raise RecursionError
    if isinstance(value, dict):
        return len(value) + _strings_within(value.values(), depth - 1)
    total = 0
    for item in value:  # most often a frame: an object of plain values
        if item.__class__ is dict and depth > 1:
            total += len(item) + _strings_within(item.values(), depth - 2)
        else:
            total += _strings(item, depth - 1)
    return total


def _strings_within(values: Iterable[Any], depth: int) -> int:
    total = 0
    for value in values:
        if value.__class__ is str:
            total += 1
        elif value.__class__ not in _PLAIN:
            total += _strings(value, depth)
    return total


_PLAIN = frozenset({int, float, bool, type(None)})
_PLAINER = _PLAIN | {str}


class Items(NamedTuple):
    """The items of an array, or the values of a text that is not an array."""

    parsed: Sequence[Parsed]
    problems: Sequence[Problem]
    """Problems outside of the items."""
    root: Any
    """The value itself if it is a single one and not an array."""


def items(text: str) -> Items:
    """The items of the array that a text should be, whatever is wrong with it.

    After an item that cannot be parsed, parsing continues at the next one that can be found.

    Examples:
        >>> found = items('[{"a": True}, {"a": 1},]')
        >>> [item.value for item in found.parsed], [problem.code for problem in found.problems]
        ([{'a': True}, {'a': 1}], ['JSN104'])
    """
    at, problems = blanks(text, 0)
    if at < len(text) and text[at] == "[":
        parsed, more = _array(text, at + 1)
        return Items(parsed, [*problems, *more], None)
    parsed, more = _bare(text, at)
    root = parsed[0].value if len(parsed) == 1 and not more and parsed[0].complete else None
    return Items(parsed, [*problems, *more], root)


def _array(text: str, at: int) -> tuple[list[Parsed], list[Problem]]:
    """The items of the outermost array, up to its end."""
    parsed: list[Parsed] = []
    problems: list[Problem] = []
    comma: int | None = None
    while True:
        at, more = blanks(text, at)
        problems += more
        if at >= len(text):
            end = len(text.rstrip())
            problems.append(Problem("JSN115", 0, end, end, {"wanted": "`]`"}))
            return parsed, problems
        if text[at] == "]":
            if comma is not None:
                problems.append(Problem("JSN104", 0, comma, comma + 1, {"closing": "`]`"}))
            problems += _rest(text, at + 1)
            return parsed, problems
        if dots := ELLIPSIS.match(text, at):
            end = at + len(dots[0].rstrip())
            problems.append(Problem("JSN105", 0, at, end, {"given": text[at:end][:40]}))
            at, comma = dots.end(), None
        else:
            if parsed and comma is None and (not problems or problems[-1].code != "JSN105"):
                problems.append(Problem("JSN106", 0, at, at + 1))
            item = value_at(text, at, 1)
            parsed.append(item)
            following = None if item.complete else _NEXT.search(text, item.end)
            at = item.end if item.complete else following.start() if following else len(text)
        if between := _BETWEEN.match(text, at):
            at, comma = between.end(), at
            continue
        at, more = blanks(text, at)
        problems += more
        comma = at if text[at : at + 1] == "," else None
        at += comma is not None


_BETWEEN = re.compile(r",[ \t\r\n]*(?=\{)")


_NEXT = re.compile(r",\s*\{\s*[\"']|\]\s*\Z")
"""Where parsing continues after an item that cannot be parsed."""


def _rest(text: str, at: int) -> Iterator[Problem]:
    """Problems after the end of the array."""
    at, problems = blanks(text, at)
    yield from problems
    if at < len(text):
        yield Problem("JSN107", 0, at, min(line_end(text, at), at + 40), {"hint": _EXTRA})


_EXTRA = "remove everything after the end of the array"
_LINES = "convert JSON Lines to an array: `[` first, `]` last, and commas between the objects"


def _bare(text: str, at: int) -> tuple[list[Parsed], list[Problem]]:
    """The values of a text that is not an array: an object, JSON Lines, or not JSON at all."""
    if text[at : at + 1] in {'"', "'"} and _MEMBER.match(text, at):
        braces = {"hint": "put each object in { } and all frames in [ ]"}
        return [], [Problem("JSN101", 0, at, line_end(text, at), braces)]
    if _is_table(text, at):
        return [], [Problem("JSN101", 0, at, line_end(text, at), {"hint": _NO_TABLE})]
    parsed: list[Parsed] = []
    problems: list[Problem] = []
    while True:
        at, more = blanks(text, at)
        problems += more
        if at >= len(text):
            if not parsed:
                end = len(text.rstrip())
                wanted = {"wanted": "an array of frames, `[ ]`"}
                problems.append(Problem("JSN115", 0, end, end, wanted))
            return parsed, problems
        if len(parsed) == 1:
            lines = {"hint": _LINES if text[at] == "{" else _EXTRA}
            problems.append(Problem("JSN107", 0, at, min(line_end(text, at), at + 40), lines))
            if text[at] not in "{,":
                return parsed, problems
        item = value_at(text, at + (text[at] == ","))
        parsed.append(item)
        if not item.complete:
            return parsed, problems
        at = item.end


_NO_TABLE = 'write an array of objects, not a table: to_json(orient="records") in pandas'
_SEPARATORS, _FEWEST = "\t;,|", 2
"""Separators of the cells of a table, and the fewest in a line of one."""
_QUOTED_CELL = re.compile('"[^"\n]*"')


def _is_table(text: str, at: int) -> bool:
    """Whether the first two lines of a text, from some offset on, are rows of a table."""
    if text[at : at + 1] in {"{", "["}:
        return False
    lines = [_QUOTED_CELL.sub("", line) for line in text[at : at + _WINDOW].split("\n")[:2]]
    counts = [[line.count(each) for line in lines] for each in _SEPARATORS]
    return any(len({*each}) == 1 < len(each) and each[0] >= _FEWEST for each in counts)


_MEMBER = re.compile(r"(?:\"[^\"\n]*\"|'[^'\n]*')\s*:")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError
    return value


def _reject(_: str) -> Any:
    raise ValueError


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_reject)
_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(_DECODER)
_WINDOW = 4096
"""Characters that are scanned for an object; an error of the scanner counts the lines in them."""
_AFTER = frozenset(" \t\r\n,]}")
"""What follows a number or a word inside an array: the window has all of it."""
_PLAIN_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(json.JSONDecoder())


def value_at(text: str, at: int, depth: int = 0) -> Parsed:
    """The value that begins at an offset: parsed fast if it is valid, else with its problems.

    Args:
        text: the whole text.
        at: the offset.
        depth: the number of arrays and objects around the value.
    """
    try:
        value, size = _SCAN(text[at : at + _WINDOW], 0)
    except (ValueError, RecursionError, StopIteration):
        return parse(text, at, depth)
    end = at + size
    if value.__class__ in _PLAIN and text[end : end + 1] in _AFTER and abs(value or 0) < math.inf:
        return Parsed(value, at, end, (), {}, {}, complete=True)
    if value.__class__ is not dict or not _PLAINER.issuperset(map(type, value.values())):
        return parse(text, at, depth)
    if math.inf in value.values() or -math.inf in value.values():
        return parse(text, at, depth)
    if text.find("\\u", at, end) >= 0 and _ESCAPED_SURROGATE.search(text, at, end):
        return parse(text, at, depth)
    return Parsed(value, at, end, (), {}, {}, complete=True)


_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*(?![/ \t\r\n])")


def starts(text: str) -> Sequence[int]:
    """The starts of the items of the outermost array; in an invalid text, as `items` finds them.

    Examples:
        >>> starts('[{}, {"a": 1}]')
        [1, 5]
    """
    return [start for start, _ in extents(text)]


@lru_cache(maxsize=1)
def extents(text: str) -> Sequence[tuple[int, int]]:
    """The start and the end of each item of the outermost array, as `starts` says.

    Examples:
        >>> extents('[{}, {"a": 1}]')
        [(1, 3), (5, 13)]
    """
    at, _ = blanks(text, 0)
    found: list[tuple[int, int]] = []
    try:
        start = blanks(text, at + 1)[0]
        while text[at] == "[" and text[start] != "]":
            _, end = _PLAIN_SCAN(text, start)
            found.append((start, end))
            between = _COMMA.match(text, end)
            if between is None and text[blanks(text, end)[0]] == "]":
                return found
            start = between.end() if between else _after_comma(text, end)
    except (ValueError, RecursionError, StopIteration, IndexError):
        pass
    return [(item.start, item.end) for item in items(text).parsed]


def _after_comma(text: str, at: int) -> int:
    at = blanks(text, at)[0]
    if text[at] != ",":
        raise ValueError
    return blanks(text, at + 1)[0]
