"""Comparisons and leaderboards: systems are scored, resampled and ranked by one or more metrics.

A system that is refused is left out; the others are compared without it.

Systems are compared by several metrics from one reading: there is a plan by metric, metrics with
the same part share resamples and permutations, and `ranking.py` makes a `Comparison` of each. A
leaderboard is these comparisons under the names of the systems; the scores for its reports are on
disk until all systems are scored (`board.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from types import MappingProxyType

import msgspec
import polars as pl

from hlteval.findings import SUBMISSION, Finding, Findings, Problem, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.systems import Comparison, Leaderboard, RefusedSystem, short_names
from hlteval.results.verdict import Signature, Verdict
from hlteval.scoring.errors import EXTRA, REFERENCE, ErrorAnalysis, ItemColumns, analyse_errors
from hlteval.scoring.metric import Evidence, Metric, Tables
from hlteval.sources import open_source
from hlteval.sources.names import as_text
from hlteval.sources.opening import OpenInput, is_url
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.option_files import read_table
from hlteval.tasks.options import merge_options, metric_options
from hlteval.tasks.task import HIGH, AlignmentInfo, Task, WrongOption
from hlteval.workflows.compare.ranking import Plan, comparisons, part_of
from hlteval.workflows.run.batches import no_progress, subprogress
from hlteval.workflows.run.engine import Run, count_batches
from hlteval.workflows.run.request import Intervals, Request, SharedReference
from hlteval.workflows.run.verdicts import Refused, expand_folders

#: Called with the name of a system that is scored, and its run.
Visit = Callable[[str, Run], None]
#: The paths of submissions, or by path the options that only this submission has.
Systems = Sequence[str] | Mapping[str, Mapping[str, str]]
#: The code of a submission that does not exist.
MISSING = "LDB201"


def score_systems(
    request: Request,
    names: Mapping[str, str],
    visit: Visit | None = None,
    *,
    missing: bool = False,
    own: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> tuple[dict[str, Run], dict[str, Refused]]:
    """Score systems; return their runs, and the reasons of those that are refused, by name.

    Args:
        request: how each of them is scored.
        names: the name of each system, by the path of its submission.
        visit: called with each system; after that, its run has no alignment and no evidence.
        missing: whether a submission that does not exist is refused as others are.
        own: options that only some submissions have, by path.

    Raises:
        Refused: if the reference cannot be used.
    """
    runs: dict[str, Run] = {}
    reasons: dict[str, Refused] = {}
    shared = SharedReference()
    for index, (path, name) in enumerate(names.items()):
        step = subprogress(request.step or no_progress, index, len(names))
        try:
            if missing and (absent := _absence(path)):
                refused = _failure(request, absent)
                raise Refused(refused, "no such submission", "correct the path")
            options = {**request.options, **own.get(path, {})}
            runs[name] = run = count_batches(
                replace(request, system=path, options=options, step=step, shared=shared)
            )
            if visit is not None:
                visit(name, run)
                run.total.alignments.clear()
                run.total.evidence.clear()
        except Refused as reason:
            if reason.whole:  # so are all others
                raise
            reasons[name] = reason
    return runs, reasons


def _absence(path: str) -> list[Finding]:
    """Report a submission that does not exist; all else that is wrong is found when it is read."""
    if isinstance(path, OpenInput):
        return [item for item in path.in_encoding("utf-8").findings if item.code == MISSING]
    if path == "-" or is_url(path) or os.path.lexists(os.path.realpath(path)):
        return []
    return [finding(MISSING, file=path)]


def _failure(request: Request, findings: Sequence[Finding]) -> Verdict:
    return Verdict(request.task, request.profile, passed=False, findings=Findings(findings))


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


#: Replicates where nobody says how many: the few are those that are scored one by one.
MANY, FEW = 10_000, 200


def compare(
    request: Request,
    systems: Sequence[str],
    *,
    metric: str | None = None,
    test: str | None = None,
    alpha: float = 0.05,
    counted: Callable[[Mapping[str, Run]], object] | None = None,
) -> Comparison:
    """Compare systems by a metric.

    Args:
        request: how each of them is scored; with its `alignment`, the comparison has `errors`. Its
            `intervals` say how many replicates there are, of which confidence, from which seed;
            where their number is 0 or not given, `MANY` for metrics whose counts add, and `FEW`
            for others.
        systems: paths of the submissions.
        metric: what they are compared by; the one that ranks where it is left out.
        test: `permutation`, `bootstrap` or `jackknife`; by default `permutation` where counts add,
            and `jackknife` elsewhere.
        alpha: a difference is significant whose corrected probability is smaller.
        counted: called with what was counted of each system, by its name.

    Raises:
        WrongOption: if the task has no such metric, or the test is not valid for it.
        Refused: if the reference cannot be used, or no submission is scored; of several, those that
            are not scored have no rank and are in `refused`.
    """
    task = request.definition
    values = merge_options(task, request.options)
    by = Criteria(task, request.profile, values, test, request.intervals, alpha)
    metric = task.metric_of(metric) if metric else by.ranking
    by = by.with_metric(metric)
    plan = by.plan(metric)
    systems, folders = expand_folders(request.task, systems, request.reference)
    names = short_names(systems)
    info = task.alignment_info if request.alignment else None
    tables, evidence = dict[str, Tables](), dict[str, Evidence]()

    def keep(name: str, run: Run) -> None:
        tables[name] = run.aligned_tables()
        evidence[name] = Evidence.merge(run.total.evidence)

    kept = info is not None
    each = replace(request, options=by.options, alignment=kept, evidence=kept)
    runs, reasons = score_systems(each, names, keep if kept else None)
    if not runs:
        raise all_refused([*reasons.values()])
    if counted:
        counted(runs)
    (comparison,) = comparisons(runs, [plan])
    errors = None
    if info and len(runs) > 1 and all(info.table in own for own in tables.values()):
        ranked = {system.name: tables[system.name] for system in comparison.systems}
        errors = _join_alignments(info, ranked, evidence)
    refused = refused_systems(reasons)
    notes = (*folders, *comparison.notes, *(item.note for item in refused), *weaknesses(runs))
    paths = {name: as_text(path) for path, name in names.items()}
    more = {"refused": refused, "notes": notes, "paths": paths, "errors": errors}
    return msgspec.structs.replace(comparison, **more)


def _join_alignments(
    info: AlignmentInfo, tables: Mapping[str, Tables], evidence: Mapping[str, Evidence]
) -> ErrorAnalysis:
    """Join the alignments of systems, by what the task declares of their rows.

    Args:
        info: how they are read.
        tables: of the scores of each system, by its name, best first.
        evidence: of each system, by its name.
    """
    facets = [facet.column for facet in info.facets]
    of_reference = [cell.reference for cell in info.cells if cell.reference]
    of_system = [cell.system for cell in info.cells if cell.system and cell.kind != "name"]
    key = {REFERENCE: (*info.reference_key, *of_reference), EXTRA: (*info.system_key, *of_system)}
    text = {side: [name for name in own if name not in info.label] for side, own in key.items()}
    columns = ItemColumns(
        key=key,
        text={side: own or key[side] for side, own in text.items()},
        label=info.label,
        place={REFERENCE: info.places.reference, EXTRA: info.places.system} if info.places else {},
        facets=facets,
        single=[facet.column for facet in info.facets if facet.single],
        items=dict(zip((REFERENCE, EXTRA), info.items or (), strict=False)),
        stretches=info.stretches,
    )
    kinds = {outcome.name: outcome.kind for outcome in info.outcomes}
    kind = pl.col("outcome").replace_strict(kinds, default="unscored", return_dtype=pl.String)
    scored = pl.col("_kind") != "unscored"
    rows = {
        name: info.read(own)[0].with_columns(_kind=kind).filter(scored)
        for name, own in tables.items()
    }
    return analyse_errors(columns, rows, evidence)


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
        intervals: the replicates; without them or their number, those of each metric.
        alpha: the level of significance.
    """

    task: Task
    profile: str
    options: Mapping[str, str]
    test: str | None
    intervals: Intervals | None
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

        Nothing changes if an option lists what is computed.
        """
        option, options = self.task.computed_list, self.task.metric_options
        if option is None or options is None or option.name in self.options:
            return self
        usual = getattr(options(), option.name)
        return self if metric in usual else self.with_metrics([metric])[0]

    def with_metrics(self, metrics: Sequence[str]) -> tuple[Criteria, list[str]]:
        """Return criteria that compute no other metrics, where an option can list them; and these.

        Args:
            metrics: names of metrics or measures; if empty, those that the option lists.
        """
        option, known = self.task.computed_list, self.task.metrics
        listed = self.options.get(option.name, "").split(",") if option else []
        own = [name.strip() for name in listed if name.strip()]
        chosen = [*map(self.task.metric_of, metrics)] or [name for name in own if name in known]
        if option is None or option.read is None or not chosen:
            return self, chosen
        try:
            option.read(chosen, self.options)
        except ValueError:  # metrics of measures, all of which are computed
            return self, chosen
        return replace(self, options={**self.options, option.name: ",".join(chosen)}), chosen

    def computes(self, metric: str) -> bool:
        """Return whether a metric of the task is computed with these options."""
        part = part_of(self.scorer, metric)
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
        task = self.task
        try:
            part = part_of(self.scorer, metric)
        except ValueError as reason:
            raise WrongOption(f"unknown metric {metric} of {task.name}: {reason}") from reason
        if not self.computes(metric):
            if metric in task.metrics:
                raise WrongOption(f"{metric} is not computed with these options")
            hint = did_you_mean(metric, task.metrics, f"use one of {', '.join(task.metrics)}")
            raise WrongOption(f"unknown metric {metric} of {task.name}; {hint}")
        test, resampled = self.test, part.interval_method == "bootstrap"
        if test is None:
            test = "permutation" if resampled else "jackknife"
        elif test != "jackknife" and not resampled:
            raise WrongOption(
                f"--test {test} is not valid for {metric}, which is computed from all documents at "
                "once: use --test jackknife"
            )
        statistic = task.statistic(metric)  # the measure may be one that is not declared
        sign = -1 if statistic and statistic.better == "less" else 1
        drawn = self.intervals or Intervals(0)
        if not drawn.replicates:
            drawn = replace(drawn, replicates=MANY if part.additive else FEW)
        return Plan(metric, sign, test, drawn, self.alpha, task.limits(metric))


#: Parts of signatures that each metric has.
COMPARED = ("test", "metric")


def leaderboard(
    request: Request,
    systems: Systems,
    *,
    names: str | None = None,
    metrics: Sequence[str] = (),
    alpha: float = 0.05,
    visit: Visit | None = None,
) -> Leaderboard:
    """Rank systems by several metrics. Each submission is read once.

    Args:
        request: how each of them is scored, as for `compare`.
        systems: paths of the submissions, which may have options of their own.
        names: path of a file of names (`system_names`); short names of the paths without one.
        metrics: names of the metrics; the first one ranks. By default those of `usual_metrics`.
        alpha: a difference is significant whose corrected probability is smaller.
        visit: called with the name of each system that is scored and its run, which has the
            alignment and its evidence then; without it none is kept.

    Raises:
        WrongOption: if the task has no such metric.
        Refused: if the reference or the file of names cannot be used. Submissions that are not
            scored, and those that do not exist, are in `refused`.
    """
    task = request.definition
    options = merge_options(task, request.options)
    by = Criteria(task, request.profile, options, None, request.intervals, alpha)
    by, metrics = by.with_metrics(metrics)
    plans = [by.plan(name) for name in dict.fromkeys(metrics or usual_metrics(by))]
    own = systems if isinstance(systems, Mapping) else {}
    paths, folders = expand_folders(task.name, list(systems), request.reference)
    by_path, findings = system_names(paths, names, request.encoding)
    if any(item.blocking for item in findings):  # nobody would know whose row is whose
        reason = "nothing was scored because of the file of --names"
        raise Refused(_failure(request, findings), reason, "correct it")
    kept = visit is not None
    each = replace(request, options=by.options, alignment=kept, evidence=kept)
    runs, reasons = score_systems(each, by_path, visit, missing=True, own=own)
    board = assemble_leaderboard(by, plans, runs)
    return msgspec.structs.replace(
        board,
        notes=(*folders, *board.notes),
        refused=refused_systems(reasons),
        paths={name: as_text(path) for path, name in by_path.items()},
        findings=Findings(findings),
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
        >>> from hlteval.tasks import load
        >>> usual_metrics(Criteria(load("hub4"), "plan", {}, None, None))
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


def system_names(
    paths: Sequence[str], path: str | None = None, encoding: str = "utf-8"
) -> tuple[dict[str, str], list[Finding]]:
    """Return the names of the systems on a leaderboard by path, and the findings about their file.

    No two names are the same; where there are no others, they are short.

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
        return short, []
    source = open_source(path, encoding=encoding)
    if source.kind == "folder" or len(source.members) > 1:
        raise WrongOption(f"--names {path} is not a file of names")
    lines: dict[str, tuple[int, str]] = {}
    _, findings = read_table(source, NAMES, lambda parsed: [*_problems(parsed, short, lines)])
    findings += source.findings
    if not (lines or findings):
        findings.append(finding("LDB106", file=source.path))
    names = {path: lines[path][1] if path in lines else name for path, name in short.items()}
    return names, [item.of(SIDE) for item in findings]


