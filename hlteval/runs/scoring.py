"""Scoring: the numbers of a submission against a reference."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from hlteval import __version__
from hlteval.converters import load as load_format
from hlteval.findings import Finding
from hlteval.reports.scores import Scores
from hlteval.reports.verdict import Verdict
from hlteval.representation import Corpus
from hlteval.runs.batches import BATCH, NothingGiven, Pair, Submission, submission
from hlteval.runs.validation import inside, outside, settings, verdict
from hlteval.sources import open_source, sha256
from hlteval.tasks import load
from hlteval.tasks.options import merged
from hlteval.tasks.task import Listing, Metric, Talkative, Task

_SCORINGS = {
    "evaluation": pl.String,
    "scoring": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
}


class Refused(ValueError):
    """A submission was not scored; `verdict` says why, and `cure` what to do."""

    def __init__(self, refused: Verdict, reason: str, cure: str) -> None:
        codes = sorted({finding.code for finding in refused.findings if finding.blocking})
        super().__init__(f"{reason} ({', '.join(codes)})")
        self.verdict, self.cure = refused, cure


def score(
    task: str,
    reference: str,
    system: str,
    *,
    profile: str = "plan",
    lenient: bool = False,
    options: Mapping[str, str] | None = None,
    alignment: bool = True,
    batch: int = BATCH,
    encoding: str = "utf-8",
    step: Callable[[], None] = lambda: None,
) -> Scores:
    """Score a submission.

    Args:
        task: name of the task.
        reference: path of the reference: a folder, file or archive.
        system: path of the submission, in the same forms, or `-`.
        profile: `plan` for the written specification, `official` for the official software.
        lenient: score what can be scored in spite of blocking findings.
        options: values by the names of the task's options.
        alignment: whether the table `alignment` is wanted; it costs memory.
        batch: documents at a time; the numbers do not depend on it.
        encoding: of the files.
        step: called after each batch.

    Raises:
        Refused: if there are blocking findings, unless `lenient`; also then if the official
            software gives no number at all.
        KeyError: for an unknown task.
        FileNotFoundError: if a path does not exist.
    """
    declared = load(task)
    declared.hold_profile(profile)
    given = merged(declared, {name: value for name, value in (options or {}).items() if value})
    opened = submission(
        declared,
        system,
        reference,
        encoding=encoding,
        settings=settings(declared, given),
        options=given,
    )
    if declared.compares not in opened.reference_format.tables:
        raise NothingGiven(f"{reference} holds no {declared.compares} to score against")
    metric = declared.metric(profile, {**given, "encoding": encoding})
    segments, told = _segments(declared, given)
    run = _Run(opened, metric, segments, lenient=lenient, alignment=alignment)
    judged = verdict(task, profile, [*told, *outside(opened), *run.batches(batch, step)])
    findings = judged.findings
    if profile == "official" and any(finding.code in declared.crashes for finding in findings):
        cure = "correct them, or use --profile plan"
        raise Refused(
            judged, "the official software crashes on this: there is no official number", cure
        )
    if not lenient and any(finding.blocking for finding in findings):
        cure = "correct what blocks, or score the rest with --lenient"
        raise Refused(judged, "nothing was scored: there are blocking findings", cure)
    return run.scores(judged, given)


@dataclass
class _Run:
    """One scoring: what is collected over the batches."""

    opened: Submission
    metric: Metric
    segments: Corpus
    lenient: bool
    alignment: bool
    counts: list[pl.DataFrame] = field(default_factory=list)
    alignments: list[pl.DataFrame] = field(default_factory=list)
    digests: dict[str, list[tuple[str, str]]] = field(
        default_factory=lambda: {"reference": [], "system": []}
    )

    def batches(self, size: int, step: Callable[[], None]) -> Iterator[Finding]:
        """Take in every batch; the findings come out."""
        for pair in self.opened.pairs(size):
            yield from inside(self.opened, pair)
            self.take(pair)
            step()

    def take(self, pair: Pair) -> None:
        reference = _with_segments(pair.reference.corpus, self.segments)
        counts, alignment = self.metric.statistics(
            reference, pair.system.corpus, alignment=self.alignment
        )
        self.counts.append(counts)
        self.alignments += [] if alignment is None else [alignment]
        for side, reading in (("reference", pair.reference), ("system", pair.system)):
            self.digests[side].extend(reading.corpus.sources.select("member", "sha256").iter_rows())

    def scores(self, judged: Verdict, given: Mapping[str, str]) -> Scores:
        task = self.opened.task
        total = self.metric.total(self.counts)
        metrics, scored = self.metric.score(total)
        tables = (
            dict(scored)
            if isinstance(scored, Mapping)
            else {"scorings": pl.DataFrame(scored, schema=_SCORINGS)}
        )
        if self.alignments:
            tables[task.alignment] = pl.concat(self.alignments)
        more = self.metric if isinstance(self.metric, Talkative) else None
        files = dict(more.files(total)) if more else {}
        if self.alignments and isinstance(self.metric, Listing):
            files |= self.metric.listings(tables[task.alignment])
        return Scores(
            task=task.name,
            profile=judged.profile,
            signature=self.signature(judged.profile, given),
            primary=task.primary[judged.profile],
            metrics={name: metrics[name] for name in task.metrics},
            intervals={},
            tables=tables,
            verdict=judged,
            notes=(*_notes(judged), *(more.notes(total) if more else ())),
            files=files,
        )

    def signature(self, profile: str, given: Mapping[str, str]) -> str:
        """What the numbers depend on, in one line."""
        parts = [f"hlteval:{__version__}", f"task:{self.opened.task.name}", f"profile:{profile}"]
        parts += [f"{side}:{_digest(files)}" for side, files in self.digests.items()]
        formats = {option.name for option in self.opened.task.options if option.format}
        for name, value in given.items():
            files = self.segments.sources.select("member", "sha256").rows()
            parts.append(f"{name}:{_digest(files) if name in formats else _said(value)}")
        return "|".join([*parts, f"lenient:{'yes' if self.lenient else 'no'}"])


def _digest(files: list[tuple[str, str]]) -> str:
    """One digest of several files: of their names without folders and their own digests, sorted."""
    listed = sorted(f"{name.rpartition('/')[2]} {digest}\n" for name, digest in files)
    return hashlib.sha256("".join(listed).encode()).hexdigest()[:16]


def _said(value: str) -> str:
    """An option's value in one line: of a file its digest, else the value."""
    path = Path(value)
    try:
        return sha256(path.read_bytes())[:16] if path.is_file() else value.replace("|", " ")
    except OSError:  # no file can have a name like this
        return value.replace("|", " ")


