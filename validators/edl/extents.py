"""Rules of EDL about the extents of mentions (EDL316, EDL319, EDL401 to EDL404)."""

from __future__ import annotations

import polars as pl

from hlteval.representation import row_hash
from hlteval.validators.edl.spans import crossing, in_order, nested
from hlteval.validators.edl.tables import EXTENT, blank, mentions, shown
from hlteval.validators.rule import RuleContext, at, only_if

#: Mentions that do not fit, and the share of them, from which all follow another convention.
_FEWEST, _MOST = 3, 0.9

#: The names of the columns of a mention in messages.
FIELDS = {
    "annotator": "run",
    "mention": "mention id",
    "text": "mention string",
    "entity": "entity",
    "label": "type",
    "mention_type": "mention type",
    "written": "confidence",
}


def end_before_start(context: RuleContext) -> pl.LazyFrame:
    """A mention whose last character is before its first."""
    found = context.cached(mentions).filter(pl.col("end") <= pl.col("start"))
    return at(found.with_columns(last=pl.col("end") - 1), "offsets")


def other_length(context: RuleContext) -> pl.LazyFrame:
    """A mention string that cannot be what is in its extent, of a document without a text.

    Several spaces, and the line break after a hyphen, may be missing in the string. Where most that
    do not fit differ by the same number, the others follow another convention: only the first of
    them is reported.
    """
    documents = context.against.documents.lazy().drop_nulls("text").select(document="row")
    known = only_if(not context.own, documents)
    rows = context.cached(mentions).join(known, on="document", how="anti", maintain_order="left")
    extent, length = pl.col("end") - pl.col("start"), pl.col("text").str.len_chars()
    loose = pl.col("text").str.contains(r"[\s-]")
    fits = (length == extent) | ((length < extent) & loose)
    proper = (extent > 0) & ~blank("text")
    found = rows.with_columns(extent=extent, length=length).filter(proper & ~fits).collect()
    difference = found["extent"].cast(pl.Int64) - found["length"].cast(pl.Int64)
    most = difference.mode().sort().first() if found.height >= _FEWEST else None
    same = difference == most if most is not None else pl.repeat(False, found.height, eager=True)
    if same.sum() < _MOST * found.height:
        same = pl.repeat(False, found.height, eager=True)
    hint = "write the offsets of the first and the last character of the mention"
    once = found.with_columns(same=same, count=same.sum(), string=shown("text"))
    once = once.filter(~pl.col("same") | (pl.col("same").cum_sum() == 1))
    all_alike = pl.format(
        "all offsets of {} mentions differ alike; the second one is that of the last character",
        "count",
    )
    hints = pl.when("same").then(all_alike).otherwise(pl.lit(hint))
    return at(once.with_columns(hint=hints).lazy(), "offsets")


def _same_extent(context: RuleContext) -> pl.LazyFrame:
    """The mentions with the extent of another one, and whether an earlier one is equal."""
    rows = context.cached(mentions).filter(row_hash(*EXTENT).is_duplicated())
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
