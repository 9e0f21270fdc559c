"""Systems that are resampled: once for all metrics that are computed from the same counts.

Permutations are made for each pair of systems, and scored for all of these metrics at once. Each
pair is kept as probabilities only: with many systems, its replicates would fill the memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.intervals import Bootstrap, Jackknife, Method
from hlteval.scoring.metric import Metric, Replicates
from hlteval.scoring.significance import Chance, Pair
from hlteval.tasks.option import WrongOption
from hlteval.workflows.ranking import Chances, Plan, Scored
from hlteval.workflows.runs import Run


def part_of(run: Run, name: str) -> Metric:
    """The part of the metric of a run that gives a value."""
    (part,) = run.metric.decompose((name,))
    return part


def documents_of(runs: Mapping[str, Run]) -> list[str]:
    """The documents of which something was counted for any system, sorted."""
    return sorted(
        {name for run in runs.values() for name in run.metric.documents(pl.concat(run.counts))}
    )


def by_part(runs: Mapping[str, Run], plans: Sequence[Plan]) -> list[list[Plan]]:
    """The plans in groups whose metrics have the same part, test and replicates."""
    run = next(iter(runs.values()))
    groups: list[tuple[Metric, list[Plan]]] = []
    for plan in plans:
        part = part_of(run, plan.metric)
        fitting = [own for known, own in groups if known == part and own[0].alike(plan)]
        if fitting:
            fitting[0].append(plan)
        else:
            groups.append((part, [plan]))
    return [own for _, own in groups]


def resampled(
    runs: Mapping[str, Run], plans: Sequence[Plan]
) -> tuple[dict[str, Resampled], Chances]:
    """The systems with their replicates, and the probabilities of their differences.

    Args:
        runs: what was counted, by system.
        plans: what is compared; their metrics have the same part.
    """
    documents = documents_of(runs)
    systems = {name: Resampled.of(plans, run, documents) for name, run in runs.items()}
    pairs = combinations(systems, 2)
    chances = {
        (*pair, name): chance
        for pair in pairs
        for name, chance in _chances(plans, *(systems[own] for own in pair))
    }
    return systems, Chances(chances)


@dataclass(frozen=True)
class Resampled:
    """One system: what was counted of it, and its values in all replicates.

    Attributes:
        run: its scoring.
        metric: what gives the values.
        counts: by document.
        values: by name; None where undefined.
        method: of intervals.
        replicates: the values in each replicate, the same documents for all systems.
        each: the values of each document by itself.
    """

    run: Run
    metric: Metric
    counts: pl.DataFrame
    values: Mapping[str, float | None]
    method: Method
    replicates: Replicates
    each: Replicates

    @classmethod
    def of(cls, plans: Sequence[Plan], run: Run, documents: Sequence[str]) -> Resampled:
        """A system, resampled.

        Raises:
            WrongOption: if a metric is not computed with these options.
        """
        counts = pl.concat(run.counts)
        metric = part_of(run, plans[0].metric)
        values, _ = metric.score(metric.total([counts]))
        for plan in plans:
            if plan.metric not in values:
                raise WrongOption(f"{plan.metric} is not computed with these options")
        how = _method(plans[0], metric, len(documents))
        replicates = how.replicates(metric, counts, documents)
        alone = metric.replicates(counts, documents, np.eye(len(documents), dtype=np.int64))
        names = [plan.metric for plan in plans]
        of_all, of_each = (_only(names, found) for found in (replicates, alone))
        return cls(run, metric, counts, values, how, of_all, of_each)

    def scored(self, plan: Plan) -> Scored:
        """The system as it is compared by one metric."""
        name = plan.metric
        value, drawn, each = self.values[name], self.replicates[name], self.each[name]
        reason = "" if value is None else self.method.missing(self.metric, name)
        return Scored(self.run, value, self.method, drawn, each, reason)


def _only(names: Sequence[str], found: Replicates) -> Replicates:
    """Some of the replicates; those of no documents have nothing."""
    nothing: NDArray[np.float64] = np.array([])
    return {name: found.get(name, nothing) for name in names}


def _method(plan: Plan, part: Metric, documents: int) -> Method:
    """How intervals are computed: as the test is, or as the metric declares."""
    drawn = plan.drawn
    if plan.test == "jackknife" or part.interval_method != "bootstrap":
        return Jackknife(documents, drawn.confidence, drawn.seed)
    return Bootstrap(documents, drawn.confidence, drawn.seed, drawn.replicates)


def _chances(
    plans: Sequence[Plan], first: Resampled, second: Resampled
) -> Iterator[tuple[str, Chance]]:
    """The probability of a difference as large if two systems were equal, by metric."""
    differences = {
        plan.metric: one - two
        for plan in plans
        if (one := first.values[plan.metric]) is not None
        and (two := second.values[plan.metric]) is not None
    }
    if plans[0].test == "permutation" and differences:
        pair = Pair.of(first.metric, first.counts, second.counts)
        swapped = pair.permutation(plans[0].drawn.replicates, plans[0].drawn.seed)
        for name, observed in differences.items():
            yield name, swapped.chance(name, observed)
        return
    for name, observed in differences.items():
        drawn = first.replicates[name] - second.replicates[name]
        if first.method.too_few(first.metric, name):
            if not observed:
                yield name, Chance(1.0, smallest=1.0)
            continue
        if (chance := first.method.chance(observed, drawn)) is not None:
            yield name, chance
