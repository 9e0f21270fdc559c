"""Situation frames of documents that are right: precision, recall, F1, and curves of the first two.

LoReHLT 2019, sections 16.2.6, 16.2.7 and 16.3 (5). Precision and recall are weighted by occurrences
in the reference (section 16.2): a frame of the reference weighs as many rows as the combined
reference has of it, a false positive 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring import ratios
from hlteval.scoring.ratios import Rates, Whole, plain
from hlteval.scoring.situations.lorehlt.equivalence import compared, key
from hlteval.scoring.situations.lorehlt.official_rates import official_rates
from hlteval.scoring.situations.lorehlt.precision_recall import Points, points

COUNTS = ("right", "false", "expected")


@dataclass(frozen=True)
class FrameMatches:
    """The frames of one class on both sides.

    Attributes:
        rows: as `equivalence.compared` gives them.
        unplaced: how many frames of the reference have a place but no entry for it; the public
            scorer counts them among what may be predicted.
        official: whether the public scorer is followed.
        cutoff: the confidence above which frames are predicted.
    """

    rows: pl.DataFrame
    unplaced: int
    official: bool
    cutoff: float | None

    @property
    def predicted(self) -> pl.Expr:
        """Whether a frame is in the system's output; in the public scorer, only above 0."""
        confidence = pl.col("confidence")
        least = 0.0 if self.official and self.cutoff is None else self.cutoff
        given = confidence.is_not_null()
        return given if least is None else given & (confidence > least)

    def above_cutoff(self) -> pl.DataFrame:
        """The frames, with the confidences of those only that are predicted."""
        found = self.predicted.fill_null(value=False)
        return self.rows.with_columns(confidence=pl.when(found).then("confidence"))

    def counts(self) -> pl.DataFrame:
        """By document: the weight of `right` frames and of `expected` ones, and the `false`."""
        found = self.predicted.fill_null(value=False)
        weight = pl.col("weight").fill_null(0)
        return self.rows.group_by("docid").agg(
            right=weight.filter(found).sum(),
            false=(found & pl.col("weight").is_null()).sum().cast(pl.Int64),
            expected=weight.sum(),
        )

    @cached_property
    def rates(self) -> Mapping[str, float | None]:
        """Precision, recall and F1 by name; None where undefined."""
        sums = self.counts().select(pl.col(COUNTS).sum()).row(0)
        found = self.rated(*(np.array([count], dtype=np.int64) for count in sums))
        return {name: plain(values)[0] for name, values in found._asdict().items()}

    def rated(self, right: Whole, false: Whole, expected: Whole) -> Rates[NDArray[np.float64]]:
        """Precision, recall and F1 of sums of `counts`."""
        rated = official_rates if self.official else ratios.rates
        return rated(right, right + false, expected)

    @cached_property
    def points(self) -> Points:
        """The points of the curve: all frames of the system, whatever their confidence.

        The public scorer takes what the system does not have as having the confidence 0.
        """
        swept = self.rows.select(
            pl.lit(0, pl.Int64).alias("group"), "confidence", pl.col("weight").fill_null(0)
        )
        if self.official:
            more = pl.DataFrame(
                {"group": 0, "confidence": 0.0, "weight": [0] * self.unplaced}, schema=swept.schema
            )
            swept = pl.concat([swept.with_columns(pl.col("confidence").fill_null(0.0)), more])
        relevant = np.array([self.rows["weight"].sum()], dtype=np.int64)
        return points(swept.drop_nulls("confidence"), relevant)

    def area(self) -> float | None:
        """The area below the curve; the public scorer's is the average precision."""
        swept = self.points
        if not swept.relevant[0]:
            return None
        values = swept.retrieved_average_precision() if self.official else swept.area()
        return float(values[0])


def frame_matches(
    reference: pl.DataFrame,
    system: pl.DataFrame,
    name: str,
    *,
    cutoff: float | None,
    official: bool,
) -> FrameMatches:
    """Match the frames of both sides by an equivalence class.

    Args:
        reference: its frames, of all annotators; of one, in `official`.
        system: the system's.
        name: of the class.
        cutoff: the confidence above which frames are predicted.
        official: count a frame without a place as one of a place that no other is of.
    """
    unplaced = 0
    if official:
        system = system.with_columns(pl.col("place").fill_null(""))
        if "place" in key(name):
            nowhere = reference.filter(pl.col("place").is_null())
            unplaced = nowhere.select(key(name)).n_unique() if nowhere.height else 0
    rows = compared(reference, system, name)
    if official:
        rows = rows.with_columns(weight=pl.when(pl.col("weight").is_not_null()).then(1))
    return FrameMatches(rows.cast({"weight": pl.Int64}), unplaced, official, cutoff)
