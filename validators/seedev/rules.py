"""Rules of SeeDev (BioNLP-ST 2016): what an event of either task may be.

SEE1xx are about types, SEE2xx about roles and their fillers, SEE3xx about what the official
software does not check although it costs points. Events are judged by their shape (a type and its
roles) and by what fills a role: a corpus has few of either, however many events it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from hlteval.grammars import vocabulary
from hlteval.representation import SEPARATOR, hashed
from hlteval.validators.rule import Rule, RuleContext
from hlteval.validators.seedev import cycles, standoff
from hlteval.validators.seedev.events import EventSchema, EventType

ANY = "ANY"


def schema(task: str) -> EventSchema:
    """The event schema of `full` or `binary`, from grammars/seedev.toml.

    Examples:
        >>> schema("binary").events["Binds_To"].mandatory
        ('Functional_Molecule', 'Molecule')
    """
    data = vocabulary("seedev")
    other = "binary" if task == "full" else "full"
    conditions = tuple(data["conditions"]) if task == "full" else ()
    listed = [entry for entry in data["events"] if task in entry]
    return EventSchema(
        task=f"seedev-{task}",
        mentions=frozenset(data["entities"]),
        events={entry[task]: _event(entry, task, data) for entry in listed},
        modifiers=data["modifiers"][task],
        conditions=conditions,
        elsewhere={entry[other]: entry.get(task) for entry in data["events"] if other in entry},
        other=f"seedev-{other}",
    )


def _event(
    entry: Mapping[str, Mapping[str, str]], task: str, data: Mapping[str, Mapping[str, str]]
) -> EventType:
    one_of = entry.get("one_of", {})
    conditions = data["conditions"] if task == "full" and entry.get("conditions", True) else {}
    roles = {**entry["roles"], **one_of, **conditions}
    return EventType(
        label=str(entry[task]),
        mandatory=tuple(entry["roles"]),
        one_of=tuple(one_of),
        roles={role: _types(name, data["groups"]) for role, name in roles.items()},
        commutative=bool(entry.get("commutative", False)),
    )


def _types(name: str, groups: Mapping[str, Iterable[str]]) -> frozenset[str] | None:
    """The types of a group, through groups of groups; None for any type."""
    if name == ANY:
        return None
    return (
        frozenset().union(*(_types(part, groups) or () for part in groups[name]))
        if name in groups
        else frozenset({name})
    )


def _labelled(case: RuleContext) -> pl.LazyFrame:
    """Every record that has a type, with what kind of annotation it is."""
    typed = (pl.col("code") != "STD101") & (pl.col("kind") != "group")
    unread = case.table("rejected_records").filter(typed).drop_nulls("label")
    kinds = {
        "a text span": case.table("mentions").rename({"mention": "id"}),
        "an event": case.table("frames").drop("kind").rename({"frame": "id"}),
        "a modifier": case.table("modifiers").rename({"modifier": "id"}),
        "a record": unread.drop("kind"),
    }
    columns = ("document", "origin", "record", "id", "label")
    return pl.concat(rows.select(*columns, kind=pl.lit(kind)) for kind, rows in kinds.items())


def unknown_type(case: RuleContext) -> pl.LazyFrame:
    """A type that the task does not have."""
    known = case.schema.labels
    if _is_other_task(case):  # SEE103 reports that
        known = known | case.schema.elsewhere.keys()
    unknown = _labelled(case).filter(~pl.col("label").is_in(known)).collect()
    hints = {label: _suggestion(label, case.schema) for label in unknown["label"].unique()}
    hint = pl.col("label").replace_strict(hints, default=None, return_dtype=pl.String)
    return unknown.lazy().with_columns(field=pl.lit("label"), hint=hint)


def _suggestion(label: str, allowed: EventSchema) -> str:
    from rapidfuzz import process

    if label in allowed.elsewhere:
        own = allowed.elsewhere[label]
        instead = f"; {allowed.task} calls it {own}" if own else ""
        return f"{label} is a type of {allowed.other}{instead}"
    near = process.extractOne(label, sorted(allowed.labels), score_cutoff=70)
    return (
        f"did you mean {near[0]}?" if near else f"docs/tasks.md lists the types of {allowed.task}"
    )


def _is_other_task(case: RuleContext) -> bool:
    """Whether events have types of the other task, and none of this one."""
    labels = set(case.system.frames["label"].unique())
    return bool(labels & case.schema.elsewhere.keys()) and not labels & case.schema.events.keys()


def other_task(case: RuleContext) -> pl.LazyFrame:
    """A submission to the other task, at its first event."""
    frames = case.table("frames").filter(pl.col("label").is_in(case.schema.elsewhere.keys()))
    found = frames.head(1 if _is_other_task(case) else 0).rename({"frame": "id"})
    return found.with_columns(
        field=pl.lit("label"), task=pl.lit(case.schema.task), other=pl.lit(case.schema.other)
    )


def wrong_kind(case: RuleContext) -> pl.LazyFrame:
    """A type of the task on a record of another kind, such as an entity type on an event."""
    kinds = dict.fromkeys(case.schema.mentions, "a text span")
    kinds |= dict.fromkeys(case.schema.events, "an event")
    kinds |= dict.fromkeys(case.schema.modifiers, "a modifier")
    due = pl.col("label").replace_strict(kinds, default=None, return_dtype=pl.String)
    found = _labelled(case).filter(pl.col("kind") != "a record").with_columns(due=due)
    return found.filter(pl.col("due") != pl.col("kind")).with_columns(field=pl.lit("label"))


def event_with_trigger(case: RuleContext) -> pl.LazyFrame:
    """An event with a trigger; those of SeeDev have none."""
    found = case.table("frames").filter(pl.col("trigger").is_not_null())
    return found.rename({"frame": "id"}).with_columns(field=pl.lit("trigger"))


def _misshapen(case: RuleContext, fault: str) -> pl.LazyFrame:
    """The events whose shape has a fault, with the roles that it is about."""
    rows = [
        (label, roles, about)
        for label, roles in case.shapes.select("label", "roles").unique().iter_rows()
        if label in case.schema.events
        for kind, about in _faults(case.schema.events[label], roles.split(SEPARATOR))
        if kind == fault
    ]
    schema = dict.fromkeys(("label", "roles", "about"), pl.String)
    faulty = pl.LazyFrame(rows, schema=schema, orient="row")
    found = case.shapes.lazy().join(faulty, on=["label", "roles"], maintain_order="left")
    return found.rename({"frame": "id"}).with_columns(field=pl.lit("label"), roles="about")


def _faults(event: EventType, roles: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with an event of a type that has these roles."""
    given = set(roles)
    for role in event.mandatory:
        if role not in given:
            yield "missing", role
    chosen = [role for role in event.one_of if role in given]
    if event.one_of and not chosen:
        yield "none of", " or ".join(event.one_of)
    if len(chosen) > 1:
        yield "more than one of", " and ".join(chosen)


