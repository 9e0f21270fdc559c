"""The measures of a task for two annotators: each is scored against the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from hlteval.converters import ReadResult
from hlteval.representation import Corpus, align, of_documents
from hlteval.results.agreement import PairMeasure
from hlteval.scoring.intervals import method
from hlteval.scoring.metric import CannotCount, Limits, Metric
from hlteval.tasks.agreement import Agreement
from hlteval.tasks.options import metric_options
from hlteval.tasks.task import Task
from hlteval.workflows.annotators import Annotator
from hlteval.workflows.batches import Pair
from hlteval.workflows.runs import Intervals, Run

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
        run = Run(reference.check, metric, lenient=True, alignment=False)
        names = pl.Series(documents, dtype=pl.String)
        gold = of_documents(_with_documents(reference.corpus, documents), names)
        own = of_documents(self.own.as_system(_with_documents(other.corpus, documents)), names)
        gold, own = align(gold, own)
        return run.statistics(Pair(ReadResult(gold), ReadResult(own)))[0]

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
