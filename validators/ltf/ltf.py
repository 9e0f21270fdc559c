"""Rules of LTF: identifiers, offsets and texts, which no schema can hold together.

Each token is told for one thing only. What explains a whole document (another way to count) or a
whole segment (it was moved) is told once, and then no longer for its parts.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from hlteval.converters.ltf.tables import FILLED, LENGTH, MD5
from hlteval.validators.ltf.identifiers import RULES as IDENTIFIERS
from hlteval.validators.ltf.spans import (
    all_conventions,
    all_documents,
    all_moved,
    all_segments,
    all_tokens,
    at,
    faulty,
    placed,
    spans_of,
    told_once,
)
from hlteval.validators.ltf.texts import Judged, judged, uncovered, where
from hlteval.validators.rule import Rule, RuleContext

_CLASSES = ("word", "punct", "unknown")
_KEY = ("origin", "record", "id")


def _inclusive(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Offsets as the format has them."""
    return rows.with_columns(end=pl.col("end") - 1)


def end_before_start(case: RuleContext) -> pl.LazyFrame:
    """A segment or token that ends before it begins."""
    columns = [*_KEY, "element", "start", "end"]
    both = [faulty(table, case, "LTF301").select(columns) for table in (all_segments, all_tokens)]
    return at(_inclusive(pl.concat(both)), "end_char")


def segment_length(case: RuleContext) -> pl.LazyFrame:
    """A segment whose text is shorter or longer than its offsets say."""
    return at(faulty(all_segments, case, "LTF302"), "end_char")


def segment_overlap(case: RuleContext) -> pl.LazyFrame:
    """A segment that begins before the one above it ends."""
    rows = faulty(all_segments, case, "LTF303").with_columns(before=pl.col("before") - 1)
    rows = rows.join(case.cached(all_moved), on="row", how="left", maintain_order="left")
    right = pl.format(
        "move the segment to {}, where all its tokens fit", pl.col("start") + pl.col("moved")
    )
    hint = right.fill_null("put segments in text order, with at least one line feed between them")
    return at(rows.with_columns(hint=hint), "start_char")


def adjacent_segments(case: RuleContext) -> pl.LazyFrame:
    """A segment with nothing between it and the one before."""
    rows = case.cached(all_segments).filter(
        (pl.col("start") == pl.col("before")) & pl.col("fault").is_null()
    )
    rows = rows.join(case.cached(all_conventions), on="document", how="anti", maintain_order="left")
    return at(rows, "start_char")


def no_text(case: RuleContext) -> pl.LazyFrame:
    """Segments without ORIGINAL_TEXT."""
    return at(told_once(case.cached(all_segments).filter(pl.col("text").is_null())), "")


def moved_segment(case: RuleContext) -> pl.LazyFrame:
    """A segment whose tokens all fit if it stood elsewhere."""
    rows = case.cached(all_segments).filter(pl.col("fault").is_null())
    rows = rows.join(case.cached(all_moved), on="row", maintain_order="left")
    rows = rows.with_columns(right=pl.col("start") + pl.col("moved"))
    return at(rows, "start_char")


def other_raw_text(case: RuleContext) -> pl.LazyFrame:
    """A segment that is not what stands in the raw text at its offsets, where that is given."""
    raw = case.against.documents.lazy().select(document="row", raw="text").drop_nulls()
    raw = raw.head(0) if case.own else raw
    rows = case.cached(all_segments).filter(pl.col("fault").is_null())
    rows = rows.join(case.cached(all_conventions), on="document", how="anti", maintain_order="left")
    rows = rows.join(raw, on="document", maintain_order="left")
    rows = rows.with_columns(actual=pl.col("raw").str.slice("start", pl.col("width")))
    found = rows.filter(pl.col("actual") != pl.col("text")).collect()
    hints = [
        where(whole, text, start)
        for whole, text, start in found.select("raw", "text", "start").iter_rows()
    ]
    told = found.lazy().with_columns(pl.lit(pl.Series("hint", hints, dtype=pl.String)))
    return at(told.with_columns(pl.col("actual").str.slice(0, 40)), "start_char")


