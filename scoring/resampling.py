"""Resampling: replicates of a metric, and intervals from them.

Documents are the units that are drawn, as annotations of one document depend on each other; a
metric that reproduces software which draws smaller units names these (`Metric.resampling_units`). A
draw is a row of weights: how often each unit is in the replicate. `Metric.replicates` gives the
values of each.

Conventions:
    Replicates are float64 arrays by metric; not-a-number is an undefined value. Draws depend on the
    seed and on the number of documents, which are taken by name, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.metric import (
    DOCUMENTS,
    Metric,
    Replicates,
    Sums,
    Weights,
    columns_of,
    is_whole,
    weigh,
)

#: How many replicates are drawn at a time, and how many weights where documents are few.
BLOCK, CELLS = 1_000, 2_000_000
#: The most weights at a time, which bounds memory: two or three arrays of them, of 8 bytes each.
MOST_CELLS = 20_000_000


def draws(documents: int, replicates: int, seed: int) -> Iterator[Weights]:
    """Bootstrap draws: as many documents as there are, with replacement.

    Args:
        documents: how many there are.
        replicates: how many draws are wanted.
        seed: of the random numbers.

    Yields:
        Blocks of rows, one column per document.

    Examples:
        >>> [block.sum(axis=1).tolist() for block in draws(3, 2, seed=1)]
        [[3, 3]]
    """
    random = np.random.default_rng(seed)
    for size in blocks(replicates, documents):
        drawn = random.integers(0, max(documents, 1), (size, documents))
        drawn += documents * np.arange(size)[:, np.newaxis]
        weights = np.bincount(drawn.ravel(), minlength=size * documents).reshape(size, documents)
        del drawn
        yield weights


def blocks(replicates: int, documents: int) -> Iterator[int]:
    """The sizes of blocks of replicates: `BLOCK`, or as many as have `CELLS` weights.

    Blocks of more than `MOST_CELLS` weights are smaller.

    Args:
        replicates: how many there are in all.
        documents: how many weights each has.

    Examples:
        >>> list(blocks(2500, 10_000)), list(blocks(2500, 10)), list(blocks(5, 10_000_000))
        ([1000, 1000, 500], [2500], [2, 2, 1])
    """
    documents = max(documents, 1)
    most = max(1, min(max(BLOCK, CELLS // documents), MOST_CELLS // documents))
    for begin in range(0, replicates, most):
        yield min(most, replicates - begin)


def replicate_sums(
    counts: pl.DataFrame, columns: Sequence[str], documents: Sequence[str], weights: Weights
) -> dict[str, NDArray[np.int64]]:
    """Sums of the columns over the documents of each replicate.

    Args:
        counts: at most one row per document.
        columns: what is summed.
        documents: the names of the columns of `weights`; one without counts adds nothing.
        weights: a row per replicate.

    Examples:
        >>> counts = pl.DataFrame({"document": ["a", "b"], "found": [1, 10]})
        >>> replicate_sums(counts, ["found"], ["b", "c"], np.array([[2, 1]]))["found"].tolist()
        [20]
    """
    sums = weigh(weights, {"": columns_of(counts, columns, documents)})
    return dict(zip(columns, sums[""].T, strict=True))


def join_blocks(blocks: Iterator[Sums]) -> Replicates:
    """The replicates of several blocks as one."""
    collected = list(blocks)
    return {name: np.concatenate([block[name] for block in collected]) for name in collected[0]}


def bootstrap(
    metric: Metric, counts: pl.DataFrame, replicates: int, seed: int, *, units: str | None = None
) -> Replicates:
    """The values of bootstrap replicates of a system.

    Args:
        metric: the metric that is resampled.
        counts: what was counted of each document.
        replicates: how many are wanted.
        seed: of the random numbers.
        units: `documents`, or the smaller units of the metric; those of the metric by default.
    """
    if (units or metric.resampling_units) == DOCUMENTS:
        return over(metric, counts, metric.documents(counts), replicates, seed)
    kinds = metric.units(counts)
    draws = unit_draws(kinds["times"].to_numpy(), replicates, seed)
    names = kinds[metric.document_column].to_list()
    counts = kinds.drop("times")
    return join_blocks(metric.replicates(counts, names, block) for block in draws)


def over(
    metric: Metric, counts: pl.DataFrame, documents: Sequence[str], replicates: int, seed: int
) -> Replicates:
    """The values of bootstrap replicates over the named documents."""
    found: Replicates = {}
    for part in metric.decompose():
        found |= resample([Sample(part, counts, tuple(documents))], replicates, seed)[0]
    return found


def with_same_names(first: Sums, second: Sums) -> tuple[Sums, Sums]:
    """Sums of two systems with the names of either: of what only one has counted, the other has 0.

    Examples:
        >>> _, second = with_same_names({"a": np.array([[2]])}, {"b": np.array([[3]])})
        >>> {name: matrix.tolist() for name, matrix in second.items()}
        {'a': [[0]], 'b': [[3]]}
    """
    every = {**first, **second}
    ours, theirs = (
        {name: side.get(name, np.zeros_like(matrix)) for name, matrix in every.items()}
        for side in (first, second)
    )
    return ours, theirs


@dataclass(frozen=True, eq=False)
class Sample:
    """Counts of a system over some documents, whose sums are computed once.

    Attributes:
        metric: the metric that is resampled.
        counts: what was counted, a row or several per document.
        documents: the names of the documents, sorted.
    """

    metric: Metric
    counts: pl.DataFrame
    documents: tuple[str, ...]

    @cached_property
    def sums(self) -> Sums | None:
        """Sums that each document adds to; None where counts do not add."""
        return self.metric.document_sums(self.counts, self.documents)

    @cached_property
    def is_whole(self) -> bool:
        """Whether there are sums, of whole numbers only."""
        return self.sums is not None and all(map(is_whole, self.sums.values()))

    @cached_property
    def alone(self) -> Replicates:
        """The values of each document by itself."""
        if self.sums is None:
            return self.metric.alone(self.counts, self.documents)
        return self.metric.values_of(self.sums)

    @cached_property
    def own_documents(self) -> tuple[str, ...]:
        """The documents of which something was counted."""
        return tuple(self.metric.documents(self.counts))

    def within(self, documents: tuple[str, ...]) -> Sample:
        """The sample over some of its documents."""
        if documents == self.documents:
            return self
        part, at = replace(self, documents=documents), np.searchsorted(self.documents, documents)
        part.__dict__["fingerprints"] = self.fingerprints[at]  # are computed once
        part.__dict__["sums"] = self.sums and {name: own[at] for name, own in self.sums.items()}
        return part

    def replicates(self, weights: NDArray[Any]) -> Replicates:
        """The values of each replicate; weights are whole numbers, possibly as floats."""
        if self.sums is None:
            whole = weights.astype(np.int64, copy=False)
            return self.metric.replicates(self.counts, self.documents, whole)
        return self.metric.values_of(weigh(weights, self.sums))

    @cached_property
    def fingerprints(self) -> NDArray[np.uint64]:
        """By document a number of all of its rows, in any order: others have another one."""
        column = self.metric.document_column
        rows = self.counts.select(column, hash=pl.struct(pl.all()).hash(seed=0))
        sums = rows.group_by(document=column).agg(pl.col("hash").sum(), rows=pl.len())
        return columns_of(sums, ["hash"], self.documents)[:, 0]


def resample(samples: Sequence[Sample], replicates: int, seed: int) -> list[Replicates]:
    """The values of bootstrap replicates of systems over the same documents.

    They have the same draws: differences of their replicates are those of pairs.
    """
    blocks: list[list[Replicates]] = [[] for _ in samples]
    for weights in draws(len(samples[0].documents), replicates, seed):
        shared = weights.astype(np.float64)  # once for all products
        for sample, own in zip(samples, blocks, strict=True):
            own.append(sample.replicates(shared))
    return [join_blocks(iter(own)) for own in blocks]


def unit_draws(times: NDArray[np.int64], replicates: int, seed: int) -> Iterator[Weights]:
    """Bootstrap draws of units of which many are alike: as many as there are, with replacement.

    Args:
        times: how many units there are of each kind.
        replicates: how many draws are wanted.
        seed: of the random numbers.

    Yields:
        Blocks of rows, one column per kind: how many of it are drawn.

    Examples:
        >>> [block.sum(axis=1).tolist() for block in unit_draws(np.array([3, 2]), 2, seed=1)]
        [[5, 5]]
    """
    random = np.random.default_rng(seed)
    total = int(times.sum())
    for size in blocks(replicates, len(times)):
        if total:
            yield random.multinomial(total, times / total, size)
        else:
            yield np.zeros((size, len(times)), dtype=np.int64)


def interval(values: NDArray[np.float64], confidence: float) -> tuple[float, float] | None:
    """The percentile interval of replicates; None where none of them is defined.

    Args:
        values: the replicates of a metric.
        confidence: how much of them lies inside, between 0 and 1.

    Examples:
        >>> interval(np.arange(101.0), 0.5)
        (25.0, 75.0)
    """
    defined = values[~np.isnan(values)]
    if not defined.size:
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def listed_interval(values: NDArray[np.float64], confidence: float) -> tuple[float, float] | None:
    """The interval between two of the replicates, as the software of BioNLP-ST takes them.

    Of n sorted replicates, those at (n - c) / 2 and c further on, where c = round(confidence * n);
    undefined ones are the last. Where the software steps over the end, the last one is taken.

    Examples:
        >>> listed_interval(np.arange(200.0), 0.95)
        (5.0, 195.0)
    """
    inside = int(confidence * values.size + 0.5)
    low = (values.size - inside) // 2
    high = min(low + inside, values.size - 1)
    limits = np.sort(values)[[low, high]]
    return None if np.isnan(limits).any() else (float(limits[0]), float(limits[1]))


# Whether two systems differ by more than chance: paired tests over documents.
#
# - Bootstrap: the same draws of documents for both systems (`resampling.over`); the interval of the
#   difference.
# - Permutation (Fisher 1935; approximate randomization, Noreen 1989): the outputs of the two
#   systems
#   change places in some of the documents; how often is the difference as large as the observed
#   one? All ways to do so are counted where they are at most as many as the draws, and drawn
#   elsewhere.
#
# Conventions:
#     A difference is the first system's value less the second's. Tests are two-sided.


#: Differences that differ by less are equal: sums in another order.
_CLOSE = 1e-12


@dataclass(frozen=True)
class Chance:
    """A two-sided p value.

    Attributes:
        p: the probability of a difference as large, if the systems were equally good.
        error: its Monte Carlo standard error; 0 where all outcomes are counted, None where nothing
            is drawn or counted.
        smallest: the smallest p that the test can give for as many documents and replicates.
    """

    p: float
    error: float | None = None
    smallest: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether all outcomes are counted."""
        return self.error == 0


