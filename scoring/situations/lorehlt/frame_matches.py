"""Situation frames of documents that are right: precision, recall, F1, and curves of the first two.

LoReHLT 2019, sections 16.2.6, 16.2.7 and 16.3 (5). Precision and recall are weighted by occurrences
in the reference (section 16.2): a frame of the reference weighs as many rows as the combined
reference has of it, a false positive 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring import ratios
from hlteval.scoring.ratios import Rates, Whole, plain, ratio
from hlteval.scoring.situations.lorehlt.frame_sides import GRAVE, compared, key, of_class
from hlteval.scoring.situations.lorehlt.official_rates import official_rates

# Precision and recall swept over confidences, for many groups of frames at a time.
#
# LoReHLT 2019, sections 16.2.4 (average precision) and 16.2.6 (curves and the area below them).
#
# Conventions:
#     Frames of equal confidence are taken together, so that nothing depends on their order. A false
#     positive weighs 1, a true positive what it weighs in the reference (section 16.2).


Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The columns of swept frames; the weight is that in the reference, 0 for a false positive.
FRAMES = {"group": pl.Int64, "confidence": pl.Float64, "weight": pl.Int64}


@dataclass(frozen=True)
class Points:
    """A point per group and distinct confidence, by group and falling confidence.

    Attributes:
        group: the number of the group.
        confidence: the least of the frames that are taken.
        hits: the weight of the true positives among these.
        false: how many false positives are among these.
        relevant: by group, the weight of the reference.
    """

    group: Integers
    confidence: Numbers
    hits: Integers
    false: Integers
    relevant: Integers

    @property
    def precision(self) -> Numbers:
        """The weight of true positives among all that is taken."""
        return ratio(self.hits, self.hits + self.false)

    @property
    def recall(self) -> Numbers:
        """The weight of true positives among the reference."""
        return ratio(self.hits, self.relevant[self.group])

    @property
    def _starts(self) -> NDArray[np.bool_]:
        """Whether a point is the first one of its group."""
        return np.append(True, self.group[1:] != self.group[:-1])[: len(self.group)]

    def _before(self, values: Numbers | Integers) -> Numbers:
        """The values of the point before; 0 for the first one of a group."""
        shifted = np.append(0, values[:-1])[: len(values)]
        return np.where(self._starts, 0, shifted).astype(np.float64)

    def average_precision(self) -> Numbers:
        """Of each group, the precisions at its true positives over the weight of the reference.

        Not-a-number for a group without a reference.
        """
        gained = self.hits - self._before(self.hits)
        sums = np.bincount(self.group, gained * self.precision, minlength=len(self.relevant))
        return ratio(sums, self.relevant)

    def area(self) -> Numbers:
        """Of each group, the area below its curve, whose first precision is that at recall 0.

        0 for a group without frames, not-a-number for one without a reference.
        """
        precision = self.precision
        before = np.where(self._starts, precision, np.append(0, precision[:-1])[: len(precision)])
        steps = self.hits - self._before(self.hits)
        areas = np.bincount(
            self.group, steps * (precision + before) / 2, minlength=len(self.relevant)
        )
        return ratio(areas, self.relevant)

    def retrieved_average_precision(self) -> Numbers:
        """Of each group, the average precision as the public scorer has it, to the last digit.

        It divides by the true positives that were found, not by the reference; 0 without any.
        """
        found = np.zeros(len(self.relevant), dtype=np.int64)
        np.maximum.at(found, self.group, self.hits)
        recall = ratio(self.hits, found[self.group])
        terms = (recall - self._before(recall)) * self.precision
        # beyond full recall nothing is added, and what is added is summed from there upwards
        needed = (self._before(self.hits) < found[self.group]) & (found[self.group] > 0)
        return _sums(terms[needed][::-1], self.group[needed][::-1], len(self.relevant))


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


def points(frames: pl.DataFrame, relevant: Integers) -> Points:
    """The points of all groups.

    Args:
        frames: as `FRAMES`, in any order.
        relevant: by group, the weight of the reference.

    Examples:
        >>> rows = [(0, 0.9, 1), (0, 0.5, 0), (0, 0.4, 1)]
        >>> swept = points(pl.DataFrame(rows, FRAMES, orient="row"), np.array([4]))
        >>> swept.precision.round(2).tolist(), swept.recall.tolist()
        ([1.0, 0.5, 0.67], [0.25, 0.25, 0.5])
    """
    steps = (
        frames.group_by("group", "confidence")
        .agg(hits=pl.col("weight").sum(), false=(pl.col("weight") == 0).sum().cast(pl.Int64))
        .sort("group", "confidence", descending=[False, True])
        .with_columns(pl.col("hits", "false").cum_sum().over("group"))
    )
    group, confidence, hits, false = (steps[name].to_numpy() for name in steps.columns)
    return Points(group, confidence, hits, false, relevant)


COUNTS = ("right", "false", "expected")


@dataclass(frozen=True)
class FrameMatches:
    """The frames of one class on both sides.

    Attributes:
        rows: as `equivalence.compared` gives them.
        unplaced: how many frames of the reference have a place but no entry for it; the public
            scorer counts them among what may be predicted.
        official: whether the public scorer is followed.
        cutoff: the confidence above which frames are predicted.
    """

    rows: pl.DataFrame
    unplaced: int
    official: bool
    cutoff: float | None

    @property
    def predicted(self) -> pl.Expr:
        """Whether a frame is in the system's output; in the public scorer, only above 0."""
        confidence = pl.col("confidence")
        least = 0.0 if self.official and self.cutoff is None else self.cutoff
        given = confidence.is_not_null()
        return given if least is None else given & (confidence > least)

    def above_cutoff(self) -> pl.DataFrame:
        """The frames, with the confidences of those only that are predicted."""
        found = self.predicted.fill_null(value=False)
        return self.rows.with_columns(confidence=pl.when(found).then("confidence"))

    def counts(self) -> pl.DataFrame:
        """By document: the weight of `right` frames and of `expected` ones, and the `false`."""
        found = self.predicted.fill_null(value=False)
        weight = pl.col("weight").fill_null(0)
        return self.rows.group_by("docid").agg(
            right=weight.filter(found).sum(),
            false=(found & pl.col("weight").is_null()).sum().cast(pl.Int64),
            expected=weight.sum(),
        )

    @cached_property
    def rates(self) -> Mapping[str, float | None]:
        """Precision, recall and F1 by name; None where undefined."""
        sums = self.counts().select(pl.col(COUNTS).sum()).row(0)
        found = self.rated(*(np.array([count], dtype=np.int64) for count in sums))
        return {name: plain(values)[0] for name, values in found._asdict().items()}

    def rated(self, right: Whole, false: Whole, expected: Whole) -> Rates[NDArray[np.float64]]:
        """Precision, recall and F1 of sums of `counts`."""
        rated = official_rates if self.official else ratios.rates
        return rated(right, right + false, expected)

    @cached_property
    def points(self) -> Points:
        """The points of the curve: all frames of the system, whatever their confidence.

        The public scorer takes what the system does not have as having the confidence 0.
        """
        swept = self.rows.select(
            pl.lit(0, pl.Int64).alias("group"), "confidence", pl.col("weight").fill_null(0)
        )
        if self.official:
            more = pl.DataFrame(
                {"group": 0, "confidence": 0.0, "weight": [0] * self.unplaced}, schema=swept.schema
            )
            swept = pl.concat([swept.with_columns(pl.col("confidence").fill_null(0.0)), more])
        relevant = np.array([self.rows["weight"].sum()], dtype=np.int64)
        return points(swept.drop_nulls("confidence"), relevant)

    def area(self) -> float | None:
        """The area below the curve; the public scorer's is the average precision."""
        swept = self.points
        if not swept.relevant[0]:
            return None
        values = swept.retrieved_average_precision() if self.official else swept.area()
        return float(values[0])


