"""Runs: what is collected of a submission and its reference, and the numbers that come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import polars as pl

from hlteval.findings import MAX_PER_CODE, REFERENCE, SUBMISSION, Finding, Severity
from hlteval.findings.counts import counted
from hlteval.representation import Corpus, of_documents
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.scoring.by_document import by_document
from hlteval.scoring.evidence import Evidence
from hlteval.scoring.intervals import IntervalSet
from hlteval.scoring.intervals import intervals as resampled
from hlteval.scoring.metric import CannotCount, Metric
from hlteval.tasks import load
from hlteval.tasks.options import check_values, merged, metric_options
from hlteval.tasks.runtime.options import OptionFiles, read_files
from hlteval.tasks.task import Option, Task, WrongOption
from hlteval.workflows.processes.batches import Opening, Step, part, results, silent, watched
from hlteval.workflows.run.batches import Pair, Role, Submission, submission
from hlteval.workflows.run.checks import Check, Checked
from hlteval.workflows.run.verdicts import (
    File,
    Files,
    Selection,
    command,
    despite,
    files_of,
    named,
    noted_warnings,
    of_this_size,
    refuse,
    signature,
)


@dataclass(frozen=True)
class Intervals:
    """How confidence intervals are computed.

    Attributes:
        replicates: how many resamples, where documents are resampled.
        confidence: how often an interval is to cover the truth, between 0 and 1.
        seed: of the random numbers.
    """

    replicates: int
    confidence: float = 0.95
    seed: int = 0


class Counted(NamedTuple):
    """What a batch adds to a run; the attributes are those of `Run`.

    Attributes:
        checked: what its check adds.
        counts: None where nothing is counted, because the submission will be refused.
        failure: why nothing can be counted.
    """

    checked: Checked
    counts: pl.DataFrame | None
    alignment: pl.DataFrame | None
    files: dict[str, list[File]]
    failure: Finding | None = None
    evidence: Evidence | None = None


@dataclass
class Run:
    """One scoring: what is collected over the batches.

    Attributes:
        check: the check of the submission and its reference.
        metric: the metric with its options.
        lenient: whether blocking findings are ignored.
        alignment: whether the alignment is kept.
        evidence: whether the evidence for it, such as texts, is kept.
        encoding: of the files.
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
    lenient: bool
    alignment: bool
    encoding: str = "utf-8"
    evidence: bool = False
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

    def error_notes(self, *, paths: bool = True) -> dict[str, str]:
        """How many errors each side has, as a note with their codes, by side.

        Args:
            paths: whether to name the command that reports them, which has paths.
        """
        errors: dict[str, Counter[str]] = {}
        for finding in self.judged.findings:
            if finding.severity == "error":
                errors.setdefault(finding.side, Counter())[finding.code] += finding.count
        return {
            side: f"{counted(codes.total(), 'error')} in the {named(side, self.opened.task)} "
            f"({', '.join(sorted(codes))})"
            + (f"; for details, run `{command(self.opened, side, self.encoding)}`" if paths else "")
            for side, codes in errors.items()
        }

    def results(self, size: int | None) -> Iterator[Iterator[Counted]]:
        """What each batch adds."""
        for batch in self.check.batches(size):
            yield map(self.counted, batch)

    def add(self, counted: Counted) -> None:
        """Add what a batch gives."""
        self.check.add(counted.checked)
        self.files.add(counted.files)
        self._add_counts(counted.counts, counted.alignment, counted.evidence)
        if counted.failure is not None and self.failure is None:
            self.failure = counted.failure
            self.check.findings.append(counted.failure)

    def _add_counts(
        self,
        counts: pl.DataFrame | None,
        alignment: pl.DataFrame | None,
        evidence: Evidence | None,
    ) -> None:
        self.uncounted |= counts is None
        self.counts += [] if counts is None else [counts]
        self.alignments += [] if alignment is None else [alignment]
        self.collected += [] if evidence is None else [evidence]

    def counted(self, pair: Pair) -> Counted:
        """Check one batch, and count it unless the submission will be refused."""
        checked = self.check.checked(pair)
        self.blocked |= self._blocks(checked.findings) or self._blocks(checked.judging)
        try:
            added = (None, None, None) if self.blocked else self.statistics(pair)
        except CannotCount as reason:
            self.blocked = True
            return Counted(checked, None, None, files_of(pair), reason.finding)
        counts, alignment, evidence = added
        return Counted(checked, counts, alignment, files_of(pair), evidence=evidence)

    def count_all(self, size: int | None) -> None:
        """Count the statistics of all batches, whatever blocks."""
        self.counts, self.alignments, self.collected, self.uncounted = [], [], [], False
        try:
            for pair in chain.from_iterable(self.check.batches(size)):
                self._add_counts(*self.statistics(pair))
        except CannotCount as reason:
            self.failure = reason.finding
            findings = (*self.judged.findings, reason.finding)
            self.judged = msgspec.structs.replace(self.judged, findings=findings)
        findings = (*self.judged.findings, *self.metric.judge(self.counts))
        self.judged = msgspec.structs.replace(self.judged, findings=findings)
        self.metric.finish()

    def refuse(self) -> None:
        """Give no numbers where nothing sensible can be scored.

        Raises:
            Refused: if there are no numbers.
        """
        empty = self.check.sides.lacking or self.failure is not None
        refuse(self.judged, self.opened, encoding=self.encoding, lenient=self.lenient, empty=empty)

    def _blocks(self, findings: Sequence[Finding]) -> bool:
        """Whether a submission with some findings will be refused; the verdict is known later."""
        return not self.lenient and any(map(self.check.blocks, findings))

    def statistics(self, pair: Pair) -> tuple[pl.DataFrame, pl.DataFrame | None, Evidence | None]:
        """The statistics of one batch, and its alignment and the evidence where they are wanted."""
        extra = self.opened.option_corpus
        reference = _with_texts(_with_segments(pair.reference.corpus, extra), extra)
        system = pair.system.corpus
        for names in self._selected():
            reference, system = of_documents(reference, names), of_documents(system, names)
        counted = self.metric.statistics(reference, system, alignment=self.alignment)
        evidence = self.metric.evidence(reference, system) if self.evidence else None
        return (*counted, evidence)

    def _selected(self) -> Iterator[pl.Series]:
        """The documents of lists outside of which nothing is counted."""
        task, corpora = self.opened.task, self.opened.files.corpora
        options = () if task.metric_options is None else fields(task.metric_options())
        own = {known.name for known in options}
        for option in task.options:
            if option.selects_documents and option.name in corpora and option.name not in own:
                yield corpora[option.name].documents["name"]

    def scores(self, intervals: Intervals | None = None) -> Scores:
        """The values, and their intervals where they are wanted."""
        return self.resampled(intervals)[0]

    def resampled(self, intervals: Intervals | None = None) -> tuple[Scores, IntervalSet]:
        """The values with their intervals where they are wanted, and what these come from."""
        task, judged, metric = self.opened.task, self.judged, self.metric
        total = metric.total(self.counts)
        metrics, tables = metric.score(total)
        metrics = _in_order(metrics, task.metrics)
        files = metric.official_files(total)
        found = self.intervals(intervals, metrics)
        scored = max((how.documents for how in found.methods.values()), default=0)
        warnings = noted_warnings(judged, task.noted)
        notes = (*despite(judged), *self.error_notes().values(), *warnings, *metric.notes(total))
        if self.alignments:
            tables[task.hooks.alignment] = pl.concat(self.alignments)
            error_tables, error_files = metric.error_analysis(tables[task.hooks.alignment], total)
            tables, files = tables | error_tables, files | error_files
        scores = Scores(
            task=task.name,
            profile=judged.profile,
            signature=self.signature(found.signature),
            primary=task.ranking(judged.profile, self.opened.options),
            metrics=metrics,
            intervals=found.limits,
            tables=tables,
            verdict=judged,
            notes=(*notes, *found.notes(), *of_this_size(task, found.limits, scored)),
            files=files,
            evidence=Evidence.merged(self.collected) if self.evidence else None,
            by_document=self.by_document(metrics) if self.evidence else None,
        )
        return scores, found

    def by_document(self, metrics: Iterable[str]) -> pl.DataFrame:
        """The values of each document: of the metric that ranks, and of rates beside it."""
        task, profile = self.opened.task, self.judged.profile
        names = task.beside(task.ranking(profile, self.opened.options), metrics)
        return by_document(self.metric, pl.concat(self.counts), names)

    def intervals(
        self, wanted: Intervals | None, metrics: Mapping[str, float | None]
    ) -> IntervalSet:
        """The intervals of some metrics, where they are wanted."""
        if wanted is None:
            return IntervalSet()
        return resampled(
            self.metric,
            pl.concat(self.counts),
            metrics,
            self.opened.task.limits,
            resamples=wanted.replicates,
            confidence=wanted.confidence,
            seed=wanted.seed,
        )

    def signature(self, intervals: str = "") -> str:
        """What the numbers depend on, in one line, and what their intervals do."""
        profile, lenient = self.judged.profile, self.lenient
        made = signature(self.opened, self.files, profile=profile, lenient=lenient, more=intervals)
        return str(made)


