"""Rules of HUB-4 that compare texts with the corpus at their extents (HUB302 to HUB305).

If nearly all extents are off in the same way, that is reported once, with the way they are off.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import polars as pl

from hlteval.converters.toolkit.quotes import normalized_spaces
from hlteval.grammars import vocabulary
from hlteval.validators.hub4.tables import corpus_texts, has_two_fills, is_number, like_slot
from hlteval.validators.rule import RuleContext, about_file

# Ways in which all extents of a file may be off: what is at them if they are read that way.


#: Fewest extents that must be off in the same way for a common cause.
_FEW = 3
#: The share of the extents that are off which a cause must explain.
_SHARE = 0.8
#: Extents that are off with which causes are tried.
_SAMPLE = 500
#: Extents that are off whose texts are searched for.
_HINTED = 1000
#: Characters around a text that are not quotation marks of the format, or mark minimal strings.
_NOT_TEXT = str.maketrans(dict.fromkeys("“”„«»[]"))
_COPY = "copy the text from the document, with a space for each line end"


class Span(NamedTuple):
    """An extent that is off, with the text that it should have and the text that is there."""

    content: str
    begins: int | None
    start: int
    end: int
    wanted: str
    found: str


@lru_cache(maxsize=8)
def _places(text: str, encoding: str, width: int, crlf: bool) -> Mapping[int, int]:
    """The index of each character, and of the end, by its offset in units of an encoding."""
    widths = (
        len(character.encode(encoding)) // width + (crlf and character == "\n")
        for character in text
    )
    return {offset: index for index, offset in enumerate(accumulate(widths, initial=0))}


@lru_cache(maxsize=8)
def _encode(text: str, encoding: str, crlf: bool) -> bytes:
    """The bytes of a text, with CR LF line ends or as it is."""
    return (text.replace("\n", "\r\n") if crlf else text).encode(encoding)


class Cause(NamedTuple):
    """A way in which extents are off.

    Attributes:
        message: what is wrong.
        fix: what to do.
        encoding: the encoding whose units offsets count; empty if they count characters.
        width: the bytes of a unit.
        crlf: whether a line end is two units.
        first: what is to be added to each start.
        last: what is to be added to each end.
        in_file: whether offsets count from the beginning of the file, and not of the document.
    """

    message: str
    fix: str
    encoding: str = ""
    width: int = 1
    crlf: bool = False
    first: int = 0
    last: int = 0
    in_file: bool = False

    def _shift(self, span: Span) -> tuple[int, int]:
        begins = (span.begins or 0) if self.in_file else 0
        return span.start + self.first - begins, span.end + self.last - begins

    def explains(self, span: Span) -> bool:
        """Whether an extent that is read that way has its text."""
        if self.encoding:
            units = _encode(span.content, self.encoding, self.crlf)
            units = units[self.width * span.start : self.width * span.end]
            text = units.decode(self.encoding, "replace")
        else:
            start, end = self._shift(span)
            text = span.content[max(start, 0) : max(end, 0)]
        return text.replace("\r", "").replace("\n", " ") == span.wanted

    def correct(self, span: Span) -> tuple[int, int] | None:
        """The right start and end of an extent; None outside the document or in a character."""
        start, end = self._shift(span)
        if self.encoding:
            places = _places(span.content, self.encoding, self.width, self.crlf)
            start, end = places.get(span.start, -1), places.get(span.end, -1)
        inside = min(start, end) >= 0 and max(start, end) <= len(span.content)
        return (start, end) if inside else None


def causes_of(spans: Sequence[Span]) -> list[Cause]:
    """The causes that explain most of some extents that are off, all equally many.

    There are none if they do not explain nearly all. Extents whose text differs in white space only
    are left out.
    """
    spans = [span for span in spans if span.found.split() != span.wanted.split()]
    sample = spans[:: max(1, len(spans) // _SAMPLE)]
    causes = [Cause(**cause) for cause in vocabulary("hub4")["causes"]]
    # The distance between texts and their extents, if it is often the same.
    places = ((nearest(span), span.start) for span in sample)
    distances = Counter(place - start for place, start in places if place is not None)
    for distance, _ in distances.most_common(1):
        way, fix, side = ("small", "add", "to") if distance > 0 else ("large", "subtract", "from")
        size = f"{abs(distance):,}"
        message = f"offsets are too {way} by {size}"
        fix = f"{fix} {size} {side} each number; 0 is the < of the start tag"
        causes.append(Cause(message, fix, first=distance, last=distance))
    counts = [sum(map(cause.explains, sample)) for cause in causes]
    most = max(counts)
    if most < max(_FEW, _SHARE * len(sample)):
        return []
    return [cause for cause, count in zip(causes, counts, strict=True) if count == most]


def nearest(span: Span) -> int | None:
    """The occurrence of the text that is nearest to its extent; None if there is none."""
    content = span.content.replace("\n", " ")
    before = content.rfind(span.wanted, 0, span.start + len(span.wanted))
    after = content.find(span.wanted, span.start)
    near = [place for place in (before, after) if place >= 0]
    return min(near, key=lambda place: abs(place - span.start), default=None)


# The extents of a file, and what is at them.


def _with_texts(context: RuleContext, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows with the text of their document; unsegmented, with that of all."""
    documents = corpus_texts(context)
    if context.schema.unsegmented:
        return rows.drop("document").join(documents.head(1), how="cross")
    return rows.join(documents, on="document", maintain_order="left")


