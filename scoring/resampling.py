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

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.metric import DOCUMENTS, Metric, Replicates, Weights

#: How many replicates are drawn at a time, which bounds the memory of the weights.
BLOCK = 1_000
#: Weights that are drawn at a time where documents are few: each block costs as much again.
CELLS = 2_000_000


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
        flat = (drawn + documents * np.arange(size)[:, np.newaxis]).ravel()
        yield np.bincount(flat, minlength=size * documents).reshape(size, documents)


def blocks(replicates: int, documents: int) -> Iterator[int]:
    """The sizes of blocks of replicates: `BLOCK`, or as many as have `CELLS` weights.

    Args:
        replicates: how many there are in all.
        documents: how many weights each has.

    Examples:
        >>> list(blocks(2500, 100_000)), list(blocks(2500, 10))
        ([1000, 1000, 500], [2500])
    """
    most = max(BLOCK, CELLS // max(documents, 1))
    for begin in range(0, replicates, most):
        yield min(most, replicates - begin)


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


def gathered(blocks: Iterator[Replicates]) -> Replicates:
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
    return gathered(metric.replicates(counts, names, block) for block in draws)


def over(
    metric: Metric, counts: pl.DataFrame, documents: Sequence[str], replicates: int, seed: int
) -> Replicates:
    """The values of bootstrap replicates over the named documents.

    Systems that are resampled over the same documents with the same seed have the same draws:
    differences of their replicates are those of pairs.
    """
    found: Replicates = {}
    for part in metric.decompose():
        blocks = draws(len(documents), replicates, seed)
        found |= gathered(part.replicates(counts, documents, block) for block in blocks)
    return found


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
