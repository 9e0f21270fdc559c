"""Rules of SeeDev (BioNLP-ST 2016): what an event of either task may be.

SEE1xx are about types, SEE2xx about roles and their fillers, SEE3xx about what the official software
does not check although it costs points. Events are judged by their shape (a type and its roles) and
by what fills a role: a corpus has few of either, however many events it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from hlteval.grammars import vocabulary
from hlteval.representation import SEPARATOR, frame_keys, ordinals
from hlteval.validators import cycles, standoff
from hlteval.validators.events import EventSchema, EventType
from hlteval.validators.rule import Case, Rule

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


def _event(entry: Mapping[str, Mapping[str, str]], task: str, data: Mapping[str, Mapping[str, str]]) -> EventType:
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
    return frozenset().union(*(_types(part, groups) or () for part in groups[name])) if name in groups else frozenset({name})


def _labelled(case: Case) -> pl.DataFrame:
    """Every record that has a type, with what kind of annotation it is."""
    system = case.system
    kinds = {
        "a text span": system.mentions.rename({"mention": "id"}),
        "an event": system.frames.rename({"frame": "id"}),
        "a modifier": system.modifiers.rename({"modifier": "id"}),
        "a record": system.refused.filter(pl.col("code") != "STD101").drop_nulls("label"),
    }
    columns = ("document", "origin", "record", "id", "label")
    return pl.concat(rows.select(*columns, kind=pl.lit(kind)) for kind, rows in kinds.items())


def unknown_type(case: Case) -> pl.DataFrame:
    """A type that the task does not have."""
    labelled = _labelled(case).filter(~pl.col("label").is_in(case.schema.labels))
    if not _other_task(case).is_empty():
        labelled = labelled.filter(~pl.col("label").is_in(case.schema.elsewhere.keys()))
    hints = {label: _suggestion(label, case.schema) for label in labelled["label"].unique()}
    return labelled.with_columns(
        field=pl.lit("label"), hint=pl.col("label").replace_strict(hints, return_dtype=pl.String)
    )


def _suggestion(label: str, allowed: EventSchema) -> str:
    from rapidfuzz import process

    if label in allowed.elsewhere:
        own = allowed.elsewhere[label]
        instead = f"; {allowed.task} calls it {own}" if own else ""
        return f"{label} is a type of {allowed.other}{instead}"
    near = process.extractOne(label, sorted(allowed.labels), score_cutoff=70)
    return f"did you mean {near[0]}?" if near else f"hlteval explain SEE101 lists the types of {allowed.task}"


def _other_task(case: Case) -> pl.DataFrame:
    """The first event of the other task, where none is of this one."""
    labels = case.system.frames["label"]
    if labels.is_in(case.schema.events.keys()).any():
        return case.system.frames.clear()
    return case.system.frames.filter(pl.col("label").is_in(case.schema.elsewhere.keys())).head(1)


def other_task(case: Case) -> pl.DataFrame:
    """A submission to the other task, said once."""
    return _other_task(case).rename({"frame": "id"}).with_columns(
        field=pl.lit("label"), task=pl.lit(case.schema.task), other=pl.lit(case.schema.other)
    )


def wrong_kind(case: Case) -> pl.DataFrame:
    """A type of the task on a record of another kind, such as an entity type on an event."""
    kinds = dict.fromkeys(case.schema.mentions, "a text span")
    kinds |= dict.fromkeys(case.schema.events, "an event")
    kinds |= dict.fromkeys(case.schema.modifiers, "a modifier")
    due = pl.col("label").replace_strict(kinds, default=None, return_dtype=pl.String)
    found = _labelled(case).filter(pl.col("kind") != "a record").with_columns(due=due)
    return found.filter(pl.col("due") != pl.col("kind")).with_columns(field=pl.lit("label"))


def event_with_trigger(case: Case) -> pl.DataFrame:
    """An event with a trigger; those of SeeDev have none."""
    found = case.system.frames.filter(pl.col("trigger").is_not_null())
    return found.rename({"frame": "id"}).with_columns(field=pl.lit("trigger"))


def _misshapen(case: Case, fault: str) -> pl.DataFrame:
    """The events whose shape has a fault, with the roles that it is about."""
    shapes = case.shapes.select("label", "roles").unique()
    rows = [
        (label, roles, about)
        for label, roles in shapes.iter_rows()
        if label in case.schema.events
        for kind, about in _faults(case.schema.events[label], roles.split(SEPARATOR))
        if kind == fault
    ]
    faulty = pl.DataFrame(rows, schema=dict.fromkeys(("label", "roles", "about"), pl.String), orient="row")
    found = case.shapes.join(faulty, on=["label", "roles"], maintain_order="left")
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


def missing_mandatory(case: Case) -> pl.DataFrame:
    """An event without one of its mandatory roles."""
    return _misshapen(case, "missing")


def missing_alternative(case: Case) -> pl.DataFrame:
    """An event with none of the roles of which it must have one."""
    return _misshapen(case, "none of")


def exclusive_roles(case: Case) -> pl.DataFrame:
    """An event with two roles of which it may have one."""
    return _misshapen(case, "more than one of")


def _judged(case: Case) -> pl.DataFrame:
    """The arguments of events of a known type, with the field of their role."""
    known = case.arguments.filter(pl.col("label").is_in(case.schema.events.keys()))
    return known.rename({"frame": "id"})


def illegal_role(case: Case) -> pl.DataFrame:
    """A role that events of the type do not have."""
    found = _judged(case).join(case.schema.roles, on=["label", "role"], how="anti", maintain_order="left")
    allowed = {label: ", ".join(event.roles) for label, event in case.schema.events.items()}
    return found.with_columns(
        field=pl.format("role {}", "position"),
        allowed=pl.col("label").replace_strict(allowed, return_dtype=pl.String),
    )


def illegal_filler(case: Case) -> pl.DataFrame:
    """A role filled by something of a type that it does not take."""
    restricted = case.schema.fillers.select("label", "role").unique()
    known = _judged(case).filter(pl.col("filler_label").is_in(case.schema.labels))
    kinds = known.select("label", "role", "filler_label").unique()
    wrong = kinds.join(restricted, on=["label", "role"], how="semi").join(
        case.schema.fillers, on=["label", "role", "filler_label"], how="anti"
    )
    found = known.join(wrong, on=["label", "role", "filler_label"], how="semi", maintain_order="left")
    types = {
        f"{label} {role}": ", ".join(sorted(case.schema.events[label].roles[role] or ()))
        for label, role in wrong.select("label", "role").iter_rows()
    }
    allowed = pl.format("{} {}", "label", "role").replace_strict(types, return_dtype=pl.String)
    return found.with_columns(field=pl.format("target {}", "position"), allowed=allowed)


def duplicate_role(case: Case) -> pl.DataFrame:
    """A role that is given twice; the last one counts."""
    earlier = case.all_arguments.join(case.arguments.select("row"), on="row", how="anti")
    return earlier.rename({"frame": "id"}).with_columns(field=pl.format("argument {}", "position"))


def _modified(case: Case) -> pl.DataFrame:
    """The modifiers of the task with what they modify; null where the reference leads nowhere."""
    known = case.system.modifiers.filter(pl.col("label").is_in(case.schema.modifiers.keys()))
    return known.join(case.items, on=["document", "target"], how="left", maintain_order="left")


def modified_mention(case: Case) -> pl.DataFrame:
    """A modifier of something that is no event."""
    found = _modified(case).filter(pl.col("filler").is_in(["given", "mention"]))
    return found.rename({"modifier": "id"}).with_columns(field=pl.lit("target"))


def too_many_modifiers(case: Case) -> pl.DataFrame:
    """An event with more modifiers of a type than it may have; found at each one too many."""
    found = _modified(case).filter(pl.col("filler") == "frame")
    found = found.with_columns(number=pl.int_range(1, pl.len() + 1).over("filler_row", "label"))
    limits = pl.col("label").replace_strict(dict(case.schema.modifiers), default=0, return_dtype=pl.Int64)
    found = found.with_columns(limit=limits).filter(pl.col("number") > pl.col("limit"))
    return found.rename({"modifier": "id"}).with_columns(field=pl.lit("target"))


def _mirrored(case: Case) -> pl.Expr:
    """The role of an argument, or `*` where the two arguments of the event may change places."""
    both = [event.label for event in case.schema.events.values() if event.commutative]
    free = pl.col("label").is_in(both) & ~pl.col("role").is_in(case.schema.conditions)
    return pl.when(free).then(pl.lit("*")).otherwise("role")


def _alike(case: Case) -> pl.DataFrame:
    """The events that say what another one says, the order of commutative arguments left out.

    `said` is what each says in the order in which it says it; `unordered` is the same for all alike.
    """
    mirrored = frame_keys(case.arguments, pl.concat_str(_mirrored(case), "target", separator=":"))
    frames = case.system.frames.join(mirrored.select(row="frame_row", unordered="said"), on="row", maintain_order="left")
    frames = frames.filter(pl.struct("document", "label", "unordered").is_duplicated())
    some = case.arguments.join(frames.select(frame_row="row"), on="frame_row", how="semi", maintain_order="left")
    said = frame_keys(some, pl.concat_str("role", "target", separator=":")).select("said", row="frame_row")
    modified = case.system.modifiers.select("document", "label", frame="target").unique()
    modified = modified.group_by("document", "frame").agg(modified=pl.col("label").sort().str.join(" "))
    frames = frames.join(said, on="row", how="left", maintain_order="left")
    frames = frames.join(modified, on=["document", "frame"], how="left", maintain_order="left")
    return frames.with_columns(pl.col("modified").fill_null(""))


def _repeats(alike: pl.DataFrame, content: str) -> pl.DataFrame:
    key = ["document", "label", content, "modified"]
    numbered = alike.with_columns(first=pl.col("frame").first().over(key), ordinal=ordinals(alike, key))
    return numbered.filter(pl.col("ordinal") > 0).rename({"frame": "id"}).with_columns(field=pl.lit(""))


def duplicate_event(case: Case) -> pl.DataFrame:
    """An event that says the same as an earlier one."""
    return _repeats(case.once(_alike), "said")


def mirrored_event(case: Case) -> pl.DataFrame:
    """A commutative event that says the same as an earlier one with its arguments exchanged."""
    alike = case.once(_alike)
    same = _repeats(alike, "said").select("row")
    return _repeats(alike, "unordered").join(same, on="row", how="anti", maintain_order="left")


def _nested(case: Case) -> pl.DataFrame:
    return case.arguments.filter(pl.col("filler") == "frame").rename({"frame": "id"})


def self_reference(case: Case) -> pl.DataFrame:
    """An event that is its own argument."""
    found = _nested(case).filter(pl.col("frame_row") == pl.col("filler_row"))
    return found.with_columns(field=pl.format("target {}", "position"))


def cyclic_events(case: Case) -> pl.DataFrame:
    """An event that is, through others, its own argument; found once for each cycle."""
    nested = _nested(case).filter(pl.col("frame_row") != pl.col("filler_row"))
    names = dict(case.system.frames.select("row", "frame").iter_rows()) if nested.height else {}
    loops = cycles.loops(nested.select("frame_row", "filler_row").iter_rows())
    rows = [(*edge, " → ".join(names[row] for row in path)) for edge, path in loops]
    schema = {"frame_row": pl.Int64, "filler_row": pl.Int64, "path": pl.String}
    found = nested.join(pl.DataFrame(rows, schema=schema, orient="row"), on=["frame_row", "filler_row"])
    return found.unique(["frame_row", "filler_row"], maintain_order=True).with_columns(
        field=pl.format("target {}", "position")
    )


def same_filler(case: Case) -> pl.DataFrame:
    """An event whose mandatory roles are all filled by one entity."""
    mandatory = case.schema.roles.filter(pl.col("mandatory") | pl.col("one_of")).select("label", "role")
    some = _judged(case).filter(pl.struct("frame_row", "target").is_duplicated())
    core = some.join(mandatory, on=["label", "role"], how="semi", maintain_order="left")
    core = core.filter(ordinals(core, ["frame_row", "target"]) > 0)
    return core.with_columns(field=pl.format("target {}", "position"))


def event_as_entity(case: Case) -> pl.DataFrame:
    """An event in a role that takes any type, where an entity is meant."""
    unrestricted = case.schema.roles.join(case.schema.fillers, on=["label", "role"], how="anti")
    found = _nested(case).join(unrestricted, on=["label", "role"], how="semi", maintain_order="left")
    found = found.filter(pl.col("frame_row") != pl.col("filler_row"))
    return found.with_columns(field=pl.format("target {}", "position"))


def predicted_mention(case: Case) -> pl.DataFrame:
    """A text span in a submission; entities are given."""
    if case.against is case.system:
        return case.system.mentions.clear().rename({"mention": "id"}).with_columns(field=pl.lit(""))
    given = case.against.mentions.select("document", "mention").unique()
    found = case.system.mentions.join(given, on=["document", "mention"], how="anti", maintain_order="left")
    return found.rename({"mention": "id"}).with_columns(field=pl.lit(""))


def relation_identifier(case: Case) -> pl.DataFrame:
    """An event whose identifier begins with R."""
    found = case.system.frames.filter(pl.col("kind") == "relation")
    return found.rename({"frame": "id"}).with_columns(field=pl.lit("id"))


def predicted_equivalence(case: Case) -> pl.DataFrame:
    """An equivalence in a submission; the official software ignores it."""
    if case.against is case.system:
        return case.system.groups.clear().with_columns(id=pl.lit("*"), field=pl.lit(""))
    groups = case.system.groups.unique(["document", "group"], maintain_order=True)
    return groups.with_columns(id=pl.lit("*"), field=pl.lit(""))


def empty_prediction(case: Case) -> pl.DataFrame:
    """A file of predictions without an event, for a document that has some."""
    files = case.system.sources.filter(pl.col("member").str.ends_with(".a2"))
    tables = ("frames", "mentions", "modifiers", "groups", "refused")
    used = pl.concat([getattr(case.system, name)["origin"] for name in tables]).unique()
    stem = pl.col("member").str.extract(r"([^/]*)\.a2$")
    empty = files.filter(~pl.col("row").is_in(used.implode())).select(origin="row", name=stem)
    known = case.against.documents.select("name", document="row")
    events = case.against.frames.group_by("document").agg(events=pl.len())
    found = empty.join(known, on="name", maintain_order="left").join(events, on="document")
    return found.with_columns(record=pl.lit(None, pl.Int64), field=pl.lit(""), id=pl.lit(None, pl.String))


RULES = (
    *standoff.RULES,
    Rule("SEE101", unknown_type),
    Rule("SEE102", wrong_kind),
    Rule("SEE103", other_task),
    Rule("SEE104", event_with_trigger),
    Rule("SEE201", illegal_role),
    Rule("SEE202", missing_mandatory),
    Rule("SEE203", missing_alternative),
    Rule("SEE204", exclusive_roles),
    Rule("SEE205", illegal_filler),
    Rule("SEE206", duplicate_role),
    Rule("SEE207", modified_mention),
    Rule("SEE208", too_many_modifiers),
    Rule("SEE301", duplicate_event),
    Rule("SEE302", mirrored_event),
    Rule("SEE303", self_reference),
    Rule("SEE304", cyclic_events),
    Rule("SEE305", same_filler),
    Rule("SEE306", event_as_entity),
    Rule("SEE307", predicted_mention),
    Rule("SEE308", relation_identifier),
    Rule("SEE309", predicted_equivalence),
    Rule("SEE403", empty_prediction),
)
