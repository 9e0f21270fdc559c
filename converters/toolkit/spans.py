"""Discontinuous spans, as the representation has them."""

from __future__ import annotations

import polars as pl


def odd_fragments() -> pl.Expr:
    """Whether a mention has a single fragment, or fragments that do not cover its extent."""
    fragments = pl.col("fragments").list
    starts = fragments.eval(pl.element().struct.field("start")).list.min()
    ends = fragments.eval(pl.element().struct.field("end")).list.max()
    same = (starts == pl.col("start")) & (ends == pl.col("end")) & (fragments.len() > 1)
    return pl.col("fragments").is_not_null() & ~same.fill_null(value=False)
