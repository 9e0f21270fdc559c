"""Whether two systems differ by more than chance: paired tests over documents.

- Bootstrap: the same draws of documents for both systems (`resampling.over`); the interval of the
  difference.
- Permutation (approximate randomization, Noreen 1989): in each replicate the outputs of the two
  systems change places in about half of the documents; how often is the difference as large as the
  observed one?

Conventions:
    A difference is the first system's value less the second's. Tests are two-sided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.metric import Metric, Replicates, Weights
from hlteval.scoring.resampling import blocks, gathered

_CLOSE = 1e-12
"""Differences that differ by less are equal: sums in another order."""


@dataclass(frozen=True)
class Pair:
    """Two systems over the same documents.

    Attributes:
        metric: the metric that they are compared by.
        counts: what was counted of both, the documents of the second under other names.
        documents: the names of the documents of the first, and then of the second.
    """

    metric: Metric
    counts: pl.DataFrame
    documents: tuple[str, ...]

    @classmethod
    def of(cls, metric: Metric, first: pl.DataFrame, second: pl.DataFrame) -> Pair:
        """Two systems by their counts, a row or several per document."""
        shared = sorted({*metric.documents(first), *metric.documents(second)})
        column = metric.document_column
        sides = [
            counts.with_columns((pl.lit(mark) + pl.col(column)).alias(column))
            for mark, counts in (("1 ", first), ("2 ", second))
        ]
        both = tuple(f"{mark} {name}" for mark in (1, 2) for name in shared)
        return cls(metric, pl.concat(sides), both)

    @property
    def size(self) -> int:
        """How many documents there are."""
        return len(self.documents) // 2

    def permutation(self, replicates: int, seed: int) -> Replicates:
        """The differences where systems changed places."""
        random = np.random.default_rng(seed)
        sizes = blocks(replicates, len(self.documents))
        swapped = (random.integers(0, 2, (size, self.size)) for size in sizes)
        return gathered(self._difference(1 - block, block) for block in swapped)

    def _difference(self, own: Weights, other: Weights) -> Replicates:
        """The differences of a system of some documents of each, and of the system of the rest."""
        first = self.metric.replicates(self.counts, self.documents, np.hstack([own, other]))
        second = self.metric.replicates(self.counts, self.documents, np.hstack([other, own]))
        return {name: first[name] - second[name] for name in first}


def probability(differences: NDArray[np.float64], observed: float) -> float:
    """How often chance alone gives a difference as large as the observed one.

    Args:
        differences: of the replicates of a permutation test.
        observed: the difference of the systems as they are.

    Returns:
        (as large + 1) / (replicates + 1): no difference has a probability of 0.

    Examples:
        >>> probability(np.array([0.0, 0.5, -0.5, 0.1]), 0.5)
        0.6
    """
    defined = np.abs(differences[~np.isnan(differences)])
    as_large = int((defined >= abs(observed) - _CLOSE).sum())
    return (as_large + 1) / (defined.size + 1)


def holm(probabilities: Sequence[float]) -> list[float]:
    """Probabilities corrected for how many there are (Holm 1979), in the same order.

    Examples:
        >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03])]
        [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(probabilities)), key=lambda at: probabilities[at])
    corrected, least = [0.0] * len(order), 0.0
    for rank, at in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * probabilities[at]))
        corrected[at] = least
    return corrected
