"""The public scorer, neleval 3.1, where it counts otherwise than the definitions.

It does so where a key is in several clusters of one side, where spans of one side overlap, where
there are no identifiers, and where nothing can be divided.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.clusterings import Clusterings, best_alignment, by_group, dice, sizes
from hlteval.scoring.edl.annotations import (
    STEPS,
    Coded,
    Spans,
    all_candidates,
    best_candidates,
    encode,
    sweep,
)
from hlteval.scoring.edl.counts import Counting, Grouped
from hlteval.scoring.edl.measures import COUNTS, FIGURES, OVERLAPS, RATES, Measure
from hlteval.scoring.edl.results import with_rates


def candidates(
    corpus: Corpus,
    *,
    system: bool = False,
    with_mention_type: bool = False,
    alternatives: bool = False,
) -> pl.DataFrame:
    """Alternatives among which none is selected stay one identifier `a|b`.

    Candidates with a type of their own are no such alternatives. Where types are those of tac15,
    mentions of one extent are one annotation.
    """
    if alternatives:
        rows = all_candidates(
            corpus, system=system, with_mention_type=with_mention_type, alternatives=True
        )
        return _by_extent(rows, corpus) if with_mention_type else rows
    first = corpus.replace(links=corpus.links.clear())
    rows = all_candidates(first, system=system, with_mention_type=with_mention_type)
    links = corpus.links.filter(pl.col("label").is_null()).sort("mention_row", "rank")
    more = links.group_by(row="mention_row").agg(pl.col("entity").str.join("|"))
    rows = rows.join(more, on="row", how="left", maintain_order="left")
    both = pl.concat_str("eid", "entity", separator="|", ignore_nulls=True)
    eid = pl.when(pl.col("entity").is_null()).then("eid").otherwise(both)
    rows = rows.with_columns(eid=eid).drop("entity")
    return _by_extent(rows, corpus) if with_mention_type else rows


def _by_extent(rows: pl.DataFrame, corpus: Corpus) -> pl.DataFrame:
    """The mentions of an extent as candidates of one annotation, by falling confidence.

    A file of the scorer's own is not converted: its annotations stay as they are.
    """
    own = corpus.sources.filter(format="neleval")["row"].implode()
    converted = corpus.mentions.filter(~pl.col("origin").is_in(own))["row"].implode()
    of_extent = pl.col("row").is_in(converted)
    extents = rows.filter(of_extent).sort(
        "score", descending=True, nulls_last=True, maintain_order=True
    )
    extent = ("docid", "start", "end")
    candidates = extents.with_columns(
        row=pl.col("row").first().over(extent),
        rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(extent),
    )
    return pl.concat([rows.filter(~of_extent), candidates])


def select(
    table: pl.DataFrame, how: str, steps: Sequence[tuple[str, ...]] = STEPS[1:]
) -> pl.DataFrame:
    """The span is looked up where the annotation has been put down, and never found."""
    return best_candidates(table, how, steps)


def encode_annotations(table: pl.DataFrame) -> Coded:
    """An annotation without an identifier is neither linked nor a NIL.

    Of several annotations of a span only the first can be the first of its entity.
    """
    whole = encode(table)
    first = whole.entities(whole.rows).is_first_distinct().cast(pl.Int64)
    is_nil = pl.col("is_nil") * (pl.col("eid") > 0)
    return replace(whole, rows=whole.rows.with_columns(is_nil=is_nil, is_first=first))


def in_order(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sum `numerator` / `denominator` by group, one row after the other: a `numerator` by 1.

    Examples:
        >>> rows = {"group": [7] * 3, "numerator": [1, 1, 2], "denominator": [3, 2, 3]}
        >>> in_order(pl.LazyFrame(rows)).collect().rows()
        [(7, 1.5, 1)]
    """
    table = rows.collect(engine="in-memory")
    groups, places = np.unique(table["group"].to_numpy(), return_inverse=True)
    shares = table["numerator"].to_numpy() / table["denominator"].to_numpy()
    sums = np.bincount(places, weights=shares, minlength=len(groups))
    summed = pl.LazyFrame({"group": groups, "numerator": sums})
    return summed.select("group", "numerator", denominator=pl.lit(1, pl.Int64))


