"""Rules of SeeDev about types: of text spans, events and modifiers (SEE101 to SEE104, SEE308)."""

from __future__ import annotations

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.validators.rule import RuleContext, about_file, at, only_if
from hlteval.validators.seedev.schema import EventSchema
from hlteval.validators.seedev.tables import label_rows, labelled, labels


def _with_labels(context: RuleContext, wrong: pl.DataFrame) -> pl.LazyFrame:
    """The records whose kind and type are in a table of wrong ones, with its other columns."""
    records = only_if(wrong.height > 0, labelled(context))
    return at(records.join(wrong.lazy(), on=["kind", "label"], maintain_order="left"), "label")


def unknown_type(context: RuleContext) -> pl.LazyFrame:
    """A type that neither task has."""
    schema = context.schema
    return _with_hints(context, ~pl.col("label").is_in(schema.labels | schema.elsewhere.keys()))


def type_of_other_task(context: RuleContext) -> pl.LazyFrame:
    """A type that only the other task has; SEE103 reports that if all events have such types."""
    schema = context.schema
    return _with_hints(context, pl.col("label").is_in(schema.elsewhere.keys() - schema.labels))


def any_is_strange(context: RuleContext) -> bool:
    """Whether a type may be unknown, or on a record of another kind than its own."""
    due = _kinds(context.schema)
    return any(
        label not in due or kind not in {due[label], "a record"}
        for label, kind in context.once(label_rows)
    )


def any_is_elsewhere(context: RuleContext) -> bool:
    """Whether a type is one of the events of the other task."""
    return any(label in context.schema.other_events for label, _ in context.once(label_rows))


def _with_hints(context: RuleContext, wrong: pl.Expr) -> pl.LazyFrame:
    """The records with a type that is wrong, and how to correct it."""
    unknown = context.cached(labels).filter(wrong).collect()
    hints = [_hint(label, kind, context.schema) for label, kind in unknown.iter_rows()]
    return _with_labels(context, unknown.with_columns(hint=pl.Series(hints, dtype=pl.String)))


def _hint(label: str, kind: str, schema: EventSchema) -> str:
    if label not in schema.elsewhere:
        types = {"a text span": schema.mentions, "an event": schema.events}
        listed = types.get(kind, schema.labels)
        otherwise = f"the types of {schema.task} are {', '.join(sorted(listed))}"
        return did_you_mean(label, sorted(schema.labels), otherwise)
    own = schema.elsewhere[label]
    return f"{f'use {own}' if own else 'remove the line'}; {label} is a type of {schema.other}"


def is_other_task(types: frozenset[str], schema: EventSchema) -> bool:
    """Whether events have types of the other task, and none of this one.

    Args:
        types: of all events.
        schema: what this task allows.
    """
    return not types.isdisjoint(schema.other_events) and types.isdisjoint(schema.events)


def is_own_task(types: frozenset[str], schema: EventSchema) -> bool:
    """Whether events have types of this task, or none of the other one."""
    return not is_other_task(types, schema)


def other_task(context: RuleContext) -> pl.LazyFrame:
    """A submission to the other task, at its first event."""
    frames = context.records("frames", "label")
    found = frames.filter(pl.col("label").is_in(context.schema.other_events)).head(1)
    names = {"task": pl.lit(context.schema.task), "other": pl.lit(context.schema.other)}
    return at(found, "label").with_columns(**names)


def _kinds(schema: EventSchema) -> dict[str, str]:
    """The kind of the annotations of each type of the task."""
    kinds = dict.fromkeys(schema.mentions, "a text span")
    kinds |= dict.fromkeys(schema.events, "an event")
    return kinds | dict.fromkeys(schema.modifiers, "a modifier")


def wrong_kind(context: RuleContext) -> pl.LazyFrame:
    """A type of the task on a record of another kind, such as an entity type on an event."""
    kinds = _kinds(context.schema)
    due = pl.col("label").replace_strict(kinds, default=None, return_dtype=pl.String)
    rows = context.cached(labels).with_columns(due=due)
    wrong = rows.filter(pl.col("kind") != "a record", pl.col("kind") != pl.col("due"))
    return _with_labels(context, wrong.collect())


def event_with_trigger(context: RuleContext) -> pl.LazyFrame:
    """An event with a trigger; those of SeeDev have none."""
    return at(context.records("frames", "label", "trigger").drop_nulls("trigger"), "trigger")


def any_has_trigger(context: RuleContext) -> bool:
    """Whether any event has a trigger."""
    triggers = context.system.frames["trigger"]
    return triggers.null_count() < len(triggers)


def any_is_relation(context: RuleContext) -> bool:
    """Whether any event has the identifier of a relation."""
    return bool((context.system.frames["kind"] == "relation").any())


def relation_identifier(context: RuleContext) -> pl.LazyFrame:
    """An event with the identifier of a relation, which begins with R."""
    return at(context.records("frames", "kind").filter(pl.col("kind") == "relation"), "id")


# Rules of SeeDev about what a submission predicts at all (SEE307, SEE309, SEE403).


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
