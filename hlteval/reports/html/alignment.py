"""The alignment of a report: its cells, outcomes and texts around places, each text once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import polars as pl

from hlteval.findings.counts import fill
from hlteval.reports.html.page import TABLES, Section, as_json, field_of, packed
from hlteval.results.scores import Scores
from hlteval.scoring.evidence import Evidence
from hlteval.tasks import load
from hlteval.tasks.task import ERRORS, AlignmentInfo, CellInfo, OutcomeInfo, PlaceInfo

#: Who marks a part of a text; 3 where both do.
REFERENCE, SYSTEM = 1, 2
#: Half-open offsets in code points.
Span = tuple[int, int]
#: Parts of a text in turn with who marks them, 0 for nobody.
Parts = tuple[str | int, ...]
#: Characters of context on either side.
_AROUND = 60
#: Characters of a part; of longer ones the middle is left out.
_LONGEST = 400
#: How far a context looks for the beginning or end of a word.
_WORD = 15
_SPACE = re.compile(r"\s")


@dataclass
class Contexts:
    """The contexts of rows, each written once.

    Attributes:
        values: the contexts; a context is one text, or two where those of both sides differ.
    """

    values: list[tuple[Parts, ...]] = field(default_factory=list)
    _numbers: dict[tuple[Parts, ...], int] = field(default_factory=dict, repr=False)

    def add(self, *texts: Parts) -> int | None:
        """The number of a context; None if there is no text.

        Examples:
            >>> contexts = Contexts()
            >>> contexts.add(("Osh", 3)), contexts.add(("Osh", 3)), contexts.add(())
            (0, 0, None)
        """
        context = tuple(parts for parts in texts if parts)
        if not context:
            return None
        number = self._numbers.setdefault(context, len(self.values))
        if number == len(self.values):
            self.values.append(context)
        return number


def plain(text: str) -> str:
    r"""A text whose line breaks and tabs are spaces, at the same offsets.

    Examples:
        >>> plain("Osh\n\tmet")
        'Osh  met'
    """
    return _SPACE.sub(" ", text)


def marked(text: str, reference: Iterable[Span] = (), system: Iterable[Span] = ()) -> Parts:
    """The surroundings of places in a text; empty if no place is inside the text.

    Args:
        text: of a document, as `plain` gives it.
        reference: places of the reference.
        system: places of the system.

    Examples:
        >>> marked("In Osh, the UN met.", [(12, 14)], [(8, 14)])
        ('In Osh, ', 0, 'the ', 2, 'UN', 3, ' met.', 0)
    """
    sides = ((REFERENCE, reference), (SYSTEM, system))
    found = [
        (max(start, 0), min(end, len(text)), side) for side, spans in sides for start, end in spans
    ]
    spans = sorted(span for span in found if span[0] < span[1])
    parts: list[str | int] = []
    last = 0
    for begin, end in _windows(text, spans):
        if begin > last or (begin and not parts):
            parts += ["… " if not parts else " … ", 0]
        parts += _parts(text, begin, end, spans)
        last = end
    if parts and last < len(text):
        parts += [" …", 0]
    return _joined(parts)


def beginning(text: str) -> Parts:
    """The first characters of a text.

    Examples:
        >>> beginning("Osh. Naryn.")
        ('Osh. Naryn.', 0)
    """
    start = text[: 3 * _AROUND]
    return (start + (" …" if len(text) > 3 * _AROUND else ""), 0) if start.strip() else ()


def _windows(text: str, spans: Sequence[tuple[int, int, int]]) -> Iterator[Span]:
    """Windows of a text, without overlaps, from the beginning to the end of words."""
    begin, end = -1, -1
    for start, stop, _ in spans:
        if begin >= 0 and start - 2 * _AROUND > end:
            yield _at_words(text, begin, end)
            begin = -1
        begin, end = (start, stop) if begin < 0 else (begin, max(end, stop))
    if begin >= 0:
        yield _at_words(text, begin, end)


def _at_words(text: str, start: int, end: int) -> Span:
    begin, stop = max(start - _AROUND, 0), min(end + _AROUND, len(text))
    if begin:
        space = text.find(" ", begin, min(begin + _WORD, start))
        begin = space + 1 if space >= 0 else begin
    if stop < len(text):
        space = text.rfind(" ", max(stop - _WORD, end), stop)
        stop = space if space >= 0 else stop
    return begin, stop


def _parts(
    text: str, begin: int, end: int, spans: Sequence[tuple[int, int, int]]
) -> Iterator[str | int]:
    """The parts of a window, cut where who marks them changes."""
    inside = [span for span in spans if span[0] < end and span[1] > begin]
    cuts = sorted({begin, end, *(at for start, stop, _ in inside for at in (start, stop))})
    for start, stop in pairwise(cuts):
        sides = {side for first, last, side in inside if first <= start and stop <= last}
        yield _short(text[start:stop])
        yield sum(sides)


def _short(part: str) -> str:
    half = _LONGEST // 2
    return part if len(part) <= _LONGEST else f"{part[:half]} … {part[-half:]}"


def _joined(parts: Sequence[str | int]) -> Parts:
    """Parts of which those that follow each other and have the same marks are one."""
    whole: list[str | int] = []
    for text, side in zip(parts[::2], parts[1::2], strict=True):
        if whole and whole[-1] == side:
            whole[-2] = f"{whole[-2]}{text}"
        else:
            whole += [text, side]
    return tuple(whole)


SIDES = ("reference", "system")
_PLACE = CellInfo("place", "_reference_place", "_system_place")


@dataclass(frozen=True)
class Cell:
    """Return the cells of both sides, of all rows.

    Attributes:
        title: what it is.
        kind: as `CellInfo.kind`.
        reference: the values of the reference; None if it has no such thing.
        system: the values of the system.
        differs: whether they differ, of each row.
    """

    title: str
    kind: str
    reference: pl.Series | None
    system: pl.Series | None
    differs: pl.Series

    @property
    def empty(self) -> bool:
        """Whether neither side has a value."""
        sides = (self.reference, self.system)
        return all(side is None or side.null_count() == len(side) for side in sides)


class Items:
    """Return the parts of the items of both sides."""

    def __init__(self, marks: pl.DataFrame) -> None:
        self._lines: dict[tuple[str, str, str], list[str]] = {}
        self._spans: dict[tuple[str, str, str], list[Span]] = {}
        for document, side, item, role, text, start, end in marks.iter_rows():
            key = (document, side, item)
            self._lines.setdefault(key, []).append(f"{role}: {text}")
            if start is not None and end is not None:
                self._spans.setdefault(key, []).append((start, end))

    def lines(self, document: str, side: str, item: str) -> list[str] | None:
        """Its arguments, a line each."""
        return self._lines.get((document, side, item))

    def spans(self, document: str, side: str, item: str) -> list[Span]:
        """The places of its arguments."""
        return self._spans.get((document, side, item), [])


def cells(rows: pl.DataFrame, info: AlignmentInfo, items: Items) -> Iterator[Cell]:
    """Return the cells of both sides; a side without a partner has all of them."""
    kinds = {outcome.name: outcome.kind for outcome in info.outcomes}
    kind = rows["outcome"].replace_strict(kinds, default="unscored", return_dtype=pl.String)
    known = {"reference": kind != "extra", "system": kind != "missing"}
    places = (_PLACE,) if info.places and info.places.shown else ()
    for cell in (*info.cells, *places):
        names = zip(SIDES, (cell.reference, cell.system), strict=True)
        ours, theirs = (
            rows[name].zip_with(known[side], _nulls(rows[name])) if name else None
            for side, name in names
        )
        differs = _differs(cell, rows, (ours, theirs))
        yield Cell(cell.title, cell.kind, ours, theirs, differs)
    if info.items:
        yield _arguments(rows, info, items)


def _nulls(values: pl.Series) -> pl.Series:
    return pl.Series(values.name, [None], dtype=values.dtype).new_from_index(0, len(values))


def _differs(
    cell: CellInfo, rows: pl.DataFrame, sides: tuple[pl.Series | None, pl.Series | None]
) -> pl.Series:
    """Whether a cell differs, in rows that both sides have."""
    ours, theirs = sides
    if cell.kind in ("name", "words") or ours is None or theirs is None:
        return pl.Series([False]).new_from_index(0, rows.height)
    both = ours.is_not_null() & theirs.is_not_null()
    if cell.differs:
        return both & rows[cell.differs].fill_null(value=False)
    return both & ours.ne_missing(theirs)


def with_places(rows: pl.DataFrame, info: AlignmentInfo) -> pl.DataFrame:
    """Rows with the places of both sides as people read them."""
    if info.places is None:
        return rows
    return rows.with_columns(
        _places(rows, info.places.reference, info.places).alias(_PLACE.reference),
        _places(rows, info.places.system, info.places).alias(_PLACE.system),
    )


def _places(rows: pl.DataFrame, columns: tuple[str, str], info: PlaceInfo) -> pl.Series:
    """Places as people read them: offsets in text, minutes and seconds in audio and video."""
    genres = rows[info.genre] if info.genre else pl.Series(["text"]).new_from_index(0, rows.height)
    shown = [
        None if start is None else _range(start, end, timed=genre in ("audio", "video"))
        for genre, start, end in zip(genres, *(rows[name] for name in columns), strict=True)
    ]
    return pl.Series(shown, dtype=pl.String)


def _range(start: float, end: float | None, *, timed: bool) -> str:
    """A place as people read it.

    Examples:
        >>> _range(61.5, 75.25, timed=True), _range(3, 5, timed=False)
        ('1:01.5-1:15.25', '3-5')
    """
    ends = [start] if end is None else [start, end]
    return "-".join(_time(at) if timed else _plain(at) for at in ends)


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds, 3), 60)
    return f"{int(minutes)}:{'0' if rest < 10 else ''}{_plain(rest)}"


def _plain(number: float) -> str:
    """A number with up to three decimals."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def _arguments(rows: pl.DataFrame, info: AlignmentInfo, items: Items) -> Cell:
    """The arguments of the items of both sides, a line each."""
    sides = []
    for side, name in zip(SIDES, info.items or (), strict=True):
        named = zip(rows[info.document], rows[name], strict=True)
        lines = [items.lines(document, side, item) if item else None for document, item in named]
        sides.append(pl.Series(side, lines, dtype=pl.List(pl.String)))
    nothing = pl.Series([False]).new_from_index(0, rows.height)
    return Cell("arguments", "value", sides[0], sides[1], nothing)