def _in_order(
    metrics: Mapping[str, float | None], declared: Sequence[str]
) -> dict[str, float | None]:
    """The metrics in the order in which the task declares them, then all others."""
    first = {name: metrics[name] for name in declared if name in metrics}
    return first | dict(metrics)


def _with_texts(corpus: Corpus, given: Corpus) -> Corpus:
    """A corpus with the texts of its documents, where another corpus has them."""
    texts = given.documents.drop_nulls("text").select("name", _text="text")
    if texts.is_empty():
        return corpus
    own = corpus.documents.join(texts, on="name", how="left", maintain_order="left")
    text = pl.coalesce("text", "_text")
    return corpus.replace(documents=own.with_columns(text=text).drop("_text"))


def _with_segments(corpus: Corpus, segments: Corpus) -> Corpus:
    """A corpus with the segments of its documents, given by another corpus."""
    if segments.segments.is_empty():
        return corpus
    names = segments.documents.select(_name="name", document="row")
    named = segments.segments.join(names, on="document").drop("document")
    own = corpus.documents.select(document="row", _name="name")
    placed = named.join(own, on="_name").with_columns(origin=pl.lit(0, pl.Int64))
    return corpus.replace(segments=placed.drop("_name"))


def validate(
    task: str,
    path: str,
    *,
    against: str | None = None,
    role: Role = SUBMISSION,
    profile: str = "plan",
    options: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    max_per_code: int = MAX_PER_CODE,
    batch: int | None = None,
    jobs: int = 1,
    step: Step = silent,
) -> Verdict:
    """Check a submission, or a reference.

    Args:
        task: name of the task.
        path: the submission: a folder, file, archive, or `-`.
        against: the documents it is for, in the same forms; not needed if it brings its own.
        role: `reference` to check a reference by itself, in the formats that it may have.
        profile: `plan` fails errors; `official` fails what the official software rejects.
        options: values by the names of the task's options.
        encoding: of the files.
        max_per_code: maximum number of findings of a code in a file that are explained, the others
            are counted; 0 for all.
        batch: documents at a time, by default those of the task; the findings do not depend on it.
        jobs: how many processes work on batches; the findings do not depend on it.
        step: called after each batch with the documents that are done, and their number, which
            is None if it is known only after reading.

    Raises:
        KeyError: for an unknown task.
        LookupError: for an unknown encoding.
        FileNotFoundError: if a path does not exist.
        hlteval.workflows.run.batches.NothingGiven: if there is nothing to check against.
        WrongOption: if an option has a value that it cannot have.
    """
    given: dict[str, Any] = {"task": task, "path": path, "against": against, "role": role}
    given |= {"profile": profile, "options": options, "encoding": encoding}
    given |= {"max_per_code": max_per_code}
    opening = Opening("hlteval.workflows.run.engine:opened_check", given)
    return _checked(opened_check(**given), opening, batch, jobs, step)


