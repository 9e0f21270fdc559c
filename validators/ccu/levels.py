"""Rules over levels of valence and arousal: values, gaps, overlaps, coverage (CCU601 to 607)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ccu.context import is_text, number, shown, stretches, unit
from hlteval.validators.rule import RuleContext, at, first_of, only_if

LEAST, MOST = 1, 1000
#: Seconds by which bounds may differ; bounds that are closer are one bound.
_SNAP = 0.02
_NEAR = 1e-6


def out_of_range(context: RuleContext) -> pl.LazyFrame:
    """A level below 1 or above 1000."""
    rows = context.cached(stretches).filter(~pl.col("level").is_between(LEAST, MOST))
    return at(rows.with_columns(given=number("level")), "level")


def _ordered(context: RuleContext) -> pl.LazyFrame:
    """The stretches in order, each with the end of the previous one as `before`.

    In a text, `step` is what lies between two stretches whose bounds are next to each other: 1 if
    ends are inclusive, as most of its bounds show, and 0 if bounds are shared.
    """
    rows = context.cached(stretches).filter(pl.col("start") <= pl.col("end"))
    unique = rows.unique(["document", "start", "end"], keep="first", maintain_order=True)
    ordered = unique.sort("document", "start", "end", "row")
    before = pl.col("end").cum_max().shift(1).over("document")
    between = pl.col("start") - pl.col("before")
    placed = ordered.with_columns(before=before).with_columns(between=between)
    next_to, shared = ((pl.col("between") == step).sum().over("document") for step in (1, 0))
    inclusive = (next_to > shared) | (shared == 0)
    marked = placed.with_columns(
        step=pl.when(is_text() & inclusive).then(1.0).otherwise(0.0),
        reach=pl.col("end").max().over("document"),
    )
    off = pl.col("between") - pl.col("step")
    apart = pl.when(is_text()).then(off.abs() > _NEAR).otherwise(off.abs() >= _SNAP)
    return marked.with_columns(off=off, apart=apart)


def _described(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.with_columns(
        given=number("start"),
        before=number("before"),
        reach=number("reach"),
        most=number("length"),
        size=number(pl.col("off").abs()),
        put=number(pl.col("before") + pl.col("step")),
        unit=unit(pl.col("off").abs().round(6)),
        units=unit(pl.col("length")),
        document=shown("name"),
    )


def gap(context: RuleContext) -> pl.LazyFrame:
    """A stretch that starts after the end of the previous one."""
    rows = context.cached(_ordered).filter("apart", pl.col("off") > 0)
    return at(_described(only_if(not context.schema.gaps, rows)), "start")


def overlap(context: RuleContext) -> pl.LazyFrame:
    """A stretch that starts before the end of the previous one."""
    rows = context.cached(_ordered).filter("apart", pl.col("off") < 0)
    return at(_described(rows), "start")


def _first(context: RuleContext) -> pl.LazyFrame:
    """The first stretch of each document."""
    rows = context.cached(_ordered).filter(pl.col("before").is_null())
    return only_if(not context.schema.gaps, _described(rows.with_columns(number="reach")))


def late_start(context: RuleContext) -> pl.LazyFrame:
    """A document whose first level starts after its beginning."""
    return at(_first(context).filter(pl.col("start") > _NEAR), "start")


def early_end(context: RuleContext) -> pl.LazyFrame:
    """A document whose levels end before its end; the last character of a text may be counted."""
    least = pl.col("length") - pl.when(is_text()).then(1.0).otherwise(_SNAP)
    rows = context.cached(_ordered).filter(pl.col("reach") < least - _NEAR)
    last = rows.filter(pl.col("end") == pl.col("reach"))
    return at(first_of(_described(only_if(not context.schema.gaps, last)), "document"), "end")


def shared_bound(context: RuleContext) -> pl.LazyFrame:
    """The first text whose stretches share their bounds, as in the example of the plan."""
    rows = context.cached(_ordered).filter(
        is_text(), pl.col("step") == 0, pl.col("between").abs() < _NEAR
    )
    return at(first_of(_described(rows), "document"), "start")
