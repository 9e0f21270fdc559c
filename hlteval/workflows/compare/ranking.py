"""Ranks of systems by one metric, with intervals and the significance of their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from hlteval.findings import Finding, Problem, finding
from hlteval.findings.counts import counted
from hlteval.findings.suggest import did_you_mean
from hlteval.results.systems import Comparison, Difference, Significance, System, short_names
from hlteval.results.verdict import Signature
from hlteval.scoring.intervals import Method, notes, signature
from hlteval.scoring.metric import Limits
from hlteval.scoring.significance import Chance, holm
from hlteval.sources import open_source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.runtime.options import files
from hlteval.tasks.task import WrongOption
from hlteval.workflows.run.engine import Run
from hlteval.workflows.run.request import Intervals
from hlteval.workflows.run.verdicts import of_this_size

Values = NDArray[np.float64]
DOUBTFUL = 2
"""A rank hangs on the draws if it changes with p values by as many Monte Carlo errors."""


@dataclass(frozen=True)
class Scored:
    """One system and its value of a metric.

    Attributes:
        run: its scoring.
        value: of the metric; None where undefined.
        method: of intervals.
        drawn: the value in each replicate, the same documents for all systems.
        each: the value of each document by itself.
        reason: why neither the value nor a difference has an interval; empty where they can.
    """

    run: Run
    value: float | None
    method: Method
    drawn: Values
    each: Values
    reason: str

    def interval(self, within: Limits) -> Limits | str | None:
        """The interval of the value, or why there is none; None where there is no value."""
        if self.value is None:
            return None
        return self.reason or self.method.interval(self.value, self.drawn, within)


@dataclass(frozen=True)
class Chances:
    """The probabilities of differences between systems; those that are undefined are absent.

    Attributes:
        by_pair: by first system, second system and metric.
    """

    by_pair: Mapping[tuple[str, str, str], Chance]

    def of(self, one: str, two: str, metric: str) -> Chance | None:
        """Return that of two systems in either order: tests are two-sided."""
        return self.by_pair.get((one, two, metric)) or self.by_pair.get((two, one, metric))


@dataclass(frozen=True)
class Plan:
    """What is compared, and how.

    Attributes:
        metric: its name.
        sign: -1 where less is better.
        test: that gives probabilities.
        drawn: the replicates.
        alpha: the level of significance.
        within: what the metric can be at all.
    """

    metric: str
    sign: int
    test: str
    drawn: Intervals
    alpha: float
    within: Limits

    def alike(self, other: Plan) -> bool:
        """Whether another metric has the same test and the same replicates."""
        return (self.test, self.drawn) == (other.test, other.drawn)

    def comparison(self, listed: Mapping[str, Scored], chances: Chances) -> Comparison:
        """The systems by rank, and their differences.

        Args:
            listed: the systems by name.
            chances: the probabilities of their differences.
        """
        undefined = -np.inf
        order = sorted(
            listed,
            key=lambda name: undefined if (v := listed[name].value) is None else self.sign * v,
            reverse=True,
        )
        pairs = {pair: chances.of(*pair, self.metric) for pair in combinations(order, 2)}
        known = {pair: chance for pair, chance in pairs.items() if chance is not None}
        differences = [self.difference(pair, listed, chance) for pair, chance in pairs.items()]
        differences = corrected(differences)
        exact = bool(known) and all(chance.exact for chance in known.values())
        first = listed[order[0]].run
        systems = [
            System(
                name=name,
                value=(own := listed[name]).value,
                interval=limits if isinstance(limits := own.interval(self.within), tuple) else None,
                rank=None if own.value is None else rank,
            )
            for name, rank in zip(order, self.ranks(order, differences), strict=True)
        ]
        resampled = not exact or bool(
            [item for item in systems if item.interval]
            or [pair for pair in differences if pair.interval]
        )
        significance = self.significance(listed, list(known.values()))
        notes = (*self.notes(listed, exact=exact), *self.doubts(order, differences))
        return Comparison(
            task=first.judged.task,
            profile=first.judged.profile,
            metric=self.metric,
            signature=self.signature(listed, exact=exact, resampled=resampled),
            systems=tuple(systems),
            differences=tuple(differences),
            significance=significance,
            notes=(*notes, *filter(None, [significance.note])),
        )

    def signature(self, listed: Mapping[str, Scored], *, exact: bool, resampled: bool) -> str:
        """What the numbers depend on: that of the first run, and the digests of the others.

        Args:
            listed: the systems by name.
            exact: whether all p values are counted.
            resampled: whether any number depends on random draws.
        """
        signatures = [
            Signature.parse(item.run.signature(signature([item.method] if resampled else [])))
            for item in listed.values()
        ]
        common = [part for part in signatures[0].parts if part[0] != "system"]
        systems = [("system", own) for each in signatures for own in each.values("system")]
        last = (("test", "exact" if exact else self.test), ("metric", self.metric))
        return str(Signature((*common, *systems, *last)))

    def difference(
        self, names: tuple[str, str], listed: Mapping[str, Scored], chance: Chance | None
    ) -> Difference:
        """The difference of two systems, with the probability of one as large."""
        first, second = (listed[name] for name in names)
        observed = _less(first.value, second.value)
        gains = self.sign * (first.each - second.each)
        return Difference(
            first=str(names[0]),
            second=str(names[1]),
            difference=observed,
            interval=None if observed is None else self.limits(first, second, observed),
            probability=None if chance is None else chance.p,
            monte_carlo_error=None if chance is None else chance.error,
            corrected=None,
            wins=int((gains > 0).sum()),
            losses=int((gains < 0).sum()),
            ties=int((~((gains > 0) | (gains < 0))).sum()),
        )

    def limits(self, first: Scored, second: Scored, observed: float) -> Limits | None:
        """The interval of a difference."""
        if first.reason:
            return None
        return first.method.difference(observed, first.drawn - second.drawn, self.within)

    def ranks(self, order: Sequence[str], differences: Sequence[Difference]) -> list[int]:
        """The ranks of the systems in their order.

        A system shares the rank of the best that it does not differ from.
        """
        chances = {(pair.first, pair.second): pair.corrected for pair in differences}
        leader, rank, ranks = order[0], 1, []
        for place, name in enumerate(order, start=1):
            chance = chances.get((leader, name))
            if name != leader and chance is not None and chance < self.alpha:
                leader, rank = name, place
            ranks.append(rank)
        return ranks

    def doubts(self, order: Sequence[str], differences: Sequence[Difference]) -> Iterator[str]:
        """The systems whose ranks hang on the random draws."""
        own = self.ranks(order, differences)
        doubtful: dict[str, None] = {}
        for sign in (-1, 1):
            moved = corrected([_moved(pair, sign * DOUBTFUL) for pair in differences])
            ranks = self.ranks(order, moved)
            changed = [name for at, name in enumerate(order) if ranks[at] != own[at]]
            doubtful |= dict.fromkeys(changed)
        if doubtful:
            names = [name for name in order if name in doubtful]
            more = 10 * self.drawn.replicates
            yield (
                f"{counted(len(names), 'rank')} by {self.metric} ({', '.join(names)}) would change "
                f"with p values by {DOUBTFUL} Monte Carlo errors: use --bootstrap {more} or more"
            )

    def significance(self, listed: Mapping[str, Scored], chances: Sequence[Chance]) -> Significance:
        """Whether any of the differences could be significant, whatever the systems are like."""
        documents = next(iter(listed.values())).method.documents
        reasons = [item.reason for item in listed.values() if item.value is not None]
        if len(reasons) > 1 and reasons[0] and all(chance.smallest == 1 for chance in chances):
            note = f"no difference can be significant: {reasons[0]}"
            return Significance(documents=documents, pairs=len(chances), smallest=None, note=note)
        best = min(chances, key=lambda chance: chance.smallest, default=Chance(1.0))
        if not best.smallest:
            return Significance(documents=documents, pairs=len(chances), smallest=None)
        smallest = min(1.0, len(chances) * best.smallest)
        note = ""
        if smallest >= self.alpha:
            note = (
                f"no difference can be significant: {counted(documents, 'document')}, "
                f"{counted(len(chances), 'pair')}, smallest p {smallest:.2g}"
            )
            if not best.exact and 2 ** (1 - documents) * len(chances) < self.alpha:
                needed = 1000 * ceil(len(chances) / self.alpha / 1000)
                note += f"; use --bootstrap {needed} or more"
        return Significance(documents=documents, pairs=len(chances), smallest=smallest, note=note)

    def notes(self, listed: Mapping[str, Scored], *, exact: bool) -> Iterator[str]:
        """How to read the intervals, the probabilities and the order."""
        found = {name: item.interval(self.within) for name, item in listed.items()}
        (how,) = {item.method for item in listed.values()}
        task = next(iter(listed.values())).run.opened.task
        if any(isinstance(limits, tuple) for limits in found.values()):
            yield from notes({self.metric: how})
            yield from of_this_size(task, [self.metric], how.documents)
        missing = {name: why for name, why in found.items() if isinstance(why, str)}
        for reason in dict.fromkeys(missing.values()):
            names = [name for name, why in missing.items() if why == reason]
            yield f"no interval for {', '.join(names)}: {reason}"
        test = "exact permutation" if exact else self.test
        yield (
            f"p: two-sided {test} test over documents; systems not significantly different "
            f"(Holm-corrected p < {self.alpha:g}) from the best of their group share its rank"
        )
        if self.sign < 0:
            yield f"lower is better for {self.metric}"


def corrected(differences: Sequence[Difference]) -> list[Difference]:
    """The differences with probabilities corrected for how many there are."""
    known = [item.probability for item in differences if item.probability is not None]
    own = iter(holm(known))
    return [
        item if item.probability is None else msgspec.structs.replace(item, corrected=next(own))
        for item in differences
    ]


def _moved(pair: Difference, errors: int) -> Difference:
    """A difference whose probability is moved by some Monte Carlo errors."""
    if pair.probability is None or not pair.monte_carlo_error:
        return pair
    moved = min(1.0, max(0.0, pair.probability + errors * pair.monte_carlo_error))
    return msgspec.structs.replace(pair, probability=moved)


def _less(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two


SIDE = "--names"
"""The side of findings about the file."""
_TEXT = r"[^\t]*[^\t ][^\t]*"
NAMES = Table(
    (
        Column("submission", pattern=_TEXT, code="LDB107"),
        Column("name", pattern=_TEXT, code="LDB107"),
    ),
    code="LDB101",
)


class Named(NamedTuple):
    """The names of systems.

    Attributes:
        names: by path of the submission, no two the same; short names where there are no others.
        findings: about the file of names.
    """

    names: Mapping[str, str]
    findings: Sequence[Finding] = ()


def system_names(paths: Sequence[str], path: str | None = None, encoding: str = "utf-8") -> Named:
    """The names of the systems on a leaderboard.

    Args:
        paths: of the submissions.
        path: of the file of names, if there is one.
        encoding: of the file.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongOption: if it is a folder, or an archive of several files.
    """
    short = short_names(paths)
    if path is None:
        return Named(short)
    resolver = _Resolver(short)
    found: list[Finding] = []
    source = open_source(path, encoding=encoding)
    if source.kind == "folder" or len(source.members) > 1:
        raise WrongOption(f"--names {path} is not a file of names")
    for file in files(source):
        parsed = NAMES.read(file.text)
        problems = [*resolver.read(parsed)]
        headings = ", ".join(NAMES.headings)
        found += [*file.findings, *parsed.findings(file.member, *problems, columns=headings)]
    found += source.findings
    if not (resolver.names or found):
        found.append(finding("LDB106", file=source.path))
    return Named(resolver.all_names, [item.of(SIDE) for item in found])


@dataclass(frozen=True)
class _Line:
    """A line that names a system: its number and the name."""

    number: int
    name: str


class _Resolver:
    """Finds out which submission each line of a file of names is about.

    Args:
        short: the short names of all submissions, by path.
    """

    def __init__(self, short: Mapping[str, str]) -> None:
        self.short = short
        self.names: dict[str, _Line] = {}
        self.written: dict[str, list[str]] = {}
        for path, name in short.items():
            for key in dict.fromkeys((str(path), name, *_file_names(path))):
                self.written.setdefault(key, []).append(path)

    @property
    def all_names(self) -> dict[str, str]:
        """The name of each system."""
        own = {path: line.name for path, line in self.names.items()}
        return {path: own.get(path, short) for path, short in self.short.items()}

    def read(self, parsed: ParsedTable) -> Iterator[Problem]:
        """Read the lines, and report those that name no system, or two alike."""
        for number, given, name in parsed.rows.iter_rows():
            line = parsed.lines[number - 1]
            problem = self._line(number, given.strip(), name.strip())
            if problem is not None:
                code, field, values = problem
                yield Problem(code, number, *parsed.table.stretch(line, field), values)
        yield from self._taken(parsed)

    def _line(self, number: int, given: str, name: str) -> tuple[str, str, dict[str, Any]] | None:
        """What is wrong with a line: code, field and values; None if nothing is."""
        paths = [given] if given in self.short else self.written.get(given, [])
        if not paths:
            hint = did_you_mean(given, list(self.written), "write its path as in the command")
            return "LDB102", "submission", {"given": given, "hint": hint}
        if len(paths) > 1:
            values = {"given": given, "count": len(paths), "paths": ", ".join(map(str, paths))}
            return "LDB104", "submission", values
        (path,) = paths
        if path in self.names:
            return "LDB105", "submission", {"path": path, "first": self.names[path].number}
        same = [line for line in self.names.values() if line.name == name]
        self.names[path] = _Line(number, name)
        if same:
            return "LDB103", "name", {"name": name, "other": f"line {same[0].number}"}
        return None

    def _taken(self, parsed: ParsedTable) -> Iterator[Problem]:
        """Names that are the short names of other submissions, which have no line."""
        unnamed = {short: path for path, short in self.short.items() if path not in self.names}
        for line in self.names.values():
            if line.name in unnamed:
                values = {"name": line.name, "other": f"{unnamed[line.name]}, which has no line"}
                place = parsed.table.stretch(parsed.lines[line.number - 1], "name")
                yield Problem("LDB103", line.number, *place, values)


def _file_names(path: str) -> tuple[str, str]:
    """The name of a file with and without its last suffix."""
    name = PurePath(path)
    return name.name, name.stem
