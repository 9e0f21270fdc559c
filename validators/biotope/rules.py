"""The rules of Bacteria Biotope, by code.

BTP1xx are about labels, BTP2xx about the arguments of relations, BTP3xx about referents; STD are
those of the format.
"""

from dataclasses import replace
from functools import partial

import polars as pl

from hlteval.findings.suggest import hints
from hlteval.representation import Corpus, first_case, without_mentions
from hlteval.validators import standoff, vocabulary
from hlteval.validators.biotope.schema import ONTOLOGY, TAXONOMY, BiotopeSchema
from hlteval.validators.rule import Rule, RuleContext, about_file, at, only_if

#: The option with the identifiers of each kind of referents.
_LISTS = {ONTOLOGY: "ontology", TAXONOMY: "taxa"}


def beside_given(rule: Rule) -> Rule:
    """A rule for a submission beside the entities that come with the task.

    The entities of the .a2 files of a reference are what a system is to find: its own may have the
    same identifiers.
    """

    def check(context: RuleContext) -> pl.LazyFrame:
        return rule.check(context if context.own else context.once(_beside_given))

    return replace(rule, check=check)


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
        parts.append(vocabulary.with_hints(rows, hints(sorted(wrong), [*labels], listed)))
    return pl.concat(parts)


def gives_entities(context: RuleContext) -> bool:
    """Whether the task gives the entities."""
    return not context.schema.own_entities


# Arguments of relations.


def missing_role(context: RuleContext) -> pl.LazyFrame:
    """A relation without one of its two arguments."""
    schema: BiotopeSchema = context.schema
    wanted = [(label, role) for label, roles in schema.roles.items() for role in roles]
    roles = pl.LazyFrame(wanted, dict.fromkeys(("label", "role"), pl.String), orient="row")
    frames = context.records("frames", "label").join(roles, on="label", maintain_order="left")
    present = context.arguments.select("role", row="frame_row")
    return at(frames.join(present, on=["row", "role"], how="anti", maintain_order="left"), "label")


# Referents.


def _normalizations(context: RuleContext) -> pl.LazyFrame:
    """The normalizations, with what they annotate: its `filler_label`, null if it is not there."""
    rows = context.records("modifiers", "label", "target", "value").drop_nulls("value")
    return rows.join(context.items, on=["document", "target"], how="left", maintain_order="left")


def wrong_scheme(context: RuleContext) -> pl.LazyFrame:
    """A referent of an entity whose label has none of this kind."""
    schema: BiotopeSchema = context.schema
    rows = context.cached(_normalizations).filter(pl.col("filler_label").is_in(schema.entities))
    wrong = vocabulary.of_other_labels(rows, schema.referents.items(), ["label"])
    return at(wrong, "target")


def unknown_referent(context: RuleContext) -> pl.LazyFrame:
    """A referent that the ontology, or the list of taxa, does not have."""
    schema: BiotopeSchema = context.schema
    value = pl.col("value")
    # identifiers are all much alike: a prefix may be missing
    meant = pl.format("OBT:{}", value), value.str.extract("([^:]*)$")
    parts = []
    for label, option in _LISTS.items():
        listed = context.lists.get(option, Corpus()).documents["name"]
        known, own = listed.implode(), pl.col("filler_label").is_in(schema.referents.get(label, ()))
        rows = context.cached(_normalizations).filter(own, ~value.is_in(known), label=label)
        hints = [(each.is_in(known), pl.format("did you mean {}?", each)) for each in meant]
        hint = first_case(*hints, otherwise="use an identifier of the file")
        parts.append(only_if(len(listed) > 0, rows).with_columns(hint=hint, option=pl.lit(option)))
    return at(pl.concat(parts), "value")


def too_many_taxa(context: RuleContext) -> pl.LazyFrame:
    """The first taxon of an entity that is one too many."""
    rows, key = context.cached(_normalizations), ["document", "target", "label"]
    return at(vocabulary.one_too_many(rows, key, context.schema.most), "value")


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
        mentions = context.against.mentions.lazy()
        rows = mentions.select("document", "row", "label", id="mention", item="mention")
        rows = rows.join(standoff.answers(context), on="document", maintain_order="left")
        rows = only_if(not context.own, rows)
    kinds = [(label, name) for name, labels in schema.referents.items() for label in labels]
    names = dict.fromkeys(("label", "scheme"), pl.String)
    rows = rows.join(pl.LazyFrame(kinds, names, orient="row"), on="label", maintain_order="left")
    present = context.cached(_normalizations).select("document", id="target")
    lacking = rows.join(present, on=["document", "id"], how="anti", maintain_order="left")
    return about_file(lacking) if given else at(lacking, "id")


_OWN = (
    Rule("BTP101", "sources", unknown_label),
    Rule(
        *("BTP102", "mentions", standoff.added_mention),
        submission_only=True,
        suspects=gives_entities,
    ),
    Rule("BTP201", "frames", vocabulary.unknown_role),
    Rule("BTP202", "frames", missing_role),
    Rule("BTP203", "frames", vocabulary.wrong_filler),
    Rule("BTP204", "frames", vocabulary.duplicate_frame),
    Rule("BTP301", "modifiers", wrong_scheme),
    Rule("BTP302", "modifiers", unknown_referent),
    Rule("BTP303", "modifiers", too_many_taxa),
    Rule("BTP304", "mentions", partial(without_referent, given=False)),
    Rule("BTP305", "sources", partial(without_referent, given=True), submission_only=True),
)

RULES = tuple(map(beside_given, (*standoff.RULES, *_OWN)))
