"""Ranks of systems by one metric, with the significance of their differences; names of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from pathlib import PurePath
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings import Finding, Problem, finding
from hlteval.findings.counts import count_of
from hlteval.findings.suggest import did_you_mean
from hlteval.results.systems import Comparison, Difference, Significance, System, short_names
from hlteval.results.verdict import Signature
from hlteval.scoring.intervals import Method, notes, signature
from hlteval.scoring.metric import Limits, Metric
from hlteval.scoring.resampling import Chance, holm
from hlteval.sources import open_source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.option_files import files
from hlteval.tasks.task import WrongOption
from hlteval.workflows.run.engine import Run
from hlteval.workflows.run.request import Intervals
from hlteval.workflows.run.verdicts import size_notes

Values = NDArray[np.float64]
#: A rank hangs on the draws if it changes with p values by as many Monte Carlo errors.
DOUBTFUL = 2


@dataclass(frozen=True, kw_only=True)
class Scored:
    """One system and its value of a metric.

    Attributes:
        run: its scoring.
        part: the part of the metric that gives the value.
        counts: of the part, by document.
        value: of the metric; None where undefined.
        method: of intervals.
        drawn: the value in each replicate, the same documents for all systems.
        each: the value of each document by itself.
        reason: why neither the value nor a difference has an interval; empty where they can.
    """

    run: Run
    part: Metric
    counts: pl.DataFrame
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
class Plan:
    """A metric that systems are compared by, and how.

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

    def comparison(
        self, scored: Mapping[str, Scored], by_pair: Mapping[frozenset[str], Chance]
    ) -> Comparison:
        """Rank the systems, and compute their differences.

        Args:
            scored: the systems by name.
            by_pair: the p values of their differences, in either order since tests are two-sided;
                those that are undefined are absent.
        """
        values = {name: system.value for name, system in scored.items()}
        undefined = -np.inf
        order = sorted(
            scored,
            key=lambda name: undefined if (v := values[name]) is None else self.sign * v,
            reverse=True,
        )
        pairs = {pair: by_pair.get(frozenset(pair)) for pair in combinations(order, 2)}
        chances = [chance for chance in pairs.values() if chance is not None]
        differences = correct([self.difference(pair, scored, pairs[pair]) for pair in pairs])
        exact = bool(chances) and all(chance.exact for chance in chances)
        limits = {name: system.interval(self.within) for name, system in scored.items()}
        systems = tuple(
            System(
                name=name,
                value=values[name],
                interval=found if isinstance(found := limits[name], tuple) else None,
                rank=None if values[name] is None else rank,
            )
            for name, rank in zip(order, self.ranks(order, differences), strict=True)
        )
        intervals = [item.interval for item in systems] + [item.interval for item in differences]
        significance = self.significance(scored, chances)
        notes = (*self.notes(scored, limits, exact=exact), *self.doubts(order, differences))
        first = scored[order[0]].run
        return Comparison(
            task=first.judged.task,
            profile=first.judged.profile,
            metric=self.metric,
            signature=self.signature(scored, exact=exact, resampled=not exact or any(intervals)),
            systems=systems,
            differences=tuple(differences),
            significance=significance,
            notes=(*notes, *filter(None, [significance.note])),
        )

    def signature(self, scored: Mapping[str, Scored], *, exact: bool, resampled: bool) -> str:
        """Return the signature of the first run with the digests of the others.

        Args:
            scored: the systems by name.
            exact: whether all p values are counted.
            resampled: whether any number depends on random draws.
        """
        signatures = [
            Signature.parse(item.run.signature(signature([item.method] if resampled else [])))
            for item in scored.values()
        ]
        common = [part for part in signatures[0].parts if part[0] != "system"]
        systems = [("system", own) for each in signatures for own in each.values("system")]
        last = (("test", "exact" if exact else self.test), ("metric", self.metric))
        return str(Signature((*common, *systems, *last)))

    def difference(
        self, names: tuple[str, str], scored: Mapping[str, Scored], chance: Chance | None
    ) -> Difference:
        """The difference of two systems, with the probability of one as large."""
        first, second = (scored[name] for name in names)
        observed = interval = None
        if first.value is not None and second.value is not None:
            observed = first.value - second.value
            if not first.reason:
                drawn = first.drawn - second.drawn
                interval = first.method.difference(observed, drawn, self.within)
        gains = self.sign * (first.each - second.each)
        return Difference(
            first=str(names[0]),
            second=str(names[1]),
            difference=observed,
            interval=interval,
            probability=None if chance is None else chance.p,
            monte_carlo_error=None if chance is None else chance.error,
            corrected=None,
            wins=int((gains > 0).sum()),
            losses=int((gains < 0).sum()),
            ties=int((~((gains > 0) | (gains < 0))).sum()),
        )

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
        """Note the systems whose ranks change if p values move by some Monte Carlo errors."""
        ranks = self.ranks(order, differences)
        doubtful: set[str] = set()
        for sign in (-1, 1):
            moved = [
                msgspec.structs.replace(
                    pair,
                    probability=min(
                        1.0, max(0.0, pair.probability + sign * DOUBTFUL * pair.monte_carlo_error)
                    ),
                )
                if pair.probability is not None and pair.monte_carlo_error
                else pair
                for pair in differences
            ]
            changed = zip(order, ranks, self.ranks(order, correct(moved)), strict=True)
            doubtful |= {name for name, rank, other in changed if rank != other}
        if doubtful:
            names = [name for name in order if name in doubtful]
            more = 10 * self.drawn.replicates
            concerned = count_of(len(names), "rank")
            yield (
                f"{concerned} by {self.metric} ({', '.join(names)}) would change "
                f"with p values by {DOUBTFUL} Monte Carlo errors: use --bootstrap {more} or more"
            )

    def significance(self, scored: Mapping[str, Scored], chances: Sequence[Chance]) -> Significance:
        """Whether any of the differences could be significant, whatever the systems are like."""
        documents = next(iter(scored.values())).method.documents
        reasons = [item.reason for item in scored.values() if item.value is not None]
        if len(reasons) > 1 and reasons[0] and not any(c.exact or c.smallest < 1 for c in chances):
            note = f"no difference can be significant: {reasons[0]}"
            return Significance(documents=documents, pairs=len(chances), smallest=None, note=note)
        best = min(chances, key=lambda chance: chance.smallest, default=Chance(1.0))
        smallest = min(1.0, len(chances) * best.smallest) if best.smallest else None
        note = ""
        if smallest is not None and smallest >= self.alpha:
            note = (
                f"no difference can be significant: {count_of(documents, 'document')}, "
                f"{count_of(len(chances), 'pair')}, smallest p {smallest:.2g}"
            )
            if not best.exact and 2 ** (1 - documents) * len(chances) < self.alpha:
                needed = 1000 * ceil(len(chances) / self.alpha / 1000)
                note += f"; use --bootstrap {needed} or more"
        return Significance(documents=documents, pairs=len(chances), smallest=smallest, note=note)

    def notes(
        self,
        scored: Mapping[str, Scored],
        limits: Mapping[str, Limits | str | None],
        *,
        exact: bool,
    ) -> Iterator[str]:
        """Note how to read the intervals, the probabilities and the order."""
        (how,) = {item.method for item in scored.values()}
        task = next(iter(scored.values())).run.opened.task
        if any(isinstance(interval, tuple) for interval in limits.values()):
            yield from notes({self.metric: how})
            yield from size_notes(task, [self.metric], how.documents)
        missing = {name: why for name, why in limits.items() if isinstance(why, str)}
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


