r"""A tolerant, slow parser for one JSON value.

It continues after whatever it can interpret, and reports every problem with its place: Python
literals, single quotes, trailing commas, `...`, NaN, numbers too large or too long, repeated keys,
unpaired surrogates, excessive nesting.
"""

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from hlteval.findings import Problem
from hlteval.syntax.places import Path, line_end

#: Deepest nesting that is parsed; real data has three levels.
DEPTH = 100
#: Digits of the longest integer, as in Python itself; a confidence has twenty.
DIGITS = 4300
_BLANKS = re.compile(r"[ \t\r\n]*")
_LINES = re.compile(r"(?:[ \t\r\n]+|//[^\n]*)*")
_COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LIKE_A_NUMBER = re.compile(r"[+-]?[0-9.][0-9a-zA-Z_.+-]*")
#: A number with a decimal comma: no other member of an object begins with a digit.
_DECIMAL_COMMA = re.compile(r"-?[0-9]{1,15},[0-9]{1,15}(?=[ \t\r\n]*[,}])")
_CURLY = "“”„‟«»"
_STRAIGHT = 'replace the typographic quotation marks with straight ones: "'
_WORD = re.compile(r"[+-]?[A-Za-z_][A-Za-z_0-9]*")
ELLIPSIS = re.compile(r"(?:\.\.\.|…)[^\]\[{},\"]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
#: Characters after an escape that decide what it is.
_PEEKED = 12
_SINGLE = re.compile(r"'((?:[^'\\\n]|\\.)*)'")
_RIGHT = {"true": True, "false": False, "null": None}
_PYTHON = {"True": ("true", True), "False": ("false", False), "None": ("null", None)}
_NOT_FINITE = frozenset({"nan", "infinity", "inf"})


class Unparsable(Exception):
    """The end of the value cannot be determined."""


class Parsed(NamedTuple):
    """A value with its place, its problems and the places of its parts.

    Attributes:
        value: the value, as far as it could be read.
        start: its start in the text.
        end: its end, or the place where parsing stopped.
        problems: what is wrong with it; their `record` is 0.
        values: start and end of all values in it, by path.
        keys: start and end of the names of all members in it, by path.
        complete: whether the value was parsed to its end.
    """

    value: Any
    start: int
    end: int
    problems: tuple[Problem, ...]
    values: Mapping[Path, tuple[int, int]]
    keys: Mapping[Path, tuple[int, int]]
    complete: bool


def blanks(text: str, at: int) -> tuple[int, list[Problem]]:
    """The end of white space that begins at an offset, and problems for the comments in it."""
    end = skip_space(text, at)
    if not text.startswith("/", end):
        return end, []
    # A comment that is not closed is searched for its end up to the end of the text.
    closed = end < _last_comment_end(text)
    end = skip_space(text, end, _COMMENTS if closed else _LINES)
    return end, [Problem("JSN103", 0, *found.span()) for found in _COMMENT.finditer(text, at, end)]


def skip_space(text: str, at: int, pattern: re.Pattern[str] = _BLANKS) -> int:
    """The end of what a pattern matches at an offset, by default white space."""
    match = pattern.match(text, at)
    return match.end() if match else at


@lru_cache(maxsize=1)
def _last_comment_end(text: str) -> int:
    """The end of the last comment that may span lines; -1 if there is none."""
    return text.rfind("*/")


def parse(text: str, at: int = 0, depth: int = 0) -> Parsed:
    """Parse the value that begins at an offset, which `depth` arrays and objects contain.

    Examples:
        >>> found = parse('{"a": [1, None]}')
        >>> found.value, found.values["a", 1], found.problems[0].code
        ({'a': [1, None]}, (10, 14), 'JSN102')
    """
    parser = _Parser(text, at)
    try:
        value, complete = parser.value((), depth), True
    except Unparsable:
        value, complete = None, False
    problems = tuple(parser.problems)
    return Parsed(value, at, parser.at, problems, parser.values, parser.keys, complete)


class _Parser:
    """The state of parsing one value."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.problems: list[Problem] = []
        self.once: set[str] = set()
        self.values: dict[Path, tuple[int, int]] = {}
        self.keys: dict[Path, tuple[int, int]] = {}

    def report(self, code: str, start: int, end: int, **values: object) -> None:
        """Add a problem; of some codes only the first."""
        if code not in self.once:
            self.problems.append(Problem(code, 0, start, end, values))
        if code in ONCE:
            self.once.add(code)

    def stop(self, code: str, wanted: str) -> Unparsable:
        """Report a problem after which parsing cannot continue."""
        at = self.at
        if at >= len(self.text):
            end = len(self.text.rstrip())
            self.report("JSN115", end, end, wanted=wanted)
        else:
            found = _WORD.match(self.text, at)
            curly = self.text[at] in _CURLY
            hint = _STRAIGHT if curly else f"write {wanted} here"
            self.report(code, at, found.end() if found and not curly else at + 1, hint=hint)
        return Unparsable()

    def blanks(self) -> str:
        """Skip white space; return the character after it, empty at the end."""
        self.at, problems = blanks(self.text, self.at)
        self.problems += problems
        return self.text[self.at : self.at + 1]

    def value(self, path: Path, depth: int) -> Any:
        character = self.blanks()
        start = self.at
        if character in {"{", "["} and depth >= DEPTH:
            self.report("JSN111", start, start + 1, depth=DEPTH)
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

    def object(self, path: Path, depth: int) -> Mapping[str, Any]:
        found: dict[str, object] = {}
        for _ in self.elements("}"):
            if self.text[self.at] not in "\"'":
                raise self.stop("JSN101", "the name of a member in double quotes or `}`")
            start = self.at
            name = self.string()
            if name in found:
                self.report("JSN109", start, self.at, key=name)
            self.keys[*path, name] = (start, self.at)
            if self.blanks() != ":":
                raise self.stop("JSN101", "`:` and a value")
            self.at += 1
            found[name] = self.member((*path, name), depth + 1)
        return found

    def member(self, path: Path, depth: int) -> Any:
        """The value of a member; a number with a decimal comma is a problem, but is read."""
        self.blanks()
        comma = _DECIMAL_COMMA.match(self.text, self.at)
        if comma is None:
            return self.value(path, depth)
        self.report("JSN118", *comma.span(), given=comma[0])
        self.values[path] = comma.span()
        self.at = comma.end()
        return float(comma[0].replace(",", "."))

    def array(self, path: Path, depth: int) -> list[Any]:
        items = enumerate(self.elements("]"))
        return [self.value((*path, number), depth + 1) for number, _ in items]

    def elements(self, closing: str) -> Iterator[None]:
        """Stop at each member or item of an object or array, after its comma, up to its end."""
        self.at += 1
        comma, first = -1, True
        while True:
            character = self.blanks()
            if dots := ELLIPSIS.match(self.text, self.at):
                end = self.at + len(dots[0].rstrip())
                self.report("JSN105", self.at, end, given=self.text[self.at : end][:40])
                self.at, comma, first = dots.end(), -1, True
                continue
            if character == closing:
                if comma >= 0:
                    self.report("JSN104", comma, comma + 1, closing=f"`{closing}`")
                self.at += 1
                return
            if not character:
                raise self.stop("JSN101", f"`{closing}`")
            if not first and comma < 0:
                if character not in "\"'{[":
                    raise self.stop("JSN101", f"a comma or `{closing}`")
                self.report("JSN106", self.at, self.at + 1)
            yield
            first, comma = False, -1
            if self.blanks() == ",":
                comma = self.at
                self.at += 1

    def string(self) -> str:
        start = self.at
        if self.text[start] == "'":
            return self.single(start)
        # The error of the scanner counts the lines before it: it sees no more than the string.
        closed = _STRING.match(self.text, start)
        end = len(self.text) if closed is None else closed.end() + _PEEKED
        try:
            value, size = scanstring(self.text[start:end], 1, False)
        except ValueError as error:
            self.bad_string(start, error)
            raise Unparsable from error
        self.at = start + size
        if _CONTROL.search(value) and (raw := _CONTROL.search(self.text, start, self.at)):
            if raw[0] == "\n":  # a closing quotation mark is missing, or a string is folded
                self.at = raw.start()
                self.report("JSN114", start, raw.start(), character="line break")
                raise Unparsable
            self.report("JSN114", *raw.span(), character=f"U+{ord(raw[0]):04X}")
        if _SURROGATE.search(value):
            self.half_pair(start)
            return _SURROGATE.sub("\ufffd", value)
        return str(value)

    def single(self, start: int) -> str:
        """A string in single quotes, as printed by Python."""
        match = _SINGLE.match(self.text, start)
        if match is None:
            raise self.stop("JSN101", "a string in double quotes")
        self.report("JSN113", start, match.end())
        self.at = match.end()
        return match[1]

    def half_pair(self, start: int) -> None:
        """Report the first escape that is half a surrogate pair."""
        for match in _PAIR.finditer(self.text, start, self.at):
            if match.lastgroup:
                self.report("JSN110", *match.span(), escape=match[0])
                return

    def bad_string(self, start: int, error: ValueError) -> None:
        at = start + getattr(error, "pos", 0)
        if "Unterminated" in str(error):
            self.report("JSN116", start, min(line_end(self.text, start), start + 40))
            self.at = start + 1
        else:
            self.report("JSN117", at, at + 2, escape=self.text[at : at + 2])
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
            self.report("JSN102", start, word.end(), given=word[0], right=right)
            return value
        if word[0].lstrip("+-").lower() in _NOT_FINITE:
            self.report("JSN108", start, word.end(), given=word[0])
            return None
        self.at = start
        raise self.stop("JSN101", "a value (text in double quotes)")

    def number(self, like: re.Match[str]) -> Any:
        start, given = like.start(), like[0]
        self.at = like.end()
        if not _NUMBER.fullmatch(given):
            code = "JSN108" if given.lstrip("+-").lower() in _NOT_FINITE else "JSN118"
            self.report(code, start, self.at, given=given[:40])
            return None
        if len(given) > DIGITS:
            self.report("JSN112", start, self.at, length=len(given), most=DIGITS)
            return None
        if not set(given) & set(".eE"):
            return int(given)  # which may be more than a float holds
        value = float(given)
        if not math.isfinite(value):
            self.report("JSN108", start, self.at, given=given)
            return None
        return value


#: Codes of mistakes that run through a file, of which the first one is reported.
ONCE = frozenset({"JSN103", "JSN113"})
_CONTROL = re.compile("[\x00-\x1f]")
_PAIR = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
