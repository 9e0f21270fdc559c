"""Situation frames against translations (section 15.2.1): do better translations help?

Situation frames are scored on the source, on the reference translation and on the output of a
translation system. Over the documents that have both scores, their score on the output, and what it
loses to the reference, are correlated with the scores of the translation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

#: What situation frames are found in.
INPUTS: Final = ("source", "reference", "mt")
#: Fewer documents give no correlation.
FEWEST: Final = 3
_COMPARED: Final = (("mt", ""), ("mt - source", "source"), ("mt - reference", "reference"))


def tables(
    documents: pl.DataFrame, metrics: Sequence[str], sf_scores: Mapping[str, Mapping[str, float]]
) -> dict[str, pl.DataFrame]:
    """The mean scores of situation frames, and their correlations with those of translations.

    Args:
        documents: a row per document, with a column per metric.
        metrics: the metrics.
        sf_scores: the scores of situation frames by input and document.

    Returns:
        `sf_performance` (`input`, `documents`, `mean`, and `difference`, that of `mt` less it over
        the documents of both) and `sf_correlation` (`metric`, `score`, `documents`, `pearson`,
        `spearman`, `kendall`).

    Examples:
        >>> documents = pl.DataFrame({"document": ["a", "b", "c"], "bleu": [10.0, 20.0, 30.0]})
        >>> found = tables(documents, ["bleu"], {"mt": {"a": 0.1, "b": 0.2, "c": 0.3}})
        >>> found["sf_correlation"].with_columns(pl.col("pearson").round(6)).row(0)
        ('bleu', 'mt', 3, 1.0, 1.0, 1.0)
    """
    scored = documents["document"].to_list()
    known = {name: _column(sf_scores.get(name, {}), scored) for name in INPUTS}
    kinds = {
        "input": pl.String,
        "documents": pl.Int64,
        "mean": pl.Float64,
        "difference": pl.Float64,
    }
    performance = pl.DataFrame(list(_performance(known)), schema=kinds, orient="row")
    rows = list(_correlations(documents, metrics, known))
    names = {"metric": pl.String, "score": pl.String, "documents": pl.Int64}
    names |= dict.fromkeys(("pearson", "spearman", "kendall"), pl.Float64)
    return {
        "sf_performance": performance,
        "sf_correlation": pl.DataFrame(rows, schema=names, orient="row"),
    }


def _column(scores: Mapping[str, float], documents: Sequence[str]) -> NDArray[np.float64]:
    """The scores of documents in order; not-a-number where there is none."""
    return np.array([scores.get(name, np.nan) for name in documents], dtype=np.float64)


def _performance(known: Mapping[str, NDArray[np.float64]]) -> Iterator[tuple[object, ...]]:
    for name, scores in known.items():
        own = ~np.isnan(scores)
        if own.any():
            both = own & ~np.isnan(known["mt"])
            difference = float((known["mt"] - scores)[both].mean()) if both.any() else None
            yield name, int(own.sum()), float(scores[own].mean()), difference


def _correlations(
    documents: pl.DataFrame, metrics: Sequence[str], known: Mapping[str, NDArray[np.float64]]
) -> Iterator[tuple[object, ...]]:
    for metric in metrics:
        values = documents[metric].to_numpy()
        for name, other in _COMPARED:
            scores = known["mt"] - known[other] if other else known["mt"]
            both = ~np.isnan(scores)
            if both.any():
                yield metric, name, int(both.sum()), *_coefficients(values[both], scores[both])


def _coefficients(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> tuple[float | None, float | None, float | None]:
    """Pearson's r, Spearman's rho, Kendall's tau-b; None for few documents or equal values."""
    from scipy import stats  # takes longer than a score: only for who gives scores of frames

    if one.size < FEWEST or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None, None, None
    found = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    pearson, spearman, kendall = (float(each(one, other).statistic) for each in found)
    return pearson, spearman, kendall
