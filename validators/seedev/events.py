"""Rules of SeeDev about roles and their fillers (SEE201 to SEE206, SEE305, SEE306).

A corpus has few shapes of events (a type and its roles) and few kinds of fillers, however many
events it has: these are checked first, then the events that have them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import polars as pl

from hlteval.findings.suggest import closest, did_you_mean
from hlteval.representation import row_hash
from hlteval.validators.rule import RuleContext, at, only_if
from hlteval.validators.seedev.schema import EventSchema, EventType
from hlteval.validators.seedev.tables import KIND, contents, kind_rows, members

_TARGET = pl.format("target {}", "position")


def _misshapen(context: RuleContext, problem: str) -> pl.LazyFrame:
    """The events whose shape has a problem, with the roles concerned."""
    wrong = context.once(_wrong_shapes).lazy().filter(pl.col("problem") == problem)
    events = context.cached(contents).rename({"roles": "shape"})
    found = events.join(wrong, on=["label", "shape"], maintain_order="left", nulls_equal=True)
    return at(found, "label")


def _wrong_shapes(context: RuleContext) -> pl.DataFrame:
    """The shapes with a problem: `label`, `shape`, `problem`, and the `roles` concerned."""
    shapes = context.cached(contents).filter(row_hash("label", "roles").is_first_distinct())
    examples = shapes.select("row", "label", "roles").collect()
    some = context.arguments.filter(pl.col("frame_row").is_in(examples["row"].implode()))
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
    return pl.DataFrame(wrong, schema=schema, orient="row")


def are_misshapen(context: RuleContext) -> bool:
    """Whether any event lacks roles, or has some that exclude each other."""
    return context.once(_wrong_shapes).height > 0


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


def _of_kinds(context: RuleContext, wrong: pl.DataFrame) -> pl.LazyFrame:
    """The arguments of kinds in a table of wrong ones, with the other columns of that."""
    key = [name for name in KIND if name in wrong.columns]
    arguments = context.arguments.rename({"frame": "id"})
    return arguments.join(wrong.lazy(), on=key, maintain_order="left")


def _wrong(names: Sequence[str], kinds: Iterable[tuple[str, ...]]) -> pl.DataFrame:
    """A table of wrong kinds, each once."""
    return pl.DataFrame(list(dict.fromkeys(kinds)), dict.fromkeys(names, pl.String), orient="row")


def _roles(context: RuleContext) -> list[tuple[str, str]]:
    """The types of events with roles that they do not have."""
    events = context.schema.events
    kinds = [(label, role) for label, role, _, _ in context.once(kind_rows)]
    return [pair for pair in kinds if pair[0] in events and pair[1] not in events[pair[0]].roles]


def any_role_is_illegal(context: RuleContext) -> bool:
    """Whether an event has a role that those of its type do not have."""
    return bool(_roles(context))


def illegal_role(context: RuleContext) -> pl.LazyFrame:
    """A role that events of the type do not have."""
    listed = _wrong(("label", "role"), _roles(context))
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


def _fillers(context: RuleContext) -> list[tuple[str, str, str]]:
    """The types of events with a role, and the type of a filler that it does not take."""
    schema = context.schema
    return [
        (label, role, of)
        for label, role, _, of in context.once(kind_rows)
        if label in schema.events
        and of is not None
        and of in schema.labels
        and (allowed := schema.events[label].roles.get(role))
        and of not in allowed
    ]


def any_filler_is_illegal(context: RuleContext) -> bool:
    """Whether a role has a filler of a type that it does not take."""
    return bool(_fillers(context))


def illegal_filler(context: RuleContext) -> pl.LazyFrame:
    """A role with a filler of a type that it does not take; SEE101 reports unknown types."""
    wrong = _fillers(context)
    found = _of_kinds(context, _wrong(("label", "role", "filler_label"), wrong))
    types = {
        f"{event.label} {role}": ", ".join(sorted(allowed))
        for event in context.schema.events.values()
        for role, allowed in event.roles.items()
        if allowed is not None
    }
    allowed = pl.format("{} {}", "label", "role").replace_strict(types, return_dtype=pl.String)
    exchanged = _exchanged(context, found, wrong)
    hints = found.join(exchanged, on="row", how="left", maintain_order="left").with_columns(
        hint=pl.coalesce(
            pl.format("exchange the fillers of {} and {}", "role", "other_role"),
            pl.format("use a filler of type {}", allowed),
        )
    )
    return at(hints, _TARGET)


def _exchanged(
    context: RuleContext, found: pl.LazyFrame, wrong: Sequence[tuple[str, str, str]]
) -> pl.LazyFrame:
    """The `row` of arguments that are right if another of the event is exchanged with them.

    Returns:
        These, each with the `other_role` of its event.
    """
    events = context.schema.events

    def takes(label: str, role: str, of: str) -> bool:
        roles = events[label].roles
        return role in roles and of in (roles[role] or {of})

    kinds: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for label, role, _, of in context.once(kind_rows):
        if of is not None:
            kinds[label].append((role, of))
    swaps = [
        (label, role, of, other_role, other)
        for label, role, of in wrong
        for other_role, other in kinds[label]
        if other_role != role
        if takes(label, role, other) and takes(label, other_role, of)
    ]
    names = ("label", "role", "filler_label", "other_role", "other_filler")
    others = context.arguments.select("frame_row", other_role="role", other_filler="filler_label")
    pairs = found.join(_wrong(names, swaps).lazy(), on=names[:3])
    pairs = pairs.join(others, on=["frame_row", *names[3:]], how="semi")
    return pairs.select("row", "other_role").sort("row", "other_role").unique("row", keep="first")


def any_role_is_repeated(context: RuleContext) -> bool:
    """Whether an event has several arguments of one role."""
    return context.has_repeated_roles


def duplicate_role(context: RuleContext) -> pl.LazyFrame:
    """A repeated role; the last one counts."""
    effective = context.arguments.select("row")
    every = only_if(context.has_repeated_roles, context.all_arguments)
    earlier = every.join(effective, on="row", how="anti")
    return at(earlier.rename({"frame": "id"}), pl.format("argument {}", "position"))


def _same(context: RuleContext) -> pl.LazyFrame:
    """The arguments with a filler that another one of the event has."""
    return context.arguments.filter(row_hash("frame_row", "target").is_duplicated())


def any_filler_is_repeated(context: RuleContext) -> bool:
    """Whether two arguments of an event have one filler."""
    return not context.cached(_same).collect().is_empty()


def same_filler(context: RuleContext) -> pl.LazyFrame:
    """An event whose mandatory roles are all filled by one entity."""
    required = context.schema.roles.lazy().filter("required")
    some = context.cached(_same).rename({"frame": "id"})
    core = some.join(required, on=["label", "role"], how="semi", maintain_order="left")
    return at(core.filter(pl.int_range(pl.len()).over("frame_row", "target") > 0), _TARGET)


_EVENTS = {"frame": "the event", "modifier": "the modifier"}


def _free(context: RuleContext) -> list[tuple[str, str, str]]:
    """The types of events with a role that takes any type, and what is in place of an entity."""
    events = context.schema.events
    return [
        (label, role, filler)
        for label, role, filler, _ in context.once(kind_rows)
        if filler in _EVENTS
        and label in events
        and role in events[label].roles
        and not events[label].roles[role]
    ]


def any_event_is_entity(context: RuleContext) -> bool:
    """Whether an event or a modifier is in a role that takes any type."""
    return bool(_free(context))


def event_as_entity(context: RuleContext) -> pl.LazyFrame:
    """An event or a modifier in a role that takes any type, where an entity is meant."""
    own = (pl.col("filler") == "frame") & (pl.col("frame_row") == pl.col("filler_row"))
    wrong = _wrong(("label", "role", "filler"), _free(context))
    found = _of_kinds(context, wrong).filter(~own)
    what = pl.col("filler").replace_strict(_EVENTS, return_dtype=pl.String)
    return at(found, _TARGET).with_columns(what=what)


# Rules of SeeDev about events and equivalences that repeat others.
#
# SEE301 and SEE302 are about events, STD304 and STD305 about equivalences.


def _alike(context: RuleContext) -> pl.LazyFrame:
    """The events with the content of another one, apart from the order of commutative arguments.

    `content` is that of each event, role by role; `unordered` is equal for all that are alike.
    """
    schema = context.schema
    both = [event.label for event in schema.events.values() if event.commutative]
    free = pl.col("label").is_in(both) & ~pl.col("role").is_in(schema.conditions)
    role = pl.when(free).then(pl.lit("*")).otherwise("role")
    # Few are alike: sums of hashes find them, their content decides.
    frames = context.cached(contents)
    frames = frames.filter(row_hash("document", "label", "content").is_duplicated())
    frames = frames.drop("content", "roles")
    own = context.arguments.join(frames.select(frame_row="row"), on="frame_row", how="semi")
    written = own.group_by(row="frame_row").agg(
        content=pl.concat_str("role", "target", separator=":").sort().str.join(" "),
        unordered=pl.concat_str(role, "target", separator=":").sort().str.join(" "),
    )
    modifiers = context.table("modifiers", "document", "label", "target").unique()
    grouped = modifiers.group_by("document", id="target")
    modified = grouped.agg(modified=pl.col("label").sort().str.join(" "))
    frames = frames.join(written, on="row", how="left", maintain_order="left")
    frames = frames.join(modified, on=["document", "id"], how="left", maintain_order="left")
    return frames.with_columns(pl.col("modified").fill_null(""))


def are_alike(context: RuleContext) -> bool:
    """Whether any two events may be alike."""
    return not context.cached(_alike).collect().is_empty()


def _repeats(alike: pl.LazyFrame, content: str) -> pl.LazyFrame:
    key = ["document", "label", content, "modified"]
    first, ordinal = pl.col("id").first().over(key), pl.int_range(pl.len()).over(key)
    repeats = alike.with_columns(first=first, ordinal=ordinal).filter(pl.col("ordinal") > 0)
    return at(repeats, "")


def duplicate_event(context: RuleContext) -> pl.LazyFrame:
    """An event with the content of an earlier one."""
    return _repeats(context.cached(_alike), "content")


def mirrored_event(context: RuleContext) -> pl.LazyFrame:
    """A commutative event with the content of an earlier one, its arguments swapped."""
    alike = context.cached(_alike)
    same = _repeats(alike, "content").select("row")
    return _repeats(alike, "unordered").join(same, on="row", how="anti", maintain_order="left")


def equivalence_overlaps(context: RuleContext) -> pl.LazyFrame:
    """A member of an equivalence that is a member of an earlier one too."""
    first = pl.col("group").first().over("document", "member")
    return members(context).filter(pl.col("group") != first)


def equivalence_empty(context: RuleContext) -> pl.LazyFrame:
    """An equivalence of a single member."""
    return members(context).filter(pl.len().over("document", "group") == 1)


# Rules of SeeDev about modifiers (SEE207, SEE208, STD303).


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
