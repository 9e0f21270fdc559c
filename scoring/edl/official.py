"""The public scorer's own ways (neleval 3.1), where they differ from what a measure is defined as.

They show only where a key stands in several clusters of one side, where spans of one side overlap,
or where there are no identifiers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.edl import clusterings
from hlteval.scoring.edl.annotations import (
    STEPS,
    Coded,
    all_candidates,
    best_candidates,
    encode,
    mention_rows,
)
from hlteval.scoring.edl.clusterings import (
    Clusterings,
    best_alignment,
    by_group,
    cluster_pairs,
    dice,
    fractions,
    pair_count,
    shared,
    sizes,
    together,
    unlinked_pairs,
)
from hlteval.scoring.edl.counts import Counting, Grouped, shares
from hlteval.scoring.edl.measures import COUNTS, FIGURES, OVERLAPS, RATES, Measure
from hlteval.scoring.edl.overlaps import Integers, Spans, covered, self_overlapping, spans, swept
from hlteval.scoring.ratios import Rates, harmonic, side_rates


def candidates(
    corpus: Corpus,
    *,
    system: bool = False,
    with_mention_type: bool = False,
    alternatives: bool = False,
) -> pl.DataFrame:
    """Alternatives in one identifier, which have no type and no score of their own, stay one."""
    if alternatives:
        return all_candidates(
            corpus, system=system, with_mention_type=with_mention_type, alternatives=True
        )
    rows = mention_rows(corpus, system=system, with_mention_type=with_mention_type)
    if corpus.links.is_empty():
        return rows
    links = corpus.links.filter(pl.col("label").is_null()).sort("mention_row", "rank")
    more = links.group_by(row="mention_row").agg(pl.col("entity").str.join("|"))
    both = rows.join(more, on="row", how="left", maintain_order="left")
    eid = pl.when(pl.col("entity").is_null()).then("eid")
    whole = pl.concat_str("eid", "entity", separator="|", ignore_nulls=True)
    return both.with_columns(eid=eid.otherwise(whole)).drop("entity")


def select(
    table: pl.DataFrame, how: str, steps: Sequence[tuple[str, ...]] = STEPS[1:]
) -> pl.DataFrame:
    """The span is looked up where the annotation has been put down, and never found."""
    return best_candidates(table, how, steps)


def code(table: pl.DataFrame) -> Coded:
    """An annotation without an identifier is neither linked nor a NIL.

    Of several annotations of a span only the first can be the first of its entity.
    """
    whole = encode(table)
    named = pl.col("eid") > 0
    first = whole.entities().is_first_distinct().cast(pl.Int64)
    rows = whole.rows.with_columns(is_nil=pl.col("is_nil") * named, is_first=first)
    return replace(whole, rows=rows)


def rates(found: pl.Expr, predicted: pl.Expr, met: pl.Expr, expected: pl.Expr) -> Rates[pl.Expr]:
    """The rates of `ratios.side_rates`, but 0 where nothing can be divided."""
    precision, recall, _ = side_rates(found, predicted, met, expected)
    precision = pl.when(predicted == 0).then(0.0).otherwise(precision)
    recall = pl.when(expected == 0).then(0.0).otherwise(recall)
    mean = pl.when(precision + recall == 0).then(0.0).otherwise(harmonic(precision, recall))
    return Rates(precision, recall, mean)


# The table and the JSON that the public scorer writes (neleval 3.1).

HEADER = (*COUNTS, "precis", "recall", "fscore", "measure")


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    r"""The figures with three decimals, whole counts as they are, sorted by the measures' names.

    Args:
        rows: `measure`, `fractional` (whether counts are sums of fractions), counts and rates; null
            where there is none.

    Examples:
        >>> row = {"measure": "muc", "fractional": False, "ptp": 1.0, "fp": 1.0, "rtp": 1.0}
        >>> row |= {"fn": 0.0, "precision": 0.5, "recall": 1.0, "fscore": 2 / 3}
        >>> table([row]).splitlines()[1].split("\t")
        ['1', '1', '1', '0', '0.500', '1.000', '0.667', 'muc']
    """
    lines = ["\t".join(HEADER)]
    for row in sorted(rows, key=lambda row: str(row["measure"])):
        figures = _figures(row).values() or [0] * (len(HEADER) - 1)
        cells = (f"{value:.3f}" if isinstance(value, float) else str(value) for value in figures)
        lines.append("\t".join([*cells, row["measure"]]))
    return "\n".join(lines) + "\n"


def as_json(rows: Iterable[Mapping[str, Any]]) -> str:
    """The figures by the names of the measures."""
    by_measure = {row["measure"]: _figures(row) for row in rows}
    return json.dumps(by_measure, sort_keys=True, indent=4) + "\n"


def _figures(row: Mapping[str, Any]) -> dict[str, float | int]:
    """The figures of a row; nothing where it has none."""
    if row["precision"] is None:
        return {}
    counts = {name: row[name] if row["fractional"] else int(row[name]) for name in COUNTS}
    return counts | {name: row[name] for name in RATES}


class OfficialCounting(Counting):
    """Annotations whose measures are counted as the public scorer counts them."""

    candidates = staticmethod(candidates)
    select = staticmethod(select)
    code = staticmethod(code)
    rates = staticmethod(rates)
    FILES: ClassVar = {"evaluation.tab": table, "evaluation.json": as_json}
    REPEATED = "use the last in the file"
    REVERSE = "no overlap scores, since the public scorer crashes"

    def groups(self, column: str) -> Grouped:
        """The groups of the reference: what only the system has disappears."""
        every = super().groups(column)
        if not column:
            return every
        rows = every.whole.rows
        groups = rows.filter(~pl.col("system")).select("group").unique().sort("group")
        rows = rows.join(groups, on="group", how="semi", maintain_order="left")
        return Grouped(replace(every.whole, rows=rows), groups)

    def of_groups(self, measure: Measure, grouped: Grouped) -> pl.DataFrame:
        """The counts of a measure by the number of the group; null where there are none."""
        if self._counts(measure, grouped):
            return super().of_groups(measure, grouped)
        names = FIGURES if measure.aggregate == "blanc" else COUNTS
        return grouped.groups.with_columns(pl.lit(None, pl.Float64).alias(name) for name in names)

    def _counts(self, measure: Measure, grouped: Grouped) -> bool:
        """Whether the public scorer gives a number."""
        if measure.aggregate == "blanc":
            return False
        if measure.aggregate in OVERLAPS:
            rows = grouped.rows(measure)
            return not (rows["last"] < rows["from"]).any()
        if self.weights and measure.aggregate == "sets":
            items = grouped.items(measure, tuple(name for name in measure.key if name != "type"))
            return not items.select("system", "item").is_duplicated().any()
        return not self.weights

    def cluster_counts(self, measure: Measure, grouped: Grouped) -> pl.LazyFrame:
        """The clusters of both sides in the order in which they are read.

        They differ only where an item is in several clusters of a side, or in none.
        """
        members = grouped.members(measure).with_row_index("order")
        entered = members.group_by("system", "cluster").agg(entered=pl.col("order").min())
        unique = (
            members.unique(
                ["system", "group", "item", "cluster"], keep="first", maintain_order=True
            )
            .select("system", "group", "item", "cluster", nameless=pl.col("eid") == 0)
            .join(entered, on=["system", "cluster"], maintain_order="left")
        )
        sides = [unique.filter(pl.col("system") == side).drop("system") for side in (False, True)]
        both = EnteredClusterings(*sides)
        repeated = both.partition is not both
        if repeated or (measure.aggregate == "b_cubed" and unique["nameless"].any()):
            return _REPEATED[measure.aggregate](both)
        return clusterings.MEASURES[measure.aggregate](both)

    def overlaps(
        self, measure: Measure, grouped: Grouped, modes: tuple[str, str]
    ) -> Sequence[pl.LazyFrame]:
        """The shares that are covered, as far as the sweep finds the pairs of spans."""
        sides = grouped.spans(measure)
        units = overlaps(spans(sides[0]), spans(sides[1]), modes)
        return [shares(*each) for each in zip(units, sides, strict=True)]


class EnteredClusterings(Clusterings):
    """The memberships of both sides, with `entered`, the place of the cluster in the file."""

    def single(self, members: pl.DataFrame) -> pl.DataFrame:
        """Each item in the last of its clusters to be entered."""
        last = pl.col("cluster").sort_by("entered").last()
        return members.group_by("group", "item").agg(last)


def _displaced(members: pl.DataFrame) -> pl.DataFrame:
    """The reference's memberships as the public scorer's matrix holds them.

    All items are put down cluster by cluster; but a cluster's stretch of that list ends where the
    number of different items seen so far says, not the number of items put down. In which order the
    items of a cluster are put down varies from run to run there; here the last one comes first.
    """
    listed = (
        members.reverse()
        .sort("group", "entered", maintain_order=True)
        .with_columns(
            new=pl.struct("group", "item").is_first_distinct().cast(pl.Int64),
            position=pl.int_range(pl.len()).over("group"),
        )
    )
    stretches = listed.group_by("group", "cluster", maintain_order=True).agg(pl.col("new").sum())
    ends = stretches.with_columns(ends=pl.col("new").cum_sum().over("group"))
    ends = ends.filter(pl.col("new") > 0).select("group", "ends", into="cluster")
    placed = (
        listed.with_columns(ends=pl.col("position") + 1)
        .sort("ends")
        .join_asof(
            ends.sort("ends"), on="ends", by="group", strategy="forward", check_sortedness=False
        )
    )
    return placed.drop_nulls("into").select("group", "item", cluster="into")


def _ceaf_sides(both: Clusterings) -> tuple[pl.DataFrame, pl.DataFrame]:
    distinct = both.partition.reference.height == both.reference.height
    return both.reference if distinct else _displaced(both.reference), both.system


def _mention_ceaf(both: Clusterings) -> pl.LazyFrame:
    """Every item is counted as often as it meets itself in the clusters of its side."""
    ours, theirs = _ceaf_sides(both)
    total = pl.col("shared").sum()
    met = [
        side.lazy().group_by("group", "item").agg(times=pl.len().cast(pl.Int64))
        for side in (theirs, ours)
    ]
    squares = (pl.col("times") ** 2).sum()
    return together(
        by_group(best_alignment(shared(ours, theirs), "shared"), ptp=total, rtp=total),
        by_group(met[0], p_den=squares),
        by_group(met[1], r_den=squares),
    )


def _entity_ceaf(both: Clusterings) -> pl.LazyFrame:
    ours, theirs = _ceaf_sides(both)
    pairs = dice(shared(ours, theirs), sizes(ours), sizes(theirs))
    total = fractions(best_alignment(pairs, "weight"), "ptp")
    denominators = (
        fractions(dice(shared(one, one), sizes(one), sizes(one)).lazy(), name)
        for name, one in (("p_den", theirs), ("r_den", ours))
    )
    return together(total.with_columns(rtp="ptp"), *denominators)


def _b_cubed(both: Clusterings) -> pl.LazyFrame:
    """An item is in the last of its clusters; but clusters have all of their items.

    An item that the other side lacks is looked up in that side's cluster without an identifier.
    """
    ours, theirs = both.single(both.reference), both.single(both.system)
    parts = []
    for name, one, other, members, counterpart in (
        ("ptp", theirs, ours, both.system, both.reference),
        ("rtp", ours, theirs, both.reference, both.system),
    ):
        nameless = counterpart.filter("nameless").select("group", none="cluster").unique()
        paired = one.join(other.select("item", other="cluster"), on="item", how="left")
        paired = paired.join(nameless, on="group", how="left")
        paired = paired.with_columns(pl.coalesce("other", "none").alias("other"))
        met = paired.join(shared(members, counterpart), on=["group", "cluster", "other"])
        sized = met.lazy().join(sizes(members).select("cluster", denominator="size"), on="cluster")
        parts.append(fractions(sized.with_columns(numerator=pl.col("shared")), name))
    return together(*parts, by_group(theirs, p_den=pl.len()), by_group(ours, r_den=pl.len()))


def _muc(both: Clusterings) -> pl.LazyFrame:
    """The other side's items are in the last of their clusters."""
    kept, needed = (pl.col("shared") - 1).sum(), (pl.col("size") - 1).sum()
    return together(
        by_group(shared(both.system, both.single(both.reference)), ptp=kept),
        by_group(shared(both.reference, both.single(both.system)), rtp=kept),
        by_group(sizes(both.system), p_den=needed),
        by_group(sizes(both.reference), r_den=needed),
    )


