"""The public scorer's own ways (neleval 3.1), where they differ from what a measure is defined as.

They show only where a key stands in several clusters of one side, where spans of one side overlap,
or where there are no identifiers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from hlteval.scoring.edl import clusterings
from hlteval.scoring.edl.clusterings import (
    Clusterings,
    chosen,
    dice,
    fractions,
    shared,
    sizes,
    together,
    unresolved,
)
from hlteval.scoring.edl.overlaps import Integers, covered, self_overlapping, spans, swept
from hlteval.scoring.ratios import Rates, harmonic, side_rates


def rates(found: pl.Expr, predicted: pl.Expr, met: pl.Expr, expected: pl.Expr) -> Rates[pl.Expr]:
    """The rates of `ratios.side_rates`, but 0 where nothing can be divided."""
    precision, recall, _ = side_rates(found, predicted, met, expected)
    precision = pl.when(predicted == 0).then(0.0).otherwise(precision)
    recall = pl.when(expected == 0).then(0.0).otherwise(recall)
    mean = pl.when(precision + recall == 0).then(0.0).otherwise(harmonic(precision, recall))
    return Rates(precision, recall, mean)


def counts(aggregate: str, members: pl.DataFrame) -> pl.LazyFrame:
    """The counts of a measure of clusterings.

    Args:
        aggregate: the measure.
        members: annotations with `system`, `group`, `item`, `cluster`, whether the cluster is that
            of annotations without an identifier (`nameless`), and `order` as they are read.
    """
    entered = members.group_by("system", "cluster").agg(entered=pl.col("order").min())
    unique = (
        members.sort("order")
        .unique(["system", "group", "item", "cluster"], keep="first", maintain_order=True)
        .select("system", "group", "item", "cluster", "nameless")
        .join(entered, on=["system", "cluster"], maintain_order="left")
    )
    sides = [unique.filter(pl.col("system") == side).drop("system") for side in (False, True)]
    both = Clusterings(sides[0], sides[1], _last)
    repeated = any(one.height < side.height for one, side in zip(both.resolved, sides, strict=True))
    if repeated or (aggregate == "b_cubed" and unique["nameless"].any()):
        return _REPEATED[aggregate](both)
    measured: pl.LazyFrame = getattr(clusterings, aggregate)(both)
    return measured


def _last(members: pl.DataFrame) -> pl.DataFrame:
    """Each item in the last of its clusters to be entered."""
    return members.group_by("group", "item").agg(pl.col("cluster").sort_by("entered").last())


def _displaced(members: pl.DataFrame) -> pl.DataFrame:
    """The reference's memberships as the public scorer's matrix holds them.

    All items are put down cluster by cluster; but a cluster's stretch of that list ends where the
    number of different items seen so far says, not the number of items put down. In which order the
    items of a cluster are put down varies from run to run there; here the last one comes first.
    """
    listed = (
        members.reverse()
        .sort("group", "entered", maintain_order=True)
        .with_columns(
            new=pl.struct("group", "item").is_first_distinct().cast(pl.Int64),
            position=pl.int_range(pl.len()).over("group"),
        )
    )
    stretches = listed.group_by("group", "cluster", maintain_order=True).agg(pl.col("new").sum())
    ends = stretches.with_columns(ends=pl.col("new").cum_sum().over("group"))
    ends = ends.filter(pl.col("new") > 0).select("group", "ends", into="cluster")
    placed = (
        listed.with_columns(ends=pl.col("position") + 1)
        .sort("ends")
        .join_asof(
            ends.sort("ends"), on="ends", by="group", strategy="forward", check_sortedness=False
        )
    )
    return placed.drop_nulls("into").select("group", "item", cluster="into")


def _ceaf_sides(both: Clusterings) -> tuple[pl.DataFrame, pl.DataFrame]:
    distinct = both.resolved[0].height == both.reference.height
    return both.reference if distinct else _displaced(both.reference), both.system


def _squared(members: pl.DataFrame, name: str) -> pl.LazyFrame:
    """Every item counted as often as it meets itself in the clusters of its side."""
    times = members.lazy().group_by("group", "item").agg(times=pl.len().cast(pl.Int64))
    return times.group_by("group").agg((pl.col("times") ** 2).sum().alias(name))


def _mention_ceaf(both: Clusterings) -> pl.LazyFrame:
    ours, theirs = _ceaf_sides(both)
    pairs = chosen(shared(ours, theirs), "shared")
    total = pairs.group_by("group").agg(ptp=pl.col("shared").sum())
    return together(
        total, total.rename({"ptp": "rtp"}), _squared(theirs, "p_den"), _squared(ours, "r_den")
    )


def _entity_ceaf(both: Clusterings) -> pl.LazyFrame:
    ours, theirs = _ceaf_sides(both)
    pairs = dice(shared(ours, theirs), sizes(ours), sizes(theirs))
    total = fractions(chosen(pairs, "weight"), "ptp")
    dens = [
        fractions(dice(shared(one, one), sizes(one), sizes(one)).lazy(), name)
        for name, one in (("p_den", theirs), ("r_den", ours))
    ]
    return together(total, total.rename({"ptp": "rtp"}), *dens)


def _b_cubed(both: Clusterings) -> pl.LazyFrame:
    """An item is in the last of its clusters; but clusters have all of their items.

    An item that the other side lacks is looked up in that side's cluster without an identifier.
    """
    ours, theirs = (item.select("group", "item", "cluster") for item in both.resolved)
    parts = []
    for name, one, other, members, counterpart in (
        ("ptp", theirs, ours, both.system, both.reference),
        ("rtp", ours, theirs, both.reference, both.system),
    ):
        nameless = counterpart.filter("nameless").select("group", none="cluster").unique()
        paired = one.join(other.select("item", other="cluster"), on="item", how="left")
        paired = paired.join(nameless, on="group", how="left")
        paired = paired.with_columns(pl.coalesce("other", "none").alias("other"))
        met = paired.join(shared(members, counterpart), on=["group", "cluster", "other"])
        sized = met.lazy().join(sizes(members).select("cluster", denominator="size"), on="cluster")
        parts.append(fractions(sized.with_columns(numerator=pl.col("shared")), name))
    dens = [
        one.lazy().group_by("group").agg(pl.len().alias(name))
        for name, one in (("p_den", theirs), ("r_den", ours))
    ]
    return together(*parts, *dens)


def _muc(both: Clusterings) -> pl.LazyFrame:
    """The other side's items are in the last of their clusters."""
    found = [
        shared(members, other)
        .lazy()
        .group_by("group")
        .agg((pl.col("shared") - 1).sum().alias(name))
        for name, members, other in (
            ("ptp", both.system, both.resolved[0]),
            ("rtp", both.reference, both.resolved[1]),
        )
    ]
    dens = [
        sizes(members).group_by("group").agg((pl.col("size") - 1).sum().alias(name))
        for name, members in (("p_den", both.system), ("r_den", both.reference))
    ]
    return together(*found, *dens)


