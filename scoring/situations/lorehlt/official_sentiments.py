"""Sentiments as the public scorer of LoReHLT 2019 counts them.

Any number of sentiments may be right by the same one of the reference, and all frames are pooled.
What is found is counted in the system's sentiments, what is missed in those of the reference, so
that recall can be above 1. Three numbers are computed: of polarities; of these, with less for a
sentiment of another strength; and of emotions, of which each right value counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.scoring import ratios
from hlteval.scoring.ratios import harmonic
from hlteval.scoring.situations.lorehlt.sentiments import EMOTIONS

#: What frames have in common if they are the same, in the order in which the scorer sorts them.
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "type,place": ("docid", "place", "type"),
        "type,place,status": ("docid", "place", "type", "status"),
    }
)
MEASURES = ("polarity", "sentiment", "emotion")
_CLOSE, _FAR = 0.5, 1.5
_FACTOR = 0.97
_EACH = len(EMOTIONS)


class Rates(NamedTuple):
    """Precision, recall and F1; not-a-number where the scorer prints that."""

    precision: float
    recall: float
    f1: float


def with_reference(sentiments: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments about frames of the reference: of all annotators, by identifier of the frame.

    Args:
        sentiments: of the reference, in the order of files; those of one frame are put together.
        frames: of the reference; identifiers may be repeated.
    """
    targets = frames.select("docid", "frame_id", "place", "type", "status", _frame="frame")
    own = sentiments.with_row_index("_order")
    own = own.sort(pl.col("_order").first().over("docid", "frame_id"), maintain_order=True)
    own = own.select("docid", "frame_id", "polarity", "value", *EMOTIONS, source="entry")
    joined = own.join(targets, on=["docid", "frame_id"], maintain_order="left_right")
    return joined.rename({"_frame": "frame"}).with_columns(pl.col(EMOTIONS).fill_null(value=False))


def with_system(
    sentiments: pl.DataFrame, frames: pl.DataFrame, places: pl.DataFrame | None
) -> pl.DataFrame:
    """The sentiments of the system's frames.

    Args:
        sentiments: of the system.
        frames: its frames, in the order of the file.
        places: what NIL places are taken for, as `place` and `entity`.
    """
    targets = frames.select("docid", "frame", "type", "status", pl.col("place").fill_null(""))
    own = sentiments.select("docid", "frame", "source", "value", *EMOTIONS)
    joined = targets.join(own, on=["docid", "frame"], maintain_order="left_right")
    sign = pl.when(pl.col("value") > 0).then(pl.lit("positive")).otherwise(pl.lit("negative"))
    joined = joined.with_columns(polarity=sign, sorted_place="place")
    if places is not None:
        joined = joined.join(places, on="place", how="left", maintain_order="left")
        joined = joined.with_columns(place=pl.coalesce("entity", "place")).drop("entity")
    return joined


def counted(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> dict[str, Rates]:
    """The rates of each of `MEASURES`.

    Args:
        reference: as `with_reference` gives it.
        system: as `with_system` gives it.
        name: of the class, one of `KEYS`.
    """
    if reference.is_empty():
        return dict.fromkeys(MEASURES, Rates(math.nan, math.nan, math.nan))
    if system.is_empty():
        return dict.fromkeys(MEASURES, Rates(0, 0, 0))
    fields = [*KEYS[name], "polarity", "source"]
    order = ["sorted_place" if field == "place" else field for field in KEYS[name]]
    own = system.sort(order, maintain_order=True).with_row_index("item")
    first = reference.unique(fields, keep="first", maintain_order=True)
    pairs = own.join(first, on=fields, suffix="_gold").sort("item")
    missed = reference.join(own, on=fields, how="anti").height
    found = pairs.height
    weights = _strengths(pairs)
    equal = sum(int((pairs[emotion] == pairs[f"{emotion}_gold"]).sum()) for emotion in EMOTIONS)
    size = own.height
    return {
        "polarity": _rates(found, size, found + missed),
        "sentiment": _rates(weights, size, found + missed),
        "emotion": _rates(equal, _EACH * size, _EACH * reference.height),
    }


def _strengths(pairs: pl.DataFrame) -> float:
    """What found sentiments count, less where the strength differs, added in order."""
    apart = (pairs["value"] - pairs["value_gold"]).abs().to_list()
    return sum(1.0 if far <= _CLOSE else _FACTOR if far <= _FAR else _FACTOR**2 for far in apart)


def _rates(right: float, predicted: int, expected: int) -> Rates:
    """The rates of pooled counts; F1 is computed from the other two."""
    found = ratios.rates(np.array(right), np.array(predicted), np.array(expected))
    f1 = harmonic(found.precision, found.recall)
    return Rates(float(found.precision), float(found.recall), float(f1))
