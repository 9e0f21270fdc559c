"""Rules over places in streams: where stretches and change points are (CCU401 to CCU406)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ccu.context import (
    is_stream,
    is_text,
    number,
    points,
    shown,
    stretches,
    unit,
)
from hlteval.validators.rule import RuleContext, at

#: How far beyond the end of a document the official validator goes along.
CHARACTERS, SECONDS = 10.0, 1.0
#: Places that differ by less are the same: they are written in decimals.
_NEAR = 1e-6


def places(context: RuleContext) -> pl.LazyFrame:
    """Every place of the submission as `value`, with its `field`, which its file calls `what`."""
    if context.schema.task == "cd":
        rows = context.cached(points)
        return at(rows.with_columns(value="at", what=pl.lit("timestamp")), "at")
    rows = context.cached(stretches)
    ends = [at(rows.with_columns(value=name, what=pl.lit(name)), name) for name in ("start", "end")]
    return pl.concat(ends).sort("row", maintain_order=True)


def negative(context: RuleContext) -> pl.LazyFrame:
    """A place before the beginning of its document."""
    rows = context.cached(places).filter(pl.col("value") < 0)
    return rows.with_columns(given=number("value"))


def reversed_stretch(context: RuleContext) -> pl.LazyFrame:
    """A stretch that ends before it starts."""
    rows = context.cached(stretches).filter(pl.col("start") > pl.col("end"))
    return at(rows.with_columns(given=number("start"), end=number("end")), "start")


def empty_stretch(context: RuleContext) -> pl.LazyFrame:
    """A stretch of audio or video that ends where it starts; in a text it is one character."""
    rows = context.cached(stretches).filter(is_stream(), pl.col("start") == pl.col("end"))
    return at(rows.with_columns(given=number("start")), "start")


def _beyond(context: RuleContext) -> pl.LazyFrame:
    """The last place of each row that is beyond the end of its document."""
    limit = pl.when(is_text()).then(pl.lit(CHARACTERS)).otherwise(pl.lit(SECONDS))
    rows = context.cached(places).filter(pl.col("value") > pl.col("length") + _NEAR)
    last = rows.unique("row", keep="last", maintain_order=True)
    return last.with_columns(
        far=pl.col("value") > pl.col("length") + limit,
        given=number("value"),
        most=number("length"),
        unit=unit(pl.col("length")),
        document=shown("name"),
    )


def beyond_end(context: RuleContext) -> pl.LazyFrame:
    """A place beyond the end of its document that the official validator accepts."""
    return context.cached(_beyond).filter(~pl.col("far"))


def far_beyond_end(context: RuleContext) -> pl.LazyFrame:
    """A place so far beyond the end of its document that the official validator refuses it."""
    return context.cached(_beyond).filter(pl.col("far"))


def broken_character(context: RuleContext) -> pl.LazyFrame:
    """A place of a text that is not a whole number of characters."""
    rows = context.cached(places).filter(is_text(), pl.col("value") % 1 != 0)
    return rows.with_columns(given=number("value"))
