"""Resampling: replicates of a metric, and intervals from them.

Documents are the units that are drawn, as annotations of one document depend on each other; a
metric that reproduces software which draws smaller units says so (`Divisible`). A draw is a row of
weights: how often each document is in the replicate.

- A metric whose counts add (`Additive`) works out all replicates at once from weighted sums.
- One of several measures (`Compound`) is taken apart, so that each is resampled in its own way.
- Any other is scored replicate by replicate: a document that is drawn twice is there twice, under
  two names, with everything that was counted of it.

Conventions:
    Replicates are float64 arrays by metric; not-a-number is an undefined value. Draws depend on the
    seed and on the number of documents, which are taken by name, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

Weights = NDArray[np.int64]
Replicates = dict[str, NDArray[np.float64]]

BLOCK = 1_000
"""How many replicates are drawn at a time: what bounds the memory of the weights."""


class Scorer(Protocol):
    """What any metric can do with the counts of documents."""

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Any]:
        """The metrics of counts that have been totalled."""

    def total(self, counts: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """The counts of several batches as one."""


@runtime_checkable
class Additive(Protocol):
    """A metric whose counts add: replicates are weighted sums."""

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The metrics of each row of `weights` over `documents`."""


@runtime_checkable
class Compound(Protocol):
    """A metric of several measures, which can be worked out without the others."""

    def parts(self, names: Iterable[str] | None = None) -> Sequence[Scorer]:
        """Metrics that give the values of some names together; all values if not given."""


def parts(metric: Scorer, names: Iterable[str] | None = None) -> Sequence[Scorer]:
    """A metric as several that are resampled each in its own way, where it can be taken apart.

    Raises:
        ValueError: for a name that a metric of several measures does not know.
    """
    return metric.parts(names) if isinstance(metric, Compound) else (metric,)