def missing_mandatory(case: RuleContext) -> pl.LazyFrame:
    """An event without one of its mandatory roles."""
    return _misshapen(case, "missing")


def missing_alternative(case: RuleContext) -> pl.LazyFrame:
    """An event with none of the roles of which it must have one."""
    return _misshapen(case, "none of")


def exclusive_roles(case: RuleContext) -> pl.LazyFrame:
    """An event with two roles of which it may have one."""
    return _misshapen(case, "more than one of")


def _judged(case: RuleContext) -> pl.LazyFrame:
    """The arguments of events of a known type."""
    known = case.arguments.filter(pl.col("label").is_in(case.schema.events.keys()))
    return known.rename({"frame": "id"})


_KIND = ["label", "role", "filler_label"]


def _kinds(case: RuleContext) -> pl.LazyFrame:
    """The kinds of arguments that there are: type of the event, role, type of the filler."""
    kinds = _judged(case).group_by(hashed(*_KIND)).agg(pl.col(_KIND).first())
    return kinds.select(_KIND)


def illegal_role(case: RuleContext) -> pl.LazyFrame:
    """A role that events of the type do not have."""
    key = ["label", "role"]
    wrong = case.cached(_kinds).join(case.schema.roles.lazy(), on=key, how="anti")
    found = _judged(case).join(wrong, on=key, how="semi", maintain_order="left")
    names = {label: ", ".join(event.roles) for label, event in case.schema.events.items()}
    allowed = pl.col("label").replace_strict(names, return_dtype=pl.String)
    return found.with_columns(field=pl.format("role {}", "position"), allowed=allowed)


def illegal_filler(case: RuleContext) -> pl.LazyFrame:
    """A role filled by something of a type that it does not take; of unknown types SEE101 tells."""
    fillers = case.schema.fillers.lazy()
    kinds = case.cached(_kinds).filter(pl.col("filler_label").is_in(case.schema.labels))
    restricted = kinds.join(fillers, on=["label", "role"], how="semi")
    wrong = restricted.join(fillers, on=_KIND, how="anti")
    found = _judged(case).join(wrong, on=_KIND, how="semi", maintain_order="left")
    types = {
        f"{event.label} {role}": ", ".join(sorted(allowed))
        for event in case.schema.events.values()
        for role, allowed in event.roles.items()
        if allowed is not None
    }
    allowed = pl.format("{} {}", "label", "role").replace_strict(types, return_dtype=pl.String)
    return found.with_columns(field=pl.format("target {}", "position"), allowed=allowed)


