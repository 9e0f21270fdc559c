"""Spans in several parts, as the representation has them."""

from __future__ import annotations

import polars as pl


def odd_parts() -> pl.Expr:
    """Whether a mention has a single part, or parts that begin or end elsewhere than it does."""
    parts = pl.col("fragments").list
    starts = parts.eval(pl.element().struct.field("start")).list.min()
    ends = parts.eval(pl.element().struct.field("end")).list.max()
    same = (starts == pl.col("start")) & (ends == pl.col("end")) & (parts.len() > 1)
    return pl.col("fragments").is_not_null() & ~same.fill_null(value=False)
