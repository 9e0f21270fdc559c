"""The engine: a request becomes scores or a verdict, in one procedure to read from the top.

Both sides are opened; batch after batch is checked and counted, by several processes where that is
wanted; all that was found is judged, and all that was counted is the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import fields, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

import msgspec
import polars as pl

from hlteval.findings import REFERENCE, SUBMISSION, Finding, Severity
from hlteval.findings.counts import count_of as number_of
from hlteval.representation import Corpus, of_documents
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.scoring.intervals import IntervalSet
from hlteval.scoring.intervals import intervals as compute_intervals
from hlteval.scoring.metric import CannotCount, Evidence, Metric, Tables, by_document, by_group
from hlteval.tasks.option_files import OptionFiles, read_files
from hlteval.tasks.options import check_values, groupings, merge_options, metric_options
from hlteval.tasks.task import WrongOption
from hlteval.workflows.processes.pool import Call
from hlteval.workflows.run import batches as batching
from hlteval.workflows.run import verdicts, workers
from hlteval.workflows.run.batches import Batch, Pair, Submission
from hlteval.workflows.run.checks import Check
from hlteval.workflows.run.parts import NotApart
from hlteval.workflows.run.request import Intervals, Request

C = TypeVar("C", bound=Check)


def score(request: Request) -> Scores:
    """Score a submission.

    Raises:
        Refused: if there are blocking findings, unless the request is lenient; also then if the
            official software gives no number at all.
        KeyError: for an unknown task.
        FileNotFoundError: if a path does not exist.
        WrongOption: for an option that the task does not have, or that cannot have its value.
    """
    alone = not (request.alignment or request.evidence or request.intervals)
    return count_batches(replace(request, condensed=alone)).scores(request.intervals)


def count_batches(request: Request) -> Run:
    """Count what a submission is scored by, batch after batch; the errors are those of `score`."""
    run = _add_batches(open_run, request)
    conclude(run, request.batch)
    return run


def conclude(run: Run, batch: int | None = None) -> None:
    """Judge a run to which all batches are added; its errors are those of `score`."""
    run.metric.finish()
    if run.opened.parts is not None:  # the rows of parts are numbered from 0 each
        run.total.counts = run.metric.join_parts(run.counts)
    if not run.total.uncounted:
        run.findings.extend(run.metric.judge(run.counts))
    run.judged = run.verdict()
    run.refuse()
    if run.total.uncounted:  # what seemed to block does not
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
    return _add_batches(open_check, request).verdict()


def validate_all(request: Request, paths: Sequence[str]) -> Verdict:
    """Check several submissions to a task, or references, as one.

    Args:
        request: how each of them is checked. In `official` the verdict does not depend on the
            selection of findings.
        paths: the submissions.
    """
    step = request.step or batching.no_progress
    judged = [
        validate(replace(request, system=path, step=batching.subprogress(step, index, len(paths))))
        for index, path in enumerate(paths)
    ]
    findings = (finding for verdict in judged for finding in verdict.findings)
    joined = msgspec.structs.replace(
        judged[0],
        passed=all(verdict.passed for verdict in judged),
        decided=all(verdict.decided for verdict in judged),
        findings=tuple(request.selection.of(findings)),
        documents=sum(verdict.documents or 0 for verdict in judged),
        records=sum(verdict.records or 0 for verdict in judged),
        files_judged=tuple(file for verdict in judged for file in verdict.files_judged),
    )
    if request.profile == "official" or not joined.decided:
        return joined
    return msgspec.structs.replace(joined, passed=not joined.reaches(Severity(request.fail_on)))


def _add_batches(opener: Callable[[Request], C], request: Request) -> C:
    """Open what a request is about, and add all batches in order, from as many processes as `jobs`.

    Args:
        opener: opens it in this process and, by its name, in others.
        request: the request.
    """
    if request.cluster:
        _check_cluster(request)
    apart = replace(request, apart=True)
    try:
        check = _add_each(opener(apart), opener, apart)
        if check.opened.parts is not None:
            check.hold_apart()
    except NotApart:
        check = _add_each(opener(request), opener, request)
    return check


def _add_each(check: C, opener: Callable[[Request], C], request: Request) -> C:
    """Add all batches to what was opened, and give it back."""
    step, opening = request.step or batching.no_progress, None
    if request.repeatable:
        repeated = replace(request, step=None, unused_jobs=None, shared=None)
        opening = Call(f"{opener.__module__}:{opener.__name__}", (repeated,))
    how = (request.jobs, request.batch, request.cluster)
    with closing(workers.results(check, opening, *how)) as batches:
        for batch in batching.with_progress(check.opened, batches, attrgetter("names"), step):
            check.add(batch)
    if (request.jobs == 1 and not request.cluster) or request.unused_jobs is None:
        return check
    if reason := workers.reason_for_one_process(check.opened, opening, request.batch):
        request.unused_jobs(reason)
    return check


def _check_cluster(request: Request) -> None:
    """Check that the workers of a cluster find what this process does.

    Raises:
        WrongOption: if they cannot.
    """
    if request.jobs > 1:
        raise WrongOption("--jobs has no effect with --cluster")
    if not request.repeatable:
        raise WrongOption("--cluster cannot be used with standard input or data in memory")
    for path in filter(None, (request.system, request.reference, request.against)):
        if not (Path(path).is_absolute() or "://" in path):
            raise WrongOption(f"--cluster needs absolute paths or URLs; {path} is relative")


def open_check(request: Request) -> Check:
    """Return the check of a submission before anything is read; errors as of `validate`."""
    return Check(open_submission(request))


def open_submission(request: Request) -> Submission:
    """Open what is validated, with the files of its options; errors as of `validate`.

    Its texts come from `against`, or from an option that has a format of references.
    """
    task, against = request.definition, request.against
    task.hold_profile(request.profile)
    values = merge_options(task, request.options)
    check_values(task, values)
    texts = [option for option in task.options if option.reference_format and option.name in values]
    if texts and against is None:
        path, form = values[texts[0].name], texts[0].reference_format
        return batching.open_sides(request, path, values, reference_form=form)
    opened = batching.open_sides(request, against, values)
    for option in texts:
        if opened.reference_format.name == option.reference_format:
            raise WrongOption(f"use either --against or --{option.flag}, not both")
    return opened


def open_run(request: Request) -> Run:
    """Return a run before anything is read; its errors are those of `score`."""
    task = request.definition
    values = merge_options(task, request.options)
    files = _with_submissions(request, read_files(task, values, request.encoding), values)
    metric = task.scorer(request.profile, metric_options(task, values, files))
    return Run(batching.open_sides(request, request.reference, values, files), metric, request)


def _with_submissions(request: Request, files: OptionFiles, values: dict[str, str]) -> OptionFiles:
    """Add the findings about files of options that are submissions to another task; errors block.

    Args:
        request: the request.
        files: the files of the options, as they were read.
        values: the options, as text.
    """
    options = [item for item in request.definition.options if item.name in values]
    submitted = {f"--{item.flag}": item for item in options if item.submission_to}
    # Validation reads these files too; what only the reader of an option finds stays.
    findings = [
        item for item in files.findings if item.side not in submitted or item.code.startswith("OPT")
    ]
    for side, option in submitted.items():
        task, beside = option.submission_to or ("", "")
        inner = Request(  # what is shared of the reference is that of the other task
            task,
            values[option.name],
            against=request.reference,
            options={beside: request.system},
            profile=request.profile,
            encoding=request.encoding,
        )
        findings += (
            msgspec.structs.replace(item.of(side), blocking=item.severity == Severity.ERROR)
            for item in Check(open_submission(inner)).complete().findings
            if item.side == SUBMISSION
        )
    return replace(files, findings=tuple(findings))


class Run(Check):
    """One scoring: a check that counts as well.

    Args:
        opened: the submission and its reference.
        metric: the metric with its options.
        request: how it is scored, and what is kept.

    Attributes:
        judged: the verdict of validation.
        blocked: whether what has been found so far blocks; nothing more is counted then.
    """

    def __init__(self, opened: Submission, metric: Metric, request: Request) -> None:
        super().__init__(opened, gold=True)
        self.metric, self.request = metric, request
        self.judged = Verdict("", "", passed=True)
        self.blocked = self._blocks(self.findings)

    @property
    def counts(self) -> list[pl.DataFrame]:
        """The statistics of each batch."""
        return self.total.counts

    def check_batch(self, pair: Pair) -> Batch:
        """Check one batch, and count it unless the submission will be refused."""
        batch = super().check_batch(pair)
        batch.files = verdicts.files_of(pair)
        self.blocked |= self._blocks(batch.findings) or self._blocks(batch.judging)
        if not self.blocked:
            try:
                self._count(pair, batch)
            except CannotCount as reason:
                self.blocked, batch.failure = True, reason.finding
        batch.uncounted = self.blocked
        return batch

    def _count(self, pair: Pair, batch: Batch) -> None:
        """Add to a batch, or to all, what a pair counts."""
        wanted = self.request
        counts, alignment, evidence = statistics(
            self.opened, self.metric, pair, alignment=wanted.alignment, evidence=wanted.evidence
        )
        if wanted.condensed and self.opened.parts is not None:
            counts = self.metric.condense(counts)
        batch.counts.append(counts)
        batch.alignments += [] if alignment is None else [alignment]
        batch.evidence += [] if evidence is None else [evidence]

    def count_all(self, size: int | None) -> None:
        """Count the statistics of all batches, whatever blocks."""
        total, failures = self.total, list[Finding]()
        total.counts, total.alignments, total.evidence, total.uncounted = [], [], [], False
        try:
            for pair in chain.from_iterable(self.batches(size)):
                self._count(pair, total)
        except CannotCount as reason:
            total.failure = reason.finding
            failures.append(reason.finding)
        findings = (*self.judged.findings, *failures, *self.metric.judge(self.counts))
        self.judged = msgspec.structs.replace(self.judged, findings=findings)
        self.metric.finish()

    def _blocks(self, findings: Sequence[Finding]) -> bool:
        """Whether a submission with some findings will be refused; the verdict is known later."""
        return not self.request.lenient and any(map(self.blocks, findings))

    def refuse(self) -> None:
        """Give no numbers where nothing sensible can be scored, or the software gives none.

        Raises:
            Refused: if there are no numbers.
        """
        judged, task = self.judged, self.opened.task
        crashes = task.official_crashes_on
        if judged.profile == "official" and any(item.code in crashes for item in judged.findings):
            reason = "no official score: the official software crashes on these findings"
            raise verdicts.Refused(judged, reason, "fix them, or use --profile plan", crashes)
        blocking = [finding for finding in judged.findings if finding.blocking]
        nothing = self.lacks_reference or self.total.failure is not None
        nothing = nothing or any(finding.code in verdicts.NOTHING_TO_SCORE for finding in blocking)
        if not blocking or (self.request.lenient and not nothing):
            return
        others = sorted({finding.side for finding in blocking} - {SUBMISSION})
        where = "".join(f" in the {verdicts.name_side(side, task)}" for side in others[:1])
        fix = "fix the blocking findings"
        fix += "" if nothing else ", or use --lenient to score the rest"
        if REFERENCE in others and not nothing:
            alone = verdicts.command_of(self.opened, REFERENCE, self.request.encoding)
            fix += f"; `{alone}` checks the reference alone"
        reason = f"nothing was scored because of blocking findings{where}"
        raise verdicts.Refused(judged, reason, fix)

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
            where, listed = verdicts.name_side(side, self.opened.task), ", ".join(sorted(codes))
            command = verdicts.command_of(self.opened, side, self.request.encoding)
            more = f"; for details, run `{command}`" if paths else ""
            notes[side] = f"{number_of(codes.total(), 'error')} in the {where} ({listed}){more}"
        return notes

    def scores(self, intervals: Intervals | None = None, *, paths: bool = True) -> Scores:
        """Return the values, and their intervals where they are wanted; `paths` is for notes."""
        return self.estimate(intervals, paths=paths)[0]

    def estimate(
        self, intervals: Intervals | None = None, *, paths: bool = True
    ) -> tuple[Scores, IntervalSet]:
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
        notes = (*verdicts.blocking_notes(judged), *self.error_notes(paths=paths).values())
        notes += (*verdicts.warning_notes(judged, task.noted), *metric.notes(total))
        notes += (*interval_set.notes(), *verdicts.size_notes(task, interval_set.limits, documents))
        shown = task.hooks.alignment
        if self.total.alignments:
            tables[shown] = self._alignment()
        elif task.alignment_info:  # it may be a table of the values
            shown = task.alignment_info.table
        if self.request.alignment and shown in tables:
            error_tables, error_files = metric.error_analysis(tables[shown], total)
            tables, files = tables | error_tables, files | error_files
        primary = task.ranking(judged.profile, self.opened.options)
        names = task.beside(primary, metrics)
        self._add_groups(tables, [*metrics], names)
        evidence = each = None
        if self.request.evidence:
            evidence = Evidence.merge(self.total.evidence)
            each = by_document(metric, pl.concat(self.counts), names)
        scores = Scores(
            task=task.name,
            profile=judged.profile,
            signature=self.signature(interval_set.signature),
            primary=primary,
            metrics=metrics,
            intervals=interval_set.limits,
            tables=tables,
            verdict=judged,
            notes=notes,
            files=files,
            evidence=evidence,
            by_document=each,
        )
        return scores, interval_set

    def aligned_tables(self) -> Tables:
        """Return the tables of the values with the alignment, without intervals and notes."""
        tables = self.metric.score(self.metric.total(self.counts))[1]
        if self.total.alignments:
            tables[self.opened.task.hooks.alignment] = self._alignment()
        return tables

    def _alignment(self) -> pl.DataFrame:
        """Return the alignment of all batches, by the names of documents as any batch."""
        whole = pl.concat(self.total.alignments)
        # parts are in the order of files
        return whole if self.opened.parts is None else whole.sort("document", maintain_order=True)

    def _add_groups(self, tables: Tables, names: Sequence[str], shown: Sequence[str]) -> None:
        """Add a table of the values of each group of documents, and some of them to the scorings.

        Args:
            tables: the tables of the scores.
            names: of all metrics.
            shown: those that the scorings have.
        """
        for field in groupings(self.opened.task, self.opened.options):
            counts, title = pl.concat(self.counts), f"by_{field}"
            each = by_document(self.metric, counts, names)
            if field != "document":
                each = by_group(self.metric, counts, field, names)
            own = [name for name in shown if name in each.columns]
            rows = each.unpivot(own, index=field, variable_name="measure")
            order = pl.int_range(pl.len()).over("measure")
            rows = rows.with_columns(pl.lit(title).alias("evaluation"), order=order)
            rows = rows.sort("order", maintain_order=True).rename({field: "scoring"})
            columns = tables["scorings"].columns
            tables["scorings"] = pl.concat([tables["scorings"], rows.select(columns)])
            tables[title] = each

    def signature(self, intervals: str = "") -> str:
        """Return what the numbers depend on, in one line, and what their intervals do."""
        lenient, files = self.request.lenient, self.total.files
        return str(verdicts.signature(self.opened, files, lenient=lenient, more=intervals))


def statistics(
    opened: Submission, metric: Metric, pair: Pair, *, alignment: bool, evidence: bool
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
    if task.scored_documents == "reference":
        system = of_documents(system, reference.documents["name"])
    counts, aligned = metric.statistics(reference, system, alignment=alignment)
    for name in groupings(task, opened.options):
        if name != "document":  # a column of documents
            own = [corpus.documents.select(name, row="name") for corpus in (reference, system)]
            values, key = pl.concat(own).drop_nulls(), metric.document_column
            values = values.unique("row", keep="first").rename({"row": key})
            counts = counts.join(values, on=key, how="left", maintain_order="left")
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
    options = metric_options(task, merge_options(task, request.options))
    metric = task.scorer(request.profile, options)
    _, tables = metric.score(metric.total([]))
    return list(tables["scorings"]["measure"].unique(maintain_order=True))
