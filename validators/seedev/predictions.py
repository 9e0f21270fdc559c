"""Rules of SeeDev about what a submission predicts at all (SEE307, SEE309, SEE403)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.rule import RuleContext, about_file, at, only_if


def predicted_mention(context: RuleContext) -> pl.LazyFrame:
    """A text span in a submission; entities are given."""
    given = context.reference_mentions.rename({"mention": "id"})
    mentions = context.records("mentions")
    added = mentions.join(given, on=["document", "id"], how="anti", maintain_order="left")
    return at(only_if(not context.own, added), "")


def predicted_equivalence(context: RuleContext) -> pl.LazyFrame:
    """An equivalence in a submission; the official software ignores it."""
    groups = context.table("groups", "document", "origin", "record", "group")
    groups = groups.unique(["document", "group"], keep="first", maintain_order=True)
    return at(only_if(not context.own, groups), "").with_columns(id=pl.lit("*"))


def some_are_empty(context: RuleContext) -> bool:
    """Whether any file of predictions has no event."""
    files = context.system.sources["member"].str.ends_with(".a2").sum()
    return context.system.frames["origin"].n_unique() < files


def empty_prediction(context: RuleContext) -> pl.LazyFrame:
    """A file of predictions without an event, for a document that has some."""
    files = context.table("sources", "row", "member")
    files = files.filter(pl.col("member").str.ends_with(".a2"))
    tables = ("frames", "mentions", "modifiers", "groups", "rejected_records")
    used = pl.concat(context.table(name, "origin") for name in tables)
    empty = files.join(used, left_on="row", right_on="origin", how="anti")
    empty = empty.select(origin="row", name=pl.col("member").str.extract(r"([^/]*)\.a2$"))
    known = context.against.documents.lazy().select("name", document="row")
    events = context.against.frames.lazy().group_by("document").agg(events=pl.len())
    found = empty.join(known, on="name", maintain_order="left").join(events, on="document")
    return about_file(found)
