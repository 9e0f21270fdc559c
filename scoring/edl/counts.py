"""The counts of measures over annotations: what is filtered, compared, and how it is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import polars as pl

from hlteval.findings.counts import fill
from hlteval.scoring.assignment import assigned
from hlteval.scoring.edl import clusterings, official
from hlteval.scoring.edl.annotations import Coded
from hlteval.scoring.edl.clusterings import Clusterings, blanc, together
from hlteval.scoring.edl.groups import Grouped, summed
from hlteval.scoring.edl.measures import GROUPINGS, OVERLAPS, Measure
from hlteval.scoring.edl.overlaps import Integers

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
