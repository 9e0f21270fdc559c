"""The right extents of a file whose extents are all off in the same way (HUB305)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.hub4.causes import Cause, Span, causes_of
from hlteval.validators.hub4.extents import as_spans, spans, with_other_text
from hlteval.validators.hub4.tables import known, two_in_one
from hlteval.validators.rule import RuleContext

_NONE = pl.DataFrame(
    schema={"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "put": pl.String}
)


def right_extents(context: RuleContext) -> pl.DataFrame:
    """What replaces the extents of a file: `origin`, `record` and `field` with `put`.

    There are no rows unless the correction is certain: every extent of a document of the corpus has
    one right place, which is the same for all causes that explain the file equally well, and no
    text that is at its extent, or is explained, is elsewhere afterwards. Lines that cannot be read
    may hold extents that would stay as they are, so that nothing is corrected beside them.
    """
    unread = context.system.rejected_records.height
    twice = context.system.fills.lazy().filter(two_in_one()).head(1).collect().height
    compared = _compared(context)
    off = [span for span in compared if span.start < span.end and span.found != span.wanted]
    causes = causes_of(with_other_text(off))
    if unread or twice or not causes or not all(_holds(causes[0], span) for span in compared):
        return _NONE
    rows = _every(context)
    pairs = [_certain(causes, span) for span in as_spans(context, rows)]
    if None in pairs:
        return _NONE
    put = pl.Series("put", [f"{pair[0]}#{pair[1]}" for pair in pairs if pair], pl.String)
    given = pl.concat_str("start", pl.lit("#"), "end")
    return rows.with_columns(put).filter(given != pl.col("put")).select(_NONE.columns)


def _compared(context: RuleContext) -> list[Span]:
    """The extents with the texts that should be and are there, in documents of the corpus."""
    found = pl.col("content").str.slice(
        pl.col("start"), pl.max_horizontal("start", "end") - pl.col("start")
    )
    rows = spans(context).drop_nulls("content")
    rows = rows.with_columns(found=found.str.replace_all("\n", " ", literal=True))
    return as_spans(context, rows.collect())


def _holds(cause: Cause, span: Span) -> bool:
    """Whether a correction puts right what it should, and puts nothing wrong."""
    if span.found != span.wanted and not cause.explains(span):
        return True
    pair = cause.corrected(span)
    text = None if pair is None else span.content[slice(*pair)].replace("\n", " ")
    return text == span.wanted


def _certain(causes: list[Cause], span: Span) -> tuple[int, int] | None:
    """The right place of an extent; None if it has none, or if causes differ in it."""
    pairs = {cause.corrected(span) for cause in causes}
    return pairs.pop() if len(pairs) == 1 else None


def _every(context: RuleContext) -> pl.DataFrame:
    """Every extent of documents of the corpus, whatever its text."""
    fills = context.table("fills", "origin", "record", "document", "extents").drop_nulls("extents")
    rows = fills.with_columns(ordinal=pl.int_ranges(1, pl.col("extents").list.len() + 1))
    rows = rows.explode("extents", "ordinal").unnest("extents")
    documents = known(context).drop_nulls("content")
    if context.schema.unsegmented:
        placed = rows.drop("document").join(documents.head(1), how="cross")
    else:
        placed = rows.join(documents, on="document", maintain_order="left")
    field = pl.format("extent {}", "ordinal")
    text = pl.lit("")
    return placed.with_columns(field=field, wanted=text, found=text).collect()
