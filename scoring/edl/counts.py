"""The counts of measures over annotations: what is filtered, compared, and how it is counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import polars as pl

from hlteval.findings.counts import fill
from hlteval.scoring.edl import clusterings, official
from hlteval.scoring.edl.annotations import Coded
from hlteval.scoring.edl.clusterings import Clusterings, blanc, fractions, together
from hlteval.scoring.edl.measures import FIGURES, GROUPINGS, OVERLAPS, Measure
from hlteval.scoring.edl.overlaps import Integers, covered, spans
from hlteval.scoring.matching import assigned
from hlteval.scoring.ratios import side_rates

# Groups: annotations that are counted apart, and what measures compare of them, made once.
#
# What several measures compare is kept: the overlaps of spans, which are few numbers, and the
# latest clusterings, which are large.


@dataclass(frozen=True)
class Grouped:
    """Annotations in groups that are counted apart.

    Attributes:
        whole: the annotations, with the column `group`.
        groups: the numbers of all groups, as `group`.
    """

    whole: Coded
    groups: pl.DataFrame
    _latest: dict[tuple[str, tuple[str, ...]], Clusterings] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    _covered: dict[tuple[str, tuple[str, ...], bool, str], pl.DataFrame] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def rows(self, measure: Measure) -> pl.DataFrame:
        """The annotations that the filter of a measure lets through."""
        rows = self.whole.rows
        return rows.filter(pl.col(measure.filter) == 1) if measure.filter else rows

    def items(self, rows: pl.DataFrame, fields: tuple[str, ...]) -> pl.DataFrame:
        """Annotations with one number for their fields and their group, as `item`."""
        return rows.with_columns(self.whole.key(rows, ("group", *fields)).alias("item"))

    def sides(self, measure: Measure) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The items of the reference and of the system that a measure compares, each once."""
        items = self.items(self.rows(measure), measure.key)
        return _sides(items, "group", "item", once="item")

    def overlaps(self, measure: Measure, *, system: bool, mode: str) -> pl.DataFrame:
        """The shares of a side's annotations that the other one covers, summed as `covered`."""
        made = (measure.filter, measure.key, system, mode)
        if made not in self._covered:
            own, others = self.spans(measure)[:: -1 if system else 1]
            shares = summed(_shares(own, others, mode), own, "covered")
            self._covered[made] = shares.collect(engine="in-memory")
        return self._covered[made]

    def spans(self, measure: Measure) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The spans of both sides; those that may overlap are of one `item`."""
        kind = tuple(name for name in measure.key if name != "span")
        return _sides(self.items(self.rows(measure), ("docid", *kind)), *_SPAN)

    def members(self, measure: Measure) -> pl.DataFrame:
        """The annotations that a measure of clusterings compares, with `item` and `cluster`."""
        items = self.items(self.rows(measure), measure.key)
        return items.with_columns(cluster=self.whole.key(items, ("group", "eid")))

    def clusterings(self, measure: Measure) -> Clusterings:
        """The clusterings that a measure compares, kept until a measure compares others."""
        made = (measure.filter, measure.key)
        if made not in self._latest:
            self._latest.clear()
            members = self.members(measure)
            both = self.whole.key(members, ("group", *measure.key, "eid"))  # item and cluster
            columns = ("group", "item", "cluster")
            sides = _sides(members.with_columns(both=both), *columns, once="both")
            self._latest[made] = Clusterings(*sides)
        return self._latest[made]


_SPAN = ("group", "item", "from", "last")


def _sides(rows: pl.DataFrame, *columns: str, once: str = "") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Some columns of the rows of the reference and of the system; each value of one only once."""
    reference, system = (rows.lazy().filter(pl.col("system") == side) for side in (False, True))
    first = pl.col(once).is_first_distinct() if once else pl.lit(True)
    parts = (part.filter(first) for part in (reference, system))
    both = pl.collect_all([part.select(columns) for part in parts], engine="in-memory")
    return both[0], both[1]


def _shares(rows: pl.DataFrame, others: pl.DataFrame, mode: str) -> Integers:
    """How many units of each annotation the other side covers; one that ends too early has none."""
    real = pl.col("last") >= pl.col("from")
    units = np.zeros(rows.height, dtype=np.int64)
    units[rows.select(real).to_series().to_numpy()] = covered(
        mode, spans(rows.filter(real)), spans(others.filter(real))
    )
    return units


