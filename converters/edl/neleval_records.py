"""The lines of annotation files: their columns, and those with several candidates or problems.

Lines with at most one candidate in plain form are read in bulk; `explain` reads all others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial

from hlteval.converters.toolkit.confidences import number
from hlteval.findings import Problem
from hlteval.grammars import pattern
from hlteval.sources.names import printable
from hlteval.syntax.tsv import Cells, Column, Explanation, Table

_NOT_PLAIN = re.compile("[\t\r\n\ud800-\udfff]")
_OFFSET = re.compile(r" *\+?([0-9]{1,15}) *")


class _Unreadable(Exception):
    """A line cannot be read, because of a problem."""

    def __init__(self, code: str, start: int, end: int, **values: object) -> None:
        super().__init__(code)
        self.problem = Problem(code, 0, start, end, values)


def explain(record: int, line: str) -> Explanation:
    r"""The candidates of a line, each as a row after the span, and its problems.

    Candidates are sorted by their scores, the highest first; equal ones stay in their order. A span
    without candidates is one row.

    Args:
        record: the number of the line.
        line: the line, without its line break.

    Examples:
        >>> [row[3] for row in explain(1, "D1\t1\t5\tE1\t0.2\tPER\tE2\t0.8\tPER")[0]]
        ['E2', 'E1']
        >>> explain(1, "D1\t1\tx")[1][0].code
        'NEL103'
    """
    cells = line.rstrip("\t").split("\t")
    try:
        span = _span(line, cells)
        candidates, problems = _candidates(cells)
    except _Unreadable as reason:
        return (), [reason.problem._replace(record=record)]
    rows: list[Cells] = [[*span, *candidate] for candidate in candidates]
    return rows, [problem._replace(record=record) for problem in problems]


def place(cells: Sequence[str], index: int, last: int | None = None) -> tuple[int, int]:
    """Where a cell is in its line, or several up to a last one: 0-based columns, end exclusive."""
    start = sum(len(cell) + 1 for cell in cells[:index])
    stop = (index if last is None else last) + 1
    return start, start + len("\t".join(cells[index:stop]))


def _span(line: str, cells: Sequence[str]) -> tuple[str, str, str]:
    if "\r" in line:
        start = line.index("\r")
        raise _Unreadable("NEL107", start, start + 1)
    if len(cells) < 3:
        values: dict[str, object] = {"given": len(cells), "s": "" if len(cells) == 1 else "s"}
        hint = ", not spaces" if len(cells) == 1 and len(line.split()) >= 3 else ""
        raise _Unreadable("NEL102", 0, len(line), **values, hint=hint)
    if not cells[0]:
        raise _Unreadable("NEL108", 0, 1)
    return cells[0], _offset(cells, 1), _offset(cells, 2)


def _offset(cells: Sequence[str], index: int) -> str:
    found = _OFFSET.fullmatch(cells[index])
    if not found:
        start, end = place(cells, index)
        given = cells[index][:40] or "(empty)"
        raise _Unreadable("NEL103", start, max(end, start + 1), given=given)
    return found[1]


def _candidates(cells: Sequence[str]) -> tuple[list[Cells], list[Problem]]:
    """Entity, score and type of each candidate, the best first."""
    rest = cells[3:]
    if len(rest) < 2:
        return [[*rest, None, None, None][:3]], []
    if len(rest) > 2 and len(rest) % 3:
        raise _Unreadable("NEL104", *place(cells, 3, len(cells)), given=len(rest))
    found: list[tuple[float, Cells]] = []
    problems: list[Problem] = []
    for index in range(3, len(cells), 3):
        score = number(cells[index + 1])
        if score is None:
            start, end = place(cells, index + 1)
            given = cells[index + 1][:40].strip() or "(empty)"
            raise _Unreadable("NEL105", start, max(end, start + 1), given=given)
        label = _type(cells, index + 2, problems) if len(rest) > 2 else None
        found.append((score, [cells[index], cells[index + 1].strip(), label]))
    found.sort(key=lambda candidate: -candidate[0])
    return [candidate for _, candidate in found], problems


def _type(cells: Sequence[str], index: int, problems: list[Problem]) -> str:
    """The type of a candidate, which may be in JSON."""
    written = cells[index]
    if not written.startswith("{"):
        return written
    start, end = place(cells, index)
    try:
        attributes = json.loads(written)
    except (ValueError, RecursionError):
        reason = "not valid JSON"
        raise _Unreadable("NEL106", start, end, given=written[:40], reason=reason) from None
    label = attributes.get("type") if isinstance(attributes, dict) else None
    if not isinstance(label, str) or _NOT_PLAIN.search(label):
        reason = '"type" is missing or not plain text'
        raise _Unreadable("NEL106", start, end, given=written[:40], reason=reason)
    if others := sorted(attributes.keys() - {"type"}):
        names = ", ".join(map(printable, others))[:80]
        problems.append(Problem("NEL202", 0, start, end, {"names": names}))
    return label


def _column(name: str, rule: str, *, optional: bool = False) -> Column:
    return Column(name, pattern=partial(pattern, "neleval", rule), optional=optional)


#: A record has at most one candidate; of several, each is a row.
TABLE = Table(
    (
        _column("name", "document"),
        Column("start", "integer"),
        Column("last", "integer"),
        *(_column(name, name, optional=True) for name in ("entity", "score", "type")),
    ),
    empty_code="NEL101",
    explain=explain,
)
