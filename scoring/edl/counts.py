"""The counts of measures over annotations, and their precision, recall and F-score.

P = ptp / (ptp + fp), R = rtp / (rtp + fn), F = 2PR / (P + R); F is 0 where nothing is right, also
where a side has nothing, and undefined only without any item.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import polars as pl

from hlteval.findings.counts import fill
from hlteval.scoring.edl import clusterings
from hlteval.scoring.edl.annotations import Coded, all_candidates, best_candidates, encode
from hlteval.scoring.edl.clusterings import Clusterings, by_group, fractions, together
from hlteval.scoring.edl.measures import (
    COUNTS,
    FIGURES,
    GROUPINGS,
    OVERLAPS,
    PAIRWISE,
    RATES,
    Measure,
)
from hlteval.scoring.edl.overlaps import Integers, covered, spans
from hlteval.scoring.matching import assigned
from hlteval.scoring.ratios import side_rates

AVERAGES = ("<micro>", "<macro>")
#: A measure and a group a row: its figures, whether it was asked for, whether it counts fractions;
#: or, where `by` is `note`, a note.
RESULTS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"measure": pl.String, "by": pl.String, "group": pl.String}
    | {"asked": pl.Boolean, "fractional": pl.Boolean}
    | dict.fromkeys(FIGURES, pl.Float64)
)
#: Counts that are still to be rated, unless they are `rated`.
_COUNTED = {**RESULTS, "rated": pl.Boolean}


@dataclass(frozen=True)
class Grouped:
    """Annotations in groups that are counted apart, and what measures compare of them.

    What several measures compare is kept: the overlaps of spans, which are few numbers, and the
    latest clusterings, which are large.

    Attributes:
        whole: the annotations, with the column `group`.
        groups: the numbers of all groups, as `group`.
    """

    whole: Coded
    groups: pl.DataFrame
    _latest: dict[tuple[str, tuple[str, ...]], Clusterings] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    _overlaps: dict[tuple[str, tuple[str, ...], bool, str], pl.DataFrame] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def rows(self, measure: Measure) -> pl.DataFrame:
        """The annotations that the filter of a measure lets through."""
        rows = self.whole.rows
        return rows.filter(pl.col(measure.filter) == 1) if measure.filter else rows

    def items(self, measure: Measure, key: tuple[str, ...]) -> pl.DataFrame:
        """These annotations with one number for the fields of a key and their group, as `item`."""
        rows = self.rows(measure)
        return rows.with_columns(self.whole.key(rows, ("group", *key)).alias("item"))

    def members(self, measure: Measure) -> pl.DataFrame:
        """These annotations with `item` and `cluster`."""
        items = self.items(measure, measure.key)
        return items.with_columns(cluster=self.whole.key(items, ("group", "eid")))

    def clusterings(self, measure: Measure) -> Clusterings:
        """The clusterings that a measure compares, kept until a measure compares others."""
        if measure.contents not in self._latest:
            self._latest.clear()
            members = self.members(measure)
            both = self.whole.key(members, ("group", *measure.key, "eid"))  # item and cluster
            columns = ("group", "item", "cluster")
            sides = _sides(members.with_columns(both=both), *columns, once="both")
            self._latest[measure.contents] = Clusterings(*sides)
        return self._latest[measure.contents]

    def spans(self, measure: Measure) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The spans of both sides; those that may overlap are of one `item`."""
        kind = tuple(name for name in measure.key if name != "span")
        return _sides(self.items(measure, ("docid", *kind)), "group", "item", "from", "last")

    def overlaps(self, measure: Measure, *, system: bool, mode: str) -> pl.LazyFrame:
        """The shares of a side's annotations that the other one covers, summed as `covered`.

        An annotation that ends before it starts overlaps nothing.
        """
        made = (*measure.contents, system, mode)
        if made not in self._overlaps:
            rows, others = self.spans(measure)[:: -1 if system else 1]
            real = pl.col("last") >= pl.col("from")
            units = np.zeros(rows.height, dtype=np.int64)
            units[rows.select(real).to_series().to_numpy()] = covered(
                mode, spans(rows.filter(real)), spans(others.filter(real))
            )
            self._overlaps[made] = shares(units, rows).collect(engine="in-memory")
        return self._overlaps[made].lazy()


