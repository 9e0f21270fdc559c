"""Rules over the documents and segments of a reference (CCU811 to CCU820)."""

from __future__ import annotations

import polars as pl

from hlteval.findings.suggest import closest_files
from hlteval.validators.ccu.classes import NOT_ANNOTATED, NOTHING
from hlteval.validators.ccu.context import (
    TABLES,
    is_stream,
    is_text,
    number,
    shown,
    stretches,
    with_documents,
    with_hints,
)
from hlteval.validators.rule import RECORD, RuleContext, about_file, at, first_of, only_if

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
    return with_documents(listed.rename({"name": "index"}), context)


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
    strange = with_documents(every, context).join(
        listed, on="document", how="anti", maintain_order="left"
    )
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
    return with_documents(context.table("regions", *RECORD, "region", "start", "end"), context)


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
    joined = with_documents(rows, context).join(
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


# Rules over the documents of a submission and its index (CCU301, CCU302, CCU308 and CCU309).


INDEX = "system_output.index.tab"


def _inputs(context: RuleContext) -> pl.LazyFrame:
    """The names of the documents that systems process, of what is checked against.

    They are those that its first index of all documents lists, or else all that it has.
    """
    against = context.against
    rows = against.attributes.lazy().filter(
        pl.col("element") == "index", pl.col("name").str.ends_with(INPUTS)
    )
    first = rows.filter(pl.col("name") == pl.col("name").min()).select(row="document").unique()
    names = against.documents.lazy().select("row", "name")
    listed = names.join(first, on="row", how="semi", maintain_order="left").collect()
    return (listed.lazy() if listed.height else names).select("name").unique(maintain_order=True)


def _known(context: RuleContext) -> bool:
    return not context.own and context.against.documents.height > 0


def _listed(context: RuleContext) -> pl.LazyFrame:
    """The rows of the index of the submission."""
    return context.cached(index_rows).filter(pl.col("index") == INDEX)


def missing_document(context: RuleContext) -> pl.LazyFrame:
    """An input that the index does not list."""
    listed = context.cached(_listed)
    missing = _inputs(context).join(listed, on="name", how="anti", maintain_order="left")
    origin = listed.select(pl.col("origin").first())
    rows = only_if(_known(context), missing).join(origin, how="cross").sort("name")
    return about_file(rows.with_columns(document=shown("name")))


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document of the index that is not an input."""
    known = _inputs(context)
    listed = only_if(_known(context), context.cached(_listed))
    found = listed.join(known, on="name", how="anti", maintain_order="left")
    names = known.collect()["name"].to_list()

    def hints(unknown: pl.Series) -> dict[str, str]:
        meant = closest_files(unknown.unique().to_list(), names)
        return {name: f"did you mean {other}?" for name, other in meant.items()}

    hinted = with_hints(found, "name", hints, "remove the line, and its file")
    return at(hinted.with_columns(document=shown("name")), "file_id")


def no_rows(context: RuleContext) -> pl.LazyFrame:
    """A document that was processed, and whose file has no levels."""
    rows = context.table(TABLES[context.schema.task], "document").unique()
    index = context.cached(_listed).select("origin").unique()
    own = context.table("documents", "row", "name", "origin", "processed").filter("processed")
    filed = own.rename({"row": "document"}).join(
        index, on="origin", how="anti", maintain_order="left"
    )
    bare = filed.join(rows, on="document", how="anti", maintain_order="left")
    return about_file(bare.with_columns(document=shown("name")))


def other_output(context: RuleContext) -> pl.LazyFrame:
    """The first row in each file of output that is not that of norms."""
    place = ("row", "origin", "record")
    instances = context.table("instances", *place, "kind").rename({"kind": "what"})
    others = [
        instances.filter(pl.col("what") != "norm"),
        context.table("ratings", *place, "kind").rename({"kind": "what"}),
        context.table("changes", *place).with_columns(what=pl.lit("change point")),
    ]
    found = first_of(pl.concat(others), "origin")
    return at(found.with_columns(id=pl.lit(None, pl.String)), "")


# Rules over the annotation of a reference: norms, emotions, levels, change points (CCU801 to 809).
#
# `none` means that an annotator found nothing, `noann` that nobody annotated.


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
    return with_documents(context.table("changes", *RECORD, "at"), context)


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
