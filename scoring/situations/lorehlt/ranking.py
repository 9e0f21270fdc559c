"""Situations of the knowledge base, ranked by gravity: nDCG and precision at N.

LoReHLT 2019, sections 16.2.3, 16.2.5 and 16.3; appendix 18.1 has an example. A situation is all
frames of one type and place; its gain follows from its gravity in the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

# The order in which the public scorer puts situations of equal gravity in standard nDCG.
#
# It sorts with the quicksort of NumPy 1.17, its version at that time, which is not stable: medians
# of three, segments of up to 16 sorted by insertion, and the smaller part of a segment first.
# Later versions on newer processors give another order.


#: The last index of a segment that is sorted by insertion, counted from its first.
_SMALL = 15


def falling(values: Sequence[float]) -> list[int]:
    """The indices of values from the greatest to the least, as the public scorer sorts them.

    It sorts the reversed values, and reverses what comes out.

    Examples:
        >>> falling([1.0, 2.0, 1.0])
        [1, 0, 2]
    """
    last = len(values) - 1
    rising = _Quicksort(values[::-1]).indices()
    return [last - index for index in reversed(rising)]


class _Quicksort:
    """Indices of values, which are sorted in place."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values
        self.order = list(range(len(values)))

    def indices(self) -> list[int]:
        """The indices of the values, from the least to the greatest."""
        waiting = [(0, len(self.order) - 1)]
        while waiting:
            left, right = waiting.pop()
            while right - left > _SMALL:
                middle = self._partition(left, right)
                parts = (left, middle - 1), (middle + 1, right)
                if middle - left < right - middle:
                    (left, right), larger = parts
                else:
                    larger, (left, right) = parts
                waiting.append(larger)
            self._insert(left, right)
        return self.order

    def _partition(self, left: int, right: int) -> int:
        """Put what is less than a pivot before it, and what is greater after it; where it is."""
        order, values = self.order, self.values
        middle = left + (right - left) // 2
        for lower, upper in ((left, middle), (middle, right), (left, middle)):
            if values[order[upper]] < values[order[lower]]:
                self._swap(lower, upper)
        pivot = values[order[middle]]
        low, high = left, right - 1
        self._swap(middle, high)
        while True:
            low, high = low + 1, high - 1
            while values[order[low]] < pivot:
                low += 1
            while pivot < values[order[high]]:
                high -= 1
            if low >= high:
                break
            self._swap(low, high)
        self._swap(low, right - 1)
        return low

    def _insert(self, left: int, right: int) -> None:
        """Sort a segment by insertion, which keeps the order of equal values."""
        self.order[left : right + 1] = sorted(
            self.order[left : right + 1], key=self.values.__getitem__
        )

    def _swap(self, one: int, other: int) -> None:
        order = self.order
        order[one], order[other] = order[other], order[one]


Numbers = NDArray[np.float64]
Discount = Literal["method0", "method1"]
TieBreak = Literal["standard", "vindictive", "forgiving"]
#: Of situations of equal gravity, those with more frames come first, those with less gain, or those
#: with more gain.
TIE_BREAKS: tuple[TieBreak, ...] = ("standard", "vindictive", "forgiving")


class Gains(NamedTuple):
    """The gain of a situation by its gravity (section 16.2).

    Attributes:
        high: of situations with at least `high_from` grave frames.
        medium: of those with at least `medium_from`.
        low: of all others.
        nothing: of those without any grave frame; that of `low` if None.
        high_from: a number of grave frames.
        medium_from: a number of grave frames.
    """

    high: float = 5.0
    medium: float = 3.0
    low: float = 1.0
    nothing: float | None = None
    high_from: float = 25.0
    medium_from: float = 10.0

    def of(self, gravity: str) -> pl.Expr:
        """The gains of situations with a gravity.

        Examples:
            >>> pl.DataFrame({"g": [30, 24, 9, 0]}).select(Gains().of("g"))["g"].to_list()
            [5.0, 3.0, 1.0, 1.0]
        """
        grave = pl.col(gravity)
        low = pl.lit(self.low)
        if self.nothing is not None:
            low = pl.when(grave > 0).then(low).otherwise(self.nothing)
        medium = pl.when(grave >= self.medium_from).then(self.medium).otherwise(low)
        gain = pl.when(grave >= self.high_from).then(self.high).otherwise(medium)
        return gain.cast(pl.Float64).alias(gravity)