def _sides(rows: pl.DataFrame, *columns: str, once: str = "") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Some columns of the rows of the reference and of the system; each value of one only once."""
    reference, system = (rows.lazy().filter(pl.col("system") == side) for side in (False, True))
    first = pl.col(once).is_first_distinct() if once else pl.lit(True)
    parts = (part.filter(first) for part in (reference, system))
    both = pl.collect_all([part.select(columns) for part in parts], engine="in-memory")
    return both[0], both[1]


def shares(units: Integers, rows: pl.DataFrame) -> pl.LazyFrame:
    """The shares of annotations of which so many units are covered, summed by group."""
    length = pl.col("last") - pl.col("from") + 1
    shares = rows.lazy().select("group", denominator=length, numerator=pl.lit(pl.Series(units)))
    return fractions(shares.filter(pl.col("numerator") > 0), "covered")


@dataclass(frozen=True)
class Counting:
    """Annotations whose measures are counted, as the measures are defined.

    Attributes:
        whole: the annotations of both sides.
        weights: what a pair of types counts, by reference's and system's.
    """

    whole: Coded
    weights: Mapping[tuple[str, str], float]
    _by: dict[str, Grouped] = field(default_factory=dict, init=False, compare=False, repr=False)

    candidates = staticmethod(all_candidates)
    select = staticmethod(best_candidates)
    code = staticmethod(encode)
    rates = staticmethod(side_rates)
    #: The files that the scorer writes, by name.
    FILES: ClassVar[Mapping[str, Callable[[Iterable[Mapping[str, Any]]], str]]] = {}
    REPEATED: ClassVar = "use the last by name"
    REVERSE: ClassVar = "{count|it overlaps|they overlap} nothing"

    def groups(self, column: str) -> Grouped:
        """The annotations that count by the values of a column, or in one group."""
        group = pl.col(column) if column else pl.lit(0, pl.Int64)
        rows = self.whole.rows.with_columns(group=group)
        groups = rows.select("group").unique().sort("group")
        sizes = {**self.whole.sizes, "group": self.whole.sizes[column] if column else 1}
        groups = groups if column else pl.DataFrame({"group": [0]})
        return Grouped(replace(self.whole, rows=rows, sizes=sizes), groups)

    def counts(self, measure: Measure, by: str) -> pl.DataFrame:
        """The counts of a measure by group.

        Args:
            measure: what is measured.
            by: one of `GROUPINGS`, or empty for one group of all.

        Returns:
            `group` (what it is called; null for what has no such thing), `ptp`, `fp`, `rtp`, `fn`.
        """
        column = GROUPINGS[by] if by else ""
        if column not in self._by:
            self._by[column] = self.groups(column)
        counts = self.of_groups(measure, self._by[column])
        names = self.whole.names[column].gather(counts["group"]) if column else pl.Series([""])
        return counts.with_columns(names.alias("group"))

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
        return Grouped(replace(self.whole, rows=rows, sizes=sizes), groups)

    @cached_property
    def each_document(self) -> Grouped:
        """The annotations of each document, none of which is left out."""
        return Counting.groups(self, "docid")

    def documents(self, measure: Measure) -> pl.DataFrame:
        """Return what each document adds to the counts of a measure, where these add up.

        Returns:
            `group`, the document, and `ptp`, `fp`, `rtp`, `fn`; those of the whole are their sums.
        """
        if measure.by:
            return self.counts(measure, measure.by)
        counts = self.of_groups(measure, self.each_document)
        return counts.with_columns(group=self.whole.names["docid"].gather(counts["group"]))

    def of_groups(self, measure: Measure, grouped: Grouped) -> pl.DataFrame:
        """The counts of a measure by the number of the group.

        What of the denominators is not in the numerators, are false positives and negatives.
        """
        if measure.aggregate == "blanc":
            links = (replace(measure, aggregate=links) for links in PAIRWISE)
            return clusterings.blanc(*(self.of_groups(links, grouped) for links in links))
        if measure.aggregate in OVERLAPS:
            counts = self._overlaps(measure, grouped)
        elif measure.aggregate != "sets":
            counts = self.cluster_counts(measure, grouped)
        elif self.weights and "type" in measure.key:
            counts = self._weighted_sets(measure, grouped)
        else:
            counts = self._sets(measure, grouped)
        every = grouped.groups.lazy().join(counts, on="group", how="left", maintain_order="left")
        every = every.with_columns(
            fp=pl.col("p_den") - pl.col("ptp"), fn=pl.col("r_den") - pl.col("rtp")
        )
        figures = pl.col(*COUNTS).fill_null(0).cast(pl.Float64)
        return every.select("group", figures).collect(engine="in-memory")

    def _sets(self, measure: Measure, grouped: Grouped) -> pl.LazyFrame:
        """Keys that both sides have, each counted once."""
        items = grouped.items(measure, measure.key)
        reference, system = (side.lazy() for side in _sides(items, "group", "item", once="item"))
        return together(
            by_group(reference.join(system, on="item", how="semi"), ptp=pl.len(), rtp=pl.len()),
            by_group(system, p_den=pl.len()),
            by_group(reference, r_den=pl.len()),
        )

    def _weighted_sets(self, measure: Measure, grouped: Grouped) -> pl.LazyFrame:
        """Keys that agree but for the type, each counting what its pair of types does.

        Where a key stands with several types, they are paired so that the most is counted.
        """
        items = grouped.items(measure, tuple(name for name in measure.key if name != "type"))
        items = items.select("system", "group", "item", "type").unique()
        items = items.with_columns(self._weights(items["type"], items["type"]))
        system, reference = items.filter("system"), items.filter(~pl.col("system"))
        both = reference.join(system, on="item", suffix="_system", maintain_order="left_right")
        both = both.with_columns(self._weights(both["type"], both["type_system"]))
        both = both.filter(pl.col("weight") > 0).sort("item", "type", "type_system")
        number = (
            pl.struct("item", name).rank("dense").cast(pl.Int64) for name in ("type", "type_system")
        )
        ours, theirs = (both.select(each).to_series().to_numpy() for each in number)
        matched = both.filter(assigned(ours, theirs, both["weight"].to_numpy()))
        weight = pl.col("weight").sum()
        return together(
            by_group(matched, ptp=weight, rtp=weight),
            by_group(system, p_den=weight),
            by_group(reference, r_den=weight),
        )

    def _weights(self, ours: pl.Series, theirs: pl.Series) -> pl.Series:
        """The weight of each pair of types: 1 for equal ones and else 0, if nothing is said."""
        names = self.whole.names["type"].to_list()
        pairs = list(zip(ours.to_list(), theirs.to_list(), strict=True))
        weights = {
            (one, other): self.weights.get((names[one], names[other]), float(one == other))
            for one, other in set(pairs)
        }
        return pl.Series("weight", [weights[pair] for pair in pairs], dtype=pl.Float64)

    def cluster_counts(self, measure: Measure, grouped: Grouped) -> pl.LazyFrame:
        """The clusters of both sides, aligned or item by item."""
        return clusterings.MEASURES[measure.aggregate](grouped.clusterings(measure))

    def overlaps(
        self, measure: Measure, grouped: Grouped, modes: tuple[str, str]
    ) -> Sequence[pl.LazyFrame]:
        """The shares of the reference's and the system's annotations that are covered, summed."""
        return [
            grouped.overlaps(measure, system=system, mode=mode)
            for system, mode in zip((False, True), modes, strict=True)
        ]

    def _overlaps(self, measure: Measure, grouped: Grouped) -> pl.LazyFrame:
        """The share of each annotation that the other side covers, annotations being counted."""
        modes = (measure.aggregate[-6:-3], measure.aggregate[-3:])
        ours, theirs = self.overlaps(measure, grouped, modes)
        rows = grouped.whole.rows.lazy()
        return together(
            theirs.rename({"covered": "ptp"}),
            ours.rename({"covered": "rtp"}),
            by_group(rows.filter("system"), p_den=pl.len()),
            by_group(rows.filter(~pl.col("system")), r_den=pl.len()),
        )

    def notes(self) -> Iterator[str]:
        """Say what a reader of the numbers must know."""
        rows = self.whole.rows
        several = pl.col("eid").min() < pl.col("eid").max()
        count = rows.group_by("system", "span").agg(several)["eid"].sum()
        if count:
            spans = fill("{count:,} {count|span is|spans are}", {"count": count})
            yield (
                f"{spans} in several clusters of one side; B³, MUC, pairwise and BLANC "
                + self.REPEATED
            )
        reverse = rows.filter(pl.col("last") < pl.col("from")).height
        if reverse:
            mentions = (
                "{count:,} {count|mention ends before it starts|mentions end before they start}: "
            )
            yield fill(mentions + self.REVERSE, {"count": reverse})

    def figures(
        self, measures: Sequence[Measure], asked: Collection[Measure], by: str
    ) -> pl.DataFrame:
        """The figures of measures over all, and by group where that is wanted (`RESULTS`).

        Args:
            measures: the measures, in order.
            asked: those that were asked for.
            by: what measures are also counted by, one of `GROUPINGS`, or empty.
        """
        counted = {
            measure: list(self._counts_of(measure, by, asked=measure in asked))
            for measure in sorted(measures, key=lambda measure: measure.contents)
        }
        parts = [part for measure in measures for part in counted[measure]]
        # All are rated at once: a table for each has few rows, and would take as long as this one.
        rows = pl.concat([pl.DataFrame(schema=_COUNTED), *parts], how="diagonal")
        rates = self.with_rates(rows)
        figures = (pl.when("rated").then(name).otherwise(rates[name]).alias(name) for name in RATES)
        return rows.with_columns(*figures).select(list(RESULTS))

    def _counts_of(self, measure: Measure, by: str, *, asked: bool) -> Iterator[pl.DataFrame]:
        """The counts of a measure over all, and by group where that is wanted (`_COUNTED`)."""
        if measure.by:
            averages = self._averages(self.counts(measure, measure.by), measure, measure.by)
            named = averages.filter(pl.col("measure") == measure.name)
            yield named.with_columns(asked=pl.lit(asked), by=pl.lit(""))
            return
        about = {
            "asked": pl.lit(asked),
            "fractional": pl.lit(self._fractional(measure)),
            "rated": pl.lit(measure.aggregate == "blanc"),
        }
        total = self.counts(measure, "")
        yield total.with_columns(measure=pl.lit(measure.name), by=pl.lit(""), **about)
        if by:
            counts = self.counts(measure, by)
            head = f"{measure.name};{GROUPINGS[by]}"
            names = [f"{head}={json.dumps(group)}" for group in counts["group"]]
            listed = pl.Series(names, dtype=pl.String)
            yield counts.with_columns(measure=listed, by=pl.lit(by), **about)
            yield self._averages(counts, measure, by).with_columns(asked=pl.lit(asked))

    def _fractional(self, measure: Measure) -> bool:
        return measure.fractional or (bool(self.weights) and measure.aggregate == "sets")

    def _averages(self, counts: pl.DataFrame, measure: Measure, by: str) -> pl.DataFrame:
        """The sum of counts by group with its figures, and the mean of the groups' figures."""
        blanc = measure.aggregate == "blanc"
        prefix = f"{measure.name.partition(';docid=<')[0].partition(';type=<')[0]};{GROUPINGS[by]}"
        micro = counts.select(pl.col(*COUNTS).sum())
        if blanc:  # a mean has no counts to be summed
            micro = micro.select(pl.lit(None, pl.Float64).alias(name) for name in FIGURES)
        macro = self.figures_of(counts, measure).select(pl.col(*FIGURES).mean())
        # an average of nothing is a whole 0, as the public scorer has it
        fractional = self._fractional(measure) and not counts.is_empty()
        return pl.concat([micro, macro], how="diagonal").with_columns(
            pl.Series("group", AVERAGES),
            pl.Series("measure", [f"{prefix}={average}" for average in AVERAGES]),
            pl.Series("fractional", [fractional, True]),
            pl.Series("rated", [blanc, True]),
            by=pl.lit(by),
        )

    def figures_of(self, counts: pl.DataFrame, measure: Measure) -> pl.DataFrame:
        """Counts with precision, recall and F-score."""
        return counts if measure.aggregate == "blanc" else self.with_rates(counts)

    def with_rates(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Counts with precision, recall and their harmonic mean."""
        right, wrong, met, missed = (pl.col(name) for name in COUNTS)
        rates = self.rates(right, right + wrong, met, met + missed)
        return counts.with_columns(**dict(zip(RATES, rates, strict=True)))


def long(rows: pl.DataFrame) -> pl.DataFrame:
    """The table `scorings`: a figure a row."""
    kept = rows.select("measure", *FIGURES).with_row_index("place")
    long = kept.unpivot(FIGURES, index=["place", "measure"], variable_name="figure")
    order = pl.col("figure").replace_strict({name: at for at, name in enumerate(FIGURES)})
    return long.sort("place", order).select(
        pl.lit("Measures").alias("evaluation"),
        pl.col("measure").alias("scoring"),
        pl.col("figure").alias("measure"),
        "value",
    )