#: Rows of a report; of more, errors are kept first.
MOST = 100_000
#: Contexts that a browser decodes together, when it shows one of them.
CHUNK = 500


@dataclass(frozen=True)
class Alignment(Section):
    """The rows of an alignment.

    Attributes:
        rows: `outcome`, `document`, `label`, and what they are filtered by and say besides.
        outcomes: what can become of a row.
        label: what the type of a row is called; empty if rows have none.
        cells: what both sides have.
        facets: what else rows are filtered by: column, title, and whether one value is shown.
        details: the columns about the pair, and their titles.
        context: the number of the context of each row.
        contexts: the contexts.
        left_out: rows that the page does not have.
    """

    rows: pl.DataFrame = field(default_factory=pl.DataFrame)
    outcomes: Sequence[OutcomeInfo] = ()
    label: str = ""
    cells: Sequence[Cell] = ()
    facets: Sequence[tuple[str, str, bool]] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    context: Sequence[int | None] = ()
    contexts: Sequence[tuple[Parts, ...]] = ()
    left_out: int = 0

    kind: ClassVar[str] = "alignment"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, "assets/alignment.js")

    @property
    def errors(self) -> int:
        """How many rows are errors."""
        wrong = [outcome.name for outcome in self.outcomes if outcome.kind in ERRORS]
        return int(self.rows["outcome"].is_in(wrong).sum())

    def data(self) -> Any:
        """The rows by column, each context once."""
        rows = self.rows
        return {
            "title": self.title,
            "rows": rows.height,
            "outcomes": [_outcome(outcome) for outcome in self.outcomes],
            "outcome": _column(rows["outcome"], "outcome"),
            "document": _column(rows["document"], "document"),
            "label": _column(rows["label"], self.label) if self.label else None,
            "facets": [
                {**_column(rows[name], title), "single": single}
                for name, title, single in self.facets
            ],
            "cells": [_cell(cell) for cell in self.cells],
            "details": [_column(rows[name], title) for name, title in self.details.items()],
            "contexts": [
                as_json(self.contexts[at : at + CHUNK])
                for at in range(0, len(self.contexts), CHUNK)
            ],
            "chunk": CHUNK,
            "context": self.context,
        }


