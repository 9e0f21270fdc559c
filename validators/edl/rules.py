"""Rules of entity discovery and linking: fields of mentions, and mentions beside each other.

What a record cannot be read for is told by the reader. What texts, lists and the knowledge base say
of mentions is in `lorehlt_edl_sources`.
"""

from __future__ import annotations

import polars as pl

from hlteval.converters.toolkit.confidences import decimal
from hlteval.grammars import pattern
from hlteval.representation import hashed
from hlteval.validators.edl.sources import RULES as SOURCES
from hlteval.validators.edl.spans import crossing, in_order, nested
from hlteval.validators.edl.table import (
    about_the_whole,
    at,
    blank,
    matches,
    mentions,
    shown,
)
from hlteval.validators.rule import Rule, RuleContext

EXTENT = ("document", "start", "end")
FIELDS = {
    "annotator": "run",
    "mention": "mention id",
    "text": "mention string",
    "entity": "entity",
    "label": "type",
    "mention_type": "mention type",
    "written": "confidence",
}
"""The columns of a mention, as messages call them."""

SUBMITTED = "mentions.annotator"
"""What only a table of eight fields says: rules about these ask nothing of other formats."""

NOMINAL, ENGLISH = "NOM", "ENG"
"""A mention type, and a language: what its documents are called by, where nothing else is said."""


def no_mentions(case: RuleContext) -> pl.LazyFrame:
    """A submission in which nothing stands that set out to be a mention."""
    said = case.system.mentions.height + case.system.rejected_records.height
    rows = about_the_whole(case.table("sources").head(0 if said else 1))
    return rows.with_columns(origin=pl.col("row"))


def no_run(case: RuleContext) -> pl.LazyFrame:
    """A mention without a run."""
    return at(case.cached(mentions).filter(blank("annotator")), "run")


def another_run(case: RuleContext) -> pl.LazyFrame:
    """A run that is not that of the first line; each is told once."""
    said = case.cached(mentions).filter(~blank("annotator"))
    runs = said.group_by("annotator", maintain_order=True).agg(
        pl.col("origin", "record", "id").first(), count=pl.len()
    )
    others = runs.with_columns(first=shown("annotator").first()).slice(1)
    return at(others.with_columns(given=shown("annotator")), "run")


def no_mention_id(case: RuleContext) -> pl.LazyFrame:
    """A mention without an identifier."""
    return at(case.cached(mentions).filter(blank("mention")), "mention")


def repeated_mention_id(case: RuleContext) -> pl.LazyFrame:
    """A mention whose identifier an earlier one has, and not its extent as well."""
    rows = case.cached(mentions).filter(~blank("mention"))
    alike = rows.filter(hashed("mention").is_duplicated())
    # two mentions of the same extent are told by another rule
    fresh = alike.filter(pl.struct("mention", *EXTENT).is_first_distinct())
    found = fresh.with_columns(first=pl.col("record").first().over("mention"))
    return at(
        found.filter(~pl.col("mention").is_first_distinct()).with_columns(given=shown("mention")),
        "mention",
    )


def no_string(case: RuleContext) -> pl.LazyFrame:
    """A mention without its text."""
    return at(case.cached(mentions).filter(blank("text")), "text")


def no_entity(case: RuleContext) -> pl.LazyFrame:
    """A mention without an entity."""
    return at(case.cached(mentions).filter(blank("entity")), "entity")


def entity_form(case: RuleContext) -> pl.LazyFrame:
    """An entity that is neither a number nor NIL and digits."""
    entity = pl.col("entity")
    meant = entity.str.strip_chars().str.to_uppercase()
    hint = (
        pl.when(meant.str.contains("^(?:NIL)?[0-9]+$"))
        .then(pl.format("write {}", meant))
        .when(meant.str.starts_with("NIL"))
        .then(pl.lit("write only digits after NIL, the same for all mentions of the entity"))
        .when(entity.str.contains(r"^/?m[./]"))
        .then(pl.lit("use a number of the knowledge base; this looks like a Freebase identifier"))
        .otherwise(pl.lit("write a number of the knowledge base, or NIL and digits"))
    )
    found = case.cached(mentions).filter(~blank("entity"), ~matches("entity", "entity"))
    return at(found.with_columns(given=shown("entity"), hint=hint), "entity")