def frame_matches(
    reference: pl.DataFrame,
    system: pl.DataFrame,
    name: str,
    *,
    cutoff: float | None,
    official: bool,
) -> FrameMatches:
    """Match the frames of both sides by an equivalence class.

    Args:
        reference: its frames, of all annotators; of one, in `official`.
        system: the system's.
        name: of the class.
        cutoff: the confidence above which frames are predicted.
        official: count a frame without a place as one of a place that no other is of.
    """
    unplaced = 0
    if official:
        system = system.with_columns(pl.col("place").fill_null(""))
        if "place" in key(name):
            nowhere = reference.filter(pl.col("place").is_null())
            unplaced = nowhere.select(key(name)).n_unique() if nowhere.height else 0
    rows = compared(reference, system, name)
    if official:
        rows = rows.with_columns(weight=pl.when(pl.col("weight").is_not_null()).then(1))
    return FrameMatches(rows.cast({"weight": pl.Int64}), unplaced, official, cutoff)


# Mean average precision and macro-averaged recall over the situations of the reference.
#
# LoReHLT 2019, section 16.2.4; appendix 18.2.1 and 18.2.2 have examples.


SITUATION = ["type", "place"]

#: The flags that the public scorer compares: any two frames that are not current are equal.
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


def averages(frames: pl.DataFrame) -> pl.DataFrame:
    """Average precision and recall of each situation of the reference.

    Args:
        frames: the frames of both sides in a class of situations, as `equivalence.compared` gives
            them.

    Returns:
        `type`, `place`, `average_precision` and `recall`, sorted by type and place.
    """
    relevant = frames.group_by(SITUATION).agg(pl.col("weight").sum())
    relevant = relevant.filter(pl.col("weight") > 0).sort(SITUATION)
    situations = relevant.with_columns(group=pl.int_range(pl.len(), dtype=pl.Int64))
    own = frames.filter(pl.col("confidence").is_not_null()).with_columns(
        pl.col("weight").fill_null(0)
    )
    swept = own.join(situations.drop("weight"), on=SITUATION).select(
        "group", "confidence", "weight"
    )
    weights = relevant["weight"].to_numpy()
    found = np.bincount(swept["group"].to_numpy(), swept["weight"].to_numpy(), len(weights))
    return relevant.select(
        *SITUATION,
        average_precision=pl.Series(points(swept, weights).average_precision(), dtype=pl.Float64),
        recall=pl.Series(found / weights, dtype=pl.Float64),
    )


def official_averages(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """The same as the public scorer has it.

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
    ranked = points(both.select("group", "confidence", "weight"), np.zeros(size, dtype=np.int64))
    counts = gold.group_by("group").agg(frames=pl.len()).sort("group")["frames"].to_numpy()
    found = np.bincount(both["group"].to_numpy(), both["weight"].to_numpy(), minlength=size)
    return situations.drop("group").with_columns(
        average_precision=pl.Series(ranked.retrieved_average_precision(), dtype=pl.Float64),
        recall=pl.Series(found / counts, dtype=pl.Float64),
    )


def mean(values: pl.Series) -> float | None:
    """The mean over all situations; undefined without any."""
    return float(np.mean(values.to_numpy())) if len(values) else None