def alignment(scores: Scores) -> Alignment | None:
    """The section of an alignment, as the task declares that people read it.

    Returns:
        None if the scores have no alignment.

    Examples:
        >>> import hlteval
        >>> row = {"document": "d1", "mention": "m1", "label": "PER", "start": 0, "end": 4}
        >>> mentions = pl.DataFrame([row | {"entity": "NIL1", "mention_type": "NAM"}])
        >>> scores = hlteval.score("lorehlt-edl", mentions, mentions, lenient=True)
        >>> section = alignment(scores)
        >>> section.rows["outcome"].to_list(), section.errors
        (['correct'], 0)
    """
    info = load(scores.task).alignment_info
    if info is None or info.table not in scores.tables or scores.tables[info.table].is_empty():
        return None
    every = _readable(info, scores.tables)
    rows = with_places(_kept(every, info), info)
    evidence = scores.evidence or Evidence()
    items = Items(evidence.marks)
    contexts = Contexts()
    numbers = [contexts.add(*texts) for texts in _texts(rows, info, evidence, items)]
    facets = [each for each in info.facets if rows[each.column].n_unique() > 1]
    return Alignment(
        title="Alignment",
        intro=_intro(rows.height, every.height),
        rows=rows.with_columns(
            document=info.document, label=pl.coalesce(info.label) if info.label else pl.lit("")
        ),
        outcomes=[*info.outcomes, *_undeclared(rows, info)],
        label=info.label_title if info.label and _several(rows, info.label) else "",
        cells=[cell for cell in cells(rows, info, items) if not cell.empty],
        facets=[(each.column, each.title, each.single) for each in facets],
        details={
            name: title
            for name, title in _details(info, scores.tables).items()
            if rows[name].null_count() < rows.height
        },
        context=numbers,
        contexts=contexts.values,
        left_out=every.height - rows.height,
    )


