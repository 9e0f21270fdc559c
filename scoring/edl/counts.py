"""The counts of measures over annotations, and their precision, recall and F-score.

P = ptp / (ptp + fp), R = rtp / (rtp + fn), F = 2PR / (P + R); F is 0 where nothing is right, also
where a side has nothing, and undefined only without any item. Where the public scorer (neleval 3.1)
counts otherwise, it does so because a key is in several clusters of one side, spans of one side
overlap, or there are no identifiers.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from hlteval.findings.counts import fill
from hlteval.scoring.edl import clusterings
from hlteval.scoring.edl.annotations import Coded
from hlteval.scoring.edl.clusterings import Clusterings, by_group, fractions, together
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
from hlteval.scoring.edl.overlaps import Spans, coverage, spans, sweep
from hlteval.scoring.matching import assigned
from hlteval.scoring.ratios import Rates, harmonic, side_rates

AVERAGES = ("<micro>", "<macro>")
#: A measure and a group a row: its figures, whether it was asked for, whether it counts fractions.
RESULTS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"measure": pl.String, "by": pl.String, "group": pl.String}
    | {"asked": pl.Boolean, "fractional": pl.Boolean}
    | dict.fromkeys(FIGURES, pl.Float64)
)


def official_rates(
    found: pl.Expr, predicted: pl.Expr, met: pl.Expr, expected: pl.Expr
) -> Rates[pl.Expr]:
    """The rates of `ratios.side_rates`, but 0 where nothing can be divided."""
    precision, recall, _ = side_rates(found, predicted, met, expected)
    precision = pl.when(predicted == 0).then(0.0).otherwise(precision)
    recall = pl.when(expected == 0).then(0.0).otherwise(recall)
    mean = pl.when(precision + recall == 0).then(0.0).otherwise(harmonic(precision, recall))
    return Rates(precision, recall, mean)


def with_rates(counts: pl.DataFrame, *, official: bool) -> pl.DataFrame:
    """Counts with precision, recall and their harmonic mean."""
    right, wrong, met, missed = (pl.col(name) for name in COUNTS)
    each = official_rates if official else side_rates
    rates = each(right, right + wrong, met, met + missed)
    return counts.with_columns(**dict(zip(RATES, rates, strict=True)))


@dataclass(frozen=True)
class Grouped:
    """Annotations in groups that are counted apart.

    What several measures compare is kept: the overlaps of spans, which are few numbers, and the
    latest clusterings, which are large.

    Attributes:
        whole: the annotations, with the column `group`.
        groups: the numbers of all groups, as `group`.
        weights: what a pair of types counts, by reference's and system's.
        official: whether they are counted as by the public scorer.
    """

    whole: Coded
    groups: pl.DataFrame
    weights: Mapping[tuple[str, str], float]
    official: bool
    _clusterings: dict[tuple[str, tuple[str, ...]], Clusterings] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    _kept: dict[tuple[object, ...], Any] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def figures(self, measure: Measure) -> pl.DataFrame:
        """The figures of a measure by the number of the group; null where there are none."""
        if not self._is_counted(measure):
            return self.groups.with_columns(pl.lit(None, pl.Float64).alias(n) for n in FIGURES)
        if measure.aggregate == "blanc":
            links = (self.counts(replace(measure, aggregate=links)) for links in PAIRWISE)
            return clusterings.blanc(*links)
        return with_rates(self.counts(measure), official=self.official)

    def _is_counted(self, measure: Measure) -> bool:
        """Whether the public scorer gives a number, or need not."""
        if not self.official:
            return True
        if measure.aggregate in OVERLAPS:
            rows = self._rows(measure)
            return not (rows["last"] < rows["from"]).any()
        if self.weights and measure.aggregate == "sets":
            items = self._items(measure, tuple(name for name in measure.key if name != "type"))
            return not items.select("system", "item").is_duplicated().any()
        return measure.aggregate != "blanc" and not self.weights

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
        every = every.with_columns(
            fp=pl.col("p_den") - pl.col("ptp"), fn=pl.col("r_den") - pl.col("rtp")
        )
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
        """The weight of each pair of types: 1 for equal ones and else 0, if none is given."""
        names = self.whole.names["type"].to_list()
        weights = (
            self.weights.get((names[one], names[other]), float(one == other))
            for one, other in zip(ours.to_list(), theirs.to_list(), strict=True)
        )
        return pl.Series("weight", weights, dtype=pl.Float64)

    def _compared_clusters(self, measure: Measure) -> Clusterings:
        """The clusterings that a measure compares, kept until a measure compares others.

        The last cluster of an item is the last by name, or the last to be entered.
        """
        if measure.contents not in self._clusterings:
            items = self._items(measure, measure.key)
            members = items.with_columns(
                cluster=self.whole.key(items, ("group", "eid")),
                membership=self.whole.key(items, ("group", *measure.key, "eid")),
                nameless=(pl.col("eid") == 0) & self.official,
            ).with_row_index("order")
            entered = pl.col("order").min().over("system", "cluster")
            order = entered if self.official else pl.col("cluster")
            columns = ("group", "item", "cluster", "order", "nameless")
            sides = _sides(members.with_columns(order=order), *columns, once="membership")
            self._clusterings.clear()
            self._clusterings[measure.contents] = Clusterings(*sides, self.official)
        both = self._clusterings[measure.contents]
        return both.once if measure.aggregate in PARTITIONS and not self.official else both

    def _overlaps(self, measure: Measure) -> pl.LazyFrame:
        """The share of each annotation that the other side covers, annotations being counted.

        The public scorer finds pairs of spans by a sweep.
        """
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
            both = [spans(side) for side in sides]
            ours, theirs = both[::-1] if system else both
            if self.official:
                if measure.contents not in self._kept:
                    self._kept[measure.contents] = sweep(*both)
                pairs = self._kept[measure.contents]
                own, other = pairs[::-1] if system else pairs
                ours = ours._replace(kind=np.arange(len(ours.kind)))
                theirs = Spans(own, theirs.first[other], theirs.last[other])
            units = pl.Series(coverage(mode, ours, theirs))
            length = pl.col("last") - pl.col("from") + 1
            shares = sides[system].select("group", denominator=length, numerator=units)
            shared = fractions(shares.lazy().filter(pl.col("numerator") > 0), "covered")
            self._kept[key] = shared.collect(engine="in-memory")
        counts: pl.DataFrame = self._kept[key]
        return counts.lazy()


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
        official: whether they are counted as by the public scorer.
    """

    whole: Coded
    weights: Mapping[tuple[str, str], float]
    official: bool
    _by: dict[str, Grouped] = field(default_factory=dict, init=False, compare=False, repr=False)

    def _groups(self, column: str) -> Grouped:
        """The annotations by the values of a column, or in one group."""
        rows = self.whole.rows.with_columns(group=pl.col(column) if column else pl.lit(0, pl.Int64))
        sizes = {**self.whole.sizes, "group": self.whole.sizes[column] if column else 1}
        groups = rows.select("group").unique().sort("group")
        groups = groups if column else pl.DataFrame({"group": [0]})
        whole = replace(self.whole, rows=rows, sizes=sizes)
        return Grouped(whole, groups, self.weights, self.official)

    def figures(self, measure: Measure, by: str) -> pl.DataFrame:
        """The figures of a measure by group.

        The public scorer has the groups of the reference only: what only the system has disappears.

        Args:
            measure: what is measured.
            by: one of `GROUPINGS`, or empty for one group of all.

        Returns:
            `group` (its name; null for annotations without one) and the figures.
        """
        column = GROUPINGS[by] if by else ""
        if column not in self._by:
            grouped = self._groups(column)
            if self.official and column:
                rows = grouped.whole.rows
                reference = rows.filter(~pl.col("system")).select("group").unique()
                rows = rows.join(reference, on="group", how="semi", maintain_order="left")
                whole = replace(grouped.whole, rows=rows)
                grouped = replace(grouped, whole=whole, groups=reference.sort("group"))
            self._by[column] = grouped
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
        return Grouped(whole, groups, self.weights, self.official)

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
            last = "in the file" if self.official else "by name"
            yield (
                f"{spans} in several clusters of one side; B³, MUC, pairwise and BLANC "
                f"use the last {last}"
            )
        reverse = rows.filter(pl.col("last") < pl.col("from")).height
        if reverse:
            mentions = "{count|mention ends before it starts|mentions end before they start}"
            nothing = "{count|it overlaps|they overlap} nothing"
            crash = "no overlap scores, since the public scorer crashes"
            text = f"{{count:,}} {mentions}: {crash if self.official else nothing}"
            yield fill(text, {"count": reverse})

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
        stem = measure.name.partition(";docid=<")[0].partition(";type=<")[0]
        head = f"{stem};{GROUPINGS[by]}="
        micro = with_rates(groups.select(pl.col(*COUNTS).sum()), official=self.official)
        if measure.aggregate == "blanc":  # a mean has no counts to be summed
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
    order = pl.col("figure").replace_strict({name: at for at, name in enumerate(FIGURES)})
    return long.sort("place", order).select(
        pl.lit("Measures").alias("evaluation"),
        pl.col("measure").alias("scoring"),
        pl.col("figure").alias("measure"),
        "value",
    )


HEADER = (*COUNTS, "precis", "recall", "fscore", "measure")


def official_files(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    r"""The table and the JSON that the public scorer writes (neleval 3.1).

    The table has three decimals, whole counts as they are, and is sorted by the measures' names.

    Args:
        rows: `measure`, `fractional` (whether counts are sums of fractions), counts and rates; null
            where there is none.

    Examples:
        >>> row = {"measure": "muc", "fractional": False, "ptp": 1.0, "fp": 1.0, "rtp": 1.0}
        >>> row |= {"fn": 0.0, "precision": 0.5, "recall": 1.0, "fscore": 2 / 3}
        >>> official_files([row])["evaluation.tab"].splitlines()[1].split("\t")
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
