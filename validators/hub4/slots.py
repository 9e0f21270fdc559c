"""Rules of HUB-4 about slots, their alternatives and fills (HUB21x, HUB22x)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.hub4.tables import (
    among,
    fills,
    is_number,
    like_slot,
    texts,
    two_in_one,
    undefined,
    unknown_sets,
    without_colon,
)
from hlteval.validators.rule import RuleContext, at, only_if


def slot_twice(context: RuleContext) -> pl.LazyFrame:
    """A slot that its instance has twice, unless a header between them was not recognized."""
    again = fills(context).filter("begins").filter(pl.struct("frame_row", "slot").is_duplicated())
    first = pl.col("record").first().over("frame_row", "slot")
    again = again.with_columns(first=first, field=pl.lit("slot")).filter(pl.col("record") != first)
    return again.join(undefined(context), on="frame_row", how="anti", maintain_order="left")


def several_alternatives(context: RuleContext) -> pl.LazyFrame:
    """A slot of a system with more than one alternative."""
    second = (pl.col("alternative") == 2) & (pl.col("position") == 1)
    return only_if(context.schema.system, fills(context).filter(second))


def several_extents(context: RuleContext) -> pl.LazyFrame:
    """A fill of a system with more than one extent."""
    rows = texts(context).filter(pl.col("extents").list.len() > 1)
    return at(only_if(context.schema.system, rows), "extent 2")


def no_extents(context: RuleContext) -> pl.LazyFrame:
    """A text without extents in a slot that is scored."""
    rows = texts(context).filter(pl.col("extents").is_null() & ~like_slot() & ~is_number())
    return rows.filter(
        ~among(context.schema.unscored) & ~pl.col("full").is_in(context.schema.pointers)
    )


def mixed_fills(context: RuleContext) -> pl.LazyFrame:
    """A slot with pointers and texts: the first fill that is not of the first one's kind."""
    slot = ["frame_row", "slot_number"]
    other = fills(context).filter(pl.col("kind") != pl.col("first_kind"))
    other = other.filter(~pl.col("full").is_in(context.schema.pointers))
    return other.unique(slot, keep="first", maintain_order=True)


def several_fills(context: RuleContext) -> pl.LazyFrame:
    """An alternative with more than one fill, in a slot that should have one."""
    same = pl.col("kind") == pl.col("first_kind")
    second = fills(context).filter((pl.col("position") == 2) & same & ~like_slot())
    return second.filter(~pl.col("full").is_in(context.schema.pointers))


def like_a_slot(context: RuleContext) -> pl.LazyFrame:
    """A text that looks like a slot, or a slot that looks like a text."""
    like = texts(context).filter(like_slot())
    like = like.with_columns(given=pl.col("text"), reading=pl.lit("a text"))
    numbers = fills(context).filter(is_number())
    numbers = numbers.with_columns(
        given=pl.col("slot"), reading=pl.lit("a slot name"), field=pl.lit("slot")
    )
    return pl.concat([like, numbers])


def slot_without_colon(context: RuleContext) -> pl.LazyFrame:
    """A line that is a fill of the slot before it, and likely a slot without its colon."""
    return texts(context).with_columns(name=without_colon()).drop_nulls("name")


def text_for_pointer(context: RuleContext) -> pl.LazyFrame:
    """A text in a slot that holds pointers."""
    return texts(context).filter(pl.col("full").is_in(context.schema.pointers) & ~like_slot())


def empty_text(context: RuleContext) -> pl.LazyFrame:
    """An empty text."""
    return texts(context).filter(pl.col("text").str.strip_chars() == "")


def unknown_status(context: RuleContext) -> pl.LazyFrame:
    """An unknown status."""
    written = pl.col("text").str.strip_chars() != ""
    rows = fills(context).filter(pl.col("slot") == context.schema.status, written)
    known = pl.col("text").str.to_uppercase().is_in(context.schema.optional)
    return only_if(not context.schema.system, rows.filter(~known))


def optional_in_system(context: RuleContext) -> pl.LazyFrame:
    """An instance or slot that a system marks as optional."""
    status = pl.col("slot") == context.schema.status
    rows = fills(context).filter(pl.col("optional") | status)
    once = rows.unique(["frame_row", "slot_number"], keep="first", maintain_order=True)
    return at(only_if(context.schema.system, once), "")


def other_document(context: RuleContext) -> pl.LazyFrame:
    """A slot for the document's identifier that names another one."""
    rows = texts(context).filter(pl.col("slot") == context.schema.document)
    strange = unknown_sets(context)
    rows = rows.join(strange, on="document", how="anti", maintain_order="left")
    rows = rows.join(undefined(context), on="frame_row", how="anti", maintain_order="left")
    return rows.filter(pl.col("text").str.strip_chars() != pl.col("name"))


def two_in_a_line(context: RuleContext) -> pl.LazyFrame:
    """A text that holds extents: two fills in one line."""
    return texts(context).filter(two_in_one())
