"""Rules of SeeDev about text spans: their offsets and their text (STD201 to STD206)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.rule import RuleContext, at


def _spans(context: RuleContext) -> pl.LazyFrame:
    """The text spans of the submission, without the fragments of discontinuous ones."""
    return context.records("mentions", "start", "end", "text")


def _named(found: pl.LazyFrame, context: RuleContext) -> pl.LazyFrame:
    """Spans with the name of their document in place of its key."""
    named = found.join(context.names, on="document", how="left", maintain_order="left")
    return named.with_columns(document="name").drop("name")


def _fragments(context: RuleContext) -> pl.LazyFrame:
    """Each fragment of a discontinuous span, with start and end of the one before it."""
    return context.cached(_of_broken)


def _of_broken(context: RuleContext) -> pl.LazyFrame:
    spans = context.records("mentions", "fragments", "text")
    broken = spans.filter(pl.col("fragments").is_not_null()).explode("fragments")
    start = pl.col("fragments").struct.field("start")
    end = pl.col("fragments").struct.field("end")
    before = {"before": start.shift(1).over("row"), "reached": end.shift(1).over("row")}
    return broken.with_columns(start=start, end=end, **before).drop("fragments")


def _parts(context: RuleContext) -> pl.LazyFrame:
    """The fragments of every span; a continuous span is its own only fragment."""
    fragments = _fragments(context)
    continuous = _spans(context).join(fragments.select("row"), on="row", how="anti")
    columns = continuous.collect_schema().names()
    return pl.concat([continuous, fragments.select(columns)])


def are_broken(context: RuleContext) -> bool:
    """Whether any span is discontinuous."""
    fragments = context.system.mentions["fragments"]
    return fragments.null_count() < len(fragments)


def have_no_length(context: RuleContext) -> bool:
    """Whether any span may end where it starts, or before."""
    mentions = context.system.mentions
    return are_broken(context) or bool((mentions["end"] <= mentions["start"]).any())


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


def _lengths(context: RuleContext) -> pl.LazyFrame:
    """The number of code points of each text."""
    texts = context.against.documents.lazy().drop_nulls("text")
    return texts.select(document="row", length=pl.col("text").str.len_chars())


def beyond_text(context: RuleContext) -> pl.LazyFrame:
    """A span that ends after the end of the document's text."""
    found = _spans(context).join(_lengths(context), on="document")
    found = found.filter(pl.col("end") > pl.col("length"))
    return at(_named(found, context), "fragments")


def _texts(context: RuleContext) -> dict[int, str]:
    """The texts of the documents, as far as there are any, by their key."""
    return dict(context.against.documents.select("row", "text").drop_nulls().iter_rows())


def _unlike(context: RuleContext) -> pl.Series:
    """The keys of the spans whose text is not just what the document has between start and end.

    A line break in the document may be a space in the span: standoff has no other way.
    """
    texts = _texts(context)
    columns = ("row", "document", "start", "end", "text")
    unlike = [
        row
        for row, document, start, end, text in _suspects(context).select(columns).iter_rows()
        if (found := texts[document][start:end]) != text and found.replace("\n", " ") != text
    ]
    return pl.Series("row", unlike, dtype=pl.Int64)


#: Bytes of a text in which Polars finds a code point as fast as Python, which needs no counting.
_SHORT = 8000


def _suspects(context: RuleContext) -> pl.DataFrame:
    """The spans that do not have their text between start and end, or may not have it."""
    texts = context.against.documents.lazy().drop_nulls("text")
    texts = texts.select(document="row", content="text", size=pl.col("text").str.len_bytes())
    plain = pl.col("content").str.len_chars() == pl.col("size")  # code points are bytes
    spans = context.table("mentions", "row", "document", "start", "end", "text")
    start, length = pl.col("start").clip(0), (pl.col("end") - pl.col("start")).clip(0)
    content, text = pl.col("content"), pl.col("text")
    unlike_bytes = content.cast(pl.Binary).bin.slice(start, length) != text.cast(pl.Binary)
    parts = (
        (plain, unlike_bytes),
        (~plain & (pl.col("size") <= _SHORT), content.str.slice(start, length) != text),
        (~plain & (pl.col("size") > _SHORT), pl.lit(value=True)),
    )
    found = [
        spans.join(texts.filter(of), on="document", maintain_order="left").filter(
            unlike | (pl.col("start") < 0)
        )
        for of, unlike in parts
    ]
    return pl.concat(found).drop("content", "size").collect()


def any_differs(context: RuleContext) -> bool:
    """Whether any span may have another text than its document."""
    return not context.once(_unlike).is_empty()


def text_differs(context: RuleContext) -> pl.LazyFrame:
    """A span whose text is not that of the document at its offsets, apart from white space."""
    parts = _parts(context).filter(pl.col("row").is_in(context.once(_unlike).implode()))
    parts = parts.join(_lengths(context), on="document", maintain_order="left")
    legal = (pl.col("start") < pl.col("end")) & (pl.col("end") <= pl.col("length"))
    read, texts = parts.filter(legal).collect(), _texts(context)
    columns = read.select("document", "start", "end").iter_rows()
    actual = [texts[document][start:end] for document, start, end in columns]
    spans = _joined(read.with_columns(actual=pl.Series(actual, dtype=pl.String)))
    differing = spans.filter(pl.col("actual") != pl.col("text"))
    differing = differing.filter(_words("actual") != _words("text"))
    hints = [
        _hint(texts[document], text, start)
        for document, text, start in differing.select("document", "text", "start").iter_rows()
    ]
    hint = pl.Series(hints, dtype=pl.String)
    shown = differing.with_columns(hint=hint, actual=pl.col("actual").str.head(40))
    return at(_named(shown.lazy(), context), "text")


def _joined(parts: pl.DataFrame) -> pl.DataFrame:
    """The spans of parts in order; the actual texts of several parts are joined by a space."""
    texts = parts.group_by("row", maintain_order=True).agg(actual=pl.col("actual").str.join(" "))
    return parts.unique("row", keep="first", maintain_order=True).with_columns(texts["actual"])


def _words(column: str) -> pl.Expr:
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()


def _hint(content: str, text: str, start: int) -> str:
    """The occurrence of a span's text in its document that is nearest to its offsets."""
    places = (content.rfind(text, 0, start + len(text)), content.find(text, start + 1))
    occurrences = [at for at in places if at >= 0]
    if not occurrences:
        return f"correct the text; {text[:40]!r} does not occur in the document"
    nearest = min(occurrences, key=lambda at: abs(at - start))
    return f"use offsets {nearest} {nearest + len(text)}, where the document has {text[:40]!r}"
