"""Rules of LTF about segments: their offsets and their text (LTF301 to LTF307)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ltf.tables import (
    all_moved,
    all_segments,
    all_tokens,
    beside_raw,
    outside_conventions,
    unexplained,
)
from hlteval.validators.ltf.texts import where
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