def _pairwise_negative(both: Clusterings) -> pl.LazyFrame:
    """Pairs of items that no cluster links; a pair that several clusters link is one pair."""
    ours, theirs = (
        side.lazy().select("group", "item", "cluster") for side in (both.reference, both.system)
    )
    ours_common = ours.join(theirs, on="item", how="semi")
    theirs_common = theirs.join(ours, on="item", how="semi")
    common = (
        _links([theirs_common], "p_den"),
        _links([ours_common], "r_den"),
        _links([ours_common, theirs_common], "rtp"),
    )
    linked = _links([theirs], "p_den").join(
        _links([ours], "r_den"), on="group", how="full", coalesce=True
    )
    return unlinked_pairs(ours, theirs, common, linked)


def _links(sides: Sequence[pl.LazyFrame], name: str) -> pl.LazyFrame:
    """How many pairs of items each of some sides links, a pair of several clusters once.

    Items that are in the same clusters on all sides are counted as one kind, since pairs of kinds
    are few where pairs of items are many.
    """
    kinds = sides[0].select("group", "item").unique()
    for number, side in enumerate(sides):
        own = side.group_by("item").agg(pl.col("cluster").sort().alias(f"clusters_{number}"))
        kinds = kinds.join(own, on="item")
    keys = ["group", *(f"clusters_{number}" for number in range(len(sides)))]
    kinds = kinds.with_columns(kind=pl.struct(keys).rank("dense"))
    sizes = kinds.group_by("group", "kind").agg(size=pl.len().cast(pl.Int64))
    pairs = _linked_kinds(sides[0], kinds)
    for side in sides[1:]:
        pairs = pairs.join(_linked_kinds(side, kinds), on=["group", "one", "other"], how="semi")
    counted = pairs.join(sizes.select(one="kind", size="size"), on="one").join(
        sizes.select(other="kind", size_other="size"), on="other"
    )
    same = pl.when(pl.col("one") == pl.col("other")).then(pair_count(pl.col("size")))
    weight = same.otherwise(pl.col("size") * pl.col("size_other"))
    return by_group(counted, **{name: weight.sum()})


