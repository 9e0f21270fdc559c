"""Machine translation: METEOR 1.5, BLEU, chrF, chrF++ and TER (LoReHLT 2019 plan, 15.2.2).

Scoring as the plan has it: (1) normalise both sides (`segments`), (2) count each segment against
its references, (3) compute the values of the system, of documents and of segments, or of the
segments that justify situation frames, from sums of these counts (`measures`).

Conventions:
    Counts are a row per segment of the reference: its place, whether it is scored, and the counts
    of each metric in columns `<metric>.<number>`. They add. METEOR is from 0 to 1, all other values
    are in percent, as sacrebleu has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of, fill
from hlteval.representation import Corpus
from hlteval.scoring.metric import AdditiveMetric, Replicates, Sums, Tables, scorings
from hlteval.scoring.mt import segments as mt
from hlteval.scoring.mt.measures import Measure, measure
from hlteval.scoring.mt.strings import Segments

#: The columns of the counts beside those of metrics.
PLACES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "document": pl.String,
    "order": pl.Int64,
    "segment": pl.String,
    "scored": pl.Boolean,
} | {"references": pl.Int64, "present": pl.Boolean, "more": pl.Int64}


@dataclass(frozen=True)
class Translation(AdditiveMetric):
    """How translations are scored.

    Attributes:
        options: what was chosen.
    """

    options: mt.TranslationOptions = field(default_factory=mt.TranslationOptions)

    @cached_property
    def measures(self) -> Mapping[str, Measure]:
        """The metrics by name."""
        return {name: measure(name, self.options) for name in self.options.metrics}

    @cached_property
    def _columns(self) -> list[str]:
        """The columns of the counts of all metrics."""
        metrics = self.measures.items()
        return [f"{name}.{number}" for name, each in metrics for number in range(each.size)]

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of each segment of the reference, and its texts.

        Examples:
            >>> row = {"row": 0, "document": 0, "origin": 0, "record": 1, "segment": "segment-0"}
            >>> gold = [row | {"role": "reference", "text": "Who did the vaccinations first?"}]
            >>> said = [row | {"role": "system", "text": "Who did vaccinations first?"}]
            >>> documents = [{"row": 0, "name": "d1"}]
            >>> reference = Corpus(documents=documents, translations=gold)
            >>> metric = Translation(options=mt.TranslationOptions(metrics=("ter",)))
            >>> system = Corpus(documents=documents, translations=said)
            >>> counts, _ = metric.statistics(reference, system)
            >>> metric.score(metric.total([counts]))[0]["ter"]
            20.0
        """
        rows = mt.segment_pairs(reference, system, self.options)
        scored = rows.filter("scored")
        texts = (scored["translation"].to_list(), scored["references"].to_list())
        counts = [np.zeros((0, len(self._columns)))]
        for block in Segments(*texts, self.options.lowercase).blocks():
            none, metrics = np.zeros((len(block.translations), 0)), self.measures.values()
            counts.append(np.hstack([none, *(metric.counts(block) for metric in metrics)]))
        places = rows.with_columns(pl.col("references").list.len().cast(pl.Int64)).select(*PLACES)
        columns = pl.DataFrame(np.vstack(counts), dict.fromkeys(self._columns, pl.Float64))
        counted = pl.concat([places.filter("scored"), columns], how="horizontal")
        total = self.total([counted, places.filter(~pl.col("scored"))])
        return total, rows if alignment else None

    def finish(self) -> None:
        """End the process of METEOR."""
        for metric in self.measures.values():
            metric.finish()

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all segments, by document."""
        schema = {**PLACES, **dict.fromkeys(self._columns, pl.Float64)}
        rows = pl.concat([pl.DataFrame(schema=schema), *counts], how="diagonal").select(*schema)
        return rows.sort("document", "order", maintain_order=True)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values of the system, and tables of documents and segments.

        METEOR is undefined, not absent, where no metrics were chosen.
        """
        scored = total.filter("scored")
        sums = [math.fsum(each.to_list()) for each in scored.select(self._columns)]
        every = self._values(np.array([sums], np.float64))
        values = {name: float(every[name][0]) if scored.height else None for name in self.measures}
        if self.options.metrics == mt.DEFAULT_METRICS:  # the plan names it, but nobody asked for it
            values[mt.METEOR] = None
        values["segments"] = scored.height
        head = {"evaluation": "Translation", "scoring": "system"}
        rows = ({**head, "measure": name, "value": value} for name, value in values.items())
        documents = self._with_values(self._by_document(scored), "document", "segments")
        segments = self._with_values(scored, "document", "segment", alone=True)
        tables = {"scorings": scorings(rows), "documents": documents, "segments": segments}
        if self.options.sf_scores:
            tables |= correlation_tables(documents, self.options.metrics, self.options.sf_scores)
        return values, tables

    def _with_values(self, sums: pl.DataFrame, *keys: str, alone: bool = False) -> pl.DataFrame:
        """The keys and the values of rows of counts, a column per metric."""
        values = self._values(_matrix(sums, self._columns), alone=alone).items()
        return sums.select(*keys, *(pl.Series(name, each, pl.Float64) for name, each in values))

    def _values(self, sums: NDArray[np.float64], *, alone: bool = False) -> Replicates:
        """The values of rows of the counts of all metrics, and of what they are made of."""
        values: Replicates = {}
        for name, metric in self.measures.items():
            own, sums = np.split(sums, [metric.size], axis=1)
            parts = metric.values(own, alone=alone).items()
            values |= {name + end: each for end, each in parts}
        return values

    def _by_document(self, scored: pl.DataFrame) -> pl.DataFrame:
        """The number of segments of each document, and the sums of their counts."""
        sums = (pl.len().cast(pl.Int64).alias("segments"), pl.col(self._columns).sum())
        return scored.group_by("document", maintain_order=True).agg(*sums)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Which segments are not scored, and the signatures of sacrebleu and METEOR."""
        return tuple(self._notes(total))

    def _notes(self, total: pl.DataFrame) -> Iterator[str]:
        scored = total.filter("scored")
        if (only := self.options.only) is not None:
            found = len(only & {*total.select("document", "segment").iter_rows()})
            verb, segments = "is" if found == 1 else "are", count_of(len(only), "segment")
            yield f"only a subset is scored: {found:,} of its {segments} {verb} in the reference"
        if (justified := self.options.justifications) is not None:
            right, frames = justified.correct.height, justified.submitted.height
            verb, every = "is" if right == 1 else "are", count_of(frames, "situation frame")
            yield f"justifications: {right:,} of {every} {verb} correct"
            if bare := right - justified.frames.height:
                names = "{bare:,} correct situation {bare|frame names|frames name} no segment"
                yield fill(names, {"bare": bare})
        if empty := int((total["references"] == 0).sum()):
            yield f"{count_of(empty, 'segment')} with empty references: not scored"
        if missing := scored.filter(~pl.col("present")).height:
            yield f"{count_of(missing, 'segment')} without a translation: scored as empty"
        if more := int(scored["more"].sum()):
            further = count_of(more, "further translation")
            yield f"{further} of segments: only the first of a segment is scored"
        if not scored.height:
            yield "no segment is scored"
            return
        numbers = scored["references"].unique().to_list()
        for name, metric in self.measures.items():
            signature = metric.signature(numbers[0] if len(numbers) == 1 else -1)
            yield f"signature of {name}: {signature}"

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """With justifications, what assessors see: these segments and their neighbours."""
        justified, neighbours = self.options.justifications, self.options.neighbours
        return {"assessment": assessment(aligned, justified, neighbours)} if justified else {}, {}

    def decompose(self, names: Iterable[str] | None = None) -> tuple[Translation, ...]:
        """The metric of the named values; it lacks those that are not computed.

        Raises:
            ValueError: for an unknown name.
        """
        if names is None:
            return (self,)
        wanted = {*names} - {"segments"}
        if wanted - {*mt.METRICS}:
            raise ValueError(f"use one of {', '.join(mt.METRICS)}")
        kept = tuple(name for name in self.options.metrics if name in wanted)
        return (replace(self, options=replace(self.options, metrics=kept, sf_scores={})),)

    def documents(self, counts: pl.DataFrame) -> list[str]:
        """The documents of which segments are scored."""
        return super().documents(counts.filter("scored"))

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of the scored segments of each document."""
        sums = self._by_document(counts.filter("scored"))
        named = pl.DataFrame({"document": documents}, schema={"document": pl.String})
        placed = named.join(sums, on="document", how="left", maintain_order="left").fill_null(0)
        return {"": _matrix(placed, ["segments", *self._columns])}

    def values_of(self, sums: Sums) -> Replicates:
        """The values of sums of these counts."""
        segments, every = sums[""][:, 0], self._values(sums[""][:, 1:])
        values = {name: np.where(segments > 0, every[name], np.nan) for name in self.measures}
        return {"segments": segments, **values}