def _unresolved(both: Clusterings) -> Clusterings:
    """The clusterings with their items in all of their clusters, whatever is asked."""
    return Clusterings(both.reference, both.system, unresolved)


def _pairwise(both: Clusterings) -> pl.LazyFrame:
    return clusterings.pairwise(_unresolved(both))


def _pairwise_negative(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that no cluster links; a pair that several clusters link is one pair.

    Of the pairs of items that both sides have, those are taken away that one of them links.
    """
    ours, theirs = (
        side.lazy().select("group", "item", "cluster") for side in (both.reference, both.system)
    )
    common = [ours.join(theirs, on="item", how="semi"), theirs.join(ours, on="item", how="semi")]
    parts = together(
        _pairs_of_items(common[0], "ptp"),
        _links(common[:1], "p_den"),
        _links(common[1:], "r_den"),
        _links(common, "rtp"),
    )
    unlinked = pl.col("ptp") - pl.col("p_den") - pl.col("r_den") + pl.col("rtp")
    found = parts.select("group", ptp=unlinked, rtp=unlinked)
    dens = [
        _pairs_of_items(side, "every")
        .join(_links([side], "linked"), on="group", how="left")
        .select("group", (pl.col("every") - pl.col("linked").fill_null(0)).alias(name))
        for name, side in (("p_den", theirs), ("r_den", ours))
    ]
    return together(found, *dens)


def _pairs_of_items(members: pl.LazyFrame, name: str) -> pl.LazyFrame:
    items = pl.col("item").n_unique().cast(pl.Int64)
    return members.group_by("group").agg((items * (items - 1) // 2).alias(name))


def _links(sides: Sequence[pl.LazyFrame], name: str) -> pl.LazyFrame:
    """How many pairs of items each of some sides links, a pair of several clusters once.

    Items that are in the same clusters on all sides are counted as one kind, since pairs of kinds
    are few where pairs of items are many.
    """
    kinds = sides[0].select("group", "item").unique()
    for number, side in enumerate(sides):
        own = side.group_by("item").agg(pl.col("cluster").sort().alias(f"clusters_{number}"))
        kinds = kinds.join(own, on="item")
    keys = ["group", *(f"clusters_{number}" for number in range(len(sides)))]
    kinds = kinds.with_columns(kind=pl.struct(keys).rank("dense"))
    sizes = kinds.group_by("group", "kind").agg(size=pl.len().cast(pl.Int64))
    pairs = _linked_kinds(sides[0], kinds)
    for side in sides[1:]:
        pairs = pairs.join(_linked_kinds(side, kinds), on=["group", "one", "other"], how="semi")
    counted = pairs.join(sizes.select(one="kind", size="size"), on="one").join(
        sizes.select(other="kind", size_other="size"), on="other"
    )
    same = pl.col("size") * (pl.col("size") - 1) // 2
    weight = (
        pl.when(pl.col("one") == pl.col("other"))
        .then(same)
        .otherwise(pl.col("size") * pl.col("size_other"))
    )
    return counted.group_by("group").agg(weight.sum().alias(name))


def _linked_kinds(side: pl.LazyFrame, kinds: pl.LazyFrame) -> pl.LazyFrame:
    """Pairs of kinds of items that a cluster holds."""
    placed = side.join(kinds.select("item", "kind"), on="item")
    placed = placed.select("group", "cluster", "kind").unique()
    pairs = placed.join(placed.select("cluster", other="kind"), on="cluster")
    ordered = pairs.filter(pl.col("kind") <= pl.col("other"))
    return ordered.select("group", "other", one="kind").unique().select("group", "one", "other")


_REPEATED = {
    "mention_ceaf": _mention_ceaf,
    "entity_ceaf": _entity_ceaf,
    "b_cubed": _b_cubed,
    "muc": _muc,
    "pairwise": _pairwise,
    "pairwise_negative": _pairwise_negative,
}


def overlaps(
    reference: pl.DataFrame, system: pl.DataFrame, modes: tuple[str, str]
) -> list[Integers]:
    """How many units of each annotation the other side covers, as far as the sweep finds it."""
    sides = [spans(rows) for rows in (reference, system)]
    crowded = np.union1d(*(self_overlapping(item) for item in sides))
    found = [covered(modes[0], sides[0], sides[1]), covered(modes[1], sides[1], sides[0])]
    if not len(crowded):
        return found
    some = [np.flatnonzero(np.isin(item[0], crowded)) for item in sides]
    few = [tuple(column[at] for column in one) for one, at in zip(sides, some, strict=True)]
    pairs = swept(few[0], few[1])  # type: ignore[arg-type]
    for side, other in ((0, 1), (1, 0)):
        own = (np.arange(len(some[side])), *few[side][1:])
        met = (pairs[side], *(column[pairs[other]] for column in few[other][1:]))
        found[side][some[side]] = covered(modes[side], own, met)  # type: ignore[arg-type]
    return found


# The table and the JSON that the public scorer writes (neleval 3.1).


COUNTS = ("ptp", "fp", "rtp", "fn")
RATES = ("precision", "recall", "fscore")
HEADER = ("ptp", "fp", "rtp", "fn", "precis", "recall", "fscore", "measure")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""The figures with three decimals, whole counts as they are, sorted by the measures' names.

    Args:
        rows: `measure`, `fractional` (whether counts are sums of fractions), counts and rates; null
            where there is none.

    Examples:
        >>> row = {"measure": "muc", "fractional": False, "ptp": 1.0, "fp": 1.0, "rtp": 1.0}
        >>> row |= {"fn": 0.0, "precision": 0.5, "recall": 1.0, "fscore": 2 / 3}
        >>> table([row]).splitlines()[1].split("\t")
        ['1', '1', '1', '0', '0.500', '1.000', '0.667', 'muc']
    """
    lines = ["\t".join(HEADER)]
    for row in sorted(rows, key=lambda row: str(row["measure"])):
        cells = [_cell(value) for value in _figures(row).values()]
        if not cells:
            cells = ["0"] * (len(HEADER) - 1)
        lines.append("\t".join([*cells, row["measure"]]))
    return "\n".join(lines) + "\n"


def as_json(rows: Iterable[Mapping[str, Any]]) -> str:
    """The figures by the names of the measures."""
    by_measure = {row["measure"]: _figures(row) for row in rows}
    return json.dumps(by_measure, sort_keys=True, indent=4) + "\n"


def _figures(row: Mapping[str, Any]) -> dict[str, float | int]:
    """The figures of a row; nothing where it has none."""
    figures = dict[str, float | int]()
    if row["precision"] is None:
        return figures
    counts = {name: row[name] if row["fractional"] else int(row[name]) for name in COUNTS}
    return figures | counts | {name: row[name] for name in RATES}


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