def opened_check(**arguments: Any) -> Check:
    """The check of a submission before anything is read.

    The arguments and errors are those of `open_submission`.
    """
    return _check(open_submission(**arguments), arguments["profile"])


def open_submission(
    task: str,
    path: str,
    *,
    against: str | None = None,
    role: Role = SUBMISSION,
    profile: str = "plan",
    options: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    max_per_code: int = MAX_PER_CODE,
) -> Submission:
    """A submission that is opened but not read, with the files of its options.

    The arguments and errors are those of `validate`.
    """
    declared = load(task)
    declared.hold_profile(profile)
    values = merged(declared, options or {})
    check_values(declared, values)
    texts = _of_texts(declared, values, against)
    reference = against if against is not None else values.get(texts.name)
    opened = submission(
        declared,
        path,
        reference,
        encoding=encoding,
        max_per_code=max_per_code,
        settings=settings(declared, values, profile, role),
        options=values,
        reference_form=texts.reference_format,
        files=read_files(
            declared, values, encoding, references=not texts.name, max_per_code=max_per_code
        ),
        role=role,
    )
    _hold_single(opened, against)
    return opened


def judge(opened: Submission, *, profile: str = "plan") -> Verdict:
    """The verdict over a submission, or over a reference that is opened as such.

    Args:
        opened: the submission.
        profile: `plan` or `official`.
    """
    return _checked(_check(opened, profile), None, None, 1, silent)


