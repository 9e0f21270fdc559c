"""The reference of valence and arousal (Appendix D): averaged judgments, extended gaps.

What fewer than two annotators rated is a no-score region; `noann` is not a rating.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.level_options import LevelConstants
from hlteval.scoring.ccu.level_spans import NO_SCORE, PIECE, following, half_open

#: Of gaps in seconds; more would be noise of the subtraction.
_DIGITS = 6


def ratings(corpus: Corpus, kind: str, documents: pl.DataFrame) -> pl.DataFrame:
    """The ratings of some documents that have a place.

    Args:
        corpus: either side.
        kind: `valence` or `arousal`.
        documents: rows of `document` and `text`, whether it is text.
    """
    rows = corpus.ratings.filter(
        pl.col("kind") == kind, pl.col("start").is_not_null(), pl.col("end").is_not_null()
    )
    rows = rows.select("row", "record", *PIECE, "level", "annotator")
    return rows.join(documents.select("document", "text"), on="document", maintain_order="left")


def averaged(judgments: pl.DataFrame, least: int = 2) -> pl.DataFrame:
    """Judgment Averaging: one level per segment.

    Three judgments are averaged; so are two, if the third is missing or is `noann`, a judgment
    without a level. One judgment makes a no-score region.

    An annotator counts once, however often a record is repeated.

    Args:
        judgments: rows of `ratings`.
        least: how many annotators a level needs.

    Examples:
        >>> row = {"row": 0, "document": 0, "start": 0.0, "end": 10.0, "text": False}
        >>> rows = [row | {"annotator": a, "level": b} for a, b in {"x": 156, "y": 178}.items()]
        >>> averaged(pl.DataFrame(rows))["level"].to_list()
        [167.0]
        >>> averaged(pl.DataFrame(rows[:1]))["level"].to_list()
        [nan]
    """
    annotator = pl.coalesce("annotator", pl.format("{}", "row"))
    level = pl.col("level")
    own = judgments.group_by(*PIECE, "text", annotator.alias("annotator")).agg(level.mean())
    pieces = own.group_by(*PIECE, "text").agg(level.mean(), judges=level.count())
    rated = pl.col("judges") >= least
    scored = pieces.with_columns(level=pl.when(rated).then("level").otherwise(NO_SCORE))
    return scored.select(*PIECE, "text", "level").sort(PIECE)


def extended(pieces: pl.DataFrame, seconds: float = 1.0, characters: float = 10.0) -> pl.DataFrame:
    """Pieces of which short gaps have the level of the piece before them.

    Args:
        pieces: half-open.
        seconds: shorter gaps of audio and video are short.
        characters: shorter gaps of text are short.

    Examples:
        >>> rows = {"document": [0, 0], "start": [15.0, 18.0], "end": [17.5, 27.5]}
        >>> extended(pl.DataFrame({**rows, "text": [False, False]}))["end"].to_list()
        [18.0, 27.5]
    """
    later = following("start")
    shortest = pl.when("text").then(characters).otherwise(seconds)
    short = (later - pl.col("end")).round(_DIGITS) < shortest
    return pieces.with_columns(end=pl.when(short).then(later).otherwise("end"))


def reference_pieces(
    judgments: pl.DataFrame, constants: LevelConstants | None = None
) -> pl.DataFrame:
    """The levels of the reference, half-open; what is between them is a no-score region."""
    own = constants or LevelConstants()
    pieces = half_open(averaged(judgments, own.min_judgments))
    pieces = extended(pieces, own.extend_reference, own.extend_reference_text)
    return pieces.filter(pl.col("end") > pl.col("start"))
