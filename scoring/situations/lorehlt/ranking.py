"""Situations of the knowledge base, ranked by gravity: nDCG and precision at N.

LoReHLT 2019, sections 16.2.3, 16.2.5 and 16.3; appendix 18.1 has an example. A situation is all
frames of one type and place; its gain follows from its gravity in the reference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.ratios import ratio

Numbers = NDArray[np.float64]
Discount = Literal["method0", "method1"]
TieBreak = Literal["standard", "vindictive", "forgiving"]
#: The number of first gains that are added after the sum of all others.
_ADDED_LAST: Mapping[Discount, int] = {"method0": 1, "method1": 0}
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


#: The fields that the frames of a situation have in common.
SITUATION = ["place", "type"]


def situations(frames: pl.DataFrame, parts: int, *apart: str) -> pl.DataFrame:
    """The situations of one side (section 16.2): all frames of one type and place.

    Args:
        frames: with `place`, `type` and `gravity`; frames without a place belong to no situation.
        parts: what a frame of gravity 1 counts in the column `gravity`.
        apart: columns; frames that differ in these are of other situations.

    Returns:
        What is `apart`, `place`, `type`, `gravity`, and the number of `frames`, in order: by what
        is apart, by falling gravity, then by number of frames, and then by place and type.
    """
    fields = [*apart, *SITUATION]
    placed = frames.filter(pl.col("place").is_not_null())
    # sums of floats depend on the order: they are added in the order of the rows
    groups = placed.select(fields).unique(maintain_order=True).with_row_index("situation")
    joined = placed.join(groups, on=fields, how="left", maintain_order="left")
    number, size = joined["situation"].to_numpy(), groups.height
    gravity = np.bincount(number, placed["gravity"].to_numpy(), minlength=size) / parts
    counts = groups.select(fields).with_columns(
        gravity=pl.Series(gravity, dtype=pl.Float64),
        frames=pl.Series(np.bincount(number, minlength=size), dtype=pl.Int64),
    )
    falling = [*(False for _ in apart), True, True, False, False]
    return counts.sort(*apart, "gravity", "frames", *SITUATION, descending=falling)


@dataclass(frozen=True, eq=False)
class Ranking:
    """The situations of a system, ranked, with the gains of the reference (section 16.3, 1 and 2).

    Attributes:
        reference: its situations in order, with `gain`.
        system: the system's situations in order, with `gain`, which is 0 where the reference does
            not have the situation.
        gains: the gain of a situation by its gravity.
        discount: `method1` divides the gain at rank i by log2(i + 1), as the plan has it; `method0`
            that at rank 1 by nothing and others by log2(i).
    """

    reference: pl.DataFrame
    system: pl.DataFrame
    gains: Gains
    discount: Discount

    #: The rank from which a situation is among the gravest of both sides, of its two ranks.
    found_from: ClassVar[pl.Expr] = pl.max_horizontal("gold", "own")

    @classmethod
    def of(
        cls, reference: pl.DataFrame, system: pl.DataFrame, gains: Gains, discount: Discount
    ) -> Self:
        """Rank the situations of both sides, as `situations` gives them."""
        reference = reference.with_columns(gain=gains.of("gravity"))
        return cls(reference, cls.with_gains(system, reference), gains, discount)

    @staticmethod
    def with_gains(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
        """The situations of a system with the gains of those of the reference."""
        gains = reference.select(*SITUATION, "gain")
        joined = system.join(gains, on=SITUATION, how="left", maintain_order="left")
        return joined.with_columns(pl.col("gain").fill_null(0.0))

    @cached_property
    def standard(self) -> pl.DataFrame:
        """The system's situations in their standard order."""
        return self.system

    def order(self, ties: TieBreak) -> pl.DataFrame:
        """The system's situations in the order of a tie-break."""
        if ties == "standard":
            return self.standard
        falling = [True, ties == "forgiving"]
        return self.system.sort("gravity", "gain", descending=falling, maintain_order=True)

    @property
    def ranks(self) -> int:
        """The number of ranks: to the end of the longer one of both lists."""
        return max(self.reference.height, self.system.height)

    def _gains(self, ties: TieBreak | None = None) -> Numbers:
        """The gain at each rank in the order of a tie-break; in the ideal order for None."""
        if ties is None:
            gains = np.sort(self.reference["gain"].to_numpy())[::-1]
        else:
            gains = self.order(ties)["gain"].to_numpy()
        return np.pad(gains, (0, self.ranks - len(gains)))

    def dcg(self, ties: TieBreak) -> Numbers:
        """The DCG at each rank."""
        return cumulative(self._gains(ties), self.discount, self.sums)

    @cached_property
    def ideal(self) -> Numbers:
        """The DCG of the ideal order at each rank."""
        return cumulative(self._gains(), self.discount, self.sums)

    def ndcg(self, ties: TieBreak) -> Numbers:
        """The nDCG at each rank (section 16.2.3)."""
        dcg, ideal = self.dcg(ties), self.ideal
        return np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal > 0)

    def last(self, ties: TieBreak) -> float | None:
        """The nDCG at the last rank; undefined where the reference has no situation with a gain."""
        if not self.reference["gain"].sum() > 0:
            return None
        first = _ADDED_LAST[self.discount]
        terms = (shares(self._gains(order), self.discount) for order in (ties, None))
        dcg, ideal = (float(each[:first].sum() + each[first:].sum()) for each in terms)
        return dcg / ideal

    @staticmethod
    def sums(terms: Numbers) -> Numbers:
        """The sums from the first term to each."""
        return np.cumsum(terms)

    @property
    def high(self) -> int:
        """The number of situations of the reference with a high gravity."""
        return int((self.reference["gravity"] >= self.gains.high_from).sum())

    @property
    def medium(self) -> int:
        """The number of situations of the reference with a medium gravity, or a high one."""
        return int((self.reference["gravity"] >= self.gains.medium_from).sum())

    @cached_property
    def precisions(self) -> Numbers:
        """The share of the gravest N situations that are on both sides (section 16.2.5).

        N is each number from 1 to the number of situations that the reference has.
        """
        rank, most = pl.int_range(1, pl.len() + 1), self.reference.height
        gold = self.reference.select(*SITUATION, gold=rank)
        system = self.standard.filter(pl.col("frames") > 0).select(*SITUATION, own=rank)
        entries = gold.join(system, on=SITUATION).select(rank=self.found_from)["rank"].to_numpy()
        hits = np.bincount(entries[entries <= most], minlength=most + 1)[1:].cumsum()
        return hits / np.arange(1, most + 1)


