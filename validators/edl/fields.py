"""Rules of EDL about the fields of mentions (EDL101, EDL301 to EDL318)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl

from hlteval.converters.edl.edl_tab import SHOWN
from hlteval.converters.toolkit.rows import decimal
from hlteval.grammars import pattern
from hlteval.representation import Corpus, row_hash
from hlteval.validators.rule import RuleContext, about_file, at, only_if

# Tables of EDL that several rules use, and expressions over fields.


#: The columns of the extent of a mention.
EXTENT = ("document", "start", "end")


def mentions(context: RuleContext) -> pl.LazyFrame:
    """The mentions with the name of their document as `name`, and their confidence as `written`."""
    columns = ("mention", "label", "start", "end", "text", "entity", "mention_type", "annotator")
    rows = context.records("mentions", *columns, "confidence", "confidence_text")
    # Only the documents are joined: that of all columns would copy them.
    documents = context.system.mentions.select("document").lazy()
    named = documents.join(context.names, on="document", how="left", maintain_order="left")
    return rows.with_columns(
        named.collect(engine="in-memory")["name"],
        written=pl.coalesce("confidence_text", pl.col("confidence").cast(pl.String)),
    )


def first(rows: pl.LazyFrame, key: str) -> pl.LazyFrame:
    """The place of the first of the rows with the same key, with their `count`."""
    place = pl.col("origin", "record", "id").first()
    return rows.group_by(key, maintain_order=True).agg(place, count=pl.len())


def blank(column: str) -> pl.Expr:
    """Whether a field holds nothing but spaces."""
    return pl.col(column).fill_null("").str.strip_chars() == ""


def shown(column: str, *, empty: str = "") -> pl.Expr:
    """A field as quoted in a message: a long one is cut, an empty one may be told in words."""
    text = pl.col(column)
    if empty:
        text = pl.when(blank(column)).then(pl.lit(empty)).otherwise(text)
    short = pl.concat_str(text.str.slice(0, SHOWN), pl.lit("…"))
    return pl.when(text.str.len_chars() > SHOWN).then(short).otherwise(text)


def matches(column: str, rule: str) -> pl.Expr:
    """Whether a field matches a rule of the grammar."""
    return pl.col(column).str.contains(f"^(?:{pattern('edl', rule)})$")


#: A mention type; a language, with which the names of its documents begin by default.
NOMINAL, ENGLISH = "NOM", "ENG"


def no_mentions(context: RuleContext) -> pl.LazyFrame:
    """A submission without mentions, readable or not."""
    records = context.system.mentions.height + context.system.rejected_records.height
    files = context.table("sources", "row").rename({"row": "origin"}).head(1)
    return about_file(only_if(not records, files))


def no_run(context: RuleContext) -> pl.LazyFrame:
    """A mention without a run."""
    return at(context.cached(mentions).filter(blank("annotator")), "run")


def another_run(context: RuleContext) -> pl.LazyFrame:
    """A run that is not that of the first line, once for each run."""
    runs = first(context.cached(mentions).filter(~blank("annotator")), "annotator")
    others = runs.with_columns(first=shown("annotator").first()).slice(1)
    return at(others.with_columns(given=shown("annotator")), "run")


def no_mention_id(context: RuleContext) -> pl.LazyFrame:
    """A mention without an identifier."""
    return at(context.cached(mentions).filter(blank("mention")), "mention")


def repeated_mention_id(context: RuleContext) -> pl.LazyFrame:
    """A mention with the identifier, but not the extent, of an earlier one."""
    rows = context.cached(mentions).filter(~blank("mention"))
    alike = rows.filter(row_hash("mention").is_duplicated())
    # another rule reports two mentions of the same extent
    fresh = alike.filter(pl.struct("mention", *EXTENT).is_first_distinct())
    found = fresh.with_columns(
        first=pl.col("record").first().over("mention"), given=shown("mention")
    )
    return at(found.filter(~pl.col("mention").is_first_distinct()), "mention")


def no_string(context: RuleContext) -> pl.LazyFrame:
    """A mention without its text."""
    return at(context.cached(mentions).filter(blank("text")), "text")


def no_entity(context: RuleContext) -> pl.LazyFrame:
    """A mention without an entity."""
    return at(context.cached(mentions).filter(blank("entity")), "entity")


def entity_form(context: RuleContext) -> pl.LazyFrame:
    """An entity that is neither a number nor NIL and digits."""
    entity = pl.col("entity")
    meant = entity.str.strip_chars().str.to_uppercase()
    hint = (
        pl.when(meant.str.contains("^(?:NIL)?[0-9]+$"))
        .then(pl.format("write {}", meant))
        .when(meant.str.starts_with("NIL"))
        .then(pl.lit("write NIL and digits only, the same for all mentions of the entity"))
        .when(entity.str.contains(r"^/?m[./]"))
        .then(pl.lit("use a number of the knowledge base; this looks like a Freebase identifier"))
        .otherwise(pl.lit("write a number of the knowledge base, or NIL and digits"))
    )
    found = context.cached(mentions).filter(~blank("entity"), ~matches("entity", "entity"))
    return at(found.with_columns(given=shown("entity"), hint=hint), "entity")


def padded_entity(context: RuleContext) -> pl.LazyFrame:
    """An entity that differs from another one only by zeros before its number."""
    rows = context.cached(mentions).filter(matches("entity", "entity"))
    plain = pl.col("entity").str.replace("^(NIL)?0+([0-9])", "${1}${2}")
    forms = rows.select("entity", plain=plain).unique("entity", maintain_order=True)
    forms = forms.filter(pl.len().over("plain") > 1)
    padded = forms.filter(pl.col("entity") != pl.col("plain"))
    others = forms.select("plain", other="entity")
    pairs = padded.join(others, on="plain", maintain_order="left")
    pairs = pairs.filter(pl.col("entity") != pl.col("other")).unique("entity", maintain_order=True)
    found = first(rows, "entity").join(pairs, on="entity", maintain_order="left")
    return at(found.with_columns(given=shown("entity"), other=shown("other")), "entity")


def nil_types(context: RuleContext) -> pl.LazyFrame:
    """An entity without an entry that has mentions of several types, at the first of a second."""
    nil = pl.col("entity").str.starts_with("NIL")
    rows = context.cached(mentions).filter(nil, matches("entity", "entity") & ~blank("label"))
    rows = rows.with_columns(
        type=pl.col("label").first().over("entity"), count=pl.len().over("entity")
    )
    other = rows.filter(pl.col("label") != pl.col("type")).unique(
        "entity", keep="first", maintain_order=True
    )
    return at(other.with_columns(given=shown("entity"), other=shown("label")), "type")


def alternatives(context: RuleContext) -> pl.LazyFrame:
    """A mention with several entities, which only a reference may have."""
    links = context.table("links", "mention_row", "entity").group_by(
        "mention_row", maintain_order=True
    )
    others = links.agg(others=pl.col("entity").drop_nulls())
    rows = context.cached(mentions)
    rows = rows.join(others, left_on="row", right_on="mention_row", maintain_order="left")
    every = pl.concat_list("entity", "others")
    joined = rows.with_columns(every=every.list.join("|"), count=every.list.len())
    return at(joined.with_columns(given=shown("every")), "entity")


def only_in_references(corpus: Corpus) -> str:
    """What a corpus has that only a reference may have; empty if there is nothing."""
    return "" if corpus.links.is_empty() else "the submission has mentions with several entities"


#: The entity types by other names that systems give them.
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("PERSON", "PERS", "PEOPLE"), "PER"),
        **dict.fromkeys(("ORGANIZATION", "ORGANISATION", "ORGA"), "ORG"),
        **dict.fromkeys(("LOCATION", "PLACE"), "LOC"),
        **dict.fromkeys(("GEO-POLITICAL ENTITY", "GEOPOLITICAL ENTITY", "GPES"), "GPE"),
    }
)


def entity_type(context: RuleContext) -> pl.LazyFrame:
    """An entity type that is none of the four."""
    meant = pl.col("label").str.strip_chars().str.to_uppercase()
    hint = (
        pl.when(meant.str.contains(f"^(?:{pattern('edl', 'type')})$"))
        .then(pl.format("write {}", meant))
        .when(meant.is_in(list(_NAMES)))
        .then(pl.format("write {}", meant.replace(_NAMES)))
        .when(meant == "FAC")
        .then(pl.lit("write LOC; facilities are locations in this task"))
        .otherwise(pl.lit("use GPE, LOC, ORG or PER"))
    )
    found = context.cached(mentions).filter(~matches("label", "type"))
    return at(found.with_columns(given=shown("label", empty="(empty)"), hint=hint), "type")


def mention_type(context: RuleContext) -> pl.LazyFrame:
    """A mention type that is neither NAM nor NOM."""
    meant = pl.col("mention_type").fill_null("").str.strip_chars().str.to_uppercase()
    hint = (
        pl.when(meant.str.contains(f"^(?:{pattern('edl', 'mention_type')})$"))
        .then(pl.format("write {}", meant))
        .otherwise(pl.lit("write NAM for a name, or NOM for a nominal"))
    )
    known = matches("mention_type", "mention_type").fill_null(value=False)
    found = context.cached(mentions).filter(~known)
    return at(
        found.with_columns(given=shown("mention_type", empty="(empty)"), hint=hint), "mention type"
    )


def nominal(context: RuleContext) -> pl.LazyFrame:
    """A nominal mention in an English document."""
    known = context.against.documents.lazy().select("name", "language")
    rows = context.cached(mentions).filter(pl.col("mention_type") == NOMINAL)
    named = rows.join(known, on="name", how="left", maintain_order="left")
    language = pl.col("language").fill_null(pl.col("name").str.slice(0, len(ENGLISH)))
    found = named.filter(language.str.to_uppercase() == ENGLISH)
    return at(found.with_columns(document=shown("name")), "mention type")


def no_confidence(context: RuleContext) -> pl.LazyFrame:
    """A mention without a confidence."""
    return at(context.cached(mentions).filter(blank("written")), "confidence")


def no_number(context: RuleContext) -> pl.LazyFrame:
    """A confidence that is not a number."""
    found = context.cached(mentions).filter(~blank("written"), pl.col("confidence").is_null())
    comma = pl.col("written").str.contains("^[01],[0-9]+$")
    hint = pl.when(comma).then(pl.lit(", with a decimal point")).otherwise(pl.lit(""))
    return at(found.with_columns(given=shown("written"), hint=hint), "confidence")


def out_of_range(context: RuleContext) -> pl.LazyFrame:
    """A confidence that is not above 0 and at most 1."""
    value = pl.col("confidence")
    found = context.cached(mentions).filter((value <= 0) | (value > 1))
    return at(found.with_columns(given=shown("written")), "confidence")


def confidence_form(context: RuleContext) -> pl.LazyFrame:
    """A confidence in its range that is not written as a decimal number with a point."""
    inside = (pl.col("confidence") > 0) & (pl.col("confidence") <= 1)
    odd = pl.col("confidence_text").is_not_null() & ~matches("confidence_text", "confidence")
    found = context.cached(mentions).filter(inside, odd)
    fix = pl.col("confidence").map_elements(decimal, return_dtype=pl.String)
    return at(found.with_columns(given=shown("written"), fix=fix), "confidence")
