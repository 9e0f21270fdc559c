"""Systems of a comparison that are refused: the others are compared without them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings import SUBMISSION, Finding, Findings, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.systems import Comparison, Leaderboard, RefusedSystem, short_names
from hlteval.results.verdict import Signature, Verdict
from hlteval.scoring.intervals import Bootstrap, Jackknife, Method
from hlteval.scoring.metric import Metric, Replicates
from hlteval.scoring.significance import Chance, Pair
from hlteval.sources.names import as_text
from hlteval.sources.opening import OpenInput, is_url
from hlteval.tasks import load
from hlteval.tasks.options import merged, metric_options
from hlteval.tasks.task import HIGH, Task, WrongOption
from hlteval.workflows.compare.ranking import Chances, Named, Plan, Scored, system_names
from hlteval.workflows.processes.batches import Step, part, silent
from hlteval.workflows.run.engine import Run, scored
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import Refused, expand_folders


def scored_systems(
    systems: Sequence[str], run: Callable[[str], Run]
) -> tuple[dict[str, Run], dict[str, Refused]]:
    """What was counted of each system, and the reasons of those that are refused.

    Args:
        systems: names or paths of the submissions.
        run: scores one of them.

    Raises:
        Refused: if the reference cannot be used.
    """
    runs: dict[str, Run] = {}
    refused: dict[str, Refused] = {}
    for system in systems:
        try:
            runs[system] = run(system)
        except Refused as reason:
            if reason.whole:  # so are all others
                raise
            refused[system] = reason
    return runs, refused


def refused_systems(reasons: Mapping[str, Refused]) -> tuple[RefusedSystem, ...]:
    """The systems that are refused, as values."""
    return tuple(_refused(name, reason) for name, reason in reasons.items())


def _refused(name: str, reason: Refused) -> RefusedSystem:
    return RefusedSystem(
        name=name,
        reason=str(reason),
        help=reason.fix,
        codes=tuple(sorted({finding.code for finding in reason.blocking})),
        blocking=reason.blocking,
        verdict=reason.verdict,
    )


def all_refused(reasons: Sequence[Refused]) -> Refused:
    """The refusal of a comparison of which no system is left."""
    if len(reasons) == 1:
        return reasons[0]
    findings = tuple(finding for reason in reasons for finding in reason.verdict.findings)
    codes = frozenset(finding.code for reason in reasons for finding in reason.blocking)
    joined = msgspec.structs.replace(reasons[0].verdict, findings=findings, paths={})
    return Refused(
        joined, "nothing was compared: all submissions are refused", reasons[0].fix, codes
    )


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
        list(paths),
        lambda name: scored(Request(task, paths[name], reference, step=steps[name], **settings)),
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
        if self.computes(metric):
            return self
        return replace(self, options={**self.options, "metrics": metric})

    def computes(self, metric: str) -> bool:
        """Return whether a metric of the task is computed with these options."""
        (part,) = self.scorer.decompose((metric,))
        return metric in part.score(part.total([]))[0]

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


Visit = Callable[[str, Run], None]
"""Called with the name of a system that is scored, and its run."""
MISSING = "LDB201"
"""The code of a submission that does not exist."""
COMPARED = ("test", "metric")
"""Parts of signatures that each metric has."""


def leaderboard(
    task: str,
    reference: str,
    systems: Sequence[str],
    *,
    names: str | None = None,
    metrics: Sequence[str] = (),
    intervals: Intervals | None = None,
    alpha: float = 0.05,
    profile: str = "plan",
    step: Step = silent,
    visit: Visit | None = None,
    **given: Any,
) -> Leaderboard:
    """Rank systems by several metrics. Each submission is read once.

    Args:
        task: name of the task.
        reference: path of the reference.
        systems: paths of the submissions.
        names: path of a file of names (`system_names`); short names of the paths without one.
        metrics: names of the metrics; the first one ranks. By default those of `usual_metrics`.
        intervals: how many replicates, of which confidence, from which seed; 0 for the number that
            fits each metric.
        alpha: a difference is significant whose corrected probability is smaller.
        profile: `plan` or `official`.
        step: called after each batch, as for `compare`.
        visit: called with the name of each system that is scored and its run, which has the
            alignment and its evidence then; without it none is kept.
        **given: more of what `score` takes, the same for all.

    Raises:
        WrongOption: if the task has no such metric.
        Refused: if the reference or the file of names cannot be used. Submissions that are not
            scored, and those that do not exist, are in `refused`.
    """
    declared = load(task)
    options = merged(declared, given.get("options") or {})
    metrics, options = _computed(declared, options, metrics)
    by = Criteria(declared, profile, options, None, intervals or Intervals(0), alpha)
    plans = [by.plan(name) for name in dict.fromkeys(metrics or usual_metrics(by))]
    systems, folders = expand_folders(task, systems)
    named = system_names(systems, names, given.get("encoding", "utf-8"))
    _check_names(task, profile, named.findings)
    visited = visit is not None
    settings: dict[str, Any] = {"profile": profile, "alignment": visited, "evidence": visited}
    settings |= {**given, "options": options}
    runs, reasons = _scored(task, reference, named, settings, step, visit)
    board = assembled(by, plans, runs)
    return msgspec.structs.replace(
        board,
        notes=(*folders, *board.notes),
        refused=refused_systems(reasons),
        paths={name: as_text(path) for path, name in named.names.items()},
        findings=Findings(named.findings),
    )


def assembled(by: Criteria, plans: Sequence[Plan], runs: Mapping[str, Run]) -> Leaderboard:
    """The leaderboard of what was counted of some systems.

    Args:
        by: what they are compared by.
        plans: the same for each metric; the first one ranks.
        runs: what was counted, by name of the system.
    """
    made = comparisons(runs, plans) if runs else []
    return Leaderboard(
        task=by.task.name,
        profile=by.profile,
        metrics=tuple(plan.metric for plan in plans),
        signature=_signature(made),
        comparisons=tuple(made),
        notes=(*_notes(made), *(weaknesses(runs, paths=False) if runs else ())),
    )


def _scored(
    task: str,
    reference: str,
    named: Named,
    settings: Mapping[str, Any],
    step: Step,
    visit: Visit | None,
) -> tuple[dict[str, Run], dict[str, Refused]]:
    """What was counted of each system, and the reasons of those that are refused, by name."""
    steps = {path: part(step, at, len(named.names)) for at, path in enumerate(named.names)}

    def run(path: str) -> Run:
        _check_path(task, settings["profile"], path)
        done = scored(Request(task, path, reference, step=steps[path], **settings))
        if visit is not None:
            visit(named.names[path], done)
            done.alignments.clear()
            done.collected.clear()
        return done

    runs, reasons = scored_systems(list(named.names), run)
    names = named.names
    return (
        {names[path]: own for path, own in runs.items()},
        {names[path]: own for path, own in reasons.items()},
    )


def usual_metrics(by: Criteria) -> list[str]:
    """The metrics of a leaderboard: the one that ranks, and what else its measure has.

    Counts, and what is less important to readers than the metric that ranks, are left out.

    Examples:
        >>> usual_metrics(Criteria(load("hub4"), "plan", {}, None, Intervals(0)))
        ['both.f', 'both.rec', 'both.pre', 'both.err']
    """
    task, first = by.task, by.ranking
    measure = first.rpartition(".")[0]
    computed = by.scorer.score(by.scorer.total([]))[0]
    ranking = task.statistic(first)
    least = ranking.weight if ranking else HIGH
    others = [
        name
        for name, (_, statistic) in task.declared.items()
        if name.rpartition(".")[0] == measure
        and name in computed
        and by.computes(name)
        and statistic.weight >= least
        and statistic.better != "neither"
    ]
    return list(dict.fromkeys([first, *others]))


def _computed(
    task: Task, options: Mapping[str, str], metrics: Sequence[str]
) -> tuple[Sequence[str], dict[str, str]]:
    """The metrics and options where the task has an option `metrics` that says what is computed."""
    if all(option.name != "metrics" for option in task.options):
        return metrics, {**options}
    named = metrics or [name.strip() for name in options.get("metrics", "").split(",") if name]
    return named, {**options, **({"metrics": ",".join(named)} if named else {})}


def _check_names(task: str, profile: str, findings: Sequence[Finding]) -> None:
    """Refuse a file of names with errors: nobody would know whose row is whose."""
    blocking = frozenset(item.code for item in findings if item.blocking)
    if blocking:
        judged = Verdict(task, profile, passed=False, findings=Findings(findings))
        raise Refused(judged, "nothing was scored because of the file of --names", "correct it")


def _check_path(task: str, profile: str, path: str) -> None:
    """Refuse a submission that does not exist; all else that is wrong is found when it is read."""
    found = []
    if isinstance(path, OpenInput):
        found = [item for item in path.in_encoding("utf-8").findings if item.code == MISSING]
    elif path != "-" and not is_url(path) and not os.path.lexists(os.path.realpath(path)):
        found = [finding(MISSING, file=path)]
    if found:
        judged = Verdict(task, profile, passed=False, findings=Findings(found))
        raise Refused(judged, "no such submission", "correct the path")


def _signature(made: Sequence[Comparison]) -> str:
    """What all numbers depend on: systems once, and the test of each metric."""
    each = [Signature.parse(comparison.signature).parts for comparison in made]
    own = {"system", *COMPARED}
    common = dict.fromkeys(part for parts in each for part in parts if part[0] not in own)
    systems = [part for part in each[0] if part[0] == "system"] if each else []
    last = [part for parts in each for part in parts if part[0] in COMPARED]
    return str(Signature((*common, *systems, *last)))


def _notes(made: Sequence[Comparison]) -> Iterator[str]:
    """The notes of all comparisons; those of one metric only after its name."""
    for note in dict.fromkeys(note for comparison in made for note in comparison.notes):
        having = [each.metric for each in made if note in each.notes]
        general = len(having) == len(made) or any(name in note for name in having)
        yield note if general else f"{', '.join(having)}: {note}"
