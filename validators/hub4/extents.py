"""Rules of HUB-4 that compare texts with the corpus at their extents (HUB302 to HUB305).

If nearly all extents are off in the same way, that is reported once, with the way they are off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import polars as pl

from hlteval.validators.hub4.tables import is_number, known, like_slot, two_in_one
from hlteval.validators.rule import RuleContext, about_file

# Ways in which all extents of a file may be off: what is at them if they are read that way.


#: Fewest extents that must be off in the same way for a common cause.
_FEW = 3

#: The share of the extents that are off which a cause must explain.
_SHARE = 0.8

#: Extents that are off with which causes are tried.
_SAMPLE = 500


class Span(NamedTuple):
    """An extent that is off."""

    content: str
    begins: int | None
    start: int
    end: int
    wanted: str
    found: str


Pair = tuple[int, int]


class Shift(NamedTuple):
    """Extents that are off by so many characters, from the beginning of their document or file."""

    first: int
    last: int
    in_file: bool = False

    def back(self, span: Span) -> Pair:
        """The right start and end of an extent."""
        begins = (span.begins or 0) if self.in_file else 0
        return span.start + self.first - begins, span.end + self.last - begins

    def read(self, span: Span) -> str:
        """The text at an extent that is read that way."""
        start, end = self.back(span)
        return span.content[max(start, 0) : max(end, 0)]


class Unit(NamedTuple):
    """Extents that count the units of an encoding, and the two characters of CR LF."""

    encoding: str
    width: int
    crlf: bool = False

    def back(self, span: Span) -> Pair | None:
        """The right start and end of an extent; None if it is inside a character."""
        places = _places(span.content, self)
        start, end = places.get(span.start), places.get(span.end)
        return None if start is None or end is None else (start, end)

    def read(self, span: Span) -> str:
        """The text at an extent that is read that way."""
        units = _encoded(span.content, self)[self.width * span.start : self.width * span.end]
        return units.decode(self.encoding, "replace")


@lru_cache(maxsize=8)
def _places(text: str, unit: Unit) -> Mapping[int, int]:
    """The index of each character, and of the end, by its offset in another unit."""
    widths = (
        len(character.encode(unit.encoding)) // unit.width + (unit.crlf and character == "\n")
        for character in text
    )
    return {offset: index for index, offset in enumerate(accumulate(widths, initial=0))}


@lru_cache(maxsize=8)
def _encoded(text: str, unit: Unit) -> bytes:
    return (text.replace("\n", "\r\n") if unit.crlf else text).encode(unit.encoding)


class Cause(NamedTuple):
    """A way in which extents are off.

    Attributes:
        message: what is wrong.
        fix: what to do.
        way: how such extents are read.
    """

    message: str
    fix: str
    way: Shift | Unit

    def explains(self, span: Span) -> bool:
        """Whether an extent that is read that way has its text."""
        return self.way.read(span).replace("\r", "").replace("\n", " ") == span.wanted

    def corrected(self, span: Span) -> Pair | None:
        """The right start and end of an extent; None if that is outside the document."""
        pair = self.way.back(span)
        inside = pair is not None and min(pair) >= 0 and max(pair) <= len(span.content)
        return pair if inside else None


_CAUSES = (
    Cause(
        "each line end counts as two characters",
        "count a line end as one character, as if the corpus had LF, or use --line-ends as-written",
        Unit("utf-32-le", 4, crlf=True),
    ),
    Cause(
        "offsets count UTF-8 bytes", "count characters (code points), not bytes", Unit("utf-8", 1)
    ),
    Cause(
        "offsets count UTF-16 code units",
        "count characters (code points), not UTF-16 code units",
        Unit("utf-16-le", 2),
    ),
    Cause(
        "offsets are 1-based, and the end is inclusive",
        "subtract 1 from each start: the first character is 0, and the end is one past the last",
        Shift(-1, 0),
    ),
    Cause(
        "offsets are 1-based",
        "subtract 1 from each number: the first character is 0",
        Shift(-1, -1),
    ),
    Cause(
        "the end is inclusive",
        "add 1 to each end: it is the first character after the text",
        Shift(0, 1),
    ),
    Cause(
        "offsets count from the beginning of the corpus",
        "count from the < of each document's start tag, or use --unsegmented",
        Shift(0, 0, in_file=True),
    ),
)


def cause_of(spans: list[Span]) -> Cause | None:
    """The cause that explains most of some extents that are off, if it explains nearly all.

    Of equal ones the first counts. Units come first: behind a single character of two UTF-16 code
    units, offsets look 1-based, but if they were, those before it would be off too.
    """
    return next(iter(causes_of(spans)), None)


def causes_of(spans: list[Span]) -> list[Cause]:
    """The causes that explain most of some extents that are off, all equally many."""
    sample = spans[:: max(1, len(spans) // _SAMPLE)]
    causes = [*_CAUSES, *_shifts(sample)]
    counts = [sum(map(cause.explains, sample)) for cause in causes]
    most = max(counts)
    if most < max(_FEW, _SHARE * len(sample)):
        return []
    return [cause for cause, count in zip(causes, counts, strict=True) if count == most]


def _shifts(sample: list[Span]) -> Iterator[Cause]:
    """The distance between texts and their extents, if it is often the same."""
    distances: dict[int, int] = {}
    for span in sample:
        at = nearest(span)
        if at is not None:
            distances[at - span.start] = distances.get(at - span.start, 0) + 1
    if distances:
        distance = max(distances, key=lambda count: distances[count])
        way = "small" if distance > 0 else "large"
        yield Cause(
            f"offsets are too {way} by {abs(distance):,}",
            f"{'add' if distance > 0 else 'subtract'} {abs(distance):,} "
            f"{'to' if distance > 0 else 'from'} each number; 0 is the < of the start tag",
            Shift(distance, distance),
        )


def nearest(span: Span) -> int | None:
    """The occurrence of the text that is nearest to its extent; None if there is none."""
    content = span.content.replace("\n", " ")
    before = content.rfind(span.wanted, 0, span.start + len(span.wanted))
    after = content.find(span.wanted, span.start)
    near = [at for at in (before, after) if at >= 0]
    return min(near, key=lambda at: abs(at - span.start), default=None)


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


# The right extents of a file whose extents are all off in the same way (HUB305).


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
