"""Results: the figures of measures from their counts, over all and by group, and notes on them.

P = ptp / (ptp + fp), R = rtp / (rtp + fn), F = 2PR / (P + R); F is 0 where nothing is right, also
where a side has nothing, and undefined only without any item.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from hlteval.findings.counts import fill
from hlteval.scoring.edl.credit import PairWeights
from hlteval.scoring.edl.measures import COUNTS, FIGURES, GROUPINGS, RATES, Measure
from hlteval.scoring.ratios import harmonic, rates, ratio

AVERAGES = ("<micro>", "<macro>")
#: A measure and a group a row: its figures, whether it was asked for, whether it counts fractions.
RESULTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("measure", "by", "group"), pl.String),
    **dict.fromkeys(("asked", "fractional"), pl.Boolean),
    **dict.fromkeys(FIGURES, pl.Float64),
}
#: Irregularities that notes are about.
SEVERAL, REVERSED = "several clusters", "reversed"


def with_rates(counts: pl.DataFrame) -> pl.DataFrame:
    """Counts with precision, recall and their harmonic mean; null where undefined.

    Examples:
        >>> nothing = pl.DataFrame({name: [0.0] for name in COUNTS})
        >>> with_rates(nothing).row(0)[4:]
        (None, None, None)
    """
    right, wrong, met, missed = (counts[name].to_numpy() for name in COUNTS)
    precision, recall = ratio(right, right + wrong), ratio(met, met + missed)
    nothing = right + wrong + met + missed == 0
    mean = np.where(nothing, np.nan, np.nan_to_num(harmonic(precision, recall)))
    rates = zip(RATES, (precision, recall, mean), strict=True)
    return counts.with_columns(pl.Series(name, rate, nan_to_null=True) for name, rate in rates)


@dataclass(frozen=True)
class Results(ABC):
    """The results of measures: their figures over all and by group, and notes on them.

    Attributes:
        weights: what pairs of values count that need not be equal; None where all have to be.
    """

    with_rates: ClassVar = staticmethod(with_rates)
    #: What notes say of spans in several clusters, and of mentions that end before they start.
    LAST: ClassVar = "by name"
    REVERSE: ClassVar = "{count|it overlaps|they overlap} nothing"

    weights: PairWeights | None

    @abstractmethod
    def figures(self, measure: Measure, by: str) -> pl.DataFrame:
        """The figures of a measure by group.

        Args:
            measure: what is measured.
            by: one of `GROUPINGS`, or empty for one group of all.

        Returns:
            `group` (its name; null for annotations without one) and the figures.
        """

    @abstractmethod
    def irregularities(self) -> Mapping[str, int]:
        """Count the spans in several clusters of a side, and the mentions that end too early."""

    def notes(self) -> Iterator[str]:
        """Say what a reader of the numbers must know."""
        counts = self.irregularities()
        if count := counts[SEVERAL]:
            spans = fill("{count:,} {count|span is|spans are}", {"count": count})
            yield (
                f"{spans} in several clusters of one side; B³, MUC, pairwise and BLANC "
                f"use the last {self.LAST}"
            )
        if reverse := counts[REVERSED]:
            mentions = "{count|mention ends before it starts|mentions end before they start}"
            yield fill(f"{{count:,}} {mentions}: {self.REVERSE}", {"count": reverse})

    def results(
        self, measures: Sequence[Measure], asked: Collection[Measure], by: str
    ) -> pl.DataFrame:
        """The figures of measures over all, and by group where that is wanted (`RESULTS`).

        Args:
            measures: the measures, in order.
            asked: those that were asked for.
            by: what measures are also counted by, one of `GROUPINGS`, or empty.
        """
        rows = {
            measure: self._results(measure, by).with_columns(asked=pl.lit(measure in asked))
            for measure in sorted(measures, key=lambda measure: measure.contents)
        }
        tables = [pl.DataFrame(schema=dict(RESULTS)), *(rows[measure] for measure in measures)]
        return pl.concat(tables, how="diagonal").select(list(RESULTS))

    def _results(self, measure: Measure, by: str) -> pl.DataFrame:
        """The figures of a measure over all, by group, and averaged over groups.

        Averages are the figures of the sums of counts, and the means of figures.
        """
        fractional = measure.fractional or (bool(self.weights) and measure.aggregate == "sets")
        total = pl.DataFrame()
        if not measure.by:
            total = self.figures(measure, "").with_columns(
                measure=pl.lit(measure.name), by=pl.lit(""), fractional=pl.lit(fractional)
            )
        if not (by := measure.by or by):
            return total
        groups = self.figures(measure, by)
        stem = measure.name.rpartition(";")[0] if measure.by else measure.name
        head = f"{stem};{GROUPINGS[by]}="
        micro = self.with_rates(groups.select(pl.col(*COUNTS).sum()))
        # a mean has no counts to be summed, nor has what is not counted
        if measure.aggregate == "blanc" or groups["ptp"].null_count():
            micro = micro.select(pl.lit(None, pl.Float64).alias(name) for name in FIGURES)
        macro = groups.select(pl.col(*FIGURES).mean())
        averages = pl.concat([micro, macro], how="diagonal").with_columns(
            pl.Series("group", AVERAGES),
            pl.Series("measure", [f"{head}{average}" for average in AVERAGES]),
            # an average of nothing is a whole 0, as the public scorer has it
            pl.Series("fractional", [fractional and not groups.is_empty(), True]),
            by=pl.lit("" if measure.by else by),
        )
        if measure.by:
            return averages.filter(pl.col("measure") == measure.name)
        names = [f"{measure.name};{GROUPINGS[by]}={json.dumps(group)}" for group in groups["group"]]
        groups = groups.with_columns(
            pl.Series("measure", names, dtype=pl.String),
            by=pl.lit(by),
            fractional=pl.lit(fractional),
        )
        return pl.concat([total, groups, averages], how="diagonal")


def scorings(rows: pl.DataFrame) -> pl.DataFrame:
    """The table `scorings`: a figure a row."""
    kept = rows.select("measure", *FIGURES).with_row_index("place")
    long = kept.unpivot(FIGURES, index=["place", "measure"], variable_name="figure")
    return long.sort("place", maintain_order=True).select(
        evaluation=pl.lit("Measures"), scoring="measure", measure="figure", value="value"
    )


def blanc(linked: pl.DataFrame, unlinked: pl.DataFrame) -> pl.DataFrame:
    """BLANC: the means of the figures of linked and of unlinked pairs.

    Where neither side has any pair of a kind, the other kind stands alone; where only one side has,
    the figures of that kind are 0.

    Args:
        linked: `group`, `ptp`, `fp`, `rtp`, `fn` of pairs in one cluster.
        unlinked: those of pairs in different clusters, of the same groups.

    Returns:
        `group`, `precision`, `recall`, `fscore`; null where there are no pairs. A mean has no
        counts: `ptp`, `fp`, `rtp`, `fn` are null.

    Examples:
        >>> one = pl.DataFrame({"group": [""], "ptp": [1], "fp": [1], "rtp": [1], "fn": [0]})
        >>> two = pl.DataFrame({"group": [""], "ptp": [1], "fp": [0], "rtp": [1], "fn": [1]})
        >>> blanc(one, two).row(0)[:2]
        ('', 0.75)
    """
    system, reference = pl.col("ptp") + pl.col("fp"), pl.col("rtp") + pl.col("fn")
    kinds = pl.concat([linked, unlinked]).select(
        "group",
        *(
            pl.when(system + reference > 0).then(rate.fill_null(0.0)).alias(name)
            for name, rate in zip(RATES, rates(pl.col("ptp"), system, reference), strict=True)
        ),
    )
    means = kinds.group_by("group", maintain_order=True).mean()
    return means.with_columns(pl.lit(None, pl.Float64).alias(name) for name in COUNTS)
