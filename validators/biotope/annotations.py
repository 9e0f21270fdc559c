"""Rules of Bacteria Biotope about labels, arguments of relations, and referents."""

from collections.abc import Callable

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.representation import row_hash, without_mentions
from hlteval.validators.biotope.schema import ONTOLOGY, TAXONOMY, BiotopeSchema
from hlteval.validators.rule import RuleContext, about_file, at, only_if

_TARGET = pl.format("target {}", "position")
#: The most taxa of an entity.
_MOST = 2
#: The option with the identifiers of each kind of referents.
_LISTS = {ONTOLOGY: "ontology", TAXONOMY: "taxa"}

Check = Callable[[RuleContext], pl.LazyFrame]


def beside_given(context: RuleContext, *, check: Check) -> pl.LazyFrame:
    """Rows of a rule, from a submission beside the entities that come with the task.

    The entities of the .a2 files of a reference are what a system is to find: its own may have the
    same identifiers.
    """
    return check(context.once(_beside_given))


def _beside_given(context: RuleContext) -> RuleContext:
    if context.own:
        return context
    given = without_mentions(context.against, ".a2")
    return RuleContext(context.system, given, context.schema, context.lists)


def _with_hints(
    rows: pl.LazyFrame, known: dict[str, list[str]], columns: list[str]
) -> pl.LazyFrame:
    """Rows with values that are not known, with a hint for each.

    Args:
        rows: what is checked.
        known: the known values; those of the last column, by the first one if there are two.
        columns: the names of one or two columns.
    """
    pairs = rows.select(columns).unique(maintain_order=True).collect().iter_rows()
    wrong = []
    for pair in pairs:
        values = known.get(pair[0] if len(pair) > 1 else "", [])
        if values and pair[-1] not in values:
            hint = did_you_mean(pair[-1], values, f"use {' or '.join(values)}")
            wrong.append((*pair, hint))
    schema = dict.fromkeys([*columns, "hint"], pl.String)
    hints = pl.LazyFrame(wrong, schema=schema, orient="row")
    return rows.join(hints, on=columns, maintain_order="left")


# Labels.


def unknown_label(context: RuleContext) -> pl.LazyFrame:
    """A text span, a relation or a normalization of a label that the task does not have."""
    schema: BiotopeSchema = context.schema
    known = {"mentions": schema.entities, "frames": schema.relations, "modifiers": schema.referents}
    parts = []
    for table, labels in known.items():
        rows = context.records(table, "label")
        hint = pl.lit(f"remove the line: {schema.task} has none")
        wrong = (
            _with_hints(rows, {"": [*labels]}, ["label"])
            if labels
            else rows.with_columns(hint=hint)
        )
        parts.append(wrong.select("origin", "record", "id", "label", "hint"))
    return at(pl.concat(parts), "label")


def new_entity(context: RuleContext) -> pl.LazyFrame:
    """A text span in a submission to a task that gives the entities."""
    schema: BiotopeSchema = context.schema
    rows = only_if(not context.own and not schema.own_entities, context.records("mentions"))
    return at(rows, "")


# Arguments of relations.


def unknown_role(context: RuleContext) -> pl.LazyFrame:
    """A role that relations of the label do not have."""
    schema: BiotopeSchema = context.schema
    known = {label: [*roles] for label, roles in schema.relations.items()}
    arguments = context.arguments.rename({"frame": "id"})
    return at(_with_hints(arguments, known, ["label", "role"]), pl.format("role {}", "position"))


def missing_role(context: RuleContext) -> pl.LazyFrame:
    """A relation without one of its two arguments."""
    schema: BiotopeSchema = context.schema
    wanted = [(label, role) for label, roles in schema.relations.items() for role in roles]
    roles = pl.LazyFrame(wanted, dict.fromkeys(("label", "role"), pl.String), orient="row")
    frames = context.records("frames", "label").join(roles, on="label", maintain_order="left")
    present = context.arguments.select("role", row="frame_row")
    return at(frames.join(present, on=["row", "role"], how="anti", maintain_order="left"), "label")


def wrong_filler(context: RuleContext) -> pl.LazyFrame:
    """An argument that is an entity of another label."""
    schema: BiotopeSchema = context.schema
    wanted = [
        (label, role, labels)
        for label, roles in schema.relations.items()
        for role, labels in roles.items()
    ]
    names = dict.fromkeys(("label", "role"), pl.String)
    allowed = pl.LazyFrame(wanted, {**names, "allowed": pl.List(pl.String)}, orient="row")
    filled = context.arguments.rename({"frame": "id"}).drop_nulls("filler_label")
    rows = filled.join(allowed, on=["label", "role"], maintain_order="left")
    wrong = rows.filter(~pl.col("filler_label").is_in("allowed"))
    return at(wrong.with_columns(pl.col("allowed").list.join(" or ")), _TARGET)


