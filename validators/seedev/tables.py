"""Tables of SeeDev that several rules use."""

from __future__ import annotations

import polars as pl

from hlteval.validators.rule import RuleContext, at


def nested(context: RuleContext) -> pl.LazyFrame:
    """The arguments that are events, at their targets."""
    rows = context.arguments.filter(pl.col("filler") == "frame").rename({"frame": "id"})
    return at(rows, pl.format("target {}", "position"))


def members(context: RuleContext) -> pl.LazyFrame:
    """The members of equivalences, each at its `position`."""
    columns = ("row", "document", "origin", "record", "group", "member")
    position = pl.int_range(1, pl.len() + 1).over("document", "group")
    groups = context.table("groups", *columns).with_columns(position=position, id=pl.lit("*"))
    return at(groups, pl.format("member {}", "position"))