@runtime_checkable
class Divisible(Protocol):
    """An additive metric that may draw smaller units than documents.

    `drawn` names them in the plural; `documents` are drawn as ever.
    """

    drawn: str

    def kinds(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Counts of one unit of each kind, named in the column of documents; `times`: how many."""


DOCUMENTS = "documents"


def drawn_by(metric: Scorer) -> str:
    """What a metric draws anew, in the plural."""
    return metric.drawn if isinstance(metric, Divisible) else DOCUMENTS


def unit(metric: Scorer) -> str:
    """The column of a metric's counts that names documents: `document` where it does not say."""
    return str(getattr(metric, "unit", "document"))


def names(metric: Scorer, counts: pl.DataFrame) -> list[str]:
    """The documents of which something was counted, by name."""
    return counts[unit(metric)].unique().sort().to_list()


def draws(documents: int, replicates: int, seed: int) -> Iterator[Weights]:
    """Bootstrap draws: as many documents as there are, with replacement.

    Args:
        documents: how many there are.
        replicates: how many draws are wanted.
        seed: of the random numbers.

    Yields:
        Blocks of at most `BLOCK` rows, one column per document.

    Examples:
        >>> [block.sum(axis=1).tolist() for block in draws(3, 2, seed=1)]
        [[3, 3]]
    """
    random = np.random.default_rng(seed)
    for size in blocks(replicates):
        drawn = random.integers(0, documents, (size, documents))
        flat = (drawn + documents * np.arange(size)[:, np.newaxis]).ravel()
        yield np.bincount(flat, minlength=size * documents).reshape(size, documents)


def blocks(replicates: int) -> Iterator[int]:
    """The sizes of blocks of replicates.

    Examples:
        >>> list(blocks(2500))
        [1000, 1000, 500]
    """
    for begin in range(0, replicates, BLOCK):
        yield min(BLOCK, replicates - begin)


def replicated(
    metric: Scorer, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
) -> Replicates:
    """The metrics of each replicate.

    Args:
        metric: what is resampled.
        counts: a row or several per document.
        documents: the names of the columns of `weights`.
        weights: a row per replicate.
    """
    if isinstance(metric, Additive):
        return metric.replicates(counts, documents, weights)
    return _one_by_one(metric, counts, documents, weights)


def _one_by_one(
    metric: Scorer, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
) -> Replicates:
    scored = [
        metric.score(metric.total(list(_copies(counts, unit(metric), documents, row))))[0]
        for row in weights
    ]
    return {
        name: np.array([values[name] for values in scored], dtype=np.float64)
        for name in (scored[0] if scored else ())
    }


def _copies(
    counts: pl.DataFrame, column: str, documents: Sequence[str], times: NDArray[np.int64]
) -> Iterator[pl.DataFrame]:
    """The documents that are drawn at all, those that are drawn again, and so on, as batches."""
    names = pl.Series(documents, dtype=pl.String)
    for copy in range(int(times.max(initial=0))):
        drawn = counts.filter(pl.col(column).is_in(names.filter(times > copy).implode()))
        again = pl.format("{}#{}", column, pl.lit(copy)) if copy else pl.col(column)
        yield drawn.with_columns(again.alias(column))


def weighted(
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
        >>> weighted(counts, ["found"], ["b", "c"], np.array([[2, 1]]))["found"].tolist()
        [20]
    """
    named = pl.DataFrame({"document": documents}, schema={"document": pl.String})
    placed = named.join(counts, on="document", how="left", maintain_order="left")
    matrix = placed.select(pl.col(columns).fill_null(0)).to_numpy()
    return dict(zip(columns, (weights @ matrix).T, strict=True))


def gathered(parts: Iterator[Replicates]) -> Replicates:
    """The replicates of several blocks as one."""
    listed = list(parts)
    return {name: np.concatenate([block[name] for block in listed]) for name in listed[0]}


def bootstrap(
    metric: Scorer, counts: pl.DataFrame, replicates: int, seed: int, *, drawn: str = DOCUMENTS
) -> Replicates:
    """The metrics of bootstrap replicates of a system.

    Args:
        metric: what is resampled.
        counts: what was counted of each document.
        replicates: how many are wanted.
        seed: of the random numbers.
        drawn: documents, or the smaller units of the metric.
    """
    if not isinstance(metric, Divisible) or drawn == DOCUMENTS:
        return over(metric, counts, names(metric, counts), replicates, seed)
    kinds = metric.kinds(counts)
    weights = unit_draws(kinds["times"].to_numpy(), replicates, seed)
    counts, units = kinds.drop("times"), kinds[unit(metric)].to_list()
    return gathered(replicated(metric, counts, units, block) for block in weights)


def over(
    metric: Scorer, counts: pl.DataFrame, documents: Sequence[str], replicates: int, seed: int
) -> Replicates:
    """The metrics of bootstrap replicates over documents that are named.

    Systems that are drawn over the same documents from the same seed are drawn alike: differences
    of their replicates are those of pairs.
    """
    found: Replicates = {}
    for part in parts(metric):
        drawn = draws(len(documents), replicates, seed)
        found |= gathered(replicated(part, counts, documents, block) for block in drawn)
    return found


def unit_draws(times: NDArray[np.int64], replicates: int, seed: int) -> Iterator[Weights]:
    """Bootstrap draws of units of which many are alike: as many as there are, with replacement.

    Args:
        times: how many units there are of each kind.
        replicates: how many draws are wanted.
        seed: of the random numbers.

    Yields:
        Blocks of at most `BLOCK` rows, one column per kind: how many of it are drawn.

    Examples:
        >>> [block.sum(axis=1).tolist() for block in unit_draws(np.array([3, 2]), 2, seed=1)]
        [[5, 5]]
    """
    random = np.random.default_rng(seed)
    total = int(times.sum())
    shares = times / max(total, 1)
    for size in blocks(replicates):
        yield random.multinomial(total, shares, size)


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
