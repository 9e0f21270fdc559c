"""Precision and recall swept over confidences, for many groups of frames at a time.

LoReHLT 2019, sections 16.2.4 (average precision) and 16.2.6 (curves and the area below them).

Conventions:
    Frames of equal confidence are taken together, so that nothing depends on their order. A false
    positive weighs 1, a true positive what it weighs in the reference (section 16.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.ratios import ratio

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]

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

    group: Whole
    confidence: Numbers
    hits: Whole
    false: Whole
    relevant: Whole

    @property
    def precision(self) -> Numbers:
        """The weight of true positives among all that is taken."""
        return ratio(self.hits, self.hits + self.false)

    @property
    def recall(self) -> Numbers:
        """The weight of true positives among the reference."""
        return ratio(self.hits, self.relevant[self.group])

    @property
    def _starts(self) -> NDArray[np.bool_]:
        """Whether a point is the first one of its group."""
        return np.append(True, self.group[1:] != self.group[:-1])[: len(self.group)]

    def _before(self, values: Numbers | Whole) -> Numbers:
        """The values of the point before; 0 for the first one of a group."""
        shifted = np.append(0, values[:-1])[: len(values)]
        return np.where(self._starts, 0, shifted).astype(np.float64)

    def average_precision(self) -> Numbers:
        """Of each group, the precisions at its true positives over the weight of the reference.

        Not-a-number for a group without a reference.
        """
        gained = self.hits - self._before(self.hits)
        sums = np.bincount(self.group, gained * self.precision, minlength=len(self.relevant))
        return ratio(sums, self.relevant)

    def area(self) -> Numbers:
        """Of each group, the area below its curve, whose first precision is that at recall 0.

        0 for a group without frames, not-a-number for one without a reference.
        """
        precision = self.precision
        before = np.where(self._starts, precision, np.append(0, precision[:-1])[: len(precision)])
        steps = self.hits - self._before(self.hits)
        areas = np.bincount(
            self.group, steps * (precision + before) / 2, minlength=len(self.relevant)
        )
        return ratio(areas, self.relevant)

    def retrieved_average_precision(self) -> Numbers:
        """Of each group, the average precision as the public scorer has it, to the last digit.

        It divides by the true positives that were found, not by the reference; 0 without any.
        """
        found = np.zeros(len(self.relevant), dtype=np.int64)
        np.maximum.at(found, self.group, self.hits)
        recall = ratio(self.hits, found[self.group])
        terms = (recall - self._before(recall)) * self.precision
        # beyond full recall nothing is added, and what is added is summed from there upwards
        needed = (self._before(self.hits) < found[self.group]) & (found[self.group] > 0)
        return _sums(terms[needed][::-1], self.group[needed][::-1], len(self.relevant))


def _sums(terms: Numbers, group: Whole, groups: int) -> Numbers:
    """The sum of each group of consecutive terms, rounded like `numpy.sum` of the group alone."""
    sums = np.zeros(groups)
    if not len(terms):
        return sums
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    # a sum begins with 0: a 0 before each group makes `reduceat` add like this
    padded = np.insert(terms, starts, 0.0)
    sums[group[starts]] = np.add.reduceat(padded, starts + np.arange(len(starts)))
    return sums


def points(frames: pl.DataFrame, relevant: Whole) -> Points:
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
