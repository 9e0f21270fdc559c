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

import polars as pl

from hlteval.scoring.hub4.candidates import Candidates, candidates
from hlteval.scoring.hub4.points import (
    Evaluation,
    Known,
    Mode,
    evaluated,
    greedy,
)
from hlteval.scoring.hub4.templettes import Side
from hlteval.scoring.hub4.type_order import ranked
from hlteval.scoring.matching import best_places

ZeroF = Literal["map", "skip-optional", "skip"]
TEMPLATE = "TEMPLATE"
"""The type of the instance that ties a set together; it is mapped whatever its F-measure is."""
BLOCK = 200_000
"""Pairs of instances that are looked at together."""
_MAPPED = {"set": pl.Int64, "reference": pl.Int64, "system": pl.Int64}
_TAKEN = {"pair": pl.Int64, "type": pl.String, **_MAPPED, "choice": pl.Float64}


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
        groups: `set`, `type`, `cor` and `best`: the correct points of the instances mapped by
            the greedy algorithm, and of the mapping that has most.
    """

    sets: pl.DataFrame
    pairs: pl.DataFrame
    removed: pl.DataFrame
    evaluation: Evaluation
    fills: Candidates
    groups: pl.DataFrame


class Mapper:
    """The pairs of instances of two sides that could be mapped, compared once for all modes.

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
        pairs = self._ours.join(
            self._theirs, on=["set", "type"], suffix="_system", maintain_order="left_right"
        ).select(
            "set",
            "type",
            "is_optional",
            pair=pl.int_range(pl.len(), dtype=pl.Int64),
            reference="instance",
            system="instance_system",
        )
        self._pairs = pairs
        self._pointing = self._pointers()
        types = pairs.select("set", "type").unique(maintain_order=True)
        self._ranks = ranked(types, self._pointing.drop("place"), policy.type_order)
        self._early = self._too_early()
        few = pairs.height <= BLOCK
        self._kept = {rank: list(self._candidates(rank)) for rank in self._order} if few else {}

    def _members(self, side: Side, name: str) -> pl.DataFrame:
        """The instances of the sets of a side."""
        sets = self.sets.select("set", document=name).drop_nulls("document")
        members = sets.join(side.instances, on="document", maintain_order="left_right")
        return members.select("set", "type", "instance", "is_optional")

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
        optional = self._ours.filter("is_optional").select("set", "type", reference="instance")
        optional = optional.join(self._ranks, on=["set", "type"], how="left")
        optional = optional.with_columns(pl.col("rank").fill_null(-1))
        decided, groups, chosen = pl.DataFrame(schema=_MAPPED), [], [pl.DataFrame(schema=_TAKEN)]
        for rank in self._order:
            known = Known(decided, _unmapped(optional.filter(pl.col("rank") < rank), decided))
            scored = pl.concat(
                evaluated(given, known, mode).pairs(given.pairs) for given in self._blocks(rank)
            )
            taken = self._taken(scored)
            groups.append(_losses(scored, taken))
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

    def _blocks(self, rank: int) -> Iterator[Candidates]:
        """The pairs of a rank, compared once, or where there are very many, as often as needed."""
        return iter(self._kept[rank]) if self._kept else self._candidates(rank)

    def _candidates(self, rank: int) -> Iterator[Candidates]:
        """The pairs of a rank with their fills, so many at a time that memory suffices."""
        now = self._ranks.filter(pl.col("rank") == rank)
        pairs = self._pairs.join(now.drop("rank"), on=["set", "type"], how="semi")
        for block in pairs.iter_slices(BLOCK):
            given = candidates(block, self.reference, self.system, self.policy.fillers).gaining()
            slots = block.join(self._early, on=["set", "type"])
            at = pl.col("pair") * self.reference.places + pl.col("place")
            yield given if slots.is_empty() else given.without(slots.select(at=at))

    def _taken(self, scored: pl.DataFrame) -> pl.DataFrame:
        """The pairs that the greedy algorithm takes."""
        good, tied = pl.col("f") > 0, pl.col("type") == self.policy.top
        if self.policy.zero_f == "skip":
            scored = scored.filter(good | tied)
        elif self.policy.zero_f == "skip-optional":
            scored = scored.filter(good | tied | ~pl.col("is_optional"))
        alone = pl.len().over("set", "type") == 1
        single, several = scored.filter(alone), scored.filter(~alone)
        order = ["set", "type", "f", "is_optional", "reference", "system"]
        descending = [name == "f" for name in order]
        better = several.filter(good).sort(order, descending=descending)
        better = better.filter(greedy(better.select("set", "type", "reference", "system")))
        taken = pl.concat([better, _left_over(several.filter(~good), better)])
        taken = taken.sort(order, descending=descending)
        return pl.concat([single, taken]).select("pair", "type", *_MAPPED, choice="f")

    def _final(self, taken: pl.DataFrame, known: Known) -> Candidates:
        """The pairs that are mapped, and every other instance beside nothing."""
        keys = ["set", "instance"]
        missing, spurious = (
            members.join(taken.select("set", instance=side), on=keys, how="anti")
            .select("set", "type", pl.col("instance").alias(side))
            .sort("set", side)
            for members, side in ((self._ours, "reference"), (self._theirs, "system"))
        )
        missing = missing.join(known.removed, on=["set", "reference"], how="anti")
        alone = pl.concat([missing, spurious], how="diagonal")
        number = pl.int_range(pl.len(), dtype=pl.Int64) + self._pairs.height
        pairs = pl.concat([taken, alone.with_columns(pair=number)], how="diagonal")
        return candidates(pairs, self.reference, self.system, self.policy.fillers)


