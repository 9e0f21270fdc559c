"""Rules of Bacteria Biotope about labels, arguments of relations, and referents."""

from collections.abc import Callable

import polars as pl

from hlteval.findings.suggest import hints
from hlteval.representation import without_mentions
from hlteval.validators.biotope.schema import ONTOLOGY, TAXONOMY, BiotopeSchema
from hlteval.validators.rule import RuleContext, about_file, at, only_if
from hlteval.validators.vocabulary import frames_alike, repeats, with_hints

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


# Labels.


def unknown_label(context: RuleContext) -> pl.LazyFrame:
    """A text span, a relation or a normalization of a label that the task does not have."""
    schema: BiotopeSchema = context.schema
    known = {"mentions": schema.entities, "frames": schema.roles, "modifiers": schema.referents}
    parts = []
    for table, labels in known.items():
        rows = context.records(table, "label")
        wrong = {*rows.collect()["label"].drop_nulls()} - {*labels}
        listed = f"use {' or '.join(labels)}" if labels else f"remove it: {schema.task} has none"
        every = with_hints(rows, hints(sorted(wrong), labels, listed))
        parts.append(every.select("origin", "record", "id", "label", "hint", "field"))
    return pl.concat(parts)


def new_entity(context: RuleContext) -> pl.LazyFrame:
    """A text span in a submission to a task that gives the entities."""
    schema: BiotopeSchema = context.schema
    rows = only_if(not context.own and not schema.own_entities, context.records("mentions"))
    return at(rows, "")


# Arguments of relations.


def missing_role(context: RuleContext) -> pl.LazyFrame:
    """A relation without one of its two arguments."""
    schema: BiotopeSchema = context.schema
    wanted = [(label, role) for label, roles in schema.roles.items() for role in roles]
    roles = pl.LazyFrame(wanted, dict.fromkeys(("label", "role"), pl.String), orient="row")
    frames = context.records("frames", "label").join(roles, on="label", maintain_order="left")
    present = context.arguments.select("role", row="frame_row")
    return at(frames.join(present, on=["row", "role"], how="anti", maintain_order="left"), "label")


def duplicate_relation(context: RuleContext) -> pl.LazyFrame:
    """A relation with the label and the arguments of an earlier one."""
    return repeats(frames_alike(context), ("document", "label", "arguments"), "id")


# Referents.


def _normalizations(context: RuleContext) -> pl.LazyFrame:
    """The normalizations, with what they annotate: its `filler_label`, null if it is not there."""
    rows = context.records("modifiers", "label", "target", "value").drop_nulls("value")
    return rows.join(context.items, on=["document", "target"], how="left", maintain_order="left")


def wrong_scheme(context: RuleContext) -> pl.LazyFrame:
    """A referent of an entity whose label has none of this kind."""
    schema: BiotopeSchema = context.schema
    right = schema.kinds.rename({"label": "filler_label", "scheme": "label"})
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
        wrong = []
        for value in {*used} - known:  # identifiers are all much alike: a prefix may be missing
            meant = [each for each in (f"OBT:{value}", value.rpartition(":")[2]) if each in known]
            hint = f"did you mean {meant[0]}?" if meant else "use an identifier of the file"
            wrong.append((value, hint))
        names = dict.fromkeys(("value", "hint"), pl.String)
        table = pl.LazyFrame(wrong, names, orient="row")
        joined = rows.join(table, on="value", maintain_order="left")
        parts.append(joined.with_columns(option=pl.lit(option)))
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
    rows = rows.join(schema.kinds, on="label", maintain_order="left")
    lacking = rows.join(present, on=["document", "id"], how="anti", maintain_order="left")
    return about_file(lacking) if given else at(lacking, "id")