def _check(opened: Submission, profile: str) -> Check:
    gold = opened.role == REFERENCE and opened.task.metric is not None
    return Check.of(opened, profile, gold=gold)


def _checked(
    check: Check, opening: Opening | None, batch: int | None, jobs: int, step: Step
) -> Verdict:
    """The verdict of a check over all batches."""
    with closing(results(check, opening, jobs, batch)) as each:
        for checked in watched(check.opened, each, attrgetter("names"), step):
            check.add(checked)
    return check.verdict()


def _of_texts(task: Task, values: Mapping[str, str], against: str | None) -> Option:
    """The option whose file is checked against without `--against`; one without a name if none."""
    for option in task.options:
        if option.reference_format and option.name in values and against is None:
            return option
    return Option("", "")


def _hold_single(opened: Submission, against: str | None) -> None:
    """Hold that the texts are given once.

    Raises:
        WrongOption: if `--against` has the format of an option that is also given.
    """
    for option in opened.task.options if against is not None else ():
        form = option.reference_format
        if form and option.name in opened.options and opened.reference_format.name == form:
            raise WrongOption(f"use either --against or --{option.flag}, not both")


def validate_all(
    task: str,
    paths: Sequence[str],
    *,
    profile: str = "plan",
    fail_on: str = "error",
    selection: Selection | None = None,
    step: Step = silent,
    **arguments: Any,
) -> Verdict:
    """Check several submissions to a task, or references, as one.

    Args:
        task: name of the task.
        paths: the submissions.
        profile: as for `validate`.
        fail_on: the lowest severity that fails, in `plan`.
        selection: the findings that are kept; in `official` the verdict does not depend on it.
        step: called after each batch with the documents of all submissions that are done.
        **arguments: further arguments of `validate`, the same for all.
    """
    verdicts = [
        validate(task, path, profile=profile, step=part(step, at, len(paths)), **arguments)
        for at, path in enumerate(paths)
    ]
    findings = (finding for verdict in verdicts for finding in verdict.findings)
    kept = (selection or Selection()).of(findings)
    passed = all(verdict.passed for verdict in verdicts)
    decided = all(verdict.decided for verdict in verdicts)
    joined = msgspec.structs.replace(
        verdicts[0],
        passed=passed,
        decided=decided,
        findings=tuple(kept),
        documents=sum(verdict.documents or 0 for verdict in verdicts),
        records=sum(verdict.records or 0 for verdict in verdicts),
        files_judged=tuple(file for verdict in verdicts for file in verdict.files_judged),
    )
    if profile == "official" or not decided:
        return joined
    return msgspec.structs.replace(joined, passed=not joined.reaches(Severity(fail_on)))


def settings(
    task: Task, values: Mapping[str, str], profile: str, role: Role = SUBMISSION
) -> dict[str, str]:
    """The options of a task that are settings of its formats, and the settings of a profile.

    A reference always has documents, whatever the options say of submissions.

    Raises:
        WrongOption: if an option has a value that it cannot have.
    """
    for option in task.options:
        if option.name in values:
            option.check(values[option.name])
    given = {
        option.name.replace("_", "-"): values[option.name]
        for option in task.options
        if option.is_format_setting
        and option.name in values
        and not (option.without_documents and role == REFERENCE)
    }
    return {**(task.official_settings if profile == "official" else {}), **given}


def judged(
    files: OptionFiles,
    task: Task,
    given: Mapping[str, str],
    pair: tuple[str, str],
    profile: str,
    encoding: str,
) -> OptionFiles:
    """The files of options, with the findings of those that are submissions to another task.

    Args:
        files: as they were read.
        task: the task that is scored.
        given: values as text, by the names of the task's options.
        pair: the reference and the submission that is scored.
        profile: `plan` or `official`.
        encoding: of the files.
    """
    named = [item for item in task.options if item.submission_to and item.name in given]
    sides = {f"--{option.flag}" for option in named}
    # Validation reads these files too; what only the reader of an option finds stays.
    findings = [
        item for item in files.findings if item.side not in sides or item.code.startswith("OPT")
    ]
    for option in named:
        findings += _judged(option, given[option.name], pair, profile, encoding)
    return replace(files, findings=tuple(findings))


