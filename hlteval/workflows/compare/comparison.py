"""Comparisons and leaderboards: systems are scored, resampled and ranked by one or more metrics.

A system that is refused is left out; the others are compared without it.

Systems are compared by several metrics from one reading: `workflows/compare/comparison.py` makes
a plan by metric, metrics with the same part share resamples and permutations,
and `ranking.py` makes a `Comparison` of each. A leaderboard is these comparisons under the names
of the systems; the scores for its reports are on disk until all systems are scored
(`board.py`).
"""

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

from hlteval.findings import SUBMISSION, Finding, Findings, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.systems import Comparison, Leaderboard, RefusedSystem, short_names
from hlteval.results.verdict import Signature, Verdict
from hlteval.scoring.intervals import Bootstrap, Jackknife, Method
from hlteval.scoring.metric import Metric
from hlteval.scoring.resampling import Chance, Pair
from hlteval.sources.names import as_text
from hlteval.sources.opening import OpenInput, is_url
from hlteval.tasks import load
from hlteval.tasks.options import merge_options, metric_options
from hlteval.tasks.task import HIGH, Task, WrongOption
from hlteval.workflows.compare.ranking import Plan, Scored, Values, system_names
from hlteval.workflows.processes.batches import Progress, no_progress, subprogress
from hlteval.workflows.run.engine import Run, count_batches
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import Refused, expand_folders

#: Called with the name of a system that is scored, and its run.
Visit = Callable[[str, Run], None]
#: The code of a submission that does not exist.
MISSING = "LDB201"


def score_systems(
    task: str,
    reference: str,
    names: Mapping[str, str],
    step: Progress,
    settings: Mapping[str, Any],
    visit: Visit | None = None,
    *,
    refuse_missing: bool = False,
) -> tuple[dict[str, Run], dict[str, Refused]]:
    """Score systems; return their runs, and the reasons of those that are refused, by name.

    Args:
        task: name of the task.
        reference: path of the reference.
        names: the name of each system, by the path of its submission.
        step: called after each batch.
        settings: what else `score` takes, the same for all.
        visit: called with each system; after that, its run has no alignment and no evidence.
        refuse_missing: whether a submission that does not exist is refused as others are.

    Raises:
        Refused: if the reference cannot be used.
    """
    runs: dict[str, Run] = {}
    reasons: dict[str, Refused] = {}
    for index, (path, name) in enumerate(names.items()):
        own = subprogress(step, index, len(names))
        try:
            if refuse_missing:
                _check_path(task, settings["profile"], path)
            runs[name] = run = count_batches(Request(task, path, reference, step=own, **settings))
            if visit is not None:
                visit(name, run)
                run.alignments.clear()
                run.collected.clear()
        except Refused as reason:
            if reason.whole:  # so are all others
                raise
            reasons[name] = reason
    return runs, reasons


def _check_path(task: str, profile: str, path: str) -> None:
    """Refuse a submission that does not exist; all else that is wrong is found when it is read."""
    found = []
    if isinstance(path, OpenInput):
        found = [item for item in path.in_encoding("utf-8").findings if item.code == MISSING]
    elif path != "-" and not is_url(path) and not os.path.lexists(os.path.realpath(path)):
        found = [finding(MISSING, file=path)]
    if found:
        raise Refused(_failure(task, profile, found), "no such submission", "correct the path")


def _failure(task: str, profile: str, findings: Sequence[Finding]) -> Verdict:
    return Verdict(task, profile, passed=False, findings=Findings(findings))


def refused_systems(reasons: Mapping[str, Refused]) -> tuple[RefusedSystem, ...]:
    """Return the refused systems as values."""
    return tuple(
        RefusedSystem(
            name=name,
            reason=str(reason),
            help=reason.fix,
            codes=tuple(sorted({finding.code for finding in reason.blocking})),
            blocking=reason.blocking,
            verdict=reason.verdict,
        )
        for name, reason in reasons.items()
    )


def all_refused(reasons: Sequence[Refused]) -> Refused:
    """Return the refusal of a comparison of which no system is left."""
    if len(reasons) == 1:
        return reasons[0]
    findings = tuple(finding for reason in reasons for finding in reason.verdict.findings)
    codes = frozenset(finding.code for reason in reasons for finding in reason.blocking)
    joined = msgspec.structs.replace(reasons[0].verdict, findings=findings, paths={})
    return Refused(
        joined, "nothing was compared: all submissions are refused", reasons[0].fix, codes
    )


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
        key = (part_of(first, plan.metric), plan.test, plan.drawn)
        fitting = [group for known, group in groups if known == key]
        if fitting:
            fitting[0].append(plan)
        else:
            groups.append((key, [plan]))
    documents = sorted(
        {name for run in runs.values() for name in run.metric.documents(pl.concat(run.counts))}
    )
    made: dict[str, Comparison] = {}
    for _, group in groups:
        systems = {name: _resample(group, run, documents) for name, run in runs.items()}
        chances = {
            pair: _chances(group, *(systems[name] for name in pair))
            for pair in combinations(systems, 2)
        }
        for plan in group:
            own = {name: scores[plan.metric] for name, scores in systems.items()}
            by_pair = {
                frozenset(pair): chance[plan.metric]
                for pair, chance in chances.items()
                if plan.metric in chance
            }
            made[plan.metric] = plan.comparison(own, by_pair)
    return [made[plan.metric] for plan in plans]


