"""Leaderboards: systems by several metrics; what is wrong with one does not concern the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hlteval.findings import Finding, Findings, finding
from hlteval.results.comparison import Comparison
from hlteval.results.leaderboard import Leaderboard
from hlteval.results.signature import Signature
from hlteval.results.verdict import Verdict
from hlteval.sources.names import as_text
from hlteval.sources.open_input import OpenInput
from hlteval.sources.remote import is_url
from hlteval.tasks import load
from hlteval.tasks.options import merged
from hlteval.tasks.statistics import HIGH
from hlteval.tasks.task import Task
from hlteval.workflows.comparison import Criteria, comparisons, weaknesses
from hlteval.workflows.folders import expand_folders
from hlteval.workflows.ranking import Plan
from hlteval.workflows.refusals import Refused
from hlteval.workflows.refused_systems import refused_systems, scored_systems
from hlteval.workflows.runs import Intervals, Run
from hlteval.workflows.scoring import scored
from hlteval.workflows.steps import Step, part, silent
from hlteval.workflows.system_names import Named, system_names

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
        done = scored(task, reference, path, step=steps[path], **settings)
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
