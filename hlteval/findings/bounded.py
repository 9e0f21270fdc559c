"""Findings of a file within bounds: the first of each code are explained, the others counted.

A file may have a problem in each of a million lines. Nobody reads more than some findings of a code
in one file, and each costs as much as the line that it shows. The number of all is exact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from hlteval.findings.catalogue import entry
from hlteval.findings.finding import Finding, Further, Span
from hlteval.findings.problem import Problem

MAX_PER_CODE = 1000
"""Default maximum number of findings of one code in a file that are explained."""
HELP = "correct the explained ones first; validate with --max-per-code 0 explains all"

Place = int | str | None
P = TypeVar("P", bound=Place)
T = TypeVar("T")


class Bounded:
    """The findings of a file while it is read.

    Args:
        most: the maximum of a code; 0 for no maximum.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: Counter[str] = Counter()
        self._explained: list[Finding] = []
        self._firsts: dict[str, Finding] = {}
        self._others: defaultdict[str, list[Place]] = defaultdict(list)

    def add(self, code: str, place: P, finding: Callable[[P, T], Finding], problem: T) -> None:
        """Add a problem.

        Args:
            code: its code.
            place: its line, or in JSON its path.
            finding: explains a problem, given its place and what is known of it.
            problem: what is known of it.
        """
        if not self._most or self._counts[code] < self._most:
            self._counts[code] += 1
            self._explained.append(finding(place, problem))
            return
        if code not in self._firsts:
            self._firsts[code] = finding(place, problem)
        self._others[code].append(place)

    def is_full(self, code: str) -> bool:
        """Whether all further problems of a code are only counted."""
        return code in self._firsts

    def explained(self) -> list[Finding]:
        """The findings that were explained since the last call."""
        found, self._explained = self._explained, []
        return found

    @property
    def findings(self) -> list[Finding]:
        """The findings: those beyond the maximum of a code are one."""
        others = (summary(first, self._others[code]) for code, first in self._firsts.items())
        return [*self._explained, *others]


def explained(
    problems: Iterable[tuple[P, Problem]],
    finding: Callable[[P, Problem], Finding],
    most: int,
) -> list[Finding]:
    """The findings of the problems of a file: those beyond the maximum of a code are one.

    Args:
        problems: the problems in order, each with its line, or in JSON its path.
        finding: explains a problem, given both.
        most: the maximum of a code; 0 for no maximum.

    Examples:
        >>> problem = Problem("SNT101", 1, 0, 1, {"given": "x"})
        >>> problems = [(line, problem._replace(record=line)) for line in range(1, 6)]
        >>> found = explained(problems, lambda _, problem: problem.in_line("s.tsv", "x"), 2)
        >>> [(item.position, item.count) for item in found]
        [(':1:1', 1), (':2:1', 1), (':3:1', 3)]
    """
    bounded = Bounded(most)
    for place, problem in problems:
        bounded.add(problem.code, place, finding, problem)
    return bounded.findings


def line_findings(
    problems: Iterable[Problem], lines: Sequence[str], file: str, most: int = MAX_PER_CODE
) -> list[Finding]:
    """The findings of problems in a file whose records are its lines.

    Args:
        problems: the problems.
        lines: the lines of the file, split at line feeds.
        file: the display path of the file.
        most: the maximum of a code; 0 for no maximum.

    Examples:
        >>> line_findings([Problem("SNT101", 1, 0, 2, {"given": "xx"})], ["xx"], "s.tsv")[0].code
        'SNT101'
    """

    def finding(record: int, problem: Problem) -> Finding:
        return problem.in_line(file, lines[record - 1].removesuffix("\r"))

    return explained(((problem.record, problem) for problem in problems), finding, most)


def summary(first: Finding, places: Iterable[Place], names: Iterable[str] = ()) -> Finding:
    """The finding that stands for problems of its code that are only counted.

    Args:
        first: the finding of the first of them.
        places: the line of each, in JSON its path.
        names: the identifier that each misses or defines, if the code follows from others by it.

    Examples:
        >>> first = Problem("SNT101", 3, 0, 1, {"given": "x"}).in_line("s.tsv", "x")
        >>> summary(first, range(3, 6)).message[:7]
        '3 more:'
    """
    further = Further(tuple(places), tuple(names))
    title = entry(first.code).title
    return msgspec.structs.replace(
        first,
        message=f"{len(further.places):,} more: {title}",
        help=HELP,
        excerpt=None,
        record=None,
        further=further,
    )


def part(finding: Finding, numbers: Sequence[int]) -> Finding:
    """The finding that stands for some of the problems that a finding stands for.

    Args:
        finding: a finding with further problems.
        numbers: the numbers of these problems, from 0.

    Examples:
        >>> first = Problem("SNT101", 3, 0, 1, {"given": "x"}).in_line("s.tsv", "x")
        >>> part(summary(first, range(3, 9)), [1, 4]).further.places
        (4, 7)
    """
    further = finding.further or Further(())
    if len(numbers) == len(further.places):
        return finding
    places = [further.places[number] for number in numbers]
    names = [further.names[number] for number in numbers] if further.names else []
    line = places[0]
    span = Span(line, 1, 1) if isinstance(line, int) else finding.span
    return summary(msgspec.structs.replace(finding, span=span), places, names)