def _linked_kinds(side: pl.LazyFrame, kinds: pl.LazyFrame) -> pl.LazyFrame:
    """Pairs of kinds of items that a cluster holds."""
    placed = side.join(kinds.select("item", "kind"), on="item")
    placed = placed.select("group", "cluster", "kind").unique()
    pairs = placed.join(placed.select("cluster", other="kind"), on="cluster")
    ordered = pairs.filter(pl.col("kind") <= pl.col("other"))
    return ordered.select("group", "other", one="kind").unique().select("group", "one", "other")


_REPEATED = {
    "mention_ceaf": _mention_ceaf,
    "entity_ceaf": _entity_ceaf,
    "b_cubed": _b_cubed,
    "muc": _muc,
    "pairwise": cluster_pairs,
    "pairwise_negative": _pairwise_negative,
}


def overlaps(reference: Spans, system: Spans, modes: tuple[str, str]) -> list[Integers]:
    """How many units of each annotation the other side covers, as far as the sweep finds it."""
    sides = (reference, system)
    units = [covered(modes[0], reference, system), covered(modes[1], system, reference)]
    crowded = np.union1d(self_overlapping(reference), self_overlapping(system))
    if not len(crowded):
        return units
    places = [np.flatnonzero(np.isin(side[0], crowded)) for side in sides]
    few = [
        Spans(*(column[some] for column in side)) for side, some in zip(sides, places, strict=True)
    ]
    pairs = swept(*few)
    for side, other in ((0, 1), (1, 0)):
        each = Spans(np.arange(len(places[side])), *few[side][1:])
        met = Spans(pairs[side], *(column[pairs[other]] for column in few[other][1:]))
        units[side][places[side]] = covered(modes[side], each, met)
    return units
