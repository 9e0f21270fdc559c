"""The mapping of template sets: instance sets, and instances within them.

The specification's "Mapping Instance Sets" and "Mapping Instances": sets go together by document,
or, where the system's text is not segmented, greedily among those that overlap; instances of one
type are mapped greedily by the F-measure of their scored slots. Of pairs that are equally good the
order decides: an instance that the reference requires before one that is optional, then the order
of the reference, then that of the system.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from hlteval.scoring.hub4.candidates import Candidates, Fills
from hlteval.scoring.hub4.gaining import GainingTexts, pointing
from hlteval.scoring.hub4.points import Evaluation, Known, Mode, evaluated, gained, greedy
from hlteval.scoring.hub4.templettes import Side
from hlteval.scoring.hub4.type_order import ranked
from hlteval.scoring.matching import best_places

ZeroF = Literal["map", "skip-optional", "skip"]
#: The type of the instance that ties a set together; it is mapped whatever its F-measure is.
TEMPLATE = "TEMPLATE"
#: Pairs of instances among which those that gain points are looked for together.
BLOCK = 200_000
#: Pairs of instances whose correct texts are kept for the next mode.
KEPT = 10 * BLOCK
_MAPPED = {"set": pl.Int64, "reference": pl.Int64, "system": pl.Int64}
_TAKEN = {"type": pl.String, **_MAPPED, "choice": pl.Float64}
_SCORED = {
    "type": pl.String,
    **_MAPPED,
    "is_optional": pl.Boolean,
    "cor": pl.Int64,
    "f": pl.Float64,
}


@dataclass(frozen=True)
class Policy:
    """What the specification leaves open.

    Attributes:
        zero_f: whether pairs without a correct point are mapped: always (`map`, as the algorithm
            says), not if the reference's instance is optional, or never (`skip`).
        type_order: the types in the order in which they are mapped; by what points to what if
            empty.
        fillers: for noisy data, the words that are optional in a reference.
        top: the type of the instance that ties a set together.
    """

    zero_f: ZeroF = "map"
    type_order: tuple[str, ...] = ()
    fillers: tuple[str, ...] | None = None
    top: str = TEMPLATE


@dataclass(frozen=True)
class Mapping:
    """How a reference and a system are mapped in a mode.

    Attributes:
        sets: `set`, `reference`, `system`: documents; one is null where a set is left over.
        pairs: `pair`, `set`, `reference`, `system`, `type`, points, `f` and `choice`: every
            instance of either side but those that are removed.
        removed: `set`, `reference`: the optional instances that are mapped to nothing.
        evaluation: the points of the slots of `pairs`.
        fills: what was looked at.
        groups: `set`, `type`, `rank`, `cor` and `best`: when the type was mapped, and the correct
            points of the instances mapped by the greedy algorithm, and of the mapping that has
            most.
    """

    sets: pl.DataFrame
    pairs: pl.DataFrame
    removed: pl.DataFrame
    evaluation: Evaluation
    fills: Candidates
    groups: pl.DataFrame


class Mapper:
    """The instances of two sides that could be mapped, their texts compared once for all modes.

    Args:
        reference: the reference.
        system: the system, its slots numbered as the reference's.
        sets: `set`, `reference`, `system`: the documents whose instances are mapped.
        policy: what the specification leaves open.
    """

    def __init__(self, reference: Side, system: Side, sets: pl.DataFrame, policy: Policy) -> None:
        self.reference, self.system, self.sets, self.policy = reference, system, sets, policy
        self._ours = self._members(reference, "reference")
        self._theirs = self._members(system, "system").drop("is_optional")
        self._fills = Fills(reference, system, policy.fillers)
        numbers = self._theirs.group_by("set", "type").agg(pairs=pl.len().cast(pl.Int64))
        both = self._ours.join(numbers, on=["set", "type"], maintain_order="left")
        self._pointing = self._pointers()
        types = both.select("set", "type").unique(maintain_order=True)
        self._ranks = ranked(types, self._pointing.drop("place"), policy.type_order)
        self._early = self._too_early()
        both = both.join(self._ranks, on=["set", "type"], maintain_order="left")
        self._both = both.with_columns(block=pl.col("pairs").cum_sum().over("rank") // BLOCK)
        self._texts = GainingTexts(self._fills, self._ours, self._theirs)
        self._kept: dict[tuple[int, int], pl.DataFrame] | None = None
        if int(self._both["pairs"].sum()) <= KEPT:
            self._kept = {}

    def _members(self, side: Side, name: str) -> pl.DataFrame:
        """The instances of the sets of a side."""
        sets = self.sets.select("set", document=name).drop_nulls("document")
        members = sets.join(side.instances, on="document", maintain_order="left_right")
        return members.select("set", "type", "is_optional", pl.col("instance").alias(name))

    def _pointers(self) -> pl.DataFrame:
        """Which types point to which in which slots, by set."""
        parts = []
        for side, name in ((self.reference, "reference"), (self.system, "system")):
            sets = self.sets.select("set", document=name).drop_nulls("document")
            keys = ["type", "place", "target_type"]
            named = side.fills.drop_nulls("target").unique(["document", *keys])
            parts.append(sets.join(named, on="document").select("set", *keys))
        return pl.concat(parts).unique()

    def mapped(self, mode: Mode) -> Mapping:
        """The mapping in a mode."""
        optional = self._ours.filter("is_optional").select("set", "type", "reference")
        optional = optional.join(self._ranks, on=["set", "type"], how="left")
        optional = optional.with_columns(pl.col("rank").fill_null(-1))
        decided, groups, chosen = pl.DataFrame(schema=_MAPPED), [], [pl.DataFrame(schema=_TAKEN)]
        for rank in self._order:
            known = Known(decided, _unmapped(optional.filter(pl.col("rank") < rank), decided))
            scored = pl.concat(self._scored(rank, known, mode))
            taken = self._taken(scored, rank)
            groups.append(_losses(scored, taken).with_columns(rank=pl.lit(rank, pl.Int64)))
            chosen.append(taken)
            decided = pl.concat([decided, taken.select(*_MAPPED)])
        known = Known(decided, _unmapped(optional, decided))
        final = self._final(pl.concat(chosen), known)
        evaluation = evaluated(final, known, mode)
        pairs = evaluation.pairs(final.pairs)
        return Mapping(self.sets, pairs, known.removed, evaluation, final, _joined(groups))

    @property
    def _order(self) -> list[int]:
        """The ranks in which types are mapped."""
        return sorted(self._ranks["rank"].unique())

    def _too_early(self) -> pl.DataFrame:
        """The slots that point to what is mapped at the same time or later, by set and type."""
        target = self._ranks.rename({"type": "target_type", "rank": "target_rank"})
        pointing = self._pointing.join(self._ranks, on=["set", "type"])
        pointing = pointing.join(target, on=["set", "target_type"])
        early = pointing.filter(pl.col("target_rank") >= pl.col("rank"))
        return early.select("set", "type", "place").unique()

    def _scored(self, rank: int, known: Known, mode: Mode) -> Iterator[pl.DataFrame]:
        """The pairs of a rank that gain points in a mode, some at a time: memory is limited."""
        yield pl.DataFrame(schema=_SCORED)
        for ours in self._both.filter(rank=rank).partition_by("block", maintain_order=True):
            given = self._gaining(ours, known, mode)
            if not given.pairs.is_empty():
                pairs = evaluated(given, known, mode).pairs(given.pairs)
                yield pairs.filter(pl.col("cor") > 0).select(*_SCORED)

    def _gaining(self, ours: pl.DataFrame, known: Known, mode: Mode) -> Candidates:
        """The pairs of some instances of the reference that gain points in a mode."""
        correct = self._correct(ours)
        texts = correct.filter(gained(mode) > 0)
        found = [texts, pointing(self._fills, ours, self._theirs, known)]
        both = pl.concat(rows.select(*_MAPPED) for rows in found).unique()
        optional = ours.select("set", "type", "reference", "is_optional")
        pairs = both.join(optional, on=["set", "reference"])
        pairs = pairs.with_columns(pair=pl.int_range(pl.len(), dtype=pl.Int64))
        given = self._fills.with_texts(pairs, texts)
        early = pairs.join(self._early, on=["set", "type"])
        return given if early.is_empty() else given.without(early.select(at=self._fills.at()))

    def _correct(self, ours: pl.DataFrame) -> pl.DataFrame:
        """The correct pairs of texts, found once, or where there are very many, in each mode."""
        if self._kept is None:
            return self._texts.correct(ours)
        key = ours.select("rank", "block").row(0)
        if key not in self._kept:
            self._kept[key] = self._texts.correct(ours)
        return self._kept[key]

    def _taken(self, scored: pl.DataFrame, rank: int) -> pl.DataFrame:
        """The pairs that the greedy algorithm takes."""
        order = ["set", "type", "f", "is_optional", "reference", "system"]
        better = scored.sort(order, descending=[name == "f" for name in order])
        better = better.filter(greedy(better.select("set", "type", "reference", "system")))
        taken = better.select("type", *_MAPPED, choice="f")
        return pl.concat([taken, self._left_over(rank, taken)])

    def _left_over(self, rank: int, taken: pl.DataFrame) -> pl.DataFrame:
        """The pairs without a correct point that the greedy algorithm takes after all others.

        Each instance that is left could be mapped to any other that is left, so that they are
        mapped in their order.
        """
        tied = pl.col("type") == self.policy.top
        ours = self._both.filter(rank=rank)
        if self.policy.zero_f == "skip":
            ours = ours.filter(tied)
        elif self.policy.zero_f == "skip-optional":
            ours = ours.filter(tied | ~pl.col("is_optional"))
        group = ["set", "type"]
        sides = []
        for side, rows, order in (
            ("reference", ours, ["is_optional", "reference"]),
            ("system", self._theirs, ["system"]),
        ):
            left = rows.select(*group, *order).join(taken, on=[*group, side], how="anti")
            left = left.sort(*group, *order)
            sides.append(left.with_columns(number=pl.int_range(pl.len()).over(group)))
        found = sides[0].join(sides[1], on=[*group, "number"])
        return found.select("type", *_MAPPED, choice=pl.lit(0.0))

    def _final(self, taken: pl.DataFrame, known: Known) -> Candidates:
        """The pairs that are mapped, and every other instance beside nothing."""
        missing, spurious = (
            members.join(taken.select("set", side), on=["set", side], how="anti")
            .select("set", "type", side)
            .sort("set", side)
            for members, side in ((self._ours, "reference"), (self._theirs, "system"))
        )
        missing = missing.join(known.removed, on=["set", "reference"], how="anti")
        alone = pl.concat([missing, spurious], how="diagonal")
        pairs = pl.concat([taken, alone], how="diagonal")
        return self._fills.beside(pairs.with_columns(pair=pl.int_range(pl.len(), dtype=pl.Int64)))


def _unmapped(optional: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    rows = optional.select("set", "reference")
    return rows.join(decided, on=["set", "reference"], how="anti", maintain_order="left")


def _losses(scored: pl.DataFrame, taken: pl.DataFrame) -> pl.DataFrame:
    """By set and type: the correct points of the pairs that were taken, and of the best mapping."""
    group = ["set", "type"]
    points = scored.select(*group, "reference", "system", "cor")
    greedily = points.join(taken, on=["set", "reference", "system"], how="semi")
    sums = greedily.group_by(group).agg(pl.col("cor").sum())
    # No mapping has more than the best of each row, or of each column.
    limits = [
        points.group_by(*group, side)
        .agg(pl.col("cor").max())
        .group_by(group)
        .agg(pl.col("cor").sum().alias(side))
        for side in ("reference", "system")
    ]
    limit = limits[0].join(limits[1], on=group).join(sums, on=group, how="left")
    limit = limit.with_columns(pl.col("cor").fill_null(0), pl.min_horizontal("reference", "system"))
    open_ = limit.filter(pl.col("reference") > pl.col("cor"))
    if open_.is_empty():
        return limit.select(*group, "cor", best="cor").sort(group)
    some = points.join(open_.select(group), on=group, how="semi")
    rows = limit.select(*group, "cor").join(_best(some), on=group, how="left")
    return rows.with_columns(best=pl.coalesce("best", "cor")).sort(group)


def _best(pairs: pl.DataFrame) -> pl.DataFrame:
    """By set and type, the most correct points that a one-to-one mapping can have."""
    group = ["set", "type"]
    numbered = pairs.sort(group).with_columns(
        pl.col(side).rank("dense").over(group).cast(pl.Int64) - 1
        for side in ("reference", "system")
    )
    groups = numbered.group_by(group, maintain_order=True).agg("reference", "system", "cor")
    tables = [_table(*row) for row in groups.drop(group).iter_rows()]
    compiled = sum(table.size * min(*table.shape) for table in tables) > _MOST_STEPS
    best = [_most(table, compiled=compiled) for table in tables]
    return groups.select(*group, best=pl.Series(best, dtype=pl.Int64))


#: The most steps of assignments that take less time than loading SciPy.
_MOST_STEPS = 300_000


def _table(rows: list[int], columns: list[int], points: list[int]) -> npt.NDArray[np.int64]:
    """The points of each row with each column."""
    table = np.zeros((max(rows) + 1, max(columns) + 1), dtype=np.int64)
    table[rows, columns] = points
    return table


def _most(table: npt.NDArray[np.int64], *, compiled: bool) -> int:
    """The most points of a one-to-one mapping of rows and columns."""
    places = best_places(table, compiled=compiled)
    return sum(int(table[place]) for place in places)


def _joined(groups: list[pl.DataFrame]) -> pl.DataFrame:
    empty = pl.DataFrame(
        schema={
            "set": pl.Int64,
            "type": pl.String,
            "cor": pl.Int64,
            "best": pl.Int64,
            "rank": pl.Int64,
        }
    )
    return pl.concat([empty, *groups])
