"""Numbers of a whole file in another notation: one finding has the cause and counts them all.

A submission with percentages has the same problem in every line. Codes about numbers from 0 to 1
declare the fix for a file of percentages (`Entry.percentages`); their value `given` is the number
as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from hlteval.findings.catalogue import entry
from hlteval.findings.finding import Finding, Further
from hlteval.findings.templates import values

FEWEST = 3
"""Findings of a code in a file that may have a common cause."""
SURE = 0.9
"""The share of the records of a file, and of these findings, that a notation must explain."""


class _Notation(NamedTuple):
    """A way to write numbers: how they are written, what it looks like, and the fix.

    An empty fix is that of the code for percentages.
    """

    pattern: re.Pattern[str]
    looks: str
    fix: str = ""


_NOTATIONS = (
    _Notation(re.compile(r"(?:100|[0-9]{1,2})(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"), "be percentages"),
    _Notation(re.compile(r"[0-9]{1,3}(?:[.,][0-9]*)?\s*%"), "be percentages"),
    _Notation(re.compile(r"[0-9]*,[0-9]+"), "have decimal commas", "write a point, such as 0.85"),
)


def by_notation(findings: Iterable[Finding], records: int) -> Iterator[Finding]:
    """The findings, of which those with the notation of a whole file are one.

    Args:
        findings: about one side.
        records: the number of its records.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> rows = [(1, "85"), (2, "70.5"), (3, "100")]
        >>> found = [finding("EDL314", span=Span(at, 1, 2), given=given) for at, given in rows]
        >>> (only,) = by_notation(found, 3)
        >>> only.message, only.help
        ('3 of 3 confidences appear to be percentages, such as 85', 'divide all confidences by 100')
        >>> len([*by_notation(found, 100)])
        3
    """
    listed = list(findings)
    causes = {
        id(same[0]): cause
        for _, group in groupby(sorted(filter(_is_ratio, listed), key=_key), _key)
        if (cause := _cause(same := list(group), records))
    }
    explained = {number for cause in causes.values() for number in cause.findings}
    for found in listed:
        if id(found) in causes:
            yield causes[id(found)].one
        if id(found) not in explained:
            yield found


class _Cause(NamedTuple):
    """The finding of a notation, and the identities of those that it explains."""

    one: Finding
    findings: frozenset[int]


def _is_ratio(finding: Finding) -> bool:
    return bool(entry(finding.code).percentages)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.file or ""


def _cause(same: Sequence[Finding], records: int) -> _Cause | None:
    """The notation of the numbers of a file, from the findings of a code about it."""
    total = sum(found.count for found in same)
    if total < max(FEWEST, SURE * records):
        return None
    given = [(found, values(found).get("given", "")) for found in same if not found.further]
    for notation in _NOTATIONS:
        own = [found for found, text in given if notation.pattern.fullmatch(text.strip())]
        if own and len(own) >= SURE * len(given):
            explained = [*own, *(found for found in same if found.further)]
            example = next(text for found, text in given if found is own[0])
            return _Cause(
                _one(explained, notation, example, records), frozenset(map(id, explained))
            )
    return None


def _one(explained: Sequence[Finding], notation: _Notation, example: str, records: int) -> Finding:
    """The finding that stands for all that a notation explains, at the place of the first."""
    first = explained[0]
    places = [place for found in explained for place in _places(found)]
    share = f"{len(places):,} of {records:,} confidences"
    return msgspec.structs.replace(
        first,
        message=f"{share} appear to {notation.looks}, such as {example}",
        help=notation.fix or entry(first.code).percentages,
        blocking=any(found.blocking for found in explained),
        further=Further(tuple(places), is_cause=True),
    )


def _places(finding: Finding) -> Iterator[int | str | None]:
    """The lines that a finding is about, in JSON the paths."""
    if finding.further:
        yield from finding.further.places
    elif finding.record is not None and finding.record.startswith("$"):
        yield finding.record
    else:
        yield finding.span.line if finding.span else None
