"""Rules of SeeDev about types, roles and fillers, and about what is predicted (SEE1xx to SEE3xx).

A corpus has few types, few shapes of events (a type and its roles) and few kinds of fillers,
however many events it has: these are checked first, then the records that have them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl

from hlteval.findings.suggest import closest, did_you_mean
from hlteval.representation import row_hash
from hlteval.validators.rule import RECORD, RuleContext, about_file, at, only_if
from hlteval.validators.seedev.schema import EventSchema
from hlteval.validators.standoff import answers

_TARGET = pl.format("target {}", "position")
_EVENTS = {"frame": "the event", "modifier": "the modifier"}


# Types of text spans, events and modifiers.


def _tables(context: RuleContext) -> dict[str, pl.LazyFrame]:
    """The records that have a type, by the kind of their annotation."""
    rejected = context.records("rejected_records", "label", "code", "kind").drop_nulls("label")
    modifiers = context.records("modifiers", "label")
    normalization = pl.col("id").str.starts_with("N")
    return {
        "a text span": context.records("mentions", "label"),
        "an event": context.records("frames", "label"),
        "a modifier": modifiers.filter(~normalization),
        "a normalisation": modifiers.filter(normalization),
        "a record": rejected.filter(pl.col("code") != "STD101", pl.col("kind") != "group"),
    }


def _types(context: RuleContext) -> list[tuple[str, str]]:
    """The types of the records, each with the kind of an annotation that has it."""
    tables = _tables(context).items()
    types = [rows.select("label", kind=pl.lit(kind)).unique() for kind, rows in tables]
    return pl.concat(types).collect().rows()


def _of_types(
    context: RuleContext, column: str, wrong: Sequence[tuple[str, str, str]]
) -> pl.LazyFrame:
    """The records of wrong types (`label`, `kind` and a further column), at their types."""
    tables, columns = _tables(context).items(), (*RECORD, "id", "label")
    every = pl.concat(rows.select(*columns, kind=pl.lit(kind)) for kind, rows in tables)
    table = _table(("label", "kind", column), wrong)
    records = only_if(table.height > 0, every)
    joined = records.join(table.lazy(), on=["kind", "label"], maintain_order="left")
    return at(joined, "label")


def _table(names: Sequence[str], rows: Iterable[tuple[str, ...]]) -> pl.DataFrame:
    """A table of strings, each row once."""
    return pl.DataFrame(list(dict.fromkeys(rows)), dict.fromkeys(names, pl.String), orient="row")


def unknown_type(context: RuleContext, *, of_other_task: bool) -> pl.LazyFrame:
    """A type that neither task has, or that only the other task has.

    If all events have types of the other task, SEE103 reports these.
    """
    schema = context.schema
    wrong = [
        (label, kind, _type_hint(label, kind, schema))
        for label, kind in context.once(_types)
        if label not in schema.labels and (label in schema.elsewhere) is of_other_task
    ]
    return _of_types(context, "hint", wrong)


def _type_hint(label: str, kind: str, schema: EventSchema) -> str:
    if label not in schema.elsewhere:
        types = {"a text span": schema.mentions, "an event": schema.events}
        listed = ", ".join(sorted(types.get(kind, schema.labels)))
        otherwise = f"the types of {schema.task} are {listed}"
        return did_you_mean(label, sorted(schema.labels), otherwise)
    same = schema.elsewhere[label]
    return f"{f'use {same}' if same else 'remove the line'}; {label} is a type of {schema.other}"


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
    schema = context.schema
    frames = context.records("frames", "label")
    first = frames.filter(pl.col("label").is_in(schema.other_events)).head(1)
    return at(first, "label").with_columns(task=pl.lit(schema.task), other=pl.lit(schema.other))


def wrong_kind(context: RuleContext) -> pl.LazyFrame:
    """A type of the task on a record of another kind, such as an entity type on an event."""
    schema = context.schema
    due = {
        **dict.fromkeys(schema.mentions, "a text span"),
        **dict.fromkeys(schema.events, "an event"),
        **dict.fromkeys(schema.modifiers, "a modifier"),
    }
    wrong = [
        (label, kind, due[label])
        for label, kind in context.once(_types)
        if label in due and kind not in {due[label], "a record"}
    ]
    return _of_types(context, "due", wrong)


def event_with_trigger(context: RuleContext) -> pl.LazyFrame:
    """An event with a trigger; those of SeeDev have none."""
    return at(context.records("frames", "label", "trigger").drop_nulls("trigger"), "trigger")


def relation_identifier(context: RuleContext) -> pl.LazyFrame:
    """An event with the identifier of a relation, which begins with R."""
    return at(context.records("frames", "kind").filter(pl.col("kind") == "relation"), "id")


# Roles: shapes of events, and kinds of arguments.


def _contents(context: RuleContext) -> pl.LazyFrame:
    """The events, each with sums of hashes of its arguments, which do not depend on their order.

    `roles` is equal for events with the same roles, `content` for those that also have the same
    targets, in commutative events in whatever roles. `row` is that of `frames`; sums are null for
    events without arguments.
    """
    role = pl.when(_is_free(context)).then(pl.lit(0, pl.UInt64)).otherwise(pl.col("role").hash(1))
    content = (role + pl.col("target").hash(2)).hash(3)
    hashes = context.arguments.select("frame_row", roles=pl.col("role").hash(1), content=content)
    # of tens of thousands of small groups, NumPy sums stretches in a tenth of the time
    sorted_hashes = hashes.sort("frame_row").collect()
    rows, *values = (column.to_numpy() for column in sorted_hashes.iter_columns())
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    each = [rows[begins], *(np.add.reduceat(column, begins) for column in values)]
    sums = pl.LazyFrame(dict(zip(("row", "roles", "content"), each, strict=True)))
    events = context.records("frames", "label")
    return events.join(sums, on="row", how="left", maintain_order="left")


def _is_free(context: RuleContext) -> pl.Expr:
    """Whether an argument of a commutative event may be in another role."""
    commutative = [event.label for event in context.schema.events.values() if event.commutative]
    return pl.col("label").is_in(commutative) & ~pl.col("role").is_in(context.schema.conditions)


def wrong_shape(context: RuleContext, *, problem: str) -> pl.LazyFrame:
    """An event whose shape has a problem, with the `roles` concerned.

    Args:
        context: what is checked.
        problem: `missing` a mandatory role, `none of` the roles of which one is needed, or `more
            than one of` them.
    """
    wrong = context.once(_wrong_shapes).filter(problem=problem)
    events = context.cached(_contents).rename({"roles": "shape"})
    events, key = only_if(wrong.height > 0, events), ["label", "shape"]
    return at(events.join(wrong.lazy(), key, maintain_order="left", nulls_equal=True), "label")


def _wrong_shapes(context: RuleContext) -> pl.DataFrame:
    """The shapes with a problem: `label`, `shape`, `problem`, and the `roles` concerned."""
    shapes = context.cached(_contents).filter(row_hash("label", "roles").is_first_distinct())
    examples = shapes.select("row", "label", "roles").collect()
    some = context.arguments.filter(pl.col("frame_row").is_in(examples["row"].implode()))
    roles: defaultdict[int, set[str]] = defaultdict(set)
    for row, role in some.select("frame_row", "role").collect().iter_rows():
        roles[row].add(role)
    wrong = []
    for row, label, shape in examples.iter_rows():
        if (event := context.schema.events.get(label)) is None:
            continue
        missing = [role for role in event.mandatory if role not in roles[row]]
        wrong += [(label, shape, "missing", role) for role in missing]
        chosen = [role for role in event.one_of if role in roles[row]]
        if event.one_of and not chosen:
            wrong.append((label, shape, "none of", " or ".join(event.one_of)))
        if len(chosen) > 1:
            wrong.append((label, shape, "more than one of", " and ".join(chosen)))
    schema = {"label": pl.String, "shape": pl.UInt64, "problem": pl.String, "roles": pl.String}
    return pl.DataFrame(wrong, schema=schema, orient="row")


def _kinds(context: RuleContext) -> list[tuple[str, str, str | None, str | None]]:
    """The kinds of arguments: type of the event, role, and kind and type of the filler."""
    columns = ("label", "role", "filler", "filler_label")
    kinds = context.arguments.select(columns).filter(row_hash(*columns).is_first_distinct())
    return kinds.collect().rows()


def _of_kinds(
    context: RuleContext, columns: Sequence[str], wrong: Iterable[tuple[str, ...]]
) -> pl.LazyFrame:
    """The arguments of wrong kinds.

    Args:
        context: what is checked.
        columns: those of `_kinds` that tell wrong ones, and a further one, which is added.
        wrong: a row for each kind.
    """
    table = _table(columns, wrong)
    arguments = only_if(table.height > 0, context.arguments.rename({"frame": "id"}))
    return arguments.join(table.lazy(), on=columns[:-1], maintain_order="left")


def illegal_role(context: RuleContext) -> pl.LazyFrame:
    """A role that events of the type do not have."""
    events = context.schema.events
    kinds = dict.fromkeys((label, role) for label, role, _, _ in context.once(_kinds))
    wrong = [
        (label, role, _role_hint(label, role, context.schema))
        for label, role in kinds
        if label in events and role not in events[label].roles
    ]
    arguments = _of_kinds(context, ("label", "role", "hint"), wrong)
    return at(arguments, pl.format("role {}", "position"))


def _role_hint(label: str, role: str, schema: EventSchema) -> str:
    """How to correct a role; an optional argument where there are none is to be removed."""
    roles = schema.events[label].roles
    optional = [name for name in schema.optional if name not in roles]
    if closest(role, [*roles, *optional]) in optional:
        subject = label if schema.conditions else schema.task
        return f"remove the argument; {subject} has no optional arguments"
    meant = did_you_mean(role, roles)
    return f"{meant} use a role of {label}: {', '.join(roles)}".strip()


def illegal_filler(context: RuleContext) -> pl.LazyFrame:
    """A role with a filler of a type that it does not take; SEE101 reports unknown types.

    Where the filler and that of another role of the event are right the other way round, the hint
    is to exchange them.
    """
    schema = context.schema
    kinds: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for label, role, _, of in context.once(_kinds):
        if label in schema.events and role in schema.events[label].roles and of is not None:
            kinds[label].append((role, of))

    def takes(label: str, role: str, of: str) -> bool:
        allowed = schema.events[label].roles[role]
        return allowed is None or of in allowed

    wrong = [
        (label, role, of)
        for label, fillers in kinds.items()
        for role, of in fillers
        if of in schema.labels and not takes(label, role, of)
    ]
    if not wrong:
        return context.arguments.head(0)
    allowed = (schema.events[label].roles[role] for label, role, _ in wrong)
    types = [(*kind, ", ".join(sorted(of or ()))) for kind, of in zip(wrong, allowed, strict=True)]
    swaps = [
        (label, role, of, other_role, other)
        for label, role, of in wrong
        for other_role, other in kinds[label]
        if other_role != role and takes(label, role, other) and takes(label, other_role, of)
    ]
    names = ("label", "role", "filler_label", "other_role", "other_filler")
    arguments = _of_kinds(context, (*names[:3], "allowed"), types)
    others = context.arguments.select("frame_row", other_role="role", other_filler="filler_label")
    pairs = arguments.join(_table(names, swaps).lazy(), on=names[:3])
    pairs = pairs.join(others, on=["frame_row", *names[3:]], how="semi").sort("row", "other_role")
    exchange = pairs.select("row", "other_role").unique("row", keep="first")
    hint = pl.coalesce(
        pl.format("exchange the fillers of {} and {}", "role", "other_role"),
        pl.format("use a filler of type {}", "allowed"),
    )
    hinted = arguments.join(exchange, on="row", how="left", maintain_order="left")
    return at(hinted.with_columns(hint=hint), _TARGET)


def duplicate_role(context: RuleContext) -> pl.LazyFrame:
    """A repeated role; the last one counts."""
    every = only_if(context.has_repeated_roles, context.all_arguments)
    earlier = every.join(context.arguments.select("row"), on="row", how="anti")
    return at(earlier.rename({"frame": "id"}), pl.format("argument {}", "position"))


def same_filler(context: RuleContext) -> pl.LazyFrame:
    """An event whose mandatory roles are all filled by one entity."""
    required = [
        f"{event.label} {role}"
        for event in context.schema.events.values()
        for role in (*event.mandatory, *event.one_of)
    ]
    same = context.arguments.filter(row_hash("frame_row", "target").is_duplicated())
    same = same.collect().lazy()  # few; Polars would compare the roles of all
    core = same.filter(pl.format("{} {}", "label", "role").is_in(required))
    again = core.filter(pl.int_range(pl.len()).over("frame_row", "target") > 0)
    return at(again.rename({"frame": "id"}), _TARGET)


def event_as_entity(context: RuleContext) -> pl.LazyFrame:
    """An event or a modifier in a role that takes any type, where an entity is meant."""
    events = context.schema.events
    wrong = [
        (label, role, filler, _EVENTS[filler])
        for label, role, filler, _ in context.once(_kinds)
        if filler in _EVENTS
        and label in events
        and role in events[label].roles
        and not events[label].roles[role]
    ]
    arguments = _of_kinds(context, ("label", "role", "filler", "what"), wrong)
    itself = (pl.col("filler") == "frame") & (pl.col("frame_row") == pl.col("filler_row"))
    return at(arguments.filter(~itself), _TARGET)


# Events that refer to themselves.


Edge = tuple[int, int]


def self_reference(context: RuleContext) -> pl.LazyFrame:
    """An event that is its own argument."""
    nested = context.arguments.filter(pl.col("filler") == "frame").rename({"frame": "id"})
    return at(nested.filter(pl.col("frame_row") == pl.col("filler_row")), _TARGET)


def cyclic_events(context: RuleContext) -> pl.LazyFrame:
    """An event that is its own argument through others, once for each cycle."""
    nested = context.arguments.filter(pl.col("filler") == "frame").rename({"frame": "id"})
    key = ["frame_row", "filler_row"]
    edges = nested.filter(pl.col("frame_row") != pl.col("filler_row")).collect()
    names = dict(context.system.frames.select("row", "frame").iter_rows()) if edges.height else {}
    loops = cycles(edges.select(key).iter_rows())
    rows = [(*edge, " → ".join(names[row] for row in path)) for edge, path in loops]
    schema = {"frame_row": pl.Int64, "filler_row": pl.Int64, "path": pl.String}
    closing = edges.join(pl.DataFrame(rows, schema=schema, orient="row"), on=key)
    return at(closing.unique(key, maintain_order=True).lazy(), _TARGET)


def cycles(edges: Iterable[Edge]) -> Iterator[tuple[Edge, list[int]]]:
    """One cycle of each strongly connected set of frames.

    The walk is depth first, without recursion: a chain of frames may be as long as a file.

    Args:
        edges: pairs of a frame and a frame that fills one of its roles.

    Yields:
        The edge that closes the cycle, and the frames along it, the first one repeated at its end.

    Examples:
        >>> list(cycles([(1, 2), (2, 3), (3, 1), (4, 1)]))
        [((3, 1), [1, 2, 3, 1])]
    """
    targets: dict[int, list[int]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
    done: set[int] = set()
    for start in sorted(targets):
        path, pending = [start], [iter([] if start in done else targets[start])]
        on_path = {start}
        while pending:
            following = next(pending[-1], None)
            if following is None:
                pending.pop()
                done.add(path[-1])
                on_path.discard(path.pop())
            elif following in on_path:
                yield (path[-1], following), [*path[path.index(following) :], following]
            elif following not in done:
                path.append(following)
                on_path.add(following)
                pending.append(iter(targets.get(following, ())))


# Events that repeat others.


def _alike(context: RuleContext) -> pl.LazyFrame:
    """The events with the content of another one, apart from the order of commutative arguments.

    `content` is that of each event, role by role; `unordered` is equal for all that are alike. Few
    are: sums of hashes find them, their content decides.
    """
    key = ["document", "label", "content"]
    events = context.cached(_contents).filter(row_hash(*key).is_duplicated())
    events = events.drop("content", "roles")
    role = pl.when(_is_free(context)).then(pl.lit("*")).otherwise("role")
    arguments = context.arguments.join(events.select(frame_row="row"), on="frame_row", how="semi")
    contents = arguments.group_by(row="frame_row").agg(
        content=pl.concat_str("role", "target", separator=":").sort().str.join(" "),
        unordered=pl.concat_str(role, "target", separator=":").sort().str.join(" "),
    )
    modifiers = context.table("modifiers", "document", "label", "target").unique()
    labels = pl.col("label").sort().str.join(" ")
    modified = modifiers.group_by("document", id="target").agg(modified=labels)
    events = events.join(contents, on="row", how="left", maintain_order="left")
    events = events.join(modified, on=["document", "id"], how="left", maintain_order="left")
    return events.with_columns(pl.col("modified").fill_null(""))


def _repeats(context: RuleContext, content: str) -> pl.LazyFrame:
    """The events with the content of an earlier one, called `first`."""
    key = ["document", "label", content, "modified"]
    first, ordinal = pl.col("id").first().over(key), pl.int_range(pl.len()).over(key)
    alike = context.cached(_alike).with_columns(first=first, ordinal=ordinal)
    return at(alike.filter(pl.col("ordinal") > 0), "")


def duplicate_event(context: RuleContext) -> pl.LazyFrame:
    """An event with the content of an earlier one."""
    return _repeats(context, "content")


def mirrored_event(context: RuleContext) -> pl.LazyFrame:
    """A commutative event with the content of an earlier one, its arguments swapped."""
    same = _repeats(context, "content").select("row")
    return _repeats(context, "unordered").join(same, on="row", how="anti", maintain_order="left")


# Modifiers of events.


def _modifiers(context: RuleContext) -> pl.LazyFrame:
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
    return _modifiers(context).filter(read | unread)


def too_many_modifiers(context: RuleContext) -> pl.LazyFrame:
    """An event with more modifiers of a type than it may have, at each one too many."""
    modifiers = _modifiers(context).filter(pl.col("filler") == "frame")
    number = pl.int_range(1, pl.len() + 1).over("filler_row", "label")
    limits = dict(context.schema.modifiers)
    limit = pl.col("label").replace_strict(limits, default=0, return_dtype=pl.Int64)
    numbered = modifiers.with_columns(number=number, limit=limit)
    return numbered.filter(pl.col("number") > pl.col("limit"))


# What a submission predicts at all.


def predicted_equivalence(context: RuleContext) -> pl.LazyFrame:
    """An equivalence in a submission; the official software ignores it."""
    groups = context.table("groups", "document", "origin", "record", "group")
    groups = groups.unique(["document", "group"], keep="first", maintain_order=True)
    return at(only_if(not context.own, groups), "").with_columns(id=pl.lit("*"))


def empty_prediction(context: RuleContext) -> pl.LazyFrame:
    """A file of predictions without an event, for a document that has some."""
    tables = ("frames", "mentions", "modifiers", "groups", "rejected_records")
    used = pl.concat(context.table(name, "origin") for name in tables)
    empty = answers(context).join(used, on="origin", how="anti", maintain_order="left")
    events = context.against.frames.lazy().group_by("document").agg(events=pl.len())
    return about_file(empty.join(events, on="document", maintain_order="left"))
