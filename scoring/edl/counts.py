"""The counts of measures over annotations, and their precision, recall and F-score.

P = ptp / (ptp + fp), R = rtp / (rtp + fn), F = 2PR / (P + R); F is 0 where nothing is right, also
where a side has nothing, and undefined only without any item.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from hlteval.findings.counts import fill
from hlteval.scoring import clusterings
from hlteval.scoring.clusterings import Clusterings, by_group, fractions, together
from hlteval.scoring.edl.annotations import (
    Coded,
    Spans,
    all_candidates,
    best_candidates,
    coverage,
    encode,
    spans,
)
from hlteval.scoring.edl.measures import (
    COUNTS,
    FIGURES,
    GROUPINGS,
    OVERLAPS,
    PAIRWISE,
    PARTITIONS,
    RATES,
    Measure,
)
from hlteval.scoring.matching import assigned
from hlteval.scoring.ratios import harmonic, rates, ratio

AVERAGES = ("<micro>", "<macro>")
#: A measure and a group a row: its figures, whether it was asked for, whether it counts fractions.
RESULTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("measure", "by", "group"), pl.String),
    **dict.fromkeys(("asked", "fractional"), pl.Boolean),
    **dict.fromkeys(FIGURES, pl.Float64),
}


@dataclass(frozen=True)
class Grouped:
    """Annotations in groups that are counted apart.

    What several measures compare is kept: the overlaps of spans, which are few numbers, and the
    latest clusterings, which are large.

    Attributes:
        whole: the annotations, with the column `group`.
        groups: the numbers of all groups, as `group`.
        weights: what a pair of types counts, by reference's and system's.
    """

    clusterings: ClassVar[type[Clusterings]] = Clusterings
    sum_shares: ClassVar = staticmethod(fractions)

    whole: Coded
    groups: pl.DataFrame
    weights: Mapping[tuple[str, str], float]
    _kept: dict[object, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def figures(self, measure: Measure) -> pl.DataFrame:
        """The figures of a measure by the number of the group; null where there are none."""
        if measure.aggregate == "blanc":
            links = (self.counts(replace(measure, aggregate=links)) for links in PAIRWISE)
            return blanc(*links)
        return self.with_rates(self.counts(measure))

    @staticmethod
    def with_rates(counts: pl.DataFrame) -> pl.DataFrame:
        """Counts with precision, recall and their harmonic mean; null where undefined.

        Examples:
            >>> nothing = pl.DataFrame({name: [0.0] for name in COUNTS})
            >>> Grouped.with_rates(nothing).row(0)[4:]
            (None, None, None)
        """
        right, wrong, met, missed = (counts[name].to_numpy() for name in COUNTS)
        precision, recall = ratio(right, right + wrong), ratio(met, met + missed)
        nothing = right + wrong + met + missed == 0
        mean = np.where(nothing, np.nan, np.nan_to_num(harmonic(precision, recall)))
        rates = zip(RATES, (precision, recall, mean), strict=True)
        return counts.with_columns(pl.Series(name, rate, nan_to_null=True) for name, rate in rates)

    def counts(self, measure: Measure) -> pl.DataFrame:
        """The counts of a measure by the number of the group.

        What of the denominators is not in the numerators, are false positives and negatives.
        """
        if measure.aggregate in OVERLAPS:
            counts = self._overlaps(measure)
        elif measure.aggregate != "sets":
            count = clusterings.MEASURES[measure.aggregate]
            counts = count(self._compared_clusters(measure))
        elif self.weights and "type" in measure.key:
            counts = self._weighted_sets(measure)
        else:
            counts = self._sets(measure)
        every = self.groups.lazy().join(counts, on="group", how="left", maintain_order="left")
        wrong, missed = pl.col("p_den") - pl.col("ptp"), pl.col("r_den") - pl.col("rtp")
        every = every.with_columns(fp=wrong, fn=missed)
        figures = pl.col(*COUNTS).fill_null(0).cast(pl.Float64)
        return every.select("group", figures).collect(engine="in-memory")

    def _rows(self, measure: Measure) -> pl.DataFrame:
        """The annotations that the filter of a measure lets through."""
        rows = self.whole.rows
        return rows.filter(pl.col(measure.filter) == 1) if measure.filter else rows

    def _items(self, measure: Measure, key: tuple[str, ...]) -> pl.DataFrame:
        """These annotations with one number for the fields of a key and their group, as `item`."""
        rows = self._rows(measure)
        return rows.with_columns(self.whole.key(rows, ("group", *key)).alias("item"))

    def _sets(self, measure: Measure) -> pl.LazyFrame:
        """Keys that both sides have, each counted once."""
        items = self._items(measure, measure.key)
        reference, system = (side.lazy() for side in _sides(items, "group", "item", once="item"))
        return together(
            by_group(reference.join(system, on="item", how="semi"), ptp=pl.len(), rtp=pl.len()),
            by_group(system, p_den=pl.len()),
            by_group(reference, r_den=pl.len()),
        )

    def _weighted_sets(self, measure: Measure) -> pl.LazyFrame:
        """Keys that agree but for the type, each counting what its pair of types does.

        Where a key stands with several types, they are paired so that the most is counted.
        """
        items = self._items(measure, tuple(name for name in measure.key if name != "type"))
        items = items.select("system", "group", "item", "type").unique().sort(pl.all())
        items = items.with_columns(self._weights(items["type"], items["type"]))
        system, reference = items.filter("system"), items.filter(~pl.col("system"))
        both = reference.join(system, on="item", suffix="_system", maintain_order="left_right")
        both = both.with_columns(self._weights(both["type"], both["type_system"]))
        both = both.filter(pl.col("weight") > 0).sort("item", "type", "type_system")
        kinds = (pl.struct("item", name).rank("dense") for name in ("type", "type_system"))
        ours, theirs = (both.select(kind.cast(pl.Int64)).to_series().to_numpy() for kind in kinds)
        matched = both.filter(assigned(ours, theirs, both["weight"].to_numpy()))
        weight = pl.col("weight").sum()
        # in the order of the rows, since the last digit of a sum depends on it
        tables = (rows.lazy() for rows in (matched, system, reference))
        right, found, known = (rows.group_by("group", maintain_order=True) for rows in tables)
        return together(
            right.agg(ptp=weight, rtp=weight), found.agg(p_den=weight), known.agg(r_den=weight)
        )

    def _weights(self, ours: pl.Series, theirs: pl.Series) -> pl.Series:
        """The weight of each pair of types: 1 for equal ones and else 0, if none is given."""
        names = self.whole.names["type"].to_list()
        weights = (
            self.weights.get((names[one], names[other]), float(one == other))
            for one, other in zip(ours.to_list(), theirs.to_list(), strict=True)
        )
        return pl.Series("weight", weights, dtype=pl.Float64)

    def _compared_clusters(self, measure: Measure) -> Clusterings:
        """The clusterings that a measure compares, kept until a measure compares others."""
        if self._kept.get("contents") != measure.contents:
            self._kept.pop("clusterings", None)
            items = self._items(measure, measure.key)
            members = items.with_columns(
                cluster=self.whole.key(items, ("group", "eid")),
                membership=self.whole.key(items, ("group", *measure.key, "eid")),
            )
            columns = ("group", "item", "cluster", "order", "nameless")
            sides = _sides(self.order_clusters(members), *columns, once="membership")
            self._kept.update(contents=measure.contents, clusterings=self.clusterings(*sides))
        both: Clusterings = self._kept["clusterings"]
        return both.partition if measure.aggregate in PARTITIONS else both

    def order_clusters(self, members: pl.DataFrame) -> pl.DataFrame:
        """Give the memberships `order`, the last cluster of an item being the last by name."""
        return members.with_columns(order="cluster", nameless=pl.lit(value=False))

    def _overlaps(self, measure: Measure) -> pl.LazyFrame:
        """The share of each annotation that the other side covers, annotations being counted."""
        rows = self.whole.rows.lazy()
        x, y = measure.aggregate[-6:-3], measure.aggregate[-3:]
        return together(
            self._coverage(measure, y, system=True).rename({"covered": "ptp"}),
            self._coverage(measure, x, system=False).rename({"covered": "rtp"}),
            by_group(rows.filter("system"), p_den=pl.len()),
            by_group(rows.filter(~pl.col("system")), r_den=pl.len()),
        )

    def _coverage(self, measure: Measure, mode: str, *, system: bool) -> pl.LazyFrame:
        """The shares of a side's annotations that the other one covers, summed as `covered`."""
        key = (*measure.contents, mode, system)
        if key not in self._kept:
            kind = tuple(name for name in measure.key if name != "span")
            columns = ("group", "item", "from", "last")
            sides = _sides(self._items(measure, ("docid", *kind)), *columns)
            both = spans(sides[0]), spans(sides[1])
            units = pl.Series(coverage(mode, *self.meetings(measure, both, system=system)))
            length = pl.col("last") - pl.col("from") + 1
            shares = sides[system].select("group", denominator=length, numerator=units)
            shared = self.sum_shares(shares.lazy().filter(pl.col("numerator") > 0), "covered")
            self._kept[key] = shared.collect(engine="in-memory")
        counts: pl.DataFrame = self._kept[key]
        return counts.lazy()

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
class Counting:
    """Annotations whose measures are counted.

    Attributes:
        whole: the annotations of both sides.
        weights: what a pair of types counts, by reference's and system's.
    """

    candidates: ClassVar = staticmethod(all_candidates)
    select: ClassVar = staticmethod(best_candidates)
    encode: ClassVar = staticmethod(encode)
    grouped: ClassVar[type[Grouped]] = Grouped
    #: What notes say of spans in several clusters, and of mentions that end before they start.
    LAST: ClassVar = "by name"
    REVERSE: ClassVar = "{count|it overlaps|they overlap} nothing"

    whole: Coded
    weights: Mapping[tuple[str, str], float]
    _by: dict[str, Grouped] = field(default_factory=dict, init=False, compare=False, repr=False)

    def _groups(self, column: str) -> Grouped:
        """The annotations by the values of a column, or in one group."""
        rows = self.whole.rows.with_columns(group=pl.col(column) if column else pl.lit(0, pl.Int64))
        sizes = {**self.whole.sizes, "group": self.whole.sizes[column] if column else 1}
        groups = rows.select("group").unique().sort("group")
        groups = groups if column else pl.DataFrame({"group": [0]})
        whole = replace(self.whole, rows=rows, sizes=sizes)
        return self.grouped(whole, groups, self.weights)

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
        column = GROUPINGS[by] if by else ""
        if column not in self._by:
            self._by[column] = self.counted_groups(column) if column else self._groups("")
        figures = self._by[column].figures(measure)
        names = self.whole.names[column].gather(figures["group"]) if column else pl.Series([""])
        return figures.with_columns(names.alias("group"))

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
        return self.grouped(whole, groups, self.weights)

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

    def notes(self) -> Iterator[str]:
        """Say what a reader of the numbers must know."""
        rows = self.whole.rows
        several = pl.col("eid").min() < pl.col("eid").max()
        count = rows.group_by("system", "span").agg(several)["eid"].sum()
        if count:
            spans = fill("{count:,} {count|span is|spans are}", {"count": count})
            yield (
                f"{spans} in several clusters of one side; B³, MUC, pairwise and BLANC "
                f"use the last {self.LAST}"
            )
        reverse = rows.filter(pl.col("last") < pl.col("from")).height
        if reverse:
            mentions = "{count|mention ends before it starts|mentions end before they start}"
            yield fill(f"{{count:,}} {mentions}: {self.REVERSE}", {"count": reverse})

    def results(
        self, measures: Sequence[Measure], asked: Collection[Measure], by: str
    ) -> pl.DataFrame:
        """The figures of measures over all, and by group where that is wanted (`RESULTS`).

        Args:
            measures: the measures, in order.
            asked: those that were asked for.
            by: what measures are also counted by, one of `GROUPINGS`, or empty.
        """
        rows = {
            measure: self._results(measure, by).with_columns(asked=pl.lit(measure in asked))
            for measure in sorted(measures, key=lambda measure: measure.contents)
        }
        tables = [pl.DataFrame(schema=dict(RESULTS)), *(rows[measure] for measure in measures)]
        return pl.concat(tables, how="diagonal").select(list(RESULTS))

    def _results(self, measure: Measure, by: str) -> pl.DataFrame:
        """The figures of a measure over all, by group, and averaged over groups.

        Averages are the figures of the sums of counts, and the means of figures.
        """
        fractional = measure.fractional or (bool(self.weights) and measure.aggregate == "sets")
        total = pl.DataFrame()
        if not measure.by:
            total = self.figures(measure, "").with_columns(
                measure=pl.lit(measure.name), by=pl.lit(""), fractional=pl.lit(fractional)
            )
        if not (by := measure.by or by):
            return total
        groups = self.figures(measure, by)
        stem = measure.name.rpartition(";")[0] if measure.by else measure.name
        head = f"{stem};{GROUPINGS[by]}="
        micro = self.grouped.with_rates(groups.select(pl.col(*COUNTS).sum()))
        # a mean has no counts to be summed, nor has what is not counted
        if measure.aggregate == "blanc" or groups["ptp"].null_count():
            micro = micro.select(pl.lit(None, pl.Float64).alias(name) for name in FIGURES)
        macro = groups.select(pl.col(*FIGURES).mean())
        averages = pl.concat([micro, macro], how="diagonal").with_columns(
            pl.Series("group", AVERAGES),
            pl.Series("measure", [f"{head}{average}" for average in AVERAGES]),
            # an average of nothing is a whole 0, as the public scorer has it
            pl.Series("fractional", [fractional and not groups.is_empty(), True]),
            by=pl.lit("" if measure.by else by),
        )
        if measure.by:
            return averages.filter(pl.col("measure") == measure.name)
        names = [f"{measure.name};{GROUPINGS[by]}={json.dumps(group)}" for group in groups["group"]]
        groups = groups.with_columns(
            pl.Series("measure", names, dtype=pl.String),
            by=pl.lit(by),
            fractional=pl.lit(fractional),
        )
        return pl.concat([total, groups, averages], how="diagonal")


def scorings(rows: pl.DataFrame) -> pl.DataFrame:
    """The table `scorings`: a figure a row."""
    kept = rows.select("measure", *FIGURES).with_row_index("place")
    long = kept.unpivot(FIGURES, index=["place", "measure"], variable_name="figure")
    return long.sort("place", maintain_order=True).select(
        evaluation=pl.lit("Measures"), scoring="measure", measure="figure", value="value"
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
    kinds = pl.concat([linked, unlinked]).select(
        "group",
        *(
            pl.when(system + reference > 0).then(rate.fill_null(0.0)).alias(name)
            for name, rate in zip(RATES, rates(pl.col("ptp"), system, reference), strict=True)
        ),
    )
    means = kinds.group_by("group", maintain_order=True).mean()
    return means.with_columns(pl.lit(None, pl.Float64).alias(name) for name in COUNTS)
