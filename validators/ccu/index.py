"""Rules over the documents of a submission and its index (CCU301, CCU302, CCU308 and CCU309)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.findings.suggest import closest_files
from hlteval.validators.ccu.context import TABLES, shown
from hlteval.validators.ccu.reference import INPUTS, index_rows
from hlteval.validators.rule import RuleContext, about_file, at, first_of, only_if

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
    found = listed.join(known, on="name", how="anti", maintain_order="left").collect()
    names = known.collect()["name"].to_list()
    hints: Mapping[str, str] = closest_files(found["name"].unique().to_list(), names)
    said = {name: f"did you mean {other}?" for name, other in hints.items()}
    hint = pl.col("name").replace_strict(said, default=None, return_dtype=pl.String)
    hinted = found.lazy().with_columns(hint=hint.fill_null("remove the line, and its file"))
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
