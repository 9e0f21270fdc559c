"""The metrics of situation frames whose counts add over documents, for many resamples at once.

Frames of documents are right or wrong by themselves, and so are the sentiments of frames; so their
rates in a resample follow from weighted sums. Situations run through all documents, and have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from hlteval.scoring.metric import Replicates, Weights
from hlteval.scoring.ratios import ratio
from hlteval.scoring.resampling import weighted
from hlteval.scoring.situations.lorehlt import sentiments as sec
from hlteval.scoring.situations.lorehlt.frame_matches import COUNTS
from hlteval.scoring.situations.lorehlt.scored_frames import ScoredFrames

RATES = ("precision", "recall", "f1")
FRAMES = tuple(f"frame_{rate}" for rate in RATES)
SENTIMENTS = tuple(f"sec_{rate}" for rate in RATES)


def additive_families(*, official: bool) -> tuple[str, ...]:
    """The families whose counts add; the public scorer pools sentiments in its own way."""
    return FRAMES if official else (*FRAMES, *SENTIMENTS)


def replicates(
    scored: ScoredFrames, families: Sequence[str], documents: Sequence[str], weights: Weights
) -> Replicates:
    """The values of some additive families in each replicate.

    Args:
        scored: both sides.
        families: of the metrics.
        documents: the names of the columns of `weights`.
        weights: a row per replicate, a column per document.
    """
    found: Replicates = {}
    if not {*FRAMES}.isdisjoint(families):
        found |= dict(_frames(scored, documents, weights))
    if not {*SENTIMENTS}.isdisjoint(families):
        found |= dict(_sentiments(scored, documents, weights))
    return {name: values for name, values in found.items() if name.partition(".")[0] in families}


def _frames(
    scored: ScoredFrames, documents: Sequence[str], weights: Weights
) -> Iterator[tuple[str, np.ndarray]]:
    for name, matches in scored.matches.items():
        counts = (
            matches.counts().rename({"docid": "document"}).cast(dict.fromkeys(COUNTS, pl.Int64))
        )
        sums = weighted(counts, COUNTS, documents, weights)
        rates = matches.rated(*(sums[column] for column in COUNTS))
        for rate, own in rates._asdict().items():
            yield f"frame_{rate}.{name}", np.full_like(own, np.nan) if scored.stopped else own


def _sentiments(
    scored: ScoredFrames, documents: Sequence[str], weights: Weights
) -> Iterator[tuple[str, np.ndarray]]:
    for name, counts in scored.sentiments.items():
        sums = (
            sec.rates(counts)
            .group_by(document="docid")
            .agg(
                *(pl.col(rate).sum().alias(f"{rate}_sum") for rate in RATES),
                *(pl.col(rate).count().cast(pl.Float64).alias(f"{rate}_frames") for rate in RATES),
            )
        )
        columns = [column for column in sums.columns if column != "document"]
        totals = weighted(sums, columns, documents, weights)
        for rate in RATES:
            yield f"sec_{rate}.{name}", ratio(totals[f"{rate}_sum"], totals[f"{rate}_frames"])