def _compare(context: RuleContext) -> pl.LazyFrame:
    """Each extent with the text that it should have, `wanted`, and the text there, `found`.

    Of a system only the first extent of a fill counts; of a reference also the others, if there
    are as many as minimal strings. Texts that other rules report are left out: those that are
    empty, look like slots, or are two, and in a reference those with unbalanced brackets.
    """
    odd = like_slot() | has_two_fills() | is_number() | (pl.col("text").str.strip_chars() == "")
    if not context.schema.system:
        odd |= pl.col("brackets").is_null() & pl.col("text").str.contains(r"[\[\]]")
    columns = ("origin", "record", "document", "frame_row", "slot", "position", "quoted", "text")
    fills = context.table("fills", *columns, "extents", "brackets")
    fills = fills.drop_nulls("extents").filter(~odd)
    minimal = pl.col("brackets").list.len().fill_null(0)
    count = pl.when(pl.col("extents").list.len() == minimal + 1).then(minimal + 1).otherwise(1)
    frames = context.table("frames", "row", "frame").rename({"row": "frame_row", "frame": "id"})
    rows = fills.join(frames, on="frame_row", maintain_order="left")
    rows = rows.with_columns(ordinal=pl.int_ranges(1, count + 1)).explode("ordinal")
    ordinal = pl.col("ordinal")
    extent = pl.col("extents").list.get(ordinal - 1).struct
    bracket = pl.col("brackets").list.get(ordinal - 2, null_on_oob=True).struct
    start, length = bracket.field("start"), bracket.field("end") - bracket.field("start")
    rows = rows.select(
        *("id", "origin", "record", "document"),
        start=extent.field("start"),
        end=extent.field("end"),
        field=pl.format("extent {}", "ordinal"),
        wanted=pl.when(ordinal > 1).then(pl.col("text").str.slice(start, length)).otherwise("text"),
    )
    length = pl.max_horizontal("start", "end") - pl.col("start")
    found = pl.col("content").str.slice(pl.col("start"), length)
    found = found.str.replace_all("\n", " ", literal=True)
    return _with_texts(context, rows).with_columns(found=found)


def _as_spans(context: RuleContext, rows: pl.DataFrame) -> list[Span]:
    """Extents as values; the texts of documents are shared."""
    contents = dict(corpus_texts(context).select("document", "content").collect().iter_rows())
    columns = ("document", "begins", "start", "end", "wanted", "found")
    return [Span(contents[document], *rest) for document, *rest in rows.select(columns).iter_rows()]


def _off(context: RuleContext) -> pl.LazyFrame:
    """The extents that have another text, with the `cause` if it is the same for nearly all."""
    is_off = (pl.col("start") < pl.col("end")) & (pl.col("found") != pl.col("wanted"))
    rows = context.cached(_compare).filter(is_off).collect()
    spans = _as_spans(context, rows)
    cause = next(iter(causes_of(spans)), None)
    explained = [cause is not None and cause.explains(span) for span in spans]
    found, wanted = map(normalized_spaces, ("found", "wanted"))
    return rows.lazy().with_columns(
        pl.Series("explained", explained, pl.Boolean),
        blanks=found == wanted,
        outside=pl.col("end") > pl.col("content").str.len_chars(),
        cause=pl.lit(cause.message if cause else "", pl.String),
        fix=pl.lit(cause.fix if cause else "", pl.String),
    )


