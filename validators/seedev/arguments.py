"""Rules of SeeDev about roles and their fillers (SEE201 to SEE206, SEE305, SEE306).

A corpus has few shapes of events (a type and its roles) and few kinds of fillers, however many
events it has: these are checked first, then the events that have them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import polars as pl

from hlteval.findings.suggest import closest, did_you_mean
from hlteval.representation import hashed
from hlteval.validators.rule import RuleContext, at, only_if
from hlteval.validators.seedev.schema import EventSchema, EventType
from hlteval.validators.seedev.tables import KIND, contents, kinds

_TARGET = pl.format("target {}", "position")


def _misshapen(context: RuleContext, problem: str) -> pl.LazyFrame:
    """The events whose shape has a problem, with the roles concerned."""
    wrong = context.cached(_wrong_shapes).filter(pl.col("problem") == problem).collect()
    events = only_if(wrong.height > 0, context.cached(contents)).rename({"roles": "shape"})
    found = events.join(
        wrong.lazy(), on=["label", "shape"], maintain_order="left", nulls_equal=True
    )
    return at(found, "label")


def _wrong_shapes(context: RuleContext) -> pl.LazyFrame:
    """The shapes with a problem: `label`, `shape`, `problem`, and the `roles` concerned."""
    shapes = context.cached(contents).unique(["label", "roles"])
    examples = shapes.select("row", "label", "roles").collect()
    rows = examples.lazy().select(frame_row="row")
    some = context.arguments.join(rows, on="frame_row", how="semi")
    roles: dict[int, set[str]] = {}
    for row, role in some.select("frame_row", "role").collect().iter_rows():
        roles.setdefault(row, set()).add(role)
    events = context.schema.events
    wrong = [
        (label, shape, problem, concerned)
        for row, label, shape in examples.iter_rows()
        if label in events
        for problem, concerned in _problems(events[label], roles.get(row, set()))
    ]
    schema = {"label": pl.String, "shape": pl.UInt64, "problem": pl.String, "roles": pl.String}
    return pl.LazyFrame(wrong, schema=schema, orient="row")


def _problems(event: EventType, present: Collection[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the roles of an event of a type."""
    yield from (("missing", role) for role in event.mandatory if role not in present)
    chosen = [role for role in event.one_of if role in present]
    if event.one_of and not chosen:
        yield "none of", " or ".join(event.one_of)
    if len(chosen) > 1:
        yield "more than one of", " and ".join(chosen)


def missing_mandatory(context: RuleContext) -> pl.LazyFrame:
    """An event without one of its mandatory roles."""
    return _misshapen(context, "missing")


def missing_alternative(context: RuleContext) -> pl.LazyFrame:
    """An event with none of the roles of which it must have one."""
    return _misshapen(context, "none of")


def exclusive_roles(context: RuleContext) -> pl.LazyFrame:
    """An event with several roles of which it may have one."""
    return _misshapen(context, "more than one of")


def _kinds(context: RuleContext) -> pl.LazyFrame:
    """The kinds of arguments of events of a known type."""
    return context.cached(kinds).filter(pl.col("label").is_in(context.schema.events.keys()))


def _of_kinds(context: RuleContext, wrong: pl.DataFrame) -> pl.LazyFrame:
    """The arguments of kinds in a table of wrong ones, with the other columns of that."""
    key = [name for name in KIND if name in wrong.columns]
    arguments = only_if(wrong.height > 0, context.arguments).rename({"frame": "id"})
    return arguments.join(wrong.lazy(), on=key, maintain_order="left")


def illegal_role(context: RuleContext) -> pl.LazyFrame:
    """A role that events of the type do not have."""
    key = ["label", "role"]
    wrong = _kinds(context).join(context.schema.roles.lazy(), on=key, how="anti")
    listed = wrong.select(key).unique().collect()
    hints = [_hint(label, role, context.schema) for label, role in listed.iter_rows()]
    hinted = listed.with_columns(hint=pl.Series(hints, dtype=pl.String))
    return at(_of_kinds(context, hinted), pl.format("role {}", "position"))


def _hint(label: str, role: str, schema: EventSchema) -> str:
    """How to correct a role; an optional argument where there are none is to be removed."""
    roles = schema.events[label].roles
    optional = [name for name in schema.optional if name not in roles]
    if closest(role, [*roles, *optional]) in optional:
        subject = label if schema.conditions else schema.task
        return f"remove the argument; {subject} has no optional arguments"
    meant = did_you_mean(role, roles)
    return f"{meant} use a role of {label}: {', '.join(roles)}".strip()


def illegal_filler(context: RuleContext) -> pl.LazyFrame:
    """A role with a filler of a type that it does not take; SEE101 reports unknown types."""
    key = ["label", "role", "filler_label"]
    fillers = context.schema.fillers.lazy()
    known = _kinds(context).filter(pl.col("filler_label").is_in(context.schema.labels))
    restricted = known.join(fillers, on=["label", "role"], how="semi")
    wrong = restricted.join(fillers, on=key, how="anti").select(key).unique()
    found = _of_kinds(context, wrong.collect())
    types = {
        f"{event.label} {role}": ", ".join(sorted(allowed))
        for event in context.schema.events.values()
        for role, allowed in event.roles.items()
        if allowed is not None
    }
    allowed = pl.format("{} {}", "label", "role").replace_strict(types, return_dtype=pl.String)
    return at(found, _TARGET).with_columns(allowed=allowed)


def duplicate_role(context: RuleContext) -> pl.LazyFrame:
    """A repeated role; the last one counts."""
    effective = context.arguments.select("row")
    every = only_if(context.has_repeated_roles, context.all_arguments)
    earlier = every.join(effective, on="row", how="anti")
    return at(earlier.rename({"frame": "id"}), pl.format("argument {}", "position"))


def same_filler(context: RuleContext) -> pl.LazyFrame:
    """An event whose mandatory roles are all filled by one entity."""
    required = context.schema.roles.lazy().filter("required")
    some = context.arguments.filter(hashed("frame_row", "target").is_duplicated())
    some = some.rename({"frame": "id"})
    core = some.join(required, on=["label", "role"], how="semi", maintain_order="left")
    return at(core.filter(pl.int_range(pl.len()).over("frame_row", "target") > 0), _TARGET)


def event_as_entity(context: RuleContext) -> pl.LazyFrame:
    """An event or a modifier in a role that takes any type, where an entity is meant."""
    key = ["label", "role"]
    free = context.schema.roles.lazy().join(context.schema.fillers.lazy(), on=key, how="anti")
    names = {"frame": "the event", "modifier": "the modifier"}
    wrong = _kinds(context).filter(pl.col("filler").is_in(list(names)))
    wrong = wrong.join(free, on=key, how="semi").select(*key, "filler").unique()
    own = (pl.col("filler") == "frame") & (pl.col("frame_row") == pl.col("filler_row"))
    found = _of_kinds(context, wrong.collect()).filter(~own)
    what = pl.col("filler").replace_strict(names, return_dtype=pl.String)
    return at(found, _TARGET).with_columns(what=what)