def summed(units: Integers, rows: pl.DataFrame, name: str) -> pl.LazyFrame:
    """The shares of annotations that are covered, summed by group."""
    length = pl.col("last") - pl.col("from") + 1
    shares = rows.lazy().select("group", denominator=length, numerator=pl.lit(pl.Series(units)))
    return fractions(shares.filter(pl.col("numerator") > 0), name)


COUNTS = ("ptp", "fp", "rtp", "fn")

_CLUSTERED: Mapping[str, Callable[[Clusterings], pl.LazyFrame]] = MappingProxyType(
    {
        "mention_ceaf": clusterings.mention_ceaf,
        "entity_ceaf": clusterings.entity_ceaf,
        "b_cubed": clusterings.b_cubed,
        "muc": clusterings.muc,
        "pairwise": clusterings.pairwise,
        "pairwise_negative": clusterings.pairwise_negative,
    }
)


@dataclass(frozen=True)
class Counting:
    """Annotations whose measures are counted.

    Attributes:
        whole: the annotations of both sides.
        weights: what a pair of types counts, by reference's and system's.
        official: whether the quirks of the public scorer are reproduced.
    """

    whole: Coded
    weights: Mapping[tuple[str, str], float]
    official: bool
    _by: dict[str, Grouped] = field(default_factory=dict, init=False, compare=False, repr=False)

    def counts(self, measure: Measure, by: str) -> pl.DataFrame:
        """The counts of a measure by group; null where the public scorer gives none.

        Args:
            measure: what is measured.
            by: one of `GROUPINGS`, or empty for one group of all.

        Returns:
            `group` (what it is called; null for what has no such thing), `ptp`, `fp`, `rtp`, `fn`.
        """
        column = GROUPINGS[by] if by else ""
        if column not in self._by:
            self._by[column] = self._grouped(column)
        found = self.of_groups(measure, self._by[column])
        called = self.whole.names[column].gather(found["group"]) if column else pl.Series([""])
        return found.with_columns(called.alias("group"))

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

    def documents(self, measure: Measure) -> pl.DataFrame:
        """What each document adds to the counts of a measure, where these add up.

        Returns:
            `group`, the document, and `ptp`, `fp`, `rtp`, `fn`; those of the whole are their sums.
        """
        if measure.by:
            return self.counts(measure, measure.by)
        if _EACH not in self._by:
            rows = self.whole.rows.with_columns(group=pl.col("docid"))
            whole = replace(self.whole, rows=rows, sizes=self._sizes("docid"))
            self._by[_EACH] = Grouped(whole, rows.select("group").unique().sort("group"))
        found = self.of_groups(measure, self._by[_EACH])
        return found.with_columns(group=self.whole.names["docid"].gather(found["group"]))

    def of_groups(self, measure: Measure, grouped: Grouped) -> pl.DataFrame:
        """The counts of a measure by the number of the group; null as in `counts`."""
        if measure.aggregate == "blanc":
            parts = [
                self.of_groups(replace(measure, aggregate=links), grouped)
                for links in ("pairwise", "pairwise_negative")
            ]
            return blanc(*parts, defined=not self.official)
        one = _Measured(measure, grouped, self)
        every = grouped.groups.lazy()
        found = every.join(one.counts(), on="group", how="left", maintain_order="left")
        figures = (pl.col(name).fill_null(0).cast(pl.Float64) for name in COUNTS)
        counts = found.select("group", *figures).collect(engine="in-memory")
        if self.official and not one.defined:
            return counts.with_columns(pl.lit(None, pl.Float64).alias(name) for name in COUNTS)
        return counts

    def _grouped(self, column: str) -> Grouped:
        """The annotations that count by the values of a column, or in one group."""
        if not column:
            rows = self.whole.rows.with_columns(group=pl.lit(0, pl.Int64))
            groups = pl.DataFrame({"group": [0]})
        else:
            rows = self.whole.rows.with_columns(group=pl.col(column))
            some = rows.filter(~pl.col("system")) if self.official else rows
            groups = some.select("group").unique().sort("group")
            if self.official:  # what only the system has disappears
                rows = rows.join(groups, on="group", how="semi", maintain_order="left")
        return Grouped(replace(self.whole, rows=rows, sizes=self._sizes(column)), groups)

    def _sizes(self, column: str) -> dict[str, int]:
        """How many numbers each column has, that of the groups among them."""
        return {**self.whole.sizes, "group": self.whole.sizes[column] if column else 1}

    def notes(self) -> Iterator[str]:
        """What a reader of the numbers must know."""
        rows = self.whole.rows
        several = pl.col("eid").min() < pl.col("eid").max()
        sides = (rows.filter(pl.col("system") == side) for side in (False, True))
        count = sum(side.group_by("span").agg(several)["eid"].sum() for side in sides)
        if count:
            spans = fill("{count:,} {count|span is|spans are}", {"count": count})
            yield (
                f"{spans} in several clusters of one side; B³, MUC, pairwise and BLANC "
                + ("use the last in the file" if self.official else "use the last by name")
            )
        reverse = rows.filter(pl.col("last") < pl.col("from")).height
        if reverse:
            consequence = (
                "no overlap scores, since the public scorer crashes"
                if self.official
                else "{count|it overlaps|they overlap} nothing"
            )
            mentions = (
                "{count:,} {count|mention ends before it starts|mentions end before they start}: "
            )
            yield fill(mentions + consequence, {"count": reverse})


