"""Rules over the annotation of a reference: norms, emotions, levels, change points (CCU801 to 809).

`none` means that an annotator found nothing, `noann` that nobody annotated.
"""

from __future__ import annotations

import polars as pl

from hlteval.validators.ccu.classes import NOT_ANNOTATED, NOTHING
from hlteval.validators.ccu.context import documents, number, shown, stretches
from hlteval.validators.rule import RECORD, RuleContext, at

_KINDS = ("valence", "arousal")


def _norms(context: RuleContext) -> pl.LazyFrame:
    return context.cached(stretches).filter(pl.col("kind") == "norm")


def status_of_nothing(context: RuleContext) -> pl.LazyFrame:
    """A status of `none`, where there is no norm."""
    rows = _norms(context).filter(pl.col("label") == NOTHING, pl.col("status").is_not_null())
    return at(rows.with_columns(given=shown("status")), "status")


def speakers_of_nothing(context: RuleContext) -> pl.LazyFrame:
    """Whether several speakers show no emotion: nothing can be said of `none` and `noann`."""
    rows = context.table("instances", *RECORD, "kind", "label", "several")
    bare = pl.col("label").is_in([NOTHING, NOT_ANNOTATED])
    strange = rows.filter(pl.col("kind") == "emotion", bare, pl.col("several").is_not_null())
    put = pl.when(pl.col("label") == NOTHING).then(pl.lit("EMPTY_NA")).otherwise("label")
    found = strange.with_columns(given="label", put=put, id=pl.lit(None, pl.String))
    return at(found, "multi_speaker")


def no_status(context: RuleContext) -> pl.LazyFrame:
    """A norm without a status."""
    named = ~pl.col("label").is_in([NOTHING, NOT_ANNOTATED])
    rows = _norms(context).filter(named, pl.col("status").is_null())
    return at(rows.with_columns(given=shown("label")), "status")


def half_unannotated_norm(context: RuleContext) -> pl.LazyFrame:
    """A row of norms that has `noann` in one of its two columns."""
    without = pl.col("label") == NOT_ANNOTATED
    bare = (pl.col("status") == NOT_ANNOTATED).fill_null(value=False)
    rows = _norms(context).filter(without != bare)
    return at(rows, pl.when(without).then(pl.lit("status")).otherwise(pl.lit("norm")))


def half_unannotated_level(context: RuleContext) -> pl.LazyFrame:
    """A row of levels that has `noann` in some of its columns only."""
    rows = context.table("ratings", *RECORD, "kind", "level", "bin")
    bare = pl.col("level").is_null()
    marks = pl.concat([
        rows.with_columns(bare=bare),
        rows.filter(pl.col("bin").is_not_null()).with_columns(
            bare=pl.col("bin") == NOT_ANNOTATED
        ),
    ])  # fmt: skip
    keys = ["origin", "record"]
    mixed = marks.group_by(keys, maintain_order=True).agg(
        pl.col("document").first(), pl.col("row").first(), count=pl.col("bare").n_unique()
    )
    found = mixed.filter(pl.col("count") > 1).sort("row")
    return at(found.with_columns(id=pl.lit(None, pl.String)), "")


def level_out_of_range(context: RuleContext) -> pl.LazyFrame:
    """A level of an annotator below 1 or above 1000."""
    rows = context.table("ratings", *RECORD, "kind", "level")
    strange = rows.filter(~pl.col("level").is_between(1, 1000))
    described = strange.with_columns(given=number("level"), id=pl.lit(None, pl.String))
    return at(described, pl.col("kind"))


def emotion_twice(context: RuleContext) -> pl.LazyFrame:
    """An emotion that an annotator names twice for a segment, in one cell or in two rows."""
    key = ["document", "region", "annotator", "label"]
    rows = context.cached(stretches).filter(pl.col("kind") == "emotion")
    again = rows.filter(~pl.struct(key).is_first_distinct())
    return at(again.with_columns(given=shown("label"), segment=shown("region")), "emotion")


def emotions_beside_nothing(context: RuleContext) -> pl.LazyFrame:
    """A cell of emotions that also has `none` or `noann`."""
    rows = context.cached(stretches).filter(pl.col("kind") == "emotion")
    bare = pl.col("label").is_in([NOTHING, NOT_ANNOTATED])
    several = pl.col("label").n_unique().over("origin", "record") > 1
    return at(rows.filter(bare, several).with_columns(given="label"), "emotion")


def _points(context: RuleContext) -> pl.LazyFrame:
    rows = context.table("changes", *RECORD, "at")
    known = context.cached(documents)
    joined = rows.join(known, on="document", how="left", maintain_order="left")
    return joined.with_columns(id=pl.lit(None, pl.String))


def change_outside(context: RuleContext) -> pl.LazyFrame:
    """A change point before the beginning or beyond the end of its document."""
    outside = (pl.col("at") < 0) | (pl.col("at") > pl.col("length")).fill_null(value=False)
    rows = context.cached(_points).filter(outside)
    described = rows.with_columns(
        given=number("at"), most=number("length").fill_null("?"), document=shown("name")
    )
    return at(described, "timestamp")


def no_change(context: RuleContext) -> pl.LazyFrame:
    """A row of change points without a time."""
    return at(context.cached(_points).filter(pl.col("at").is_null()), "timestamp")
