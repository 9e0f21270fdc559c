"""Figures: precision, recall and F-score of the counts of measures, over all and by group.

    P = ptp / (ptp + fp),  R = rtp / (rtp + fn),  F = 2PR / (P + R)

F is 0 where nothing is right, also where a side has nothing; it is undefined only without any item.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from hlteval.scoring.edl import official
from hlteval.scoring.edl.counts import COUNTS, Counting
from hlteval.scoring.edl.measures import FIGURES, GROUPINGS, Measure
from hlteval.scoring.ratios import side_rates

AVERAGES = ("<micro>", "<macro>")
#: A measure and a group a row: its figures, whether it was asked for, whether it counts fractions;
#: or, where `by` is `note`, a note.
RESULTS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"measure": pl.String, "by": pl.String, "group": pl.String}
    | {"asked": pl.Boolean, "fractional": pl.Boolean}
    | dict.fromkeys(FIGURES, pl.Float64)
)

_RATES = tuple(name for name in FIGURES if name not in COUNTS)
#: Counts that are still to be rated, unless their rates are `given`.
_COUNTED = {**RESULTS, "given": pl.Boolean}


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

    def of(
        self, counting: Counting, measures: Sequence[Measure], asked: Collection[Measure]
    ) -> pl.DataFrame:
        """The figures of measures over all, and by group where that is wanted (`RESULTS`).

        Args:
            counting: what is counted.
            measures: the measures, in order.
            asked: those that were asked for.
        """
        counted = {
            measure: self._counted(counting, measure, asked=measure in asked)
            for measure in sorted(measures, key=compared)
        }
        parts = [part for measure in measures for part in counted[measure]]
        # All are rated at once: a table for each has few rows, and would take as long as this one.
        rows = pl.concat([pl.DataFrame(schema=_COUNTED), *parts], how="diagonal")
        rated = self.with_rates(rows).select(_RATES)
        figures = (
            pl.when("given").then(name).otherwise(rated[name]).alias(name) for name in _RATES
        )
        return rows.with_columns(*figures).select(list(RESULTS))

    def _counted(
        self, counting: Counting, measure: Measure, *, asked: bool
    ) -> Iterator[pl.DataFrame]:
        """The counts of a measure over all, and by group where that is wanted (`_COUNTED`)."""
        whole = {"asked": asked, "fractional": self._fractional(measure)}
        if measure.by:
            averages = self._averages(counting.counts(measure, measure.by), measure, measure.by)
            named = averages.filter(pl.col("measure") == measure.name)
            yield named.with_columns(asked=pl.lit(asked), by=pl.lit(""))
            return
        yield _listed(counting.counts(measure, ""), measure, "", **whole)
        if self.by:
            counts = counting.counts(measure, self.by)
            column = GROUPINGS[self.by]
            groups = [f"{measure.name};{column}={json.dumps(group)}" for group in counts["group"]]
            names = pl.Series(groups, dtype=pl.String)
            yield _listed(counts, measure, self.by, **whole).with_columns(measure=names)
            averages = self._averages(counts, measure, self.by)
            yield averages.with_columns(asked=pl.lit(asked))

    def _fractional(self, measure: Measure) -> bool:
        return measure.fractional or (self.weighed and measure.aggregate == "sets")

    def _averages(self, counts: pl.DataFrame, measure: Measure, by: str) -> pl.DataFrame:
        """The sum of counts by group with its figures, and the mean of the groups' figures."""
        prefix = f"{measure.name.partition(';docid=<')[0].partition(';type=<')[0]};{GROUPINGS[by]}"
        summed = counts.select(pl.lit("<micro>").alias("group"), pl.col(*COUNTS).sum())
        if measure.aggregate == "blanc":  # a mean has no counts to be summed
            nothing = pl.lit(None, pl.Float64)
            summed = summed.with_columns(nothing.alias(name) for name in FIGURES)
        fractional = self._fractional(measure) and not counts.is_empty()
        micro = _listed(summed, measure, by, fractional=fractional)
        means = self.rated(counts, measure).select(pl.col(*FIGURES).mean())
        # an average of nothing is a whole 0, as the public scorer has it
        macro = _listed(means, measure, by, fractional=True, given=True)
        both = pl.concat([micro, macro.with_columns(group=pl.lit("<macro>"))], how="diagonal")
        names = pl.Series([f"{prefix}={average}" for average in AVERAGES])
        return both.with_columns(measure=names)

    def rated(self, counts: pl.DataFrame, measure: Measure) -> pl.DataFrame:
        """Counts with precision, recall and F-score."""
        return counts if measure.aggregate == "blanc" else self.with_rates(counts)

    def with_rates(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Counts with precision, recall and their harmonic mean."""
        found, wrong, met, missed = (pl.col(name) for name in COUNTS)
        rates = official.rates if self.official else side_rates
        both = rates(found, found + wrong, met, met + missed)
        return counts.with_columns(**dict(zip(_RATES, both, strict=True)))


def compared(measure: Measure) -> tuple[str, tuple[str, ...]]:
    """Measures with equal ones have the same clusterings, which are made once for them all."""
    return measure.filter, measure.key


def _listed(
    counts: pl.DataFrame,
    measure: Measure,
    by: str,
    *,
    fractional: bool,
    asked: bool = True,
    given: bool = False,
) -> pl.DataFrame:
    """Counts with what is said about their measure; BLANC has its rates already."""
    return counts.with_columns(
        measure=pl.lit(measure.name),
        by=pl.lit(by),
        asked=pl.lit(asked),
        fractional=pl.lit(fractional),
        given=pl.lit(given or measure.aggregate == "blanc"),
    )


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
