"""Measures of clusterings: CEAF, B³, MUC, LEA, pairwise links, over tables of memberships.

A membership is an item in a cluster of one side: `group`, `item`, `cluster`, each a number, and
`weight`, how many items it stands for: those in the same clusters need not be told apart (`weigh`).
Groups are scored apart and share neither items nor clusters; items are the same on both sides if
they have the same number. Every function gives, for each group in which there is anything, the
numerators and denominators of precision and recall: `ptp`, `p_den`, `rtp`, `r_den`. Fractions are
summed as whole numbers by denominator first, so that they do not depend on the order of rows. The
counts are one lazy query: with few rows, as most tables have, steps by themselves take longer than
the work.

References:
    Luo 2005 (CEAF), Bagga and Baldwin 1998 (B³), Vilain et al. 1995 (MUC), Luo et al. 2014 (BLANC,
    of linked and unlinked pairs), Moosavi and Strube 2016 (LEA).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import ordinals
from hlteval.scoring.matching import assign

#: How many items memberships stand for.
WEIGHT = pl.col("weight").sum()
#: Fewer memberships are compared sooner than they are weighed.
_MANY = 10_000
#: Pairs of clusters with the number of items that they share.
_PAIRS = dict.fromkeys(("group", "cluster", "other", "shared"), pl.Int64)


@dataclass(frozen=True)
class Clusterings:
    """The memberships of both sides, each once.

    Attributes:
        reference: `group`, `item`, `cluster`, `weight`; `order`, by which the last cluster of an
            item is found; and `nameless`, whether the cluster is that of mentions without an
            identifier.
        system: the same of the system.
    """

    reference: pl.DataFrame
    system: pl.DataFrame
    _shared: dict[tuple[int, int], pl.DataFrame] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @classmethod
    def of(cls, reference: pl.DataFrame, system: pl.DataFrame) -> Clusterings:
        """The clusterings of memberships without weights, the last cluster being the greatest.

        Items are weighed where that saves time: of many items in one group.
        """
        sides = (reference, system)
        if reference.height + system.height > _MANY:
            groups = pl.concat(side["group"] for side in sides).unique()
            if groups.len() == 1:
                return cls.of_weighed(weigh(*sides), group=groups.item())
        columns = {"order": pl.col("cluster"), "nameless": pl.lit(value=False)}
        return cls(*(side.with_columns(**columns, weight=pl.lit(1, pl.Int64)) for side in sides))

    @classmethod
    def of_weighed(cls, kinds: pl.DataFrame, group: int = 0) -> Clusterings:
        """The clusterings of one group from its kinds of items, as of `weigh`."""
        number = pl.coalesce(-1 - pl.col("item"), pl.int_range(pl.len(), dtype=pl.Int64))
        columns = {"group": pl.lit(group, pl.Int64), "nameless": pl.lit(value=False)}
        rows = kinds.with_columns(**columns, item=number)
        sides = (
            rows.drop_nulls(name).select(*columns, "item", "weight", cluster=name, order=name)
            for name in ("cluster", "other")
        )
        return cls(*sides)

    @cached_property
    def once(self) -> Clusterings:
        """The clusterings with every item in the last of its clusters only."""
        sides = [
            side.sort("order").unique("item", keep="last")
            if side["item"].is_duplicated().any()
            else side
            for side in (self.reference, self.system)
        ]
        whole = sides[0] is self.reference and sides[1] is self.system
        return self if whole else replace(self, reference=sides[0], system=sides[1])

    @property
    def partition(self) -> Clusterings:
        """The clusterings that measures of partitions compare."""
        return self.once

    @property
    def matrix(self) -> pl.DataFrame:
        """The reference's memberships of which CEAF counts those that clusters share."""
        return self.reference

    def item_count(self, side: pl.DataFrame, name: str) -> pl.LazyFrame:
        """The items of a side by group: the denominators of CEAF with φ3."""
        return by_group(side, **{name: WEIGHT})

    def cluster_count(self, side: pl.DataFrame, name: str) -> pl.LazyFrame:
        """The clusters of a side by group: the denominators of CEAF with φ4."""
        return by_group(sizes(side), **{name: pl.len()})

    @cached_property
    def twins(self) -> Twins:
        """The clusters that CEAF pairs without a comparison, and the memberships of all others."""
        return Twins.of(self.matrix, self.system)

    def aligned_dice(self) -> pl.LazyFrame:
        """The sum of `dice` over the best alignment of clusters by group, as `ptp`."""
        ours, theirs, pairs = self.twins
        others = dice(self.intersections(ours, theirs), sizes(ours), sizes(theirs))
        two = pl.lit(2, pl.Int64)
        alike = pairs.lazy().select("group", numerator=two, denominator=two)
        best = best_alignment(others, "weight").select("group", "numerator", "denominator")
        return fractions(pl.concat([best, alike]), "ptp")

    def intersections(self, reference: pl.DataFrame, system: pl.DataFrame) -> pl.DataFrame:
        """Pairs of clusters with the number of items that they share (`shared`), kept.

        Args:
            reference: memberships of the reference, all of them or each item's last one.
            system: those of the system.
        """
        sides = id(reference), id(system)
        if sides not in self._shared:
            self._shared[sides] = intersections(reference, system)
        return self._shared[sides]

    @cached_property
    def sizes(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The number of items of each cluster of either side."""
        sized = pl.collect_all([sizes(self.reference), sizes(self.system)], engine="in-memory")
        return sized[0].lazy(), sized[1].lazy()


def weigh(reference: pl.DataFrame, system: pl.DataFrame) -> pl.DataFrame:
    """Count the items of each kind: those that are in the same cluster of either side.

    Args:
        reference: `item` and `cluster` of one group; each membership once.
        system: the same of the system.

    Returns:
        `cluster` and `other` (null where a side lacks the item) and `weight`, how many items there
        are; `item` is null. An item in several clusters of a side has a row for each of its
        memberships, with its number as `item`.

    Examples:
        >>> one = pl.DataFrame({"item": [1, 2, 3, 5, 5], "cluster": [7, 7, 7, 7, 8]})
        >>> two = pl.DataFrame({"item": [2, 3, 4], "cluster": [6, 6, 6]})
        >>> weigh(one, two).sort("item", "cluster", "other").rows()
        [(None, 6, 1, None), (7, None, 1, None), (7, 6, 2, None), (7, None, 1, 5), (8, None, 1, 5)]
    """
    sides = [side.select("item", "cluster").sort("item") for side in (reference, system)]
    repeated = [side.filter(side["item"] == side["item"].shift())["item"] for side in sides]
    apart = pl.col("item").is_in(pl.concat(repeated).unique().implode())
    simple = [side.filter(~apart) for side in sides] if any(map(len, repeated)) else sides
    items, clusters, found, others = (
        side[name].to_numpy() for side in simple for name in ("item", "cluster")
    )
    # both sides are sorted: where each item of the reference is, or would be, in the system
    places = np.searchsorted(found, items)
    met = np.append(found, -1)[places] == items
    lacking = np.ones(len(found), dtype=np.bool_)
    lacking[places[met]] = False
    # the two clusters of an item as one number, 0 for none; sorted, equal ones are a run
    size = others.max(initial=0) + 2
    of_both = (clusters + 1) * size + np.where(met, np.append(others, -1)[places] + 1, 0)
    runs = pl.Series(np.r_[of_both, others[lacking] + 1]).sort().rle().struct.unnest()
    number = {"cluster": pl.col("value") // size, "other": pl.col("value") % size}
    kinds = runs.select(
        *(pl.when(code > 0).then(code - 1).alias(name) for name, code in number.items()),
        weight=pl.col("len").cast(pl.Int64),
        item=pl.lit(None, pl.Int64),
    )
    ours, theirs = (side.filter(apart).with_columns(weight=pl.lit(1, pl.Int64)) for side in sides)
    return pl.concat([kinds, ours, theirs.rename({"cluster": "other"})], how="diagonal")


def intersections(reference: pl.DataFrame, system: pl.DataFrame) -> pl.DataFrame:
    """Pairs of clusters of two sides with the number of items that they share.

    Examples:
        >>> one = pl.DataFrame({"group": 0, "item": [1, 2], "cluster": [7, 7], "weight": 1})
        >>> two = pl.DataFrame({"group": 0, "item": [2, 3], "cluster": [4, 4], "weight": 1})
        >>> intersections(one, two).rows()
        [(0, 7, 4, 1)]
    """
    both = reference.lazy().join(system.lazy().select("item", other="cluster"), on="item")
    counts = (pl.col("group").first(), WEIGHT.alias("shared"))
    pairs = both.group_by("cluster", "other").agg(counts).sort("cluster", "other")
    return pairs.select("group", "cluster", "other", "shared").collect(engine="in-memory")


def sizes(members: pl.DataFrame) -> pl.LazyFrame:
    """The number of items of each cluster."""
    sized = members.lazy().group_by("cluster").agg(pl.col("group").first(), size=WEIGHT)
    return sized.select("group", "cluster", "size")


def partners(side: pl.DataFrame, other: pl.DataFrame) -> pl.LazyFrame:
    """The number of the other side's clusters with which each cluster shares items: `count`.

    Clusters of one item are counted by their items, so that an item may be in many of both sides.

    Args:
        side: `item` (not negative) and `cluster`, each membership once.
        other: the same of the other side.

    Examples:
        >>> one = pl.DataFrame({"item": [1, 1, 2], "cluster": [7, 8, 8]})
        >>> two = pl.DataFrame({"item": [1, 1, 2], "cluster": [4, 5, 6]})
        >>> partners(one, two).sort("cluster").collect().rows()
        [(7, 2), (8, 3)]
    """
    kind = pl.when(pl.len().over("cluster") == 1).then(-1 - pl.col("item")).otherwise("cluster")
    ours, theirs = (rows.lazy().select("item", "cluster", kind=kind) for rows in (side, other))
    kinds = theirs.group_by("item", other="kind").agg(count=pl.len().cast(pl.Int64))
    met = ours.select("item", "kind").unique().join(kinds, on="item").unique(("kind", "other"))
    counts = met.group_by("kind").agg(pl.col("count").sum())
    return (
        ours.select("cluster", "kind").unique().join(counts, on="kind").select("cluster", "count")
    )


def by_group(rows: pl.DataFrame | pl.LazyFrame, **counts: pl.Expr) -> pl.LazyFrame:
    """Counts of rows by group."""
    return rows.lazy().group_by("group").agg(**counts)


def together(*parts: pl.LazyFrame) -> pl.LazyFrame:
    """The counts of all parts by group, 0 where a part has none."""
    return pl.concat(parts, how="diagonal").group_by("group").sum()


def fractions(rows: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """The sum of `numerator` / `denominator` by group, the same in whatever order the rows are."""
    # Collected, since the optimizer leaves out a sort before a sum, whose last digit depends on it.
    summed = by_denominator(rows).collect(engine="in-memory")
    ordered = summed.sort("group", "denominator").lazy()
    parts = ordered.select("group", part=pl.col("numerator") / pl.col("denominator"))
    return parts.group_by("group", maintain_order=True).agg(pl.col("part").sum().alias(name))


def by_denominator(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The sums of numerators by group and denominator: whole numbers, which add exactly."""
    return rows.group_by("group", "denominator").agg(pl.col("numerator").sum())


def best_alignment(pairs: pl.DataFrame, weight: str) -> pl.LazyFrame:
    """The pairs of the best one-to-one alignment of clusters."""
    columns = (pairs[column].to_numpy() for column in ("cluster", "other", weight))
    return pairs.filter(assign(*columns)).lazy()


class Twins(NamedTuple):
    """Clusters of one item, paired with those of the other side, and the memberships of the others.

    Where an item is in n clusters of either side, they would be n² pairs. Some best alignment has
    these pairs: if it had r = {x} with s, and its twin r' = {x} with s', then s and s' share x, so
    that s with s' and r with r' have no lower sum, of shared items as of `dice`. A cluster counts
    an item once, for `dice` on both sides, otherwise on the system's.

    Attributes:
        reference: the memberships of all other clusters.
        system: the same of the system.
        pairs: `group`, `cluster`, `other`, `shared`.
    """

    reference: pl.DataFrame
    system: pl.DataFrame
    pairs: pl.DataFrame = pl.DataFrame(schema=_PAIRS)

    @classmethod
    def of(cls, reference: pl.DataFrame, system: pl.DataFrame) -> Twins:
        """Pair the clusters of each item in their order, as many as both sides have.

        Unless both sides have items in several clusters, there are no more pairs of clusters than
        memberships, and nothing is paired here.

        Examples:
            >>> sides = [
            ...     pl.DataFrame({"group": 0, "item": 5, "cluster": clusters, "weight": 1})
            ...     for clusters in ([1, 2], [2, 3, 4])
            ... ]
            >>> twins = Twins.of(*sides)
            >>> twins.pairs.rows(), twins.system["cluster"].to_list()
            ([(0, 1, 2, 1), (0, 2, 3, 1)], [4])
        """
        if not all(side["item"].is_duplicated().any() for side in (reference, system)):
            return cls(reference, system)
        single = WEIGHT.over("cluster") == 1
        ones = [side.filter(single).sort("cluster") for side in (reference, system)]
        own, other = (
            rows.select("group", "item", "cluster", ordinals(rows, ["item"])) for rows in ones
        )
        met = own.join(other, on=["item", "ordinal"], suffix="_other")
        pairs = met.select("group", "cluster", other="cluster_other", shared=pl.lit(1, pl.Int64))
        ours = reference.join(pairs, on="cluster", how="anti", maintain_order="left")
        taken = pairs.select(cluster="other")
        theirs = system.join(taken, on="cluster", how="anti", maintain_order="left")
        return cls(ours, theirs, pairs)


def mention_ceaf(both: Clusterings) -> pl.LazyFrame:
    """CEAF with φ3: the items that clusters share, summed over the best one-to-one alignment."""
    total = pl.col("shared").sum()
    ours, theirs, pairs = both.twins
    best = best_alignment(both.intersections(ours, theirs), "shared")
    return together(
        by_group(pl.concat([best, pairs.lazy()]), ptp=total, rtp=total),
        both.item_count(both.system, "p_den"),
        both.item_count(both.matrix, "r_den"),
    )


def entity_ceaf(both: Clusterings) -> pl.LazyFrame:
    """CEAF with φ4: 2|G∩S|/(|G|+|S|), summed over the best one-to-one alignment."""
    total = both.aligned_dice().with_columns(rtp="ptp")
    p_den, r_den = (
        both.cluster_count(both.system, "p_den"),
        both.cluster_count(both.matrix, "r_den"),
    )
    return together(total, p_den, r_den)


def dice(pairs: pl.DataFrame, ours: pl.LazyFrame, theirs: pl.LazyFrame) -> pl.DataFrame:
    """The pairs with 2|G∩S|/(|G|+|S|) as `numerator`, `denominator` and `weight`."""
    sized = pairs.lazy().join(ours.select("cluster", "size"), on="cluster")
    sized = sized.join(theirs.select(other="cluster", size_other="size"), on="other")
    weights = sized.select(
        *("group", "cluster", "other"),
        numerator=2 * pl.col("shared"),
        denominator=pl.col("size") + pl.col("size_other"),
    ).with_columns(weight=pl.col("numerator") / pl.col("denominator"))
    return weights.sort("cluster", "other").collect(engine="in-memory")


def b_cubed(both: Clusterings) -> pl.LazyFrame:
    """B³: for each item the share of its cluster that is also in the other side's cluster of it.

    An item is in the last of its clusters; but clusters have all of their items. An item that the
    other side lacks is looked up in that side's cluster without an identifier, if it has one.
    """
    ours, theirs = both.once.reference, both.once.system
    # the items that two clusters share have one share each, that of these items
    aligned = both.intersections(ours, theirs).lazy()
    common = both.intersections(both.reference, both.system).lazy().rename({"shared": "common"})
    parts = []
    for name, own, other, items, counterpart, size in (
        ("ptp", "other", "cluster", theirs, both.reference.lazy(), both.sizes[1]),
        ("rtp", "cluster", "other", ours, both.system.lazy(), both.sizes[0]),
    ):
        nameless = counterpart.filter("nameless").select("group", none="cluster").unique()
        lacking = items.lazy().join(counterpart, on="item", how="anti").join(nameless, on="group")
        lost = lacking.group_by("cluster", "none").agg(shared=WEIGHT)
        lost = lost.rename({"cluster": own, "none": other})
        pairs = [each.select("cluster", "other", "shared") for each in (aligned, lost)]
        met = pl.concat(pairs).join(common, on=("cluster", "other"))
        sized = met.join(size.select(pl.col("cluster").alias(own), denominator="size"), on=own)
        shares = sized.with_columns(numerator=pl.col("shared") * pl.col("common"))
        parts.append(fractions(shares, name))
    return together(*parts, by_group(theirs, p_den=WEIGHT), by_group(ours, r_den=WEIGHT))


def muc(both: Clusterings) -> pl.LazyFrame:
    """MUC: the links that each cluster needs, and of these the ones that the other side has.

    The other side's items are in the last of their clusters.
    """
    # a cluster of n items whose m shared items are in k clusters there has m - k of n - 1 links
    kept, needed = (pl.col("shared") - 1).sum(), (pl.col("size") - 1).sum()
    return together(
        by_group(both.intersections(both.once.reference, both.system), ptp=kept),
        by_group(both.intersections(both.reference, both.once.system), rtp=kept),
        by_group(both.sizes[1], p_den=needed),
        by_group(both.sizes[0], r_den=needed),
    )


def lea(both: Clusterings) -> pl.LazyFrame:
    """LEA: the share of the links of each cluster that the other side has, times its size.

    A cluster of one item has one link, to itself, which a cluster of only that item has too.
    """
    pairs = both.intersections(both.once.reference, both.once.system).lazy()
    sized = pairs.join(both.sizes[0].select("cluster", size="size"), on="cluster")
    sized = sized.join(both.sizes[1].select(other="cluster", size_other="size"), on="other")
    alone = (pl.col("size") == 1) & (pl.col("size_other") == 1)
    links = pl.col("shared") * (pl.col("shared") - 1)
    parts = []
    for name, size in (("rtp", pl.col("size")), ("ptp", pl.col("size_other"))):
        # n items have n(n - 1)/2 links, of which each counts n times its share: 2/(n - 1)
        share = sized.select(
            "group",
            numerator=pl.when(alone).then(1).otherwise(links),
            denominator=pl.max_horizontal(size - 1, 1),
        )
        parts.append(fractions(share, name))
    total = pl.col("size").sum()
    ours, theirs = both.sizes
    return together(*parts, by_group(theirs, p_den=total), by_group(ours, r_den=total))


def pairwise(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that are in one cluster, once for each cluster that they are in."""
    linked, size = (_pairs(pl.col(name)).sum() for name in ("shared", "size"))
    return together(
        by_group(both.intersections(both.reference, both.system), ptp=linked, rtp=linked),
        by_group(both.sizes[1], p_den=size),
        by_group(both.sizes[0], r_den=size),
    )


def pairwise_negative(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that no cluster links.

    Of the pairs of items that both sides have, those are taken away that one of them links.
    """
    ours, theirs = both.reference, both.system
    common = ours.join(theirs.select("item", other="cluster"), on="item")
    common = common.select("group", "item", "cluster", "other", "weight")
    every = _pairs(pl.col("weight").filter(pl.col("item").is_first_distinct()).sum())
    counts = together(
        by_group(theirs, p_all=every),
        by_group(ours, r_all=every),
        by_group(common, both_all=every),
        link_count(theirs, "p_linked"),
        link_count(ours, "r_linked"),
        link_count(common.unique(("item", "other")), "p_common", "other"),
        link_count(common.unique(("item", "cluster")), "r_common"),
        link_count(common, "both_linked", "cluster", "other"),
    )
    linked = pl.col("p_common") + pl.col("r_common") - pl.col("both_linked")
    return counts.select(
        "group",
        ptp=pl.col("both_all") - linked,
        p_den=pl.col("p_all") - pl.col("p_linked"),
        rtp=pl.col("both_all") - linked,
        r_den=pl.col("r_all") - pl.col("r_linked"),
    )


def _pairs(items: pl.Expr) -> pl.Expr:
    """How many pairs so many items make."""
    return items * (items - 1) // 2


def link_count(members: pl.DataFrame, name: str, *columns: str) -> pl.LazyFrame:
    """How many pairs of items a cluster holds, a pair of several clusters once.

    Items that are in the same clusters are counted as one kind, since pairs of kinds are few where
    pairs of items are many.

    Args:
        members: the memberships.
        name: of the count.
        columns: what a cluster is, if it is not `cluster`.
    """
    keys = columns or ("cluster",)
    if not members["item"].is_duplicated().any():
        sized = members.lazy().group_by(keys).agg(pl.col("group").first(), size=WEIGHT)
        return by_group(sized, **{name: _pairs(pl.col("size")).sum()})
    ranked = members.lazy().with_columns(cluster=pl.struct(keys).rank("dense"))
    once = pl.col("weight").first()
    clusters = ranked.group_by("group", "item").agg(pl.col("cluster").sort(), once)
    kinds = clusters.group_by("group", "cluster").agg(size=WEIGHT).with_row_index("kind")
    # collected, so that both sides of the join number the kinds alike
    kinds = kinds.collect(engine="in-memory").lazy().explode("cluster")
    pairs = kinds.join(kinds.drop("group"), on="cluster", suffix="_other")
    pairs = pairs.filter(pl.col("kind") <= pl.col("kind_other")).unique(("kind", "kind_other"))
    same = pl.when(pl.col("kind") == pl.col("kind_other")).then(_pairs(pl.col("size")))
    return by_group(pairs, **{name: same.otherwise(pl.col("size") * pl.col("size_other")).sum()})


#: The measures by their names; but for BLANC, which is made of links of two kinds.
MEASURES: Mapping[str, Callable[[Clusterings], pl.LazyFrame]] = {
    measure.__name__: measure
    for measure in (mention_ceaf, entity_ceaf, b_cubed, muc, lea, pairwise, pairwise_negative)
}