#: The key of the groups of `Counting.documents`, none of which is left out.
_EACH = "each document"


@dataclass(frozen=True)
class _Measured:
    """A measure over the annotations that its filter lets through."""

    measure: Measure
    grouped: Grouped
    counting: Counting

    @cached_property
    def rows(self) -> pl.DataFrame:
        return self.grouped.rows(self.measure)

    @property
    def official(self) -> bool:
        return self.counting.official

    @property
    def defined(self) -> bool:
        """Whether the public scorer gives a number."""
        if self.measure.aggregate in OVERLAPS:
            return not (self.rows["last"] < self.rows["from"]).any()
        if self.counting.weights:
            return self.measure.aggregate == "sets" and not self._repeated()
        return True

    def counts(self) -> pl.LazyFrame:
        """The counts by group, for groups that have any."""
        if self.measure.aggregate in OVERLAPS:
            return self._overlap()
        if self.measure.aggregate == "sets":
            weighted = self.counting.weights and "type" in self.measure.key
            return self._weighted() if weighted else self._sets()
        return self._clustered()

    def _items(self, fields: tuple[str, ...]) -> pl.DataFrame:
        """What is compared: `system`, `group` and one number for the fields of the key."""
        return self.grouped.items(self.rows, fields)

    def _sets(self) -> pl.LazyFrame:
        """Keys that both sides have, each counted once."""
        reference, system = (side.lazy() for side in self.grouped.sides(self.measure))
        both = reference.join(system, on="item", how="semi").group_by("group").agg(ptp=pl.len())
        return _remaining(
            both,
            both.rename({"ptp": "rtp"}),
            system.group_by("group").agg(p_den=pl.len()),
            reference.group_by("group").agg(r_den=pl.len()),
        )

    def _repeated(self) -> bool:
        """Whether a side has a key twice, the type aside."""
        rest = tuple(name for name in self.measure.key if name != "type")
        return self._items(rest).select("system", "item").is_duplicated().any()

    def _weighted(self) -> pl.LazyFrame:
        """Keys that agree but for the type, each counting what its pair of types does.

        Where a key stands with several types, they are paired so that the most is counted.
        """
        rest = tuple(name for name in self.measure.key if name != "type")
        items = self._items(rest).select("system", "group", "item", "type").unique()
        system, reference = items.filter("system"), items.filter(~pl.col("system"))
        both = reference.join(system, on="item", suffix="_system", maintain_order="left_right")
        both = both.with_columns(self._weights(both["type"], both["type_system"]))
        both = both.filter(pl.col("weight") > 0).sort("item", "type", "type_system")
        ours, theirs = (_numbered(both, ("item", name)) for name in ("type", "type_system"))
        matched = both.filter(assigned(ours, theirs, both["weight"].to_numpy())).lazy()
        total = matched.group_by("group").agg(ptp=pl.col("weight").sum())
        dens = [
            one.with_columns(self._weights(one["type"], one["type"]))
            .lazy()
            .group_by("group")
            .agg(pl.col("weight").sum().alias(name))
            for name, one in (("p_den", system), ("r_den", reference))
        ]
        return _remaining(total, total.rename({"ptp": "rtp"}), *dens)

    def _weights(self, ours: pl.Series, theirs: pl.Series) -> pl.Series:
        """What each pair of types counts: 1 for equal ones and else 0, if nothing is said."""
        names = self.grouped.whole.names["type"].to_list()
        said = self.counting.weights
        pairs = zip(ours.to_list(), theirs.to_list(), strict=True)
        weights = {(a, b): said.get((names[a], names[b]), float(a == b)) for a, b in set(pairs)}
        pairs = zip(ours.to_list(), theirs.to_list(), strict=True)
        return pl.Series("weight", [weights[pair] for pair in pairs], dtype=pl.Float64)

    def _clustered(self) -> pl.LazyFrame:
        if self.official:
            members = self.grouped.members(self.measure)
            members = members.with_columns(nameless=pl.col("eid") == 0).with_row_index("order")
            return _left(official.counts(self.measure.aggregate, members))
        return _left(_CLUSTERED[self.measure.aggregate](self.grouped.clusterings(self.measure)))

    def _overlap(self) -> pl.LazyFrame:
        """The share of each annotation that the other side covers, annotations being counted."""
        ours, theirs = self.measure.aggregate[-6:-3], self.measure.aggregate[-3:]
        if self.official:
            sides = self.grouped.spans(self.measure)
            shares = official.overlaps(*sides, (ours, theirs))
            parts = [summed(*each, "covered") for each in zip(shares, sides, strict=True)]
        else:
            parts = [
                self.grouped.overlaps(self.measure, system=system, mode=mode).lazy()
                for system, mode in ((False, ours), (True, theirs))
            ]
        rows = self.grouped.whole.rows.lazy().group_by("group", "system").agg(size=pl.len())
        parts = [parts[1].rename({"covered": "ptp"}), parts[0].rename({"covered": "rtp"})]
        dens = [
            rows.filter(pl.col("system") == side).select("group", pl.col("size").alias(name))
            for name, side in (("p_den", True), ("r_den", False))
        ]
        return _remaining(*parts, *dens)


