"""Machine translation: METEOR 1.5, BLEU, chrF, chrF++ and TER (LoReHLT 2019 plan, 15.2.2).

Scoring as the plan has it: (1) normalise both sides (`segments`, `placeholders`), (2) count each
segment against its references (`meteor_process`, `string_metrics`), (3) compute the values of the
system, of documents and of segments, or of the segments that justify situation frames, from sums of
these counts (`meteor`, `string_metrics`).

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
from hlteval.scoring.metric import Metric, Replicates, Tables, Weights, scorings
from hlteval.scoring.mt.measures import Measure, measure
from hlteval.scoring.mt.segments import (
    DEFAULT_METRICS,
    METEOR,
    METRICS,
    Justifications,
    TranslationOptions,
    paired,
)

# What a reader of the scores of translations must know: what was not scored, and signatures.


def notes(
    total: pl.DataFrame, options: TranslationOptions, measures: Mapping[str, Measure]
) -> Iterator[str]:
    """The notes, in order.

    Args:
        total: the counts of all segments.
        options: what was chosen.
        measures: the metrics, for their signatures.
    """
    scored = total.filter("scored")
    yield from _subset(total, options)
    yield from _justifications(options)
    empty = int((total["references"] == 0).sum())
    if empty:
        yield f"{count_of(empty, 'segment')} with empty references: not scored"
    missing = scored.filter(~pl.col("present")).height
    if missing:
        yield f"{count_of(missing, 'segment')} without a translation: scored as empty"
    if more := int(scored["more"].sum()):
        further = count_of(more, "further translation")
        yield f"{further} of segments: only the first of a segment is scored"
    if not scored.height:
        yield "no segment is scored"
        return
    numbers = scored["references"].unique().to_list()
    references = numbers[0] if len(numbers) == 1 else -1
    for name, one in measures.items():
        yield f"signature of {name}: {one.signature(references)}"


def _subset(total: pl.DataFrame, options: TranslationOptions) -> Iterator[str]:
    only = options.only
    if only is None:
        return
    found = len(only & {*total.select("document", "segment").iter_rows()})
    of_all = fill(
        "{found:,} of its {count:,} {count|segment|segments} {found|is|are} in the reference",
        {"found": found, "count": len(only)},
    )
    yield f"only a subset is scored: {of_all}"


def _justifications(options: TranslationOptions) -> Iterator[str]:
    found = options.justifications
    if found is None:
        return
    right, all_frames = found.correct.height, found.submitted.height
    yield fill(
        "justifications: {right:,} of {count:,} situation {count|frame|frames} "
        "{right|is|are} correct",
        {"right": right, "count": all_frames},
    )
    if bare := right - found.frames.height:
        yield fill(
            "{bare:,} correct situation {bare|frame names|frames name} no segment", {"bare": bare}
        )


# What assessors see (section 15.2.3): justification segments, and the segments around them.


def table(aligned: pl.DataFrame, found: Justifications, neighbours: int) -> pl.DataFrame:
    """A row per frame and segment: the justification (`distance` 0) and its neighbours.

    Args:
        aligned: all segments, as `segments.paired` gives them.
        found: the frames that were judged correct, with their justifications.
        neighbours: how many segments before and after are shown.

    Returns:
        `document`, `justification`, `type` and `place` of the frame, `distance` (negative before
        the justification), `segment`, `source`, `references` (one per line) and `translation`.
    """
    frames = found.frames.unique(maintain_order=True).rename({"segment": "justification"})
    order = aligned.select("document", justification="segment", middle="order")
    placed = frames.join(order, on=["document", "justification"], maintain_order="left")
    texts = aligned.select(
        "document",
        "order",
        "segment",
        "source",
        pl.col("references").list.join("\n"),
        "translation",
    )
    rows = placed.join(texts, on="document", maintain_order="left_right")
    rows = rows.with_columns(distance=pl.col("order") - pl.col("middle"))
    shown = rows.filter(pl.col("distance").abs() <= neighbours)
    return shown.select(
        "document",
        "justification",
        "type",
        "place",
        "distance",
        "segment",
        "source",
        "references",
        "translation",
    )


# Situation frames against translations (section 15.2.1): do better translations help?
#
# Situation frames are scored on the source, on the reference translation and on the output of a
# translation system. Over the documents that have both scores, their score on the output, and what
# it loses to the reference, are correlated with the scores of the translation.


#: What situation frames are found in.
INPUTS: Final = ("source", "reference", "mt")
#: Fewer documents give no correlation.
FEWEST: Final = 3
_COMPARED: Final = (("mt", ""), ("mt - source", "source"), ("mt - reference", "reference"))


def correlation_tables(
    documents: pl.DataFrame, metrics: Sequence[str], sf_scores: Mapping[str, Mapping[str, float]]
) -> dict[str, pl.DataFrame]:
    """The mean scores of situation frames, and their correlations with those of translations.

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
    scored = documents["document"].to_list()
    known = {name: _column(sf_scores.get(name, {}), scored) for name in INPUTS}
    kinds = {
        "input": pl.String,
        "documents": pl.Int64,
        "mean": pl.Float64,
        "difference": pl.Float64,
    }
    performance = pl.DataFrame(list(_performance(known)), schema=kinds, orient="row")
    rows = list(_correlations(documents, metrics, known))
    names = {"metric": pl.String, "score": pl.String, "documents": pl.Int64}
    names |= dict.fromkeys(("pearson", "spearman", "kendall"), pl.Float64)
    return {
        "sf_performance": performance,
        "sf_correlation": pl.DataFrame(rows, schema=names, orient="row"),
    }


