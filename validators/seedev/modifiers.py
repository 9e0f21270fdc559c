"""Rules of SeeDev about modifiers (SEE207, SEE208, STD303)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.rule import RuleContext, at


def _modified(context: RuleContext) -> pl.LazyFrame:
    """The modifiers of the task with their targets; null where the reference is dangling."""
    modifiers = context.records("modifiers", "label", "target")
    known = modifiers.filter(pl.col("label").is_in(context.schema.modifiers.keys()))
    key = ["document", "target"]
    return at(known.join(context.items, on=key, how="left", maintain_order="left"), "target")


def modified_mention(context: RuleContext) -> pl.LazyFrame:
    """A modifier whose target is not an event; of records that cannot be read, the type says so."""
    read = pl.col("filler").is_in(["given", "mention", "modifier"])
    others = context.schema.labels - context.schema.events.keys()
    unread = (pl.col("filler") == "unread") & pl.col("filler_label").is_in(others)
    return _modified(context).filter(read | unread)


def too_many_modifiers(context: RuleContext) -> pl.LazyFrame:
    """An event with more modifiers of a type than it may have, at each one too many."""
    found = _modified(context).filter(pl.col("filler") == "frame")
    number = pl.int_range(1, pl.len() + 1).over("filler_row", "label")
    limits = dict(context.schema.modifiers)
    limit = pl.col("label").replace_strict(limits, default=0, return_dtype=pl.Int64)
    return found.with_columns(number=number, limit=limit).filter(pl.col("number") > pl.col("limit"))


def forward_modifier(context: RuleContext) -> pl.LazyFrame:
    """A modifier before the event that it modifies."""
    frames = context.table("frames", "document", "origin", "record", "frame")
    frames = frames.unique(["document", "frame"], keep="first", maintain_order=True)
    defined = frames.rename({"frame": "target", "record": "defined"})
    modifiers = context.records("modifiers", "target")
    found = modifiers.join(defined, on=["document", "origin", "target"], maintain_order="left")
    return at(found.filter(pl.col("record") < pl.col("defined")), "target")