@dataclass(frozen=True)
class Permutations:
    """The differences of two systems that changed places in some documents.

    Attributes:
        differences: by name of the value.
        exact: whether all ways to change places are there.
        documents: how many there are.
        differing: in how many of them the systems differ.
    """

    differences: Replicates
    exact: bool
    documents: int
    differing: int

    def chance(self, name: str, observed: float) -> Chance:
        """The p value of an observed difference.

        Of 2ⁿ outcomes two are always as large: the observed difference and its opposite.
        """
        differences = self.differences[name]
        if not self.exact:
            return drawn_chance(differences, observed, min(1.0, 2.0 ** (1 - self.differing)))
        defined, as_large = _as_large(differences, observed)
        return Chance(as_large / defined, 0.0, min(1.0, 2.0 ** (1 - self.documents)))


@dataclass(frozen=True, eq=False)
class Swaps:
    """Systems over the same documents, of which any two change places in the same draws.

    What a system has in the documents that change places is summed once, whatever it is compared
    with: the first system of a pair then has its sums, less these, and those of the second.

    Attributes:
        samples: the systems.
        replicates: how many draws are wanted.
        seed: of the random numbers.
    """

    samples: Sequence[Sample]
    replicates: int
    seed: int

    def blocks(self) -> Iterator[Weights]:
        """Draws of the documents that change places: a row per replicate."""
        random, size = np.random.default_rng(self.seed), len(self.samples[0].documents)
        for number in blocks(self.replicates, 2 * size):
            yield random.integers(0, 2, (number, size))

    @cached_property
    def swap_sums(self) -> dict[Sample, Sums]:
        """By system the sums of the documents that change places, in each draw.

        Sums of fractions depend on their order: these are summed pair by pair.
        """
        parts: dict[Sample, list[Sums]] = {item: [] for item in self.samples if item.is_whole}
        for block in self.blocks():
            weights = block.astype(np.float64)
            for sample, own in parts.items():
                own.append(weigh(weights, sample.sums or {}))
        return {sample: join_blocks(iter(own)) for sample, own in parts.items()}


