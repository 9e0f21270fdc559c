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


# Rules of HUB-4 about the numbers of extents and minimal strings (HUB217 to HUB220).


def unbalanced_brackets(context: RuleContext) -> pl.LazyFrame:
    """A text of a reference whose brackets do not balance, or hold nothing."""
    has = pl.col("text").str.contains(r"[\[\]]") & pl.col("brackets").is_null()
    return only_if(
        not context.schema.system, texts(context).filter(has & ~among(context.schema.unscored))
    )


def count_of_extents(context: RuleContext) -> pl.LazyFrame:
    """A text of a reference with more or fewer extents than strings."""
    wanted = 1 + pl.col("brackets").list.len().fill_null(0)
    odd = pl.col("brackets").is_null() & pl.col("text").str.contains(r"[\[\]]")
    rows = texts(context).with_columns(
        wanted=wanted, count=pl.col("extents").list.len(), field=pl.lit("extents")
    )
    wrong = rows.filter((pl.col("count") != pl.col("wanted")) & ~odd)
    return only_if(not context.schema.system, wrong)


def _each_extent(some: pl.LazyFrame) -> pl.LazyFrame:
    """The extents of some texts, a row each, with their `ordinal` and the first of their text."""
    outer = pl.col("extents").list.get(0).struct
    rows = some.with_columns(
        outer_start=outer.field("start"),
        outer_end=outer.field("end"),
        ordinal=pl.int_ranges(1, pl.col("extents").list.len() + 1),
    )
    each = rows.explode("extents", "ordinal").drop("text").unnest("extents")
    return at(each, pl.format("extent {}", "ordinal"))


def minimal_outside(context: RuleContext) -> pl.LazyFrame:
    """An extent of a minimal string that is not enclosed in that of the maximal string."""
    start, end = pl.col("start"), pl.col("end")
    inside = (start >= pl.col("outer_start")) & (end <= pl.col("outer_end"))
    right = (pl.col("outer_start") < pl.col("outer_end")) & (start < end)
    first, numbers = pl.col("extents").list.get(0).struct, pl.col("extents").list
    low = numbers.eval(pl.element().struct.field("start")).list.min() < first.field("start")
    high = numbers.eval(pl.element().struct.field("end")).list.max() > first.field("end")
    rows = _each_extent(texts(context).filter(low | high)).filter(
        (pl.col("ordinal") > 1) & ~inside & right
    )
    return only_if(not context.schema.system, rows)


def reversed_extent(context: RuleContext) -> pl.LazyFrame:
    """An extent that ends where it starts, or before."""
    start, end = pl.element().struct.field("start"), pl.element().struct.field("end")
    some = texts(context).filter(pl.col("extents").list.eval(start >= end).list.any())
    return _each_extent(some).filter(pl.col("start") >= pl.col("end"))
