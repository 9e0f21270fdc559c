"""Rules over the documents and segments of a reference (CCU811 to CCU820)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ccu.context import documents, is_stream, is_text, number, shown
from hlteval.validators.rule import RECORD, RuleContext, at, first_of, only_if

#: How the name of the index of all documents ends.
INPUTS = "system_input.index.tab"
MODALITIES = ("text", "audio", "video")
_NEAR = 1e-6
_COUNTS = {"ND": "norms", "ED": "emotions", "VD": "valence_arousal", "AD": "valence_arousal"}
#: The table, and the kind of its rows, of which each count of versions_per_file.tab is.
_COUNTED = {
    "norms": ("instances", "norm"),
    "emotions": ("instances", "emotion"),
    "valence_arousal": ("ratings", "valence"),
}


def index_rows(context: RuleContext) -> pl.LazyFrame:
    """The rows of all index files: `RECORD`, the `index`, and the `name` of the document."""
    rows = context.table("attributes", *RECORD, "element", "name", "value")
    listed = rows.filter(pl.col("element") == "index").drop("element")
    return _named(listed.rename({"name": "index"}), context)


def _named(rows: pl.LazyFrame, context: RuleContext) -> pl.LazyFrame:
    known = context.cached(documents)
    joined = rows.join(known, on="document", how="left", maintain_order="left")
    return joined.with_columns(id=pl.lit(None, pl.String))


def inputs(context: RuleContext) -> pl.LazyFrame:
    """The documents of the first index of all documents, by `document`, once each."""
    rows = context.cached(index_rows).filter(pl.col("index").str.ends_with(INPUTS))
    first = rows.filter(pl.col("index") == pl.col("index").min())
    return first.unique("document", keep="first", maintain_order=True)


def unlisted_document(context: RuleContext) -> pl.LazyFrame:
    """The first row of a document that the index of all documents does not list."""
    listed = context.cached(inputs).select("document")
    tables = ("regions", "instances", "ratings", "changes")
    every = pl.concat([context.table(table, *RECORD) for table in tables])
    strange = _named(every, context).join(listed, on="document", how="anti", maintain_order="left")
    some = listed.collect().height > 0
    found = first_of(only_if(some, strange), "document")
    return at(found.with_columns(document=shown("name")), "file_id")


def no_modality(context: RuleContext) -> pl.LazyFrame:
    """A document without a type, or with one that is neither text nor audio nor video."""
    strange = ~pl.col("modality").is_in(MODALITIES).fill_null(value=False)
    rows = context.cached(inputs).filter(strange)
    given = pl.when(pl.col("modality").is_null()).then(pl.lit("no type"))
    described = rows.with_columns(
        given=given.otherwise(pl.concat_str(pl.lit("the type "), shown("modality"))),
        document=shown("name"),
    )
    return at(described, "file_id")


def no_length(context: RuleContext) -> pl.LazyFrame:
    """A document without a length, or with one that is not above 0."""
    unknown = ~(pl.col("length") > 0).fill_null(value=False)
    rows = context.cached(inputs).filter(unknown, pl.col("modality").is_not_null())
    return at(rows.with_columns(document=shown("name")), "file_id")


def _regions(context: RuleContext) -> pl.LazyFrame:
    return _named(context.table("regions", *RECORD, "region", "start", "end"), context)


def reversed_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that ends before it starts."""
    rows = context.cached(_regions).filter(pl.col("start") > pl.col("end"))
    return at(_described(rows), "start")


def overlapping_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that starts before the end of an earlier one; texts share no character."""
    rows = context.cached(_regions).filter(pl.col("start") <= pl.col("end"))
    ordered = rows.sort("document", "start", "end", "row")
    before = pl.col("end").cum_max().shift(1).over("document")
    allowed = pl.when(is_text()).then(0.0).otherwise(_NEAR)
    early = ordered.with_columns(before=before).filter(pl.col("start") < before - allowed)
    return at(_described(early), "start")


def segment_outside(context: RuleContext) -> pl.LazyFrame:
    """A segment before the beginning or beyond the end of its document."""
    beyond = (pl.col("end") > pl.col("length") + _NEAR).fill_null(value=False)
    rows = context.cached(_regions).filter((pl.col("start") < 0) | beyond)
    field = pl.when(pl.col("start") < 0).then(pl.lit("start")).otherwise(pl.lit("end"))
    return at(_described(rows), field)


def empty_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment of audio or video that ends where it starts."""
    rows = context.cached(_regions).filter(is_stream(), pl.col("start") == pl.col("end"))
    return at(_described(rows), "start")