def _remaining(*parts: pl.LazyFrame) -> pl.LazyFrame:
    return _left(together(*parts))


def _left(counts: pl.LazyFrame) -> pl.LazyFrame:
    """What of the denominators is not in the numerators: false positives and negatives."""
    return counts.select(
        *("group", "ptp", "rtp"),
        fp=pl.col("p_den") - pl.col("ptp"),
        fn=pl.col("r_den") - pl.col("rtp"),
    )


def _numbered(rows: pl.DataFrame, columns: tuple[str, ...]) -> Integers:
    """One number for each combination of values."""
    number: Integers = (
        rows.select(pl.struct(columns).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    )
    return number


# Figures: precision, recall and F-score of the counts of measures, over all and by group.
#
#     P = ptp / (ptp + fp),  R = rtp / (rtp + fn),  F = 2PR / (P + R)
#
# F is 0 where nothing is right, also where a side has nothing; it is undefined only without any
# item.


AVERAGES = ("<micro>", "<macro>")
#: A measure and a group a row: its figures, whether it was asked for, whether it counts fractions;
#: or, where `by` is `note`, a note.
RESULTS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"measure": pl.String, "by": pl.String, "group": pl.String}
    | {"asked": pl.Boolean, "fractional": pl.Boolean}
    | dict.fromkeys(FIGURES, pl.Float64)
)

_RATES = tuple(name for name in FIGURES if name not in COUNTS)
#: Counts that are still to be rated, unless their rates are `given`.
_COUNTED = {**RESULTS, "given": pl.Boolean}


