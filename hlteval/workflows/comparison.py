"""Comparison: which of several systems are better than others, and whether by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings import SUBMISSION
from hlteval.findings.suggest import did_you_mean
from hlteval.results.comparison import Comparison, Difference, System
from hlteval.results.signature import Signature
from hlteval.scoring.intervals import Bootstrap, Jackknife, Method, notes, signature
from hlteval.scoring.metric import Limits, Metric
from hlteval.scoring.significance import Pair, holm, probability
from hlteval.tasks import load
from hlteval.tasks.option import WrongOption
from hlteval.tasks.options import merged
from hlteval.tasks.task import Task
from hlteval.workflows.refused_systems import scored_systems
from hlteval.workflows.runs import Intervals, Run
from hlteval.workflows.scoring import scored
from hlteval.workflows.steps import Step, part, silent

Values = NDArray[np.float64]

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
    test: str | None = None,
    intervals: Intervals | None = None,
    alpha: float = 0.05,
    profile: str = "plan",
    step: Step = silent,
    **given: Any,
) -> Comparison:
    """Compare systems by a metric.

    Args:
        task: name of the task.
        reference: path of the reference.
        systems: paths of the submissions.
        metric: what they are compared by; the one that ranks where it is left out.
        test: `permutation`, `bootstrap` or `jackknife`; by default `permutation` where counts add,
            and `jackknife` elsewhere.
        intervals: how many replicates, of which confidence, from which seed; where their number is
            0 or not given, `MANY` for metrics whose counts add, and `FEW` for others.
        alpha: a difference is significant whose corrected probability is smaller.
        profile: `plan` or `official`.
        step: called after each batch with the documents that are done, and their number, which
            is None if it is known only after reading.
        **given: more of what `score` takes, the same for all.

    Raises:
        WrongOption: if the task has no such metric, or the test is not valid for it.
        Refused: if the reference cannot be used, or no submission is scored; of several, those that
            are not scored have no rank and are in `refused`.
    """
    declared = load(task)
    scorer = declared.scorer(profile)
    values = merged(declared, given.get("options") or {})
    chosen = metric or declared.ranking(profile, values)
    selected = declared.selected(values)
    if selected and not chosen.startswith(f"{selected}."):
        raise WrongOption(f"{chosen} is not computed: the options select the measure {selected}")
    measured = _giving(declared, scorer, chosen)
    test = _valid(test, measured, chosen)
    statistic = declared.statistic(chosen)  # the measure may be one that is not declared
    sign = -1 if statistic and statistic.better == "less" else 1
    settings: dict[str, Any] = {"profile": profile, "alignment": False, **given}
    paths = list(dict.fromkeys(systems))
    steps = {path: part(step, index, len(paths)) for index, path in enumerate(paths)}
    runs, refused = scored_systems(
        paths, lambda path: scored(task, reference, path, step=steps[path], **settings)
    )
    wanted = intervals or Intervals(0)
    if not wanted.replicates:
        wanted = replace(wanted, replicates=MANY if measured.additive else FEW)
    plan = _Plan(chosen, sign, test, wanted, alpha, declared.limits(chosen))
    return msgspec.structs.replace(
        plan.comparison(runs, [item.note for item in refused]), refused=refused
    )


def _valid(test: str | None, part: Metric, name: str) -> str:
    """The test that is wanted, or the one for the metric.

    Raises:
        WrongOption: if the test is not valid for the metric.
    """
    if test is None:
        return "permutation" if part.interval_method == "bootstrap" else "jackknife"
    if test != "jackknife" and part.interval_method != "bootstrap":
        raise WrongOption(
            f"--test {test} is not valid for {name}, which is computed from all documents at once: "
            "use --test jackknife"
        )
    return test


def _giving(task: Task, metric: Metric, name: str) -> Metric:
    """The part of a task's metric that gives a value.

    Raises:
        WrongOption: if none does.
    """
    try:
        (part,) = metric.decompose((name,))
    except ValueError as reason:
        raise WrongOption(f"unknown metric {name} of {task.name}: {reason}") from reason
    if name not in part.score(part.total([]))[0]:
        if name in task.metrics:
            raise WrongOption(f"{name} is not computed with these options")
        hint = did_you_mean(name, task.metrics, f"use one of {', '.join(task.metrics)}")
        raise WrongOption(f"unknown metric {name} of {task.name}; {hint}")
    return part


@dataclass(frozen=True)
class _Plan:
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

    def method(self, part: Metric, documents: int) -> Method:
        """How intervals are computed: as the test is, or as the metric declares."""
        if self.test == "jackknife" or part.interval_method != "bootstrap":
            return Jackknife(documents, self.drawn.confidence, self.drawn.seed)
        drawn = self.drawn
        return Bootstrap(documents, drawn.confidence, drawn.seed, drawn.replicates)

    def comparison(self, runs: Mapping[str, Run], reasons: Sequence[str] = ()) -> Comparison:
        documents = sorted(
            {name for run in runs.values() for name in run.metric.documents(pl.concat(run.counts))}
        )
        listed = {name: _Scored.of(self, run, documents) for name, run in runs.items()}
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
            signature=self.signature(listed),
            systems=tuple(self.ranked(order, listed, differences)),
            differences=tuple(differences),
            notes=(*self.notes(listed), *reasons, *_warnings(listed, self.test)),
        )

    def signature(self, listed: Mapping[str, _Scored]) -> str:
        """What the numbers depend on: that of the first run, and the digests of the others."""
        signatures = [
            Signature.parse(item.run.signature(signature([item.method])))
            for item in listed.values()
        ]
        common = [part for part in signatures[0].parts if part[0] != "system"]
        systems = [("system", own) for each in signatures for own in each.values("system")]
        last = (("test", self.test), ("metric", self.metric))
        return str(Signature((*common, *systems, *last)))

    def difference(self, one: str, two: str, listed: Mapping[str, _Scored]) -> Difference:
        first, second = listed[one], listed[two]
        drawn = first.drawn - second.drawn
        observed = _less(first.value, second.value)
        gains = self.sign * (first.each - second.each)
        return Difference(
            first=str(one),
            second=str(two),
            difference=observed,
            interval=None if observed is None else self.limits(first, drawn, observed),
            probability=None if observed is None else self.chance(first, second, observed),
            corrected=None,
            wins=int((gains > 0).sum()),
            losses=int((gains < 0).sum()),
            ties=int((~((gains > 0) | (gains < 0))).sum()),
        )

    def limits(self, first: _Scored, drawn: Values, observed: float) -> Limits | None:
        """The interval of a difference."""
        if first.method.missing(first.metric, self.metric):
            return None
        return first.method.difference(observed, drawn, self.within)

    def chance(self, first: _Scored, second: _Scored, observed: float) -> float | None:
        """The probability of a difference as large, if the systems were equal."""
        if self.test != "permutation":
            chance = first.method.probability(observed, first.drawn - second.drawn)
            return None if np.isnan(chance) else chance
        pair = Pair.of(first.metric, first.counts, second.counts)
        swapped = pair.permutation(self.drawn.replicates, self.drawn.seed)
        if self.metric not in swapped:
            raise WrongOption(f"{self.metric} is not computed with these options")
        return probability(swapped[self.metric], observed)

    def corrected(self, differences: Sequence[Difference]) -> list[Difference]:
        """The differences with probabilities corrected for how many there are."""
        known = [
            difference.probability
            for difference in differences
            if difference.probability is not None
        ]
        corrected = iter(holm(known))
        return [
            difference
            if difference.probability is None
            else msgspec.structs.replace(difference, corrected=next(corrected))
            for difference in differences
        ]

    def ranked(
        self,
        order: Sequence[str],
        listed: Mapping[str, _Scored],
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

    def notes(self, listed: Mapping[str, _Scored]) -> Iterator[str]:
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


@dataclass(frozen=True)
class _Scored:
    """One system: what was counted of it, and its value of the metric.

    Attributes:
        run: its scoring.
        metric: what gives the value.
        name: of the value.
        counts: by document.
        value: of the metric; None where undefined.
        method: of intervals.
        drawn: the value in each replicate, the same documents for all systems.
        each: the value of each document by itself.
    """

    run: Run
    metric: Metric
    name: str
    counts: pl.DataFrame
    value: float | None
    method: Method
    drawn: Values
    each: Values

    @classmethod
    def of(cls, plan: _Plan, run: Run, documents: Sequence[str]) -> _Scored:
        counts = pl.concat(run.counts)
        name = plan.metric
        metric = _giving(run.opened.task, run.metric, name)
        values, _ = metric.score(metric.total([counts]))
        how = plan.method(metric, len(documents))
        nothing = np.array([])  # what replicates of no documents have
        drawn = how.replicates(metric, counts, documents).get(name, nothing)
        alone = np.eye(len(documents), dtype=np.int64)
        each = metric.replicates(counts, documents, alone).get(name, nothing)
        return cls(run, metric, name, counts, values[name], how, drawn, each)

    def interval(self, within: Limits) -> Limits | str | None:
        """The interval of the value, or why there is none; None where there is no value."""
        if self.value is None:
            return None
        reason = self.method.missing(self.metric, self.name)
        return reason or self.method.interval(self.value, self.drawn, within)


def _warnings(listed: Mapping[str, _Scored], test: str) -> Iterator[str]:
    """What weakens a comparison: nothing read, errors, and too few documents."""
    for name, item in listed.items():
        if not item.run.judged.documents and not item.run.judged.records:
            yield f"{name}: nothing was read of it: 0 documents, 0 records"
    errors = {name: dict(item.run.errors_by_side) for name, item in listed.items()}
    own = [
        f"{name}: {notes.pop(SUBMISSION)}" for name, notes in errors.items() if SUBMISSION in notes
    ]
    yield from dict.fromkeys(note for notes in errors.values() for note in notes.values())
    yield from own
    documents = min(item.each.size for item in listed.values())
    if len(listed) > 1 and documents < ENOUGH and test == "permutation":
        yield (
            f"only {documents} documents with counts: with fewer than {ENOUGH}, no difference is "
            "significant"
        )


def _less(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two
