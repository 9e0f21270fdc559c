"""Ranks of systems by metrics, and the significance of their differences, from one run of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of
from hlteval.results.systems import Comparison, Difference, Significance, System
from hlteval.results.verdict import Signature
from hlteval.scoring.intervals import Bootstrap, Jackknife, Method, notes, signature
from hlteval.scoring.metric import Limits, Metric, Replicates
from hlteval.scoring.resampling import Chance, Pair, Permutations, Sample, Swaps, holm
from hlteval.tasks.task import WrongOption
from hlteval.workflows.run.engine import Run
from hlteval.workflows.run.request import Intervals
from hlteval.workflows.run.verdicts import size_notes

Values = NDArray[np.float64]
#: A rank hangs on the draws if it changes with p values by as many Monte Carlo errors.
DOUBTFUL = 2


@dataclass(frozen=True)
class Resampled:
    """One system and its values, in each replicate and of each document.

    Attributes:
        run: its scoring.
        sample: what was counted by document, for the part of the metric that gives the values.
        values: by metric; None where undefined.
        method: of intervals.
        drawn: the values in each replicate, the same documents for all systems.
    """

    run: Run
    sample: Sample
    values: Mapping[str, float | None]
    method: Method
    drawn: Replicates

    @property
    def part(self) -> Metric:
        """The part of the metric that gives the values."""
        return self.sample.metric

    def drawn_of(self, name: str) -> Values:
        """The values of a metric in the replicates, of which there are none of no documents."""
        return self.drawn.get(name, np.array([]))

    def reason(self, name: str) -> str:
        """Why neither a value nor a difference has an interval; empty where they can."""
        return "" if self.values[name] is None else self.method.missing(self.part, name)

    def interval(self, name: str, within: Limits) -> Limits | str | None:
        """The interval of a value, or why there is none; None where there is no value."""
        if (value := self.values[name]) is None:
            return None
        return self.reason(name) or self.method.interval(value, self.drawn_of(name), within)

    def difference(self, other: Resampled, name: str) -> float | None:
        """The difference of the values of two systems; None where one is undefined."""
        value, less = self.values[name], other.values[name]
        return None if value is None or less is None else value - less


#: Systems by name.
Systems = Mapping[str, Resampled]
#: The p values of differences by metric and pair, in either order since tests are two-sided.
Chances = Mapping[tuple[str, frozenset[str]], Chance]


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

    def comparison(self, scored: Systems, by_pair: Chances) -> Comparison:
        """Rank the systems, and compute their differences.

        Args:
            scored: the systems by name.
            by_pair: the p values of their differences; those that are undefined are absent.
        """
        values = {name: system.values[self.metric] for name, system in scored.items()}
        keys = {name: -np.inf if v is None else self.sign * v for name, v in values.items()}
        order = sorted(scored, key=keys.__getitem__, reverse=True)
        pairs = {p: by_pair.get((self.metric, frozenset(p))) for p in combinations(order, 2)}
        chances = [chance for chance in pairs.values() if chance is not None]
        differences = correct([self.difference(*pair, scored, pairs[pair]) for pair in pairs])
        exact = bool(chances) and all(chance.exact for chance in chances)
        limits = {name: item.interval(self.metric, self.within) for name, item in scored.items()}
        systems = tuple(
            System(
                name=name,
                value=values[name],
                interval=interval if isinstance(interval := limits[name], tuple) else None,
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
            alpha=self.alpha,
        )

    def signature(self, scored: Systems, *, exact: bool, resampled: bool) -> str:
        """Return the parts that all signatures have, then those of each system, such as its digest.

        Args:
            scored: the systems by name.
            exact: whether all p values are counted.
            resampled: whether any number depends on random draws.
        """
        signatures = [
            Signature.parse(item.run.signature(signature([item.method] if resampled else [])))
            for item in scored.values()
        ]
        shared = set(signatures[0].parts).intersection(*(each.parts for each in signatures))
        common = [p for p in signatures[0].parts if p in shared and p[0] != "system"]
        systems = [part for each in signatures for part in each.parts if part not in common]
        last = (("test", "exact" if exact else self.test), ("metric", self.metric))
        return str(Signature((*common, *systems, *last)))

    def difference(
        self, name: str, other: str, scored: Systems, chance: Chance | None
    ) -> Difference:
        """The difference of two systems, with the probability of one as large."""
        (first, second), metric = (scored[name], scored[other]), self.metric
        observed, interval = first.difference(second, metric), None
        if observed is not None and not first.reason(metric):
            drawn = first.drawn_of(metric) - second.drawn_of(metric)
            interval = first.method.difference(observed, drawn, self.within)
        nothing: Values = np.array([])
        each, others = (system.sample.alone.get(metric, nothing) for system in (first, second))
        gains = self.sign * (each - others)
        return Difference(
            first=str(name),
            second=str(other),
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
            moved = []
            for pair in differences:
                p = pair.probability
                if p is not None and pair.monte_carlo_error:
                    p = min(1.0, max(0.0, p + sign * DOUBTFUL * pair.monte_carlo_error))
                moved.append(msgspec.structs.replace(pair, probability=p))
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

    def significance(self, scored: Systems, chances: Sequence[Chance]) -> Significance:
        """Whether any of the differences could be significant, whatever the systems are like."""
        documents = next(iter(scored.values())).method.documents
        known = [item for item in scored.values() if item.values[self.metric] is not None]
        reasons = [item.reason(self.metric) for item in known]
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
        self, scored: Systems, limits: Mapping[str, Limits | str | None], *, exact: bool
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


def comparisons(runs: Mapping[str, Run], plans: Sequence[Plan]) -> list[Comparison]:
    """Compare systems by several metrics, from the counts of one run each.

    Metrics of the same part, test and number of replicates share their replicates.

    Args:
        runs: the counts, by name of the system; at least one.
        plans: a plan per metric.
    """
    first = next(iter(runs.values()))
    groups: list[tuple[object, list[Plan]]] = []
    for plan in plans:
        key = (part_of(first.metric, plan.metric), plan.test, plan.drawn)
        group = next((group for known, group in groups if known == key), None)
        if group is None:
            groups.append((key, [plan]))
        else:
            group.append(plan)
    counts = {name: pl.concat(run.counts) for name, run in runs.items()}
    documents = {name: run.metric.documents(counts[name]) for name, run in runs.items()}
    every = tuple(sorted({document for own in documents.values() for document in own}))
    made: dict[str, Comparison] = {}
    for _, group in groups:
        parts = {name: part_of(run.metric, group[0].metric) for name, run in runs.items()}
        samples = {name: Sample(part, counts[name], every) for name, part in parts.items()}
        systems = _resample(group, runs, samples)
        chances = {(m, pair): chance for m, pair, chance in _chances(group, systems)}
        made |= {plan.metric: plan.comparison(systems, chances) for plan in group}
    return [made[plan.metric] for plan in plans]


def part_of(metric: Metric, name: str) -> Metric:
    """Return the part of a metric that gives a value."""
    (part,) = metric.decompose((name,))
    return part


def _resample(
    plans: Sequence[Plan], runs: Mapping[str, Run], samples: Mapping[str, Sample]
) -> Systems:
    """Resample the systems, for several plans that share their replicates.

    Raises:
        WrongOption: if a metric is not computed with these options.
    """
    values = {}
    for name, sample in samples.items():
        values[name], _ = sample.metric.score(sample.metric.total([sample.counts]))
        for plan in plans:
            if plan.metric not in values[name]:
                raise WrongOption(f"{plan.metric} is not computed with these options")
        _ = sample.sums  # now, while the metric knows what it has scored
    drawn, every = plans[0].drawn, [*samples.values()]
    metric, size = every[0].metric, len(every[0].documents)
    method: Method = Bootstrap(size, drawn.confidence, drawn.seed, drawn.replicates)
    if plans[0].test == "jackknife" or metric.interval_method != "bootstrap":
        method = Jackknife(size, drawn.confidence, drawn.seed)
    replicates = dict(zip(samples, method.resample(every), strict=True))
    return {
        name: Resampled(runs[name], sample, values[name], method, replicates[name])
        for name, sample in samples.items()
    }


def _chances(
    plans: Sequence[Plan], systems: Systems
) -> Iterator[tuple[str, frozenset[str], Chance]]:
    """Yield the p value of the difference of each pair, by metric; without those undefined."""
    known: dict[tuple[str, str], dict[str, float]] = {}
    for names in combinations(systems, 2):
        first, second = (systems[name] for name in names)
        each = ((plan.metric, first.difference(second, plan.metric)) for plan in plans)
        known[names] = {metric: value for metric, value in each if value is not None}
    if plans[0].test == "permutation":
        for names, swapped in _permutations(plans[0].drawn, systems, filter(known.get, known)):
            for metric, observed in known[names].items():
                yield metric, frozenset(names), swapped.chance(metric, observed)
        return
    for names, differences in known.items():
        first, second = (systems[name] for name in names)
        for metric, observed in differences.items():
            chance = None if observed else Chance(1.0, smallest=1.0)
            if not first.method.too_few(first.part, metric):
                drawn = first.drawn_of(metric) - second.drawn_of(metric)
                chance = first.method.chance(observed, drawn)
            if chance is not None:
                yield metric, frozenset(names), chance


def _permutations(
    drawn: Intervals, systems: Systems, pairs: Iterable[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], Permutations]]:
    """Yield the permutations of pairs of systems; those with the same documents share draws."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for names in pairs:
        one, other = (systems[name].sample.own_documents for name in names)
        documents = one if one == other else tuple(sorted({*one, *other}))
        groups.setdefault(documents, []).append(names)
    for documents, members in groups.items():
        samples = {n: systems[n].sample.within(documents) for names in members for n in names}
        swaps = Swaps([*samples.values()], drawn.replicates, drawn.seed)
        for names in members:
            pair = Pair(*(samples[name] for name in names))
            yield names, pair.permutation(drawn.replicates, drawn.seed, swaps)
