"""LTF as tables that several rules look at: segments and tokens with what is wrong with each.

What explains a whole document, or a whole segment, is worked out here, so that its parts are not
told one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import polars as pl

from hlteval.converters.ltf.tables import LENGTH, MD5
from hlteval.validators.ltf.texts import Span, convention, shift
from hlteval.validators.rule import RuleContext


def all_segments(case: RuleContext) -> pl.LazyFrame:
    """The segments with what is wrong with each, as `fault`."""
    segments = case.table("segments").with_columns(
        id=pl.col("name"),
        element=pl.lit("SEG"),
        width=pl.col("end") - pl.col("start"),
        chars=pl.col("text").str.len_chars().cast(pl.Int64),
        before=pl.col("end").shift(1).over("document"),
    )
    fault = (
        pl.when(pl.col("width") <= 0)
        .then(pl.lit("LTF301"))
        .when(pl.col("start") < pl.col("before"))
        .then(pl.lit("LTF303"))
        .when(pl.col("width") != pl.col("chars"))
        .then(pl.lit("LTF302"))
    )
    return segments.with_columns(fault=fault)


def all_tokens(case: RuleContext) -> pl.LazyFrame:
    """The tokens beside their segments, with what is wrong with each, as `fault`."""
    segments = case.cached(all_segments).select(
        segment_row="row",
        segment="id",
        begin="start",
        stop="end",
        whole="text",
        segment_fault="fault",
    )
    tokens = case.table("tokens").join(segments, on="segment_row", maintain_order="left")
    tokens = tokens.with_columns(
        id=pl.col("name"),
        element=pl.lit("TOKEN"),
        width=pl.col("end") - pl.col("start"),
        chars=pl.col("text").str.len_chars().cast(pl.Int64),
        before=pl.col("end").shift(1).over("segment_row"),
    )
    outside = (pl.col("start") < pl.col("begin")) | (pl.col("end") > pl.col("stop"))
    at, width = (pl.col("start") - pl.col("begin")).clip(0), pl.col("width").clip(0)
    said = pl.col("whole").str.slice(at, width)
    fault = (
        pl.when(pl.col("width") <= 0)
        .then(pl.lit("LTF301"))
        .when(outside)
        .then(pl.lit("LTF401"))
        .when(pl.col("start") < pl.col("before"))
        .then(pl.lit("LTF402"))
        .when(pl.col("width") != pl.col("chars"))
        .then(pl.lit("LTF403"))
        .when(said != pl.col("text"))
        .then(pl.lit("LTF404"))
    )
    return tokens.with_columns(fault=fault, actual=said)


def all_conventions(case: RuleContext) -> pl.LazyFrame:
    """The documents that another way to count explains: `document`, `what`, `fix`."""
    segments, tokens = case.cached(all_segments), case.cached(all_tokens)
    faulty = pl.concat(
        [one.filter(pl.col("fault").is_not_null()).select("document") for one in (segments, tokens)]
    ).unique()
    broken = case.table("rejected_records").select("document").unique()
    faulty = faulty.join(broken, on="document", how="anti")
    rows = []
    for document, parts in _by_document(segments, tokens, faulty):
        known = convention(parts) if all(span[2] is not None for span, _ in parts) else None
        if known:
            rows.append((document, *known))
    return pl.LazyFrame(
        rows, {"document": pl.Int64, "what": pl.String, "fix": pl.String}, orient="row"
    )


def _by_document(
    segments: pl.LazyFrame, tokens: pl.LazyFrame, documents: pl.LazyFrame
) -> Iterator[tuple[int, list[tuple[Span, list[Span]]]]]:
    """The segments of some documents, each with its tokens."""
    some = documents.collect()
    if some.is_empty():
        return
    chosen = segments.join(some.lazy(), on="document", how="semi", maintain_order="left").collect()
    for document, rows in groupby(
        chosen.select("document", "row", "start", "end", "text").iter_rows(), itemgetter(0)
    ):
        inside = spans_of(tokens.filter(pl.col("document") == document))
        yield document, [((s, e, text), inside.get(row, [])) for _, row, s, e, text in rows]


def spans_of(tokens: pl.LazyFrame) -> dict[int, list[Span]]:
    """Tokens by their segment."""
    found: dict[int, list[Span]] = {}
    for row, *span in tokens.select("segment_row", "start", "end", "text").collect().iter_rows():
        found.setdefault(row, []).append((span[0], span[1], span[2]))
    return found


def all_moved(case: RuleContext) -> pl.LazyFrame:
    """The segments that stand elsewhere than all their tokens say: `row`, `moved`."""
    known = case.cached(all_conventions).select("document")
    tokens = case.cached(all_tokens)
    faulty = tokens.filter(pl.col("fault").is_in(["LTF401", "LTF404"]))
    faulty = faulty.join(known, on="document", how="anti").select(row="segment_row").unique()
    rows = []
    chosen = case.cached(all_segments).join(faulty, on="row", how="semi").collect()
    if chosen.height:
        some = tokens.join(chosen.lazy().select(segment_row="row"), on="segment_row", how="semi")
        inside = spans_of(some)
        for row, start, end, text in chosen.select("row", "start", "end", "text").iter_rows():
            if text is not None and (moved := shift((start, end, text), inside.get(row, []))):
                rows.append((row, moved))
    return pl.LazyFrame(rows, {"row": pl.Int64, "moved": pl.Int64}, orient="row")


def faulty(
    table: Callable[[RuleContext], pl.LazyFrame], case: RuleContext, code: str
) -> pl.LazyFrame:
    """The segments or tokens with a fault that nothing larger explains."""
    rows = case.cached(table).filter(pl.col("fault") == code)
    rows = rows.join(case.cached(all_conventions), on="document", how="anti", maintain_order="left")
    if table is all_segments:
        return rows
    moved = case.cached(all_moved).select(segment_row="row")
    return rows.join(moved, on="segment_row", how="anti", maintain_order="left")


def at(rows: pl.LazyFrame, field: str) -> pl.LazyFrame:
    """The rows with the field that is at fault."""
    return rows.with_columns(field=pl.lit(field))


def told_once(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Of each document the first row, with how many there are."""
    rows = rows.with_columns(count=pl.len().over("document"))
    return rows.unique("document", keep="first", maintain_order=True)


def placed(rows: Iterable[tuple[Any, ...]], **columns: Any) -> pl.LazyFrame:
    """Rows of origin, record, field and id, and of further columns."""
    place = {"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "id": pl.String}
    return pl.LazyFrame(list(rows), {**place, **columns}, orient="row")


def all_documents(case: RuleContext) -> pl.LazyFrame:
    """The documents with the record of their DOC and what it declares."""
    own = case.table("attributes").filter(pl.col("element") == "DOC")
    said = own.group_by("document").agg(
        record=pl.col("record").first(),
        length=pl.col("value").filter(pl.col("name") == LENGTH).first(),
        md5=pl.col("value").filter(pl.col("name") == MD5).first(),
    )
    documents = case.table("documents").select("row", "origin", "name", "text", id="name")
    return documents.join(
        said, left_on="row", right_on="document", how="left", maintain_order="left"
    )