#: The configuration that comes with the public scorer.
OFFICIAL_GAINS = Gains(10.0, 5.0, 1.0, None, 3.0, 2.0)


def situations(frames: pl.DataFrame, parts: int) -> pl.DataFrame:
    """The situations of one side: `place`, `type`, `gravity`, and the number of their `frames`.

    Args:
        frames: with `place`, `type` and `gravity`; frames without a place belong to no situation.
        parts: what a frame of gravity 1 counts in the column `gravity`.
    """
    placed = frames.filter(pl.col("place").is_not_null())
    # sums of floats depend on the order, and the public scorer adds in the order of the rows
    groups = placed.select("place", "type").unique(maintain_order=True).with_row_index("group")
    of = placed.select("place", "type").join(
        groups, on=["place", "type"], how="left", maintain_order="left"
    )["group"]
    size = groups.height
    gravity = np.bincount(of.to_numpy(), placed["gravity"].to_numpy(), minlength=size) / parts
    return groups.select("place", "type").with_columns(
        gravity=pl.Series(gravity, dtype=pl.Float64),
        frames=pl.Series(np.bincount(of.to_numpy(), minlength=size), dtype=pl.Int64),
    )


def ordered(table: pl.DataFrame) -> pl.DataFrame:
    """Situations by falling gravity, then by number of frames, and then by place and type."""
    return table.sort("gravity", "frames", "place", "type", descending=[True, True, False, False])


@dataclass(frozen=True, eq=False)
class Ranking:
    """The situations of a system, ranked, with the gains of the reference.

    Attributes:
        reference: its situations in order, with `gain`.
        system: the system's situations in order, with `gain`, which is 0 where the reference does
            not have the situation. In `official`, those that the system misses are among them, as
            situations of gravity 0.
        official: whether the public scorer is followed.
        discount: how gains are discounted.
    """

    reference: pl.DataFrame
    system: pl.DataFrame
    official: bool
    discount: Discount

    def ranked(self, ties: TieBreak) -> pl.DataFrame:
        """The system's situations in the order of a tie-break."""
        if ties == "standard" and self.official:
            return self.system[falling(self.system["gravity"].to_list())]
        if ties == "standard":
            return self.system.sort("gravity", descending=True, maintain_order=True)
        forgiving = ties == "forgiving"
        return self.system.sort(
            "gravity", "gain", descending=[True, forgiving], maintain_order=True
        )

    @property
    def ranks(self) -> int:
        """How many ranks there are: to the end of the longer one of both lists."""
        return max(self.reference.height, self.system.height)

    def ndcg(self, ties: TieBreak) -> Numbers:
        """The nDCG at each rank."""
        own, ideal = self.dcg(ties)
        return np.divide(own, ideal, out=np.zeros_like(own), where=ideal > 0)

    def dcg(self, ties: TieBreak) -> tuple[Numbers, Numbers]:
        """DCG of the system and the ideal DCG, at each rank."""
        return self._cumulative(self._gains(ties)), self._ideal

    def last(self, ties: TieBreak) -> float | None:
        """The nDCG at the last rank; undefined where the reference has no situation with a gain."""
        if not self.reference["gain"].sum() > 0:
            return (0.0 if self.ranks else None) if self.official else None
        own, ideal = (
            discounted_sum(gains, self.discount) for gains in (self._gains(ties), self._best)
        )
        return own / ideal

    def _gains(self, ties: TieBreak) -> Numbers:
        return self._padded(self.ranked(ties)["gain"].to_numpy())

    @property
    def _best(self) -> Numbers:
        return self._padded(np.sort(self.reference["gain"].to_numpy())[::-1])

    @cached_property
    def _ideal(self) -> Numbers:
        return self._cumulative(self._best)

    def _padded(self, gains: Numbers) -> Numbers:
        return np.pad(gains, (0, self.ranks - len(gains)))

    def _cumulative(self, gains: Numbers) -> Numbers:
        return cumulative(gains, self.discount, rounded=self.official)

    def high(self, gains: Gains) -> int:
        """How many situations of the reference have a high gravity.

        The public scorer takes those that have the gain of such, which other gravities may have.
        """
        reached = self.reference["gravity"] >= gains.high_from
        return int(((self.reference["gain"] == gains.high) if self.official else reached).sum())

    def precision_at(self, number: int) -> float | None:
        """The share of the gravest `number` situations that are on both sides.

        Section 16.2.5. The public scorer looks for the gravest ones of the reference anywhere in
        the system's list.
        """
        return float(self.precisions(number)[-1]) if self.reference.height else None

    def precisions(self, most: int) -> Numbers:
        """Precision at each N from 1."""
        key = ["place", "type"]
        number = pl.int_range(1, pl.len() + 1)
        gold = self.reference.select(*key, gold=number)
        system = self.ranked("standard").filter(pl.col("frames") > 0)
        both = gold.join(system.select(*key, own=number), on=key)
        # a situation is in both of the top N from the greater one of its two ranks
        entry = "gold" if self.official else pl.max_horizontal("gold", "own").alias("gold")
        entries = both.select(entry)["gold"].to_numpy()
        hits = np.bincount(entries[entries <= most], minlength=most + 1)[1:].cumsum()
        return hits / np.arange(1, most + 1)


