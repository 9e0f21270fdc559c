"""Lines of annotation files that their pattern refuses: what they say, or why they say nothing.

The bulk path of `neleval` takes the lines with one candidate in plain form. Every other line comes
here, one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hlteval.converters.toolkit.confidences import number

_OFFSET = re.compile(r" *\+?([0-9]{1,15}) *")


class Fault(NamedTuple):
    """Something wrong in a line: its code, place (0-based columns) and values for the message."""

    code: str
    start: int
    end: int
    values: Mapping[str, object]


class Candidate(NamedTuple):
    """An entity that a mention may name; what is not said is None."""

    entity: str
    score: str | None = None
    type: str | None = None


class Record(NamedTuple):
    """A line: the span and its candidates, the best first; or nothing, and what is wrong."""

    span: tuple[str, int, int] | None
    candidates: Sequence[Candidate]
    faults: Sequence[Fault]


class _Unreadable(Exception):
    """A line says nothing that can be read."""

    def __init__(self, code: str, start: int, end: int, **values: object) -> None:
        super().__init__(code)
        self.fault = Fault(code, start, end, values)


def record(line: str) -> Record:
    r"""What a line says.

    Candidates are sorted by their scores, the highest first; equal ones stay in their order.

    Args:
        line: the line, without its break.

    Examples:
        >>> [one.entity for one in record("D1\t1\t5\tE1\t0.2\tPER\tE2\t0.8\tPER").candidates]
        ['E2', 'E1']
        >>> record("D1\t1\tx").faults[0].code
        'NEL103'
    """
    cells = line.rstrip("\t").split("\t")
    try:
        span = _span(line, cells)
        candidates, faults = _candidates(cells)
    except _Unreadable as reason:
        return Record(None, (), (reason.fault,))
    return Record(span, candidates, faults)


def place(cells: Sequence[str], index: int) -> tuple[int, int]:
    """Where a cell stands in its line: 0-based columns, the second exclusive."""
    start = sum(len(cell) + 1 for cell in cells[:index])
    return start, start + len(cells[index])


def _span(line: str, cells: Sequence[str]) -> tuple[str, int, int]:
    if "\r" in line:
        at = line.index("\r")
        raise _Unreadable("NEL107", at, at + 1)
    if len(cells) < 3:
        values: dict[str, object] = {"given": len(cells), "s": "" if len(cells) == 1 else "s"}
        hint = ", not spaces" if len(cells) == 1 and len(line.split()) >= 3 else ""
        raise _Unreadable("NEL102", 0, len(line), **values, hint=hint)
    if not cells[0]:
        raise _Unreadable("NEL108", 0, 1)
    start, last = (_offset(cells, index) for index in (1, 2))
    return cells[0], start, last


def _offset(cells: Sequence[str], index: int) -> int:
    found = _OFFSET.fullmatch(cells[index])
    if not found:
        given = cells[index][:40] or "(empty)"
        start, end = place(cells, index)
        raise _Unreadable("NEL103", start, max(end, start + 1), given=given)
    return int(found[1])


def _candidates(cells: Sequence[str]) -> tuple[Sequence[Candidate], Sequence[Fault]]:
    rest = cells[3:]
    if not rest:
        return (), ()
    if len(rest) == 1:
        return (Candidate(rest[0]),), ()
    if len(rest) > 2 and len(rest) % 3:
        start, end = place(cells, 3)[0], place(cells, len(cells) - 1)[1]
        raise _Unreadable("NEL104", start, end, given=len(rest))
    found: list[tuple[float, Candidate]] = []
    faults: list[Fault] = []
    for index in range(3, len(cells), 3):
        score = _score(cells, index + 1)
        label = _type(cells, index + 2, faults) if len(rest) > 2 else None
        found.append((score, Candidate(cells[index], cells[index + 1].strip(), label)))
    found.sort(key=lambda one: -one[0])
    return [candidate for _, candidate in found], faults


def _score(cells: Sequence[str], index: int) -> float:
    value = number(cells[index])
    if value is None:
        start, end = place(cells, index)
        given = cells[index][:40].strip() or "(empty)"
        raise _Unreadable("NEL105", start, max(end, start + 1), given=given)
    return value


def _type(cells: Sequence[str], index: int, faults: list[Fault]) -> str:
    """The type of a candidate, which may be in JSON."""
    written = cells[index]
    if not written.startswith("{"):
        return written
    start, end = place(cells, index)
    try:
        said = json.loads(written)
    except (ValueError, RecursionError):
        reason = "not valid JSON"
        raise _Unreadable("NEL106", start, end, given=written[:40], reason=reason) from None
    label = said.get("type") if isinstance(said, dict) else None
    if not isinstance(label, str) or re.search(r"[\t\r\n]", label):
        reason = '"type" is missing or not plain text'
        raise _Unreadable("NEL106", start, end, given=written[:40], reason=reason)
    others = sorted(said.keys() - {"type"})
    if others:
        faults.append(Fault("NEL202", start, end, {"names": ", ".join(others)[:80]}))
    return label
