"""The mentions of a submission as the rules of entity discovery and linking look at them."""

from __future__ import annotations

import polars as pl

from hlteval.converters.edl.records import SHOWN
from hlteval.grammars import pattern
from hlteval.validators.rule import RuleContext


def mentions(case: RuleContext) -> pl.LazyFrame:
    """The mentions with the name of their document as `name`, and their confidence as written."""
    named = case.table("mentions").join(
        case.names, on="document", how="left", maintain_order="left"
    )
    written = pl.coalesce("confidence_text", pl.col("confidence").cast(pl.String))
    return named.with_columns(id=pl.col("mention"), written=written)


def blank(column: str) -> pl.Expr:
    """Whether a field holds nothing but blanks."""
    return pl.col(column).fill_null("").str.strip_chars() == ""


def shown(column: str) -> pl.Expr:
    """A field as a message quotes it: not the whole of a long one."""
    text = pl.col(column)
    short = pl.concat_str(text.str.slice(0, SHOWN), pl.lit("…"))
    return pl.when(text.str.len_chars() > SHOWN).then(short).otherwise(text)


def at(rows: pl.LazyFrame, field: str) -> pl.LazyFrame:
    """Rows at fault, at a field of their record."""
    return rows.with_columns(field=pl.lit(field))


def about_the_whole(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows that are about the submission, not about a record of it."""
    number, text = pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    return rows.with_columns(origin=number, record=number, field=pl.lit(""), id=text)


def matches(column: str, rule: str) -> pl.Expr:
    """Whether a field is as the grammar has it."""
    return pl.col(column).str.contains(f"^(?:{pattern('edl', rule)})$")
