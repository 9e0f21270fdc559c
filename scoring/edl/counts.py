"""The counts of measures over annotations, of all of them or by group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from hlteval.scoring import clusterings
from hlteval.scoring.clusterings import Clusterings, by_denominator, by_group, fractions, together
from hlteval.scoring.edl.annotations import (
    Coded,
    Spans,
    all_candidates,
    best_candidates,
    coverage,
    encode,
    spans,
)
from hlteval.scoring.edl.credit import PairWeights
from hlteval.scoring.edl.measures import COUNTS, GROUPINGS, OVERLAPS, PAIRWISE, PARTITIONS, Measure
from hlteval.scoring.edl.results import REVERSED, SEVERAL, Results, blanc, with_rates
from hlteval.scoring.matching import assign


@dataclass(frozen=True)
class Compared(ABC):
    """Groups of annotations whose measures are counted, however they are represented.

    Attributes:
        groups: the numbers of all groups, as `group`.
    """

    with_rates: ClassVar = staticmethod(with_rates)

    groups: pl.DataFrame

    @abstractmethod
    def sums(self, measure: Measure) -> pl.LazyFrame:
        """The numerators and denominators of precision and recall where they add, by group."""

    @abstractmethod
    def compared_clusters(self, measure: Measure) -> Clusterings:
        """The clusterings that a measure compares."""

    def figures(self, measure: Measure) -> pl.DataFrame:
        """The figures of a measure by the number of the group; null where there are none."""
        if measure.aggregate == "blanc":
            links = (self.counts(replace(measure, aggregate=links)) for links in PAIRWISE)
            return blanc(*links)
        return self.with_rates(self.counts(measure))

    def counts(self, measure: Measure) -> pl.DataFrame:
        """The counts of a measure by the number of the group.

        What of the denominators is not in the numerators, are false positives and negatives.
        """
        count = clusterings.MEASURES.get(measure.aggregate)
        counts = count(self.compared_clusters(measure)) if count else self.sums(measure)
        every = self.groups.lazy().join(counts, on="group", how="left", maintain_order="left")
        wrong, missed = pl.col("p_den") - pl.col("ptp"), pl.col("r_den") - pl.col("rtp")
        every = every.with_columns(fp=wrong, fn=missed)
        figures = pl.col(*COUNTS).fill_null(0).cast(pl.Float64)
        return every.select("group", figures).collect(engine="in-memory")


@dataclass(frozen=True)
class Grouped(Compared):
    """Annotations in groups that are counted apart.

    What several measures compare is kept: the overlaps of spans, which are few numbers, and the
    latest clusterings, which are large.

    Attributes:
        groups: the numbers of all groups, as `group`.
        whole: the annotations, with the column `group`.
        weights: what pairs of values count that need not be equal; None where all have to be.
    """

    clusterings: ClassVar[type[Clusterings]] = Clusterings
    sum_shares: ClassVar = staticmethod(by_denominator)
    #: Columns of memberships by which clusters have an order other than that of names.
    ORDER: ClassVar[tuple[str, ...]] = ()

    whole: Coded
    weights: PairWeights | None
    _kept: dict[object, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def sums(self, measure: Measure) -> pl.LazyFrame:
        """The numerators and denominators of precision and recall where they add, by group."""
        if measure.aggregate in OVERLAPS:
            return self._overlaps(measure)
        if self.weights and self.weights.apply_to(measure):
            return self._weighted_sets(measure, self.weights)
        return self._sets(measure)

    def _items(self, measure: Measure, key: tuple[str, ...], *columns: str) -> pl.DataFrame:
        """The annotations that the filter of a measure lets through.

        Returns:
            `system`, `group`, the columns, and one number for the fields of a key and the group, as
            `item`.
        """
        names = {"system", "group", *key, *columns}
        passed = pl.col(measure.filter) == 1 if measure.filter else pl.lit(value=True)
        rows = self.whole.rows.lazy().filter(passed).select(names).collect(engine="in-memory")
        item = self.whole.key(rows, ("group", *key)).alias("item")
        return rows.select("system", "group", *columns, item)

    def _sets(self, measure: Measure) -> pl.LazyFrame:
        """Keys that both sides have, each counted once."""
        items = self._items(measure, measure.key)
        reference, system = (side.lazy() for side in _sides(items, "group", "item", once="item"))
        return together(
            by_group(reference.join(system, on="item", how="semi"), ptp=pl.len(), rtp=pl.len()),
            by_group(system, p_den=pl.len()),
            by_group(reference, r_den=pl.len()),
        )

    def _weighted_sets(self, measure: Measure, weights: PairWeights) -> pl.LazyFrame:
        """Keys that agree but for one field, each counting what its pair of values does.

        Where a key has several values, they are paired so that the most is counted; those of spans
        of too many links (`crowded`) with equal ones.
        """
        others = tuple(name for name in measure.key if name != weights.field)
        items = self._items(measure, others, weights.column, "crowded")
        items = items.rename({weights.column: "value"}).unique()
        items = items.sort("system", "group", "item", "value")
        name = self.whole.names[weights.column].gather
        items = items.with_columns(weights.of(name(items["value"]), name(items["value"])))
        system, reference = items.filter("system"), items.filter(~pl.col("system"))
        few, many = (reference.filter(crowded=crowded) for crowded in (False, True))
        few = few.join(system, on="item", suffix="_system")
        many = many.join(system, on=["item", "value"], suffix="_system")
        both = pl.concat([few, many.with_columns(value_system="value")], how="diagonal")
        both = both.with_columns(weights.of(name(both["value"]), name(both["value_system"])))
        both = both.filter(pl.col("weight") > 0).sort("item", "value", "value_system")
        kinds = (pl.struct("item", each).rank("dense") for each in ("value", "value_system"))
        ours, theirs = (both.select(kind.cast(pl.Int64)).to_series().to_numpy() for kind in kinds)
        matched = both.filter(assign(ours, theirs, both["weight"].to_numpy()))
        weight = pl.col("weight").sum()
        # in the order of the rows, since the last digit of a sum depends on it
        tables = (rows.lazy() for rows in (matched, system, reference))
        right, found, known = (rows.group_by("group", maintain_order=True) for rows in tables)
        return together(
            right.agg(ptp=weight, rtp=weight), found.agg(p_den=weight), known.agg(r_den=weight)
        )

    def compared_clusters(self, measure: Measure) -> Clusterings:
        """The clusterings that a measure compares, kept until a measure compares others."""
        if self._kept.get("contents") != measure.contents:
            self._kept.pop("clusterings", None)
            both = self.clusterings.of(*self.memberships(measure))
            self._kept.update(contents=measure.contents, clusterings=both)
        kept: Clusterings = self._kept["clusterings"]
        return kept.partition if measure.aggregate in PARTITIONS else kept

    def memberships(self, measure: Measure) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the items of either side in their clusters, each membership once."""
        items = self._items(measure, measure.key, "eid")
        members = items.with_columns(cluster=self.whole.key(items, ("group", "eid")))
        sides = _sides(self.order_clusters(members), "group", "item", "cluster", *self.ORDER)
        reference, system = (
            side.unique(("item", "cluster"), keep="first", maintain_order=True)
            if side["item"].n_unique() < side.height
            else side
            for side in sides
        )
        return reference, system

    def order_clusters(self, members: pl.DataFrame) -> pl.DataFrame:
        """Give memberships the columns `ORDER`; the last cluster of an item is the last by name."""
        return members

    def _overlaps(self, measure: Measure) -> pl.LazyFrame:
        """The share of each annotation that the other side covers, annotations being counted."""
        rows = self.whole.rows.lazy()
        return together(
            fractions(self.shares(measure, system=True), "ptp"),
            fractions(self.shares(measure, system=False), "rtp"),
            by_group(rows.filter("system"), p_den=pl.len()),
            by_group(rows.filter(~pl.col("system")), r_den=pl.len()),
        )

    def shares(self, measure: Measure, *, system: bool) -> pl.LazyFrame:
        """The shares of a side's annotations that the other one covers, as summed fractions.

        Returns:
            `group`, `denominator`, `numerator`.
        """
        mode = measure.aggregate[-3:] if system else measure.aggregate[-6:-3]
        key = (*measure.contents, mode, system)
        if key not in self._kept:
            kind = tuple(name for name in measure.key if name != "span")
            extent = ("from", "last")
            items = self._items(measure, ("docid", *kind), *extent)
            sides = _sides(items, "group", "item", *extent)
            both = spans(sides[0]), spans(sides[1])
            units = pl.Series(coverage(mode, *self.meetings(measure, both, system=system)))
            length = pl.col("last") - pl.col("from") + 1
            covered = sides[system].select("group", denominator=length, numerator=units)
            summed = self.sum_shares(covered.lazy().filter(pl.col("numerator") > 0))
            self._kept[key] = summed.collect(engine="in-memory")
        kept: pl.DataFrame = self._kept[key]
        return kept.lazy()

    def meetings(
        self,
        measure: Measure,  # noqa: ARG002
        both: tuple[Spans, Spans],
        *,
        system: bool,
    ) -> tuple[Spans, Spans]:
        """The spans of one side, and those of the other that may cover them."""
        return (both[1], both[0]) if system else both


