"""One line of a HUB-4 template set: its fields, and why it cannot be read.

This is the slow path. It asks the grammar itself, about lines that the bulk path rejected and
lines that a finding points at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hlteval.converters.hub4.lines import LIKE_HEADER, RULES, SPACES
from hlteval.findings import Problem
from hlteval.grammars import failure, in_words, matcher

_WORDS: Mapping[str, str] = {
    "$END": "end of line",
    "<END-OF-FILE>": "end of line",
    "_DEFINES": "`:=`",
    "POINTER": "a pointer such as <BREAD-D1-1>",
    "SLASH": "`/`",
    "SLOT": "a slot such as DATE:",
    "QUOTED": "a quoted text",
    "UNQUOTED": "a text",
    "EXTENTS": "extents such as ##5#8#",
}
#: Characters of the longest line that the grammar is asked about.
_MOST = 100_000
_NUMBER = re.compile("[0-9]+")


def explain(line: str, record: int, kind: int, *, ask: bool = True) -> Problem:
    """Why the grammar rejects a line, and where.

    Args:
        line: a line that is not a record, without spaces at either end.
        record: its number.
        kind: its apparent kind, an index of `RULES`.
        ask: whether to ask the grammar for the exact place; otherwise the problem is the whole
            line.

    Returns:
        The problem, with `expected` among its values: the tokens that the grammar expects, or "".

    Examples:
        >>> explain('WINNER: "Cairo" ##332#', 7, 1)
        Problem(code='HUB105', record=7, start=16, end=22, values={'expected': ...}, field='')
    """
    column, expected = 1, ""
    bare = RULES[kind] == "header" and not line.startswith("<")  # the grammar reads it as a text
    if ask and not bare and len(line) <= _MOST:
        column, terminals = failure("hub4", line)
        column += len(line[column - 1 :]) - len(line[column - 1 :].lstrip(SPACES))
        expected = in_words("hub4", terminals - {"_MARGIN"}, _WORDS)
    code, start = _cause(line, kind, column - 1)
    if code == "HUB105" or (code == "HUB102" and start == 0):
        expected = _WORDS["EXTENTS" if code == "HUB105" else "POINTER"]
    return Problem(code, record, min(start, len(line)), len(line), {"expected": expected})


def _cause(line: str, kind: int, failed: int) -> tuple[str, int]:
    """The code of a rejected line, and the start of the problem.

    Args:
        line: the line.
        kind: its apparent kind.
        failed: where the grammar gives up.
    """
    if RULES[kind] == "header":
        return "HUB102", failed
    start = 0
    if RULES[kind] in {"slot", "alternative"}:  # the fill follows the name of the slot and a slash
        head = re.match(r"(?:[A-Za-z0-9_-]+:[ \t\r\f\x0b]*)?(?:/[ \t\r\f\x0b]*)?", line)
        start = head.end() if head else 0
    fill, closing, hashes = line[start:], line.rfind('"'), line.find("##", start)
    if fill.startswith("<"):
        return "HUB103", start
    if fill.startswith('"'):
        rest = line[closing + 1 :]
        at = closing + 1 + len(rest) - len(rest.lstrip(SPACES))
        return ("HUB105", at) if "#" in rest and closing > start else ("HUB104", start)
    if hashes < 0 or fill.startswith("/"):
        return "HUB107", start
    return "HUB105", hashes


def kind_of(line: str) -> int:
    """The apparent kind of a line, an index of `RULES`.

    Examples:
        >>> [kind_of(line) for line in ("<A-D-1> :=", "NAME: x", "/ x", "<A-D-1>")]
        [0, 1, 2, 3]
    """
    if re.match(LIKE_HEADER, line):
        return 0
    if line.startswith("<"):
        defines = re.search(r">[ \t\r\f\x0b]*:=", line) or not line.endswith(">")
        return 0 if ":=" in line and defines else 3
    if line.startswith("/"):
        return 2
    return 1 if re.match("[A-Za-z0-9_-]+:", line) else 3


def field_spans(line: str) -> dict[str, tuple[int, int]]:
    """The fields of a line by name, each as start and end in the line.

    A header has the field `pointer`; other lines have `slot`, `slash`, `fill`, `extents`, and
    `extent 1`, `extent 2`, … for each of these.

    Examples:
        >>> field_spans('KIND: "rye" ##5#8#')["extent 1"]
        (14, 17)
    """
    match = matcher("hub4", RULES[kind_of(line)]).fullmatch(line)
    if match is None:
        return {}
    found = {name: match.span(name) for name, value in match.groupdict().items() if value}
    for name in ("pointer", "quoted", "unquoted"):
        if name in found:
            start, end = found[name]
            found["fill"] = (start, start + len(line[start:end].rstrip(SPACES)))
    if "slot" in found:
        found["slot"] = (0, found["slot"][1] - 1)
    if "extents" in found:
        numbers = [number.span() for number in _NUMBER.finditer(line, *found["extents"])]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        for ordinal, ((start, _), (_, end)) in enumerate(pairs, start=1):
            found[f"extent {ordinal}"] = (start, end)
    return found