def duplicate_relation(context: RuleContext) -> pl.LazyFrame:
    """A relation with the label and the arguments of an earlier one."""
    filled = context.arguments.sort("frame_row", "role")
    pairs = pl.format("{}:{}", "role", "target").str.join(" ")
    contents = filled.group_by(row="frame_row", maintain_order=True).agg(content=pairs)
    rows = context.records("frames", "label").join(contents, on="row", maintain_order="left")
    key = ["document", "label", "content"]
    again = rows.filter(row_hash(*key).is_duplicated())
    first, number = pl.col("id").first().over(key), pl.int_range(pl.len()).over(key)
    return at(again.with_columns(first=first, number=number).filter(pl.col("number") > 0), "")


# Referents.


def _normalizations(context: RuleContext) -> pl.LazyFrame:
    """The normalizations, with what they annotate: its `filler_label`, null if it is not there."""
    rows = context.records("modifiers", "label", "target", "value").drop_nulls("value")
    return rows.join(context.items, on=["document", "target"], how="left", maintain_order="left")


def wrong_scheme(context: RuleContext) -> pl.LazyFrame:
    """A referent of an entity whose label has none of this kind."""
    schema: BiotopeSchema = context.schema
    pairs = [(name, label) for name, labels in schema.referents.items() for label in labels]
    names = dict.fromkeys(("label", "filler_label"), pl.String)
    right = pl.LazyFrame(pairs, schema=names, orient="row")
    kinds = right.group_by("label").agg(allowed=pl.col("filler_label").str.join(" or "))
    rows = context.cached(_normalizations).filter(pl.col("filler_label").is_in(schema.entities))
    rows = rows.join(kinds, on="label", maintain_order="left")
    return at(
        rows.join(right, on=["label", "filler_label"], how="anti", maintain_order="left"), "target"
    )


def unknown_referent(context: RuleContext) -> pl.LazyFrame:
    """A referent that the ontology, or the list of taxa, does not have."""
    schema: BiotopeSchema = context.schema
    columns = ("document", "origin", "record", "id", "label", "value")
    every = context.cached(_normalizations)
    parts = [every.head(0).select(*columns, hint=pl.lit(""), option=pl.lit(""))]
    for label, option in _LISTS.items():
        listed = context.lists.get(option)
        if listed is None or listed.documents.is_empty():
            continue
        known = frozenset(listed.documents["name"])
        own = pl.col("filler_label").is_in(schema.referents.get(label, ()))
        rows = every.filter(own, label=label).select(columns)
        used = rows.select(pl.col("value").unique()).collect()["value"]
        # Identifiers are all much alike: only a prefix may be missing, or one too many.
        wrong = {value: {f"OBT:{value}", value.rpartition(":")[2]} & known
                 for value in used if value not in known}  # fmt: skip
        hints = [f"did you mean {min(meant)}?" if meant else "use an identifier of the file"
                 for meant in wrong.values()]  # fmt: skip
        table = pl.LazyFrame(
            {"value": [*wrong], "hint": hints}, {"value": pl.String, "hint": pl.String}
        )
        found = rows.join(table, on="value", maintain_order="left")
        parts.append(found.with_columns(option=pl.lit(option)))
    return at(pl.concat(parts), "value")


def too_many_taxa(context: RuleContext) -> pl.LazyFrame:
    """The first taxon of an entity that is one too many."""
    key = ["document", "target"]
    rows = context.cached(_normalizations).filter(label=TAXONOMY)
    number, count = pl.int_range(pl.len()).over(key), pl.len().over(key)
    numbered = rows.with_columns(number=number, count=count, most=pl.lit(_MOST))
    return at(numbered.filter(pl.col("number") == _MOST), "value")


def without_referent(context: RuleContext, *, given: bool) -> pl.LazyFrame:
    """An entity without a referent.

    Args:
        context: the submission.
        given: whether the entities that come with the task are looked at, or those of the
            submission.
    """
    schema: BiotopeSchema = context.schema
    pairs = [(label, name) for name, labels in schema.referents.items() for label in labels]
    kinds = pl.LazyFrame(pairs, schema=dict.fromkeys(("label", "scheme"), pl.String), orient="row")
    rows = context.records("mentions", "label")
    if given:
        files = context.table("sources", "row", "member").rename({"row": "origin"})
        files = files.filter(pl.col("member").str.ends_with(".a2"))
        names = context.names.join(
            files.with_columns(name=pl.col("member").str.extract(r"([^/]*)\.a2$")), on="name"
        )
        given_mentions = context.against.mentions.lazy().select(
            "document", "row", "label", id="mention"
        )
        rows = given_mentions.join(names, on="document", maintain_order="left")
        rows = only_if(not context.own, rows.with_columns(item="id"))
    present = context.cached(_normalizations).select("document", id="target")
    rows = rows.join(kinds, on="label", maintain_order="left")
    lacking = rows.join(present, on=["document", "id"], how="anti", maintain_order="left")
    return about_file(lacking) if given else at(lacking, "id")
