"""JSON that somebody else wrote: quickly read where it is right, explained where it is not.

`strict` is the bulk path: whether all is right, and the value. `items` finds the items of the array
that a text should be, whatever is wrong with it. Whatever one refuses, the other does.
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

from hlteval.syntax.json_parser import (
    DEPTH,
    ELLIPSIS,
    JsonFault,
    Parsed,
    blanks,
    line_end,
    parse,
)

_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)


def strict(data: bytes) -> tuple[bool, Any]:
    """Whether bytes of UTF-8 are faultless JSON, and the value.

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
    """Whether members were lost: there are more strings in the text than in the value, or too deep.

    Counting quotation marks costs a hundredth of what hearing of every member would.
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
    """The items of an array, or the values of a text that is none."""

    parsed: Sequence[Parsed]
    faults: Sequence[JsonFault]
    """What is wrong outside of the items."""
    root: Any
    """The value itself where it is one that is no array."""


def items(text: str) -> Items:
    """The items of the array that a text should be, whatever is wrong with it.

    After an item that makes no sense, reading goes on at the next one that can be found.

    Examples:
        >>> found = items('[{"a": True}, {"a": 1},]')
        >>> [one.value for one in found.parsed], [fault.code for fault in found.faults]
        ([{'a': True}, {'a': 1}], ['JSN104'])
    """
    at, faults = blanks(text, 0)
    if at < len(text) and text[at] == "[":
        parsed, more, _ = _array(text, at + 1)
        return Items(parsed, [*faults, *more], None)
    parsed, more = _bare(text, at)
    root = parsed[0].value if len(parsed) == 1 and not more and parsed[0].complete else None
    return Items(parsed, [*faults, *more], root)


def _array(text: str, at: int) -> tuple[list[Parsed], list[JsonFault], int]:
    """The items of the outermost array, up to its end."""
    parsed: list[Parsed] = []
    faults: list[JsonFault] = []
    comma: int | None = None
    while True:
        at, more = blanks(text, at)
        faults += more
        if at >= len(text):
            end = len(text.rstrip())
            faults.append(JsonFault("JSN115", end, end, {"wanted": "`]`"}))
            return parsed, faults, at
        if text[at] == "]":
            if comma is not None:
                faults.append(JsonFault("JSN104", comma, comma + 1, {"closing": "`]`"}))
            faults += _rest(text, at + 1)
            return parsed, faults, at + 1
        if dots := ELLIPSIS.match(text, at):
            end = at + len(dots[0].rstrip())
            faults.append(JsonFault("JSN105", at, end, {"given": text[at:end][:40]}))
            at, comma = dots.end(), None
        else:
            if parsed and comma is None and (not faults or faults[-1].code != "JSN105"):
                faults.append(JsonFault("JSN106", at, at + 1, {}))
            item = one(text, at, 1)
            parsed.append(item)
            at = item.end if item.complete else _next_item(text, item.end)
        if between := _BETWEEN.match(text, at):
            at, comma = between.end(), at
            continue
        at, more = blanks(text, at)
        faults += more
        comma = at if text[at : at + 1] == "," else None
        at += comma is not None


_BETWEEN = re.compile(r",[ \t\r\n]*(?=\{)")


def _next_item(text: str, at: int) -> int:
    """Where, behind something that makes no sense, the next object may begin; or the end."""
    found = _NEXT.search(text, at)
    return found.start() if found else len(text)


_NEXT = re.compile(r",\s*\{\s*[\"']|\]\s*\Z")


def _rest(text: str, at: int) -> Iterator[JsonFault]:
    """What stands behind the end of the array."""
    at, faults = blanks(text, at)
    yield from faults
    if at < len(text):
        yield JsonFault("JSN107", at, min(line_end(text, at), at + 40), {"hint": _EXTRA})


_EXTRA = "remove everything after the end of the array"
_LINES = "convert JSON Lines to an array: `[` first, `]` last, and commas between the objects"


def _bare(text: str, at: int) -> tuple[list[Parsed], list[JsonFault]]:
    """The values of a text that does not begin with an array: an object, JSON Lines, or no JSON."""
    if text[at : at + 1] in {'"', "'"} and _MEMBER.match(text, at):
        braces = {"hint": "put each object in { } and all frames in [ ]"}
        return [], [JsonFault("JSN101", at, line_end(text, at), braces)]
    parsed: list[Parsed] = []
    faults: list[JsonFault] = []
    while True:
        at, more = blanks(text, at)
        faults += more
        if at >= len(text):
            if not parsed:
                faults.append(JsonFault("JSN115", at, at, {"wanted": "an array of frames, `[ ]`"}))
            return parsed, faults
        if len(parsed) == 1:
            lines = {"hint": _LINES if text[at] == "{" else _EXTRA}
            faults.append(JsonFault("JSN107", at, min(line_end(text, at), at + 40), lines))
            if text[at] not in "{,":
                return parsed, faults
        item = one(text, at + (text[at] == ","))
        parsed.append(item)
        if not item.complete:
            return parsed, faults
        at = item.end


_MEMBER = re.compile(r"(?:\"[^\"\n]*\"|'[^'\n]*')\s*:")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError
    return value


def _refuse(_: str) -> Any:
    raise ValueError


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_refuse)
_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(_DECODER)
_PLAIN_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(json.JSONDecoder())


def one(text: str, at: int, depth: int = 0) -> Parsed:
    """The value that begins at a place: quickly where it is right, else with its faults.

    `depth` is the number of arrays and objects around it.
    """
    try:
        value, end = _SCAN(text, at)
    except (ValueError, RecursionError, StopIteration):
        return parse(text, at, depth)
    if value.__class__ is not dict or not _PLAINER.issuperset(map(type, value.values())):
        return parse(text, at, depth)
    if math.inf in value.values() or -math.inf in value.values():
        return parse(text, at, depth)
    if text.find("\\u", at, end) >= 0 and _ESCAPED_SURROGATE.search(text, at, end):
        return parse(text, at, depth)
    return Parsed(value, at, end, (), {}, {}, complete=True)


@lru_cache(maxsize=1)
def starts(text: str) -> Sequence[int]:
    """Where each item of the outermost array begins; of a faulty text, as `items` finds them.

    Examples:
        >>> starts('[{}, {"a": 1}]')
        [1, 5]
    """
    at, _ = blanks(text, 0)
    found: list[int] = []
    try:
        start = blanks(text, at + 1)[0]
        while text[at] == "[" and text[start] != "]":
            _, end = _PLAIN_SCAN(text, start)
            found.append(start)
            between = _BETWEEN.match(text, end)
            if between is None and text[blanks(text, end)[0]] == "]":
                return found
            start = between.end() if between else _after_comma(text, end)
    except (ValueError, RecursionError, StopIteration, IndexError):
        pass
    return [one.start for one in items(text).parsed]


def _after_comma(text: str, at: int) -> int:
    at = blanks(text, at)[0]
    if text[at] != ",":
        raise ValueError
    return blanks(text, at + 1)[0]
