"""The alignment of a report, of one system or several: cells, outcomes and texts around places."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import ClassVar, Literal

import msgspec
import polars as pl
from msgspec.structs import replace

from hlteval.findings.counts import fill
from hlteval.findings.sequence import lists_by_key
from hlteval.reports.html.page import (
    MOST_ROWS,
    TABLES,
    DataTable,
    PlainTable,
    Section,
    as_json,
    field_of,
    pack,
    plain_table,
)
from hlteval.reports.tables import fields_of
from hlteval.results.scores import Scores
from hlteval.scoring.errors import ErrorAnalysis
from hlteval.scoring.metric import Evidence
from hlteval.tasks import load
from hlteval.tasks.task import (
    ERRORS,
    AlignmentInfo,
    CellInfo,
    FacetInfo,
    Kind,
    OutcomeInfo,
    PlaceInfo,
)

#: Who marks a part of a text; 3 where both do.
REFERENCE, SYSTEM = 1, 2
SIDES = ("reference", "system")
#: Half-open offsets in code points.
Span = tuple[int, int]
#: Parts of a text in turn with who marks them, 0 for nobody.
Parts = tuple[str | int, ...]
#: The arguments of the items by document, side and item: a line each, and the place if it has one.
Items = Mapping[tuple[str, str, str], Sequence[tuple[str, Span | None]]]
#: Characters of context on either side.
_AROUND = 60
#: Characters of a part; of longer ones the middle is left out.
_LONGEST = 400
#: How far a context looks for the beginning or end of a word.
_WORD = 15
_SPACE = re.compile(r"\s")


def plain(text: str) -> str:
    r"""A text whose line breaks and tabs are spaces, at the same offsets.

    Examples:
        >>> plain("Osh\n\tmet")
        'Osh  met'
    """
    return _SPACE.sub(" ", text)


def mark(text: str, reference: Iterable[Span] = (), system: Iterable[Span] = ()) -> Parts:
    """The surroundings of places in a text; empty if no place is inside the text.

    Args:
        text: of a document, as `plain` gives it.
        reference: places of the reference.
        system: places of the system.

    Examples:
        >>> mark("In Osh, the UN met.", [(12, 14)], [(8, 14)])
        ('In Osh, ', 0, 'the ', 2, 'UN', 3, ' met.', 0)
    """
    sides = ((REFERENCE, reference), (SYSTEM, system))
    inside = (
        (max(start, 0), min(end, len(text)), side) for side, spans in sides for start, end in spans
    )
    spans = sorted(span for span in inside if span[0] < span[1])
    parts: list[tuple[str, int]] = []
    last = 0
    for begin, end in _windows(text, spans):
        if begin > last or (begin and not parts):
            parts.append((" … " if parts else "… ", 0))
        near = [span for span in spans if span[0] < end and span[1] > begin]
        cuts = sorted({begin, end, *(at for span in near for at in span[:2])})
        for start, stop in pairwise(cuts):
            marks = {side for first, after, side in near if first <= start and stop <= after}
            part, half = text[start:stop], _LONGEST // 2
            whole = len(part) <= _LONGEST
            parts.append((part if whole else f"{part[:half]} … {part[-half:]}", sum(marks)))
        last = end
    if parts and last < len(text):
        parts.append((" …", 0))
    joined: list[str | int] = []
    for side, same in groupby(parts, itemgetter(1)):
        joined += ["".join(part for part, _ in same), side]
    return tuple(joined)


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
    if begin and (space := text.find(" ", begin, min(begin + _WORD, start))) >= 0:
        begin = space + 1
    if stop < len(text) and (space := text.rfind(" ", max(stop - _WORD, end), stop)) >= 0:
        stop = space
    return begin, stop


#: The column with what differs in a row, and its value where that is the place.
REASON, BOUNDARY = "_reason", "boundary"
_BY_REASON = FacetInfo(REASON, "differs in")
_PLACE = CellInfo("place", "_reference_place", "_system_place")


class Cell(msgspec.Struct, frozen=True):
    """The cells of both sides, of all rows.

    Attributes:
        title: what it is.
        kind: as `CellInfo.kind`.
        sides: the values by side; None for one that has no such thing.
        differs: whether they differ, of each row.
        reason: what is wrong where they differ; empty if something else says it.
    """

    title: str
    kind: str
    sides: Mapping[str, pl.Series | None]
    differs: pl.Series
    reason: str = ""


def _cells(rows: pl.DataFrame, info: AlignmentInfo, items: Items) -> Iterator[Cell]:
    """The cells of both sides; a side without a partner has all of them."""
    kinds = {outcome.name: outcome.kind for outcome in info.outcomes}
    kind = pl.col("outcome").replace_strict(kinds, default="unscored", return_dtype=pl.String)
    places = (_PLACE,) if info.places and info.places.shown else ()
    for cell in (*info.cells, *places):
        names = zip((cell.reference, cell.system), ("extra", "missing"), strict=True)
        ours, theirs = (pl.when(kind != other).then(name or None) for name, other in names)
        both = ours.is_not_null() & theirs.is_not_null()
        differs = both & (
            pl.col(cell.differs).fill_null(value=False) if cell.differs else ours.ne_missing(theirs)
        )
        if cell.kind in ("name", "words") or not (cell.reference and cell.system):
            differs = pl.lit(value=False)
        frame = rows.select(reference=ours, system=theirs, differs=differs)
        values = {side: frame[side] if getattr(cell, side) else None for side in SIDES}
        reason = cell.title
        if cell.reference in info.label:
            reason = info.label_title
        elif places:
            text = cell.reference.endswith("_text")  # differs where the place does
            reason = BOUNDARY if cell is _PLACE else "" if text else reason
        yield Cell(cell.title, cell.kind, values, frame["differs"], reason)
    if info.items:
        sides = {}
        for side, name in zip(SIDES, info.items, strict=True):
            keys = zip(rows["document"], [side] * rows.height, rows[name], strict=True)
            lines = ([line for line, _ in items.get(key, ())] or None for key in keys)
            sides[side] = pl.Series(list(lines), dtype=pl.List(pl.String))
        nothing = pl.Series([False]).new_from_index(0, rows.height)
        yield Cell("arguments", "value", sides, nothing)


def _reasons(cells: Sequence[Cell], rows: pl.DataFrame, info: AlignmentInfo) -> pl.Series:
    """Reasons of the rows that are wrong, where the outcome does not say them; null elsewhere."""
    wrong = [outcome.name for outcome in info.outcomes if outcome.kind == "different"]
    named = {cell.reason: cell.differs for cell in cells if cell.reason}
    if len(wrong) != 1 or not named:
        return pl.Series([None], dtype=pl.String).new_from_index(0, rows.height)
    parts = [pl.when(differs).then(pl.lit(reason)) for reason, differs in named.items()]
    joined = pl.concat_str(parts, separator=", ", ignore_nulls=True)
    is_wrong = (pl.col("outcome") == wrong[0]) & (joined != "")
    reasons = rows.select(pl.when(is_wrong).then(joined).alias(REASON))[REASON]
    known = set(reasons.drop_nulls())
    informs = len(known) > 1 or known & {BOUNDARY, info.label_title} - {*wrong[0].split()}
    return reasons if informs else reasons.clear(rows.height)


def _places(
    rows: pl.DataFrame, columns: tuple[str, str], info: PlaceInfo
) -> Iterator[tuple[float, float | None, bool] | None]:
    """Start and end of each place of a side, and whether they are times, as in audio and video."""
    genres = rows[info.genre] if info.genre else ["text"] * rows.height
    for genre, start, end in zip(genres, *(rows[name] for name in columns), strict=True):
        yield None if start is None else (start, end, genre in ("audio", "video"))


def _with_places(rows: pl.DataFrame, info: PlaceInfo) -> pl.DataFrame:
    """Rows with the places of both sides as people read them."""
    sides = ((_PLACE.reference, info.reference), (_PLACE.system, info.system))
    if not info.genre and all(rows[name].dtype.is_integer() for _, own in sides for name in own):
        return rows.with_columns(
            pl.when(pl.col(own[0]).is_not_null())
            .then(pl.concat_str(*own, separator="-", ignore_nulls=True))
            .alias(name)
            for name, own in sides
        )
    texts = {
        name: [place and _range(*place) for place in _places(rows, columns, info)]
        for name, columns in sides
    }
    return rows.with_columns(pl.Series(name, text, pl.String) for name, text in texts.items())


def _range(start: float, end: float | None, timed: bool) -> str:
    """A place as people read it: offsets in text, or minutes and seconds, with three decimals.

    Examples:
        >>> _range(61.5, 75.25, timed=True), _range(3, 5, timed=False)
        ('1:01.5-1:15.25', '3-5')
    """
    texts = []
    for place in [start] if end is None else [start, end]:
        minutes, rest = divmod(round(place, 3), 60) if timed else (0, place)
        number = f"{rest:.3f}".rstrip("0").rstrip(".")
        texts.append(f"{int(minutes)}:{'0' if rest < 10 else ''}{number}" if timed else number)
    return "-".join(texts)


#: Rows of a report; of more, errors are kept first.
MOST = 100_000
#: Contexts that a browser decodes together, when it shows one of them.
CHUNK = 500


class Alignment(Section, frozen=True):
    """The rows of an alignment.

    Attributes:
        rows: `outcome`, `document`, `label`, and what they are filtered by and say besides.
        outcomes: what can become of a row.
        label: what the type of a row is called; empty if rows have none.
        cells: what both sides have.
        facets: what else rows are filtered by: column, title, and whether one value is shown.
        details: the columns about the pair, and their titles.
        context: the number of the context of each row.
        contexts: the contexts; a context is one text, or two where those of both sides differ.
        left_out: rows that the page does not have.
        counts: how many rows there are of each `outcome`, `label` and reason, and of each value of
            facets of which one is shown; with those that the page does not have.
    """

    rows: pl.DataFrame = msgspec.field(default_factory=pl.DataFrame)
    outcomes: Sequence[OutcomeInfo] = ()
    label: str = ""
    cells: Sequence[Cell] = ()
    facets: Sequence[FacetInfo] = ()
    details: Mapping[str, str] = {}
    context: Sequence[int | None] = ()
    contexts: Sequence[tuple[Parts, ...]] = ()
    left_out: int = 0
    counts: pl.DataFrame = msgspec.field(default_factory=pl.DataFrame)

    kind: ClassVar[str] = "alignment"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, "assets/alignment.js")

    @property
    def errors(self) -> int:
        """How many rows are errors."""
        wrong = [outcome.name for outcome in self.outcomes if outcome.kind in ERRORS]
        return int(self.rows["outcome"].is_in(wrong).sum())

    def data(self) -> dict[str, object]:
        """The rows by column, each context once."""
        starts = range(0, len(self.contexts), CHUNK)
        return {
            "title": self.title,
            "rows": self.rows.height,
            "outcomes": [
                {"name": each.name, "title": each.title or each.name, "kind": each.kind}
                for each in self.outcomes
            ],
            "outcome": self._column("outcome", "outcome"),
            "document": self._column("document", "document"),
            "label": self._column("label", self.label) if self.label else None,
            "facets": [
                {**self._column(each.column, each.title), "single": each.single}
                for each in self.facets
            ],
            "cells": [
                {
                    "title": cell.title,
                    "kind": cell.kind,
                    "differs": self.differences_of(number),
                    **{
                        name: None if side is None else pack(side.alias(name).to_frame())[0]
                        for name, side in cell.sides.items()
                    },
                }
                for number, cell in enumerate(self.cells)
            ],
            "details": [self._column(name, title) for name, title in self.details.items()],
            "contexts": [as_json(self.contexts[start : start + CHUNK]) for start in starts],
            "chunk": CHUNK,
            "context": self.context,
        }

    def differences_of(self, cell: int) -> object:
        """The numbers of the rows in which both sides of a cell differ."""
        return self.cells[cell].differs.arg_true().to_list()

    @property
    def sides(self) -> Mapping[str, str]:
        """The names of the sides of the cells, and what people call them."""
        return dict(zip(SIDES, SIDES, strict=True))

    def plain_tables(self) -> Iterator[PlainTable]:
        """The first rows, errors before others, with what both sides have."""
        wrong = [outcome.name for outcome in self.outcomes if outcome.kind in ERRORS]
        columns = [self.rows["outcome"], self.rows["document"]]
        columns += [self.rows["label"].alias(self.label)] if self.label else []
        for cell in self.cells:
            values = ((title, cell.sides[name]) for name, title in self.sides.items())
            columns += [
                own.alias(f"{cell.title}, {title}") for title, own in values if own is not None
            ]
        rows = pl.DataFrame({f"{at}": values for at, values in enumerate(columns)})
        rows = rows.sort(~pl.col("0").is_in(wrong), maintain_order=True).head(MOST_ROWS)
        fields = [
            field_of(str(at), own.dtype)._replace(title=own.name) for at, own in enumerate(columns)
        ]
        table = plain_table(rows, fields)
        yield replace(table, height=self.rows.height)

    def _column(self, name: str, title: str) -> dict[str, object]:
        """A column by itself; lists are joined."""
        values = self.rows[name]
        if isinstance(values.dtype, pl.List):
            values = values.cast(pl.List(pl.String)).list.join(", ")
        return pack(values.to_frame(), [field_of(name, values.dtype)._replace(title=title)])[0]


def alignment(scores: Scores) -> Alignment | None:
    """The section of an alignment, as the task declares that people read it.

    Of a large table there are at most `MOST` rows in their order, errors before others.

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
    info, tables = load(scores.task).alignment_info, scores.tables
    if info is None or info.table not in tables or tables[info.table].is_empty():
        return None
    rows, details = info.read(tables)
    label = pl.coalesce(info.label) if info.label else pl.lit("")
    every_row = rows = rows.with_columns(label.alias("label"), document="document")
    intro = "Each row has the reference above the system; what differs is marked."
    every = rows.height
    if every > MOST:
        errors = [outcome.name for outcome in info.outcomes if outcome.kind in ERRORS]
        is_right = ~pl.col("outcome").is_in(errors)
        rows = rows.with_row_index("_row").sort(is_right, maintain_order=True)
        rows = rows.head(MOST).sort("_row").drop("_row")
        left = "{left:,} of {every:,} rows {left|is|are} left out, errors last."
        intro += f" {fill(left, {'left': every - MOST, 'every': every})}"
    rows = _with_places(rows, info.places) if info.places else rows
    others = sorted({*rows["outcome"].drop_nulls()} - {each.name for each in info.outcomes})
    evidence = scores.evidence or Evidence()
    items = _read_items(evidence.marks)
    contexts: dict[tuple[Parts, ...], int] = {}
    numbers = []
    for texts in _texts(rows, info, evidence, items):
        context = tuple(parts for parts in texts if parts)
        numbers.append(contexts.setdefault(context, len(contexts)) if context else None)
    cells = list(_cells(rows, info, items))
    rows = rows.with_columns(_reasons(cells, rows, info).alias(REASON))
    facets = [each for each in (*info.facets, _BY_REASON) if rows[each.column].n_unique() > 1]
    seen = rows if rows.height == every else every_row.with_columns(pl.lit(None).alias(REASON))
    keys = ["outcome", "label", REASON, *(each.column for each in facets if each.single)]
    return Alignment(
        title="Alignment",
        intro=intro,
        rows=rows,
        outcomes=[*info.outcomes, *(OutcomeInfo(name, "unscored") for name in others)],
        label=info.label_title if info.label and rows["label"].n_unique() > 1 else "",
        cells=[cell for cell in cells if any(_values_in(side) for side in cell.sides.values())],
        facets=facets,
        details={name: title for name, title in details.items() if _values_in(rows[name])},
        context=numbers,
        contexts=list(contexts),
        left_out=every - rows.height,
        counts=seen.group_by(keys, maintain_order=True).len("count"),
    )


