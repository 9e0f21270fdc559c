"""Ranks of systems by one metric, with intervals and the significance of their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from hlteval.results.comparison import Comparison, Difference, System
from hlteval.results.signature import Signature
from hlteval.scoring.intervals import Method, notes, signature
from hlteval.scoring.metric import Limits
from hlteval.scoring.significance import holm
from hlteval.workflows.runs import Intervals, Run

Values = NDArray[np.float64]


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

    by_pair: Mapping[tuple[str, str, str], float]

    def of(self, one: str, two: str, metric: str) -> float | None:
        """That of two systems in any order: tests are two-sided."""
        found = self.by_pair.get((one, two, metric))
        return self.by_pair.get((two, one, metric)) if found is None else found


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
        differences = corrected(
            self.difference((one, two), listed, chances.of(one, two, self.metric))
            for one, two in combinations(order, 2)
        )
        first = listed[order[0]].run
        return Comparison(
            task=first.judged.task,
            profile=first.judged.profile,
            metric=self.metric,
            signature=self.signature(listed),
            systems=tuple(self.ranked(order, listed, differences)),
            differences=tuple(differences),
            notes=tuple(self.notes(listed)),
        )

    def signature(self, listed: Mapping[str, Scored]) -> str:
        """What the numbers depend on: that of the first run, and the digests of the others."""
        signatures = [
            Signature.parse(item.run.signature(signature([item.method])))
            for item in listed.values()
        ]
        common = [part for part in signatures[0].parts if part[0] != "system"]
        systems = [("system", own) for each in signatures for own in each.values("system")]
        last = (("test", self.test), ("metric", self.metric))
        return str(Signature((*common, *systems, *last)))

    def difference(
        self, names: tuple[str, str], listed: Mapping[str, Scored], chance: float | None
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
            probability=chance,
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

    def ranked(
        self,
        order: Sequence[str],
        listed: Mapping[str, Scored],
        differences: Sequence[Difference],
    ) -> Iterator[System]:
        """The systems by rank: one shares the rank of the best that it does not differ from."""
        chances = {
            (difference.first, difference.second): difference.corrected
            for difference in differences
        }
        leader, rank = order[0], 1
        for place, name in enumerate(order, start=1):
            chance = chances.get((leader, name))
            if name != leader and chance is not None and chance < self.alpha:
                leader, rank = name, place
            one = listed[name]
            yield System(
                name=str(name),
                value=one.value,
                interval=limits if isinstance(limits := one.interval(self.within), tuple) else None,
                rank=None if one.value is None else rank,
            )

    def notes(self, listed: Mapping[str, Scored]) -> Iterator[str]:
        """How to read the intervals, the probabilities and the order."""
        found = {name: item.interval(self.within) for name, item in listed.items()}
        (how,) = {item.method for item in listed.values()}
        if any(isinstance(limits, tuple) for limits in found.values()):
            yield from notes({self.metric: how})
        missing = {name: why for name, why in found.items() if isinstance(why, str)}
        for reason in dict.fromkeys(missing.values()):
            names = [name for name, why in missing.items() if why == reason]
            yield f"no interval for {', '.join(names)}: {reason}"
        yield (
            f"p: two-sided {self.test} test over documents; systems not significantly different "
            f"(Holm-corrected p < {self.alpha:g}) from the best of their group share its rank"
        )
        if self.sign < 0:
            yield f"lower is better for {self.metric}"


def corrected(differences: Iterator[Difference]) -> list[Difference]:
    """The differences with probabilities corrected for how many there are."""
    every = list(differences)
    known = [item.probability for item in every if item.probability is not None]
    own = iter(holm(known))
    return [
        item if item.probability is None else msgspec.structs.replace(item, corrected=next(own))
        for item in every
    ]


def _less(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two
