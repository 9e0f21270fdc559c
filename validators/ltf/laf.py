"""Rules of LAF: annotations beside the texts of their documents (LAF201 to LAF205)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ltf.texts import where
from hlteval.validators.rule import RuleContext, about_file, at


def _mentions(context: RuleContext) -> pl.LazyFrame:
    """The annotations beside the texts of their documents, each with its problem."""
    texts = context.against.documents.lazy().select("name", content="text")
    mentions = context.records("mentions", "start", "end", "text")
    mentions = mentions.join(context.names, on="document", maintain_order="left")
    mentions = mentions.join(texts, on="name", how="left", maintain_order="left")
    width = (pl.col("end") - pl.col("start")).clip(0)
    actual = pl.col("content").str.slice(pl.col("start"), width)
    problem = (
        pl.when(pl.col("end") <= pl.col("start"))
        .then(pl.lit("LAF202"))
        .when(pl.col("end") > pl.col("content").str.len_chars())
        .then(pl.lit("LAF203"))
        .when(_blanks(actual) != _blanks(pl.col("text")))
        .then(pl.lit("LAF204"))
    )
    last = pl.col("end") - 1
    return mentions.with_columns(actual=actual, problem=problem, last=last)


def _blanks(text: pl.Expr) -> pl.Expr:
    """Text with line breaks as spaces, as annotators see it."""
    return text.str.replace_all(r"[\r\n]", " ")


def _wrong(context: RuleContext, code: str, field: str) -> pl.LazyFrame:
    return at(context.cached(_mentions).filter(pl.col("problem") == code), field)


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is not among the texts."""
    known = context.against.documents.lazy().select("name")
    own = context.table("documents", "origin", "name")
    return about_file(own.join(known, on="name", how="anti", maintain_order="left"))


def end_before_start(context: RuleContext) -> pl.LazyFrame:
    """An annotation that ends before it begins."""
    return _wrong(context, "LAF202", "end_char")


def beyond_the_text(context: RuleContext) -> pl.LazyFrame:
    """An annotation that ends after the end of the text."""
    length = pl.col("content").str.len_chars()
    return _wrong(context, "LAF203", "end_char").with_columns(length=length)


def other_text(context: RuleContext) -> pl.LazyFrame:
    """An annotation whose text differs from the document at its offsets."""
    rows = _wrong(context, "LAF204", "text").collect()
    hints = [
        where(content, text or "", start)
        for content, text, start in rows.select("content", "text", "start").iter_rows()
    ]
    hint = pl.Series("hint", hints, dtype=pl.String)
    return rows.lazy().with_columns(hint, pl.col("actual").str.slice(0, 40))


def repeated_identifier(context: RuleContext) -> pl.LazyFrame:
    """An identifier of an earlier annotation of the document."""
    named = context.records("mentions").filter(pl.col("id") != "")
    return at(named.filter(~pl.struct("document", "id").is_first_distinct()), "id")