def _left_over(worst: pl.DataFrame, taken: pl.DataFrame) -> pl.DataFrame:
    """The pairs without a correct point that the greedy algorithm takes after all others.

    Each instance that is left could be mapped to any other that is left, so that they are mapped in
    their order.
    """
    group = ["set", "type"]
    sides = []
    for side, order in (("reference", ["is_optional", "reference"]), ("system", ["system"])):
        rows = worst.select(*group, *order).unique()
        rows = rows.join(taken, on=[*group, side], how="anti").sort(*group, *order)
        sides.append(rows.with_columns(number=pl.int_range(pl.len()).over(group)))
    found = sides[0].join(sides[1], on=[*group, "number"]).select(*group, "reference", "system")
    return worst.join(found, on=found.columns, how="semi")


def _unmapped(optional: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    rows = optional.select("set", "reference")
    return rows.join(decided, on=["set", "reference"], how="anti", maintain_order="left")


def _losses(scored: pl.DataFrame, taken: pl.DataFrame) -> pl.DataFrame:
    """By set and type: the correct points of the pairs that were taken, and of the best mapping."""
    group = ["set", "type"]
    points = scored.select(*group, "pair", "reference", "system", "cor")
    greedily = points.join(taken.select("pair"), on="pair", how="semi")
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
    some = points.join(open_.select(group), on=group, how="semi")
    rows = limit.select(*group, "cor").join(_best(some), on=group, how="left")
    return rows.with_columns(best=pl.coalesce("best", "cor")).sort(group)


def _best(pairs: pl.DataFrame) -> pl.DataFrame:
    """By set and type, the most correct points that a one-to-one mapping can have."""
    group = ["set", "type"]
    if pairs.is_empty():
        return pairs.select(*group, best="cor")
    numbered = pairs.sort(group).with_columns(
        pl.col(side).rank("dense").over(group).cast(pl.Int64) - 1
        for side in ("reference", "system")
    )
    groups = numbered.group_by(group, maintain_order=True).agg(
        height=pl.col("reference").max() + 1,
        width=pl.col("system").max() + 1,
        reference="reference",
        system="system",
        cor="cor",
    )
    sizes = zip(groups["height"], groups["width"], strict=True)
    steps = sum(height * width * min(height, width) for height, width in sizes)
    compiled = steps > _MOST_STEPS
    best = [_most(*row, compiled=compiled) for row in groups.drop(group).iter_rows()]
    return groups.select(*group, best=pl.Series(best, dtype=pl.Int64))


_MOST_STEPS = 300_000
"""The most steps of assignments that take less time than loading SciPy."""


def _most(
    height: int,
    width: int,
    rows: list[int],
    columns: list[int],
    points: list[int],
    *,
    compiled: bool,
) -> int:
    """The most points of a one-to-one mapping of rows and columns."""
    table = [[0] * width for _ in range(height)]
    for row, column, value in zip(rows, columns, points, strict=True):
        table[row][column] = value
    return sum(table[row][column] for row, column in best_places(table, compiled=compiled))


def _joined(groups: list[pl.DataFrame]) -> pl.DataFrame:
    empty = pl.DataFrame(
        schema={"set": pl.Int64, "type": pl.String, "cor": pl.Int64, "best": pl.Int64}
    )
    return pl.concat([empty, *groups])