def _read_items(marks: pl.DataFrame) -> Items:
    return lists_by_key(
        ((document, side, item), (f"{role}: {text}", None if None in place else tuple(place)))
        for document, side, item, role, text, *place in marks.iter_rows()
    )


def _values_in(values: pl.Series | None) -> bool:
    return values is not None and values.null_count() < len(values)


def _texts(
    rows: pl.DataFrame, info: AlignmentInfo, evidence: Evidence, items: Items
) -> Iterator[tuple[Parts, ...]]:
    """The context of each row: one text, or one of each side where these differ."""
    texts = {
        name: (plain(ours), None if theirs is None else plain(theirs))
        for name, ours, theirs in evidence.texts.iter_rows()
    }
    spans = [_spans(rows, info, side, items) for side in SIDES]
    for document, ours, theirs in zip(rows["document"], *spans, strict=True):
        reference, system = texts.get(document, (None, None))
        if reference is None:
            yield ()
        elif system is not None:
            yield mark(reference, ours), mark(system, (), theirs)
        elif info.shows_documents:
            start = reference[: 3 * _AROUND]
            more = " …" if len(reference) > 3 * _AROUND else ""
            yield ((f"{start}{more}", 0) if start.strip() else (),)
        else:
            yield (mark(reference, ours, theirs),)


