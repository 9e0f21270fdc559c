"""Annotators: the annotation of each, from files of their own or from one file that names them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import polars as pl

from hlteval.converters import Format, ReadResult
from hlteval.findings import REFERENCE, FieldRef, Finding, Findings, entry
from hlteval.representation import TABLES, Corpus, align, of_documents
from hlteval.results.agreement import PairMeasure
from hlteval.results.verdict import Verdict
from hlteval.scoring.intervals import method
from hlteval.scoring.metric import CannotCount, Limits, Metric
from hlteval.sources import Member, Unreadable
from hlteval.tasks.agreement import Agreement
from hlteval.tasks.options import metric_options
from hlteval.tasks.task import Task
from hlteval.workflows.processes.batches import Step
from hlteval.workflows.run.batches import Pair
from hlteval.workflows.run.checks import Check
from hlteval.workflows.run.engine import opened_check, statistics
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import NOTHING_TO_SCORE, Refused, digest_of

CODES = ("AGR",)
"""The codes of the findings about annotators, or their prefixes."""
_FOLLOWING = frozenset({"AGR101", "AGR103", "AGR104"})
"""The codes that follow from what cannot be read."""
_HAVING = tuple(
    name for name, table in TABLES.items() if "annotator" in table.schema and name != "documents"
)
"""The tables whose rows name their annotator."""


@dataclass(frozen=True)
class Annotator:
    """What one annotator annotated.

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


def read(path: str, name: str, step: Step, **arguments: Any) -> Annotator:
    """Read an annotation and check it as a reference.

    Args:
        path: the annotation.
        name: of its annotator.
        step: called after each batch.
        **arguments: those of `Request` beside the path.
    """
    check = _opened(path, **arguments)
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


def _opened(path: str, **arguments: Any) -> Check:
    """The check of an annotation as a reference, beside the files that the task provides.

    Where a task has files that come with it, annotators have them from `against`.
    """
    check = opened_check(Request(system=path, role=REFERENCE, **arguments))
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
    for table, column, target in _belonging():
        rows = kept.get(table, getattr(corpus, table))
        known = kept[target]["row"].implode()
        kept[table] = rows.filter(pl.col(column).is_null() | pl.col(column).is_in(known))
    return replace(
        annotation,
        name=name,
        corpus=corpus.replace(**kept),
        documents=tuple(document for document in annotation.documents if document in documents),
    )


def _belonging() -> Iterator[tuple[str, str, str]]:
    """The tables whose rows belong to rows that have an annotator, with the column of these."""
    for name, table in TABLES.items():
        for column, target in table.references:
            if target in _HAVING and target != name:
                yield name, column, target


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
    own = [item for item in about(annotators, paths) if not (blocking and item.code in _FOLLOWING)]
    verdict = Verdict(task, "plan", passed=False, findings=Findings([*found, *own]), side=REFERENCE)
    nothing = [item for item in blocking if item.code in NOTHING_TO_SCORE]
    nothing += [item for item in own if item.blocking]
    if nothing or (blocking and not lenient):
        fix = "fix the blocking findings"
        fix += "" if nothing else ", or use --lenient to compare the rest"
        raise Refused(verdict, "nothing was compared because of blocking findings", fix)
    return verdict.findings


