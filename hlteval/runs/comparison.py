"""Comparison: which of several systems are better than others, and whether by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
import polars as pl

from hlteval.reports.comparison import Comparison, Difference, System
from hlteval.runs.scoring import Intervals, Run, scored
from hlteval.scoring.resampling import Additive, interval, names, replicated
from hlteval.scoring.significance import Pair, holm, probability
from hlteval.tasks import load
from hlteval.tasks.task import WrongOption

ENOUGH = 6
"""Documents of which all must favour one system for p < 0.05: with n, p is at least 2 / 2ⁿ."""
MANY, FEW = 10_000, 200
"""Replicates where nobody says how many: the few are those that are scored one by one."""


def compare(
    task: str,
    reference: str,
    systems: Sequence[str],
    *,
    metric: str | None = None,
    test: str = "permutation",
    intervals: Intervals | None = None,
    alpha: float = 0.05,
    profile: str = "plan",
    step: Callable[[], None] = lambda: None,
    **given: Any,
) -> Comparison:
    """Compare systems by a metric.

    Args:
        task: name of the task.
        reference: path of the reference.
        systems: paths of the submissions.
        metric: what they are compared by; the one that ranks where it is left out.
        test: `permutation` or `bootstrap`.
        intervals: how many replicates, of which confidence, from which seed; where their number is
            0 or not given, `MANY` for metrics whose counts add, and `FEW` for others.
        alpha: a difference is significant whose corrected probability is smaller.
        profile: `plan` or `official`.
        step: called after each batch.
        **given: more of what `score` takes, the same for all.

    Raises:
        WrongOption: if the task has no such metric.
        Refused: if one of the submissions is not scored.
    """
    declared = load(task)
    declared.scorer(profile, {})
    chosen = metric or declared.primary[profile]
    if chosen not in declared.metrics:
        raise WrongOption(f"{task} has no metric {chosen}; it has {', '.join(declared.metrics)}")
    sign = -1 if chosen in declared.less else 1
    runs = {
        path: scored(task, reference, path, profile=profile, alignment=False, step=step, **given)
        for path in dict.fromkeys(systems)
    }
    wanted = intervals or Intervals(0)
    if not wanted.replicates:
        additive = all(isinstance(run.metric, Additive) for run in runs.values())
        wanted = replace(wanted, replicates=MANY if additive else FEW)
    plan = _Plan(chosen, sign, test, wanted, alpha)
    return plan.comparison(runs)


@dataclass(frozen=True)
class _Plan:
    """What is compared, and how.

    Attributes:
        metric: its name.
        sign: -1 where less is better.
        test: that gives probabilities.
        drawn: the replicates.
        alpha: the level of significance.
    """

    metric: str
    sign: int
    test: str
    drawn: Intervals
    alpha: float

    def comparison(self, runs: Mapping[str, Run]) -> Comparison:
        listed = {name: _Scored.of(self, run) for name, run in runs.items()}
        undefined = -np.inf
        order = sorted(
            listed,
            key=lambda name: undefined if (v := listed[name].value) is None else self.sign * v,
            reverse=True,
        )
        differences = self.corrected(
            [self.difference(one, two, listed) for one, two in combinations(order, 2)]
        )
        first = runs[order[0]]
        return Comparison(
            task=first.judged.task,
            profile=first.judged.profile,
            metric=self.metric,
            signature=self.signature(runs),
            systems=tuple(self.ranked(order, listed, differences)),
            differences=tuple(differences),
            notes=(*self.notes(), *_warnings(listed)),
        )

    def signature(self, runs: Mapping[str, Run]) -> str:
        """What the numbers depend on: that of the first run, and the digests of the others."""
        signatures = [run.signature(self.drawn).split("|") for run in runs.values()]
        common = [part for part in signatures[0] if not part.startswith("system:")]
        systems = [part for parts in signatures for part in parts if part.startswith("system:")]
        return "|".join([*common, *systems, f"test:{self.test}", f"metric:{self.metric}"])

    def difference(self, one: str, two: str, listed: Mapping[str, _Scored]) -> Difference:
        first, second = listed[one], listed[two]
        pair = Pair.of(first.run.metric, first.counts, second.counts)
        drawn = pair.bootstrap(self.drawn.replicates, self.drawn.seed)[self.metric]
        observed = _less(first.value, second.value)
        gains = self.sign * first.gains(second)
        return Difference(
            first=one,
            second=two,
            difference=observed,
            interval=interval(drawn, self.drawn.confidence),
            probability=None if observed is None else self.chance(pair, drawn, observed),
            corrected=None,
            wins=int((gains > 0).sum()),
            losses=int((gains < 0).sum()),
            ties=int((~((gains > 0) | (gains < 0))).sum()),
        )

    def chance(self, pair: Pair, drawn: np.ndarray, observed: float) -> float:
        """The probability of a difference as large, if the systems were equal."""
        if self.test == "bootstrap":  # the draws moved so that their middle is no difference
            return probability(drawn - observed, observed)
        swapped = pair.permutation(self.drawn.replicates, self.drawn.seed)[self.metric]
        return probability(swapped, observed)

    def corrected(self, differences: Sequence[Difference]) -> list[Difference]:
        """The differences with probabilities corrected for how many there are."""
        known = [one.probability for one in differences if one.probability is not None]
        corrected = iter(holm(known))
        return [
            one
            if one.probability is None
            else msgspec.structs.replace(one, corrected=next(corrected))
            for one in differences
        ]

    def ranked(
        self,
        order: Sequence[str],
        listed: Mapping[str, _Scored],
        differences: Sequence[Difference],
    ) -> Iterator[System]:
        """The systems by rank: one shares the rank of the best that it does not differ from."""
        chances = {(one.first, one.second): one.corrected for one in differences}
        leader, rank = order[0], 1
        for place, name in enumerate(order, start=1):
            chance = chances.get((leader, name))
            if name != leader and chance is not None and chance < self.alpha:
                leader, rank = name, place
            one = listed[name]
            yield System(
                name=name,
                value=one.value,
                interval=one.limits(self),
                rank=None if one.value is None else rank,
            )

    def notes(self) -> Iterator[str]:
        yield self.drawn.note()
        yield (
            f"p: two-sided {self.test} test over documents, corrected for the number of pairs "
            f"(Holm); systems share a rank unless they differ at p < {self.alpha:g}"
        )
        if self.sign < 0:
            yield f"less is better for {self.metric}"


@dataclass(frozen=True)
class _Scored:
    """One system: its counts by document, and its value."""

    run: Run
    metric: str
    counts: pl.DataFrame
    value: float | None

    @classmethod
    def of(cls, plan: _Plan, run: Run) -> _Scored:
        counts = pl.concat(run.counts)
        metrics, _ = run.metric.score(run.metric.total([counts]))
        return cls(run, plan.metric, counts, metrics[plan.metric])

    @property
    def documents(self) -> list[str]:
        """The documents of which something was counted."""
        return names(self.run.metric, self.counts)

    def limits(self, plan: _Plan) -> tuple[float, float] | None:
        """The interval of the value; documents are what systems have in common to be drawn."""
        return self.run.intervals(plan.drawn).get(self.metric)

    def gains(self, other: _Scored) -> np.ndarray:
        """By how much it has more than another, by document; not-a-number where unknown."""
        documents = sorted({*self.documents, *other.documents})
        each = np.eye(len(documents), dtype=np.int64)
        one, two = (
            replicated(side.run.metric, side.counts, documents, each)[self.metric]
            for side in (self, other)
        )
        return one - two


def _warnings(listed: Mapping[str, _Scored]) -> Iterator[str]:
    """What weakens a comparison: errors, and too few documents to tell systems apart."""
    for name, one in listed.items():
        yield from (f"{name}: {told}" for told in one.run.errors)
    documents = {name for one in listed.values() for name in one.documents}
    if len(listed) > 1 and len(documents) < ENOUGH:
        yield (
            f"something was counted in {len(documents)} documents only: of fewer than {ENOUGH}, no "
            "difference is significant, and intervals say little"
        )


def _less(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two
