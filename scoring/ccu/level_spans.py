"""Levels over places of a stream: half-open stretches, and what both sides say of each of them.

A level is constant between two breakpoints. Nothing here depends on how many seconds or characters
lie between them.

Conventions:
    Pieces are rows of `document`, `start`, `end` (half-open) and `level`, sorted; those of a
    document do not overlap. The level not-a-number is a no-score region.
"""

from __future__ import annotations

import math

import polars as pl

PIECE = ("document", "start", "end")
NO_SCORE = math.nan
#: The level where a side has nothing at all, not even a no-score region; null in stretches.
ABSENT = math.inf


def following(column: str) -> pl.Expr:
    """What the next piece of the same document has in a column; null for the last one."""
    same = pl.col("document") == pl.col("document").shift(-1)
    return pl.when(same).then(pl.col(column).shift(-1))


def half_open(pieces: pl.DataFrame) -> pl.DataFrame:
    """Pieces as written with their ends after the last character; `text` says which are text.

    Bounds of text are inclusive, or shared by two neighbours (2.2.4 shows both): in a document that
    shares a bound, all are.

    Examples:
        >>> written = {"document": [0, 0, 1, 1], "start": [0, 10, 0, 10], "end": [9, 19, 10, 20]}
        >>> pieces = pl.DataFrame({**written, "text": [True] * 4})
        >>> half_open(pieces)["end"].to_list()
        [10, 20, 10, 20]
    """
    shares = (following("start") == pl.col("end")).any().over("document")
    last = pl.col("text") & ~shares.fill_null(value=False)
    return pieces.with_columns(end=pl.col("end") + last.cast(pl.Int64))


def events(pieces: pl.DataFrame, side: str, after: float) -> pl.DataFrame:
    """Where the level of a side changes: rows of `document`, `at` and the side.

    Args:
        pieces: of the side.
        side: the name of the column of levels.
        after: the level where no piece is, up to the next one.
    """
    later = following("start")
    ends = pieces.filter((later > pl.col("end")).fill_null(value=True))
    return pl.concat(
        [
            pieces.select("document", pl.col("start").alias("at"), pl.col("level").alias(side)),
            ends.select("document", pl.col("end").alias("at"), pl.lit(after).alias(side)),
        ]
    )


def stretches(changes: pl.DataFrame, until: pl.DataFrame) -> pl.DataFrame:
    """The stretches in which neither side changes its level.

    Args:
        changes: rows of `document`, `at`, `reference` and `system`, null where a side does not
            change; each document begins with a row at 0 in which neither is null.
        until: rows of `document` and `until`, the end of its last stretch.

    Returns:
        Rows of `document`, `start`, `end`, `reference` and `system`; null where a side is `ABSENT`.

    Examples:
        >>> rows = {"document": [0, 0], "at": [0, 4], "reference": [1.0, None]}
        >>> rows |= {"system": [2.0, 3.0]}
        >>> until = pl.DataFrame({"document": [0], "until": [10]})
        >>> stretches(pl.DataFrame(rows), until).rows()
        [(0, 0, 4, 1.0, 2.0), (0, 4, 10, 1.0, 3.0)]
    """
    ordered = changes.with_columns(pl.col("at").clip(0)).sort("document", "at", maintain_order=True)
    # The row at 0 of each document stops what would flow in from the one before.
    filled = ordered.with_columns(pl.col("reference", "system").forward_fill())
    ended = filled.with_columns(end=following("at")).join(
        until, on="document", maintain_order="left"
    )
    sides = [pl.when(pl.col(side) != ABSENT).then(side).alias(side) for side in SIDES]
    end = pl.min_horizontal("end", "until")  # the last stretch of a document has no next change
    cut = ended.select("document", pl.col("at").alias("start"), end.alias("end"), *sides)
    return cut.filter(pl.col("end") > pl.col("start"))


SIDES = ("reference", "system")
