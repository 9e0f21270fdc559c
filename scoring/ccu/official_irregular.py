"""Levels with gaps or overlaps, which the public scorer does not refuse but takes in its own way.

Its validator refuses them; its scorer computes something all the same, and `official` the same.

Conventions:
    Pieces have `document`, `start`, `end`, `level` and `text`, sorted; milliseconds or characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from hlteval.scoring.ccu.level_spans import PIECE

_Piece = tuple[int, int, float]


def as_windows(pieces: pl.DataFrame, window: int) -> tuple[pl.DataFrame, pl.Series]:
    """Pieces of which documents of audio or video with gaps or overlaps have one per window.

    Args:
        pieces: of the system.
        window: its length.

    Returns:
        The pieces, and the documents at which the scorer crashes.
    """
    same = pl.col("document") == pl.col("document").shift(1)
    irregular = same & ~pl.col("text") & (pl.col("start") != pl.col("end").shift(1))
    found = pieces.filter(irregular)["document"].unique().sort()
    mine = pl.col("document").is_in(found.implode())
    rows, crashed = [], []
    for (document,), own in pieces.filter(mine).group_by("document", maintain_order=True):
        try:
            each = _window_levels(own.select("start", "end", "level").rows(), window)
            rows += [(document, *row) for row in each]
        except IndexError:
            crashed.append(document)
    schema = {name: pieces.schema[name] for name in (*PIECE, "level")}
    made = pl.DataFrame(rows, schema=schema, orient="row").with_columns(text=pl.lit(value=False))
    every = pl.concat([pieces.filter(~mine), made.select(pieces.columns)])
    return every.sort("document", "start"), pl.Series(crashed, dtype=pl.Int64)


def _window_levels(pieces: Sequence[_Piece], window: int) -> Iterator[_Piece]:
    """The level of each window: what its pieces add, by the length of the window.

    A piece adds if it is there when the window begins. One that ends before the window also adds
    what follows it: the pieces that end before the window in full, and the next one from its start
    to the end of the window, be that negative.

    Raises:
        IndexError: if no piece follows.
    """
    begin, last = pieces[0][0], max(end for _, end, _ in pieces)
    there: list[int] = []
    number = 0
    for start in range(begin, last, window):
        end = min(start + window, last)
        while number < len(pieces) and pieces[number][0] <= start:
            there.append(number)
            number += 1
        there = [piece for piece in there if pieces[piece][1] > start]
        total = sum(_added(pieces, piece, start, end) for piece in there)
        yield start, end, total / (end - start)


def _added(pieces: Sequence[_Piece], number: int, start: int, end: int) -> float:
    """What a piece adds to a window, with those that follow it there."""
    _, stop, level = pieces[number]
    if end <= stop:
        return level * (end - start)
    total = level * (stop - start)
    number += 1
    while end > pieces[number][1]:
        total += pieces[number][2] * (pieces[number][1] - pieces[number][0])
        number += 1
    return total + pieces[number][2] * (end - pieces[number][0])


def layers(pieces: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pieces of text without those of their characters that the piece before has too; and these.

    A character in two pieces of different levels counts twice, as one that two neighbours share.

    Examples:
        >>> rows = {"document": [0, 0], "start": [0, 10], "end": [11, 36], "level": [1.0, 2.0]}
        >>> [each.rows() for each in layers(pl.DataFrame({**rows, "text": [True, True]}))]
        [[(0, 0, 11, 1.0, True), (0, 11, 36, 2.0, True)], [(0, 10, 11, 2.0, True)]]
    """
    same = (pl.col("document") == pl.col("document").shift(1)) & pl.col("text")
    over = same & (pl.col("end").shift(1) > pl.col("start"))
    marked = pieces.with_columns(
        _over=over.fill_null(value=False),
        _before=pl.col("end").shift(1),
        _other=(pl.col("level") != pl.col("level").shift(1)).fill_null(value=True),
    )
    start = pl.when("_over").then("_before").otherwise("start")
    first = marked.with_columns(start=start).filter(pl.col("end") > pl.col("start"))
    second = marked.filter("_over", "_other").with_columns(end=pl.min_horizontal("end", "_before"))
    return first.select(pieces.columns), second.select(pieces.columns)