def _spans(
    rows: pl.DataFrame, info: AlignmentInfo, side: str, items: Items
) -> Iterator[list[Span]]:
    """The places of a side in the text, of each row; none in audio and video."""
    if info.items:
        names = rows[info.items[SIDES.index(side)]]
        for document, item in zip(rows["document"], names, strict=True):
            yield [place for _, place in items.get((document, side, item), ()) if place]
    elif info.places:
        for place in _places(rows, getattr(info.places, side), info.places):
            start, end, timed = place or (None, None, True)
            if start is None or timed:
                yield []
            else:
                last = start + 1 if end is None else end + info.places.inclusive
                yield [(int(start), int(last))]
    else:
        yield from ([] for _ in range(rows.height))


# The items of several systems side by side.


#: Items of a page, those on which systems differ first, and systems, the best first.
MOST_ITEMS, MOST_SYSTEMS = 10_000, 5
#: The columns of the numbers of pairs.
_COUNTS = fields_of("errors")
#: The results of which no system is to blame.
_AGREED = ("both right", "all right")
#: The kinds of results in order.
_KINDS: Sequence[Kind] = ("correct", "different", "missing", "extra")


class Errors(Alignment, frozen=True):
    """The items of a reference and of systems, a card each.

    Attributes:
        systems: the sides of the cells beside the reference, and their names.
        became: the outcome of each item in each system; `-` where it has no such item.
        wrong: the rows whose value is not that of the reference, by cell and system.
    """

    systems: Mapping[str, str] = {}
    became: Sequence[pl.Series] = ()
    wrong: Sequence[Mapping[str, Sequence[int]]] = ()

    def data(self) -> dict[str, object]:
        """The rows by column, with the sides of the systems."""
        systems = [
            {"key": key, "title": name, "became": pack(became.alias(name).to_frame())[0]}
            for (key, name), became in zip(self.systems.items(), self.became, strict=True)
        ]
        return {**super().data(), "systems": systems}

    @property
    def sides(self) -> Mapping[str, str]:
        """The names of the sides of the cells, and what people call them."""
        return {SIDES[0]: SIDES[0], **self.systems}

    def differences_of(self, cell: int) -> object:
        """The numbers of the rows in which each system differs from the reference in a cell."""
        return self.wrong[cell]


