"""Rules of HUB-4 templettes that ask the corpus: whether texts stand where their extents say.

Where nearly all extents are off in the same way, that is told once, with the way they are off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import polars as pl

from hlteval.validators.rule import RuleContext

_FEW = 3
"""Extents that must be off in the same way before it is taken for one cause."""
_SHARE = 0.8
"""How many of the extents that are off the cause must explain."""
_SAMPLE = 500
"""Extents that are off, by which causes are tried."""
_HINTED = 1000
"""Extents that are off for which the right place is looked for."""
_COPY = "copy the text from the document, with a space for each line end"


def _known(case: RuleContext) -> pl.LazyFrame:
    """The documents of the corpus with their texts; none where it is no corpus."""
    documents = case.against.documents.lazy().filter(pl.col("text").is_not_null())
    return documents.select("name", content="text", begins="start", document="row")


def unknown_sets(case: RuleContext) -> pl.LazyFrame:
    """The documents of instance sets that are not in the corpus."""
    known = _known(case).select("document")
    sets = case.table("frames").select("document").unique()
    strange = sets.join(known, on="document", how="anti")
    nothing = case.schema.unsegmented or known.head(1).collect().is_empty()
    return strange.head(0) if nothing else strange


def unknown_document(case: RuleContext) -> pl.LazyFrame:
    """An instance set of a document that is not in the corpus; each is told once."""
    known = _known(case).select("name").collect()
    sets = case.table("frames").join(case.names, on="document", maintain_order="left")
    strange = sets.join(unknown_sets(case), on="document", how="semi", maintain_order="left")
    strange = strange.with_columns(count=pl.len().over("name")).unique(
        "name", keep="first", maintain_order=True
    )
    rows = strange.select("name", "frame").collect().rows()
    hints = dict(_hints(rows, known["name"].to_list()))
    hint = pl.col("name").replace_strict(hints, default="", return_dtype=pl.String)
    return strange.with_columns(id=pl.col("frame"), field=pl.lit("pointer"), hint=hint)


def _hints(strange: list[tuple[str, str]], known: list[str]) -> Iterator[tuple[str, str]]:
    """What document may have been meant: another division of the pointer, or a name much alike."""
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    names = set(known)
    for name, pointer in strange:
        behind = (name[at + 1 :] for at, character in enumerate(name) if character == "-")
        other = next((rest for rest in behind if rest in names), None)
        near = None
        if other is None and len(strange) <= 100:
            near = process.extractOne(
                name, known, scorer=DamerauLevenshtein.distance, score_cutoff=2
            )
        if other is not None:
            label = pointer[: -len(pointer.partition(f"-{other}-")[2]) - len(other) - 2]
            hint = f"use --types {label} if the type is {label} and the document {other}"
        else:
            hint = f"did you mean {near[0]}?" if near else "write the identifier as in the corpus"
        yield name, hint


def like_slot() -> pl.Expr:
    """Whether a text without quotes looks like a slot whose name holds blanks."""
    looks = pl.col("text").str.contains("^[A-Za-z][A-Za-z0-9_-]*(?: [A-Za-z0-9_-]+){1,2} ?:")
    bare = pl.col("quoted").eq(other=False) & looks & (pl.col("position") > 1)
    return bare.fill_null(value=False)


def two_in_one() -> pl.Expr:
    """Whether a text in quotes holds extents, as where two fills stand in one line."""
    return (pl.col("quoted") & pl.col("text").str.contains("##[0-9]+#[0-9]+#")).fill_null(
        value=False
    )


def is_number() -> pl.Expr:
    """Whether a slot is called by a number, as a text may begin that has no quotes."""
    return pl.col("slot").str.contains("^[0-9]+$")


def _spans(case: RuleContext) -> pl.LazyFrame:
    """Each extent with the string that should stand there, `wanted`, and its document's text.

    Of a system only the first extent of a fill counts; of a reference, the others where there are
    as many as minimal strings. What other rules tell is left out: texts that are empty, look like
    slots, or are two, and those of a reference whose brackets do not balance.
    """
    odd = like_slot() | two_in_one() | is_number() | (pl.col("text").str.strip_chars() == "")
    if not case.schema.system:
        odd |= pl.col("brackets").is_null() & pl.col("text").str.contains(r"[\[\]]")
    fills = case.table("fills").filter(pl.col("extents").is_not_null() & ~odd)
    minimal = pl.col("brackets").list.len().fill_null(0)
    count = pl.when(pl.col("extents").list.len() == minimal + 1).then(minimal + 1).otherwise(1)
    frames = case.table("frames").select(frame_row="row", id="frame")
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
    documents = _known(case)
    if case.schema.unsegmented:
        return rows.drop("document").join(documents.head(1), how="cross")
    return rows.join(documents, on="document", maintain_order="left")


def _off(case: RuleContext) -> pl.LazyFrame:
    """The extents at which another text stands, which is `found`, with the length of the text."""
    spans = _spans(case).filter(pl.col("start") < pl.col("end"))
    found = pl.col("content").str.slice(pl.col("start"), pl.col("end") - pl.col("start"))
    compared = spans.with_columns(found=found.str.replace_all("\n", " ", literal=True))
    off = compared.filter(pl.col("found") != pl.col("wanted"))
    return off.with_columns(length=pl.col("content").str.len_chars().cast(pl.Int64))


def _judged(case: RuleContext) -> pl.LazyFrame:
    """The extents that are off, with the `cause` where it is the same for nearly all."""
    off = case.cached(_off).collect()
    rows = _as_spans(case, off)
    blanks = _collapsed("found") == _collapsed("wanted")
    cause = _cause(
        [row for row in rows if " ".join(row.found.split()) != " ".join(row.wanted.split())]
    )
    explained = [cause is not None and cause.explains(row) for row in rows]
    return off.lazy().with_columns(
        pl.Series("explained", explained, pl.Boolean),
        blanks=blanks,
        cause=pl.lit(cause.told if cause else "", pl.String),
        fix=pl.lit(cause.fix if cause else "", pl.String),
    )


def _as_spans(case: RuleContext, off: pl.DataFrame) -> list[_Span]:
    """Extents as values; the texts of documents are shared."""
    contents = dict(_known(case).select("document", "content").collect().iter_rows())
    columns = ("document", "begins", "start", "end", "wanted", "found")
    each = off.select(columns).iter_rows()
    return [_Span(contents[document], *others) for document, *others in each]


def _collapsed(column: str) -> pl.Expr:
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()


class _Span(NamedTuple):
    """An extent that is off."""

    content: str
    begins: int | None
    start: int
    end: int
    wanted: str
    found: str


class _Cause(NamedTuple):
    """A way in which extents are off: what stands there if they are read that way."""

    told: str
    fix: str
    read: Callable[[_Span], str]

    def explains(self, span: _Span) -> bool:
        """Whether the text stands where an extent points if it is read that way."""
        return self.read(span).replace("\r", "").replace("\n", " ") == span.wanted


def _moved(first: int, last: int) -> Callable[[_Span], str]:
    return lambda span: span.content[max(span.start + first, 0) : max(span.end + last, 0)]


def _in_crlf(span: _Span) -> str:
    return _with_crlf(span.content)[span.start : span.end]


@lru_cache(maxsize=8)
def _with_crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def _in_bytes(span: _Span) -> str:
    return _bytes(span.content, "utf-8")[span.start : span.end].decode("utf-8", "replace")


def _in_utf16(span: _Span) -> str:
    units = _bytes(span.content, "utf-16-le")[2 * span.start : 2 * span.end]
    return units.decode("utf-16-le", "replace")


@lru_cache(maxsize=8)
def _bytes(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


def _in_file(span: _Span) -> str:
    begins = span.begins or 0
    return span.content[max(span.start - begins, 0) : max(span.end - begins, 0)]


_CAUSES = (
    _Cause(
        "each line end counts as two characters",
        "count a line end as one character, as if the corpus had LF, or use --line-ends as-written",
        _in_crlf,
    ),
    _Cause(
        "offsets are 1-based, and the end is inclusive",
        "subtract 1 from each start: the first character is 0, and the end is one past the last",
        _moved(-1, 0),
    ),
    _Cause(
        "offsets are 1-based",
        "subtract 1 from each number: the first character is 0",
        _moved(-1, -1),
    ),
    _Cause(
        "the end is inclusive",
        "add 1 to each end: it is the first character after the text",
        _moved(0, 1),
    ),
    _Cause("offsets count UTF-8 bytes", "count characters", _in_bytes),
    _Cause("offsets count UTF-16 code units", "count characters", _in_utf16),
    _Cause(
        "offsets count from the beginning of the corpus",
        "count from the < of each document's start tag, or use --unsegmented",
        _in_file,
    ),
)


def _cause(spans: list[_Span]) -> _Cause | None:
    """The first cause that explains nearly all of some extents that are off."""
    sample = spans[:: max(1, len(spans) // _SAMPLE)]
    for cause in (*_CAUSES, *_shifts(sample)):
        count = sum(map(cause.explains, sample))
        if count >= max(_FEW, _SHARE * len(sample)):
            return cause
    return None


def _shifts(sample: list[_Span]) -> Iterator[_Cause]:
    """The distance between where a text stands and where it is said to, if often the same."""
    distances: dict[int, int] = {}
    for span in sample:
        at = _nearest(span)
        if at is not None:
            distances[at - span.start] = distances.get(at - span.start, 0) + 1
    if distances:
        distance = max(distances, key=lambda one: distances[one])
        way = "small" if distance > 0 else "large"
        yield _Cause(
            f"offsets are too {way} by {abs(distance):,}",
            f"{'add' if distance > 0 else 'subtract'} {abs(distance):,} "
            f"{'to' if distance > 0 else 'from'} each number; 0 is the < of the start tag",
            _moved(distance, distance),
        )


def _nearest(span: _Span) -> int | None:
    """Where the text stands that is nearest to where it should; None if it stands nowhere."""
    content = span.content.replace("\n", " ")
    before = content.rfind(span.wanted, 0, span.start + len(span.wanted))
    behind = content.find(span.wanted, span.start)
    near = [at for at in (before, behind) if at >= 0]
    return min(near, key=lambda at: abs(at - span.start), default=None)


def off_throughout(case: RuleContext) -> pl.LazyFrame:
    """Extents that are all off in the same way, told once for the file."""
    rows = case.cached(_judged).filter("explained")
    number, text = pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    summed = rows.group_by("origin", maintain_order=True).agg(
        pl.col("cause", "fix").first(), count=pl.len()
    )
    return summed.with_columns(record=number, field=pl.lit(""), id=text)


def _single(case: RuleContext) -> pl.LazyFrame:
    """The extents that are off by themselves."""
    return case.cached(_judged).filter(~pl.col("explained"))


def outside_document(case: RuleContext) -> pl.LazyFrame:
    """An extent that ends behind the end of its document."""
    return _single(case).filter(pl.col("end") > pl.col("length"))


def blanks_differ(case: RuleContext) -> pl.LazyFrame:
    """A text that differs in its blanks only from what stands at its extent."""
    return _single(case).filter(pl.col("blanks") & (pl.col("end") <= pl.col("length")))


def text_differs(case: RuleContext) -> pl.LazyFrame:
    """A text that does not stand at its extent, with where it does."""
    rows = _single(case).filter(~pl.col("blanks") & (pl.col("end") <= pl.col("length"))).collect()
    hints = [_hint(span) for span in _as_spans(case, rows.head(_HINTED))]
    hints += [_COPY] * (rows.height - len(hints))
    told = rows.lazy().with_columns(pl.Series("hint", hints, pl.String))
    return told.with_columns(_shown("found"), given=_shown("wanted"))


def _shown(column: str) -> pl.Expr:
    text = pl.col(column)
    return pl.when(text.str.len_chars() > 60).then(text.str.head(59) + "…").otherwise(text)


def _hint(span: _Span) -> str:
    at = _nearest(span)
    if at is None:
        return f"{_COPY}; this text does not occur there"
    return f"did you mean {at}#{at + len(span.wanted)}#?"
