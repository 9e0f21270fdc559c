"""Situations ranked as the public scorer of LoReHLT 2019 ranks them.

In standard nDCG, situations of equal gravity are in the order that the quicksort of NumPy 1.17
gives them, the version at that time, which is not stable: medians of three, segments of up to 16
sorted by insertion, and the smaller part of a segment first. Later versions on newer processors
give another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from hlteval.scoring.situations.lorehlt.ranking import SITUATION, Gains, Numbers, Ranking, TieBreak

#: The configuration that comes with the public scorer.
OFFICIAL_GAINS = Gains(10.0, 5.0, 1.0, None, 3.0, 2.0)
#: The last index of a segment that is sorted by insertion, counted from its first.
_SMALL = 15


def falling(values: Sequence[float]) -> list[int]:
    """The indices of values from the greatest to the least, as the public scorer sorts them.

    It sorts the reversed values, and reverses what comes out.

    Examples:
        >>> falling([1.0, 2.0, 1.0])
        [1, 0, 2]
    """
    last = len(values) - 1
    rising = _Quicksort(values[::-1]).indices()
    return [last - index for index in reversed(rising)]


class _Quicksort:
    """Indices of values, which are sorted in place."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values
        self.order = list(range(len(values)))

    def indices(self) -> list[int]:
        """The indices of the values, from the least to the greatest."""
        waiting = [(0, len(self.order) - 1)]
        while waiting:
            left, right = waiting.pop()
            while right - left > _SMALL:
                middle = self._partition(left, right)
                parts = (left, middle - 1), (middle + 1, right)
                if middle - left < right - middle:
                    (left, right), larger = parts
                else:
                    larger, (left, right) = parts
                waiting.append(larger)
            # by insertion, which keeps the order of equal values
            segment = self.order[left : right + 1]
            self.order[left : right + 1] = sorted(segment, key=self.values.__getitem__)
        return self.order

    def _partition(self, left: int, right: int) -> int:
        """Put what is less than a pivot before it, and what is greater after it; where it is."""
        order, values = self.order, self.values
        middle = left + (right - left) // 2
        for lower, upper in ((left, middle), (middle, right), (left, middle)):
            if values[order[upper]] < values[order[lower]]:
                self._swap(lower, upper)
        pivot = values[order[middle]]
        low, high = left, right - 1
        self._swap(middle, high)
        while True:
            low, high = low + 1, high - 1
            while values[order[low]] < pivot:
                low += 1
            while pivot < values[order[high]]:
                high -= 1
            if low >= high:
                break
            self._swap(low, high)
        self._swap(low, right - 1)
        return low

    def _swap(self, one: int, other: int) -> None:
        order = self.order
        order[one], order[other] = order[other], order[one]


class OfficialRanking(Ranking):
    """A ranking in which the situations that a system misses are listed, with a gravity of 0."""

    #: It looks for the gravest situations of the reference anywhere in the system's list.
    found_from: ClassVar[pl.Expr] = pl.col("gold")

    @staticmethod
    def with_gains(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
        """The situations of the reference in its order, and then all others of the system."""
        known = reference.select(*SITUATION, "gain").join(
            system, on=SITUATION, how="left", maintain_order="left"
        )
        false = system.join(reference, on=SITUATION, how="anti").sort(SITUATION)
        both = pl.concat([known, false], how="diagonal").with_columns(
            pl.col("gravity", "gain").fill_null(0.0), pl.col("frames").fill_null(0)
        )
        return both.with_columns(gain=pl.when(pl.col("frames") > 0).then("gain").otherwise(0.0))

    @cached_property
    def standard(self) -> pl.DataFrame:
        """The situations in the order of the scorer's sort."""
        return self.system[falling(self.system["gravity"].to_list())]

    @staticmethod
    def sums(terms: Numbers) -> Numbers:
        """Sums of their own, not the one before plus a term: that decides the last digit."""
        return np.array([terms[:end].sum() for end in range(1, len(terms) + 1)], dtype=np.float64)

    def last(self, ties: TieBreak) -> float | None:
        """The nDCG at the last rank, 0 where the reference has no situation with a gain."""
        value = super().last(ties)
        return 0.0 if value is None and self.ranks else value

    @property
    def high(self) -> int:
        """How many situations have the gain of a high gravity, which other gravities may have."""
        return int((self.reference["gain"] == self.gains.high).sum())