def duplicate_role(case: RuleContext) -> pl.LazyFrame:
    """A role that is given twice; the last one counts."""
    earlier = case.all_arguments.join(case.arguments.select("row"), on="row", how="anti")
    return earlier.rename({"frame": "id"}).with_columns(field=pl.format("argument {}", "position"))


def _modified(case: RuleContext) -> pl.LazyFrame:
    """The modifiers of the task with what they modify; null where the reference leads nowhere."""
    known = case.table("modifiers").filter(pl.col("label").is_in(case.schema.modifiers.keys()))
    found = known.join(case.items, on=["document", "target"], how="left", maintain_order="left")
    return found.rename({"modifier": "id"}).with_columns(field=pl.lit("target"))


def modified_mention(case: RuleContext) -> pl.LazyFrame:
    """A modifier of something that is no event."""
    return _modified(case).filter(pl.col("filler").is_in(["given", "mention"]))


def too_many_modifiers(case: RuleContext) -> pl.LazyFrame:
    """An event with more modifiers of a type than it may have; found at each one too many."""
    found = _modified(case).filter(pl.col("filler") == "frame")
    number = pl.int_range(1, pl.len() + 1).over("filler_row", "label")
    limits = dict(case.schema.modifiers)
    limit = pl.col("label").replace_strict(limits, default=0, return_dtype=pl.Int64)
    return found.with_columns(number=number, limit=limit).filter(pl.col("number") > pl.col("limit"))


def _alike(case: RuleContext) -> pl.LazyFrame:
    """The events that say what another one says, the order of commutative arguments left out.

    `said` is what each says, role by role; `unordered` is the same for all that are alike.
    """
    both = [event.label for event in case.schema.events.values() if event.commutative]
    free = pl.col("label").is_in(both) & ~pl.col("role").is_in(case.schema.conditions)
    role = pl.when(free).then(pl.lit("*")).otherwise("role")
    # Few are alike: a sum that is the same for all that are finds them, what they say tells which.
    said = (role.hash(1) + pl.col("target").hash(2)).hash(3)
    sums = case.arguments.group_by(row="frame_row").agg(sum=said.sum())
    frames = case.table("frames").join(sums, on="row", maintain_order="left")
    frames = frames.filter(hashed("document", "label", "sum").is_duplicated()).drop("sum")
    own = case.arguments.join(frames.select(frame_row="row"), on="frame_row", how="semi")
    said_by = own.group_by(row="frame_row").agg(
        said=pl.concat_str("role", "target", separator=":").sort().str.join(" "),
        unordered=pl.concat_str(role, "target", separator=":").sort().str.join(" "),
    )
    modifiers = case.table("modifiers").select("document", "label", frame="target").unique()
    modified = modifiers.group_by("document", "frame").agg(
        modified=pl.col("label").sort().str.join(" ")
    )
    frames = frames.join(said_by, on="row", how="left", maintain_order="left")
    frames = frames.join(modified, on=["document", "frame"], how="left", maintain_order="left")
    return frames.with_columns(pl.col("modified").fill_null(""))


def _repeats(alike: pl.LazyFrame, content: str) -> pl.LazyFrame:
    key = ["document", "label", content, "modified"]
    first, ordinal = pl.col("frame").first().over(key), pl.int_range(pl.len()).over(key)
    repeats = alike.with_columns(first=first, ordinal=ordinal).filter(pl.col("ordinal") > 0)
    return repeats.rename({"frame": "id"}).with_columns(field=pl.lit(""))


def duplicate_event(case: RuleContext) -> pl.LazyFrame:
    """An event that says the same as an earlier one."""
    return _repeats(case.cached(_alike), "said")


def mirrored_event(case: RuleContext) -> pl.LazyFrame:
    """A commutative event that says the same as an earlier one with its arguments exchanged."""
    alike = case.cached(_alike)
    same = _repeats(alike, "said").select("row")
    return _repeats(alike, "unordered").join(same, on="row", how="anti", maintain_order="left")


def _nested(case: RuleContext) -> pl.LazyFrame:
    """The arguments that are events."""
    nested = case.arguments.filter(pl.col("filler") == "frame").rename({"frame": "id"})
    return nested.with_columns(field=pl.format("target {}", "position"))


def self_reference(case: RuleContext) -> pl.LazyFrame:
    """An event that is its own argument."""
    return _nested(case).filter(pl.col("frame_row") == pl.col("filler_row"))


