"""Rankings of documents by the scores of a label: area under the ROC curve, average precision.

Of a label with N documents that have it and M that do not,

    AUC = share of the N M pairs whose scores are in the right order; ties count half
    AP = sum over thresholds of (R - R before) P, with recall R and precision P from the top

A document without a score of a label is below all others. Both are means over the labels that some
documents have and others have not.
"""

import numpy as np
import polars as pl

from hlteval.scoring.generic.averages import Floats

#: A row per document and label with a score, or that the reference has.
SCORES = {"document": pl.String, "label": pl.String, "score": pl.Float64, "is_label": pl.Boolean}


def ranking_table(rows: pl.DataFrame, documents: int) -> pl.DataFrame:
    """The measures of each label.

    Args:
        rows: as `SCORES`; a label of the reference without a score has a null.
        documents: how many documents there are.

    Returns:
        The columns `label`, `auc` and `ap`; null where undefined.

    Examples:
        >>> rows = [("d1", "x", 0.9, True), ("d2", "x", 0.8, False), ("d3", "x", 0.7, True)]
        >>> ranking_table(pl.DataFrame(rows, schema=SCORES, orient="row"), 3).row(0)
        ('x', 0.5, 0.8333333333333333)
    """
    found = []
    for (label,), own in rows.sort("label").group_by("label", maintain_order=True):
        scores = own["score"].fill_null(-np.inf).to_numpy()
        found.append((label, *_rank_values(scores, own["is_label"].to_numpy(), documents)))
    schema = {"label": pl.String, "auc": pl.Float64, "ap": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row").with_columns(
        pl.col("auc", "ap").fill_nan(None)
    )


def _rank_values(scores: Floats, is_label: np.ndarray, documents: int) -> tuple[float, float]:
    """AUC and AP of one label; the documents without a row have the lowest score."""
    levels, level = np.unique(np.r_[-np.inf, scores], return_inverse=True)
    right = np.bincount(level[1:][is_label], minlength=len(levels))[::-1].astype(np.float64)
    every = np.bincount(level[1:], minlength=len(levels))[::-1].astype(np.float64)
    every[-1] += documents - len(scores)
    wrong = every - right
    positive, negative = right.sum(), wrong.sum()
    if not positive or not negative:
        return np.nan, np.nan
    below = negative - np.cumsum(wrong)
    auc = float((right * (below + wrong / 2)).sum() / (positive * negative))
    precision = np.cumsum(right) / np.maximum(np.cumsum(every), 1)
    return auc, float((right / positive * precision).sum())
