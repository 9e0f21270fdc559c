"""The levels of a system (2.2.4, 2.3.4): homogeneous segments that cover the document.

Where the system has no level though it must have one, it has that of a document that it could not
process: 500 for valence, 1 for arousal.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.level_reference import extended
from hlteval.scoring.ccu.level_spans import NO_SCORE, PIECE, following, half_open

#: The level of documents that the system could not process, by kind.
UNPROCESSED: Mapping[str, float] = MappingProxyType({"valence": 500.0, "arousal": 1.0})
#: Seconds: bounds that are nearer to each other are one.
CLOSE = 0.02


def processed(system: Corpus) -> pl.Series:
    """The documents that the system could process, as rows of `documents`."""
    return system.documents.filter(pl.col("processed").fill_null(value=True))["row"]


def system_pieces(ratings: pl.DataFrame, *, gaps: bool) -> pl.DataFrame:
    """The levels of the system, half-open; with `gaps`, short ones are closed as in the reference.

    Args:
        ratings: rows of the system.
        gaps: whether the system may leave gaps.
    """
    written = ratings.drop_nulls("level").select(*PIECE, "text", "level").sort(PIECE)
    pieces = half_open(written)
    pieces = extended(pieces) if gaps else joined(pieces)
    return pieces.filter(pl.col("end") > pl.col("start"))


def joined(pieces: pl.DataFrame) -> pl.DataFrame:
    """Pieces of audio and video that begin where the one before ends, if that is close.

    Examples:
        >>> rows = {"document": [0, 0], "start": [0.0, 10.001], "end": [10.0, 20.0]}
        >>> joined(pl.DataFrame({**rows, "text": [False, False]}))["start"].to_list()
        [0.0, 10.0]
    """
    same = pl.col("document") == pl.col("document").shift(1)
    before = pl.col("end").shift(1)
    near = same & ~pl.col("text") & ((before - pl.col("start")).abs() < CLOSE)
    return pieces.with_columns(start=pl.when(near).then(before).otherwise("start"))


def up_to_the_end(pieces: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Pieces of which the last of a document ends with it, if it nearly does.

    Nearly is less than `CLOSE` seconds, or one character: lengths may count from 0 or from 1.

    Args:
        pieces: of the system, half-open.
        documents: rows of `document` and `length`.

    Examples:
        >>> pieces = {"document": [0], "start": [0.0], "end": [5.49], "text": [False]}
        >>> length = pl.DataFrame({"document": [0], "length": [5.5]})
        >>> up_to_the_end(pl.DataFrame(pieces), length)["end"].to_list()
        [5.5]
    """
    lengths = documents.select("document", _length="length")
    own = pieces.join(lengths, on="document", how="left", maintain_order="left")
    missing = pl.col("_length") - pl.col("end")
    near = (missing > 0) & pl.when("text").then(missing <= 1).otherwise(missing < CLOSE)
    last = following("start").is_null()
    ends = own.with_columns(end=pl.when(last & near).then("_length").otherwise("end"))
    return ends.drop("_length")


def uncovered(kind: str, *, gaps: bool) -> float:
    """The level where the system has none."""
    return NO_SCORE if gaps else UNPROCESSED[kind]
