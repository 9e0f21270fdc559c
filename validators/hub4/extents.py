"""Rules of HUB-4 that compare texts with the corpus at their extents (HUB302 to HUB305).

If nearly all extents are off in the same way, that is reported once, with the way they are off.
"""

from __future__ import annotations

import polars as pl

from hlteval.validators.hub4.causes import Span, cause_of, nearest
from hlteval.validators.hub4.tables import is_number, known, like_slot, two_in_one
from hlteval.validators.rule import RuleContext, about_file

#: Extents that are off whose texts are searched for.
_HINTED = 1000

#: Characters around a text that are not quotation marks of the format, or mark minimal strings.
_NOT_TEXT = str.maketrans(dict.fromkeys("“”„«»[]"))
_COPY = "copy the text from the document, with a space for each line end"


def spans(context: RuleContext) -> pl.LazyFrame:
    """Each extent with the text that it should have, `wanted`, and its document's text.

    Of a system only the first extent of a fill counts; of a reference also the others, if there
    are as many as minimal strings. Texts that other rules report are left out: those that are
    empty, look like slots, or are two, and in a reference those with unbalanced brackets.
    """
    odd = like_slot() | two_in_one() | is_number() | (pl.col("text").str.strip_chars() == "")
    if not context.schema.system:
        odd |= pl.col("brackets").is_null() & pl.col("text").str.contains(r"[\[\]]")
    columns = ("origin", "record", "document", "frame_row", "slot", "position", "quoted", "text")
    fills = context.table("fills", *columns, "extents", "brackets")
    fills = fills.drop_nulls("extents").filter(~odd)
    minimal = pl.col("brackets").list.len().fill_null(0)
    count = pl.when(pl.col("extents").list.len() == minimal + 1).then(minimal + 1).otherwise(1)
    frames = context.table("frames", "row", "frame").rename({"row": "frame_row", "frame": "id"})
    rows = fills.join(frames, on="frame_row", maintain_order="left").select(
        "id", "origin", "record", "document", "text", "brackets", "extents",
        ordinal=pl.int_ranges(1, count + 1),
    )  # fmt: skip
    rows = rows.explode("ordinal").with_columns(
        extent=pl.col("extents").list.get(pl.col("ordinal") - 1),
        bracket=pl.col("brackets").list.get(pl.col("ordinal") - 2, null_on_oob=True),
    )
    bracket = pl.col("bracket").struct
    part = pl.col("text").str.slice(
        bracket.field("start"), bracket.field("end") - bracket.field("start")
    )
    rows = rows.select(
        "id", "origin", "record", "document",
        start=pl.col("extent").struct.field("start"),
        end=pl.col("extent").struct.field("end"),
        field=pl.concat_str(pl.lit("extent "), "ordinal"),
        wanted=pl.when(pl.col("ordinal") > 1).then(part).otherwise("text"),
    )  # fmt: skip
    documents = known(context)
    if context.schema.unsegmented:
        return rows.drop("document").join(documents.head(1), how="cross")
    return rows.join(documents, on="document", maintain_order="left")


def _off(context: RuleContext) -> pl.LazyFrame:
    """The extents that have another text, `found`, with the length of the document."""
    each = spans(context).filter(pl.col("start") < pl.col("end"))
    found = pl.col("content").str.slice(pl.col("start"), pl.col("end") - pl.col("start"))
    compared = each.with_columns(found=found.str.replace_all("\n", " ", literal=True))
    off = compared.filter(pl.col("found") != pl.col("wanted"))
    return off.with_columns(length=pl.col("content").str.len_chars().cast(pl.Int64))


def _explained(context: RuleContext) -> pl.LazyFrame:
    """The extents that are off, with the `cause` if it is the same for nearly all."""
    off = context.cached(_off).collect()
    rows = as_spans(context, off)
    blanks = _collapsed("found") == _collapsed("wanted")
    cause = cause_of(with_other_text(rows))
    explained = [cause is not None and cause.explains(row) for row in rows]
    return off.lazy().with_columns(
        pl.Series("explained", explained, pl.Boolean),
        blanks=blanks,
        cause=pl.lit(cause.message if cause else "", pl.String),
        fix=pl.lit(cause.fix if cause else "", pl.String),
    )


def with_other_text(rows: list[Span]) -> list[Span]:
    """The extents whose text differs in more than white space."""
    return [row for row in rows if row.found.split() != row.wanted.split()]


def as_spans(context: RuleContext, off: pl.DataFrame) -> list[Span]:
    """Extents as values; the texts of documents are shared."""
    contents = dict(known(context).select("document", "content").collect().iter_rows())
    columns = ("document", "begins", "start", "end", "wanted", "found")
    each = off.select(columns).iter_rows()
    return [Span(contents[document], *others) for document, *others in each]


def _collapsed(column: str) -> pl.Expr:
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()


def off_throughout(context: RuleContext) -> pl.LazyFrame:
    """Extents that are all off in the same way, once for the file."""
    rows = context.cached(_explained).filter("explained")
    summed = rows.group_by("origin", maintain_order=True).agg(
        pl.col("cause", "fix").first(), count=pl.len()
    )
    return about_file(summed)


def _single(context: RuleContext) -> pl.LazyFrame:
    """The extents that are off without a common cause."""
    return context.cached(_explained).filter(~pl.col("explained"))


def outside_document(context: RuleContext) -> pl.LazyFrame:
    """An extent that ends after the end of its document."""
    return _single(context).filter(pl.col("end") > pl.col("length"))


def blanks_differ(context: RuleContext) -> pl.LazyFrame:
    """A text that differs only in its spaces from the text at its extent."""
    return _single(context).filter(pl.col("blanks") & (pl.col("end") <= pl.col("length")))


def text_differs(context: RuleContext) -> pl.LazyFrame:
    """A text that is not at its extent, with where it is."""
    rows = (
        _single(context).filter(~pl.col("blanks") & (pl.col("end") <= pl.col("length"))).collect()
    )
    hints = [_hint(span) for span in as_spans(context, rows.head(_HINTED))]
    hints += [_COPY] * (rows.height - len(hints))
    hinted = rows.lazy().with_columns(pl.Series("hint", hints, pl.String))
    return hinted.with_columns(_shown("found"), given=_shown("wanted"))


def _shown(column: str) -> pl.Expr:
    text = pl.col(column)
    return pl.when(text.str.len_chars() > 60).then(text.str.head(59) + "…").otherwise(text)


def _hint(span: Span) -> str:
    bare = span.wanted.translate(_NOT_TEXT)
    if bare == span.found:
        return f'write "{bare}", with straight quotation marks and without brackets'
    at = nearest(span)
    if at is None:
        return f"this document does not have it; {_COPY}"
    return f"did you mean {at}#{at + len(span.wanted)}#?"