def token_outside(case: RuleContext) -> pl.LazyFrame:
    """A token that is not within its segment."""
    rows = _inclusive(faulty(all_tokens, case, "LTF401")).with_columns(stop=pl.col("stop") - 1)
    return at(rows, "start_char")


def token_overlap(case: RuleContext) -> pl.LazyFrame:
    """A token that begins before the one above it ends."""
    rows = faulty(all_tokens, case, "LTF402").with_columns(before=pl.col("before") - 1)
    return at(rows, "start_char")


def token_length(case: RuleContext) -> pl.LazyFrame:
    """A token whose text is shorter or longer than its offsets say."""
    return at(faulty(all_tokens, case, "LTF403"), "end_char")


def token_text(case: RuleContext) -> pl.LazyFrame:
    """A token that is not what stands in its segment at its offsets."""
    rows = faulty(all_tokens, case, "LTF404")
    found = pl.col("whole").str.find(pl.col("text"), literal=True)
    chars = pl.col("whole").str.len_bytes() == pl.col("whole").str.len_chars()
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


def uncovered_text(case: RuleContext) -> pl.LazyFrame:
    """A segment with characters that are in no token."""
    tokens = case.cached(all_tokens)
    inside = tokens.group_by(row="segment_row").agg(
        covered=pl.col("text").str.count_matches(r"\S").sum(),
        faulty=pl.col("fault").is_not_null().any(),
    )
    refused = case.table("rejected_records").select("document").unique()
    segments = case.cached(all_segments).filter(pl.col("fault").is_null())
    segments = segments.join(refused, on="document", how="anti", maintain_order="left")
    segments = segments.join(inside, on="row", how="left", maintain_order="left")
    total = pl.col("text").str.count_matches(r"\S")
    less = total > pl.col("covered").fill_null(0)
    found = segments.filter(less & ~pl.col("faulty").fill_null(value=False)).collect()
    some = tokens.join(found.lazy().select(segment_row="row"), on="segment_row", how="semi")
    spans = spans_of(some) if found.height else {}
    rows = []
    for row, origin, record, name, start, text in found.select(
        "row", "origin", "record", "id", "start", "text"
    ).iter_rows():
        count, given = uncovered(text, start, [(s, e) for s, e, _ in spans.get(row, [])])
        rows.append((origin, record + 1, "text", name, count, given[:40]))
    return placed(rows, count=pl.Int64, given=pl.String)


def blank_in_token(case: RuleContext) -> pl.LazyFrame:
    """A token with white space in it."""
    return at(case.cached(all_tokens).filter(pl.col("text").str.contains(r"\s")), "text")


def unknown_class(case: RuleContext) -> pl.LazyFrame:
    """Tokens of other classes than those of LDC's tokeniser."""
    strange = case.cached(all_tokens).filter(~pl.col("pos").is_in(_CLASSES))
    values = strange.group_by("document").agg(given=pl.col("pos").unique().sort().head(8))
    first = told_once(strange).join(values, on="document", maintain_order="left")
    return at(first.with_columns(given=pl.col("given").list.join(", ")), "pos")


def _rebuilt_or_raw(case: RuleContext) -> pl.LazyFrame:
    """The documents with the raw text where that is given, else as it was rebuilt."""
    documents = case.cached(all_documents)
    if not case.own:
        raw = case.against.documents.lazy().select("row", raw="text")
        documents = documents.join(raw, on="row", how="left", maintain_order="left")
        documents = documents.with_columns(text=pl.coalesce("raw", "text"))
    return documents.drop_nulls("text")


