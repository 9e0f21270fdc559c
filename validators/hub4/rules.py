"""Rules of HUB-4 templettes: instances, slots and fills of a template set.

What breaks the grammar of a line is told by the reader, what the corpus says by `hub4_extents`.
"""

from __future__ import annotations

import polars as pl

from hlteval.validators.hub4.extents import (
    blanks_differ,
    is_number,
    like_slot,
    off_throughout,
    outside_document,
    text_differs,
    two_in_one,
    unknown_document,
    unknown_sets,
)
from hlteval.validators.hub4.setup import among, fills, frames, only, texts
from hlteval.validators.rule import Rule, RuleContext


def no_instance(case: RuleContext) -> pl.LazyFrame:
    """A file in which no instance is."""
    empty = case.system.frames.is_empty() and case.system.rejected_records.is_empty()
    number, text = pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    rows = (
        case.table("sources")
        .select(origin="row")
        .with_columns(record=number, field=pl.lit(""), id=text)
    )
    return only(rows, empty)


def duplicate_instance(case: RuleContext) -> pl.LazyFrame:
    """An instance that has the pointer of an earlier one."""
    rows = frames(case).filter(pl.col("frame").is_duplicated())
    first = pl.col("record").first().over("frame")
    return rows.with_columns(first=first).filter(pl.col("record") != first)


def slot_twice(case: RuleContext) -> pl.LazyFrame:
    """A slot that its instance has already."""
    again = fills(case).filter("begins").filter(pl.struct("frame_row", "slot").is_duplicated())
    first = pl.col("record").first().over("frame_row", "slot")
    return again.with_columns(first=first, field=pl.lit("slot")).filter(pl.col("record") != first)


def no_top(case: RuleContext) -> pl.LazyFrame:
    """A set without the instance that ties it together."""
    rows = frames(case).join(unknown_sets(case), on="document", how="anti", maintain_order="left")
    rows = rows.with_columns(top=(pl.col("label") == case.schema.top).any().over("name"))
    first = rows.filter(~pl.col("top")).unique("name", keep="first", maintain_order=True)
    return first.with_columns(top=pl.lit(case.schema.top))


def several_tops(case: RuleContext) -> pl.LazyFrame:
    """A second instance that ties a set together."""
    tops = frames(case).filter(pl.col("label") == case.schema.top)
    one = tops.unique("frame", keep="first", maintain_order=True)
    first = pl.col("record").first().over("name")
    return one.with_columns(first=first, top="label").filter(pl.col("record") != first)


def scattered_set(case: RuleContext) -> pl.LazyFrame:
    """A set that goes on after another."""
    rows = frames(case)
    begins = pl.col("document") != pl.col("document").shift()
    stretches = rows.filter(begins.fill_null(value=True))
    last = pl.col("record").shift().over("document")
    return stretches.with_columns(first=last).filter(last.is_not_null())


def _pointers(case: RuleContext) -> pl.LazyFrame:
    """The pointers with the document of the instance that they lead to, null if to none."""
    known = case.table("frames").unique("frame", keep="first", maintain_order=True)
    pointers = fills(case).filter(pl.col("kind") == "pointer")
    return pointers.join(
        known.select(target="frame", leads_to="document", target_row="row"),
        on="target",
        how="left",
        maintain_order="left",
    )


def dangling_pointer(case: RuleContext) -> pl.LazyFrame:
    """A pointer to an instance that is not there; not where its header could not be read."""
    unread = case.system.rejected_records.filter(pl.col("code") == "HUB102")
    types = unread["text"].str.extract("^< *([A-Za-z0-9_]+)", 1).drop_nulls().to_list()
    kind = pl.col("target").str.extract("^([A-Za-z0-9_]+)", 1)
    return _pointers(case).filter(pl.col("leads_to").is_null() & ~kind.is_in(types))


def pointer_elsewhere(case: RuleContext) -> pl.LazyFrame:
    """A pointer into the set of another document."""
    strange = unknown_sets(case).select(leads_to="document")
    elsewhere = _pointers(case).filter(pl.col("leads_to") != pl.col("document"))
    return elsewhere.join(strange, on="leads_to", how="anti", maintain_order="left")


def pointer_twice(case: RuleContext) -> pl.LazyFrame:
    """A pointer that stands twice in one alternative."""
    key = ["frame_row", "slot_number", "alternative", "target"]
    again = _pointers(case).filter(pl.struct(key).is_duplicated())
    first = pl.col("record").first().over(key)
    return again.with_columns(first=first).filter(pl.col("record") != first)


