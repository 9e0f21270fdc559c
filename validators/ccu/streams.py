"""Rules over places in streams: where stretches and change points are (CCU401 to CCU406)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ccu.context import (
    TABLES,
    is_stream,
    is_text,
    number,
    points,
    shown,
    stretches,
    unit,
)
from hlteval.validators.rule import RuleContext, at, first_of, only_if

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


# Rules over rows that repeat or overlap an earlier one (CCU505 to CCU507).


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


# Rules over levels of valence and arousal: values, gaps, overlaps, coverage (CCU601 to 607).


LEAST, MOST = 1, 1000
#: Seconds by which bounds may differ; bounds that are closer are one bound.
_SNAP = 0.02


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


def level_overlap(context: RuleContext) -> pl.LazyFrame:
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


# Rules over change points (CCU701 to CCU704).


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