def correct(differences: Sequence[Difference]) -> list[Difference]:
    """Correct the probabilities of differences for how many there are."""
    known = [item.probability for item in differences if item.probability is not None]
    holms = iter(holm(known))
    return [
        item if item.probability is None else msgspec.structs.replace(item, corrected=next(holms))
        for item in differences
    ]


#: The side of findings about the file.
SIDE = "--names"
_TEXT = r"[^\t]*[^\t ][^\t]*"
NAMES = Table(
    (
        Column("submission", pattern=_TEXT, code="LDB107"),
        Column("name", pattern=_TEXT, code="LDB107"),
    ),
    code="LDB101",
)


class SystemNames(NamedTuple):
    """The names of systems.

    Attributes:
        names: by path of the submission, no two the same; short names where there are no others.
        findings: about the file of names.
    """

    names: Mapping[str, str]
    findings: Sequence[Finding] = ()


def system_names(
    paths: Sequence[str], path: str | None = None, encoding: str = "utf-8"
) -> SystemNames:
    """Return the names of the systems on a leaderboard.

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
        return SystemNames(short)
    resolver = _Resolver(short)
    findings: list[Finding] = []
    source = open_source(path, encoding=encoding)
    if source.kind == "folder" or len(source.members) > 1:
        raise WrongOption(f"--names {path} is not a file of names")
    for file in files(source):
        parsed = NAMES.read(file.text)
        problems = [*resolver.problems(parsed)]
        headings = ", ".join(NAMES.headings)
        findings += [*file.findings, *parsed.findings(file.member, *problems, columns=headings)]
    findings += source.findings
    if not (resolver.lines or findings):
        findings.append(finding("LDB106", file=source.path))
    names = {path: resolver.lines.get(path, (0, name))[1] for path, name in short.items()}
    return SystemNames(names, [item.of(SIDE) for item in findings])


class _Resolver:
    """Finds out which submission each line of a file of names is about.

    Args:
        short: the short names of all submissions, by path.

    Attributes:
        lines: the number of the line of a submission and the name there, by path.
    """

    def __init__(self, short: Mapping[str, str]) -> None:
        self.short = short
        self.lines: dict[str, tuple[int, str]] = {}
        self.spellings: dict[str, list[str]] = {}
        for path, name in short.items():
            file = PurePath(path)
            for key in dict.fromkeys((str(path), name, file.name, file.stem)):
                self.spellings.setdefault(key, []).append(path)

    def problems(self, parsed: ParsedTable) -> Iterator[Problem]:
        """Read the lines, and report those that name no system, or two alike."""

        def problem(code: str, number: int, field: str, **values: object) -> Problem:
            place = parsed.table.stretch(parsed.lines[number - 1], field)
            return Problem(code, number, *place, values)

        for number, given, name in parsed.rows.iter_rows():
            text, named = given.strip(), name.strip()
            paths = [text] if text in self.short else self.spellings.get(text, [])
            if not paths:
                hint = did_you_mean(text, list(self.spellings), "write its path as in the command")
                yield problem("LDB102", number, "submission", given=text, hint=hint)
            elif len(paths) > 1:
                every = ", ".join(map(str, paths))
                values = {"given": text, "count": len(paths), "paths": every}
                yield problem("LDB104", number, "submission", **values)
            elif paths[0] in self.lines:
                first = self.lines[paths[0]][0]
                yield problem("LDB105", number, "submission", path=paths[0], first=first)
            else:
                same = [line for line, other in self.lines.values() if other == named]
                self.lines[paths[0]] = (number, named)
                if same:
                    yield problem("LDB103", number, "name", name=named, other=f"line {same[0]}")
        without = {short: path for path, short in self.short.items() if path not in self.lines}
        for number, name in self.lines.values():  # the short names of submissions without a line
            if name in without:
                other = f"{without[name]}, which has no line"
                yield problem("LDB103", number, "name", name=name, other=other)