def unreferred(case: RuleContext) -> pl.LazyFrame:
    """An instance that no pointer leads to, in a set whose top instance can be read."""
    led = _pointers(case).select(frame="target")
    others = frames(case).filter(pl.col("label") != case.schema.top)
    tops = frames(case).filter(pl.col("label") == case.schema.top).select("document")
    alone = others.join(led, on="frame", how="anti", maintain_order="left")
    once = alone.unique("frame", keep="first", maintain_order=True)
    slot = case.schema.pointers[0] if case.schema.pointers else ""
    return once.join(tops, on="document", how="semi", maintain_order="left").with_columns(
        slot=pl.lit(slot)
    )


def several_alternatives(case: RuleContext) -> pl.LazyFrame:
    """A slot of a system with more than one alternative."""
    second = (pl.col("alternative") == 2) & (pl.col("position") == 1)
    return only(fills(case).filter(second), case.schema.system)


def several_extents(case: RuleContext) -> pl.LazyFrame:
    """A fill of a system with more than one extent."""
    rows = texts(case).filter(pl.col("extents").list.len() > 1)
    return only(rows.with_columns(field=pl.lit("extent 2")), case.schema.system)


def no_extents(case: RuleContext) -> pl.LazyFrame:
    """A text without extents in a slot that is scored."""
    rows = texts(case).filter(pl.col("extents").is_null() & ~like_slot() & ~is_number())
    return rows.filter(~among(case.schema.unscored) & ~pl.col("full").is_in(case.schema.pointers))


def mixed_fills(case: RuleContext) -> pl.LazyFrame:
    """A slot with pointers and texts: the first fill that is not of the first one's kind."""
    slot = ["frame_row", "slot_number"]
    other = fills(case).filter(pl.col("kind") != pl.col("first_kind"))
    other = other.filter(~pl.col("full").is_in(case.schema.pointers))
    return other.unique(slot, keep="first", maintain_order=True)


def several_fills(case: RuleContext) -> pl.LazyFrame:
    """An alternative with more than one fill, in a slot that should have one."""
    same = pl.col("kind") == pl.col("first_kind")
    second = fills(case).filter((pl.col("position") == 2) & same & ~like_slot())
    return second.filter(~pl.col("full").is_in(case.schema.pointers))


def like_a_slot(case: RuleContext) -> pl.LazyFrame:
    """A text that looks like a slot, or a slot that looks like a text."""
    like = texts(case).filter(like_slot())
    like = like.with_columns(given=pl.col("text"), reading=pl.lit("a text"))
    numbers = fills(case).filter(is_number())
    numbers = numbers.with_columns(
        given=pl.col("slot"), reading=pl.lit("a slot name"), field=pl.lit("slot")
    )
    return pl.concat([like, numbers])


def text_for_pointer(case: RuleContext) -> pl.LazyFrame:
    """A text in a slot that holds pointers."""
    return texts(case).filter(pl.col("full").is_in(case.schema.pointers) & ~like_slot())


def unbalanced_brackets(case: RuleContext) -> pl.LazyFrame:
    """A text of a reference whose brackets do not balance, or hold nothing."""
    has = pl.col("text").str.contains(r"[\[\]]") & pl.col("brackets").is_null()
    return only(texts(case).filter(has & ~among(case.schema.unscored)), not case.schema.system)


def count_of_extents(case: RuleContext) -> pl.LazyFrame:
    """A text of a reference with more or fewer extents than strings."""
    wanted = 1 + pl.col("brackets").list.len().fill_null(0)
    odd = pl.col("brackets").is_null() & pl.col("text").str.contains(r"[\[\]]")
    rows = texts(case).with_columns(
        wanted=wanted, count=pl.col("extents").list.len(), field=pl.lit("extents")
    )
    wrong = rows.filter((pl.col("count") != pl.col("wanted")) & ~odd)
    return only(wrong, not case.schema.system)


def _each_extent(some: pl.LazyFrame) -> pl.LazyFrame:
    """The extents of some texts, one a row, with their `ordinal` and the first of their text."""
    outer = pl.col("extents").list.get(0).struct
    rows = some.with_columns(
        outer_start=outer.field("start"),
        outer_end=outer.field("end"),
        ordinal=pl.int_ranges(1, pl.col("extents").list.len() + 1),
    )
    each = rows.explode("extents", "ordinal").drop("text").unnest("extents")
    return each.with_columns(field=pl.concat_str(pl.lit("extent "), "ordinal"))


