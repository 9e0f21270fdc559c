"""Tables of SeeDev that several rules use."""

from __future__ import annotations

import polars as pl

from hlteval.representation import row_hash
from hlteval.validators.rule import RECORD, RuleContext, at

KIND = ["label", "role", "filler", "filler_label"]


def kind_rows(context: RuleContext) -> list[tuple[str, str, str | None, str | None]]:
    """The kinds of arguments, as `KIND`."""
    return context.cached(kinds).collect().rows()


def are_nested(context: RuleContext) -> bool:
    """Whether any argument is an event."""
    return any(filler == "frame" for _, _, filler, _ in context.once(kind_rows))


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


def kinds(context: RuleContext) -> pl.LazyFrame:
    """The kinds of arguments: type of the event, role, and kind and type of the filler.

    There are few, however many arguments there are.
    """
    return context.arguments.select(KIND).filter(row_hash(*KIND).is_first_distinct())


def contents(context: RuleContext) -> pl.LazyFrame:
    """The events, each with sums of hashes of its arguments, which do not depend on their order.

    `roles` is equal for events with the same roles, `content` for those that also have the same
    targets, in commutative events in whatever roles. `row` is that of `frames`; sums are null for
    events without arguments.
    """
    schema = context.schema
    both = [event.label for event in schema.events.values() if event.commutative]
    role, target = pl.col("role").hash(1), pl.col("target").hash(2)
    free = pl.col("label").is_in(both) & ~pl.col("role").is_in(schema.conditions)
    shown = pl.when(free).then(pl.lit(0, pl.UInt64)).otherwise(role) if both else role
    hashes = context.arguments.select("frame_row", roles=role, content=(shown + target).hash(3))
    sums = hashes.group_by(row="frame_row").agg(pl.col("roles", "content").sum())
    events = context.records("frames", "label")
    return events.join(sums, on="row", how="left", maintain_order="left")


def labelled(context: RuleContext) -> pl.LazyFrame:
    """Every record that has a type, with the `kind` of its annotation."""
    tables = _by_kind(context).items()
    return pl.concat(table.with_columns(kind=pl.lit(kind)) for kind, table in tables)


def labels(context: RuleContext) -> pl.LazyFrame:
    """The types of the records, each with the `kind` of an annotation that has it."""
    return pl.concat(
        rows.select("label").unique().with_columns(kind=pl.lit(kind))
        for kind, rows in _by_kind(context).items()
    )


def label_rows(context: RuleContext) -> list[tuple[str, str]]:
    """The types of the records, each with the `kind` of an annotation that has it."""
    return context.cached(labels).collect().rows()


def _by_kind(context: RuleContext) -> dict[str, pl.LazyFrame]:
    rejected = context.records("rejected_records", "label", "code", "kind").drop_nulls("label")
    modifiers = context.records("modifiers", "label")
    normalization = pl.col("id").str.starts_with("N")
    tables = {
        "a text span": context.records("mentions", "label"),
        "an event": context.records("frames", "label"),
        "a modifier": modifiers.filter(~normalization),
        "a normalisation": modifiers.filter(normalization),
        "a record": rejected.filter(pl.col("code") != "STD101", pl.col("kind") != "group"),
    }
    return {kind: rows.select(*RECORD, "id", "label") for kind, rows in tables.items()}
