"""Rules of SeeDev about roles and their fillers (SEE201 to SEE206, SEE305, SEE306).

A corpus has few shapes of events (a type and its roles) and few kinds of fillers, however many
events it has: these are checked first, then the events that have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from hlteval.findings.suggest import closest, did_you_mean
from hlteval.representation import SEPARATOR, hashed
from hlteval.validators.rule import RuleContext, at
from hlteval.validators.seedev.schema import EventSchema, EventType

_KIND = ["label", "role", "filler_label"]
_TARGET = pl.format("target {}", "position")


def _misshapen(context: RuleContext, problem: str) -> pl.LazyFrame:
    """The events whose shape has a problem, with the roles concerned."""
    events, shapes = context.schema.events, context.shapes.select("label", "roles").unique()
    rows = [
        (label, roles, concerned)
        for label, roles in shapes.iter_rows()
        if label in events
        for kind, concerned in _problems(events[label], roles.split(SEPARATOR))
        if kind == problem
    ]
    schema = dict.fromkeys(("label", "roles", "concerned"), pl.String)
    wrong = pl.LazyFrame(rows, schema=schema, orient="row")
    found = context.shapes.lazy().join(wrong, on=["label", "roles"], maintain_order="left")
    return at(found, "label").with_columns(roles="concerned")


def _problems(event: EventType, roles: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the roles of an event of a type."""
    present = set(roles)
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


def _arguments(context: RuleContext) -> pl.LazyFrame:
    """The arguments of events of a known type."""
    known = context.arguments.filter(pl.col("label").is_in(context.schema.events.keys()))
    return known.rename({"frame": "id"})


def kinds(context: RuleContext) -> pl.LazyFrame:
    """The kinds of arguments in a corpus: type of the event, role, type of the filler."""
    rows = _arguments(context).group_by(hashed(*_KIND)).agg(pl.col(_KIND).first())
    return rows.select(_KIND)


def illegal_role(context: RuleContext) -> pl.LazyFrame:
    """A role that events of the type do not have."""
    key = ["label", "role"]
    wrong = context.cached(kinds).join(context.schema.roles.lazy(), on=key, how="anti")
    listed = wrong.select(key).unique().collect()
    hints = [_hint(label, role, context.schema) for label, role in listed.iter_rows()]
    hinted = listed.with_columns(hint=pl.Series(hints, dtype=pl.String)).lazy()
    found = _arguments(context).join(hinted, on=key, maintain_order="left")
    return at(found, pl.format("role {}", "position"))


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
    fillers = context.schema.fillers.lazy()
    known = context.cached(kinds).filter(pl.col("filler_label").is_in(context.schema.labels))
    restricted = known.join(fillers, on=["label", "role"], how="semi")
    wrong = restricted.join(fillers, on=_KIND, how="anti")
    found = _arguments(context).join(wrong, on=_KIND, how="semi", maintain_order="left")
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
    earlier = context.all_arguments.join(effective, on="row", how="anti")
    return at(earlier.rename({"frame": "id"}), pl.format("argument {}", "position"))


def same_filler(context: RuleContext) -> pl.LazyFrame:
    """An event whose mandatory roles are all filled by one entity."""
    required = context.schema.roles.lazy().filter("required")
    some = _arguments(context).filter(hashed("frame_row", "target").is_duplicated())
    core = some.join(required, on=["label", "role"], how="semi", maintain_order="left")
    return at(core.filter(pl.int_range(pl.len()).over("frame_row", "target") > 0), _TARGET)


def event_as_entity(context: RuleContext) -> pl.LazyFrame:
    """An event or a modifier in a role that takes any type, where an entity is meant."""
    key = ["label", "role"]
    free = context.schema.roles.lazy().join(context.schema.fillers.lazy(), on=key, how="anti")
    kinds = {"frame": "the event", "modifier": "the modifier"}
    own = (pl.col("filler") == "frame") & (pl.col("frame_row") == pl.col("filler_row"))
    found = _arguments(context).filter(pl.col("filler").is_in(list(kinds)), ~own)
    found = found.join(free, on=key, how="semi", maintain_order="left")
    what = pl.col("filler").replace_strict(kinds, return_dtype=pl.String)
    return at(found, _TARGET).with_columns(what=what)