def error_tables(errors: ErrorAnalysis) -> Iterator[DataTable]:
    """The numbers of items that pairs of systems have right and wrong, by label and by document."""
    what = "Seconds" if errors.items["weight"].dtype.is_float() else "Items of the reference"
    intro = f"{what} that both systems have right, only one of them, or neither; and what is extra."
    if errors.counted:
        values = ", ".join(f"{name} {value}" for name, value in errors.counted.items())
        intro += f" Only items of one {values} are counted, since others repeat them."
    columns, words = list(_COUNTS), dict(zip(("first", "second"), errors.systems, strict=False))
    if len(errors.systems) == len(words):  # the columns name the only pair
        named = (re.sub("first|second", lambda at: words[at[0]], each.title) for each in columns)
        columns = [
            each._replace(title=title)
            for each, title in zip(columns, named, strict=True)
            if each.name not in words
        ]
    if not errors.counts()["unpaired"].sum():
        columns = [each for each in columns if each.name != "unpaired"]
    by: Literal["", "document", "label"]
    for title, by in (("Pairs", ""), ("By label", "label"), ("By document", "document")):
        frame = errors.counts(by)
        if not by or frame[by].n_unique() > 1:
            kept = [each for each in columns if each.name in frame.columns]
            yield DataTable(title, "" if by else intro, frame, kept)