def _problems(
    parsed: ParsedTable, short: Mapping[str, str], lines: dict[str, tuple[int, str]]
) -> Iterator[Problem]:
    """Find the submission that each line is about; report those of none, and names that are alike.

    Args:
        parsed: the file of names.
        short: the short names of all submissions, by path.
        lines: takes the number of the line of a submission and the name there, by path.
    """
    spellings: dict[str, list[str]] = {}
    for path, name in short.items():
        file = PurePath(path)
        for key in dict.fromkeys((str(path), name, file.name, file.stem)):
            spellings.setdefault(key, []).append(path)

    def problem(code: str, number: int, field: str, **values: object) -> Problem:
        place = parsed.table.stretch(parsed.lines[number - 1], field)
        return Problem(code, number, *place, values)

    for number, submission, written in parsed.rows.iter_rows():
        text, name = submission.strip(), written.strip()
        paths = [text] if text in short else spellings.get(text, [])
        if not paths:
            hint = did_you_mean(text, list(spellings), "write its path as in the command")
            yield problem("LDB102", number, "submission", given=text, hint=hint)
        elif len(paths) > 1:
            values = {"given": text, "count": len(paths), "paths": ", ".join(map(str, paths))}
            yield problem("LDB104", number, "submission", **values)
        elif paths[0] in lines:
            first = lines[paths[0]][0]
            yield problem("LDB105", number, "submission", path=paths[0], first=first)
        else:
            same = [line for line, other in lines.values() if other == name]
            lines[paths[0]] = (number, name)
            if same:
                yield problem("LDB103", number, "name", name=name, other=f"line {same[0]}")
    without = {name: path for path, name in short.items() if path not in lines}
    for number, name in lines.values():  # the short names of submissions without a line
        if name in without:
            other = f"{without[name]}, which has no line"
            yield problem("LDB103", number, "name", name=name, other=other)
