"""Rules over rows that repeat or overlap an earlier one (CCU505 to CCU507)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ccu.context import TABLES, is_text, number, points, shown, stretches
from hlteval.validators.rule import RuleContext, at, first_of

#: What two rows of a document may not share, by table.
_CLASS = {
    "instances": ["document", "label", "start", "end", "status", "region"],
    "ratings": ["document", "start", "end"],
    "changes": ["document", "at", "direction", "strength"],
}
#: The column in which repeated rows may differ, by table.
_VALUE = {"instances": "llr", "ratings": "level", "changes": "llr"}


def _table(context: RuleContext) -> str:
    return TABLES[context.schema.task]


def _rows(context: RuleContext) -> pl.LazyFrame:
    return context.cached(points if _table(context) == "changes" else stretches)


def _repeated(context: RuleContext) -> pl.LazyFrame:
    """The rows with the place and class of an earlier one, with the line of that as `first`."""
    key, value = _CLASS[_table(context)], _VALUE[_table(context)]
    rows = _rows(context).with_columns(
        first=pl.col("record").first().over(key),
        before=pl.col(value).first().over(key),
        given=number(value),
    )
    again = rows.filter(~pl.struct(key).is_first_distinct())
    return again.with_columns(
        same=pl.col(value).eq_missing(pl.col("before")), before=number("before")
    )


def duplicate(context: RuleContext) -> pl.LazyFrame:
    """A row that is equal to an earlier one."""
    return at(context.cached(_repeated).filter(pl.col("same")), "")


def other_value(context: RuleContext) -> pl.LazyFrame:
    """A row that differs from an earlier one in its score or level only."""
    field = _VALUE[_table(context)]
    rows = context.cached(_repeated).filter(~pl.col("same"))
    return at(rows.with_columns(what=pl.lit(field)), field)


def overlap(context: RuleContext) -> pl.LazyFrame:
    """The first instance of a class in a document that overlaps an earlier one of it."""
    key, group = _CLASS["instances"], ["document", "label"]
    rows = context.cached(stretches).drop_nulls(["start", "end"])
    ordered = rows.unique(key, keep="first", maintain_order=True).sort(
        *group, "start", "end", "row"
    )
    reach = pl.col("end").cum_max().shift(1).over(group)
    furthest = pl.when((pl.col("end") > reach) | reach.is_null()).then(pl.col("record"))
    marked = ordered.with_columns(reach=reach, holder=furthest).with_columns(
        first=pl.col("holder").forward_fill().shift(1).over(group)
    )
    meets = pl.when(is_text()).then(pl.col("start") <= pl.col("reach"))
    found = marked.filter(meets.otherwise(pl.col("start") < pl.col("reach")))
    described = found.with_columns(
        given=shown("label"), begin=number("start"), reach=number("reach")
    )
    return at(first_of(described, *group), "start")
