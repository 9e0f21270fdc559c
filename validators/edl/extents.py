"""Rules of EDL about the extents of mentions beside each other (EDL316, EDL401 to EDL404)."""

from __future__ import annotations

import polars as pl

from hlteval.representation import hashed
from hlteval.validators.edl.spans import crossing, in_order, nested
from hlteval.validators.edl.tables import EXTENT, mentions
from hlteval.validators.rule import RuleContext, at

FIELDS = {
    "annotator": "run",
    "mention": "mention id",
    "text": "mention string",
    "entity": "entity",
    "label": "type",
    "mention_type": "mention type",
    "written": "confidence",
}
"""The names of the columns of a mention in messages."""


def end_before_start(context: RuleContext) -> pl.LazyFrame:
    """A mention whose last character is before its first."""
    found = context.cached(mentions).filter(pl.col("end") <= pl.col("start"))
    return at(found.with_columns(last=pl.col("end") - 1), "offsets")


def _same_extent(context: RuleContext) -> pl.LazyFrame:
    """The mentions with the extent of another one, and whether an earlier one is equal."""
    rows = context.cached(mentions).filter(hashed(*EXTENT).is_duplicated())
    return rows.with_columns(
        first=pl.col("record").first().over(EXTENT),
        again=~pl.struct(*EXTENT, *FIELDS).is_first_distinct(),
        ordinal=pl.int_range(pl.len()).over(EXTENT),
    )


def line_twice(context: RuleContext) -> pl.LazyFrame:
    """A mention that is equal to an earlier one."""
    found = context.cached(_same_extent).with_columns(
        first=pl.col("record").first().over(*EXTENT, *FIELDS)
    )
    return at(found.filter("again"), "")


def same_extent(context: RuleContext) -> pl.LazyFrame:
    """A mention with the extent of an earlier one, but not equal to it."""
    rows = context.cached(_same_extent)
    differs = [
        pl.when(pl.col(column).ne_missing(pl.col(column).first().over(EXTENT))).then(pl.lit(name))
        for column, name in FIELDS.items()
    ]
    names = pl.concat_list(differs).list.drop_nulls().list.join(", ")
    differ = (
        pl.when(names == "")
        .then(pl.lit("the two lines do not differ in any field that counts"))
        .otherwise(pl.format("the two lines differ in {}", names))
    )
    compared = rows.with_columns(differ=differ)
    return at(compared.filter(pl.col("ordinal") > 0, ~pl.col("again")), "extent")


def _spans(context: RuleContext) -> pl.LazyFrame:
    """Each extent once, in the order in which extents are compared."""
    columns = ("origin", "record", "id", "name", *EXTENT)
    return in_order(context.cached(mentions).select(columns).collect()).lazy()


def _paired(context: RuleContext, pairs: pl.DataFrame) -> pl.LazyFrame:
    """Mentions, each with the other of its pair: `pairs` are indices of the extents."""
    spans = context.cached(_spans).collect()
    own, other = pairs.columns
    extent = pl.format("{}-{}", "start", pl.col("end") - 1)
    found = spans[pairs[own]].with_columns(extent=extent)
    others = spans[pairs[other]].select(outer=extent, other="record")
    return at(pl.concat([found, others], how="horizontal").lazy(), "offsets")


def inside_another(context: RuleContext) -> pl.LazyFrame:
    """A mention that lies inside another."""
    return _paired(context, nested(context.cached(_spans).collect()))


def across_another(context: RuleContext) -> pl.LazyFrame:
    """A mention that begins inside another and ends after it."""
    return _paired(context, crossing(context.cached(_spans).collect()))
