"""Rules of declared tasks about labels, and about the arguments of relations and events."""

import polars as pl

from hlteval.findings.suggest import did_you_mean, hints
from hlteval.validators.generic.schema import Allowed
from hlteval.validators.rule import IDENTIFIERS, RECORD, RuleContext, at, only_if

#: The most labels that a hint lists.
_SHOWN = 12


def records(context: RuleContext, *columns: str) -> pl.LazyFrame:
    """The records of the units of a task, with some of their columns."""
    schema: Allowed = context.schema
    if schema.table in IDENTIFIERS:
        return context.records(schema.table, *columns)
    rows = context.table(schema.table, *RECORD, *columns)
    return rows.with_columns(id=pl.lit(None, pl.String))


def unknown_label(context: RuleContext, *, severity: str) -> pl.LazyFrame:
    """A unit whose label is not declared.

    Args:
        context: the submission.
        severity: how the task reports such labels.
    """
    schema: Allowed = context.schema
    own = bool(schema.labels) and schema.undeclared == severity
    rows = only_if(own, records(context, "label").drop_nulls("label"))
    present = rows.select("label").unique().collect()["label"].to_list() if own else []
    more = f" and {len(schema.labels) - _SHOWN} more" if len(schema.labels) > _SHOWN else ""
    listed = f"use {', '.join(schema.labels[:_SHOWN])}{more}"
    meant = hints(schema.wrong_labels(sorted(present)), schema.labels, listed)
    wrong = pl.LazyFrame(
        {"label": [*meant], "hint": [*meant.values()]},
        schema={"label": pl.String, "hint": pl.String},
    )
    return at(rows.join(wrong, on="label", maintain_order="left"), "label")


def _arguments(context: RuleContext) -> pl.LazyFrame:
    """The arguments of relations and events whose roles are declared, with their frames."""
    schema: Allowed = context.schema
    own = pl.col("label").is_in(list(schema.roles))
    return context.all_arguments.filter(own).rename({"frame": "id"})


def unknown_role(context: RuleContext) -> pl.LazyFrame:
    """An argument of a role that its label does not have."""
    schema: Allowed = context.schema
    rows = only_if(bool(schema.roles), _arguments(context))
    pairs = rows.select("label", "role").unique().collect() if schema.roles else pl.DataFrame()
    meant = [
        (label, role, did_you_mean(role, known, f"{label} has {', '.join(known)}"))
        for label, role in pairs.iter_rows()
        if role not in (known := schema.roles[label])
    ]
    names = dict.fromkeys(("label", "role", "hint"), pl.String)
    wrong = rows.join(pl.LazyFrame(meant, names, orient="row"), on=["label", "role"])
    return at(wrong, pl.format("role {}", "position"))


def wrong_filler(context: RuleContext) -> pl.LazyFrame:
    """An argument that is filled by an entity of another label."""
    schema: Allowed = context.schema
    rows = only_if(bool(schema.roles), _arguments(context)).drop_nulls("filler_label")
    allowed = [
        (label, role, types)
        for label, roles in schema.roles.items()
        for role, types in roles.items()
    ]
    known = pl.LazyFrame(
        allowed,
        schema={"label": pl.String, "role": pl.String, "types": pl.List(pl.String)},
        orient="row",
    )
    fitting = rows.join(known, on=["label", "role"], maintain_order="left")
    wrong = fitting.filter(~pl.col("filler_label").is_in("types"))
    return at(
        wrong.with_columns(given="filler_label", allowed=pl.col("types").list.join(" or ")),
        pl.format("target {}", "position"),
    )


def too_many(context: RuleContext) -> pl.LazyFrame:
    """The first unit of a label that is one too many for its document."""
    schema: Allowed = context.schema
    most = pl.LazyFrame(
        {"label": [*schema.at_most], "most": [*schema.at_most.values()]},
        schema={"label": pl.String, "most": pl.Int64},
    )
    rows = only_if(bool(schema.at_most), context.records("frames", "label"))
    key = ["document", "label"]
    rows = rows.join(most, on="label", maintain_order="left").with_columns(
        ordinal=pl.int_range(pl.len()).over(key), count=pl.len().over(key)
    )
    return at(rows.filter(pl.col("ordinal") == pl.col("most")), "label")
