"""The distribution of scores over random draws of annotators (section 16.2.1, last paragraph)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.scoring.situations.lorehlt.frame_sums import FRAMES, SENTIMENTS
from hlteval.scoring.situations.lorehlt.scored_frames import FAMILIES, ScoredFrames

#: The families that one annotator of each document decides; the others have all annotators.
_DRAWN = ("ndcg", "ndcg_sec", "ndcg_text", "ndcg_sec_text", "precision_at", *SENTIMENTS)
_OFFICIAL = (*_DRAWN, "map", "mar", "auc", *FRAMES)
_TAIL = 0.025
DRAWS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "draw": pl.Int64,
    "metric": pl.String,
    "value": pl.Float64,
}


def draws(scored: ScoredFrames) -> pl.DataFrame:
    """The values of each draw (`DRAWS`); documents with one annotator are the same in all."""
    annotations = scored.annotations
    families = _OFFICIAL if scored.official else _DRAWN
    rows = []
    for number in range(1, annotations.options.draws + 1):
        own = ScoredFrames(annotations.redrawn(annotations.seed + number))
        rows += [
            (number, f"{family}.{ending}", value)
            for family in families
            if not (annotations.options.no_sec and family.startswith(("ndcg_sec", "sec_")))
            for ending, value in FAMILIES[family](own)
        ]
    return pl.DataFrame(rows, schema=dict(DRAWS), orient="row").fill_nan(None)


def distribution(table: pl.DataFrame) -> pl.DataFrame:
    """The mean, the standard deviation, and the middle 95 % of the draws, by metric.

    Examples:
        >>> table = pl.DataFrame([(1, "m", 0.0), (2, "m", 1.0)], schema=DRAWS, orient="row")
        >>> distribution(table).select("metric", "mean").row(0)
        ('m', 0.5)
    """
    value = pl.col("value")
    return table.group_by("metric", maintain_order=True).agg(
        draws=value.count().cast(pl.Int64),
        mean=value.mean(),
        deviation=value.std(),
        low=value.quantile(_TAIL, "linear"),
        high=value.quantile(1 - _TAIL, "linear"),
    )
