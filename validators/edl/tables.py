"""Tables of EDL that several rules use, and expressions over fields."""

from __future__ import annotations

import polars as pl

from hlteval.converters.edl.records import SHOWN
from hlteval.grammars import pattern
from hlteval.validators.rule import RuleContext

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


def shown(column: str) -> pl.Expr:
    """A field as quoted in a message: a long one is cut."""
    text = pl.col(column)
    short = pl.concat_str(text.str.slice(0, SHOWN), pl.lit("…"))
    return pl.when(text.str.len_chars() > SHOWN).then(short).otherwise(text)


def matches(column: str, rule: str) -> pl.Expr:
    """Whether a field matches a rule of the grammar."""
    return pl.col(column).str.contains(f"^(?:{pattern('edl', rule)})$")