@dataclass(frozen=True)
class Rating:
    """How counts are rated.

    Attributes:
        by: what measures are also counted by, one of `GROUPINGS`, or empty.
        official: whether the public scorer is reproduced, in which 0/0 is 0.
        weighed: whether pairs of types have weights.
    """

    by: str
    official: bool
    weighed: bool

    def of(
        self, counting: Counting, measures: Sequence[Measure], asked: Collection[Measure]
    ) -> pl.DataFrame:
        """The figures of measures over all, and by group where that is wanted (`RESULTS`).

        Args:
            counting: what is counted.
            measures: the measures, in order.
            asked: those that were asked for.
        """
        counted = {
            measure: self._counted(counting, measure, asked=measure in asked)
            for measure in sorted(measures, key=compared)
        }
        parts = [part for measure in measures for part in counted[measure]]
        # All are rated at once: a table for each has few rows, and would take as long as this one.
        rows = pl.concat([pl.DataFrame(schema=_COUNTED), *parts], how="diagonal")
        rated = self.with_rates(rows).select(_RATES)
        figures = (
            pl.when("given").then(name).otherwise(rated[name]).alias(name) for name in _RATES
        )
        return rows.with_columns(*figures).select(list(RESULTS))

    def _counted(
        self, counting: Counting, measure: Measure, *, asked: bool
    ) -> Iterator[pl.DataFrame]:
        """The counts of a measure over all, and by group where that is wanted (`_COUNTED`)."""
        whole = {"asked": asked, "fractional": self._fractional(measure)}
        if measure.by:
            averages = self._averages(counting.counts(measure, measure.by), measure, measure.by)
            named = averages.filter(pl.col("measure") == measure.name)
            yield named.with_columns(asked=pl.lit(asked), by=pl.lit(""))
            return
        yield _listed(counting.counts(measure, ""), measure, "", **whole)
        if self.by:
            counts = counting.counts(measure, self.by)
            column = GROUPINGS[self.by]
            groups = [f"{measure.name};{column}={json.dumps(group)}" for group in counts["group"]]
            names = pl.Series(groups, dtype=pl.String)
            yield _listed(counts, measure, self.by, **whole).with_columns(measure=names)
            averages = self._averages(counts, measure, self.by)
            yield averages.with_columns(asked=pl.lit(asked))

    def _fractional(self, measure: Measure) -> bool:
        return measure.fractional or (self.weighed and measure.aggregate == "sets")

    def _averages(self, counts: pl.DataFrame, measure: Measure, by: str) -> pl.DataFrame:
        """The sum of counts by group with its figures, and the mean of the groups' figures."""
        prefix = f"{measure.name.partition(';docid=<')[0].partition(';type=<')[0]};{GROUPINGS[by]}"
        summed = counts.select(pl.lit("<micro>").alias("group"), pl.col(*COUNTS).sum())
        if measure.aggregate == "blanc":  # a mean has no counts to be summed
            nothing = pl.lit(None, pl.Float64)
            summed = summed.with_columns(nothing.alias(name) for name in FIGURES)
        fractional = self._fractional(measure) and not counts.is_empty()
        micro = _listed(summed, measure, by, fractional=fractional)
        means = self.rated(counts, measure).select(pl.col(*FIGURES).mean())
        # an average of nothing is a whole 0, as the public scorer has it
        macro = _listed(means, measure, by, fractional=True, given=True)
        both = pl.concat([micro, macro.with_columns(group=pl.lit("<macro>"))], how="diagonal")
        names = pl.Series([f"{prefix}={average}" for average in AVERAGES])
        return both.with_columns(measure=names)

    def rated(self, counts: pl.DataFrame, measure: Measure) -> pl.DataFrame:
        """Counts with precision, recall and F-score."""
        return counts if measure.aggregate == "blanc" else self.with_rates(counts)

    def with_rates(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Counts with precision, recall and their harmonic mean."""
        found, wrong, met, missed = (pl.col(name) for name in COUNTS)
        rates = official.rates if self.official else side_rates
        both = rates(found, found + wrong, met, met + missed)
        return counts.with_columns(**dict(zip(_RATES, both, strict=True)))


def compared(measure: Measure) -> tuple[str, tuple[str, ...]]:
    """Measures with equal ones have the same clusterings, which are made once for them all."""
    return measure.filter, measure.key


def _listed(
    counts: pl.DataFrame,
    measure: Measure,
    by: str,
    *,
    fractional: bool,
    asked: bool = True,
    given: bool = False,
) -> pl.DataFrame:
    """Counts with what is said about their measure; BLANC has its rates already."""
    return counts.with_columns(
        measure=pl.lit(measure.name),
        by=pl.lit(by),
        asked=pl.lit(asked),
        fractional=pl.lit(fractional),
        given=pl.lit(given or measure.aggregate == "blanc"),
    )


def long(rows: pl.DataFrame) -> pl.DataFrame:
    """The table `scorings`: a figure a row."""
    kept = rows.select("measure", *FIGURES)
    long = kept.with_row_index("place").unpivot(
        FIGURES, index=["place", "measure"], variable_name="figure"
    )
    order = pl.col("figure").replace_strict({name: at for at, name in enumerate(FIGURES)})
    return long.sort("place", order).select(
        pl.lit("Measures").alias("evaluation"),
        pl.col("measure").alias("scoring"),
        pl.col("figure").alias("measure"),
        "value",
    )
