"""Measures of clusterings: CEAF, B³, MUC, pairwise links and BLANC, over tables of memberships.

A membership is an item in a cluster of one side: `group`, `item`, `cluster`, each a number. Groups
are scored apart and share neither items nor clusters; items are the same on both sides if they have
the same number. Every function gives, for each group in which there is anything, the numerators and
denominators of precision and recall: `ptp`, `p_den`, `rtp`, `r_den`. Fractions are summed as
whole numbers by denominator first, so that they do not depend on the order of rows. The counts are
one lazy query: with few rows, as most tables have, steps by themselves take longer than the work.

References:
    Luo 2005 (CEAF), Bagga and Baldwin 1998 (B³), Vilain et al. 1995 (MUC), Luo et al. 2014 (BLANC).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from hlteval.scoring.matching import assigned
from hlteval.scoring.ratios import rates

#: Numerators and denominators of precision and recall.
COUNTS = ("ptp", "p_den", "rtp", "r_den")


def last_by_name(members: pl.DataFrame) -> pl.DataFrame:
    """The memberships with every item in the last of its clusters by name."""
    if members["item"].n_unique() == members.height:
        return members
    last = members.group_by("item").agg(pl.col("group").first(), pl.col("cluster").max())
    return last.select("group", "item", "cluster")


def unresolved(members: pl.DataFrame) -> pl.DataFrame:
    """The memberships as they are."""
    return members


@dataclass(frozen=True)
class Clusterings:
    """The memberships of both sides.

    Attributes:
        reference: the memberships of the reference, each once.
        system: those of the system.
        resolve: the memberships of a side with every item in one cluster only.
    """

    reference: pl.DataFrame
    system: pl.DataFrame
    resolve: Callable[[pl.DataFrame], pl.DataFrame] = last_by_name

    @cached_property
    def shared(self) -> pl.DataFrame:
        """Pairs of clusters with the number of items that they share."""
        return shared(self.reference, self.system)

    @cached_property
    def resolved(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The memberships of both sides with every item in one cluster of its side only."""
        return self.resolve(self.reference), self.resolve(self.system)

    @cached_property
    def partition(self) -> Clusterings:
        """The clusterings with every item in one cluster of its side only."""
        reference, system = self.resolved
        whole = reference.height == self.reference.height and system.height == self.system.height
        return self if whole else Clusterings(reference, system, unresolved)

    @cached_property
    def sizes(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The number of items of each cluster of either side."""
        sized = pl.collect_all([sizes(self.reference), sizes(self.system)], engine="in-memory")
        return sized[0].lazy(), sized[1].lazy()

    @property
    def lazy(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The memberships of both sides, for queries."""
        return self.reference.lazy(), self.system.lazy()


def shared(reference: pl.DataFrame, system: pl.DataFrame) -> pl.DataFrame:
    """Pairs of clusters of two sides with the number of items that they share.

    Examples:
        >>> one = pl.DataFrame({"group": [0, 0], "item": [1, 2], "cluster": [7, 7]})
        >>> two = pl.DataFrame({"group": [0, 0], "item": [2, 3], "cluster": [4, 4]})
        >>> shared(one, two).rows()
        [(0, 7, 4, 1)]
    """
    both = reference.lazy().join(system.lazy().select("item", other="cluster"), on="item")
    counted = (pl.col("group").first(), pl.len().cast(pl.Int64).alias("shared"))
    pairs = both.group_by("cluster", "other").agg(counted).sort("cluster", "other")
    return pairs.select("group", "cluster", "other", "shared").collect(engine="in-memory")


def sizes(members: pl.DataFrame | pl.LazyFrame) -> pl.LazyFrame:
    """The number of items of each cluster."""
    size = pl.len().cast(pl.Int64)
    sized = members.lazy().group_by("cluster").agg(pl.col("group").first(), size=size)
    return sized.select("group", "cluster", "size")


def mention_ceaf(both: Clusterings) -> pl.LazyFrame:
    """CEAF with φ3: the items that clusters share, summed over the best one-to-one alignment."""
    reference, system = both.lazy
    total = chosen(both.shared, "shared").group_by("group").agg(ptp=pl.col("shared").sum())
    return together(
        total,
        total.rename({"ptp": "rtp"}),
        system.group_by("group").agg(p_den=pl.len()),
        reference.group_by("group").agg(r_den=pl.len()),
    )


def entity_ceaf(both: Clusterings) -> pl.LazyFrame:
    """CEAF with φ4: 2|G∩S|/(|G|+|S|), summed over the best one-to-one alignment."""
    total = fractions(chosen(dice(both.shared, *both.sizes), "weight"), "ptp")
    return together(
        total,
        total.rename({"ptp": "rtp"}),
        both.sizes[1].group_by("group").agg(p_den=pl.len()),
        both.sizes[0].group_by("group").agg(r_den=pl.len()),
    )


def dice(pairs: pl.DataFrame, ours: pl.LazyFrame, theirs: pl.LazyFrame) -> pl.DataFrame:
    """The pairs with 2|G∩S|/(|G|+|S|) as `numerator`, `denominator` and `weight`."""
    sized = pairs.lazy().join(ours.select("cluster", "size"), on="cluster")
    sized = sized.join(theirs.select(other="cluster", size_other="size"), on="other")
    fractions = sized.select(
        *("group", "cluster", "other"),
        numerator=2 * pl.col("shared"),
        denominator=pl.col("size") + pl.col("size_other"),
    )
    weight = pl.col("numerator") / pl.col("denominator")
    weighed = fractions.with_columns(weight=weight).sort("cluster", "other")
    return weighed.collect(engine="in-memory")


def chosen(pairs: pl.DataFrame, weight: str) -> pl.LazyFrame:
    """The pairs of the best one-to-one alignment of clusters."""
    columns = (pairs[column].to_numpy() for column in ("cluster", "other", weight))
    return pairs.filter(assigned(*columns)).lazy()


def fractions(rows: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """The sum of `numerator` / `denominator` by group, the same in whatever order the rows are."""
    by_size = rows.group_by("group", "denominator").agg(pl.col("numerator").sum())
    # Collected, since the optimizer leaves out a sort before a sum, whose last digit depends on it.
    ordered = by_size.collect(engine="in-memory").sort("group", "denominator").lazy()
    parts = ordered.select("group", part=pl.col("numerator") / pl.col("denominator"))
    return parts.group_by("group", maintain_order=True).agg(pl.col("part").sum().alias(name))


def together(*parts: pl.LazyFrame) -> pl.LazyFrame:
    """The counts of all parts by group, 0 where a part has none."""
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.join(part, on="group", how="full", coalesce=True)
    return whole.select("group", *COUNTS).fill_null(0)


def b_cubed(both: Clusterings) -> pl.LazyFrame:
    """B³: for each item the share of its cluster that is also in the other side's cluster of it."""
    both = both.partition
    reference, system = both.lazy
    return together(
        _share(both.shared, both.sizes[1].rename({"cluster": "other"}), "other", "ptp"),
        _share(both.shared, both.sizes[0], "cluster", "rtp"),
        system.group_by("group").agg(p_den=pl.len()),
        reference.group_by("group").agg(r_den=pl.len()),
    )


def _share(pairs: pl.DataFrame, sized: pl.LazyFrame, side: str, name: str) -> pl.LazyFrame:
    """Of each pair, its items times the share that they are of one of the clusters, summed."""
    found = pairs.lazy().join(sized.select(side, denominator="size"), on=side)
    return fractions(found.with_columns(numerator=pl.col("shared") ** 2), name)


def muc(both: Clusterings) -> pl.LazyFrame:
    """MUC: the links that each cluster needs, and of these the ones that the other side has."""
    both = both.partition
    # a cluster of n items whose m shared items are in k clusters there has m - k of n - 1 links
    found = both.shared.lazy().group_by("group").agg(ptp=(pl.col("shared") - 1).sum())
    return together(
        found,
        found.rename({"ptp": "rtp"}),
        _links_needed(both.sizes[1], "p_den"),
        _links_needed(both.sizes[0], "r_den"),
    )


def _links_needed(sized: pl.LazyFrame, name: str) -> pl.LazyFrame:
    return sized.group_by("group").agg((pl.col("size") - 1).sum().alias(name))


def pairwise(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that are in one cluster."""
    both = both.partition
    found = _pairs(both.shared.lazy(), "shared", "ptp")
    return together(
        found,
        found.rename({"ptp": "rtp"}),
        _pairs(both.sizes[1], "size", "p_den"),
        _pairs(both.sizes[0], "size", "r_den"),
    )


def pairwise_negative(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that are in different clusters.

    Of the pairs of items that both sides have, those are taken away that one of them links.
    """
    both = both.partition
    linked = pairwise(both).collect(engine="in-memory").lazy()
    reference, system = both.lazy
    common = reference.join(system, on="item", how="semi")
    parts = together(
        _pairs(_distinct(common), "size", "ptp"),
        _pairs(sizes(common), "size", "p_den"),
        _pairs(sizes(system.join(reference, on="item", how="semi")), "size", "r_den"),
        linked.select("group", rtp="ptp"),
    )
    unlinked = pl.col("ptp") - pl.col("p_den") - pl.col("r_den") + pl.col("rtp")
    found = parts.select("group", ptp=unlinked, rtp=unlinked)
    return together(
        found,
        _unlinked(system, linked.select("group", linked="p_den"), "p_den"),
        _unlinked(reference, linked.select("group", linked="r_den"), "r_den"),
    )


def _pairs(rows: pl.LazyFrame, count: str, name: str) -> pl.LazyFrame:
    """How many pairs so many items make, by group."""
    return rows.group_by("group").agg((pl.col(count) * (pl.col(count) - 1) // 2).sum().alias(name))


def _distinct(members: pl.LazyFrame) -> pl.LazyFrame:
    """How many items there are, by group."""
    return members.group_by("group").agg(size=pl.col("item").n_unique().cast(pl.Int64))


def _unlinked(members: pl.LazyFrame, linked: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """All pairs of items but those that are linked."""
    every = _pairs(_distinct(members), "size", "pairs")
    return every.join(linked, on="group").select(
        "group", (pl.col("pairs") - pl.col("linked")).alias(name)
    )


def blanc(linked: pl.DataFrame, unlinked: pl.DataFrame, *, defined: bool = True) -> pl.DataFrame:
    """BLANC: the means of the figures of linked and of unlinked pairs.

    Where neither side has any pair of a kind, the other kind stands alone; where only one side has,
    the figures of that kind are 0.

    Args:
        linked: `group`, `ptp`, `fp`, `rtp`, `fn` of pairs in one cluster.
        unlinked: those of pairs in different clusters, of the same groups.
        defined: whether there are to be any figures.

    Returns:
        `group`, `precision`, `recall`, `fscore`; null where there are no pairs. A mean has no
        counts: `ptp`, `fp`, `rtp`, `fn` are null.

    Examples:
        >>> one = pl.DataFrame({"group": [""], "ptp": [1], "fp": [1], "rtp": [1], "fn": [0]})
        >>> two = pl.DataFrame({"group": [""], "ptp": [1], "fp": [0], "rtp": [1], "fn": [1]})
        >>> blanc(one, two).row(0)[:2]
        ('', 0.75)
    """
    kinds = [_link_figures(one, name) for name, one in (("linked", linked), ("unlinked", unlinked))]
    both = pl.concat([linked.select("group"), *kinds], how="horizontal")
    nothing = pl.lit(None, pl.Float64)
    means = [
        (pl.mean_horizontal(f"linked_{name}", f"unlinked_{name}") if defined else nothing).alias(
            name
        )
        for name in ("precision", "recall", "fscore")
    ]
    return both.select(
        "group", *means, *(nothing.alias(name) for name in ("ptp", "fp", "rtp", "fn"))
    )


def _link_figures(counts: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Precision, recall and F of links of one kind; null where neither side has any."""
    system, reference = pl.col("ptp") + pl.col("fp"), pl.col("rtp") + pl.col("fn")
    some = system + reference > 0
    both = rates(pl.col("ptp"), system, reference)
    return counts.select(
        pl.when(some).then(rate.fill_null(0.0)).alias(f"{kind}_{name}")
        for name, rate in zip(("precision", "recall", "fscore"), both, strict=True)
    )
