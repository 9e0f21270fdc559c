"""The engine: a request becomes scores or a verdict, in one procedure to read from the top.

Both sides are opened; batch after batch is checked and counted, by several processes where that is
wanted; all that was found is judged, and all that was counted is the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import NamedTuple, TypeVar

import msgspec
import polars as pl

from hlteval.findings import REFERENCE, SUBMISSION, Finding, Severity
from hlteval.findings.counts import count_of as number_of
from hlteval.representation import Corpus, of_documents
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.scoring.intervals import IntervalSet
from hlteval.scoring.intervals import intervals as compute_intervals
from hlteval.scoring.metric import CannotCount, Evidence, Metric, by_document
from hlteval.tasks.option_files import OptionFiles, read_files
from hlteval.tasks.options import check_values, merge_options, metric_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.processes.batches import (
    Opening,
    Worker,
    no_progress,
    results,
    subprogress,
    with_progress,
)
from hlteval.workflows.run.batches import Pair, Submission, submission
from hlteval.workflows.run.checks import Check
from hlteval.workflows.run.reference import BatchCheck
from hlteval.workflows.run.request import Intervals, Request, Role
from hlteval.workflows.run.verdicts import (
    File,
    Files,
    blocking_notes,
    command_of,
    files_of,
    name_side,
    refuse,
    signature,
    size_notes,
    warning_notes,
)

T = TypeVar("T")


def score(request: Request) -> Scores:
    """Score a submission.

    Raises:
        Refused: if there are blocking findings, unless the request is lenient; also then if the
            official software gives no number at all.
        KeyError: for an unknown task.
        FileNotFoundError: if a path does not exist.
        WrongOption: for an option that the task does not have, or that cannot have its value.
    """
    return count_batches(request).scores(request.intervals)


def count_batches(request: Request) -> Run:
    """Count what a submission is scored by, batch after batch; the errors are those of `score`."""
    run = open_run(request)
    with _batches(run, open_run, request, lambda counted: counted.checked.names) as batches:
        for counted in batches:
            run.add(counted)
    conclude(run, request.batch)
    return run


def conclude(run: Run, batch: int | None = None) -> None:
    """Judge a run to which all batches are added; its errors are those of `score`."""
    run.metric.finish()
    if not run.uncounted:
        run.check.findings.extend(run.metric.judge(run.counts))
    run.judged = run.check.verdict()
    run.refuse()
    if run.uncounted:  # what seemed to block does not
        run.count_all(batch)
        run.refuse()


def validate(request: Request) -> Verdict:
    """Check a submission, or a reference; `selection` and `fail_on` are for `validate_all`.

    Raises:
        KeyError: for an unknown task.
        LookupError: for an unknown encoding.
        FileNotFoundError: if a path does not exist.
        hlteval.workflows.run.batches.NothingGiven: if there is nothing to check against.
        WrongOption: if an option has a value that it cannot have.
    """
    check = open_check(request)
    with _batches(check, open_check, request, lambda checked: checked.names) as batches:
        for checked in batches:
            check.add(checked)
    return check.verdict()


def validate_all(request: Request, paths: Sequence[str]) -> Verdict:
    """Check several submissions to a task, or references, as one.

    Args:
        request: how each of them is checked. In `official` the verdict does not depend on the
            selection of findings.
        paths: the submissions.
    """
    step = request.step or no_progress
    verdicts = [
        validate(replace(request, system=path, step=subprogress(step, index, len(paths))))
        for index, path in enumerate(paths)
    ]
    findings = (finding for verdict in verdicts for finding in verdict.findings)
    joined = msgspec.structs.replace(
        verdicts[0],
        passed=all(verdict.passed for verdict in verdicts),
        decided=all(verdict.decided for verdict in verdicts),
        findings=tuple(request.selection.of(findings)),
        documents=sum(verdict.documents or 0 for verdict in verdicts),
        records=sum(verdict.records or 0 for verdict in verdicts),
        files_judged=tuple(file for verdict in verdicts for file in verdict.files_judged),
    )
    if request.profile == "official" or not joined.decided:
        return joined
    return msgspec.structs.replace(joined, passed=not joined.reaches(Severity(request.fail_on)))


@contextmanager
def _batches(
    worker: Worker[T],
    opener: Callable[[Request], Worker[T]],
    request: Request,
    documents: Callable[[T], int],
) -> Iterator[Iterator[T]]:
    """Give what each batch adds, in order, from several processes where the request has `jobs`.

    Args:
        worker: what works on the batches.
        opener: makes the same of the request, in other processes.
        request: the request.
        documents: gives the number of documents of a batch.
    """
    opening = None
    if request.repeatable:
        repeated = replace(request, step=None)
        opening = Opening(f"{opener.__module__}:{opener.__name__}", {"request": repeated})
    with closing(results(worker, opening, request.jobs, request.batch)) as batches:
        yield with_progress(worker.opened, batches, documents, request.step or no_progress)


def open_check(request: Request) -> Check:
    """Return the check of a submission before anything is read; errors as of `validate`."""
    return _check(open_submission(request), request.profile)


def open_submission(request: Request) -> Submission:
    """Open what is validated, with the files of its options; errors as of `validate`.

    Its texts come from `against`, or from an option that has a format of references.
    """
    task, against = request.definition, request.against
    task.hold_profile(request.profile)
    values = merge_options(task, request.options)
    check_values(task, values)
    texts = [option for option in task.options if option.reference_format and option.name in values]
    text = texts[0] if texts and against is None else None
    bound = request.max_per_code
    opened = submission(
        task,
        request.system,
        against if text is None else values[text.name],
        encoding=request.encoding,
        max_per_code=bound,
        settings=settings(task, values, request.profile, request.role),
        options=values,
        reference_form="" if text is None else text.reference_format,
        files=read_files(
            task, values, request.encoding, references=text is None, max_per_code=bound
        ),
        role=request.role,
    )
    for option in texts if against is not None else ():
        if opened.reference_format.name == option.reference_format:
            raise WrongOption(f"use either --against or --{option.flag}, not both")
    return opened


def settings(
    task: Task, values: Mapping[str, str], profile: str, role: Role = SUBMISSION
) -> dict[str, str]:
    """Return the options of a task that are settings of its formats, and those of a profile.

    A reference always has documents, whatever the options say of submissions.

    Raises:
        WrongOption: if an option has a value that it cannot have.
    """
    present = [option for option in task.options if option.name in values]
    for option in present:
        option.check(values[option.name])
    chosen = {
        option.name.replace("_", "-"): values[option.name]
        for option in present
        if option.is_format_setting and not (option.without_documents and role == REFERENCE)
    }
    return {**(task.official_settings if profile == "official" else {}), **chosen}


def judge(opened: Submission, *, profile: str = "plan") -> Verdict:
    """Return the verdict over a submission, or over a reference that is opened as such."""
    check = _check(opened, profile)
    check.add_all()
    return check.verdict()


def _check(opened: Submission, profile: str) -> Check:
    gold = opened.role == REFERENCE and opened.task.metric is not None
    return Check.of(opened, profile, gold=gold)


def open_run(request: Request) -> Run:
    """Return a run before anything is read; its errors are those of `score`."""
    task = request.definition
    values = merge_options(task, request.options)
    files = read_files(task, values, request.encoding)
    files = _with_submissions(request, files, values)
    metric = task.scorer(request.profile, metric_options(task, values, files))
    opened = submission(
        task,
        request.system,
        request.reference,
        encoding=request.encoding,
        settings=settings(task, values, request.profile),
        options=values,
        files=files,
    )
    return Run(Check.of(opened, request.profile, gold=True), metric, request)


def _with_submissions(
    request: Request, files: OptionFiles, values: Mapping[str, str]
) -> OptionFiles:
    """Add the findings about files of options that are submissions to another task; errors block.

    Args:
        request: the request.
        files: the files of the options, as they were read.
        values: the options, as text.
    """
    options = [item for item in request.definition.options if item.name in values]
    options = [item for item in options if item.submission_to]
    sides = {f"--{option.flag}" for option in options}
    # Validation reads these files too; what only the reader of an option finds stays.
    findings = [
        item for item in files.findings if item.side not in sides or item.code.startswith("OPT")
    ]
    for option in options:
        task, beside = option.submission_to or ("", "")
        inner = Request(
            task,
            values[option.name],
            against=request.reference,
            options={beside: request.system},
            profile=request.profile,
            encoding=request.encoding,
        )
        findings += (
            msgspec.structs.replace(
                item.of(f"--{option.flag}"), blocking=item.severity == Severity.ERROR
            )
            for item in judge(open_submission(inner), profile=request.profile).findings
            if item.side == SUBMISSION
        )
    return replace(files, findings=tuple(findings))


class Counted(NamedTuple):
    """Addition of a batch to a run; the attributes are those of `Run`.

    Attributes:
        checked: what its check adds.
        counts: None where nothing is counted, because the submission will be refused.
        failure: why nothing can be counted.
    """

    checked: BatchCheck
    counts: pl.DataFrame | None
    alignment: pl.DataFrame | None
    evidence: Evidence | None
    files: dict[str, list[File]]
    failure: Finding | None = None


@dataclass
class Run:
    """One scoring: what is collected over the batches.

    Attributes:
        check: the check of the submission and its reference.
        metric: the metric with its options.
        request: how it is scored, and what is kept.
        judged: the verdict of validation.
        counts: the statistics of each batch.
        alignments: the alignment of each batch.
        collected: the evidence of each batch.
        files: the files that were read, by side.
        blocked: whether what has been found so far blocks; nothing more is counted then.
        uncounted: whether there are batches that were only checked.
        failure: why the metric cannot count; nothing is scored then.
    """

    check: Check
    metric: Metric
    request: Request
    judged: Verdict = field(default_factory=lambda: Verdict("", "", passed=True))
    counts: list[pl.DataFrame] = field(default_factory=list)
    alignments: list[pl.DataFrame] = field(default_factory=list)
    collected: list[Evidence] = field(default_factory=list)
    files: Files = field(default_factory=Files)
    blocked: bool = False
    uncounted: bool = False
    failure: Finding | None = None

    def __post_init__(self) -> None:
        self.blocked = self._blocks(self.check.findings)

    @property
    def opened(self) -> Submission:
        """The submission and its reference."""
        return self.check.opened

    def results(self, size: int | None) -> Iterator[Iterator[Counted]]:
        """Check and count each batch when it is asked for."""
        for batch in self.check.batches(size):
            yield map(self.count, batch)

    def count(self, pair: Pair) -> Counted:
        """Check one batch, and count it unless the submission will be refused."""
        checked, files = self.check.check_batch(pair), files_of(pair)
        self.blocked |= self._blocks(checked.findings) or self._blocks(checked.judging)
        if self.blocked:
            return Counted(checked, None, None, None, files)
        try:
            return Counted(checked, *self._statistics(pair), files)
        except CannotCount as reason:
            self.blocked = True
            return Counted(checked, None, None, None, files, reason.finding)

    def add(self, counted: Counted) -> None:
        """Add what a batch gives."""
        self.check.add(counted.checked)
        self.files.add(counted.files)
        self._add_counts(counted.counts, counted.alignment, counted.evidence)
        if counted.failure is not None and self.failure is None:
            self.failure = counted.failure
            self.check.findings.append(counted.failure)

    def count_all(self, size: int | None) -> None:
        """Count the statistics of all batches, whatever blocks."""
        self.counts, self.alignments, self.collected, self.uncounted = [], [], [], False
        failures: list[Finding] = []
        try:
            for pair in chain.from_iterable(self.check.batches(size)):
                self._add_counts(*self._statistics(pair))
        except CannotCount as reason:
            self.failure = reason.finding
            failures.append(reason.finding)
        findings = (*self.judged.findings, *failures, *self.metric.judge(self.counts))
        self.judged = msgspec.structs.replace(self.judged, findings=findings)
        self.metric.finish()

    def refuse(self) -> None:
        """Give no numbers where nothing sensible can be scored.

        Raises:
            Refused: if there are no numbers.
        """
        empty = self.check.lacks_reference or self.failure is not None
        refuse(self.judged, self.opened, self.request, empty=empty)

    def _blocks(self, findings: Sequence[Finding]) -> bool:
        """Whether a submission with some findings will be refused; the verdict is known later."""
        return not self.request.lenient and any(map(self.check.blocks, findings))

    def _statistics(self, pair: Pair) -> tuple[pl.DataFrame, pl.DataFrame | None, Evidence | None]:
        return statistics(
            self.opened,
            self.metric,
            pair,
            alignment=self.request.alignment,
            evidence=self.request.evidence,
        )

    def _add_counts(
        self, counts: pl.DataFrame | None, alignment: pl.DataFrame | None, evidence: Evidence | None
    ) -> None:
        self.uncounted |= counts is None
        self.counts += [] if counts is None else [counts]
        self.alignments += [] if alignment is None else [alignment]
        self.collected += [] if evidence is None else [evidence]

    def error_notes(self, *, paths: bool = True) -> dict[str, str]:
        """Count the errors of each side in a note with their codes, by side.

        Args:
            paths: whether to name the command that reports them, which has paths.
        """
        errors: dict[str, Counter[str]] = {}
        for finding in self.judged.findings:
            if finding.severity == "error":
                errors.setdefault(finding.side, Counter())[finding.code] += finding.count
        notes = {}
        for side, codes in errors.items():
            where, listed = name_side(side, self.opened.task), ", ".join(sorted(codes))
            command = command_of(self.opened, side, self.request.encoding)
            more = f"; for details, run `{command}`" if paths else ""
            notes[side] = f"{number_of(codes.total(), 'error')} in the {where} ({listed}){more}"
        return notes

    def scores(self, intervals: Intervals | None = None) -> Scores:
        """Return the values, and their intervals where they are wanted."""
        return self.estimate(intervals)[0]

    def estimate(self, intervals: Intervals | None = None) -> tuple[Scores, IntervalSet]:
        """Return the values with their intervals where wanted, and what these come from."""
        task, judged, metric = self.opened.task, self.judged, self.metric
        total = metric.total(self.counts)
        values, tables = metric.score(total)
        # In the order in which the task declares them, then all others.
        metrics = {name: values[name] for name in task.metrics if name in values} | dict(values)
        files = metric.official_files(total)
        interval_set = IntervalSet()
        if intervals is not None:
            interval_set = compute_intervals(
                metric,
                pl.concat(self.counts),
                metrics,
                task.limits,
                resamples=intervals.replicates,
                confidence=intervals.confidence,
                seed=intervals.seed,
            )
        documents = max((how.documents for how in interval_set.methods.values()), default=0)
        notes = (*blocking_notes(judged), *self.error_notes().values())
        notes += (*warning_notes(judged, task.noted), *metric.notes(total), *interval_set.notes())
        if self.alignments:
            tables[task.hooks.alignment] = pl.concat(self.alignments)
            error_tables, error_files = metric.error_analysis(tables[task.hooks.alignment], total)
            tables, files = tables | error_tables, files | error_files
        primary = task.ranking(judged.profile, self.opened.options)
        evidence = each = None
        if self.request.evidence:
            evidence = Evidence.merged(self.collected)
            each = by_document(metric, pl.concat(self.counts), task.beside(primary, metrics))
        scores = Scores(
            task=task.name,
            profile=judged.profile,
            signature=self.signature(interval_set.signature),
            primary=primary,
            metrics=metrics,
            intervals=interval_set.limits,
            tables=tables,
            verdict=judged,
            notes=(*notes, *size_notes(task, interval_set.limits, documents)),
            files=files,
            evidence=evidence,
            by_document=each,
        )
        return scores, interval_set

    def signature(self, intervals: str = "") -> str:
        """Return what the numbers depend on, in one line, and what their intervals do."""
        profile, lenient = self.judged.profile, self.request.lenient
        parts = signature(self.opened, self.files, profile=profile, lenient=lenient, more=intervals)
        return str(parts)


def statistics(
    opened: Submission,
    metric: Metric,
    pair: Pair,
    *,
    alignment: bool = False,
    evidence: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame | None, Evidence | None]:
    """Return the statistics of one batch, and its alignment and the evidence where wanted.

    The reference has the segments and texts that files of options add, and only documents that
    options list are counted, unless the metric itself has the list.
    """
    task, corpora = opened.task, opened.files.corpora
    reference = _complete(pair.reference.corpus, opened.option_corpus)
    system = pair.system.corpus
    known = () if task.metric_options is None else fields(task.metric_options())
    of_metric = {item.name for item in known}
    for option in task.options:
        if option.selects_documents and option.name in corpora and option.name not in of_metric:
            names = corpora[option.name].documents["name"]
            reference, system = of_documents(reference, names), of_documents(system, names)
    counts, aligned = metric.statistics(reference, system, alignment=alignment)
    return counts, aligned, metric.evidence(reference, system) if evidence else None


def _complete(corpus: Corpus, extra: Corpus) -> Corpus:
    """Return a corpus with the segments, and the texts that it lacks, of another one."""
    if not extra.segments.is_empty():
        names = extra.documents.select(_name="name", document="row")
        segments = extra.segments.join(names, on="document").drop("document")
        rows = corpus.documents.select(document="row", _name="name")
        segments = segments.join(rows, on="_name").with_columns(origin=pl.lit(0, pl.Int64))
        corpus = corpus.replace(segments=segments.drop("_name"))
    texts = extra.documents.drop_nulls("text").select("name", _text="text")
    if not texts.is_empty():
        documents = corpus.documents.join(texts, on="name", how="left", maintain_order="left")
        text = pl.coalesce("text", "_text")
        corpus = corpus.replace(documents=documents.with_columns(text=text).drop("_text"))
    return corpus


def measure_names(request: Request) -> list[str]:
    """List the measures of the tables of scores, in order; only the options are read for them.

    Raises:
        WrongOption: if an option has a value that it cannot have.
    """
    task = request.definition
    metric = task.scorer(
        request.profile, metric_options(task, merge_options(task, request.options))
    )
    _, tables = metric.score(metric.total([]))
    return list(tables["scorings"]["measure"].unique(maintain_order=True))
