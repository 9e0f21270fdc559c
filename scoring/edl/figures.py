"""Figures: precision, recall and F-score of the counts of measures, over all and by group.

    P = ptp / (ptp + fp),  R = rtp / (rtp + fn),  F = 2PR / (P + R)

F is 0 where nothing is right, also where a side has nothing; it is undefined only without any item.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from hlteval.scoring.edl.counts import COUNTS, Counting
from hlteval.scoring.edl.measures import FIGURES, GROUPINGS, Measure

AVERAGES = ("<micro>", "<macro>")
RESULTS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"measure": pl.String, "by": pl.String, "group": pl.String}
    | {"asked": pl.Boolean, "fractional": pl.Boolean}
    | dict.fromkeys(FIGURES, pl.Float64)
)
"""A measure and a group a row: its figures, whether it was asked for, whether it counts fractions;
 or, where `by` is `note`, a note."""


@dataclass(frozen=True)
class Rating:
    """How counts are rated.

    Attributes:
        by: what measures are also counted by, one of `GROUPINGS`, or empty.
        official: whether the public scorer is reproduced, in which 0/0 is 0.
        weighed: whether pairs of types have weights.
    """

    by: str
    official: bool
    weighed: bool

    def of(self, counting: Counting, measure: Measure, *, asked: bool) -> pl.DataFrame:
        """The figures of a measure over all, and by group where that is wanted."""
        parts = []
        if measure.by:
            averages = self.averages(counting.counts(measure, measure.by), measure, measure.by)
            named = averages.filter(pl.col("measure") == measure.name)
            parts.append(named.with_columns(pl.lit("").alias("by")))
        else:
            parts.append(self.rated(counting.counts(measure, ""), measure, ""))
        if self.by and not measure.by:
            counts = counting.counts(measure, self.by)
            column = GROUPINGS[self.by]
            groups = [f"{measure.name};{column}={json.dumps(group)}" for group in counts["group"]]
            names = pl.Series(groups, dtype=pl.String)
            parts.append(self.rated(counts, measure, self.by).with_columns(measure=names))
            parts.append(self.averages(counts, measure, self.by))
        weighed = self.weighed and measure.aggregate == "sets"
        fractional = measure.fractional or weighed
        # an average of nothing is a whole 0, as the public scorer has it
        sums = pl.lit(fractional) & pl.col("fractional") | (pl.col("group") == "<macro>")
        return pl.concat(parts).with_columns(asked=pl.lit(asked), fractional=sums)

    def averages(self, counts: pl.DataFrame, measure: Measure, by: str) -> pl.DataFrame:
        """The sum of counts by group with its figures, and the mean of the groups' figures."""
        prefix = f"{measure.name.partition(';docid=<')[0].partition(';type=<')[0]};{GROUPINGS[by]}"
        summed = counts.select(pl.lit("<micro>").alias("group"), pl.col(*COUNTS).sum())
        if measure.aggregate == "blanc":  # a mean has no counts to be summed
            nothing = pl.lit(None, pl.Float64)
            summed = summed.with_columns(nothing.alias(name) for name in FIGURES)
        micro = self.rated(summed, measure, by).with_columns(
            measure=pl.lit(f"{prefix}=<micro>"), fractional=pl.lit(not counts.is_empty())
        )
        macro = self.rated(counts, measure, by).select(
            pl.lit(f"{prefix}=<macro>").alias("measure"),
            *(pl.lit(by).alias("by"), pl.lit("<macro>").alias("group")),
            *(pl.lit(value=True).alias(name) for name in ("asked", "fractional")),
            pl.col(*FIGURES).mean(),
        )
        return pl.concat([micro, macro])

    def rated(self, counts: pl.DataFrame, measure: Measure, by: str) -> pl.DataFrame:
        """Counts with precision, recall and F-score."""
        rated = counts if measure.aggregate == "blanc" else self.with_rates(counts)
        return rated.with_columns(
            measure=pl.lit(measure.name),
            by=pl.lit(by),
            asked=pl.lit(value=True),
            fractional=pl.lit(value=True),
        ).select(list(RESULTS))

    def with_rates(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Counts with precision, recall and their harmonic mean."""
        precision, recall = pl.col("precision"), pl.col("recall")
        mean = self._ratio(2 * precision * recall, precision + recall)
        if not self.official:
            mean = pl.when(pl.sum_horizontal(COUNTS) > 0).then(mean.fill_null(0.0))
        return counts.with_columns(
            precision=self._ratio(pl.col("ptp"), pl.col("ptp") + pl.col("fp")),
            recall=self._ratio(pl.col("rtp"), pl.col("rtp") + pl.col("fn")),
        ).with_columns(fscore=mean)

    def _ratio(self, part: pl.Expr, whole: pl.Expr) -> pl.Expr:
        """A ratio; undefined where it is 0/0, and a 0 in the public scorer."""
        undefined = pl.lit(0.0 if self.official else None, dtype=pl.Float64)
        return pl.when(whole == 0).then(undefined).otherwise(part / whole)


def long(rows: pl.DataFrame) -> pl.DataFrame:
    """The table `scorings`: a figure a row."""
    kept = rows.select("measure", *FIGURES)
    long = kept.with_row_index("place").unpivot(
        FIGURES, index=["place", "measure"], variable_name="figure"
    )
    order = pl.col("figure").replace_strict({name: at for at, name in enumerate(FIGURES)})
    return long.sort("place", order).select(
        pl.lit("Measures").alias("evaluation"),
        pl.col("measure").alias("scoring"),
        pl.col("figure").alias("measure"),
        "value",
    )
