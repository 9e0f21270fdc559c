"""Situation frames of documents that are right: precision, recall, F1, and curves of the first two.

LoReHLT 2019, sections 16.2.6, 16.2.7 and 16.3 (5). Precision and recall are weighted by occurrences
in the reference (section 16.2): a frame of the reference weighs as many rows as the combined
reference has of it, a false positive 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring import ratios
from hlteval.scoring.ratios import Rates, Whole, plain, ratio

# Precision and recall swept over confidences, for many groups of frames at a time.
#
# LoReHLT 2019, sections 16.2.4 (average precision) and 16.2.6 (curves and the area below them).
#
# Conventions:
#     Frames of equal confidence are taken together, so that nothing depends on their order. A false
#     positive weighs 1, a true positive what it weighs in the reference (section 16.2).


Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The columns of swept frames; the weight is that in the reference, 0 for a false positive.
FRAMES = {"group": pl.Int64, "confidence": pl.Float64, "weight": pl.Int64}


@dataclass(frozen=True)
class Points:
    """A point per group and distinct confidence, by group and falling confidence.

    Attributes:
        group: the number of the group.
        confidence: the least of the frames that are taken.
        hits: the weight of the true positives among these.
        false: how many false positives are among these.
        relevant: by group, the weight of the reference.
    """

    group: Integers
    confidence: Numbers
    hits: Integers
    false: Integers
    relevant: Integers

    @property
    def precision(self) -> Numbers:
        """The weight of true positives among all that is taken."""
        return ratio(self.hits, self.hits + self.false)

    @property
    def recall(self) -> Numbers:
        """The weight of true positives among the reference."""
        return ratio(self.hits, self.relevant[self.group])

    def before(self, values: Numbers | Integers, first: Numbers | Literal[0] = 0) -> Numbers:
        """The values of the point before; of the first point of a group, `first`."""
        starts = np.append(True, self.group[1:] != self.group[:-1])[: len(self.group)]
        return np.where(starts, first, np.roll(values, 1)).astype(np.float64)

    def average_precision(self) -> Numbers:
        """Of each group, the precisions at its true positives over the weight of the reference.

        Not-a-number for a group without a reference.
        """
        terms = (self.hits - self.before(self.hits)) * self.precision
        return ratio(np.bincount(self.group, terms, len(self.relevant)), self.relevant)

    def area(self) -> Numbers:
        """Of each group, the area below its curve, whose first precision is that at recall 0.

        0 for a group without frames, not-a-number for one without a reference.
        """
        precision = self.precision
        steps = self.hits - self.before(self.hits)
        areas = steps * (precision + self.before(precision, precision)) / 2
        return ratio(np.bincount(self.group, areas, len(self.relevant)), self.relevant)


def points(frames: pl.DataFrame, relevant: Integers) -> Points:
    """The points of all groups.

    Args:
        frames: as `FRAMES`, in any order.
        relevant: by group, the weight of the reference.

    Examples:
        >>> rows = [(0, 0.9, 1), (0, 0.5, 0), (0, 0.4, 1)]
        >>> swept = points(pl.DataFrame(rows, FRAMES, orient="row"), np.array([4]))
        >>> swept.precision.round(2).tolist(), swept.recall.tolist()
        ([1.0, 0.5, 0.67], [0.25, 0.25, 0.5])
    """
    steps = (
        frames.group_by("group", "confidence")
        .agg(hits=pl.col("weight").sum(), false=(pl.col("weight") == 0).sum().cast(pl.Int64))
        .sort("group", "confidence", descending=[False, True])
        .with_columns(pl.col("hits", "false").cum_sum().over("group"))
    )
    group, confidence, hits, false = (steps[name].to_numpy() for name in steps.columns)
    return Points(group, confidence, hits, false, relevant)


COUNTS = ("right", "false", "expected")


@dataclass(frozen=True)
class FrameMatches:
    """The frames of one class on both sides (section 16.2.7).

    Attributes:
        rows: as `frame_sides.compared` gives them.
        cutoff: the confidence above which frames are predicted.
    """

    rows: pl.DataFrame
    cutoff: float | None

    @property
    def predicted(self) -> pl.Expr:
        """Whether a frame is in the system's output."""
        confidence = pl.col("confidence")
        some = confidence.is_not_null()
        return some if self.cutoff is None else some & (confidence > self.cutoff)

    def counts(self) -> pl.DataFrame:
        """By document: the weight of `right` frames and of `expected` ones, and the `false`."""
        weight = pl.col("weight").fill_null(0)
        return self.rows.group_by("docid").agg(
            right=weight.filter(self.predicted).sum(),
            false=(self.predicted & pl.col("weight").is_null()).sum().cast(pl.Int64),
            expected=weight.sum(),
        )

    @cached_property
    def rates(self) -> Mapping[str, float | None]:
        """Precision, recall and F1 by name; None where undefined."""
        sums = self.counts().select(pl.col(COUNTS).sum()).row(0)
        rates = self.rates_of(*(np.array([count], dtype=np.int64) for count in sums))
        return {name: plain(values)[0] for name, values in rates._asdict().items()}

    def rates_of(self, right: Whole, false: Whole, expected: Whole) -> Rates[Numbers]:
        """Precision, recall and F1 of sums of `counts`."""
        return ratios.rates(right, right + false, expected)

    @cached_property
    def points(self) -> Points:
        """The points of the curve: all frames of the system, whatever their confidence."""
        relevant = np.array([self.rows["weight"].sum()], dtype=np.int64)
        return points(self.frames().drop_nulls("confidence"), relevant)

    def frames(self) -> pl.DataFrame:
        """All frames, as `FRAMES`, one group of them; missed ones have no confidence."""
        return self.rows.select(
            pl.lit(0, pl.Int64).alias("group"), "confidence", pl.col("weight").fill_null(0)
        )

    def area(self) -> float | None:
        """The area below the curve (section 16.2.6)."""
        return float(self.points.area()[0]) if self.points.relevant[0] else None


# Mean average precision and macro-averaged recall over the situations of the reference.
#
# LoReHLT 2019, section 16.2.4; appendix 18.2.1 and 18.2.2 have examples.


SITUATION = ["type", "place"]


def averages(matches: FrameMatches) -> pl.DataFrame:
    """Average precision and recall of each situation of the reference.

    Args:
        matches: the frames of both sides in a class of situations.

    Returns:
        `type`, `place`, `average_precision` and `recall`, sorted by type and place.
    """
    relevant = matches.rows.group_by(SITUATION).agg(pl.col("weight").sum())
    relevant = relevant.filter(pl.col("weight") > 0).sort(SITUATION)
    situations = relevant.with_columns(group=pl.int_range(pl.len(), dtype=pl.Int64))
    own = matches.rows.filter(matches.predicted).with_columns(pl.col("weight").fill_null(0))
    swept = own.join(situations.drop("weight"), on=SITUATION).select(
        "group", "confidence", "weight"
    )
    weights = relevant["weight"].to_numpy()
    found = np.bincount(swept["group"].to_numpy(), swept["weight"].to_numpy(), len(weights))
    return relevant.select(
        *SITUATION,
        average_precision=pl.Series(points(swept, weights).average_precision(), dtype=pl.Float64),
        recall=pl.Series(found / weights, dtype=pl.Float64),
    )


def mean(values: pl.Series) -> float | None:
    """The mean over all situations; undefined without any."""
    return float(np.mean(values.to_numpy())) if len(values) else None
