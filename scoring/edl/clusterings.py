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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import polars as pl

from hlteval.scoring.edl.measures import COUNTS, RATES
from hlteval.scoring.matching import assigned
from hlteval.scoring.ratios import rates


@dataclass(frozen=True)
class Clusterings:
    """The memberships of both sides.

    Attributes:
        reference: the memberships of the reference, each once.
        system: those of the system.
    """

    reference: pl.DataFrame
    system: pl.DataFrame

    def single(self, members: pl.DataFrame) -> pl.DataFrame:
        """The memberships of a side with every item in the last of its clusters by name."""
        if members["item"].n_unique() == members.height:
            return members
        last = members.group_by("item").agg(pl.col("group").first(), pl.col("cluster").max())
        return last.select("group", "item", "cluster")

    @cached_property
    def partition(self) -> Clusterings:
        """The clusterings with every item in one cluster of its side only."""
        reference, system = self.single(self.reference), self.single(self.system)
        whole = reference.height == self.reference.height and system.height == self.system.height
        return self if whole else Clusterings(reference, system)

    @cached_property
    def shared(self) -> pl.DataFrame:
        """Pairs of clusters with the number of items that they share."""
        return shared(self.reference, self.system)

    @cached_property
    def sizes(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The number of items of each cluster of either side."""
        sized = pl.collect_all([sizes(self.reference), sizes(self.system)], engine="in-memory")
        return sized[0].lazy(), sized[1].lazy()


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


def by_group(rows: pl.DataFrame | pl.LazyFrame, **counts: pl.Expr) -> pl.LazyFrame:
    """Counts of rows by group."""
    return rows.lazy().group_by("group").agg(**counts)


def together(*parts: pl.LazyFrame) -> pl.LazyFrame:
    """The counts of all parts by group, 0 where a part has none."""
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.join(part, on="group", how="full", coalesce=True)
    return whole.select("group", "ptp", "p_den", "rtp", "r_den").fill_null(0)


def fractions(rows: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """The sum of `numerator` / `denominator` by group, the same in whatever order the rows are."""
    by_size = rows.group_by("group", "denominator").agg(pl.col("numerator").sum())
    # Collected, since the optimizer leaves out a sort before a sum, whose last digit depends on it.
    ordered = by_size.collect(engine="in-memory").sort("group", "denominator").lazy()
    parts = ordered.select("group", part=pl.col("numerator") / pl.col("denominator"))
    return parts.group_by("group", maintain_order=True).agg(pl.col("part").sum().alias(name))


def best_alignment(pairs: pl.DataFrame, weight: str) -> pl.LazyFrame:
    """The pairs of the best one-to-one alignment of clusters."""
    columns = (pairs[column].to_numpy() for column in ("cluster", "other", weight))
    return pairs.filter(assigned(*columns)).lazy()


def mention_ceaf(both: Clusterings) -> pl.LazyFrame:
    """CEAF with φ3: the items that clusters share, summed over the best one-to-one alignment."""
    total = pl.col("shared").sum()
    return together(
        by_group(best_alignment(both.shared, "shared"), ptp=total, rtp=total),
        by_group(both.system, p_den=pl.len()),
        by_group(both.reference, r_den=pl.len()),
    )


def entity_ceaf(both: Clusterings) -> pl.LazyFrame:
    """CEAF with φ4: 2|G∩S|/(|G|+|S|), summed over the best one-to-one alignment."""
    total = fractions(best_alignment(dice(both.shared, *both.sizes), "weight"), "ptp")
    return together(
        total.with_columns(rtp="ptp"),
        by_group(both.sizes[1], p_den=pl.len()),
        by_group(both.sizes[0], r_den=pl.len()),
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


def b_cubed(both: Clusterings) -> pl.LazyFrame:
    """B³: for each item the share of its cluster that is also in the other side's cluster of it."""
    both = both.partition
    # the items that two clusters share have one share each, that of these items
    pairs = both.shared.lazy().with_columns(numerator=pl.col("shared") ** 2)
    ours = both.sizes[0].select("cluster", denominator="size")
    theirs = both.sizes[1].select(other="cluster", denominator="size")
    return together(
        fractions(pairs.join(theirs, on="other"), "ptp"),
        fractions(pairs.join(ours, on="cluster"), "rtp"),
        by_group(both.system, p_den=pl.len()),
        by_group(both.reference, r_den=pl.len()),
    )


def muc(both: Clusterings) -> pl.LazyFrame:
    """MUC: the links that each cluster needs, and of these the ones that the other side has."""
    both = both.partition
    # a cluster of n items whose m shared items are in k clusters there has m - k of n - 1 links
    kept, needed = (pl.col("shared") - 1).sum(), (pl.col("size") - 1).sum()
    return together(
        by_group(both.shared, ptp=kept, rtp=kept),
        by_group(both.sizes[1], p_den=needed),
        by_group(both.sizes[0], r_den=needed),
    )


def pairwise(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that are in one cluster."""
    return cluster_pairs(both.partition)


def cluster_pairs(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that are in one cluster, once for each cluster that they are in."""
    linked, size = (pair_count(pl.col(name)).sum() for name in ("shared", "size"))
    return together(
        by_group(both.shared, ptp=linked, rtp=linked),
        by_group(both.sizes[1], p_den=size),
        by_group(both.sizes[0], r_den=size),
    )


def pair_count(items: pl.Expr) -> pl.Expr:
    """How many pairs so many items make."""
    return items * (items - 1) // 2


def pairwise_negative(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that are in different clusters."""
    both = both.partition
    linked = cluster_pairs(both).collect(engine="in-memory").lazy()
    reference, system = both.reference.lazy(), both.system.lazy()
    size = pair_count(pl.col("size")).sum()
    common = (
        by_group(sizes(system.join(reference, on="item", how="semi")), p_den=size),
        by_group(sizes(reference.join(system, on="item", how="semi")), r_den=size),
        linked.select("group", rtp="ptp"),
    )
    return unlinked_pairs(reference, system, common, linked)


def unlinked_pairs(
    reference: pl.LazyFrame,
    system: pl.LazyFrame,
    common: Iterable[pl.LazyFrame],
    linked: pl.LazyFrame,
) -> pl.LazyFrame:
    """Pairs of items that are not linked.

    Of the pairs of items that both sides have, those are taken away that one of them links.

    Args:
        reference: the memberships of the reference.
        system: those of the system.
        common: of the pairs of items that both sides have, how many the system links (`p_den`), the
            reference (`r_den`), and both (`rtp`).
        linked: how many pairs of its items the system links (`p_den`), and the reference (`r_den`).
    """
    every = pair_count(pl.col("item").n_unique().cast(pl.Int64))
    both = by_group(reference.join(system, on="item", how="semi"), ptp=every)
    unlinked = pl.col("ptp") - pl.col("p_den") - pl.col("r_den") + pl.col("rtp")
    denominators = (
        by_group(members, every=every)
        .join(linked.select("group", name), on="group", how="left")
        .select("group", (pl.col("every") - pl.col(name).fill_null(0)).alias(name))
        for name, members in (("p_den", system), ("r_den", reference))
    )
    return together(
        together(both, *common).select("group", ptp=unlinked, rtp=unlinked), *denominators
    )


#: The measures by their names.
MEASURES: Mapping[str, Callable[[Clusterings], pl.LazyFrame]] = MappingProxyType(
    {
        "mention_ceaf": mention_ceaf,
        "entity_ceaf": entity_ceaf,
        "b_cubed": b_cubed,
        "muc": muc,
        "pairwise": pairwise,
        "pairwise_negative": pairwise_negative,
    }
)


def blanc(linked: pl.DataFrame, unlinked: pl.DataFrame) -> pl.DataFrame:
    """BLANC: the means of the figures of linked and of unlinked pairs.

    Where neither side has any pair of a kind, the other kind stands alone; where only one side has,
    the figures of that kind are 0.

    Args:
        linked: `group`, `ptp`, `fp`, `rtp`, `fn` of pairs in one cluster.
        unlinked: those of pairs in different clusters, of the same groups.

    Returns:
        `group`, `precision`, `recall`, `fscore`; null where there are no pairs. A mean has no
        counts: `ptp`, `fp`, `rtp`, `fn` are null.

    Examples:
        >>> one = pl.DataFrame({"group": [""], "ptp": [1], "fp": [1], "rtp": [1], "fn": [0]})
        >>> two = pl.DataFrame({"group": [""], "ptp": [1], "fp": [0], "rtp": [1], "fn": [1]})
        >>> blanc(one, two).row(0)[:2]
        ('', 0.75)
    """
    system, reference = pl.col("ptp") + pl.col("fp"), pl.col("rtp") + pl.col("fn")
    some = system + reference > 0
    figures = [
        pl.when(some).then(rate.fill_null(0.0)).alias(name)
        for name, rate in zip(RATES, rates(pl.col("ptp"), system, reference), strict=True)
    ]
    kinds = [
        counts.select(figures).rename({name: f"{kind}_{name}" for name in RATES})
        for kind, counts in (("linked", linked), ("unlinked", unlinked))
    ]
    both = pl.concat([linked.select("group"), *kinds], how="horizontal")
    return both.select(
        "group",
        *(pl.mean_horizontal(f"linked_{name}", f"unlinked_{name}").alias(name) for name in RATES),
        *(pl.lit(None, pl.Float64).alias(name) for name in COUNTS),
    )
