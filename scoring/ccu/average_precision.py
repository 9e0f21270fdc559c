"""Steps 2 and 3 of Streaming Instance Detection: counts at thresholds, and what they give.

CCU Phase 1 plan, Appendix A and section C.4. At each unique detection score, what has at least this
score is a correct detection or a false alarm; precision and recall follow, and from them average
precision, the area below their curve: Σ precision · Δrecall. Beside it, with the precision of each
recall raised to the best of any higher one, is the interpolated average precision (VOC 2011).

Conventions:
    Many curves are computed at a time; a curve has its own values in the columns `by`.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from hlteval.scoring.ratios import ratio

COUNTS = ("hits", "false")


def points(instances: pl.DataFrame, relevant: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The points of the curves, by falling detection score.

    Args:
        instances: of the system: `by`, `llr`, and `hit`, whether each is correct.
        relevant: `by` and `relevant`, how many instances the reference has.
        by: the columns whose values identify a curve.

    Returns:
        `by`, `llr`, `hits`, `false`, `relevant`, `precision` and `recall`.

    Examples:
        >>> rows = [("a", 0.9, True), ("a", 0.5, False), ("a", 0.4, True)]
        >>> instances = pl.DataFrame(rows, ["class", "llr", "hit"], orient="row")
        >>> relevant = pl.DataFrame({"class": ["a"], "relevant": [4]})
        >>> points(instances, relevant, ["class"])["recall"].to_list()
        [0.25, 0.25, 0.5]
    """
    hits, size = pl.col("hit").sum().cast(pl.Int64), pl.len().cast(pl.Int64)
    found = (
        instances.group_by(*by, "llr")
        .agg(hits=hits, false=size - hits, last=pl.col("llr").last())
        .sort(*by, "llr", descending=[False] * len(by) + [True], nulls_last=True)
        # 0 and -0 are one score, written as the last of them
        .with_columns(pl.col(COUNTS).cum_sum().over(by), llr="last")
        .drop("last")
        .join(relevant, on=by, maintain_order="left")
    )
    # by NumPy: Polars multiplies by the inverse of a column that is one number, here of one curve
    right, wrong, expected = (found[name].to_numpy() for name in (*COUNTS, "relevant"))
    precision, recall = ratio(right, right + wrong), ratio(right, expected)
    return found.with_columns(precision=pl.Series(precision), recall=pl.Series(recall))


def average_precision(curves: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The areas below the curves: `by`, `ap` and `ap_interpolated`.

    Args:
        curves: as from `points`.
        by: the columns whose values identify a curve.

    Examples:
        >>> curves = {"class": ["a"] * 3, "hits": [0, 1, 2], "relevant": [2] * 3}
        >>> curves |= {"precision": [0.0, 0.5, 2 / 3], "recall": [0.0, 0.5, 1.0]}
        >>> areas = average_precision(pl.DataFrame(curves), ["class"])
        >>> areas.select(pl.col("ap", "ap_interpolated").round(3)).row(0)
        (0.583, 0.667)
    """
    gained = (pl.col("recall") - pl.col("recall").shift(fill_value=0.0)).over(by)
    best = pl.col("precision").cum_max(reverse=True).over(by)
    steps = curves.select(*by, step=gained * pl.col("precision"), interpolated=gained * best)
    return steps.group_by(by, maintain_order=True).agg(
        ap=pl.col("step").sum(), ap_interpolated=pl.col("interpolated").sum()
    )