@dataclass(frozen=True, eq=False)
class Pair:
    """Two systems over the same documents.

    Attributes:
        first: the first system.
        second: the second one.
    """

    first: Sample
    second: Sample

    @classmethod
    def of(cls, metric: Metric, first: pl.DataFrame, second: pl.DataFrame) -> Pair:
        """Two systems by their counts, a row or several per document."""
        shared = tuple(sorted({*metric.documents(first), *metric.documents(second)}))
        return cls(*(Sample(metric, counts, shared) for counts in (first, second)))

    @property
    def metric(self) -> Metric:
        """The metric that they are compared by."""
        return self.first.metric

    @property
    def size(self) -> int:
        """How many documents there are."""
        return len(self.first.documents)

    @cached_property
    def both(self) -> Sample:
        """Both systems as one, the documents of the first and then of the second marked."""
        marks, column = (("1 ", self.first), ("2 ", self.second)), self.metric.document_column
        counts = [
            side.counts.with_columns((pl.lit(mark) + pl.col(column)).alias(column))
            for mark, side in marks
        ]
        documents = tuple(f"{mark}{name}" for mark, side in marks for name in side.documents)
        both = Sample(self.metric, pl.concat(counts), documents)
        if (own := self.first.sums) and (other := self.second.sums):
            own, other = with_same_names(own, other)
            both.__dict__["sums"] = {n: np.concatenate([own[n], other[n]]) for n in own}
        return both

    @cached_property
    def differing(self) -> tuple[int, ...]:
        """The indices of the documents that differ in anything that was counted."""
        differ = self.first.fingerprints != self.second.fingerprints
        return tuple(np.flatnonzero(differ).tolist())

    def permutation(self, replicates: int, seed: int, swaps: Swaps | None = None) -> Permutations:
        """The differences where systems changed places.

        Documents in which the systems do not differ make no difference. With n others there are
        2ⁿ ways to change places: all of them are counted if they are at most `replicates`, which
        are drawn elsewhere.

        Args:
            replicates: how many there are.
            seed: of the random numbers.
            swaps: the draws, where other pairs have them too.
        """
        ways = 2 ** len(self.differing)
        exact = ways <= replicates
        swaps = swaps or Swaps((self.first, self.second), replicates, seed)
        if exact or not (self.first.is_whole and self.second.is_whole):
            swapped = self._all_swaps(ways) if exact else swaps.blocks()
            differences = join_blocks(map(self._difference, swapped))
        else:
            differences = self._whole_differences(swaps)
        return Permutations(differences, exact, self.size, len(self.differing))

    def _all_swaps(self, ways: int) -> Iterator[Weights]:
        """All ways to change places, without their opposites, whose differences are opposite."""
        begin, half = 0, max(1, ways // 2)
        for size in blocks(half, 2 * self.size):
            numbers = np.arange(begin, begin + size)
            swaps = np.zeros((size, self.size), dtype=np.int64)
            for bit, index in enumerate(self.differing[1:]):
                swaps[:, index] = numbers >> bit & 1
            yield swaps
            begin += size

    def _difference(self, block: Weights) -> Replicates:
        """The differences of a system of some documents of each, and of the system of the rest."""
        first = self.both.replicates(np.hstack([1 - block, block]))
        second = self.both.replicates(np.hstack([block, 1 - block]))
        return {name: first[name] - second[name] for name in first}

    def _whole_differences(self, swaps: Swaps) -> Replicates:
        """The differences in all draws, from the sums of either system by itself."""
        gone, come = with_same_names(swaps.swap_sums[self.first], swaps.swap_sums[self.second])
        changes = {name: come[name] - own for name, own in gone.items()}
        sides = with_same_names(self.first.sums or {}, self.second.sums or {})
        first, second = (
            self.metric.values_of(
                {n: own.sum(axis=0) + sign * changes[n] for n, own in sums.items()}
            )
            for sums, sign in zip(sides, (1, -1), strict=True)
        )
        return {name: first[name] - second[name] for name in first}


def drawn_chance(differences: NDArray[np.float64], observed: float, smallest: float = 0) -> Chance:
    """How often chance alone gives a difference as large as the observed one, from draws.

    Args:
        differences: of the replicates of a test.
        observed: the difference of the systems as they are.
        smallest: the smallest p that all outcomes could give, if that is known.

    Returns:
        (as large + 1) / (replicates + 1): no difference has a probability of 0.

    Examples:
        >>> drawn_chance(np.array([0.0, 0.5, -0.5, 0.1]), 0.5).p
        0.6
    """
    defined, as_large = _as_large(differences, observed)
    least = max(smallest, 1 / (defined + 1))
    share = (as_large + 1) / (defined + 2)  # neither 0 nor 1, and so is its error
    error = float(np.sqrt(share * (1 - share) / (defined + 1)))
    return Chance(max(least, (as_large + 1) / (defined + 1)), error, least)


def _as_large(differences: NDArray[np.float64], observed: float) -> tuple[int, int]:
    """How many differences are defined, and how many of them are as large as the observed one."""
    defined = np.abs(differences[~np.isnan(differences)])
    close = _CLOSE * max(1.0, abs(observed))
    return defined.size, int((defined >= abs(observed) - close).sum())


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