def alternatives(case: RuleContext) -> pl.LazyFrame:
    """A mention with several entities, which only a reference may have."""
    links = case.table("links").group_by("mention_row", maintain_order=True)
    others = links.agg(pl.col("entity").drop_nulls())
    rows = case.cached(mentions).join(
        others, left_on="row", right_on="mention_row", maintain_order="left", suffix="_others"
    )
    every = pl.concat_list("entity", "entity_others")
    joined = rows.with_columns(every=every.list.join("|"), count=every.list.len())
    return at(joined.with_columns(given=shown("every")), "entity")


def entity_type(case: RuleContext) -> pl.LazyFrame:
    """An entity type that is none of the four."""
    meant = pl.col("label").str.strip_chars().str.to_uppercase()
    hint = (
        pl.when(meant.str.contains(f"^(?:{pattern('edl', 'type')})$"))
        .then(pl.format("write {}", meant))
        .when(meant == "FAC")
        .then(pl.lit("write LOC; facilities are locations in this task"))
        .otherwise(pl.lit("use GPE, LOC, ORG or PER"))
    )
    found = case.cached(mentions).filter(~matches("label", "type"))
    return at(found.with_columns(given=_said("label"), hint=hint), "type")


def mention_type(case: RuleContext) -> pl.LazyFrame:
    """A mention type that is neither NAM nor NOM."""
    meant = pl.col("mention_type").fill_null("").str.strip_chars().str.to_uppercase()
    hint = (
        pl.when(meant.str.contains(f"^(?:{pattern('edl', 'mention_type')})$"))
        .then(pl.format("write {}", meant))
        .otherwise(pl.lit("write NAM for a name, or NOM for a nominal"))
    )
    known = matches("mention_type", "mention_type").fill_null(value=False)
    found = case.cached(mentions).filter(~known)
    return at(found.with_columns(given=_said("mention_type"), hint=hint), "mention type")


def _said(column: str) -> pl.Expr:
    """What a field holds, in words where that cannot be seen."""
    return pl.when(blank(column)).then(pl.lit("(empty)")).otherwise(shown(column))


def nominal(case: RuleContext) -> pl.LazyFrame:
    """A nominal mention in an English document."""
    known = case.against.documents.lazy().select("name", "language")
    rows = case.cached(mentions).filter(pl.col("mention_type") == NOMINAL)
    named = rows.join(known, on="name", how="left", maintain_order="left")
    language = pl.col("language").fill_null(pl.col("name").str.slice(0, len(ENGLISH)))
    found = named.filter(language.str.to_uppercase() == ENGLISH)
    return at(found.with_columns(document=shown("name")), "mention type")


def no_confidence(case: RuleContext) -> pl.LazyFrame:
    """A mention without a confidence."""
    return at(case.cached(mentions).filter(blank("written")), "confidence")


def no_number(case: RuleContext) -> pl.LazyFrame:
    """A confidence that is no number."""
    found = case.cached(mentions).filter(~blank("written"), pl.col("confidence").is_null())
    comma = pl.col("written").str.contains("^[01],[0-9]+$")
    hint = pl.when(comma).then(pl.lit(", with a decimal point")).otherwise(pl.lit(""))
    return at(found.with_columns(given=shown("written"), hint=hint), "confidence")


def out_of_range(case: RuleContext) -> pl.LazyFrame:
    """A confidence that is not above 0 and up to 1."""
    value = pl.col("confidence")
    return at(
        case.cached(mentions)
        .filter((value <= 0) | (value > 1))
        .with_columns(given=shown("written")),
        "confidence",
    )


def confidence_form(case: RuleContext) -> pl.LazyFrame:
    """A confidence in its range, but not written as a decimal number with a point."""
    inside = (pl.col("confidence") > 0) & (pl.col("confidence") <= 1)
    odd = pl.col("confidence_text").is_not_null() & ~matches("confidence_text", "confidence")
    found = case.cached(mentions).filter(inside, odd)
    fix = pl.col("confidence").map_elements(decimal, return_dtype=pl.String)
    return at(found.with_columns(given=shown("written"), fix=fix), "confidence")


