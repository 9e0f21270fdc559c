r"""One value of JSON that somebody else wrote, read slowly.

Reading goes on behind what it can make sense of, and tells each fault with its place: Python
literals, single quotes, trailing commas, `...`, NaN, numbers too large or too long, repeated keys,
half a surrogate pair, nesting without end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

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
ELLIPSIS = re.compile(r"(?:\.\.\.|…)[^\]\[{},\"]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SINGLE = re.compile(r"'((?:[^'\\\n]|\\.)*)'")
_RIGHT = {"true": True, "false": False, "null": None}
_PYTHON = {"True": ("true", True), "False": ("false", False), "None": ("null", None)}
_NOT_FINITE = frozenset({"nan", "infinity", "inf"})


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


def line_end(text: str, at: int) -> int:
    """Where the line of a place ends."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def blanks(text: str, at: int) -> tuple[int, list[JsonFault]]:
    """Where blanks end; comments among them are faults."""
    match = _BLANKS.match(text, at)
    end = match.end() if match else at
    if end == at or "/" not in text[at:end]:
        return end, []
    found = (comment.span() for comment in _COMMENT.finditer(text, at, end))
    return end, [JsonFault("JSN103", start, stop, {}) for start, stop in found]


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
            self.fault(code, at, found.end() if found else at + 1, hint=f"write {wanted} here")
        return Unparsable()

    def blanks(self) -> str:
        """Pass over blanks; the character there, empty at the end."""
        self.at, faults = blanks(self.text, self.at)
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
                raise self.stop("JSN101", "the name of a member in double quotes or `}`")
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
            if dots := ELLIPSIS.match(self.text, self.at):
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
                self.fault("JSN114", start, raw.start(), character="line break")
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
            self.fault("JSN116", start, min(line_end(self.text, start), start + 40))
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
        raise self.stop("JSN101", "a value (text in double quotes)")

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
        if not set(given) & set(".eE"):
            return int(given)  # which may be more than a float holds
        value = float(given)
        if not math.isfinite(value):
            self.fault("JSN108", start, self.at, given=given)
            return None
        return value


_ONCE = frozenset({"JSN103", "JSN113"})
_CONTROL = re.compile("[\x00-\x1f]")
_PAIR = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