def _judgements(case: RuleContext) -> pl.LazyFrame:
    """What is wrong with documents as a whole: place, `code` and the values of its message."""
    segments = case.cached(all_segments)
    moved = segments.join(case.cached(all_moved), on="row", how="semi")
    faults = segments.filter(pl.col("fault").is_not_null())
    unfit = pl.concat([one.select("document") for one in (moved, faults)]).unique()
    documents = _rebuilt_or_raw(case)
    documents = documents.join(unfit, left_on="row", right_on="document", how="anti")
    ends = segments.group_by(row="document", maintain_order=True).agg("end")
    documents = documents.join(
        case.cached(all_conventions).select(row="document"), on="row", how="anti"
    ).join(ends, on="row", how="left")
    columns = ("origin", "record", "id", "text", "end", "length", "md5")
    rows = []
    for origin, record, name, text, stops, length, md5 in (
        documents.sort("row").select(columns).collect().iter_rows()
    ):
        found = judged(text, stops or [], length, md5)
        if found:
            rows.append(_judgement((origin, record), name, found))
    texts = dict.fromkeys(_VALUES, pl.String)
    return placed(rows, code=pl.String, **texts)


_VALUES = ("what", "fix", "given", "length", "more", "digest", "hint")
_FIELDS = {"LTF501": "id", "LTF504": MD5}


def _judgement(place: tuple[int, int], name: str, found: Judged) -> tuple[Any, ...]:
    values = [str(found.values.get(key, "")) for key in _VALUES]
    return (*place, _FIELDS.get(found.code, LENGTH), name, found.code, *values)


def _judged(case: RuleContext, code: str) -> pl.LazyFrame:
    return case.cached(_judgements).filter(pl.col("code") == code)


def other_convention(case: RuleContext) -> pl.LazyFrame:
    """A document whose offsets count something else."""
    documents = case.cached(all_documents).with_columns(document=pl.col("row"))
    found = documents.join(case.cached(all_conventions), on="document", maintain_order="left")
    columns = ["origin", "record", "field", "id", "what", "fix"]
    told = at(found, "id").select(columns)
    return pl.concat([told, _judged(case, "LTF501").select(columns)])


def bad_length(case: RuleContext) -> pl.LazyFrame:
    """A declared length that is no number."""
    return _judged(case, "LTF502")


def too_long(case: RuleContext) -> pl.LazyFrame:
    """A document that is longer than it declares."""
    return _judged(case, "LTF503")


def other_digest(case: RuleContext) -> pl.LazyFrame:
    """A document whose digest is another than it declares."""
    return _judged(case, "LTF504")


def far_apart(case: RuleContext) -> pl.LazyFrame:
    """A document most of which would be line feeds."""
    texts = (
        case.cached(all_segments)
        .group_by(row="document")
        .agg(complete=pl.col("text").is_not_null().all())
    )
    refused = case.table("rejected_records").select(row="document").unique()
    documents = case.cached(all_documents).filter(pl.col("text").is_null())
    documents = documents.join(refused, on="row", how="anti", maintain_order="left")
    documents = documents.join(texts, on="row", how="left", maintain_order="left")
    whole = documents.filter(pl.col("complete").fill_null(value=True))
    return at(whole.with_columns(limit=pl.lit(FILLED)), "id")


RULES = (
    *IDENTIFIERS,
    Rule("LTF301", "segments", end_before_start),
    Rule("LTF302", "segments", segment_length),
    Rule("LTF303", "segments", segment_overlap),
    Rule("LTF304", "segments", adjacent_segments),
    Rule("LTF305", "segments", no_text),
    Rule("LTF306", "tokens", moved_segment),
    Rule("LTF307", "segments", other_raw_text),
    Rule("LTF401", "tokens", token_outside),
    Rule("LTF402", "tokens", token_overlap),
    Rule("LTF403", "tokens", token_length),
    Rule("LTF404", "tokens", token_text),
    Rule("LTF405", "segments", uncovered_text),
    Rule("LTF406", "tokens", blank_in_token),
    Rule("LTF407", "tokens", unknown_class),
    Rule("LTF501", "documents", other_convention),
    Rule("LTF502", "documents", bad_length),
    Rule("LTF503", "documents", too_long),
    Rule("LTF504", "documents", other_digest),
    Rule("LTF505", "documents", far_apart),
)