def _matrix(rows: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.float64]:
    return rows.select(columns).to_numpy().astype(np.float64).reshape(rows.height, len(columns))


def assessment(every: pl.DataFrame, justified: mt.Justifications, neighbours: int) -> pl.DataFrame:
    """The segments that assessors see (section 15.2.3): justifications and their neighbours.

    Args:
        every: all segments, as `segments.segment_pairs` gives them.
        justified: the frames that were judged correct, with their justifications.
        neighbours: how many segments before and after are shown.

    Returns:
        A row per frame and segment: `document`, `justification`, `type` and `place` of the frame,
        `distance` (negative before the justification), `segment`, `source`, `references` (one per
        line) and `translation`.
    """
    frames = justified.frames.unique(maintain_order=True).rename({"segment": "justification"})
    order = every.select("document", justification="segment", middle="order")
    texts = ("source", pl.col("references").list.join("\n"), "translation")
    rows = frames.join(order, on=["document", "justification"], maintain_order="left")
    segments = every.select("document", "order", "segment", *texts)
    rows = rows.join(segments, on="document", maintain_order="left_right")
    distance = pl.col("order") - pl.col("middle")
    near = rows.filter(distance.abs() <= neighbours)
    frame = ("document", "justification", "type", "place", distance.alias("distance"))
    return near.select(*frame, "segment", "source", "references", "translation")