def error_cards(info: AlignmentInfo, errors: ErrorAnalysis) -> Errors:
    """The cards of the items, those on which systems differ first where there are too many.

    Args:
        info: how alignments of the task are read.
        errors: what the systems have right and wrong.
    """
    names = errors.systems[:MOST_SYSTEMS]
    known = pl.any_horizontal(pl.col(f"kind {at}").is_not_null() for at in range(len(names)))
    numbers = errors.items.with_row_index("_item").filter(known)["_item"]
    frame = errors.to_frame(*names).with_columns(numbers).rename({"result": "outcome"})
    single = [each.column for each in info.facets if each.single]
    counts = frame.group_by("outcome", "label", *single, maintain_order=True).len("count")
    intro = "Each item has the reference above the systems; what differs from it is marked."
    if len(names) < len(errors.systems):
        intro += f" These are the best {len(names)} of {len(errors.systems)} systems."
    if (every := frame.height) > MOST_ITEMS:
        frame = frame.sort(pl.col("outcome").is_in(_AGREED), "_item")
        frame = frame.head(MOST_ITEMS).sort("_item")
        left = "{left:,} of {every:,} items {left|is|are} left out, first those that are right."
        intro += f" {fill(left, {'left': every - MOST_ITEMS, 'every': every})}"
    keys = {f"system {place}": name for place, name in enumerate(names)}
    titles = {outcome.name: outcome.title or outcome.name for outcome in info.outcomes}
    became = pl.col(f"outcome of {name}" for name in names).replace(titles).fill_null("-")
    frame = frame.with_columns(became)
    cells, wrong = _join_cells(info, errors, keys, frame["_item"])
    contexts: dict[tuple[Parts, ...], int] = {}
    surroundings = [
        contexts.setdefault(context, len(contexts)) if context else None
        for context in _surroundings(info, errors, names, frame)
    ]
    outcomes = []
    for result in counts["outcome"].unique().sort():
        kind: Kind = "correct" if result in _AGREED else "different"
        kind = "missing" if result.endswith(" wrong") else kind
        outcomes.append(OutcomeInfo(result, "extra" if "extra" in result else kind))
    own = [FacetInfo(f"outcome of {name}", f"in {name}") for name in names]
    return Errors(
        title="Items",
        intro=intro,
        rows=frame,
        outcomes=sorted(outcomes, key=lambda each: _KINDS.index(each.kind)),
        label=info.label_title if frame["label"].n_unique() > 1 else "",
        cells=cells,
        facets=[*own, *(each for each in info.facets if frame[each.column].n_unique() > 1)],
        context=surroundings,
        contexts=list(contexts),
        left_out=every - frame.height,
        counts=counts.with_columns(pl.lit(None, pl.String).alias(REASON)),
        systems=keys,
        became=[frame[facet.column] for facet in own],
        wrong=wrong,
    )


