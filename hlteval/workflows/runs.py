"""Runs: what is collected of a submission and its reference, and the numbers that come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import NamedTuple

import msgspec
import polars as pl

from hlteval.findings import Finding
from hlteval.findings.counts import counted
from hlteval.representation import Corpus, of_documents
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.scoring.by_document import by_document
from hlteval.scoring.evidence import Evidence
from hlteval.scoring.intervals import IntervalSet
from hlteval.scoring.intervals import intervals as resampled
from hlteval.scoring.metric import CannotCount, Metric
from hlteval.workflows.batches import (
    Pair,
    Submission,
)
from hlteval.workflows.checks import Check, Checked
from hlteval.workflows.notes import despite, noted_warnings, of_this_size
from hlteval.workflows.refusals import command, named, refuse
from hlteval.workflows.signatures import File, Files, files_of, signature


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
            tables[task.alignment] = pl.concat(self.alignments)
            error_tables, error_files = metric.error_analysis(tables[task.alignment], total)
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
