"""Rules of LTF about documents: their text, length and digest (LTF501 to LTF505)."""

from __future__ import annotations

import polars as pl

from hlteval.converters.ltf.tables import FILLED, LENGTH, MD5
from hlteval.validators.ltf.tables import all_conventions, all_documents, all_moved, all_segments
from hlteval.validators.ltf.texts import text_problem
from hlteval.validators.rule import RuleContext, at

_VALUES = ("what", "fix", "given", "length", "more", "digest", "hint")

_FIELDS = {"LTF501": "id", "LTF504": MD5}


def _rebuilt_or_raw(context: RuleContext) -> pl.LazyFrame:
    """The documents with the raw text if there is one, else as it was rebuilt."""
    documents = context.cached(all_documents)
    if not context.own:
        raw = context.against.documents.lazy().select("row", raw="text")
        documents = documents.join(raw, on="row", how="left", maintain_order="left")
        documents = documents.with_columns(text=pl.coalesce("raw", "text"))
    return documents.drop_nulls("text")


def _problems(context: RuleContext) -> pl.LazyFrame:
    """The problems of documents as a whole: place, `code` and the values of its message."""
    segments = context.cached(all_segments)
    moved = segments.join(context.cached(all_moved), on="row", how="semi")
    wrong = segments.drop_nulls("problem")
    unfit = pl.concat([moved.select("document"), wrong.select("document")]).unique()
    documents = _rebuilt_or_raw(context)
    documents = documents.join(unfit, left_on="row", right_on="document", how="anti")
    ends = segments.group_by(row="document", maintain_order=True).agg("end")
    documents = documents.join(
        context.cached(all_conventions).select(row="document"), on="row", how="anti"
    ).join(ends, on="row", how="left")
    columns = ("origin", "record", "id", "text", "end", "length", "md5")
    rows = []
    for origin, record, name, text, stops, length, md5 in (
        documents.sort("row").select(columns).collect().iter_rows()
    ):
        found = text_problem(text, stops or [], length, md5)
        if found:
            values = [str(found.values.get(key, "")) for key in _VALUES]
            field = _FIELDS.get(found.code, LENGTH)
            rows.append((origin, record, field, name, found.code, *values))
    place = {"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "id": pl.String}
    return pl.LazyFrame(
        rows, {**place, **dict.fromkeys(("code", *_VALUES), pl.String)}, orient="row"
    )


def _with_problem(context: RuleContext, code: str) -> pl.LazyFrame:
    return context.cached(_problems).filter(pl.col("code") == code)


def other_convention(context: RuleContext) -> pl.LazyFrame:
    """A document whose offsets count other units than code points."""
    documents = context.cached(all_documents).with_columns(document=pl.col("row"))
    found = documents.join(context.cached(all_conventions), on="document", maintain_order="left")
    columns = ["origin", "record", "field", "id", "what", "fix"]
    return pl.concat(
        [at(found, "id").select(columns), _with_problem(context, "LTF501").select(columns)]
    )


def bad_length(context: RuleContext) -> pl.LazyFrame:
    """A declared length that is not a number."""
    return _with_problem(context, "LTF502")


def too_long(context: RuleContext) -> pl.LazyFrame:
    """A document that is longer than its declared length."""
    return _with_problem(context, "LTF503")


def other_digest(context: RuleContext) -> pl.LazyFrame:
    """A document whose digest is not the declared one."""
    return _with_problem(context, "LTF504")


def far_apart(context: RuleContext) -> pl.LazyFrame:
    """A document most of which would be line feeds."""
    texts = (
        context.cached(all_segments)
        .group_by(row="document")
        .agg(complete=pl.col("text").is_not_null().all())
    )
    rejected = context.table("rejected_records", "document").select(row="document")
    documents = context.cached(all_documents).filter(pl.col("text").is_null())
    documents = documents.join(rejected, on="row", how="anti", maintain_order="left")
    documents = documents.join(texts, on="row", how="left", maintain_order="left")
    found = documents.filter(pl.col("complete").fill_null(value=False))
    return at(found.with_columns(limit=pl.lit(FILLED)), "id")