def about(annotators: Sequence[Annotator], paths: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the annotators of a comparison, taken together."""
    if len(annotators) < 2:
        names = ", ".join(f"{item.name} only" for item in annotators) or "nobody"
        yield _finding("AGR101", paths[0], names=names)
        return
    yield from _repeated(annotators, paths)
    every = [set(item.documents) for item in annotators]
    if not any(own & other for own, other in _pairs(every)):
        first, second = (_example(item) for item in annotators[:2])
        yield _finding("AGR103", None, first=first, second=second)
        return
    union = set().union(*every)
    for item in annotators:
        missing = sorted(union - set(item.documents))
        if missing:
            yield _finding(
                "AGR104", _path(item), name=item.name, number=f"{len(missing):,}",
                example=missing[0],
            )  # fmt: skip


def _repeated(annotators: Sequence[Annotator], paths: Sequence[str]) -> Iterator[Finding]:
    """Annotations that are given twice, and different files of the same content."""
    places = [os.path.realpath(path) for path in paths]
    for at, path in enumerate(paths):
        if places[at] in places[:at]:
            yield _finding("AGR102", path, other=paths[places.index(places[at])])
    if len(paths) < 2:
        return
    for (one, first), (other, second) in _pairs([(item.digest, item) for item in annotators]):
        if one == other and os.path.realpath(_path(first)) != os.path.realpath(_path(second)):
            yield _finding("AGR105", _path(second), name=second.name, other=first.name)


def _pairs(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return ((one, other) for at, one in enumerate(items) for other in items[at + 1 :])


def _path(annotator: Annotator) -> str:
    return annotator.check.opened.system.path


def _example(annotator: Annotator) -> str:
    names = annotator.documents
    if not names:
        return f"{annotator.name} has none"
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"{annotator.name} has {names[0]}{more}"


def _finding(code: str, file: str | None, **values: object) -> Finding:
    found = entry(code).finding(values, file=file)
    return msgspec.structs.replace(found, side=REFERENCE)


def places(annotator: Annotator, wanted: Mapping[int, Sequence[int]]) -> dict[tuple[int, int], str]:
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
        own: what it declares for annotators.
        given: the values of its options.
        intervals: how confidence intervals are computed; without them there are none.
    """

    task: Task
    own: Agreement
    given: Mapping[str, str]
    intervals: Intervals | None

    @property
    def names(self) -> tuple[str, ...]:
        """The measures: those that are declared, or else the one that ranks."""
        if self.task.metric is None:
            return ()
        if self.own.measures and not self.task.selected(self.given):
            return self.own.measures
        return (self.task.ranking("plan", self.given),)

    def measures(self, first: Annotator, second: Annotator) -> Iterator[PairMeasure]:
        """The measures of two annotators, on the documents that both annotated."""
        if not self.names:
            return
        shared = sorted({*first.documents} & {*second.documents})
        metric = self._metric(first)
        try:
            forward = self._counts(metric, first, second, shared)
            backward = self._counts(metric, second, first, shared)
        except CannotCount as reason:
            yield from (self._none(name, first, second, reason) for name in self.names)
            return
        finally:
            metric.finish()
        for name in self._computed(metric):
            pair = _Both(self, name, metric, forward, backward)
            yield pair.measure(first.name, second.name, len(shared))

    def _computed(self, metric: Metric) -> tuple[str, ...]:
        """The measures that a metric gives with its options; the one that ranks if it has none."""
        known = metric.score(metric.total([]))[0]
        ranking = self.task.ranking("plan", self.given)
        return tuple(name for name in self.names if name in known) or (ranking,)

    def _metric(self, annotator: Annotator) -> Metric:
        files = annotator.check.opened.files
        values = {**self.own.options, **self.given}
        return self.task.scorer("plan", metric_options(self.task, values, files))

    def _counts(
        self, metric: Metric, reference: Annotator, other: Annotator, documents: Sequence[str]
    ) -> pl.DataFrame:
        """What is counted of an annotator, with another one as the reference."""
        names = pl.Series(documents, dtype=pl.String)
        gold = of_documents(_with_documents(reference.corpus, documents), names)
        own = of_documents(self.own.as_system(_with_documents(other.corpus, documents)), names)
        gold, own = align(gold, own)
        pair = Pair(ReadResult(gold), ReadResult(own))
        return statistics(reference.check.opened, metric, pair)[0]

    def _none(
        self, name: str, first: Annotator, second: Annotator, reason: CannotCount
    ) -> PairMeasure:
        shared = {*first.documents} & {*second.documents}
        return PairMeasure(
            measure=name, first=first.name, second=second.name, forward=None, backward=None,
            value=None, interval=None, documents=len(shared), reason=reason.finding.message,
        )  # fmt: skip


def _with_documents(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """A corpus that has all named documents, those without annotations too."""
    known = set(corpus.documents["name"])
    absent = [name for name in names if name not in known]
    if not absent:
        return corpus
    more = Corpus(documents=[{"row": row, "name": name} for row, name in enumerate(absent)])
    return Corpus.concat([corpus, more])


@dataclass(frozen=True)
class _Both:
    """A measure of two annotators in both directions.

    Attributes:
        scorer: the measures of the task.
        name: of this one.
        metric: that gives it.
        forward: what is counted of the second, with the first as the reference.
        backward: what is counted of the first.
    """

    scorer: PairScorer
    name: str
    metric: Metric
    forward: pl.DataFrame
    backward: pl.DataFrame

    def measure(self, first: str, second: str, documents: int) -> PairMeasure:
        """The values, their mean, and its interval."""
        forward, backward = self._value(self.forward), self._value(self.backward)
        value = None if forward is None or backward is None else (forward + backward) / 2
        found = UNDEFINED if value is None else self._interval(value)
        return PairMeasure(
            measure=self.name, first=first, second=second, forward=forward, backward=backward,
            value=value, interval=None if isinstance(found, str) else found, documents=documents,
            reason=found if isinstance(found, str) else "",
        )  # fmt: skip

    @property
    def _part(self) -> Metric:
        (part,) = self.metric.decompose((self.name,))
        return part

    def _value(self, counts: pl.DataFrame) -> float | None:
        part = self._part
        return part.score(part.total([counts]))[0].get(self.name)

    def _interval(self, value: float) -> Limits | str:
        """The interval of the mean, from replicates over the same documents in both directions."""
        wanted, part = self.scorer.intervals, self._part
        if wanted is None:
            return ""
        sides = (self.forward, self.backward)
        documents = sorted({name for counts in sides for name in part.documents(counts)})
        how = method(
            part, len(documents), resamples=wanted.replicates, confidence=wanted.confidence,
            seed=wanted.seed,
        )  # fmt: skip
        if how is None:
            return "no method is known to be valid"
        if missing := how.missing(part, self.name):
            return missing
        if len(documents) < how.fewest:
            return how.interval(value, np.array([value]), self.scorer.task.limits(self.name))
        nothing = np.array([])
        one, other = (
            how.replicates(part, counts, documents).get(self.name, nothing) for counts in sides
        )
        return how.interval(value, (one + other) / 2, self.scorer.task.limits(self.name))
