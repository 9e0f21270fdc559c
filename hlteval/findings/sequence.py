"""Findings as JSON and data frames, of a file with very many, and with one common cause.

Of each code, the first 1,000 findings of a file are explained (`findings/sequence.py`); one
finding with `further` summarizes the others. Counts add `Finding.count`; cascades look at the
place of each. Who explains in a loop asks `Bounded`, and equal lines are explained once.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, SupportsIndex, TypeVar, overload

import msgspec

from hlteval.extensions import lazy
from hlteval.findings.catalogue import Problem, entry, values
from hlteval.findings.finding import Finding, Further, Severity, Span

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T", bound=Hashable)
E = TypeVar("E")


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding in JSON: one problem, where it is, and how to fix it.

    Attributes:
        code: the code, which `hlteval explain` explains.
        name: its name in words with hyphens, as stable as the code.
        severity: its severity.
        blocking: whether nothing can be scored because of it.
        message: what is wrong, in one line.
        file: path of the file; null if it concerns all of a side.
        line: number of the line, from 1; null if it concerns the whole file.
        column: first column, from 1, in Unicode code points; null likewise.
        end_line: number of the last line, which is `line`; null likewise.
        end_column: the column after the last one, in Unicode code points; null likewise.
        record: identifier of the record, as written; null if there is none.
        help: how to fix it, in one line; null if there is nothing to say.
        clause: the clause of the specification that it violates; null if there is none.
        side: whose problem it is: `submission`, `reference`, or the option that names the file.
        table: the table of the record; only of findings about a corpus.
        row: the key of its row in that table, from 0; only of findings about a corpus.
        count: the number of problems that it summarizes; only if they are not explained one by one.
    """

    code: str
    name: str
    severity: Severity
    blocking: bool
    message: str
    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    record: str | None
    help: str | None
    clause: str | None
    side: str
    table: str | None = None
    row: int | None = None
    count: int = 1

    @classmethod
    def of(cls, finding: Finding) -> Item:
        """A finding as it is in JSON."""
        span = finding.span
        line, column, end = (span.line, span.column, span.end_column) if span else (None,) * 3
        names = (name for name in cls.__struct_fields__ if name not in _OF_SPAN)
        copied = {name: getattr(finding, name) for name in names}
        return cls(line=line, column=column, end_line=line, end_column=end, **copied)


_OF_SPAN = ("line", "column", "end_line", "end_column")


class Findings(tuple[Finding, ...]):
    """A tuple of findings, equal to any tuple or list of the same.

    Examples:
        >>> from hlteval.findings import finding
        >>> found = Findings([finding("SRC104", file="runs", what="folder")])
        >>> found
        <Findings: 1 error>
        >>> found.to_frame().select("code", "file").rows()
        [('SRC104', 'runs')]
        >>> found == (found[0],), found.to_dict()[0]["code"]
        (True, 'SRC104')
    """

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Finding: ...
    @overload
    def __getitem__(self, index: slice, /) -> Findings: ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> Finding | Findings:
        if isinstance(index, slice):
            return Findings(super().__getitem__(index))
        return super().__getitem__(index)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"<Findings: {severities(self) or 'none'}>"

    def _repr_html_(self) -> str:
        return str(lazy("hlteval.reports.notebook:findings")(self))

    def to_dict(self) -> list[dict[str, Any]]:
        """A dictionary per finding, with the names of `hlteval validate --format json`."""
        return [msgspec.to_builtins(Item.of(finding)) for finding in self]

    def to_frame(self) -> pl.DataFrame:
        """A row per finding, with the columns of `to_dict`; places of a file count from 1."""
        import polars as pl

        types: dict[str, type[pl.DataType]] = dict.fromkeys(Item.__struct_fields__, pl.String)
        types |= dict.fromkeys((*_OF_SPAN, "row", "count"), pl.Int64) | {"blocking": pl.Boolean}
        return pl.DataFrame(self.to_dict(), schema=types).with_columns(pl.col("count").fill_null(1))


def tally(findings: Iterable[Finding], key: Callable[[Finding], T]) -> Counter[T]:
    """The number of problems by a key of their findings.

    Examples:
        >>> from hlteval.findings import finding
        >>> tally([finding("SRC104", file="runs", what="folder")], lambda item: item.code)
        Counter({'SRC104': 1})
    """
    counts: Counter[T] = Counter()
    for finding in findings:
        counts[key(finding)] += finding.count
    return counts


def lists_by_key(pairs: Iterable[tuple[T, E]]) -> dict[T, list[E]]:
    """The second members of pairs by the first ones, both in their order.

    Examples:
        >>> lists_by_key([("a", 1), ("b", 2), ("a", 3)])
        {'a': [1, 3], 'b': [2]}
    """
    lists: dict[T, list[E]] = {}
    for key, item in pairs:
        lists.setdefault(key, []).append(item)
    return lists


