"""Rules of HUB-4 about the numbers of extents and minimal strings (HUB217 to HUB220)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.hub4.tables import among, texts
from hlteval.validators.rule import RuleContext, at, only_if


def unbalanced_brackets(context: RuleContext) -> pl.LazyFrame:
    """A text of a reference whose brackets do not balance, or hold nothing."""
    has = pl.col("text").str.contains(r"[\[\]]") & pl.col("brackets").is_null()
    return only_if(
        not context.schema.system, texts(context).filter(has & ~among(context.schema.unscored))
    )


def count_of_extents(context: RuleContext) -> pl.LazyFrame:
    """A text of a reference with more or fewer extents than strings."""
    wanted = 1 + pl.col("brackets").list.len().fill_null(0)
    odd = pl.col("brackets").is_null() & pl.col("text").str.contains(r"[\[\]]")
    rows = texts(context).with_columns(
        wanted=wanted, count=pl.col("extents").list.len(), field=pl.lit("extents")
    )
    wrong = rows.filter((pl.col("count") != pl.col("wanted")) & ~odd)
    return only_if(not context.schema.system, wrong)


def _each_extent(some: pl.LazyFrame) -> pl.LazyFrame:
    """The extents of some texts, a row each, with their `ordinal` and the first of their text."""
    outer = pl.col("extents").list.get(0).struct
    rows = some.with_columns(
        outer_start=outer.field("start"),
        outer_end=outer.field("end"),
        ordinal=pl.int_ranges(1, pl.col("extents").list.len() + 1),
    )
    each = rows.explode("extents", "ordinal").drop("text").unnest("extents")
    return at(each, pl.format("extent {}", "ordinal"))


def minimal_outside(context: RuleContext) -> pl.LazyFrame:
    """An extent of a minimal string that is not enclosed in that of the maximal string."""
    start, end = pl.col("start"), pl.col("end")
    inside = (start >= pl.col("outer_start")) & (end <= pl.col("outer_end"))
    right = (pl.col("outer_start") < pl.col("outer_end")) & (start < end)
    first, numbers = pl.col("extents").list.get(0).struct, pl.col("extents").list
    low = numbers.eval(pl.element().struct.field("start")).list.min() < first.field("start")
    high = numbers.eval(pl.element().struct.field("end")).list.max() > first.field("end")
    rows = _each_extent(texts(context).filter(low | high)).filter(
        (pl.col("ordinal") > 1) & ~inside & right
    )
    return only_if(not context.schema.system, rows)


def reversed_extent(context: RuleContext) -> pl.LazyFrame:
    """An extent that ends where it starts, or before."""
    start, end = pl.element().struct.field("start"), pl.element().struct.field("end")
    some = texts(context).filter(pl.col("extents").list.eval(start >= end).list.any())
    return _each_extent(some).filter(pl.col("start") >= pl.col("end"))
