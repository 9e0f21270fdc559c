"""Rules of LTF about tokens: their offsets and their text (LTF401 to LTF407)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ltf.tables import all_segments, all_tokens, spans_of, unexplained
from hlteval.validators.ltf.texts import uncovered
from hlteval.validators.rule import RuleContext, at, first_of

_CLASSES = ("word", "punct", "unknown")


def token_outside(context: RuleContext) -> pl.LazyFrame:
    """A token that is not within its segment."""
    rows = unexplained(all_tokens, context, "LTF401")
    return at(rows.with_columns(pl.col("end", "stop") - 1), "start_char")


def token_overlap(context: RuleContext) -> pl.LazyFrame:
    """A token that begins before the end of the previous one."""
    rows = unexplained(all_tokens, context, "LTF402").with_columns(before=pl.col("before") - 1)
    return at(rows, "start_char")


def token_length(context: RuleContext) -> pl.LazyFrame:
    """A token whose text is shorter or longer than the distance of its offsets."""
    return at(unexplained(all_tokens, context, "LTF403"), "end_char")


def token_text(context: RuleContext) -> pl.LazyFrame:
    """A token that differs from the text of its segment at its offsets."""
    rows = unexplained(all_tokens, context, "LTF404")
    found = pl.col("content").str.find(pl.col("text"), literal=True)
    chars = pl.col("content").str.len_bytes() == pl.col("content").str.len_chars()
    first = (pl.col("begin") + found).cast(pl.String)
    last = (pl.col("begin") + found + pl.col("chars") - 1).cast(pl.String)
    hint = pl.when(found.is_not_null() & chars).then(
        pl.format("write {}-{}, where this text occurs", first, last)
    )
    rows = rows.with_columns(
        hint=hint.otherwise(pl.lit("correct the token or its offsets")),
        actual=pl.col("actual").str.slice(0, 40),
    )
    return at(rows, "text")


def uncovered_text(context: RuleContext) -> pl.LazyFrame:
    """A segment with characters that are in no token."""
    tokens = context.cached(all_tokens)
    inside = tokens.group_by(row="segment_row").agg(
        covered=_visible().sum(), wrong=pl.col("problem").is_not_null().any()
    )
    rejected = context.table("rejected_records", "document")
    segments = context.cached(all_segments).filter(pl.col("problem").is_null())
    segments = segments.join(rejected, on="document", how="anti", maintain_order="left")
    segments = segments.join(inside, on="row", how="left", maintain_order="left")
    less = _visible() > pl.col("covered").fill_null(0)
    found = segments.filter(less & ~pl.col("wrong").fill_null(value=False)).collect()
    some = tokens.join(found.lazy().select(segment_row="row"), on="segment_row", how="semi")
    spans = spans_of(some) if found.height else {}
    rows = []
    for row, origin, record, name, start, text in found.select(
        "row", "origin", "record", "id", "start", "text"
    ).iter_rows():
        count, run = uncovered(text, start, [(s, e) for s, e, _ in spans.get(row, [])])
        rows.append((origin, record + 1, "text", name, count, run[:40]))
    schema = {"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "id": pl.String}
    schema |= {"count": pl.Int64, "given": pl.String}
    return pl.LazyFrame(rows, schema, orient="row")


def _visible() -> pl.Expr:
    """The number of characters that are not white space, of which there is less to look for."""
    return pl.col("chars") - pl.col("text").str.count_matches(r"\s").cast(pl.Int64)


def blank_in_token(context: RuleContext) -> pl.LazyFrame:
    """A token with white space in it."""
    return at(context.cached(all_tokens).filter(pl.col("text").str.contains(r"\s")), "text")


def unknown_class(context: RuleContext) -> pl.LazyFrame:
    """Tokens of other classes than those of LDC's tokeniser."""
    strange = context.cached(all_tokens).filter(~pl.col("pos").is_in(_CLASSES))
    values = strange.group_by("document").agg(given=pl.col("pos").unique().sort().head(8))
    first = first_of(strange, "document").join(values, on="document", maintain_order="left")
    return at(first.with_columns(given=pl.col("given").list.join(", ")), "pos")