def off_throughout(context: RuleContext) -> pl.LazyFrame:
    """Extents that are all off in the same way, once for the file."""
    rows = context.cached(_off).filter("explained").group_by("origin", maintain_order=True)
    return about_file(rows.agg(pl.col("cause", "fix").first(), count=pl.len()))


def outside_document(context: RuleContext) -> pl.LazyFrame:
    """An extent that ends after the end of its document."""
    rows = context.cached(_off).filter(~pl.col("explained") & pl.col("outside"))
    return rows.with_columns(length=pl.col("content").str.len_chars().cast(pl.Int64))


def blanks_differ(context: RuleContext) -> pl.LazyFrame:
    """A text that differs only in its spaces from the text at its extent."""
    alone = ~pl.col("explained") & ~pl.col("outside")
    return context.cached(_off).filter(alone & pl.col("blanks"))


def text_differs(context: RuleContext) -> pl.LazyFrame:
    """A text that is not at its extent, with where it is."""
    alone = ~pl.col("explained") & ~pl.col("outside")
    rows = context.cached(_off).filter(alone & ~pl.col("blanks")).collect()
    hints: list[str] = []
    for span in _as_spans(context, rows.head(_HINTED)):
        bare, place = span.wanted.translate(_NOT_TEXT), nearest(span)
        if bare == span.found:
            hint = f'write "{bare}", with straight quotation marks and without brackets'
        elif place is None:
            hint = f"this document does not have it; {_COPY}"
        else:
            hint = f"did you mean {place}#{place + len(span.wanted)}#?"
        hints.append(hint)
    hints += [_COPY] * (rows.height - len(hints))
    found, given = (
        pl.when(text.str.len_chars() > 60).then(text.str.head(59) + "…").otherwise(text)
        for text in (pl.col("found"), pl.col("wanted"))
    )
    return rows.lazy().with_columns(pl.Series("hint", hints, pl.String), found=found, given=given)


# The right extents of a file whose extents are all off in the same way (HUB305).


_CORRECTIONS = {"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "put": pl.String}


def right_extents(context: RuleContext) -> pl.DataFrame:
    """The corrected extents of a file: `origin`, `record` and `field` with `put`.

    There are no rows unless the correction is certain: every extent of a document of the corpus has
    one right place, which is the same for all causes that explain the file equally well, and no
    text that is at its extent, or is explained, is elsewhere afterwards. Lines that cannot be read
    may hold extents that would stay as they are, so that nothing is corrected beside them.
    """
    nothing = pl.DataFrame(schema=_CORRECTIONS)
    unread = context.system.rejected_records.height
    twice = context.system.fills.lazy().filter(has_two_fills()).head(1).collect().height
    compared = _as_spans(context, context.cached(_compare).drop_nulls("content").collect())
    off = [span for span in compared if span.start < span.end and span.found != span.wanted]
    causes = causes_of(off)
    if unread or twice or not causes:
        return nothing
    for span in compared:
        if span.found == span.wanted or causes[0].explains(span):
            pair = causes[0].correct(span)
            if pair is None or span.content[slice(*pair)].replace("\n", " ") != span.wanted:
                return nothing

    fills = context.table("fills", "origin", "record", "document", "extents").drop_nulls("extents")
    every = fills.with_columns(ordinal=pl.int_ranges(1, pl.col("extents").list.len() + 1))
    every = every.explode("extents", "ordinal").unnest("extents")
    field, nothing_there = pl.format("extent {}", "ordinal"), pl.lit("")
    every = every.with_columns(field=field, wanted=nothing_there, found=nothing_there)
    rows = _with_texts(context, every).drop_nulls("content").collect()
    put: list[str] = []
    for span in _as_spans(context, rows):
        pairs = {cause.correct(span) for cause in causes}
        pair = pairs.pop()
        if pairs or pair is None:
            return nothing
        put.append(f"{pair[0]}#{pair[1]}")
    given = pl.format("{}#{}", "start", "end")
    rows = rows.with_columns(pl.Series("put", put, pl.String)).filter(given != pl.col("put"))
    return rows.select(*_CORRECTIONS)
