"""Rules over change points (CCU701 to CCU704)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ccu.context import number, points, shown
from hlteval.validators.rule import RuleContext, at, first_of, only_if

DIRECTIONS = ("positive", "negative")
STRENGTHS = ("1", "2", "3", "4")


def three_columns(context: RuleContext) -> pl.LazyFrame:
    """The first change point of a file without a column of the impact."""
    return at(_of_files(context, bare=True).unique("origin", maintain_order=True), "")


def _of_files(context: RuleContext, *, bare: bool) -> pl.LazyFrame:
    """The change points of files with or without columns of the impact."""
    columns = pl.any_horizontal(pl.col("direction", "strength").is_not_null())
    return context.cached(points).filter(columns.any().over("origin") != bare)


def unknown_direction(context: RuleContext) -> pl.LazyFrame:
    """A direction that is neither positive nor negative, once for each value and file."""
    rows = _of_files(context, bare=False).with_columns(pl.col("direction").fill_null(""))
    return _odd(rows, "direction", DIRECTIONS, "direction")


def unknown_strength(context: RuleContext) -> pl.LazyFrame:
    """A strength that is not a whole number from 1 to 4, once for each value and file."""
    rows = _of_files(context, bare=False).with_columns(pl.col("strength").fill_null(""))
    return _odd(rows, "strength", STRENGTHS, "strength")


def _odd(rows: pl.LazyFrame, column: str, known: tuple[str, ...], field: str) -> pl.LazyFrame:
    strange = first_of(rows.filter(~pl.col(column).is_in(known)), "origin", column)
    given = pl.when(pl.col(column) == "").then(pl.lit("nothing")).otherwise(shown(column))
    return at(strange.with_columns(given=given), field)


def not_annotated(context: RuleContext) -> pl.LazyFrame:
    """A change point before the first or after the last segment of its document."""
    regions = context.against.regions.lazy()
    annotated = regions.group_by("document").agg(
        begin=pl.col("start").min(), reach=pl.col("end").max()
    )
    rows = context.cached(points).join(annotated, on="document", how="inner", maintain_order="left")
    inside = pl.col("at").is_between("begin", "reach", closed="none")
    within = (pl.col("at") <= pl.col("length")).fill_null(value=True) & (pl.col("at") >= 0)
    outside = rows.filter(~inside, within)
    described = outside.with_columns(
        given=number("at"), begin=number("begin"), reach=number("reach"), document=shown("name")
    )
    return at(only_if(not context.own, described), "at")