def _column(scores: Mapping[str, float], documents: Sequence[str]) -> NDArray[np.float64]:
    """The scores of documents in order; not-a-number where there is none."""
    return np.array([scores.get(name, np.nan) for name in documents], dtype=np.float64)


def _performance(known: Mapping[str, NDArray[np.float64]]) -> Iterator[tuple[object, ...]]:
    for name, scores in known.items():
        own = ~np.isnan(scores)
        if own.any():
            both = own & ~np.isnan(known["mt"])
            difference = float((known["mt"] - scores)[both].mean()) if both.any() else None
            yield name, int(own.sum()), float(scores[own].mean()), difference


def _correlations(
    documents: pl.DataFrame, metrics: Sequence[str], known: Mapping[str, NDArray[np.float64]]
) -> Iterator[tuple[object, ...]]:
    for metric in metrics:
        values = documents[metric].to_numpy()
        for name, other in _COMPARED:
            scores = known["mt"] - known[other] if other else known["mt"]
            both = ~np.isnan(scores)
            if both.any():
                yield metric, name, int(both.sum()), *_coefficients(values[both], scores[both])


def _coefficients(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> tuple[float | None, float | None, float | None]:
    """Pearson's r, Spearman's rho, Kendall's tau-b; None for few documents or equal values."""
    from scipy import stats  # takes longer than a score: only for who gives scores of frames

    if one.size < FEWEST or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None, None, None
    found = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    pearson, spearman, kendall = (float(each(one, other).statistic) for each in found)
    return pearson, spearman, kendall


#: The columns of the counts beside those of metrics.
PLACES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "document": pl.String,
    "order": pl.Int64,
    "segment": pl.String,
    "scored": pl.Boolean,
    "references": pl.Int64,
    "present": pl.Boolean,
    "more": pl.Int64,
}