def _notes(judged: Verdict) -> tuple[str, ...]:
    blocking = [finding for finding in judged.findings if finding.blocking]
    if not blocking:
        return ()
    codes = ", ".join(sorted({finding.code for finding in blocking}))
    return (
        f"scored in spite of {len(blocking)} blocking findings ({codes}): missing documents and "
        "records that cannot be read are left out, all other records count as they stand",
    )


def _segments(task: Task, given: Mapping[str, str]) -> tuple[Corpus, list[Finding]]:
    """The sentences that an option names, with what is wrong with them; none without the option."""
    corpora: list[Corpus] = []
    findings: list[Finding] = []
    for option in task.options:
        if option.name in given and option.format:
            source = open_source(given[option.name])
            readings = list(load_format(option.format).read(source))
            corpora.extend(reading.corpus for reading in readings)
            findings.extend(source.findings)
            findings.extend(finding for reading in readings for finding in reading.findings)
    return Corpus.concat(corpora), findings


def _with_segments(corpus: Corpus, segments: Corpus) -> Corpus:
    """A corpus with the segments of its documents, given by another corpus."""
    if segments.segments.is_empty():
        return corpus
    names = segments.documents.select("name", document="row")
    named = segments.segments.join(names, on="document", suffix="_document").drop("document")
    own = corpus.documents.select(document="row", name_document="name")
    placed = named.join(own, on="name_document").with_columns(origin=pl.lit(0, pl.Int64))
    return corpus.replace(segments=placed.drop("name_document"))