class OfficialClusterings(Clusterings):
    """The memberships of both sides; clusters stay whole where they share items."""

    @classmethod
    def of(cls, reference: pl.DataFrame, system: pl.DataFrame) -> Clusterings:
        """The clusterings of memberships in an order of their own."""
        one = pl.lit(1, pl.Int64).alias("weight")
        return cls(reference.with_columns(one), system.with_columns(one))

    @property
    def partition(self) -> Clusterings:
        """An item may be in several clusters."""
        return self

    @cached_property
    def matrix(self) -> pl.DataFrame:
        """The reference's memberships as they stand in the scorer's matrix.

        All items are put down cluster by cluster; but a cluster's stretch of that list ends where
        the number of different items seen so far says, not the number of items put down, so that
        each item goes to the cluster of the different item of its number. In which order the items
        of a cluster are put down varies from run to run there; here the last one comes first.
        """
        if self.once.reference is self.reference:
            return self.reference
        number = pl.int_range(pl.len()).over("group").alias("number")
        rows = self.reference.reverse().sort("group", "order", maintain_order=True)
        rows = rows.select("group", "item", "cluster", "weight", number)
        fresh = rows.unique("item", keep="first", maintain_order=True)
        fresh = fresh.select("group", "cluster", number)
        return rows.drop("cluster").join(fresh, on=("group", "number"))

    def item_count(self, side: pl.DataFrame, name: str) -> pl.LazyFrame:
        """How often items meet themselves in the clusters of their side."""
        times = side.lazy().group_by("group", "item").agg(times=pl.len().cast(pl.Int64) ** 2)
        return by_group(times, **{name: pl.col("times").sum()})

    def cluster_count(self, side: pl.DataFrame, name: str) -> pl.LazyFrame:
        """The sum over all pairs of clusters of a side: more than these where they share items."""
        pairs = dice(self.intersections(side, side), sizes(side), sizes(side))
        pairs = _with_order(pairs, self.system if side is self.system else self.reference)
        return _sum_by_part(pairs.with_columns(part=0), name)

    def aligned_dice(self) -> pl.LazyFrame:
        """Clusters that are connected are a part, whose place is that of its first cluster."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        own, other = self.matrix, self.system
        pairs = dice(self.intersections(own, other), sizes(own), sizes(other))
        numbers = (pairs[name].rank("dense").cast(pl.Int64) - 1 for name in ("cluster", "other"))
        ours, theirs = (number.to_numpy() for number in numbers)
        others = ours.max(initial=-1) + 1 + theirs
        size = max(int(others.max(initial=-1)) + 1, 1)
        graph = coo_array((np.ones(len(ours)), (ours, others)), shape=(size, size))
        parts = connected_components(graph, directed=False)[1]
        connected = pl.Series(parts[ours], dtype=pl.Int64)
        pairs = _with_order(pairs, self.reference).with_columns(part=connected)
        pairs = pairs.with_columns(pl.col("order").min().over("part").alias("part"))
        return _sum_by_part(best_alignment(pairs, "weight").collect(engine="in-memory"), "ptp")


def _with_order(pairs: pl.DataFrame, side: pl.DataFrame) -> pl.DataFrame:
    """Pairs with the `order` of their cluster, that of its first membership."""
    orders = side.group_by("cluster").agg(pl.col("order").min())
    return pairs.join(orders, on="cluster", maintain_order="left")


def _sum_by_part(pairs: pl.DataFrame, name: str) -> pl.LazyFrame:
    """The sum of `dice` by group, part by part.

    Each is the number of shared items times a quotient. A part is summed by NumPy, which adds eight
    and more numbers in another order.
    """
    number = pl.struct("group", "part").rle_id()
    rows = pairs.sort("group", "part", "order", "other").with_columns(number=number)
    shares = rows["numerator"].to_numpy() // 2 * (2 / rows["denominator"].to_numpy())
    numbers = rows["number"].to_numpy()
    sums, ends = np.bincount(numbers, weights=shares), np.cumsum(np.bincount(numbers))
    for part in np.flatnonzero(np.diff(ends, prepend=0) >= _EIGHT):
        sums[part] = np.sum(shares[ends[part - 1] if part else 0 : ends[part]])
    groups = rows.group_by("number", maintain_order=True).agg(pl.col("group").first())
    parts = groups.select("group", numerator=pl.Series(sums, dtype=pl.Float64), denominator=1)
    return in_order(parts.lazy()).select("group", pl.col("numerator").alias(name))


_EIGHT = 8  # from here on, NumPy adds in another order


class OfficialGrouped(Grouped):
    """Annotations in groups, counted as the public scorer counts them."""

    clusterings: ClassVar[type[Clusterings]] = OfficialClusterings
    sum_shares: ClassVar = staticmethod(in_order)
    ORDER: ClassVar = ("order", "nameless")

    @staticmethod
    def with_rates(counts: pl.DataFrame) -> pl.DataFrame:
        """A rate is 0 where nothing can be divided.

        Examples:
            >>> nothing = pl.DataFrame({name: [0.0] for name in COUNTS})
            >>> OfficialGrouped.with_rates(nothing).row(0)[4:]
            (0.0, 0.0, 0.0)
        """
        return with_rates(counts).with_columns(pl.col(*RATES).fill_null(0.0))

    def figures(self, measure: Measure) -> pl.DataFrame:
        """The figures of a measure; null where the scorer gives none."""
        if self._is_counted(measure):
            return super().figures(measure)
        return self.groups.with_columns(pl.lit(None, pl.Float64).alias(name) for name in FIGURES)

    def counts(self, measure: Measure) -> pl.DataFrame:
        """Subtract what does not overlap from what all annotations have, as the scorer does."""
        counts = super().counts(measure)
        if measure.aggregate not in OVERLAPS:
            return counts
        found, known = (
            (pl.col(a) + pl.col(b)).round() - pl.col(b) for a, b in (("ptp", "fp"), ("rtp", "fn"))
        )
        return counts.with_columns(ptp=found, rtp=known)

    def _is_counted(self, measure: Measure) -> bool:
        """Whether the scorer gives a number."""
        if measure.aggregate in OVERLAPS:
            rows = self._items(measure, (), "from", "last")
            return not (rows["last"] < rows["from"]).any()
        of_types = self.weights is not None and self.weights.field == "type"
        if of_types and measure.aggregate == "sets":
            items = self._items(measure, tuple(name for name in measure.key if name != "type"))
            return not items.select("system", "item").is_duplicated().any()
        return measure.aggregate != "blanc" and not of_types

    def order_clusters(self, members: pl.DataFrame) -> pl.DataFrame:
        """The last cluster of an item is the last to be entered; B³ looks up nameless ones."""
        entered = pl.col("order").min().over("system", "cluster")
        numbered = members.with_columns(nameless=pl.col("eid") == 0).with_row_index("order")
        return numbered.with_columns(order=entered)

    def meetings(
        self, measure: Measure, both: tuple[Spans, Spans], *, system: bool
    ) -> tuple[Spans, Spans]:
        """Each span as a kind of its own, and the spans that the sweep has found for it."""
        if measure.contents not in self._kept:
            self._kept[measure.contents] = sweep(*both)
        pairs = self._kept[measure.contents]
        ours, theirs = both[::-1] if system else both
        here, there = pairs[::-1] if system else pairs
        each = ours._replace(kind=np.arange(len(ours.kind)))
        return each, Spans(here, theirs.first[there], theirs.last[there])


class OfficialCounting(Counting):
    """Annotations whose measures are counted as the public scorer counts them."""

    candidates: ClassVar = staticmethod(candidates)
    select: ClassVar = staticmethod(select)
    encode: ClassVar = staticmethod(encode_annotations)
    grouped: ClassVar[type[Grouped]] = OfficialGrouped
    with_rates: ClassVar = staticmethod(OfficialGrouped.with_rates)
    LAST: ClassVar = "in the file"
    REVERSE: ClassVar = "no overlap scores, since the public scorer crashes"

    def counted_groups(self, column: str) -> Grouped:
        """The groups of the reference only: what only the system has disappears."""
        grouped = super().counted_groups(column)
        rows = grouped.whole.rows
        reference = rows.filter(~pl.col("system")).select("group").unique()
        rows = rows.join(reference, on="group", how="semi", maintain_order="left")
        whole = replace(grouped.whole, rows=rows)
        return replace(grouped, whole=whole, groups=reference.sort("group"))

    def figures(self, measure: Measure, by: str) -> pl.DataFrame:
        """Null by type where only some mentions of the reference have one: no order is possible."""
        figures = super().figures(measure, by)
        if by != "type" or not self._stops_at_types:
            return figures
        return figures.with_columns(pl.lit(None, pl.Float64).alias(name) for name in FIGURES)

    @property
    def _stops_at_types(self) -> bool:
        """Whether the groups by type are with and without a type."""
        untyped = self.grouped_by("type").groups["group"] == 0
        return untyped.any() and not untyped.all()

    def notes(self) -> Iterator[str]:
        """Say as well where the scorer stops at types."""
        yield from super().notes()
        if "type" in self._by and self._stops_at_types:
            yield (
                "some mentions of the reference have no type: no scores by type, since the public "
                "scorer crashes"
            )


HEADER = (*COUNTS, "precis", "recall", "fscore", "measure")


def files(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    r"""The table and the JSON that the public scorer writes (neleval 3.1).

    The table has three decimals, whole counts as they are, and is sorted by the measures' names.

    Args:
        rows: `measure`, `fractional` (whether counts are sums of fractions), counts and rates; null
            where there is none.

    Examples:
        >>> row = {"measure": "muc", "fractional": False, "ptp": 1.0, "fp": 1.0, "rtp": 1.0}
        >>> row |= {"fn": 0.0, "precision": 0.5, "recall": 1.0, "fscore": 2 / 3}
        >>> files([row])["evaluation.tab"].splitlines()[1].split("\t")
        ['1', '1', '1', '0', '0.500', '1.000', '0.667', 'muc']
    """
    figures: list[tuple[str, dict[str, float | int]]] = []
    for row in rows:
        counts = {} if row["precision"] is None else {name: row[name] for name in (*COUNTS, *RATES)}
        if not row["fractional"]:
            counts |= {name: int(counts[name]) for name in COUNTS if name in counts}
        figures.append((row["measure"], counts))
    lines = ["\t".join(HEADER)]
    for name, counts in sorted(figures, key=lambda figure: str(figure[0])):
        values = counts.values() or [0] * (len(HEADER) - 1)
        cells = (f"{value:.3f}" if isinstance(value, float) else str(value) for value in values)
        lines.append("\t".join([*cells, name]))
    by_measure = json.dumps(dict(figures), sort_keys=True, indent=4)
    return {"evaluation.tab": "\n".join(lines) + "\n", "evaluation.json": by_measure + "\n"}
