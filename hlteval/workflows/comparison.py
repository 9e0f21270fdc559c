"""Comparison: which of several systems are better than others, and whether by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec

from hlteval.findings import SUBMISSION
from hlteval.findings.suggest import did_you_mean
from hlteval.results.comparison import Comparison
from hlteval.results.names import short_names
from hlteval.scoring.metric import Metric
from hlteval.sources.names import as_text
from hlteval.tasks import load
from hlteval.tasks.option import WrongOption
from hlteval.tasks.options import merged, metric_options
from hlteval.tasks.task import Task
from hlteval.workflows.folders import expand_folders
from hlteval.workflows.ranking import Plan
from hlteval.workflows.refused_systems import all_refused, refused_systems, scored_systems
from hlteval.workflows.resampled import by_part, resampled
from hlteval.workflows.runs import Intervals, Run
from hlteval.workflows.scoring import scored
from hlteval.workflows.steps import Step, part, silent

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
    counted: Callable[[Mapping[str, Run]], object] | None = None,
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
        counted: called with what was counted of each system, by its name.
        **given: more of what `score` takes, the same for all.

    Raises:
        WrongOption: if the task has no such metric, or the test is not valid for it.
        Refused: if the reference cannot be used, or no submission is scored; of several, those that
            are not scored have no rank and are in `refused`.
    """
    declared = load(task)
    values = merged(declared, given.get("options") or {})
    by = Criteria(declared, profile, values, test, intervals or Intervals(0), alpha)
    by = by.with_metric(metric) if metric else by
    plan = by.plan(metric or by.ranking)
    settings: dict[str, Any] = {"profile": profile, "alignment": False, **given}
    settings |= {"options": dict(by.options)}
    systems, folders = expand_folders(task, systems)
    paths = {name: path for path, name in short_names(systems).items()}
    steps = {name: part(step, index, len(paths)) for index, name in enumerate(paths)}
    runs, reasons = scored_systems(
        list(paths), lambda name: scored(task, reference, paths[name], step=steps[name], **settings)
    )
    if not runs:
        raise all_refused([*reasons.values()])
    refused = refused_systems(reasons)
    if counted:
        counted(runs)
    (comparison,) = comparisons(runs, [plan])
    notes = (*folders, *comparison.notes, *(item.note for item in refused), *weaknesses(runs))
    named = {name: as_text(path) for name, path in paths.items()}
    return msgspec.structs.replace(comparison, refused=refused, notes=notes, paths=named)


def comparisons(runs: Mapping[str, Run], plans: Sequence[Plan]) -> list[Comparison]:
    """Comparisons of the same systems by several metrics, from what was counted of each once.

    Args:
        runs: what was counted, by name of the system; at least one.
        plans: what is compared, and how, by metric.
    """
    made: dict[str, Comparison] = {}
    for group in by_part(runs, plans):  # whose metrics share their replicates
        systems, chances = resampled(runs, group)
        for plan in group:
            own = {name: system.scored(plan) for name, system in systems.items()}
            made[plan.metric] = plan.comparison(own, chances)
    return [made[plan.metric] for plan in plans]


def weaknesses(runs: Mapping[str, Run], *, paths: bool = True) -> Iterator[str]:
    """What weakens comparisons: nothing read, and errors.

    Args:
        runs: what was counted, by name of the system.
        paths: whether to name the commands that report the errors.
    """
    for name, run in runs.items():
        if not run.judged.documents and not run.judged.records:
            yield f"{name}: nothing was read of it: 0 documents, 0 records"
    errors = {name: run.error_notes(paths=paths) for name, run in runs.items()}
    own = [
        f"{name}: {notes.pop(SUBMISSION)}" for name, notes in errors.items() if SUBMISSION in notes
    ]
    yield from dict.fromkeys(note for notes in errors.values() for note in notes.values())
    yield from own


@dataclass(frozen=True)
class Criteria:
    """What systems of a task are compared by, whatever the metric.

    Attributes:
        task: the task.
        profile: `plan` or `official`.
        options: of the task, as text.
        test: that gives probabilities; None for that of each metric.
        intervals: the replicates; their number may be 0, for that of each metric.
        alpha: the level of significance.
    """

    task: Task
    profile: str
    options: Mapping[str, str]
    test: str | None
    intervals: Intervals
    alpha: float = 0.05

    @property
    def ranking(self) -> str:
        """The metric that ranks.

        Raises:
            WrongOption: if the task has no such profile.
        """
        self.task.hold_profile(self.profile)
        return self.task.ranking(self.profile, self.options)

    @cached_property
    def scorer(self) -> Metric:
        """The metric with its options, but for those that name files.

        Raises:
            WrongOption: if an option has a value that it cannot have.
        """
        return self.task.scorer(self.profile, metric_options(self.task, self.options))

    def with_metric(self, metric: str) -> Criteria:
        """Return criteria that compute a metric of the task that is only computed if it is named.

        Nothing changes if the option `metrics` lists what is computed.
        """
        optional = any(option.name == "metrics" for option in self.task.options)
        if not optional or "metrics" in self.options or metric not in self.task.metrics:
            return self
        (part,) = self.scorer.decompose((metric,))
        if metric in part.score(part.total([]))[0]:
            return self
        return replace(self, options={**self.options, "metrics": metric})

    def plan(self, metric: str) -> Plan:
        """How systems are compared by a metric.

        Raises:
            WrongOption: if the task has no such metric, or the test is not valid for it.
        """
        selected = self.task.selected(self.options)
        if selected and not metric.startswith(f"{selected}."):
            reason = f"the options select the measure {selected}"
            raise WrongOption(f"{metric} is not computed: {reason}")
        measured = _giving(self.task, self.scorer, metric)
        test = _valid(self.test, measured, metric)
        statistic = self.task.statistic(metric)  # the measure may be one that is not declared
        sign = -1 if statistic and statistic.better == "less" else 1
        wanted = self.intervals
        if not wanted.replicates:
            wanted = replace(wanted, replicates=MANY if measured.additive else FEW)
        return Plan(metric, sign, test, wanted, self.alpha, self.task.limits(metric))


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