def broken_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment of a text whose bounds are not whole numbers of characters."""
    parts = (pl.col("start") % 1 != 0) | (pl.col("end") % 1 != 0)
    rows = context.cached(_regions).filter(is_text(), parts)
    return at(_described(rows), "start")


def _described(rows: pl.LazyFrame) -> pl.LazyFrame:
    if "before" not in rows.collect_schema():
        rows = rows.with_columns(before=pl.lit(None, pl.Float64))
    return rows.with_columns(
        given=shown("region"),
        begin=number("start"),
        end=number("end"),
        before=number("before"),
        most=number("length").fill_null("?"),
        document=shown("name"),
    )


def _versions(context: RuleContext) -> pl.LazyFrame:
    """The counts of versions_per_file.tab: `RECORD`, `counted`, such as `norms`, and `versions`."""
    rows = context.table("attributes", *RECORD, "element", "name", "value")
    counts = rows.filter(
        pl.col("element") == "versions_per_file", pl.col("name").str.ends_with("_count")
    )
    return counts.select(
        *RECORD,
        counted=pl.col("name").str.strip_suffix("_count"),
        versions=pl.col("value").cast(pl.Int64, strict=False).fill_null(0),
    )


def not_annotated(context: RuleContext) -> pl.LazyFrame:
    """A document of a scoring index that, by versions_per_file.tab, nobody annotated for it."""
    rows = context.cached(index_rows).filter(~pl.col("index").str.ends_with(INPUTS))
    task = pl.col("index").str.extract(r"(?:^|[._-])(ND|ED|VD|AD|CD)[._-]")
    names = {**_COUNTS, "CD": "changepoint"}
    counted = task.replace_strict(names, default=None, return_dtype=pl.String)
    tasked = rows.with_columns(counted=counted).drop_nulls("counted")
    versions = context.cached(_versions)
    known = versions.select("document", "counted", "versions")
    joined = tasked.join(known, on=["document", "counted"], how="left", maintain_order="left")
    bare = joined.filter(pl.col("versions").fill_null(0) == 0)
    some = versions.collect().height > 0
    described = bare.with_columns(column=pl.col("counted") + "_count", document=shown("name"))
    return at(only_if(some, described), "file_id")


def _annotators(context: RuleContext) -> pl.LazyFrame:
    """The most annotators of one segment, by `document` and what is `counted`."""
    parts = []
    for counted in _COUNTED:
        own = _judgments(context, counted).group_by("document", "region")
        each = own.agg(annotators=pl.col("annotator").n_unique().cast(pl.Int64))
        most = each.group_by("document").agg(pl.col("annotators").max())
        parts.append(most.with_columns(counted=pl.lit(counted)))
    return pl.concat(parts)


def _judgments(context: RuleContext, counted: str) -> pl.LazyFrame:
    """The rows of annotators of which versions_per_file.tab has a count."""
    table, kind = _COUNTED[counted]
    rows = context.table(table, "document", "kind", "region", "annotator")
    return rows.filter(pl.col("kind") == kind)


def other_versions(context: RuleContext) -> pl.LazyFrame:
    """A count of annotators that is not the most annotators of a segment of the document.

    What the reference has no judgments of at all is not looked at.
    """
    there = [
        name for name in _COUNTED if not _judgments(context, name).head(1).collect().is_empty()
    ]
    rows = context.cached(_versions).filter(pl.col("counted").is_in(there))
    joined = _named(rows, context).join(
        _annotators(context), on=["document", "counted"], how="left", maintain_order="left"
    )
    filled = joined.with_columns(pl.col("annotators").fill_null(0))
    strange = filled.filter(pl.col("annotators") != pl.col("versions"))
    described = strange.with_columns(
        column=pl.col("counted") + "_count",
        given=pl.col("versions"),
        count=pl.col("annotators"),
        document=shown("name"),
    )
    return at(described, "file_id")