def ranking(
    reference: pl.DataFrame,
    system: pl.DataFrame,
    gains: Gains,
    *,
    discount: Discount,
    official: bool,
) -> Ranking:
    """Rank the situations of a system.

    Args:
        reference: its situations, as `situations` gives them.
        system: the system's.
        gains: the gain of a situation by its gravity.
        discount: `method1` divides the gain at rank i by log2(i + 1), as the plan has it; `method0`
            that at rank 1 by nothing and others by log2(i).
        official: keep missed situations in the list, as the public scorer does.
    """
    key = ["place", "type"]
    gold = ordered(reference).with_columns(gain=gains.of("gravity").alias("gain"))
    own = ordered(system)
    if official:
        known = gold.select(*key, "gain").join(own, on=key, how="left", maintain_order="left")
        false = own.join(gold, on=key, how="anti").sort("place", "type")
        own = pl.concat([known, false], how="diagonal").with_columns(
            pl.col("gravity", "gain").fill_null(0.0), pl.col("frames").fill_null(0)
        )
        own = own.with_columns(gain=pl.when(pl.col("frames") > 0).then("gain").otherwise(0.0))
    else:
        gain = gold.select(*key, "gain")
        own = own.join(gain, on=key, how="left", maintain_order="left")
        own = own.with_columns(pl.col("gain").fill_null(0.0))
    return Ranking(gold, own, official, discount)


def cumulative(gains: Numbers, discount: Discount, *, rounded: bool = False) -> Numbers:
    """Discounted cumulative gain at each rank (section 16.2.3).

    Args:
        gains: by rank.
        discount: the method.
        rounded: round each sum as a sum of its own, not as the one before plus a term, which
            decides the last digit of the public scorer.

    Examples:
        >>> cumulative(np.array([5.0, 3.0]), "method1").round(2).tolist()
        [5.0, 6.89]
    """
    head, terms = _terms(gains, discount)
    if rounded:
        sums = np.array([terms[:end].sum() for end in range(1, len(terms) + 1)], dtype=np.float64)
    else:
        sums = np.cumsum(terms)
    return sums if discount == "method1" else np.append([head][: len(gains)], head + sums)


def discounted_sum(gains: Numbers, discount: Discount) -> float:
    """Discounted cumulative gain at the last rank.

    Examples:
        >>> round(discounted_sum(np.array([5.0, 3.0]), "method1"), 2)
        6.89
    """
    head, terms = _terms(gains, discount)
    return head + float(terms.sum())