def part_of(run: Run, name: str) -> Metric:
    """Return the part of the metric of a run that gives a value."""
    (part,) = run.metric.decompose((name,))
    return part


def _resample(plans: Sequence[Plan], run: Run, documents: Sequence[str]) -> dict[str, Scored]:
    """Resample a system: its values, by metric of the plans, which share their replicates.

    Raises:
        WrongOption: if a metric is not computed with these options.
    """
    counts = pl.concat(run.counts)
    metric, drawn = part_of(run, plans[0].metric), plans[0].drawn
    values, _ = metric.score(metric.total([counts]))
    for plan in plans:
        if plan.metric not in values:
            raise WrongOption(f"{plan.metric} is not computed with these options")
    method: Method = Bootstrap(len(documents), drawn.confidence, drawn.seed, drawn.replicates)
    if plans[0].test == "jackknife" or metric.interval_method != "bootstrap":
        method = Jackknife(len(documents), drawn.confidence, drawn.seed)
    replicates = method.replicates(metric, counts, documents)
    alone = metric.replicates(counts, documents, np.eye(len(documents), dtype=np.int64))
    nothing: Values = np.array([])  # the replicates of no documents
    return {
        name: Scored(
            run=run,
            part=metric,
            counts=counts,
            value=values[name],
            method=method,
            drawn=replicates.get(name, nothing),
            each=alone.get(name, nothing),
            reason="" if values[name] is None else method.missing(metric, name),
        )
        for name in (plan.metric for plan in plans)
    }


def _chances(
    plans: Sequence[Plan], first: Mapping[str, Scored], second: Mapping[str, Scored]
) -> dict[str, Chance]:
    """Return the p value of the difference of two systems, by metric; without those undefined."""
    differences = {
        plan.metric: a - b
        for plan in plans
        if (a := first[plan.metric].value) is not None
        and (b := second[plan.metric].value) is not None
    }
    if plans[0].test == "permutation" and differences:
        one, two = first[plans[0].metric], second[plans[0].metric]
        pair = Pair.of(one.part, one.counts, two.counts)
        swapped = pair.permutation(plans[0].drawn.replicates, plans[0].drawn.seed)
        return {name: swapped.chance(name, observed) for name, observed in differences.items()}
    chances: dict[str, Chance | None] = {}
    for name, observed in differences.items():
        one, two = first[name], second[name]
        if not one.method.too_few(one.part, name):
            chances[name] = one.method.chance(observed, one.drawn - two.drawn)
        elif not observed:
            chances[name] = Chance(1.0, smallest=1.0)
    return {name: chance for name, chance in chances.items() if chance is not None}


#: Replicates where nobody says how many: the few are those that are scored one by one.
MANY, FEW = 10_000, 200


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
    step: Progress = no_progress,
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
    values = merge_options(declared, given.get("options") or {})
    by = Criteria(declared, profile, values, test, intervals or Intervals(0), alpha)
    by = by.with_metric(metric) if metric else by
    plan = by.plan(metric or by.ranking)
    settings: dict[str, Any] = {"profile": profile, "alignment": False, **given}
    settings |= {"options": dict(by.options)}
    systems, folders = expand_folders(task, systems)
    names = short_names(systems)
    runs, reasons = score_systems(task, reference, names, step, settings)
    if not runs:
        raise all_refused([*reasons.values()])
    if counted:
        counted(runs)
    (comparison,) = comparisons(runs, [plan])
    refused = refused_systems(reasons)
    notes = (*folders, *comparison.notes, *(item.note for item in refused), *weaknesses(runs))
    paths = {name: as_text(path) for path, name in names.items()}
    return msgspec.structs.replace(comparison, refused=refused, notes=notes, paths=paths)


def weaknesses(runs: Mapping[str, Run], *, paths: bool = True) -> Iterator[str]:
    """Note what weakens comparisons: nothing read, and errors.

    Args:
        runs: what was counted, by name of the system.
        paths: whether to name the commands that report the errors.
    """
    for name, run in runs.items():
        if not run.judged.documents and not run.judged.records:
            yield f"{name}: nothing was read of it: 0 documents, 0 records"
    errors = {name: run.error_notes(paths=paths) for name, run in runs.items()}
    own = {name: notes.pop(SUBMISSION, "") for name, notes in errors.items()}
    yield from dict.fromkeys(note for notes in errors.values() for note in notes.values())
    yield from (f"{name}: {note}" for name, note in own.items() if note)


