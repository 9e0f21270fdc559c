"""Rules of SeeDev about text spans: their offsets and their text (STD201 to STD206)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.validators.rule import RuleContext, at


def _spans(context: RuleContext) -> pl.LazyFrame:
    """The text spans of the submission, with the names of their documents."""
    spans = context.records("mentions", "start", "end", "fragments", "text")
    return spans.join(context.names, on="document", how="left", maintain_order="left")


def _fragments(context: RuleContext) -> pl.LazyFrame:
    """Each fragment of a discontinuous span, with start and end of the one before it."""
    broken = _spans(context).drop_nulls("fragments").explode("fragments")
    start = pl.col("fragments").struct.field("start")
    end = pl.col("fragments").struct.field("end")
    before = {"before": start.shift(1).over("row"), "reached": end.shift(1).over("row")}
    return broken.with_columns(start=start, end=end, **before).drop("fragments")


def _parts(context: RuleContext) -> pl.LazyFrame:
    """The fragments of every span; a continuous span is its own only fragment."""
    continuous = _spans(context).filter(pl.col("fragments").is_null()).drop("fragments")
    return pl.concat([continuous, _fragments(context).drop("before", "reached")])


def _first(parts: pl.LazyFrame) -> pl.LazyFrame:
    return at(parts.unique("row", keep="first", maintain_order=True), "fragments")


def fragments_unordered(context: RuleContext) -> pl.LazyFrame:
    """A fragment that begins before the previous one."""
    return _first(_fragments(context).filter(pl.col("start") < pl.col("before")))


def fragments_overlap(context: RuleContext) -> pl.LazyFrame:
    """A fragment that begins inside the previous one."""
    inside = (pl.col("start") >= pl.col("before")) & (pl.col("start") < pl.col("reached"))
    return _first(_fragments(context).filter(inside))


def span_reversed(context: RuleContext) -> pl.LazyFrame:
    """A span, or a fragment of one, that ends before it starts."""
    return _first(_parts(context).filter(pl.col("end") < pl.col("start")))


def span_empty(context: RuleContext) -> pl.LazyFrame:
    """A span, or a fragment of one, that ends where it starts."""
    return _first(_parts(context).filter(pl.col("end") == pl.col("start")))


def _texts(context: RuleContext) -> pl.LazyFrame:
    texts = context.against.documents.lazy().select(document="row", content="text").drop_nulls()
    return texts.with_columns(length=pl.col("content").str.len_chars())


def beyond_text(context: RuleContext) -> pl.LazyFrame:
    """A span that ends after the end of the document's text."""
    found = _spans(context).join(_texts(context), on="document")
    found = found.filter(pl.col("end") > pl.col("length")).drop("content")
    return at(found, "fragments").with_columns(document="name")


def text_differs(context: RuleContext) -> pl.LazyFrame:
    """A span whose text is not that of the document at its offsets, apart from white space."""
    legal = (pl.col("start") < pl.col("end")) & (pl.col("end") <= pl.col("length"))
    length = (pl.col("end") - pl.col("start")).clip(0)
    actual = pl.col("content").str.slice(pl.col("start"), length)
    parts = _parts(context).join(_texts(context), on="document", maintain_order="left")
    grouped = parts.filter(legal).group_by("row", maintain_order=True)
    spans = grouped.agg(pl.exclude("actual").first(), actual=actual.str.join(" "))
    differing = spans.filter(pl.col("actual") != pl.col("text"))
    differing = differing.filter(_words("actual") != _words("text"))
    hint = pl.struct("content", "text", "start").map_elements(_hint, return_dtype=pl.String)
    values = {"document": pl.col("name"), "hint": hint, "actual": pl.col("actual").str.head(40)}
    return at(differing.with_columns(**values).drop("content"), "text")


def _words(column: str) -> pl.Expr:
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()


def _hint(span: dict[str, object]) -> str:
    """The occurrence of a span's text in its document that is nearest to its offsets."""
    text, start = str(span["text"]), int(str(span["start"]))
    places = list(_occurrences(str(span["content"]), text))
    if not places:
        return f"correct the text; {text[:40]!r} does not occur in the document"
    nearest = min(places, key=lambda at: abs(at - start))
    return f"use offsets {nearest} {nearest + len(text)}, where the document has {text[:40]!r}"


def _occurrences(content: str, text: str) -> Iterator[int]:
    at = content.find(text)
    while at >= 0:
        yield at
        at = content.find(text, at + 1)