def ndcg_by_group(
    reference: pl.DataFrame, system: pl.DataFrame, gains: Gains, discount: Discount, size: int
) -> dict[TieBreak, Numbers]:
    """The nDCG at the last rank of many groups of situations, as `Ranking.last` of each.

    Args:
        reference: its situations apart by `group`, a number, as `situations` gives them.
        system: those of the system.
        gains: the gain of a situation by its gravity.
        discount: the discount.
        size: how many groups there are.

    Returns:
        By tie-break, an element per group; not-a-number where undefined.
    """
    reference = reference.with_columns(gain=gains.of("gravity"))
    known = reference.select("group", *SITUATION, "gain")
    system = system.join(known, on=["group", *SITUATION], how="left", maintain_order="left")
    system = system.with_columns(pl.col("gain").fill_null(0.0))
    counts = [np.bincount(side["group"].to_numpy(), minlength=size) for side in (reference, system)]
    # A 0 before the terms of a group makes `reduceat` round as the sum of these terms alone.
    lead = 1 - _ADDED_LAST[discount]
    lengths = np.maximum(np.maximum(*counts) + lead, 1)
    starts = np.cumsum(lengths) - lengths

    def totals(ordered: pl.DataFrame) -> Numbers:
        group = ordered["group"].to_numpy()
        number = np.bincount(group, minlength=size)
        rank = np.arange(len(group)) - np.repeat(np.cumsum(number) - number, number)
        terms = np.zeros(lengths.sum())
        terms[starts[group] + lead + rank] = discount_at(
            ordered["gain"].to_numpy(), rank + 1, discount
        )
        sums: Numbers = np.add.reduceat(terms, starts)
        return sums

    ideal = totals(reference.sort("group", "gain", descending=[False, True]))
    has_gain = np.bincount(reference["group"].to_numpy(), reference["gain"].to_numpy(), size) > 0
    found: dict[TieBreak, Numbers] = {}
    for ties in TIE_BREAKS:
        falling = [False, True, ties == "forgiving"]
        keys = ("group", "gravity", "gain")[: 1 if ties == "standard" else 3]
        order = system.sort(keys, descending=falling[: len(keys)], maintain_order=True)
        found[ties] = np.where(has_gain, ratio(totals(order), ideal), np.nan)
    return found


def shares(gains: Numbers, discount: Discount) -> Numbers:
    """The discounted gain at each rank (section 16.2.3)."""
    return discount_at(gains, np.arange(1, len(gains) + 1), discount)


def discount_at(gains: Numbers, ranks: NDArray[np.int64], discount: Discount) -> Numbers:
    """The gains, discounted by their ranks."""
    if discount == "method1":
        return gains / np.log2(ranks + 1)
    return gains / np.maximum(1.0, np.log2(ranks))


def cumulative(
    gains: Numbers, discount: Discount, sums: Callable[[Numbers], Numbers] = np.cumsum
) -> Numbers:
    """Discounted cumulative gain at each rank (section 16.2.3).

    Args:
        gains: by rank.
        discount: the method.
        sums: how the sums from the first term to each are computed.

    Examples:
        >>> cumulative(np.array([5.0, 3.0]), "method1").round(2).tolist()
        [5.0, 6.89]
    """
    first = _ADDED_LAST[discount]
    terms = shares(gains, discount)
    return np.append(terms[:first], terms[:first].sum() + sums(terms[first:]))


# What can be chosen about the scores of situation frames.


@dataclass(frozen=True)
class RankingOptions:
    """How situation frames are prepared, ranked and compared.

    Attributes:
        gravity: the gravity that precision at N, the tables and the official files show; nDCG is
            reported for both, as `ndcg` (boolean) and `ndcg_sec` (numeric).
        dcg: the discount; empty for that of the profile.
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
            `frames.CHOSEN`; those of a file as `frame_rows.GIVEN`.
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

    def gain_table(self, usual: Gains) -> Gains:
        """The gains of a profile, or of a configuration file, with what is chosen."""
        table = self.config or usual
        if self.gains:
            named = zip(("high", "medium", "low", "nothing"), self.gains, strict=False)
            table = table._replace(nothing=None)._replace(**dict(named))
        if self.gravity_thresholds:
            high, medium = self.gravity_thresholds
            table = table._replace(high_from=high, medium_from=medium)
        return table
