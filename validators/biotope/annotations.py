"""Rules of Bacteria Biotope about labels, arguments of relations, and referents."""

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from hlteval.findings.suggest import hints
from hlteval.representation import Corpus, first_case, without_mentions
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
    return check(context if context.own else context.once(_beside_given))


def _beside_given(context: RuleContext) -> RuleContext:
    return replace(context, against=without_mentions(context.against, ".a2"))


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
        parts.append(with_hints(rows, hints(sorted(wrong), labels, listed)))
    return pl.concat(parts)


def new_entity(context: RuleContext) -> pl.LazyFrame:
    """A text span in a submission to a task that gives the entities."""
    schema: BiotopeSchema = context.schema
    is_given = not context.own and not schema.own_entities
    return at(only_if(is_given, context.records("mentions")), "")


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
    allowed = right.group_by("label").agg(allowed=pl.col("filler_label").str.join(" or "))
    rows = context.cached(_normalizations).filter(pl.col("filler_label").is_in(schema.entities))
    rows = rows.join(allowed, on="label", maintain_order="left")
    wrong = rows.join(right, on=["label", "filler_label"], how="anti", maintain_order="left")
    return at(wrong, "target")


def unknown_referent(context: RuleContext) -> pl.LazyFrame:
    """A referent that the ontology, or the list of taxa, does not have."""
    schema: BiotopeSchema = context.schema
    value = pl.col("value")
    # identifiers are all much alike: a prefix may be missing
    meant = pl.format("OBT:{}", value), value.str.extract("([^:]*)$")
    parts = []
    for label, option in _LISTS.items():
        listed = context.lists.get(option, Corpus()).documents["name"].implode()
        own = pl.col("filler_label").is_in(schema.referents.get(label, ()))
        rows = context.cached(_normalizations).filter(own, ~value.is_in(listed), label=label)
        hints = [(each.is_in(listed), pl.format("did you mean {}?", each)) for each in meant]
        hint = first_case(*hints, otherwise="use an identifier of the file")
        known = bool(listed.list.len()[0])
        parts.append(only_if(known, rows).with_columns(hint=hint, option=pl.lit(option)))
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
        name = pl.col("member").str.extract(r"([^/]*)\.a2$")
        files = context.table("sources", "row", "member").select(origin="row", name=name)
        files = context.names.join(files, on="name")
        rows = context.against.mentions.lazy().select("document", "row", "label", item="mention")
        rows = rows.join(files, on="document", maintain_order="left").with_columns(id="item")
        rows = only_if(not context.own, rows)
    present = context.cached(_normalizations).select("document", id="target")
    rows = rows.join(schema.kinds, on="label", maintain_order="left")
    lacking = rows.join(present, on=["document", "id"], how="anti", maintain_order="left")
    return about_file(lacking) if given else at(lacking, "id")
