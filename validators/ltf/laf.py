"""Rules of LAF: annotations beside the texts of their documents (LAF201 to LAF207)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ltf.documents import id_hint, with_files
from hlteval.validators.ltf.tables import text_convention, where
from hlteval.validators.rule import RuleContext, about_file, at, first_of, only_if

#: The types of names.
_TYPES = ("GPE", "LOC", "ORG", "PER")


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


def _conventions(context: RuleContext) -> pl.LazyFrame:
    """The documents whose annotations all fit in other units: `document`, `what`, `fix`."""
    mentions = context.cached(_mentions)
    wrong = mentions.filter(pl.col("problem").is_in(["LAF203", "LAF204"])).select("document")
    columns = ("document", "content", "start", "end", "text")
    some = mentions.join(wrong.unique(), on="document", how="semi", maintain_order="left")
    rows = []
    for (document, content), group in (
        some.select(columns).collect().group_by("document", "content", maintain_order=True)
    ):
        spans = [
            (start, end, text or "")
            for start, end, text in group.select("start", "end", "text").iter_rows()
        ]
        if content is not None and (known := text_convention(str(content), spans)):
            rows.append((document, *known))
    schema = {"document": pl.Int64, "what": pl.String, "fix": pl.String}
    return pl.LazyFrame(rows, schema, orient="row")


def other_units(context: RuleContext) -> pl.LazyFrame:
    """A document whose offsets count other units than code points."""
    known = context.cached(_conventions)
    own = context.table("documents", "row", "origin", "name").rename({"row": "document"})
    return about_file(own.join(known, on="document", maintain_order="left"))


def _wrong(context: RuleContext, code: str, field: str) -> pl.LazyFrame:
    rows = context.cached(_mentions).filter(pl.col("problem") == code)
    known = context.cached(_conventions).select("document")
    return at(rows.join(known, on="document", how="anti", maintain_order="left"), field)


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is not among the texts."""
    rows = with_files(context, context.table("documents", "origin", "name"), ".laf.xml")
    hint = id_hint("check the id of DOC, and that --against contains the text")
    unknown = only_if(not context.own, rows.filter(~pl.col("known")))
    return about_file(unknown.with_columns(hint=hint))


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


def unknown_type(context: RuleContext) -> pl.LazyFrame:
    """A type that is none of those of names, once for each."""
    rows = context.records("mentions", "label").filter(~pl.col("label").is_in(_TYPES))
    found = first_of(rows, "label")
    name = pl.col("label").str.strip_chars().str.to_uppercase()
    meant = pl.when(name.is_in(_TYPES)).then(pl.format("did you mean {}?", name))
    listed = pl.lit(f"use {', '.join(_TYPES[:-1])} or {_TYPES[-1]}")
    return at(found.with_columns(hint=meant.otherwise(listed), given="label"), "type")