@dataclass(frozen=True)
class Criteria:
    """Criteria of a comparison of systems of a task, whatever the metric.

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
        selected = self.task.only_measure(self.options)
        if selected and not metric.startswith(f"{selected}."):
            reason = f"the options select the measure {selected}"
            raise WrongOption(f"{metric} is not computed: {reason}")
        part = self._part(metric)
        test, resampled = self.test, part.interval_method == "bootstrap"
        if test is None:
            test = "permutation" if resampled else "jackknife"
        elif test != "jackknife" and not resampled:
            raise WrongOption(
                f"--test {test} is not valid for {metric}, which is computed from all documents at "
                "once: use --test jackknife"
            )
        statistic = self.task.statistic(metric)  # the measure may be one that is not declared
        sign = -1 if statistic and statistic.better == "less" else 1
        drawn = self.intervals
        if not drawn.replicates:
            drawn = replace(drawn, replicates=MANY if part.additive else FEW)
        return Plan(metric, sign, test, drawn, self.alpha, self.task.limits(metric))

    def _part(self, name: str) -> Metric:
        """Return the part of the task's metric that gives a value.

        Raises:
            WrongOption: if none does.
        """
        task = self.task
        try:
            (part,) = self.scorer.decompose((name,))
        except ValueError as reason:
            raise WrongOption(f"unknown metric {name} of {task.name}: {reason}") from reason
        if name not in part.score(part.total([]))[0]:
            if name in task.metrics:
                raise WrongOption(f"{name} is not computed with these options")
            hint = did_you_mean(name, task.metrics, f"use one of {', '.join(task.metrics)}")
            raise WrongOption(f"unknown metric {name} of {task.name}; {hint}")
        return part


#: Parts of signatures that each metric has.
COMPARED = ("test", "metric")


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
    step: Progress = no_progress,
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
        intervals: the replicates, as for `compare`.
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
    options = merge_options(declared, given.get("options") or {})
    if any(option.name == "metrics" for option in declared.options):  # it lists the computed ones
        metrics = metrics or [n.strip() for n in options.get("metrics", "").split(",") if n]
        options = {**options, **({"metrics": ",".join(metrics)} if metrics else {})}
    by = Criteria(declared, profile, options, None, intervals or Intervals(0), alpha)
    plans = [by.plan(name) for name in dict.fromkeys(metrics or usual_metrics(by))]
    systems, folders = expand_folders(task, systems)
    named = system_names(systems, names, given.get("encoding", "utf-8"))
    if any(item.blocking for item in named.findings):  # nobody would know whose row is whose
        reason = "nothing was scored because of the file of --names"
        raise Refused(_failure(task, profile, named.findings), reason, "correct it")
    visited = dict.fromkeys(("alignment", "evidence"), visit is not None)
    settings: dict[str, Any] = {"profile": profile, **visited, **given, "options": options}
    runs, reasons = score_systems(
        task, reference, named.names, step, settings, visit, refuse_missing=True
    )
    board = assemble_leaderboard(by, plans, runs)
    return msgspec.structs.replace(
        board,
        notes=(*folders, *board.notes),
        refused=refused_systems(reasons),
        paths={name: as_text(path) for path, name in named.names.items()},
        findings=Findings(named.findings),
    )


def assemble_leaderboard(
    by: Criteria, plans: Sequence[Plan], runs: Mapping[str, Run]
) -> Leaderboard:
    """Make the leaderboard of systems that are scored.

    Notes of one metric only follow its name; the signature has the systems once, and the test of
    each metric.

    Args:
        by: the criteria of the comparison.
        plans: a plan per metric; the first one ranks.
        runs: the counts, by name of the system.
    """
    made = comparisons(runs, plans) if runs else []
    notes: list[str] = []
    for note in dict.fromkeys(note for comparison in made for note in comparison.notes):
        having = [each.metric for each in made if note in each.notes]
        general = len(having) == len(made) or any(name in note for name in having)
        notes.append(note if general else f"{', '.join(having)}: {note}")
    signatures = [Signature.parse(comparison.signature).parts for comparison in made]
    every = [part for parts in signatures for part in parts]
    common = dict.fromkeys(part for part in every if part[0] not in {"system", *COMPARED})
    systems = [part for part in signatures[0] if part[0] == "system"] if signatures else []
    tests = [part for part in every if part[0] in COMPARED]
    return Leaderboard(
        task=by.task.name,
        profile=by.profile,
        metrics=tuple(plan.metric for plan in plans),
        signature=str(Signature((*common, *systems, *tests))),
        comparisons=tuple(made),
        notes=(*notes, *weaknesses(runs, paths=False)),
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
        for name, (_, statistic) in task.metric_parts.items()
        if name.rpartition(".")[0] == measure
        and name in computed
        and by.computes(name)
        and statistic.weight >= least
        and statistic.better != "neither"
    ]
    return list(dict.fromkeys([first, *others]))
