"""Frames of documents and of situations as the public scorer of LoReHLT 2019 counts them.

Its rates and average precisions are those of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring import ratios
from hlteval.scoring.ratios import Rates, Whole, harmonic, ratio
from hlteval.scoring.situations.lorehlt.frame_matches import (
    SITUATION,
    FrameMatches,
    Integers,
    Numbers,
    Points,
    points,
)
from hlteval.scoring.situations.lorehlt.frame_sides import GRAVE, compared, key, of_class

#: The flags that it compares: any two frames that are not current are equal.
_FLAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "type,place": (),
        "type,place,status": ("current",),
        "type,place,status,urgent": ("current", "urgent"),
        "type,place,status,resolution": ("current", "unresolved"),
        "type,place,status,urgent,resolution": ("current", "urgent", "unresolved"),
        GRAVE: ("current", "urgent", "unresolved"),
    }
)


def official_rates(right: Whole, predicted: Whole, expected: Whole) -> Rates[NDArray[np.float64]]:
    """Precision, recall and F1 of both; 0 where nothing can be divided.

    Examples:
        >>> [float(rate) for rate in official_rates(np.array(0), np.array(0), np.array(4))]
        [0.0, 0.0, 0.0]
    """
    precision, recall, _ = map(np.nan_to_num, ratios.rates(right, predicted, expected))
    return Rates(precision, recall, np.nan_to_num(harmonic(precision, recall)))


def average_precision(swept: Points) -> Numbers:
    """The average precision of each group, to the last digit.

    It is divided by the true positives that were found, not by the reference; 0 without any.
    """
    group, groups = swept.group, len(swept.relevant)
    found = np.zeros(groups, dtype=np.int64)
    np.maximum.at(found, group, swept.hits)
    recall = ratio(swept.hits, found[group])
    terms = (recall - swept.before(recall)) * swept.precision
    # beyond full recall nothing is added, and what is added is summed from there upwards
    needed = (swept.before(swept.hits) < found[group]) & (found[group] > 0)
    return _sums(terms[needed][::-1], group[needed][::-1], groups)


def _sums(terms: Numbers, group: Integers, groups: int) -> Numbers:
    """The sum of each group of consecutive terms, rounded like `numpy.sum` of the group alone."""
    sums = np.zeros(groups)
    if not len(terms):
        return sums
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    # a sum begins with 0: a 0 before each group makes `reduceat` add like this
    padded = np.insert(terms, starts, 0.0)
    sums[group[starts]] = np.add.reduceat(padded, starts + np.arange(len(starts)))
    return sums


def official_averages(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """Average precision and recall of each situation of the reference, as `averages`.

    Of a system, the first frame of each document counts; the frames of a reference count one by
    one, and two frames of a document are the same if their flags are.

    Args:
        reference: its frames, of one annotator.
        system: the system's, with places as the reference has them.
        name: of the class.
    """
    document = ["docid", *SITUATION]
    gold, own = of_class(reference, name), of_class(system, name)
    situations = gold.select(SITUATION).unique().sort(SITUATION).with_row_index("group")
    groups = situations.cast({"group": pl.Int64})
    gold = gold.join(groups, on=SITUATION, maintain_order="left")
    first = own.unique(document, keep="first", maintain_order=True)
    flags = [pl.col(flag).alias(f"gold_{flag}") for flag in _FLAGS[name]]
    beside = gold.select(*document, *flags, annotated=pl.lit(value=True))
    both = first.join(groups, on=SITUATION).join(beside, on=document, how="left")
    same = [pl.col(flag) == pl.col(f"gold_{flag}") for flag in _FLAGS[name]]
    right = pl.all_horizontal("annotated", *same).fill_null(value=False)
    both = both.with_columns(weight=right.cast(pl.Int64))
    size = situations.height
    swept = points(both.select("group", "confidence", "weight"), np.zeros(size, dtype=np.int64))
    counts = gold.group_by("group").agg(frames=pl.len()).sort("group")["frames"].to_numpy()
    hits = np.bincount(both["group"].to_numpy(), both["weight"].to_numpy(), minlength=size)
    return situations.drop("group").with_columns(
        average_precision=pl.Series(average_precision(swept), dtype=pl.Float64),
        recall=pl.Series(hits / counts, dtype=pl.Float64),
    )


@dataclass(frozen=True)
class OfficialMatches(FrameMatches):
    """The frames of one class, each of which weighs 1.

    Attributes:
        unplaced: how many frames of the reference have a place but no entry for it, which count
            among what may be predicted.
    """

    unplaced: int

    @classmethod
    def of(
        cls, reference: pl.DataFrame, system: pl.DataFrame, name: str, cutoff: float | None
    ) -> OfficialMatches:
        """Match the frames of both sides; one without a place is of a place that no other is of."""
        unplaced = 0
        if "place" in key(name):
            nowhere = reference.filter(pl.col("place").is_null())
            unplaced = nowhere.select(key(name)).n_unique() if nowhere.height else 0
        rows = compared(reference, system.with_columns(pl.col("place").fill_null("")), name)
        weight = pl.when(pl.col("weight").is_not_null()).then(pl.lit(1, pl.Int64))
        # without a cut-off, frames above 0 are predicted
        return cls(rows.with_columns(weight=weight), 0.0 if cutoff is None else cutoff, unplaced)

    def rates_of(self, right: Whole, false: Whole, expected: Whole) -> Rates[Numbers]:
        """Precision, recall and F1 of sums of `counts`."""
        return official_rates(right, right + false, expected)

    def frames(self) -> pl.DataFrame:
        """All frames; what the system does not have, it has with the confidence 0."""
        swept = super().frames().with_columns(pl.col("confidence").fill_null(0.0))
        more = {"group": 0, "confidence": 0.0, "weight": [0] * self.unplaced}
        return pl.concat([swept, pl.DataFrame(more, schema=swept.schema)])

    def area(self) -> float | None:
        """The average precision."""
        return float(average_precision(self.points)[0]) if self.points.relevant[0] else None