def _terms(gains: Numbers, discount: Discount) -> tuple[float, Numbers]:
    """What is added up: the gain of the first rank where it is not divided, and all others."""
    ranks = np.arange(1, len(gains) + 1)
    if discount == "method1":
        return 0.0, gains / np.log2(ranks + 1)
    return float(gains[:1].sum()), gains[1:] / np.log2(ranks[1:])


#: What the tie-breaks mean.
TIES: MappingProxyType[TieBreak, str] = MappingProxyType(
    {
        "standard": "Situations of equal gravity: more frames first, then by place and type.",
        "vindictive": "Situations of equal gravity: those with less gain first.",
        "forgiving": "Situations of equal gravity: those with more gain first.",
    }
)


# What can be chosen about the scores of situation frames.


@dataclass(frozen=True)
class RankingOptions:
    """How situation frames are prepared, ranked and compared.

    Attributes:
        gravity: the gravity that precision at N, the tables and the official files show; nDCG is
            reported for both, as `ndcg` (boolean) and `ndcg_sec` (numeric).
        dcg: the discount; empty: `method1` in `plan`, `method0` in `official`.
        config: gains and thresholds of a configuration file of the public scorer.
        gains: of high, medium and low gravity. A situation without grave frames has a low gain by
            16.2 of the plan, but none in its worked example; a fourth number settles it.
        gravity_thresholds: the least number of grave frames of high and medium gravity.
        cutoff: frames of higher confidence are the submission; without it, all are.
        no_nil: leave out frames with NIL places on both sides.
        no_sec: compute nothing that needs sentiments.
        documents: the documents of the whole test set, if they are listed.
        scored: the documents that are scored; those of the reference if None.
        annotators: the annotator of the needs and issues of documents, as
            `annotators.CHOSEN`; those of a file as `given_names.GIVEN`.
        annotator_seed: of the draw of annotators elsewhere; apart from the seed of resampling, so
            that intervals can be drawn again for the same annotators.
        draws: how many other draws are scored, for their distribution.
        max_frames: how many frames of the submission are scored at most.
        system_edl: the mentions of the submission, `docid`, `start`, `end` and `entity`, instead of
            those that it holds itself.
        reference_edl: those of the reference.
        system_name: the name of the system, which the official files print in their first line.
    """

    gravity: Literal["boolean", "numeric"] = "boolean"
    dcg: Literal["", "method0", "method1"] = ""
    config: Gains | None = None
    gains: tuple[float, ...] = ()
    gravity_thresholds: tuple[float, ...] = ()
    cutoff: float | None = None
    no_nil: bool = False
    no_sec: bool = False
    documents: tuple[str, ...] | None = None
    scored: tuple[str, ...] | None = None
    annotators: pl.DataFrame | None = None
    annotator_seed: int | None = None
    draws: int = 0
    max_frames: int | None = None
    system_edl: pl.DataFrame | None = None
    reference_edl: pl.DataFrame | None = None
    system_name: str = "system"

    def discount(self, *, official: bool) -> Discount:
        """The discount of a profile."""
        return self.dcg or ("method0" if official else "method1")

    def gain_table(self, *, official: bool) -> Gains:
        """The gains of a profile, with what is chosen."""
        table = self.config or (OFFICIAL_GAINS if official else Gains())
        if self.gains:
            named = zip(("high", "medium", "low", "nothing"), self.gains, strict=False)
            table = table._replace(nothing=None)._replace(**dict(named))
        if self.gravity_thresholds:
            high, medium = self.gravity_thresholds
            table = table._replace(high_from=high, medium_from=medium)
        return table

    @property
    def official_threshold(self) -> float | None:
        """The confidence that frames must exceed to be read at all.

        The public scorer takes notice of it only with a list of scored documents, and of 0
        never.
        """
        return self.cutoff if self.scored is not None and self.cutoff else None
