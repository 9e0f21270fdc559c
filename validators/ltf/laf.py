"""Rules of LAF: annotations beside the texts that they are of."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ltf.texts import where
from hlteval.validators.rule import Rule, RuleContext


def _mentions(case: RuleContext) -> pl.LazyFrame:
    """The annotations beside the texts of their documents, with what is wrong with each."""
    texts = case.against.documents.lazy().select("name", whole="text")
    mentions = case.table("mentions").join(case.names, on="document", maintain_order="left")
    mentions = mentions.join(texts, on="name", how="left", maintain_order="left")
    width = (pl.col("end") - pl.col("start")).clip(0)
    said = pl.col("whole").str.slice(pl.col("start"), width)
    fault = (
        pl.when(pl.col("end") <= pl.col("start"))
        .then(pl.lit("LAF202"))
        .when(pl.col("end") > pl.col("whole").str.len_chars())
        .then(pl.lit("LAF203"))
        .when(_blanks(said) != _blanks(pl.col("text")))
        .then(pl.lit("LAF204"))
    )
    last = pl.col("end") - 1
    return mentions.with_columns(id=pl.col("mention"), actual=said, fault=fault, last=last)


def _blanks(text: pl.Expr) -> pl.Expr:
    """Text in which a line break is a blank, as annotators see it."""
    return text.str.replace_all(r"[\r\n]", " ")


def _faulty(case: RuleContext, code: str, field: str) -> pl.LazyFrame:
    found = case.cached(_mentions).filter(pl.col("fault") == code)
    return found.with_columns(field=pl.lit(field))


def unknown_document(case: RuleContext) -> pl.LazyFrame:
    """A document that is not among the texts."""
    known = case.against.documents.lazy().select("name")
    own = case.table("documents").join(known, on="name", how="anti", maintain_order="left")
    number, text = pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    return own.with_columns(record=number, field=pl.lit(""), id=text)


def end_before_start(case: RuleContext) -> pl.LazyFrame:
    """An annotation that ends before it begins."""
    return _faulty(case, "LAF202", "end_char")


def beyond_the_text(case: RuleContext) -> pl.LazyFrame:
    """An annotation that ends behind the end of the text."""
    length = pl.col("whole").str.len_chars()
    return _faulty(case, "LAF203", "end_char").with_columns(length=length)


def other_text(case: RuleContext) -> pl.LazyFrame:
    """An annotation whose text is not what stands there."""
    rows = _faulty(case, "LAF204", "text").collect()
    hints = [
        where(whole, text or "", start)
        for whole, text, start in rows.select("whole", "text", "start").iter_rows()
    ]
    said = pl.col("actual").str.slice(0, 40)
    return rows.lazy().with_columns(said, pl.lit(pl.Series("hint", hints, dtype=pl.String)))


def repeated_identifier(case: RuleContext) -> pl.LazyFrame:
    """An identifier that another annotation of the document has."""
    rows = case.table("mentions").with_columns(id=pl.col("mention"), field=pl.lit("id"))
    named = rows.filter(pl.col("mention") != "")
    return named.filter(~pl.struct("document", "mention").is_first_distinct())


RULES = (
    Rule("LAF201", "documents", unknown_document),
    Rule("LAF202", "mentions", end_before_start),
    Rule("LAF203", "mentions", beyond_the_text),
    Rule("LAF204", "mentions", other_text),
    Rule("LAF205", "mentions", repeated_identifier),
)