#: The inputs in which situation frames are found.
INPUTS: Final = ("source", "reference", "mt")
#: Fewer documents give no correlation.
FEWEST: Final = 3


def correlation_tables(
    documents: pl.DataFrame, metrics: Sequence[str], sf_scores: Mapping[str, Mapping[str, float]]
) -> dict[str, pl.DataFrame]:
    """The mean scores of situation frames, and their correlations with those of translations.

    Do better translations help (section 15.2.1)? Situation frames are scored on the source, on the
    reference translation and on the output of a translation system. Over the documents that have
    both scores, their score on the output, and its loss to the reference, are correlated with the
    scores of the translation.

    Args:
        documents: a row per document, with a column per metric.
        metrics: the metrics.
        sf_scores: the scores of situation frames by input and document.

    Returns:
        `sf_performance` (`input`, `documents`, `mean`, and `difference`, that of `mt` less it over
        the documents of both) and `sf_correlation` (`metric`, `score`, `documents`, `pearson`,
        `spearman`, `kendall`).

    Examples:
        >>> documents = pl.DataFrame({"document": ["a", "b", "c"], "bleu": [10.0, 20.0, 30.0]})
        >>> found = correlation_tables(documents, ["bleu"], {"mt": {"a": 0.1, "b": 0.2, "c": 0.3}})
        >>> found["sf_correlation"].with_columns(pl.col("pearson").round(6)).row(0)
        ('bleu', 'mt', 3, 1.0, 1.0, 1.0)
    """
    names = documents["document"].to_list()
    inputs = ((name, sf_scores.get(name, {})) for name in INPUTS)
    known = {name: np.array([own.get(each, np.nan) for each in names]) for name, own in inputs}
    performance: list[tuple[object, ...]] = []
    for name, scores in known.items():
        own, differences = ~np.isnan(scores), known["mt"] - scores
        both = ~np.isnan(differences)
        if own.any():
            difference = float(differences[both].mean()) if both.any() else None
            performance.append((name, int(own.sum()), float(scores[own].mean()), difference))
    compared = {"mt": known["mt"]}
    compared |= {f"mt - {name}": known["mt"] - known[name] for name in INPUTS[:2]}
    correlations: list[tuple[object, ...]] = []
    for metric in metrics:
        values = documents[metric].to_numpy()
        for name, scores in compared.items():
            both = ~np.isnan(scores)
            if both.any():
                coefficients = _coefficients(values[both], scores[both])
                correlations.append((metric, name, int(both.sum()), *coefficients))
    kinds = {"documents": pl.Int64, **dict.fromkeys(("mean", "difference"), pl.Float64)}
    numbers = dict.fromkeys(("pearson", "spearman", "kendall"), pl.Float64)
    text = {"metric": pl.String, "score": pl.String, "documents": pl.Int64}
    return {
        "sf_performance": pl.DataFrame(performance, {"input": pl.String, **kinds}, orient="row"),
        "sf_correlation": pl.DataFrame(correlations, {**text, **numbers}, orient="row"),
    }


def _coefficients(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float | None, ...]:
    """Pearson's r, Spearman's rho, Kendall's tau-b; None for few documents or equal values."""
    from scipy import stats  # takes longer than a score: only for who gives scores of frames

    if one.size < FEWEST or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None, None, None
    functions = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    return tuple(float(function(one, other).statistic) for function in functions)
