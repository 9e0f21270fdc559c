"""The cells of an alignment: what both sides have, and whether it differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from hlteval.reports.html.contexts import Span
from hlteval.tasks.alignment import AlignmentInfo, CellInfo, PlaceInfo

SIDES = ("reference", "system")
_PLACE = CellInfo("place", "_reference_place", "_system_place")


@dataclass(frozen=True)
class Cell:
    """What both sides have, of all rows.

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
    """What the items of both sides consist of."""

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
    """What both sides have; a side without a partner has all of it."""
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
