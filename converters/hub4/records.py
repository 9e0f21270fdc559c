"""One line of a HUB-4 template set: where its parts stand, and why it cannot be read.

This is the slow path: the grammar itself is asked, for the lines that the bulk path refused, and
for the lines that a finding points at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from lark import UnexpectedInput, UnexpectedToken

from hlteval.converters.hub4.lines import BLANKS, RULES
from hlteval.grammars import load, pattern

_WORDS: Mapping[str, str] = {
    "$END": "the end of the line",
    "<END-OF-FILE>": "the end of the line",
    "_DEFINES": "`:=`",
    "POINTER": "a pointer such as <BREAD-D1-1>",
    "SLASH": "`/`",
    "SLOT": "a slot such as DATE:",
    "QUOTED": "a quoted text",
    "UNQUOTED": "a text",
    "EXTENTS": "extents such as ##5#8#",
}
_MOST = 100_000
"""Characters of a line that the grammar is asked about."""
_NUMBER = re.compile("[0-9]+")


class Refusal(NamedTuple):
    """Why a line cannot be read: its code, 1-based columns, and what could have stood there."""

    code: str
    column: int
    end_column: int
    expected: str


def explain(line: str, kind: int, *, ask: bool = True) -> Refusal:
    """Why the grammar refuses a line, and where.

    Args:
        line: a line that is no record, without blanks at either end.
        kind: what it sets out to be, a place in `RULES`.
        ask: whether to ask the grammar for the exact place; without, the whole line is at fault.

    Examples:
        >>> explain('WINNER: "Cairo" ##332#', 1)
        Refusal(code='HUB105', column=17, end_column=23, expected='extents such as ##5#8#')
    """
    column, expected = _failure(line) if ask and len(line) <= _MOST else (1, "")
    start = _fill_start(line, kind)
    code, at = _cause(line, kind, start, column)
    end = len(line) + 1
    if code == "HUB105" or (code == "HUB102" and at == 1):
        expected = _WORDS["EXTENTS" if code == "HUB105" else "POINTER"]
    return Refusal(code, min(at, end), end, expected)


def _cause(line: str, kind: int, start: int, column: int) -> tuple[str, int]:
    """The code of a line that is refused, and the column of what is wrong with it."""
    fill, closing, hashes = line[start:], line.rfind('"'), line.find("##", start)
    if RULES[kind] == "header":
        return "HUB102", column
    if fill.startswith("<"):
        return "HUB103", start + 1
    if fill.startswith('"'):
        behind = line[closing + 1 :]
        at = closing + 2 + len(behind) - len(behind.lstrip(BLANKS))
        return ("HUB105", at) if "#" in behind and closing > start else ("HUB104", start + 1)
    if hashes < 0 or fill.startswith("/"):
        return "HUB107", start + 1
    return "HUB105", hashes + 1


def _fill_start(line: str, kind: int) -> int:
    """Where the fill of a line begins: behind the name of a slot, and behind a slash."""
    head = re.match(r"(?:[A-Za-z0-9_-]+:[ \t\r\f\x0b]*)?(?:/[ \t\r\f\x0b]*)?", line)
    return head.end() if head and RULES[kind] in {"slot", "alternative"} else 0


def _failure(line: str) -> tuple[int, str]:
    """The column at which the grammar gives up, and what it would have taken there."""
    try:
        load("hub4").parse(line)
    except UnexpectedInput as error:
        names = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        column = len(line) + 1 if at_end else error.column
        column += len(line[column - 1 :]) - len(line[column - 1 :].lstrip(BLANKS))
        words = sorted(_word(name) for name in names if name != "_MARGIN")
        return column, " or ".join(words)
    raise AssertionError(f"the grammar takes what the pattern refuses: {line!r}")


def _word(terminal: str) -> str:
    """A terminal of the grammar in the words of a person."""
    if terminal in _WORDS:
        return _WORDS[terminal]
    named = {one.name: one.pattern.value for one in load("hub4").terminals}
    return f"`{named.get(terminal, terminal)}`"


def kind_of(line: str) -> int:
    """What a line sets out to be, a place in `RULES`.

    Examples:
        >>> [kind_of(line) for line in ("<A-D-1> :=", "NAME: x", "/ x", "<A-D-1>")]
        [0, 1, 2, 3]
    """
    if line.startswith("<"):
        behind = re.search(r">[ \t\r\f\x0b]*:=", line) or not line.endswith(">")
        return 0 if ":=" in line and behind else 3
    if line.startswith("/"):
        return 2
    return 1 if re.match("[A-Za-z0-9_-]+:", line) else 3


@cache
def _compiled(rule: str) -> re.Pattern[str]:
    return re.compile(pattern("hub4", rule))


def parts(line: str) -> dict[str, tuple[int, int]]:
    """The parts of a line by name, each as start and end in it.

    They are `pointer` of a header; `slot`, `slash`, `fill` and `extents` of other lines, and
    `extent 1`, `extent 2`, … of its extents.

    Examples:
        >>> parts('KIND: "rye" ##5#8#')["extent 1"]
        (14, 17)
    """
    match = _compiled(RULES[kind_of(line)]).fullmatch(line)
    if match is None:
        return {}
    found = {name: match.span(name) for name, value in match.groupdict().items() if value}
    for name in ("pointer", "quoted", "unquoted"):
        if name in found:
            start, end = found[name]
            found["fill"] = (start, start + len(line[start:end].rstrip(BLANKS)))
    if "slot" in found:
        found["slot"] = (0, found["slot"][1] - 1)
    if "extents" in found:
        numbers = [one.span() for one in _NUMBER.finditer(line, *found["extents"])]
        for number, (first, second) in enumerate(
            zip(numbers[::2], numbers[1::2], strict=True), start=1
        ):
            found[f"extent {number}"] = (first[0], second[1])
    return found
