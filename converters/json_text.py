r"""JSON that somebody else wrote: strictly read where it is right, explained where it is not.

`strict` is the bulk path: a value, or None where anything is wrong. `parse` reads one value slowly,
goes on behind what it can make sense of, and tells each fault with its place: Python literals,
single quotes, trailing commas, `...`, NaN, numbers too large or too long, repeated keys, half a
surrogate pair, nesting without end. Whatever one refuses, the other does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import c_make_scanner  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import msgspec

from hlteval.findings import Excerpt, Span
from hlteval.findings.excerpts import WINDOW

DEPTH = 100
"""Levels of nesting that are followed; what is evaluated has three."""
DIGITS = 4300
"""Digits of an integer that are read, as everywhere in Python; a confidence has twenty."""

Path = tuple[str | int, ...]
"""The way to a value: names of members, indices of items."""

_BLANKS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LIKE_A_NUMBER = re.compile(r"[+-]?[0-9.][0-9a-zA-Z_.+-]*")
_WORD = re.compile(r"[+-]?[A-Za-z_][A-Za-z_0-9]*")
_ELLIPSIS = re.compile(r"(?:\.\.\.|…)[^\]\[{},\"]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_SINGLE = re.compile(r"'((?:[^'\\\n]|\\.)*)'")
_RIGHT = {"true": True, "false": False, "null": None}
_PYTHON = {"True": ("true", True), "False": ("false", False), "None": ("null", None)}
_NOT_FINITE = frozenset({"nan", "infinity", "inf"})
_ESCAPE = re.compile(rb"\\.", re.DOTALL)


class JsonFault(NamedTuple):
    """Something that is no JSON: its code, place in the text (half-open), and message values."""

    code: str
    start: int
    end: int
    values: Mapping[str, object]


class Unparsable(Exception):
    """There is no telling where the value ends."""


class Parsed(NamedTuple):
    """A value with everything that is known of it.

    `values` and `keys` are the places of all values and of the names of members, by path.
    """

    value: Any
    start: int
    end: int
    faults: tuple[JsonFault, ...]
    values: Mapping[Path, tuple[int, int]]
    keys: Mapping[Path, tuple[int, int]]
    complete: bool


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
    at, faults = _blanks(text, 0)
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
        at, more = _blanks(text, at)
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
        if dots := _ELLIPSIS.match(text, at):
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
        at, more = _blanks(text, at)
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
    at, faults = _blanks(text, at)
    yield from faults
    if at < len(text):
        yield JsonFault("JSN107", at, min(_line_end(text, at), at + 40), {"hint": _EXTRA})


_EXTRA = "nothing may follow the end of the array"
_LINES = "this looks like JSON Lines: put `[` before, `]` behind and a comma after each object"


def _bare(text: str, at: int) -> tuple[list[Parsed], list[JsonFault]]:
    """The values of a text that does not begin with an array: an object, JSON Lines, or no JSON."""
    if text[at : at + 1] in {'"', "'"} and _MEMBER.match(text, at):
        braces = {"hint": "an object stands in { }, and the frames together in [ ]"}
        return [], [JsonFault("JSN101", at, _line_end(text, at), braces)]
    parsed: list[Parsed] = []
    faults: list[JsonFault] = []
    while True:
        at, more = _blanks(text, at)
        faults += more
        if at >= len(text):
            if not parsed:
                faults.append(JsonFault("JSN115", at, at, {"wanted": "an array of frames, `[ ]`"}))
            return parsed, faults
        if len(parsed) == 1:
            lines = {"hint": _LINES if text[at] == "{" else _EXTRA}
            faults.append(JsonFault("JSN107", at, min(_line_end(text, at), at + 40), lines))
            if text[at] not in "{,":
                return parsed, faults
        item = one(text, at + (text[at] == ","))
        parsed.append(item)
        if not item.complete:
            return parsed, faults
        at = item.end


_MEMBER = re.compile(r"(?:\"[^\"\n]*\"|'[^'\n]*')\s*:")


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _blanks(text: str, at: int) -> tuple[int, list[JsonFault]]:
    """Where blanks end; comments among them are faults."""
    match = _BLANKS.match(text, at)
    end = match.end() if match else at
    if end == at or "/" not in text[at:end]:
        return end, []
    found = (comment.span() for comment in _COMMENT.finditer(text, at, end))
    return end, [JsonFault("JSN103", start, stop, {}) for start, stop in found]


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
    at, _ = _blanks(text, 0)
    found: list[int] = []
    try:
        start = _blanks(text, at + 1)[0]
        while text[at] == "[" and text[start] != "]":
            _, end = _PLAIN_SCAN(text, start)
            found.append(start)
            between = _BETWEEN.match(text, end)
            if between is None and text[_blanks(text, end)[0]] == "]":
                return found
            start = between.end() if between else _after_comma(text, end)
    except (ValueError, RecursionError, StopIteration, IndexError):
        pass
    return [one.start for one in items(text).parsed]


def _after_comma(text: str, at: int) -> int:
    at = _blanks(text, at)[0]
    if text[at] != ",":
        raise ValueError
    return _blanks(text, at + 1)[0]


def parse(text: str, at: int = 0, depth: int = 0) -> Parsed:
    """The value that begins at a place, with the places of its parts and what is wrong with it.

    Examples:
        >>> found = parse('{"a": [1, None]}')
        >>> found.value, found.values["a", 1], found.faults[0].code
        ({'a': [1, None]}, (10, 14), 'JSN102')
    """
    parser = _Parser(text, at)
    try:
        value, complete = parser.value((), depth), True
    except Unparsable:
        value, complete = None, False
    return Parsed(value, at, parser.at, tuple(parser.faults), parser.values, parser.keys, complete)


class _Parser:
    """One value of a text, read slowly."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.faults: list[JsonFault] = []
        self.values: dict[Path, tuple[int, int]] = {}
        self.keys: dict[Path, tuple[int, int]] = {}

    def fault(self, code: str, start: int, end: int, **values: object) -> None:
        """Note a fault; of some kinds only the first is told."""
        if code not in _ONCE or all(fault.code != code for fault in self.faults):
            self.faults.append(JsonFault(code, start, end, values))

    def stop(self, code: str, wanted: str) -> Unparsable:
        """A fault behind which the value cannot be read."""
        at = self.at
        if at >= len(self.text):
            end = len(self.text.rstrip())
            self.fault("JSN115", end, end, wanted=wanted)
        else:
            found = _WORD.match(self.text, at)
            self.fault(code, at, found.end() if found else at + 1, hint=f"expected {wanted}")
        return Unparsable()

    def blanks(self) -> str:
        """Pass over blanks; the character there, empty at the end."""
        self.at, faults = _blanks(self.text, self.at)
        self.faults.extend(faults)
        return self.text[self.at : self.at + 1]

    def value(self, path: Path, depth: int) -> Any:
        character = self.blanks()
        start = self.at
        if character in {"{", "["} and depth >= DEPTH:
            self.fault("JSN111", start, start + 1, depth=DEPTH)
            raise Unparsable
        if character == "{":
            value: Any = self.object(path, depth)
        elif character == "[":
            value = self.array(path, depth)
        elif character in {'"', "'"}:
            value = self.string()
        else:
            value = self.scalar(start)
        self.values[path] = (start, self.at)
        return value

    def object(self, path: Path, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _ in self.parts("}"):
            if self.text[self.at] not in "\"'":
                raise self.stop("JSN101", "the name of a member in double quotes, or `}`")
            start = self.at
            name = self.string()
            if name in found:
                self.fault("JSN109", start, self.at, key=name)
            self.keys[*path, name] = (start, self.at)
            if self.blanks() != ":":
                raise self.stop("JSN101", "`:` and a value")
            self.at += 1
            found[name] = self.value((*path, name), depth + 1)
        return found

    def array(self, path: Path, depth: int) -> list[Any]:
        found: list[Any] = []
        for _ in self.parts("]"):
            found.append(self.value((*path, len(found)), depth + 1))
        return found

    def parts(self, closing: str) -> Iterator[None]:
        """Stop at each part of an object or array, past its commas, to its end."""
        self.at += 1
        comma, first = -1, True
        while True:
            character = self.blanks()
            if dots := _ELLIPSIS.match(self.text, self.at):
                end = self.at + len(dots[0].rstrip())
                self.fault("JSN105", self.at, end, given=self.text[self.at : end][:40])
                self.at, comma, first = dots.end(), -1, True
                continue
            if character == closing:
                if comma >= 0:
                    self.fault("JSN104", comma, comma + 1, closing=f"`{closing}`")
                self.at += 1
                return
            if not character:
                raise self.stop("JSN101", f"`{closing}`")
            if not first and comma < 0:
                if character not in "\"'{[":
                    raise self.stop("JSN101", f"a comma or `{closing}`")
                self.fault("JSN106", self.at, self.at + 1)
            yield
            first, comma = False, -1
            if self.blanks() == ",":
                comma = self.at
                self.at += 1

    def string(self) -> str:
        start = self.at
        if self.text[start] == "'":
            return self.single(start)
        try:
            value, self.at = scanstring(self.text, start + 1, False)
        except ValueError as error:
            self.bad_string(start, error)
            raise Unparsable from error
        if _CONTROL.search(value) and (raw := _CONTROL.search(self.text, start, self.at)):
            if raw[0] == "\n":  # a closing quotation mark is missing, or a string is folded
                self.at = raw.start()
                self.fault("JSN114", start, raw.start(), character="a line break")
                raise Unparsable
            self.fault("JSN114", raw.start(), raw.end(), character=f"U+{ord(raw[0]):04X}")
        if _SURROGATE.search(value):
            self.half_pair(start)
            return _SURROGATE.sub("\ufffd", value)
        return str(value)

    def single(self, start: int) -> str:
        """A string in single quotes, as Python prints it."""
        match = _SINGLE.match(self.text, start)
        if match is None:
            raise self.stop("JSN101", "a string in double quotes")
        self.fault("JSN113", start, match.end())
        self.at = match.end()
        return match[1]

    def half_pair(self, start: int) -> None:
        """The fault of an escape that is half a surrogate pair, at that escape."""
        at = start
        while match := _PAIR.search(self.text, at, self.at):
            if match.lastgroup:
                self.fault("JSN110", match.start(), match.end(), escape=match[0])
                return
            at = match.end()

    def bad_string(self, start: int, error: ValueError) -> None:
        at = getattr(error, "pos", start)
        if "Unterminated" in str(error):
            self.fault("JSN116", start, min(_line_end(self.text, start), start + 40))
            self.at = start + 1
        else:
            self.fault("JSN117", at, at + 2, escape=self.text[at : at + 2])
            self.at = at + 2

    def scalar(self, start: int) -> Any:
        if like := _LIKE_A_NUMBER.match(self.text, start):
            return self.number(like)
        word = _WORD.match(self.text, start)
        if word is None:
            raise self.stop("JSN101", "a value")
        self.at = word.end()
        if word[0] in _RIGHT:
            return _RIGHT[word[0]]
        if word[0] in _PYTHON:
            right, value = _PYTHON[word[0]]
            self.fault("JSN102", start, word.end(), given=word[0], right=right)
            return value
        if word[0].lstrip("+-").lower() in _NOT_FINITE:
            self.fault("JSN108", start, word.end(), given=word[0])
            return None
        self.at = start
        raise self.stop("JSN101", "a value; text stands in double quotes")

    def number(self, like: re.Match[str]) -> Any:
        start, given = like.start(), like[0]
        if not _NUMBER.fullmatch(given):
            sized = given[:40]
            start_of_word = given.lstrip("+-").lower()
            code = "JSN108" if start_of_word in _NOT_FINITE else "JSN118"
            self.fault(code, start, like.end(), given=sized)
            self.at = like.end()
            return None
        self.at = like.end()
        if len(given) > DIGITS:
            self.fault("JSN112", start, self.at, length=len(given), most=DIGITS)
            return None
        value: float = float(given) if set(given) & set(".eE") else int(given)
        if not math.isfinite(float(value)):
            self.fault("JSN108", start, self.at, given=given)
            return None
        return value


_ONCE = frozenset({"JSN103", "JSN113"})
_CONTROL = re.compile("[\x00-\x1f]")
_PAIR = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class Places:
    """Lines and columns of places of a text; quick where they are asked for in their order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line, self.begin, self.end = 1, 0, _line_end(text, 0)

    def seek(self, at: int) -> None:
        """Go to the line of a place."""
        if at < self.begin:
            self.line, self.begin, self.end = 1, 0, _line_end(self.text, 0)
        if at > self.end:
            self.line += self.text.count("\n", self.end, at)
            self.begin = self.text.rfind("\n", 0, at) + 1
            self.end = _line_end(self.text, at)

    def span(self, start: int, end: int) -> Span:
        """The place of a stretch, which is cut at the end of its first line."""
        self.seek(start)
        end = max(start, min(end, self.end))
        return Span(self.line, start - self.begin + 1, end - self.begin + 1)

    def excerpt(self, span: Span) -> Excerpt:
        """The window of the line that was asked for last; it may have many megabytes."""
        length = self.end - self.begin
        if length <= WINDOW:
            return Excerpt(self.text[self.begin : self.end].removesuffix("\r"))
        offset = max(0, min(span.column - 1 - WINDOW // 4, length - WINDOW))
        begin = self.begin + offset
        return Excerpt(self.text[begin : begin + WINDOW], offset, cut=offset + WINDOW < length)


def shown(path: Path) -> str:
    """A path as people write it.

    Examples:
        >>> shown((3, "Status", "Need"))
        '$[3].Status.Need'
    """
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "$" + "".join(parts)


__all__ = [
    "Items",
    "JsonFault",
    "Parsed",
    "Path",
    "Places",
    "items",
    "one",
    "parse",
    "shown",
    "starts",
    "strict",
]
