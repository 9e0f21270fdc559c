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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus
from hlteval.scoring.metric import Metric, Replicates, Tables, Weights, scorings
from hlteval.scoring.mt import assessment, correlation, remarks
from hlteval.scoring.mt.measures import Measure, measure
from hlteval.scoring.mt.options import DEFAULT_METRICS, METEOR, METRICS, TranslationOptions
from hlteval.scoring.mt.segments import paired

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
            tables |= correlation.tables(documents, self.options.metrics, self.options.sf_scores)
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
        return tuple(remarks.notes(total, self.options, self.measures))

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """With justifications, what assessors see: these segments and their neighbours."""
        found = self.options.justifications
        if found is None:
            return {}, {}
        return {"assessment": assessment.table(aligned, found, self.options.neighbours)}, {}

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