def severities(findings: tuple[Finding, ...]) -> str:
    """The number of findings by severity in words; empty without findings."""
    counts = tally(findings, attrgetter("severity"))
    words = ((counts[severity], severity.value) for severity in Severity if counts[severity])
    return ", ".join(f"{n:,} {word}{'s' * (n > 1 and word != 'info')}" for n, word in words)


#: Default maximum number of findings of one code in a file that are explained.
MAX_PER_CODE = 1000
HELP = "correct the explained ones first; validate with --max-per-code 0 explains all"

Place = int | str | None
P = TypeVar("P", bound=Place)


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

    def add(self, code: str, place: P, finding: Callable[[P, E], Finding], problem: E) -> None:
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

    def count(self, code: str, place: Place) -> None:
        """Count a problem of a code that is full."""
        self._others[code].append(place)

    def take(self) -> list[Finding]:
        """Take the findings that were explained since the last call."""
        findings, self._explained = self._explained, []
        return findings

    @property
    def findings(self) -> list[Finding]:
        """The findings: those beyond the maximum of a code are one."""
        others = (summary(first, self._others[code]) for code, first in self._firsts.items())
        return [*self._explained, *others]


def findings_of(
    problems: Iterable[tuple[P, Problem]], finding: Callable[[P, Problem], Finding], most: int
) -> list[Finding]:
    """The findings of the problems of a file: those beyond the maximum of a code are one.

    Args:
        problems: the problems in order, each with its line, or in JSON its path.
        finding: explains a problem, given both.
        most: the maximum of a code; 0 for no maximum.

    Examples:
        >>> problem = Problem("SNT101", 1, 0, 1, {"given": "x"})
        >>> problems = [(line, problem._replace(record=line)) for line in range(1, 6)]
        >>> found = findings_of(problems, lambda _, problem: problem.in_line("s.tsv", "x"), 2)
        >>> [(item.position, item.count) for item in found]
        [(':1:1', 1), (':2:1', 1), (':3:1', 3)]
    """
    bounded = Bounded(most)
    for place, problem in problems:
        bounded.add(problem.code, place, finding, problem)
    return bounded.findings


class _Lines(Protocol):
    """The lines of a file, such as a list of them."""

    def __getitem__(self, number: int, /) -> str: ...


def line_findings(
    problems: Iterable[Problem], lines: _Lines, file: str, most: int = MAX_PER_CODE
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

    return findings_of(((problem.record, problem) for problem in problems), finding, most)


def summary(first: Finding, places: Iterable[Place], names: Iterable[str] = ()) -> Finding:
    """The finding that represents problems of its code that are only counted.

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
    text = f"{len(further.places):,} more: {entry(first.code).title}"
    return msgspec.structs.replace(
        first, message=text, help=HELP, excerpt=None, record=None, further=further
    )


def part(finding: Finding, numbers: Sequence[int]) -> Finding:
    """The finding that represents some of the problems that a finding represents.

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


#: Findings of a code in a file that may have a common cause.
FEWEST = 3
#: The share of the records of a file, and of these findings, that a notation must explain.
SURE = 0.9


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
    numeric = (finding for finding in listed if entry(finding.code).percentages)
    groups = lists_by_key(((finding.code, finding.file), finding) for finding in numeric)
    causes: dict[int, Finding] = {}
    explained: set[int] = set()
    for alike in groups.values():
        if found := _cause(alike, records):
            causes[id(alike[0])], its_findings = found
            explained.update(map(id, its_findings))
    for finding in listed:
        if id(finding) in causes:
            yield causes[id(finding)]
        if id(finding) not in explained:
            yield finding


def _cause(alike: Sequence[Finding], records: int) -> tuple[Finding, list[Finding]] | None:
    """The finding of the notation of a file, and those of a code that it explains."""
    if sum(finding.count for finding in alike) < max(FEWEST, SURE * records):
        return None
    written = [(item, values(item).get("given", "")) for item in alike if not item.further]
    for notation in _NOTATIONS:
        fitting = [pair for pair in written if notation.pattern.fullmatch(pair[1].strip())]
        if not fitting or len(fitting) < SURE * len(written):
            continue
        explained = [*(item for item, _ in fitting), *(item for item in alike if item.further)]
        places = [place for item in explained for place in places_of(item)]
        share = f"{len(places):,} of {records:,} confidences"
        summary = msgspec.structs.replace(
            explained[0],
            message=f"{share} appear to {notation.looks}, such as {fitting[0][1]}",
            help=notation.fix or entry(explained[0].code).percentages,
            blocking=any(item.blocking for item in explained),
            further=Further(tuple(places), is_cause=True),
        )
        return summary, explained
    return None


def places_of(finding: Finding) -> tuple[Place, ...]:
    """The lines that a finding is about, in JSON the paths."""
    if finding.further:
        return finding.further.places
    if finding.record is not None and finding.record.startswith("$"):
        return (finding.record,)
    return (finding.span.line if finding.span else None,)