def _judged(
    option: Option, path: str, pair: tuple[str, str], profile: str, encoding: str
) -> list[Finding]:
    """The findings about the submission that an option names; its errors block."""
    assert option.submission_to is not None  # noqa: S101 - the caller has seen to it
    task, beside = option.submission_to
    reference, system = pair
    opened = open_submission(
        task, path, against=reference, options={beside: system}, profile=profile, encoding=encoding
    )
    found = judge(opened, profile=profile).findings
    return [
        msgspec.structs.replace(
            item.of(f"--{option.flag}"), blocking=item.severity == Severity.ERROR
        )
        for item in found
        if item.side == SUBMISSION
    ]


def score(
    task: str,
    reference: str,
    system: str,
    *,
    profile: str = "plan",
    lenient: bool = False,
    options: Mapping[str, object] | None = None,
    alignment: bool = True,
    evidence: bool = False,
    intervals: Intervals | None = None,
    batch: int | None = None,
    encoding: str = "utf-8",
    jobs: int = 1,
    step: Step = silent,
) -> Scores:
    """Score a submission.

    Args:
        task: name of the task.
        reference: path of the reference: a folder, file or archive.
        system: path of the submission, in the same forms, or `-`.
        profile: `plan` for the written specification, `official` for the official software.
        lenient: score what can be scored in spite of blocking findings.
        options: values by the names of the task's options, as text or typed.
        alignment: whether the table `alignment` is wanted; it costs memory.
        evidence: whether texts of documents are kept for reports; they cost memory.
        intervals: how confidence intervals are drawn, where they are wanted.
        batch: documents at a time, by default those of the task; the numbers do not depend on it.
        encoding: of the files.
        jobs: how many processes work on batches; the numbers do not depend on it.
        step: called after each batch with the documents that are done, and their number, which
            is None if it is known only after reading.

    Raises:
        Refused: if there are blocking findings, unless `lenient`; also then if the official
            software gives no number at all.
        KeyError: for an unknown task.
        FileNotFoundError: if a path does not exist.
    """
    run = scored(
        task,
        reference,
        system,
        profile=profile,
        lenient=lenient,
        options=options,
        alignment=alignment,
        evidence=evidence,
        batch=batch,
        encoding=encoding,
        jobs=jobs,
        step=step,
    )
    return run.scores(intervals)


def scored(
    task: str,
    reference: str,
    system: str,
    *,
    batch: int | None = None,
    jobs: int = 1,
    step: Step = silent,
    **arguments: Any,
) -> Run:
    """Count what a submission is scored by; the arguments and errors are those of `score`."""
    given = {"task": task, "reference": reference, "system": system, **arguments}
    run = opened_run(**given)
    opening = Opening("hlteval.workflows.run.engine:opened_run", given)
    with closing(results(run, opening, jobs, batch)) as each:
        for counted in watched(run.opened, each, attrgetter("checked.names"), step):
            run.add(counted)
    conclude(run, batch)
    return run


def conclude(run: Run, batch: int | None = None) -> None:
    """Judge a run to which all batches are added; its errors are those of `score`."""
    run.metric.finish()
    if not run.uncounted:
        run.check.findings += run.metric.judge(run.counts)
    run.judged = run.check.verdict()
    run.refuse()
    if run.uncounted:  # what seemed to block does not
        run.count_all(batch)
        run.refuse()


def opened_run(
    task: str,
    reference: str,
    system: str,
    *,
    profile: str = "plan",
    lenient: bool = False,
    options: Mapping[str, object] | None = None,
    alignment: bool = True,
    evidence: bool = False,
    encoding: str = "utf-8",
) -> Run:
    """A run before anything is read; the arguments and errors are those of `score`."""
    declared = load(task)
    given = merged(declared, options or {})
    files = read_files(declared, given, encoding)
    files = judged(files, declared, given, (reference, system), profile, encoding)
    metric = declared.scorer(profile, metric_options(declared, given, files))
    opened = submission(
        declared,
        system,
        reference,
        encoding=encoding,
        settings=settings(declared, given, profile),
        options=given,
        files=files,
    )
    check = Check.of(opened, profile, gold=True)
    return Run(
        check, metric, lenient=lenient, alignment=alignment, encoding=encoding, evidence=evidence
    )


def measure_names(task: str, profile: str, options: Mapping[str, object]) -> list[str]:
    """The measures of the tables of scores, in order; nothing is read for them but the options.

    Raises:
        WrongOption: if an option has a value that it cannot have.
    """
    declared = load(task)
    metric = declared.scorer(profile, metric_options(declared, merged(declared, options)))
    _, tables = metric.score(metric.total([]))
    return list(tables["scorings"]["measure"].unique(maintain_order=True))