def _readable(info: AlignmentInfo, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The rows that people read, with what another table says of them."""
    rows = info.rows(tables[info.table]) if info.rows else tables[info.table]
    if info.joined is None or info.joined[0] not in tables:
        return rows
    other = tables[info.joined[0]].unique(info.joined[1], keep="first", maintain_order=True)
    return rows.join(other, on=info.joined[1], how="left", maintain_order="left")


def _details(info: AlignmentInfo, tables: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    if info.joined is None or info.joined[0] not in tables:
        return dict(info.details)
    name, key = info.joined
    more = (each for each in tables[name].columns if each not in key)
    return {**info.details, **{each: each for each in more}}


def _kept(rows: pl.DataFrame, info: AlignmentInfo) -> pl.DataFrame:
    """At most `MOST` rows in their order, errors before others."""
    if rows.height <= MOST:
        return rows
    wrong = [outcome.name for outcome in info.outcomes if outcome.kind in ERRORS]
    numbered = rows.with_row_index("_row").sort(
        ~pl.col("outcome").is_in(wrong), maintain_order=True
    )
    return numbered.head(MOST).sort("_row").drop("_row")


def _intro(shown: int, every: int) -> str:
    text = "Each row has the reference above the system; what differs is marked."
    if shown == every:
        return text
    left = "{left:,} of {every:,} rows {left|is|are} left out, errors last."
    return f"{text} {fill(left, {'left': every - shown, 'every': every})}"


def _undeclared(rows: pl.DataFrame, info: AlignmentInfo) -> Iterator[OutcomeInfo]:
    known = {outcome.name for outcome in info.outcomes}
    for name in rows["outcome"].drop_nulls().unique().sort():
        if name not in known:
            yield OutcomeInfo(name, "unscored")


def _several(rows: pl.DataFrame, columns: Sequence[str]) -> bool:
    return bool(rows.select(pl.coalesce(columns).n_unique() > 1).item())


def _texts(
    rows: pl.DataFrame, info: AlignmentInfo, evidence: Evidence, items: Items
) -> Iterator[tuple[Parts, ...]]:
    """The context of each row: one text, or one of each side where these differ."""
    texts = {
        name: (plain(ours), None if theirs is None else plain(theirs))
        for name, ours, theirs in evidence.texts.iter_rows()
    }
    spans = [_spans(rows, info, side, items) for side in SIDES]
    for document, ours, theirs in zip(rows[info.document], *spans, strict=True):
        reference, system = texts.get(document, (None, None))
        if reference is None:
            yield ()
        elif system is not None:
            yield marked(reference, ours), marked(system, (), theirs)
        elif info.shows_documents:
            yield (beginning(reference),)
        else:
            yield (marked(reference, ours, theirs),)


def _spans(
    rows: pl.DataFrame, info: AlignmentInfo, side: str, items: Items
) -> Iterator[list[Span]]:
    """The places of a side in the text, of each row."""
    if info.items:
        name = info.items[SIDES.index(side)]
        for document, item in zip(rows[info.document], rows[name], strict=True):
            yield items.spans(document, side, item) if item else []
    elif info.places:
        yield from _offsets(rows, getattr(info.places, side), info.places)
    else:
        yield from ([] for _ in range(rows.height))


def _offsets(rows: pl.DataFrame, columns: tuple[str, str], info: PlaceInfo) -> Iterator[list[Span]]:
    """The places of a side in texts; none in audio and video."""
    genres = rows[info.genre] if info.genre else pl.Series(["text"]).new_from_index(0, rows.height)
    for genre, start, end in zip(genres, *(rows[name] for name in columns), strict=True):
        if start is None or genre in ("audio", "video"):
            yield []
        else:
            last = start + 1 if end is None else end + info.inclusive
            yield [(int(start), int(last))]


def _outcome(outcome: OutcomeInfo) -> dict[str, str]:
    return {"name": outcome.name, "title": outcome.title or outcome.name, "kind": outcome.kind}


def _column(values: pl.Series, title: str) -> dict[str, Any]:
    """A column by itself; lists are joined."""
    if isinstance(values.dtype, pl.List):
        values = values.cast(pl.List(pl.String)).list.join(", ")
    field = field_of(values.name, values.dtype)._replace(title=title)
    return packed(values.to_frame(), [field])[0]


def _cell(cell: Cell) -> dict[str, Any]:
    sides = {
        name: None if side is None else packed(side.alias(name).to_frame())[0]
        for name, side in zip(SIDES, (cell.reference, cell.system), strict=True)
    }
    differs = cell.differs.arg_true().to_list()
    return {"title": cell.title, "kind": cell.kind, "differs": differs, **sides}