def cyclic_events(case: RuleContext) -> pl.LazyFrame:
    """An event that is, through others, its own argument; found once for each cycle."""
    nested = _nested(case).filter(pl.col("frame_row") != pl.col("filler_row")).collect()
    names = dict(case.system.frames.select("row", "frame").iter_rows()) if nested.height else {}
    loops = cycles.loops(nested.select("frame_row", "filler_row").iter_rows())
    rows = [(*edge, " → ".join(names[row] for row in path)) for edge, path in loops]
    schema = {"frame_row": pl.Int64, "filler_row": pl.Int64, "path": pl.String}
    found = nested.join(
        pl.DataFrame(rows, schema=schema, orient="row"), on=["frame_row", "filler_row"]
    )
    return found.unique(["frame_row", "filler_row"], maintain_order=True).lazy()


def same_filler(case: RuleContext) -> pl.LazyFrame:
    """An event whose mandatory roles are all filled by one entity."""
    mandatory = case.schema.roles.lazy().filter(pl.col("mandatory") | pl.col("one_of"))
    some = _judged(case).filter(hashed("frame_row", "target").is_duplicated())
    core = some.join(mandatory, on=["label", "role"], how="semi", maintain_order="left")
    core = core.filter(pl.int_range(pl.len()).over("frame_row", "target") > 0)
    return core.with_columns(field=pl.format("target {}", "position"))


def event_as_entity(case: RuleContext) -> pl.LazyFrame:
    """An event in a role that takes any type, where an entity is meant."""
    roles, restricted = case.schema.roles.lazy(), case.schema.fillers.lazy()
    unrestricted = roles.join(restricted, on=["label", "role"], how="anti")
    found = _nested(case).filter(pl.col("frame_row") != pl.col("filler_row"))
    return found.join(unrestricted, on=["label", "role"], how="semi", maintain_order="left")


def predicted_mention(case: RuleContext) -> pl.LazyFrame:
    """A text span in a submission; entities are given."""
    key = ["document", "mention"]
    mentions = case.table("mentions").join(case.given, on=key, how="anti", maintain_order="left")
    mentions = mentions.head(0) if case.own else mentions
    return mentions.rename({"mention": "id"}).with_columns(field=pl.lit(""))


def relation_identifier(case: RuleContext) -> pl.LazyFrame:
    """An event whose identifier begins with R."""
    found = case.table("frames").filter(pl.col("kind") == "relation")
    return found.rename({"frame": "id"}).with_columns(field=pl.lit("id"))


def predicted_equivalence(case: RuleContext) -> pl.LazyFrame:
    """An equivalence in a submission; the official software ignores it."""
    groups = case.table("groups").unique(["document", "group"], keep="first", maintain_order=True)
    groups = groups.head(0) if case.own else groups
    return groups.with_columns(id=pl.lit("*"), field=pl.lit(""))


def empty_prediction(case: RuleContext) -> pl.LazyFrame:
    """A file of predictions without an event, for a document that has some."""
    files = case.table("sources").filter(pl.col("member").str.ends_with(".a2"))
    tables = ("frames", "mentions", "modifiers", "groups", "rejected_records")
    used = pl.concat(case.table(name).select(row="origin") for name in tables)
    empty = files.join(used, on="row", how="anti")
    empty = empty.select(origin="row", name=pl.col("member").str.extract(r"([^/]*)\.a2$"))
    known = case.against.documents.lazy().select("name", document="row")
    events = case.against.frames.lazy().group_by("document").agg(events=pl.len())
    found = empty.join(known, on="name", maintain_order="left").join(events, on="document")
    return found.with_columns(
        record=pl.lit(None, pl.Int64), field=pl.lit(""), id=pl.lit(None, pl.String)
    )


RULES = (
    *standoff.RULES,
    Rule("SEE101", "sources", unknown_type),
    Rule("SEE102", "sources", wrong_kind),
    Rule("SEE103", "frames", other_task, once=True),
    Rule("SEE104", "frames", event_with_trigger),
    Rule("SEE201", "frames", illegal_role),
    Rule("SEE202", "frames", missing_mandatory),
    Rule("SEE203", "frames", missing_alternative),
    Rule("SEE204", "frames", exclusive_roles),
    Rule("SEE205", "frames", illegal_filler),
    Rule("SEE206", "frames", duplicate_role),
    Rule("SEE207", "modifiers", modified_mention),
    Rule("SEE208", "modifiers", too_many_modifiers),
    Rule("SEE301", "frames", duplicate_event),
    Rule("SEE302", "frames", mirrored_event),
    Rule("SEE303", "frames", self_reference),
    Rule("SEE304", "frames", cyclic_events),
    Rule("SEE305", "frames", same_filler),
    Rule("SEE306", "frames", event_as_entity),
    Rule("SEE307", "mentions", predicted_mention),
    Rule("SEE308", "frames", relation_identifier),
    Rule("SEE309", "groups", predicted_equivalence),
    Rule("SEE403", "sources", empty_prediction),
)