@dataclass(frozen=True)
class Translation(Metric):
    """How translations are scored.

    Attributes:
        options: what was chosen.
    """

    options: TranslationOptions = field(default_factory=TranslationOptions)

    @cached_property
    def measures(self) -> Mapping[str, Measure]:
        """The metrics by name."""
        return {name: measure(name, self.options) for name in self.options.metrics}

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
            >>> metric = Translation(options=TranslationOptions(metrics=("ter",)))
            >>> system = Corpus(documents=documents, translations=said)
            >>> counts, _ = metric.statistics(reference, system)
            >>> metric.score(metric.total([counts]))[0]["ter"]
            20.0
        """
        rows = paired(reference, system, self.options)
        scored = rows.filter("scored")
        translations, references = scored["translation"].to_list(), scored["references"].to_list()
        places = rows.with_columns(pl.col("references").list.len().cast(pl.Int64)).select(*PLACES)
        counts = places.filter("scored")
        for name, one in self.measures.items():
            columns = one.counts(translations, references)
            counts = counts.with_columns(
                pl.Series(column, columns[:, at], dtype=pl.Float64)
                for at, column in enumerate(_columns(name, one))
            )
        counted = self.total(
            [pl.concat([counts, places.filter(~pl.col("scored"))], how="diagonal")]
        )
        return counted, rows if alignment else None

    def finish(self) -> None:
        """End the process of METEOR."""
        for one in self.measures.values():
            one.finish()

    @property
    def _schema(self) -> dict[str, pl.DataType | type[pl.DataType]]:
        columns = (name for one in self.measures.items() for name in _columns(*one))
        return {**PLACES, **dict.fromkeys(columns, pl.Float64)}

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all segments, by document."""
        every = [pl.DataFrame(schema=self._schema), *counts]
        rows = pl.concat(batch.select(*self._schema) for batch in every)
        return rows.sort("document", "order", maintain_order=True)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values of the system, and tables of documents and segments.

        METEOR is undefined, not absent, where no metrics were chosen.
        """
        scored = total.filter("scored")
        values = self._of_system(scored)
        rows = (
            {"evaluation": "Translation", "scoring": "system", "measure": name, "value": value}
            for name, value in values.items()
        )
        documents = self._of_documents(scored)
        tables = {
            "scorings": scorings(rows),
            "documents": documents,
            "segments": self._of_segments(scored),
        }
        if self.options.sf_scores:
            tables |= correlation_tables(documents, self.options.metrics, self.options.sf_scores)
        return values, tables

    def _of_system(self, scored: pl.DataFrame) -> dict[str, float | None]:
        values: dict[str, float | None] = {}
        for name, one in self.measures.items():
            sums = [math.fsum(scored[column]) for column in _columns(name, one)]
            found = one.values(np.array([sums])) if scored.height else None
            values[name] = None if found is None else float(found[""][0])
        if self.options.metrics == DEFAULT_METRICS:  # what the plan names, and was not asked for
            values[METEOR] = None
        return {**values, "segments": scored.height}

    def _of_documents(self, scored: pl.DataFrame) -> pl.DataFrame:
        sums = scored.group_by("document", maintain_order=True).agg(
            pl.len().cast(pl.Int64).alias("segments"), pl.col(self._counted).sum()
        )
        return sums.select("document", "segments", *self._series(sums))

    def _of_segments(self, scored: pl.DataFrame) -> pl.DataFrame:
        return scored.select("document", "segment", *self._series(scored, alone=True))

    def _series(self, sums: pl.DataFrame, *, alone: bool = False) -> list[pl.Series]:
        """The values of rows of counts, a column per metric."""
        series: list[pl.Series] = []
        for name, one in self.measures.items():
            counts = _matrix(sums, _columns(name, one))
            found = one.segment_values(counts) if alone else one.values(counts)
            series += [pl.Series(name + end, each, dtype=pl.Float64) for end, each in found.items()]
        return series

    @property
    def _counted(self) -> list[str]:
        return [column for one in self.measures.items() for column in _columns(*one)]

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the values must know, and the signatures of sacrebleu and METEOR."""
        return tuple(notes(total, self.options, self.measures))

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """With justifications, what assessors see: these segments and their neighbours."""
        found = self.options.justifications
        if found is None:
            return {}, {}
        return {"assessment": table(aligned, found, self.options.neighbours)}, {}

    def decompose(self, names: Iterable[str] | None = None) -> tuple[Translation, ...]:
        """The metric of the named values; it lacks those that are not computed.

        Raises:
            ValueError: for an unknown name.
        """
        if names is None:
            return (self,)
        wanted = {*names} - {"segments"}
        if wanted - {*METRICS}:
            raise ValueError(f"use one of {', '.join(METRICS)}")
        kept = tuple(name for name in self.options.metrics if name in wanted)
        return (replace(self, options=replace(self.options, metrics=kept, sf_scores={})),)

    @property
    def additive(self) -> bool:
        """Counts of segments add."""
        return True

    def documents(self, counts: pl.DataFrame) -> list[str]:
        """The documents of which segments are scored."""
        return super().documents(counts.filter("scored"))

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of each replicate, from weighted sums over documents."""
        scored = counts.filter("scored")
        columns = ["segments", *self._counted]
        sums = scored.group_by("document").agg(
            pl.len().cast(pl.Float64).alias("segments"), pl.col(self._counted).sum()
        )
        named = pl.DataFrame({"document": documents}, schema={"document": pl.String})
        placed = named.join(sums, on="document", how="left", maintain_order="left")
        summed = weights @ _matrix(placed.with_columns(pl.col(columns).fill_null(0.0)), columns)
        something = summed[:, 0] > 0
        found: Replicates = {"segments": summed[:, 0]}
        at = 1
        for name, one in self.measures.items():
            values = one.values(summed[:, at : at + one.size])[""]
            at += one.size
            found[name] = np.where(something, values, np.nan)
        return found


def _columns(name: str, one: Measure) -> list[str]:
    return [f"{name}.{at}" for at in range(one.size)]


def _matrix(rows: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.float64]:
    return rows.select(columns).to_numpy().astype(np.float64).reshape(rows.height, len(columns))
