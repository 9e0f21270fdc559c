"""The public scorer's own ways (neleval 3.1), where they differ from the definition of a measure.

They show only where a key is in several clusters of one side, where spans of one side overlap, or
where there are no identifiers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.edl.annotations import (
    STEPS,
    Coded,
    Spans,
    all_candidates,
    best_candidates,
    encode,
    mention_rows,
    sweep,
)
from hlteval.scoring.edl.clusterings import Clusterings, by_group, dice, fractions, sizes
from hlteval.scoring.edl.counts import Counting, Grouped, with_rates
from hlteval.scoring.edl.measures import COUNTS, FIGURES, OVERLAPS, RATES, Measure


def official_candidates(
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
    links = corpus.links.filter(pl.col("label").is_null()).sort("mention_row", "rank")
    more = links.group_by(row="mention_row").agg(pl.col("entity").str.join("|"))
    rows = rows.join(more, on="row", how="left", maintain_order="left")
    both = pl.concat_str("eid", "entity", separator="|", ignore_nulls=True)
    eid = pl.when(pl.col("entity").is_null()).then("eid").otherwise(both)
    return rows.with_columns(eid=eid).drop("entity")


def official_selection(
    table: pl.DataFrame, how: str, steps: Sequence[tuple[str, ...]] = STEPS[1:]
) -> pl.DataFrame:
    """The span is looked up where the annotation has been put down, and never found."""
    return best_candidates(table, how, steps)


def official_encode(table: pl.DataFrame) -> Coded:
    """An annotation without an identifier is neither linked nor a NIL.

    Of several annotations of a span only the first can be the first of its entity.
    """
    whole = encode(table)
    is_nil = pl.col("is_nil") * (pl.col("eid") > 0)
    is_first = whole.entities().is_first_distinct().cast(pl.Int64)
    return replace(whole, rows=whole.rows.with_columns(is_nil=is_nil, is_first=is_first))


def official_rates(counts: pl.DataFrame) -> pl.DataFrame:
    """Rates are 0 where nothing can be divided."""
    return with_rates(counts).with_columns(pl.col(*RATES).fill_null(0.0))


class OfficialClusterings(Clusterings):
    """The memberships of both sides, of which items may have several."""

    @property
    def partition(self) -> Clusterings:
        """Items stay in all of their clusters."""
        return self

    @cached_property
    def matrix(self) -> pl.DataFrame:
        """The reference's memberships as the public scorer's matrix holds them.

        All items are put down cluster by cluster; but a cluster's stretch of that list ends where
        the number of different items seen so far says, not the number of items put down, so that
        each item goes to the cluster of the different item of its number. In which order the items
        of a cluster are put down varies from run to run there; here the last one comes first.
        """
        if self.once.reference is self.reference:
            return self.reference
        number = pl.int_range(pl.len()).over("group").alias("number")
        rows = self.reference.reverse().sort("group", "order", maintain_order=True)
        rows = rows.select("group", "item", "cluster", number)
        fresh = rows.unique("item", keep="first", maintain_order=True)
        fresh = fresh.select("group", "cluster", number)
        return rows.drop("cluster").join(fresh, on=("group", "number"))

    def mention_total(self, members: pl.DataFrame, name: str) -> pl.LazyFrame:
        """Every item is counted as often as it meets itself in the clusters of its side."""
        times = members.lazy().group_by("group", "item").agg(times=pl.len().cast(pl.Int64))
        return by_group(times, **{name: (pl.col("times") ** 2).sum()})

    def entity_total(self, members: pl.DataFrame, name: str) -> pl.LazyFrame:
        """All pairs of clusters of a side count, also different ones that share items."""
        pairs = self.intersections(members, members)
        return fractions(dice(pairs, sizes(members), sizes(members)).lazy(), name)


class OfficialGrouped(Grouped):
    """Annotations in groups that are counted as the public scorer counts them."""

    rates = staticmethod(official_rates)
    memberships: ClassVar = OfficialClusterings

    def figures(self, measure: Measure) -> pl.DataFrame:
        """The figures of a measure by the number of the group; null where there are none."""
        if self._is_counted(measure):
            return super().figures(measure)
        return self.groups.with_columns(pl.lit(None, pl.Float64).alias(name) for name in FIGURES)

    def _is_counted(self, measure: Measure) -> bool:
        """Whether the public scorer gives a number."""
        if measure.aggregate in OVERLAPS:
            rows = self.rows(measure)
            return not (rows["last"] < rows["from"]).any()
        if self.weights and measure.aggregate == "sets":
            items = self.items(measure, tuple(name for name in measure.key if name != "type"))
            return not items.select("system", "item").is_duplicated().any()
        return measure.aggregate != "blanc" and not self.weights

    def in_order(self, members: pl.DataFrame) -> pl.DataFrame:
        """Clusters are in the order in which they are entered."""
        entered = pl.col("order").min().over("system", "cluster")
        rows = members.with_row_index("order")
        return rows.with_columns(order=entered, nameless=pl.col("eid") == 0)

    def compared_spans(
        self, measure: Measure, reference: Spans, system_spans: Spans, *, system: bool
    ) -> tuple[Spans, Spans]:
        """Each span of a side and those of the pairs with it that the sweep finds."""
        if measure.contents not in self.kept:
            self.kept[measure.contents] = sweep(reference, system_spans)
        ours, theirs = super().compared_spans(measure, reference, system_spans, system=system)
        pairs = self.kept[measure.contents]
        own, other = pairs[::-1] if system else pairs
        kinds = np.arange(len(ours.kind))
        return ours._replace(kind=kinds), Spans(own, theirs.first[other], theirs.last[other])


class OfficialCounting(Counting):
    """Annotations whose measures are counted as the public scorer counts them."""

    candidates = staticmethod(official_candidates)
    select = staticmethod(official_selection)
    encode = staticmethod(official_encode)
    grouped: ClassVar = OfficialGrouped
    LAST: ClassVar = "use the last in the file"
    REVERSE: ClassVar = "no overlap scores, since the public scorer crashes"

    def scored_groups(self, column: str) -> Grouped:
        """The groups of the reference: what only the system has disappears."""
        every = self.groups(column)
        if not column:
            return every
        rows = every.whole.rows
        groups = rows.filter(~pl.col("system")).select("group").unique().sort("group")
        rows = rows.join(groups, on="group", how="semi", maintain_order="left")
        return replace(every, whole=replace(every.whole, rows=rows), groups=groups)

    def files(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
        """The table and the JSON that the public scorer writes."""
        return official_files(rows)


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
