"""Annotators: the annotation of each, from own files or one that names them; measures of pairs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

import numpy as np
import polars as pl

from hlteval.converters import Format, ReadResult
from hlteval.findings import REFERENCE, FieldRef, Finding, Findings, finding
from hlteval.findings.counts import first_names
from hlteval.representation import TABLES, Corpus, align, of_documents
from hlteval.results.agreement import PairMeasure
from hlteval.results.verdict import Verdict
from hlteval.scoring.intervals import method
from hlteval.scoring.metric import CannotCount, Limits, Metric
from hlteval.sources import Member, Unreadable
from hlteval.tasks.agreement import Agreement
from hlteval.tasks.options import metric_options
from hlteval.tasks.task import Task
from hlteval.workflows.processes.batches import Progress
from hlteval.workflows.run.batches import Pair
from hlteval.workflows.run.checks import Check
from hlteval.workflows.run.engine import open_check, statistics
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import NOTHING_TO_SCORE, Refused, digest_of

#: The codes of the findings about annotators, or their prefixes.
CODES = ("AGR",)
#: The codes that follow from what cannot be read.
_FOLLOWING = frozenset({"AGR101", "AGR103", "AGR104"})
#: The tables whose rows name their annotator.
_HAVING = tuple(
    name for name, table in TABLES.items() if "annotator" in table.schema and name != "documents"
)


@dataclass(frozen=True)
class Annotator:
    """One annotator and the annotation.

    Attributes:
        name: of the annotator.
        corpus: the annotation.
        documents: the names of the documents that count as annotated.
        members: the files of `corpus.sources`, in order.
        form: the format of these files, which finds places in them.
        check: the check of the annotation.
        verdict: its verdict.
    """

    name: str
    corpus: Corpus
    documents: tuple[str, ...]
    members: tuple[Member, ...]
    form: Format
    check: Check
    verdict: Verdict

    @property
    def digest(self) -> str:
        """The digest of the files."""
        return digest_of(self.corpus.sources.select("member", "format", "sha256").rows())


def read(path: str, name: str, step: Progress, **arguments: Any) -> Annotator:
    """Read an annotation and check it as a reference.

    Args:
        path: the annotation.
        name: of its annotator.
        step: called after each batch.
        **arguments: those of `Request` beside the path.
    """
    check = _open_check(path, **arguments)
    corpora: list[Corpus] = []
    members: list[Member] = []
    for pair in chain.from_iterable(check.batches(None)):
        check.add(check.check_batch(pair))
        corpora.append(pair.system.corpus)
        members += pair.system.members
        step(len(check.documents), check.opened.total)
    corpus = Corpus.concat(corpora) if corpora else Corpus()
    documents = tuple(sorted(check.opened.selected_documents or corpus.documents["name"]))
    form = check.opened.format
    return Annotator(name, corpus, documents, tuple(members), form, check, check.verdict())


def _open_check(path: str, **arguments: Any) -> Check:
    """Open the check of an annotation as a reference, beside the files that the task provides.

    Where a task has files that come with it, annotators have them from `against`.
    """
    check = open_check(Request(system=path, role=REFERENCE, **arguments))
    opened, provided = check.opened, check.opened.task.provided_suffixes
    texts = opened.companion_texts
    if not provided or texts is None or opened.system.corpus is not None:
        return check
    own = {member.basename for member in opened.system.members}
    added = [
        member
        for member in texts.members
        if member.basename.endswith(provided) and member.basename not in own
    ]
    members = sorted((*opened.system.members, *added), key=lambda member: member.basename)
    system = replace(opened.system, members=tuple(members))
    return Check.of(replace(opened, system=system, reference=None), "plan", gold=True)


def inside(
    annotation: Annotator, judged: Sequence[tuple[str, Mapping[str, str]]]
) -> list[Annotator]:
    """The annotators that one annotation names, each with the documents that name the annotator.

    Rows without an annotator are of none.

    Args:
        annotation: the annotation.
        judged: the tables of what is judged, with values of columns of the rows that count.
    """
    corpus = annotation.corpus
    names = corpus.documents.select("name", document="row")
    rows = [
        getattr(corpus, table)
        .filter(*(pl.col(column) == value for column, value in only.items()), True)
        .select("document", "annotator")
        for table, only in judged
        if table in _HAVING
    ]
    empty = pl.DataFrame(schema={"document": pl.Int64, "annotator": pl.String})
    found = pl.concat([empty, *rows]).drop_nulls().join(names, on="document").unique()
    documents = found.sort("annotator", "name").group_by("annotator", maintain_order=True)
    return [_only(annotation, name, {*own["name"]}) for (name,), own in documents]


def _only(annotation: Annotator, name: Any, documents: set[str]) -> Annotator:
    """The annotation by one annotator, of the documents that name the annotator."""
    corpus = annotation.corpus
    kept: dict[str, pl.DataFrame] = {}
    for table in _HAVING:
        rows = getattr(corpus, table).filter(pl.col("annotator") == name)
        kept[table] = rows.with_columns(annotator=pl.lit(None, pl.String))
    for table, declared in TABLES.items():
        for column, target in declared.references:
            if target in _HAVING and target != table:  # rows of rows that have an annotator
                rows = kept.get(table, getattr(corpus, table))
                known = kept[target]["row"].implode()
                kept[table] = rows.filter(pl.col(column).is_null() | pl.col(column).is_in(known))
    return replace(
        annotation,
        name=name,
        corpus=corpus.replace(**kept),
        documents=tuple(document for document in annotation.documents if document in documents),
    )


def hold(
    annotators: Sequence[Annotator], paths: Sequence[str], task: str, *, lenient: bool
) -> Findings:
    """The findings about all annotations, if they can be compared.

    Raises:
        Refused: if they cannot, or have blocking findings, unless `lenient`.
    """
    verdicts = {id(item.check): item.verdict for item in annotators}
    found = [item for verdict in verdicts.values() for item in verdict.findings]
    blocking = [item for item in found if item.blocking]
    own = [
        item
        for item in (item.of(REFERENCE) for item in about(annotators, paths))
        if not (blocking and item.code in _FOLLOWING)
    ]
    verdict = Verdict(task, "plan", passed=False, findings=Findings([*found, *own]), side=REFERENCE)
    nothing = [item for item in blocking if item.code in NOTHING_TO_SCORE]
    nothing += [item for item in own if item.blocking]
    if nothing or (blocking and not lenient):
        fix = "fix the blocking findings"
        fix += "" if nothing else ", or use --lenient to compare the rest"
        raise Refused(verdict, "nothing was compared because of blocking findings", fix)
    return verdict.findings


def about(annotators: Sequence[Annotator], paths: Sequence[str]) -> Iterator[Finding]:
    """Check the annotators of a comparison, taken together."""
    if len(annotators) < 2:
        names = ", ".join(f"{item.name} only" for item in annotators) or "nobody"
        yield finding("AGR101", file=paths[0], names=names)
        return
    real = [os.path.realpath(path) for path in paths]
    for at, path in enumerate(paths):
        if real[at] in real[:at]:
            yield finding("AGR102", file=path, other=paths[real.index(real[at])])
    files = [(item.digest, item.check.opened.system.path, item.name) for item in annotators]
    for (one, first, name), (other, second, copy) in combinations(files, 2):
        if len(paths) > 1 and one == other and os.path.realpath(first) != os.path.realpath(second):
            yield finding("AGR105", file=second, name=copy, other=name)
    sets = [set(item.documents) for item in annotators]
    if not any(own & other for own, other in combinations(sets, 2)):
        examples = []
        for item in annotators[:2]:
            examples.append(f"{item.name} has {first_names(item.documents or ['none'], 1)}")
        yield finding("AGR103", first=examples[0], second=examples[1])
        return
    union = set().union(*sets)
    for item, (_, file, name) in zip(annotators, files, strict=True):
        missing = sorted(union - set(item.documents))
        if missing:
            number = f"{len(missing):,}"
            yield finding("AGR104", file=file, name=name, number=number, example=missing[0])


def places(
    annotator: Annotator, wanted: Mapping[int, Collection[int]]
) -> dict[tuple[int, int], str]:
    """File and line of records of an annotation; each file is searched once.

    Args:
        annotator: whose annotation it is.
        wanted: records by the number of their file.
    """
    found: dict[tuple[int, int], str] = {}
    for origin, records in wanted.items():
        member = annotator.members[origin]
        try:
            located = annotator.form.locate(member, [FieldRef(record) for record in records])
        except Unreadable:
            located = [None] * len(records)
        for record, location in zip(records, located, strict=True):
            line = f":{location.span.line}" if location else ""
            found[origin, record] = f"{member.display}{line}"
    return found


UNDEFINED = "undefined for these annotations"


@dataclass(frozen=True)
class PairScorer:
    """The measures of a task that annotators are compared by.

    Attributes:
        task: the task.
        declared: its declaration for annotators.
        options: the values of its options.
        intervals: how confidence intervals are computed; without them there are none.
    """

    task: Task
    declared: Agreement
    options: Mapping[str, str]
    intervals: Intervals | None

    def measures(self, first: Annotator, second: Annotator) -> Iterator[PairMeasure]:
        """The measures of two annotators, on the documents that both annotated.

        These are the declared ones, or else the one that ranks; a value is the mean of both
        directions.
        """
        if self.task.metric is None:
            return
        ranking = self.task.ranking("plan", self.options)
        names: Sequence[str] = (ranking,)
        if self.declared.measures and not self.task.only_measure(self.options):
            names = self.declared.measures
        shared = sorted({*first.documents} & {*second.documents})
        values = {**self.declared.options, **self.options}
        options = metric_options(self.task, values, first.check.opened.files)
        metric = self.task.scorer("plan", options)
        sides: list[pl.DataFrame] = []
        undefined = UNDEFINED
        try:
            for reference, other in ((first, second), (second, first)):
                sides.append(self._counts(metric, reference, other, shared))
        except CannotCount as reason:
            sides, undefined = [], reason.finding.message
        finally:
            metric.finish()
        if sides:
            known = metric.score(metric.total([]))[0]
            names = [name for name in names if name in known] or [ranking]
        for name in names:
            forward = backward = value = None
            interval: Limits | str = undefined
            if sides:
                (part,) = metric.decompose((name,))
                forward, backward = (part.score(part.total([own]))[0].get(name) for own in sides)
            if forward is not None and backward is not None:
                value = (forward + backward) / 2
                interval = self._interval(part, name, value, sides)
            yield PairMeasure(
                measure=name,
                first=first.name,
                second=second.name,
                forward=forward,
                backward=backward,
                value=value,
                interval=None if isinstance(interval, str) else interval,
                documents=len(shared),
                reason=interval if isinstance(interval, str) else "",
            )

    def _counts(
        self, metric: Metric, reference: Annotator, other: Annotator, documents: Sequence[str]
    ) -> pl.DataFrame:
        """Count the annotation of an annotator, with another one as the reference."""
        names = pl.Series(documents, dtype=pl.String)
        gold = of_documents(_with_documents(reference.corpus, documents), names)
        own = of_documents(self.declared.as_system(_with_documents(other.corpus, documents)), names)
        gold, own = align(gold, own)
        pair = Pair(ReadResult(gold), ReadResult(own))
        return statistics(reference.check.opened, metric, pair)[0]

    def _interval(
        self, part: Metric, name: str, value: float, sides: Sequence[pl.DataFrame]
    ) -> Limits | str:
        """The interval of the mean, from replicates over the same documents in both directions."""
        wanted = self.intervals
        if wanted is None:
            return ""
        documents = sorted({name for counts in sides for name in part.documents(counts)})
        how = method(
            part, len(documents), resamples=wanted.replicates, confidence=wanted.confidence,
            seed=wanted.seed,
        )  # fmt: skip
        if how is None:
            return "no method is known to be valid"
        if missing := how.missing(part, name):
            return missing
        within = self.task.limits(name)
        if len(documents) < how.fewest:
            return how.interval(value, np.array([value]), within)
        nothing = np.array([])
        one, two = (how.replicates(part, own, documents).get(name, nothing) for own in sides)
        return how.interval(value, (one + two) / 2, within)


def _with_documents(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """Return a corpus that has all documents of these names, those without annotations too."""
    known = set(corpus.documents["name"])
    absent = [name for name in names if name not in known]
    if not absent:
        return corpus
    more = Corpus(documents=[{"row": row, "name": name} for row, name in enumerate(absent)])
    return Corpus.concat([corpus, more])