def _sides(rows: pl.DataFrame, *columns: str, once: str = "") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Some columns of the rows of the reference and of the system; each value of one only once."""
    reference, system = (rows.lazy().filter(pl.col("system") == side) for side in (False, True))
    first = pl.col(once).is_first_distinct() if once else pl.lit(True)
    parts = (part.filter(first) for part in (reference, system))
    both = pl.collect_all([part.select(columns) for part in parts], engine="in-memory")
    return both[0], both[1]


@dataclass(frozen=True)
class Counting(Results):
    """Annotations whose measures are counted.

    Attributes:
        weights: what pairs of values count that need not be equal; None where all have to be.
        whole: the annotations of both sides.
    """

    candidates: ClassVar = staticmethod(all_candidates)
    select: ClassVar = staticmethod(best_candidates)
    encode: ClassVar = staticmethod(encode)
    grouped: ClassVar[type[Grouped]] = Grouped

    whole: Coded
    _by: dict[str, Grouped] = field(default_factory=dict, init=False, compare=False, repr=False)

    def _groups(self, column: str) -> Grouped:
        """The annotations by the values of a column, or in one group."""
        rows = self.whole.rows.with_columns(group=pl.col(column) if column else pl.lit(0, pl.Int64))
        sizes = {**self.whole.sizes, "group": self.whole.sizes[column] if column else 1}
        groups = rows.select("group").unique().sort("group")
        groups = groups if column else pl.DataFrame({"group": [0]})
        whole = replace(self.whole, rows=rows, sizes=sizes)
        return self.grouped(groups, whole, self.weights)

    def counted_groups(self, column: str) -> Grouped:
        """The groups that have figures of their own: those of both sides."""
        return self._groups(column)

    def figures(self, measure: Measure, by: str) -> pl.DataFrame:
        """The figures of a measure by group.

        Args:
            measure: what is measured.
            by: one of `GROUPINGS`, or empty for one group of all.

        Returns:
            `group` (its name; null for annotations without one) and the figures.
        """
        figures = self.grouped_by(by).figures(measure)
        names = self.whole.names[GROUPINGS[by]].gather(figures["group"]) if by else pl.Series([""])
        return figures.with_columns(names.alias("group"))

    def grouped_by(self, by: str) -> Grouped:
        """The annotations in the groups that have figures, kept; without grouping, in one."""
        if by not in self._by:
            self._by[by] = self.counted_groups(GROUPINGS[by]) if by else self._groups("")
        return self._by[by]

    def selections(self, members: pl.DataFrame, size: int) -> Grouped:
        """Several selections of documents as groups.

        Args:
            members: `group`, the number of a selection; `docid`, the name of a document that is in
                it; and `copy`, from 0: a document that is in it twice has two.
            size: how many selections there are.
        """
        names = self.whole.names["docid"]
        numbers = pl.DataFrame({"docid": names, "number": range(names.len())})
        named = members.join(numbers, on="docid").select("group", "copy", docid="number")
        rows = self.whole.rows.join(named, on="docid", maintain_order="left")
        copies = named["copy"].n_unique()
        sizes = {**self.whole.sizes, "group": size}
        for column in ("docid", "span"):  # of another copy, they are others
            rows = rows.with_columns(pl.col(column) + pl.col("copy") * sizes[column])
            sizes[column] *= copies
        groups = pl.DataFrame({"group": range(size)}, schema={"group": pl.Int64})
        whole = replace(self.whole, rows=rows, sizes=sizes)
        return self.grouped(groups, whole, self.weights)

    @cached_property
    def _documents(self) -> Grouped:
        """The annotations of each document, those of the system alone as well."""
        return self._groups("docid")

    def documents(self, measure: Measure) -> pl.DataFrame:
        """Return what each document adds to the counts of a measure, where these add up.

        Returns:
            `group`, the document, and `ptp`, `fp`, `rtp`, `fn`; those of the whole are their sums.
        """
        if measure.by:
            return self.figures(measure, measure.by)
        figures = self._documents.figures(measure)
        return figures.with_columns(group=self.whole.names["docid"].gather(figures["group"]))

    def irregularities(self) -> Mapping[str, int]:
        """Count the spans in several clusters of a side, and the mentions that end too early."""
        rows = self.whole.rows
        span = self.whole.key(rows, ("system", "span"))
        repeated = (
            rows.filter(span.is_duplicated()) if span.n_unique() < span.len() else rows.head(0)
        )
        several = pl.col("eid").min() < pl.col("eid").max()
        spans = repeated.group_by("system", "span").agg(several).filter("eid").height
        return {SEVERAL: spans, REVERSED: rows.filter(pl.col("last") < pl.col("from")).height}