def end_before_start(case: RuleContext) -> pl.LazyFrame:
    """A mention whose last character is before its first."""
    found = case.cached(mentions).filter(pl.col("end") <= pl.col("start"))
    return at(found.with_columns(last=pl.col("end") - 1), "offsets")


def _same_extent(case: RuleContext) -> pl.LazyFrame:
    """The mentions that share their extent with another, and whether an earlier one is equal."""
    rows = case.cached(mentions).filter(hashed(*EXTENT).is_duplicated())
    return rows.with_columns(
        first=pl.col("record").first().over(EXTENT),
        again=~pl.struct(*EXTENT, *FIELDS).is_first_distinct(),
        ordinal=pl.int_range(pl.len()).over(EXTENT),
    )


def line_twice(case: RuleContext) -> pl.LazyFrame:
    """A mention that is an earlier one over again."""
    found = case.cached(_same_extent).with_columns(
        first=pl.col("record").first().over(*EXTENT, *FIELDS)
    )
    return at(found.filter("again"), "")


def same_extent(case: RuleContext) -> pl.LazyFrame:
    """A mention with the extent of an earlier one, but not equal to it."""
    rows = case.cached(_same_extent)
    differs = [
        pl.when(pl.col(column).ne_missing(pl.col(column).first().over(EXTENT))).then(pl.lit(name))
        for column, name in FIELDS.items()
    ]
    told = pl.concat_list(differs).list.drop_nulls().list.join(", ")
    differ = (
        pl.when(told == "")
        .then(pl.lit("the two lines do not differ in any field that counts"))
        .otherwise(pl.format("the two lines differ in {}", told))
    )
    compared = rows.with_columns(differ=differ)
    return at(compared.filter(pl.col("ordinal") > 0, ~pl.col("again")), "extent")


def _spans(case: RuleContext) -> pl.LazyFrame:
    """Each extent once, in the order in which extents are compared."""
    columns = ("origin", "record", "id", "name", *EXTENT)
    return in_order(case.cached(mentions).select(columns).collect()).lazy()


def _paired(case: RuleContext, pairs: pl.DataFrame) -> pl.LazyFrame:
    """Mentions at fault, each with the other: `pairs` are places among the extents."""
    spans = case.cached(_spans).collect()
    own, other = pairs.columns
    extent = pl.format("{}-{}", "start", pl.col("end") - 1)
    found = spans[pairs[own]].with_columns(extent=extent)
    others = spans[pairs[other]].select(outer=extent, other="record")
    return at(pl.concat([found, others], how="horizontal").lazy(), "offsets")


def inside_another(case: RuleContext) -> pl.LazyFrame:
    """A mention that lies inside another."""
    return _paired(case, nested(case.cached(_spans).collect()))


def across_another(case: RuleContext) -> pl.LazyFrame:
    """A mention that begins inside another and ends behind it."""
    return _paired(case, crossing(case.cached(_spans).collect()))


RULES = (
    Rule("EDL101", "sources", no_mentions),
    Rule("EDL301", "mentions", no_run, SUBMITTED),
    Rule("EDL302", "mentions", another_run, SUBMITTED),
    Rule("EDL303", "mentions", no_mention_id, SUBMITTED),
    Rule("EDL304", "mentions", repeated_mention_id, SUBMITTED),
    Rule("EDL305", "mentions", no_string, SUBMITTED),
    Rule("EDL306", "mentions", no_entity, SUBMITTED),
    Rule("EDL307", "mentions", entity_form, SUBMITTED),
    Rule("EDL308", "links", alternatives, SUBMITTED),
    Rule("EDL309", "mentions", entity_type, SUBMITTED),
    Rule("EDL310", "mentions", mention_type, SUBMITTED),
    Rule("EDL311", "mentions", nominal, SUBMITTED),
    Rule("EDL312", "mentions", no_confidence, SUBMITTED),
    Rule("EDL313", "mentions", no_number, SUBMITTED),
    Rule("EDL314", "mentions", out_of_range, SUBMITTED),
    Rule("EDL315", "mentions", confidence_form, SUBMITTED),
    Rule("EDL316", "mentions", end_before_start),
    Rule("EDL401", "mentions", line_twice),
    Rule("EDL402", "mentions", same_extent),
    Rule("EDL403", "mentions", inside_another),
    Rule("EDL404", "mentions", across_another),
    *SOURCES,
)
