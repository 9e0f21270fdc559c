"""Scaled scores: how much of a correct detection is right, with a collar.

A system instance that starts or ends within the reference is extended towards its start or end, at
most by the collar. What it then covers of the reference is true, what lies beside the reference is
false, both as shares of the length of the reference. The measure is that of the public scorer; the
plan has none.
"""

from __future__ import annotations

import polars as pl


def shares(pairs: pl.DataFrame, collar: float, collar_text: float) -> pl.DataFrame:
    """Correct pairs with `union`, `shifted_start`, `shifted_end`, `tp_share` and `fp_share`.

    Args:
        pairs: `text`, the half-open span of the system, `start` and `end`, and that of the
            reference, `expected_start` and `expected_end`.
        collar: in seconds.
        collar_text: in characters.

    Examples:
        >>> row = {"text": [False], "start": [20.0], "end": [55.0]}
        >>> row |= {"expected_start": [25.0], "expected_end": [75.0]}
        >>> shares(pl.DataFrame(row), 15, 150).select("shifted_end", "tp_share", "fp_share").rows()
        [(70.0, 0.9, 0.1)]
    """
    width = pl.when("text").then(collar_text).otherwise(collar).cast(pl.Float64)
    begin = (
        pl.when(pl.col("expected_start") < pl.col("start") - width)
        .then(pl.col("start") - width)
        .otherwise(pl.min_horizontal("expected_start", "start"))
    )
    end = (
        pl.when(pl.col("expected_end") > pl.col("end") + width)
        .then(pl.col("end") + width)
        .otherwise(pl.max_horizontal("expected_end", "end"))
    )
    length = pl.col("expected_end") - pl.col("expected_start")
    covered = pl.min_horizontal("expected_end", "_end") - pl.max_horizontal(
        "expected_start", "_begin"
    )
    beside = (pl.col("expected_start") - pl.col("_begin")).clip(0) + (
        pl.col("_end") - pl.col("expected_end")
    ).clip(0)
    placed = pairs.with_columns(_begin=begin, _end=end)
    return placed.with_columns(
        union=pl.max_horizontal("end", "expected_end")
        - pl.min_horizontal("start", "expected_start"),
        shifted_start=pl.col("_begin"),
        shifted_end=pl.col("_end") - pl.col("text").cast(pl.Float64),
        tp_share=pl.when(length > 0).then(covered.clip(0) / length).otherwise(0.0),
        fp_share=pl.when(length > 0).then(beside / length).otherwise(0.0),
    ).drop("_begin", "_end")