def _join_cells(
    info: AlignmentInfo, errors: ErrorAnalysis, keys: Mapping[str, str], kept: pl.Series
) -> tuple[list[Cell], list[dict[str, list[int]]]]:
    """The cells of all sides, and the rows in which those of each system differ, by cell.

    Args:
        info: how alignments are read.
        errors: with the alignment of each system.
        keys: the names of the systems by those of their sides.
        kept: the numbers of the items on the page.
    """
    titles: dict[str, str] = {}
    joined: dict[str, dict[str, pl.Series | None]] = {}
    wrong: dict[str, dict[str, list[int]]] = {}
    for key, name in keys.items():
        rows = errors.rows[name]
        rows = _with_places(rows, info.places) if info.places else rows
        numbered = rows.select("_item", _at=pl.int_range(pl.len()))
        at = kept.to_frame().join(numbered, on="_item", how="left", maintain_order="left")["_at"]
        for cell in _cells(rows, info, _read_items(errors.evidence[name].marks)):
            sides = joined.setdefault(cell.title, {})
            titles[cell.title] = cell.kind
            for side, values in zip((SIDES[0], key), cell.sides.values(), strict=True):
                own, known = None if values is None else values.gather(at), sides.get(side)
                both = own is not None and known is not None
                sides[side] = pl.select(pl.coalesce(known, own)).to_series() if both else own
            differs = cell.differs.gather(at).fill_null(value=False)
            wrong.setdefault(cell.title, {})[key] = differs.arg_true().to_list()
    never = pl.Series([False]).new_from_index(0, len(kept))
    cells = [Cell(title, kind, joined[title], never) for title, kind in titles.items()]
    return cells, [wrong[title] for title in titles]


def _surroundings(
    info: AlignmentInfo, errors: ErrorAnalysis, names: Sequence[str], items: pl.DataFrame
) -> Iterator[tuple[Parts, ...]]:
    """The text around each item, with the places of the reference and of the systems."""
    texts: dict[str, str] = {}
    places: dict[int, tuple[set[Span], set[Span]]] = {}
    for name in names:
        evidence, rows = errors.evidence[name], errors.rows[name]
        for document, text, _ in evidence.texts.iter_rows():
            texts.setdefault(document, plain(text))
        marked = _read_items(evidence.marks)
        found = (_spans(rows, info, side, marked) for side in SIDES)
        for item, *sides in zip(rows["_item"], *found, strict=True):
            for known, own in zip(places.setdefault(item, (set(), set())), sides, strict=True):
                known.update(own)
    for item, document in items.select("_item", "document").iter_rows():
        text = texts.get(document)
        parts = () if text is None else mark(text, *map(sorted, places[item]))
        yield (parts,) if parts else ()
