"""Ratings: what annotators judge of units, as a matrix, and its sums by document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Codes = NDArray[np.int64]
Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Ratings:
    """The judgments of annotators.

    Attributes:
        values: a row per unit, a column per annotator: a number, or the index of a category;
            not-a-number where the annotator did not judge the unit.
        documents: the index of the document of each unit.
        size: how many documents there are.
        categories: their names, in order; empty where values are numbers.
    """

    values: Values
    documents: Codes
    size: int
    categories: tuple[str, ...] = ()

    @property
    def raters(self) -> int:
        """The number of annotators."""
        return int(self.values.shape[1])

    @property
    def judged(self) -> Chosen:
        """Which units each annotator judged."""
        return ~np.isnan(self.values)

    @property
    def judges(self) -> Codes:
        """How many annotators judged each unit."""
        judges: Codes = self.judged.sum(axis=1)
        return judges

    def pair(self, first: int, second: int) -> Ratings:
        """The ratings of two annotators of the units that either of them judged."""
        pair = replace(self, values=self.values[:, [first, second]])
        return pair.where(pair.judges > 0)

    def where(self, chosen: Chosen) -> Ratings:
        """The ratings of some units."""
        return replace(self, values=self.values[chosen], documents=self.documents[chosen])

    def complete(self) -> Ratings:
        """The ratings of the units that all annotators judged.

        Examples:
            >>> values = np.array([[1.0, 0.0], [1.0, np.nan]])
            >>> Ratings(values, np.array([0, 0]), 1).complete().values.tolist()
            [[1.0, 0.0]]
        """
        return self.where(self.judges == self.raters)

    def tally(self, values: Values, weights: Values | None = None) -> Values:
        """How often the units of each document have each category.

        Args:
            values: the category of each unit.
            weights: how much each unit counts; 1 if not given.

        Returns:
            A row per document, a column per category.

        Examples:
            >>> two = Ratings(np.array([[0.0], [1.0]]), np.array([0, 2]), 3, ("a", "b"))
            >>> two.tally(two.values[:, 0]).tolist()
            [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
        """
        size = len(self.categories)
        cells = self.documents * size + values.astype(np.int64)
        counts = np.bincount(cells, weights, minlength=self.size * size)
        return counts.reshape(self.size, size).astype(np.float64)

    def added(self, columns: Sequence[Values]) -> Values:
        """The sums of columns over the units of each document.

        Returns:
            A row per document, a column per column.
        """
        sums = [np.bincount(self.documents, column, minlength=self.size) for column in columns]
        return np.stack(sums, axis=-1)
