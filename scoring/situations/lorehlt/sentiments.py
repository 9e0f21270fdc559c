"""Sentiments of situation frames: precision, recall and F1, averaged over frames.

LoReHLT 2019, section 16.2.7. A sentiment is right if the reference has one of the same source and
polarity, and of the same emotion where a class compares one, about the same target: the frame of
that document, type and place. Each sentiment of the reference makes one of the system right.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl

from hlteval.scoring import ratios
from hlteval.scoring.situations.lorehlt.knowledge_base import resolved, with_nil_resolved

#: The target of a sentiment.
TARGET = ["docid", "type", "place"]
#: What each class compares besides the target.
CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "polarity": ("source", "positive"),
        "polarity,fear": ("source", "positive", "fear"),
        "polarity,anger": ("source", "positive", "anger"),
        "polarity,joy": ("source", "positive", "joy"),
    }
)
EMOTIONS = ("fear", "anger", "joy")


def about_frames(sentiments: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments about some frames, with the target; null places are a target like others.

    Args:
        sentiments: with `docid` and `frame`.
        frames: of the same side.

    Returns:
        One row per sentiment: `TARGET`, `frame`, `source`, `positive`, and the emotions, which are
        false where they are not given.
    """
    targets = frames.select("frame", *TARGET).unique(["docid", "frame"], maintain_order=True)
    joined = sentiments.drop("type", "place", "entity").join(
        targets, on=["docid", "frame"], maintain_order="left"
    )
    signs = pl.when(pl.col("polarity").is_not_null()).then(pl.col("polarity") == "positive")
    return joined.with_columns(
        pl.col(EMOTIONS).fill_null(value=False),
        pl.col("place").fill_null(""),
        positive=signs.otherwise(pl.col("value") > 0),
    )


def with_sources(
    system: pl.DataFrame,
    reference: pl.DataFrame,
    mentions: tuple[pl.DataFrame, pl.DataFrame] | None,
) -> pl.DataFrame:
    """The system's sentiments, with the sources of the reference for NIL and ambiguous ones.

    Args:
        system: its sentiments, with their targets.
        reference: those of the reference.
        mentions: of system and reference, where both are given.
    """
    if mentions is not None:
        system = with_nil_resolved(system, "source", *mentions)
    ambiguous = reference.select("docid", "type", place="source")
    sources = resolved(system.select("docid", "type", place="source"), ambiguous, official=False)
    return system.with_columns(source=sources["place"])


def matched(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """How many sentiments of each target are in the reference, in the system, and in both.

    Args:
        reference: its sentiments, with their targets.
        system: the system's, with sources as the reference has them.
        name: of the class.

    Returns:
        `TARGET`, `reference`, `system` and `right`.
    """
    fields = [*TARGET, *CLASSES[name]]
    both = _numbers(reference, fields, "reference").join(
        _numbers(system, fields, "system"), on=fields, how="full", coalesce=True, nulls_equal=True
    )
    both = both.with_columns(pl.col("reference", "system").fill_null(0))
    # a missing source is not the same as another one
    right = pl.when(pl.col("source").is_not_null()).then(pl.min_horizontal("reference", "system"))
    sums = both.with_columns(right=right.fill_null(0)).group_by(TARGET)
    return sums.agg(pl.col("reference", "system", "right").sum()).sort(TARGET)


def _numbers(sentiments: pl.DataFrame, fields: list[str], name: str) -> pl.DataFrame:
    return sentiments.group_by(fields).agg(pl.len().cast(pl.Int64).alias(name))


def rates(counts: pl.DataFrame) -> pl.DataFrame:
    """Precision, recall and F1 of each target; null where a side has no sentiments about it."""
    found = ratios.rates(pl.col("right"), pl.col("system"), pl.col("reference"))
    return counts.with_columns(**found._asdict())


def averaged(counts: pl.DataFrame) -> dict[str, float | None]:
    """The averages over all frames that have them ("Frame Average").

    Examples:
        >>> row = {"right": 1, "system": 1, "reference": 2}
        >>> averaged(pl.DataFrame([row]))["recall"]
        0.5
    """
    means = rates(counts).select(pl.col("precision", "recall", "f1").mean())
    return means.row(0, named=True)
