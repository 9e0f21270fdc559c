"""Levels as the public scorer normalizes them: z-scores."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.level_spans import NO_SCORE, PIECE
from hlteval.scoring.ccu.level_system import joined, processed

_RECORD = ("document", "region", "annotator", "level", "bin", "_level", "_bin")


def normalized_judgments(reference: Corpus, kind: str) -> pl.DataFrame:
    """The levels of each segment of the reference, of all documents: averaged z-scores.

    An annotator's levels are z-scores over all of them, by the sample standard deviation; 0 where
    that is 0 or unknown. Records that are repeated count once. The sum is divided by one more than
    the number of judgments that are not by the first annotator: where one repeats another judgment
    of a segment, that is not their number.

    Returns:
        Pieces as written, of each segment once; not-a-number for `noann` or a single judgment.
    """
    own = reference.ratings.filter(pl.col("kind") == kind)
    others = reference.ratings.filter(pl.col("kind") != kind).select(
        "origin", "record", _level="level", _bin="bin"
    )
    rows = own.join(others, on=["origin", "record"], how="left", maintain_order="left")
    rows = rows.unique(_RECORD, keep="first", maintain_order=True)
    level = pl.col("level").cast(pl.Int64)
    mean, deviation = (value.over("annotator") for value in (level.mean(), level.std()))
    score = pl.when(deviation > 0, pl.col("annotator").is_not_null()).then(
        (level - mean) / deviation
    )
    rows = rows.with_columns(level=pl.when(level.is_not_null()).then(score.fill_null(0.0)))
    number = rows["annotator"].cast(pl.Int64, strict=False)
    order = rows["annotator"] if number.null_count() else number
    return _averaged(rows.with_columns(annotator=order))


def _averaged(judgments: pl.DataFrame) -> pl.DataFrame:
    first = pl.col("annotator").min()
    voters = 1 + (pl.col("annotator") != first).sum()
    level = pl.col("level")
    pieces = judgments.drop_nulls(["start", "end"]).group_by(PIECE).agg(
        level=level.sum() / voters, noann=level.is_null().any(), voters=voters
    )  # fmt: skip
    rated = (pl.col("voters") > 1) & ~pl.col("noann")
    scored = pieces.with_columns(level=pl.when(rated).then("level").otherwise(NO_SCORE))
    return scored.select(*PIECE, "level").sort(PIECE)


def normalized_system(system: Corpus, kind: str) -> tuple[pl.DataFrame, bool]:
    """The levels of the system in all documents that it processed: z-scores over its records.

    The standard deviation is that of a population. Bounds of a document that are close are one,
    then repeated records count once.

    Returns:
        Pieces as written; and whether all levels are equal, which gives no z-scores: they are 0.
    """
    rows = system.ratings.filter(
        pl.col("kind") == kind, pl.col("document").is_in(processed(system).implode())
    )
    written = rows.select(*PIECE, "level", text=False).drop_nulls().sort(PIECE)
    pieces = joined(written).drop("text").unique(maintain_order=True)
    mean, deviation = pieces["level"].mean(), pieces["level"].std(ddof=0)
    if not deviation:
        return pieces.with_columns(level=pl.lit(0.0)), not pieces.is_empty()
    return pieces.with_columns(level=(pl.col("level") - mean) / deviation), False