def minimal_outside(case: RuleContext) -> pl.LazyFrame:
    """An extent of a minimal string that is not enclosed in that of the maximal string."""
    start, end = pl.col("start"), pl.col("end")
    inside = (start >= pl.col("outer_start")) & (end <= pl.col("outer_end"))
    right = (pl.col("outer_start") < pl.col("outer_end")) & (start < end)
    first, numbers = pl.col("extents").list.get(0).struct, pl.col("extents").list
    low = numbers.eval(pl.element().struct.field("start")).list.min() < first.field("start")
    high = numbers.eval(pl.element().struct.field("end")).list.max() > first.field("end")
    rows = _each_extent(texts(case).filter(low | high)).filter(
        (pl.col("ordinal") > 1) & ~inside & right
    )
    return only(rows, not case.schema.system)


def reversed_extent(case: RuleContext) -> pl.LazyFrame:
    """An extent that ends where it starts, or before."""
    start, end = pl.element().struct.field("start"), pl.element().struct.field("end")
    some = texts(case).filter(pl.col("extents").list.eval(start >= end).list.any())
    return _each_extent(some).filter(pl.col("start") >= pl.col("end"))


def empty_text(case: RuleContext) -> pl.LazyFrame:
    """A text that holds nothing."""
    return texts(case).filter(pl.col("text").str.strip_chars() == "")


def unknown_status(case: RuleContext) -> pl.LazyFrame:
    """A status that is not known."""
    said = fills(case).filter(
        pl.col("slot") == case.schema.status, pl.col("text").str.strip_chars() != ""
    )
    known = pl.col("text").str.to_uppercase().is_in(case.schema.optional)
    return only(said.filter(~known), not case.schema.system)


def optional_in_system(case: RuleContext) -> pl.LazyFrame:
    """What a system marks as optional."""
    status = pl.col("slot") == case.schema.status
    rows = fills(case).filter(pl.col("optional") | status)
    once = rows.unique(["frame_row", "slot_number"], keep="first", maintain_order=True)
    return only(once.with_columns(field=pl.lit("")), case.schema.system)


def other_document(case: RuleContext) -> pl.LazyFrame:
    """A slot for the document's identifier that names another one."""
    said = texts(case).filter(pl.col("slot") == case.schema.document)
    return said.filter(pl.col("text").str.strip_chars() != pl.col("name"))


def two_in_a_line(case: RuleContext) -> pl.LazyFrame:
    """A text that holds extents: two fills in one line."""
    return texts(case).filter(two_in_one())


RULES = (
    Rule("HUB201", "frames", duplicate_instance),
    Rule("HUB202", "fills", slot_twice),
    Rule("HUB203", "frames", no_top),
    Rule("HUB204", "frames", several_tops),
    Rule("HUB205", "frames", scattered_set),
    Rule("HUB206", "fills", dangling_pointer),
    Rule("HUB207", "fills", pointer_elsewhere),
    Rule("HUB208", "fills", pointer_twice),
    Rule("HUB209", "frames", unreferred),
    Rule("HUB210", "fills", several_alternatives),
    Rule("HUB211", "fills", several_extents),
    Rule("HUB212", "fills", no_extents),
    Rule("HUB213", "fills", mixed_fills),
    Rule("HUB214", "fills", several_fills),
    Rule("HUB215", "fills", like_a_slot),
    Rule("HUB216", "fills", text_for_pointer),
    Rule("HUB217", "fills", unbalanced_brackets),
    Rule("HUB218", "fills", count_of_extents),
    Rule("HUB219", "fills", minimal_outside),
    Rule("HUB220", "fills", reversed_extent),
    Rule("HUB221", "fills", empty_text),
    Rule("HUB222", "fills", unknown_status),
    Rule("HUB223", "fills", optional_in_system),
    Rule("HUB224", "fills", other_document),
    Rule("HUB225", "sources", no_instance),
    Rule("HUB226", "fills", two_in_a_line),
    Rule("HUB301", "frames", unknown_document),
    Rule("HUB302", "fills", outside_document),
    Rule("HUB303", "fills", text_differs),
    Rule("HUB304", "fills", blanks_differ),
    Rule("HUB305", "fills", off_throughout),
)
