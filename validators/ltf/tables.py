"""Tables of LTF that several rules use: segments and tokens, each with its problem.

What explains a whole document, or a whole segment, is computed here, so that its parts are not
reported one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter

import polars as pl

from hlteval.converters.ltf.tables import LENGTH, MD5
from hlteval.validators.ltf.texts import Span, convention, shift, shifted
from hlteval.validators.rule import RuleContext, only_if

#: The end by the text: an end too large is one problem, not another one of the next record.
_SOUND_END = pl.min_horizontal("end", pl.col("start") + pl.col("text").str.len_chars())


def all_documents(context: RuleContext) -> pl.LazyFrame:
    """The documents with the record of their DOC, and the length and digest that it declares."""
    attributes = context.table("attributes", "document", "record", "element", "name", "value")
    own = attributes.filter(pl.col("element") == "DOC")
    declared = own.group_by("document").agg(
        record=pl.col("record").first(),
        length=pl.col("value").filter(pl.col("name") == LENGTH).first(),
        md5=pl.col("value").filter(pl.col("name") == MD5).first(),
    )
    documents = context.table("documents", "row", "origin", "name", "text")
    return documents.with_columns(id="name").join(
        declared, left_on="row", right_on="document", how="left", maintain_order="left"
    )


def all_segments(context: RuleContext) -> pl.LazyFrame:
    """The segments, each with the code of its problem as `problem`."""
    segments = context.records("segments", "start", "end", "text").with_columns(
        element=pl.lit("SEG"),
        width=pl.col("end") - pl.col("start"),
        chars=pl.col("text").str.len_chars().cast(pl.Int64),
        before=_SOUND_END.shift(1).over("document"),
    )
    problem = (
        pl.when(pl.col("width") <= 0)
        .then(pl.lit("LTF301"))
        .when(pl.col("start") < pl.col("before"))
        .then(pl.lit("LTF303"))
        .when(pl.col("width") != pl.col("chars"))
        .then(pl.lit("LTF302"))
    )
    return segments.with_columns(problem=problem)


def all_tokens(context: RuleContext) -> pl.LazyFrame:
    """The tokens beside their segments, each with the code of its problem as `problem`."""
    segments = context.cached(all_segments).select(
        segment_row="row", segment="id", begin="start", stop="end", content="text"
    )
    tokens = context.records("tokens", "segment_row", "start", "end", "text", "pos")
    tokens = tokens.join(segments, on="segment_row", maintain_order="left").with_columns(
        element=pl.lit("TOKEN"),
        width=pl.col("end") - pl.col("start"),
        chars=pl.col("text").str.len_chars().cast(pl.Int64),
    )
    at, width = (pl.col("start") - pl.col("begin")).clip(0), pl.col("width").clip(0)
    cut = tokens.with_columns(actual=pl.col("content").str.slice(at, width))
    placed = cut.collect(engine="in-memory")
    outside = (pl.col("start") < pl.col("begin")) | (pl.col("end") > pl.col("stop"))
    # What is at the offsets of another token may overlap any: that one is wrong, not the next.
    as_long = bool((placed["width"] == placed["chars"]).all())  # usually: texts are cut once
    begun = pl.col("actual") if as_long else pl.col("content").str.slice(at, pl.col("chars"))
    sound = (pl.col("start") >= pl.col("begin")) & (begun == pl.col("text"))
    before = pl.when(sound.fill_null(value=False)).then(_SOUND_END)
    tokens = placed.lazy().with_columns(before=before.shift(1).over("segment_row"))
    problem = (
        pl.when(pl.col("width") <= 0)
        .then(pl.lit("LTF301"))
        .when(outside)
        .then(pl.lit("LTF401"))
        .when(pl.col("start") < pl.col("before"))
        .then(pl.lit("LTF402"))
        .when(pl.col("width") != pl.col("chars"))
        .then(pl.lit("LTF403"))
        .when(pl.col("actual") != pl.col("text"))
        .then(pl.lit("LTF404"))
    )
    return tokens.with_columns(problem=problem)


def all_conventions(context: RuleContext) -> pl.LazyFrame:
    """The documents that another way to count explains: `document`, `what`, `fix`."""
    segments, tokens = context.cached(all_segments), context.cached(all_tokens)
    wrong = pl.concat(rows.drop_nulls("problem").select("document") for rows in (segments, tokens))
    rejected = context.table("rejected_records", "document")
    wrong = wrong.unique().join(rejected, on="document", how="anti")
    rows = []
    for document, parts in _by_document(segments, tokens, wrong):
        known = convention(parts) if all(span[2] is not None for span, _ in parts) else None
        if known:
            rows.append((document, *known))
    rows += _all_shifted(context, wrong)
    return pl.LazyFrame(
        rows, {"document": pl.Int64, "what": pl.String, "fix": pl.String}, orient="row"
    )


def beside_raw(context: RuleContext) -> pl.LazyFrame:
    """The segments without a problem whose raw text is given as `raw`, if it is another there."""
    raw = context.against.documents.lazy().select(document="row", raw="text").drop_nulls()
    raw = only_if(not context.own, raw)
    rows = context.cached(all_segments).filter(pl.col("problem").is_null())
    rows = rows.join(raw, on="document", maintain_order="left")
    rows = rows.with_columns(actual=pl.col("raw").str.slice("start", pl.col("width")))
    return rows.filter(pl.col("actual") != pl.col("text"))


def _all_shifted(context: RuleContext, wrong: pl.LazyFrame) -> list[tuple[int, str, str]]:
    """The documents all of whose segments are as far from their places in the raw text."""
    unlike = context.cached(beside_raw).select("document", "raw").unique("document")
    unlike = unlike.join(wrong, on="document", how="anti")
    texts = dict(unlike.collect().iter_rows())
    chosen = context.cached(all_segments).filter(pl.col("document").is_in(list(texts)))
    spans: dict[int, list[Span]] = {}
    for document, *span in chosen.select("document", "start", "end", "text").collect().iter_rows():
        spans.setdefault(document, []).append((span[0], span[1], span[2] or ""))
    found = ((document, shifted(texts[document], own)) for document, own in spans.items())
    return [(document, *known) for document, known in found if known]


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


def all_moved(context: RuleContext) -> pl.LazyFrame:
    """The segments that all their tokens would fit elsewhere: `row`, and how far as `moved`."""
    known = context.cached(all_conventions).select("document")
    tokens = context.cached(all_tokens)
    wrong = tokens.filter(pl.col("problem").is_in(["LTF401", "LTF404"]))
    wrong = wrong.join(known, on="document", how="anti").select(row="segment_row").unique()
    rows = []
    chosen = context.cached(all_segments).join(wrong, on="row", how="semi").collect()
    if chosen.height:
        some = tokens.join(chosen.lazy().select(segment_row="row"), on="segment_row", how="semi")
        inside = spans_of(some)
        for row, start, end, text in chosen.select("row", "start", "end", "text").iter_rows():
            if text is not None and (moved := shift((start, end, text), inside.get(row, []))):
                rows.append((row, moved))
    return pl.LazyFrame(rows, {"row": pl.Int64, "moved": pl.Int64}, orient="row")


def outside_conventions(context: RuleContext, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of documents that no other way to count explains."""
    known = context.cached(all_conventions)
    return rows.join(known, on="document", how="anti", maintain_order="left")


def unexplained(
    table: Callable[[RuleContext], pl.LazyFrame], context: RuleContext, code: str
) -> pl.LazyFrame:
    """The segments or tokens with a problem that nothing larger explains."""
    rows = context.cached(table).filter(pl.col("problem") == code)
    rows = outside_conventions(context, rows)
    if table is all_segments:
        return rows
    moved = context.cached(all_moved).select(segment_row="row")
    return rows.join(moved, on="segment_row", how="anti", maintain_order="left")
