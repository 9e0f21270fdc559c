"""Tables of situations that several rules use."""

from __future__ import annotations

import polars as pl

from hlteval.validators.rule import RuleContext


def frames(context: RuleContext) -> pl.LazyFrame:
    """The frames with the names of their segments, as `segment`."""
    rows = context.records("frames", "label", "place")
    names = context.names.rename({"name": "segment"})
    return rows.join(names, on="document", how="left", maintain_order="left")


def evaluated_types(context: RuleContext) -> list[str]:
    """The types that are evaluated: all of the specification, or those of the file of --types."""
    if "types" in context.lists:
        return context.lists["types"].documents["name"].to_list()
    return [*context.schema]
