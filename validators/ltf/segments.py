"""Rules of LTF about segments: their offsets and their text (LTF301 to LTF307)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ltf.tables import (
    all_moved,
    all_segments,
    all_tokens,
    beside_raw,
    outside_conventions,
    spans_of,
    uncovered,
    unexplained,
    where,
)
from hlteval.validators.rule import RuleContext, at, first_of


def end_before_start(context: RuleContext) -> pl.LazyFrame:
    """A segment or token that ends before it begins."""
    columns = ["origin", "record", "id", "element", "start", "end"]
    both = [
        unexplained(table, context, "LTF301").select(columns)
        for table in (all_segments, all_tokens)
    ]
    return at(pl.concat(both).with_columns(end=pl.col("end") - 1), "end_char")


def segment_length(context: RuleContext) -> pl.LazyFrame:
    """A segment whose text is shorter or longer than the distance of its offsets."""
    return at(unexplained(all_segments, context, "LTF302"), "end_char")


def segment_overlap(context: RuleContext) -> pl.LazyFrame:
    """A segment that begins before the end of the previous one."""
    rows = unexplained(all_segments, context, "LTF303").with_columns(before=pl.col("before") - 1)
    rows = rows.join(context.cached(all_moved), on="row", how="left", maintain_order="left")
    right = pl.format(
        "move the segment to {}, where all its tokens fit", pl.col("start") + pl.col("moved")
    )
    hint = right.fill_null("write segments in the order of the text, a line feed or more apart")
    return at(rows.with_columns(hint=hint), "start_char")


def adjacent_segments(context: RuleContext) -> pl.LazyFrame:
    """A segment with nothing between it and the previous one."""
    rows = context.cached(all_segments).filter(
        (pl.col("start") == pl.col("before")) & pl.col("problem").is_null()
    )
    return at(outside_conventions(context, rows), "start_char")


def no_text(context: RuleContext) -> pl.LazyFrame:
    """Segments without ORIGINAL_TEXT."""
    return at(
        first_of(context.cached(all_segments).filter(pl.col("text").is_null()), "document"), ""
    )


def moved_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that all its tokens would fit elsewhere."""
    rows = context.cached(all_segments).filter(pl.col("problem").is_null())
    rows = rows.join(context.cached(all_moved), on="row", maintain_order="left")
    rows = rows.with_columns(right=pl.col("start") + pl.col("moved"))
    return at(rows, "start_char")


def other_raw_text(context: RuleContext) -> pl.LazyFrame:
    """A segment that differs from the raw text at its offsets, if there is one."""
    found = outside_conventions(context, context.cached(beside_raw)).collect()
    hints = [
        where(content, text, start)
        for content, text, start in found.select("raw", "text", "start").iter_rows()
    ]
    hint = pl.Series("hint", hints, dtype=pl.String)
    return at(found.lazy().with_columns(hint, pl.col("actual").str.slice(0, 40)), "start_char")


# Rules of LTF about tokens: their offsets and their text (LTF401 to LTF407).


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
