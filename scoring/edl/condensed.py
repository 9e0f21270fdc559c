"""Condensed counts: what scoring needs of a batch of whole documents, and how batches merge.

A measure whose counts add needs its sums; where these are sums of fractions, whole numbers by
denominator, which add exactly. A measure of clusters needs, of each pair of clusters, how many
items are in both: batches share clusters, by their identifiers, but no items. Clusters are numbered
in the order of their identifiers, as `encode` does, so that ties are decided as in one batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from hlteval.scoring.clusterings import Clusterings, fractions, together, weigh
from hlteval.scoring.edl.counts import Compared, Counting
from hlteval.scoring.edl.measures import COUNTS, OVERLAPS, PARTITIONS, Measure
from hlteval.scoring.edl.results import REVERSED, SEVERAL, Results

#: The numerators and denominators of precision and recall.
_SUMS = ("ptp", "p_den", "rtp", "r_den")
#: The columns of clusters in condensed counts, and where items are weighed.
_CLUSTERS: Mapping[str, str] = {"reference": "cluster", "system": "other"}
#: The numbers, which are kept with fewer bits.
_NUMBERS = pl.col("number", "count")
#: Whether a count is of items in clusters, not a sum.
_IN_CLUSTERS = pl.any_horizontal(pl.col(*_CLUSTERS).is_not_null())


def is_condensed(counts: pl.DataFrame) -> bool:
    """Whether counts are condensed."""
    return "part" in counts.columns


def condense(counting: Counting, measures: Sequence[Measure]) -> pl.DataFrame:
    """Count what measures need of a batch of documents.

    Args:
        counting: the annotations of the batch.
        measures: those that are mergeable.

    Returns:
        A count a row: `part`, what is counted, and `count`. Of a sum, `number` is the denominator.
        Of items in clusters, `reference` and `system` are the clusters, null where the side lacks
        the items: `=` and the identifier, or nothing without one, so that the numbers of this
        `Enum` are those of the clusters. `number` is null, but for an item in several clusters of a
        side, which it tells apart: it has a row for each of its memberships.
    """
    irregular = counting.irregularities()
    names = ("=" + counting.whole.names["eid"]).fill_null("")
    names = names.cast(pl.Enum(names))
    sums = [_part(measure, name) for measure in measures for name in _SUMS]
    contents = {_contents(measure): measure for measure in measures if not measure.additive}
    parts = pl.Enum([*dict.fromkeys((*irregular, *sums, *contents))])
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "part": parts,
        **dict.fromkeys(_CLUSTERS, names.dtype),
        **dict.fromkeys(("number", "count"), pl.Int64),
    }
    tables = [pl.DataFrame({"part": [*irregular], "count": [*irregular.values()]})]
    tables += [_sums(counting, measure) for measure in measures if measure.additive]
    for part, measure in contents.items():
        kinds = weigh(*counting.grouped_by("").memberships(measure))
        clusters = {side: names.gather(kinds[name]) for side, name in _CLUSTERS.items()}
        item = pl.col("item").rank("dense")
        tables.append(
            kinds.select(part=pl.lit(part, parts), **clusters, number=item, count="weight")
        )
    rows = [table.cast({name: schema[name] for name in table.columns}) for table in tables]
    return _narrow(pl.concat([pl.DataFrame(schema=schema), *rows], how="diagonal"))


def _narrow(counts: pl.DataFrame) -> pl.DataFrame:
    """Counts as numbers of 32 bits, which keep half of the memory, if all fit."""
    fit = counts.select(pl.all_horizontal(_NUMBERS.max().fill_null(0) < 2**31)).item()
    return counts.with_columns(_NUMBERS.cast(pl.Int32)) if fit else counts


def _contents(measure: Measure) -> str:
    """The part of the items that measures of clusters share."""
    return f"{measure.filter}:{'+'.join(measure.key)}"


def _part(measure: Measure, name: str) -> str:
    """The part of a sum."""
    return f"{measure.name}.{name}"


def _sums(counting: Counting, measure: Measure) -> pl.DataFrame:
    """The sums of a measure: `part`, `number`, `count`."""
    if measure.aggregate not in OVERLAPS:
        figures = counting.figures(measure, measure.by)
        right, wrong, met, missed = figures.select(pl.col(*COUNTS).sum().cast(pl.Int64)).row(0)
        sums = (right, right + wrong, met, met + missed)
        parts = [_part(measure, name) for name in _SUMS]
        return pl.DataFrame({"part": parts, "number": [1] * len(parts), "count": sums})
    tables = []
    for side, (right, every) in ((True, _SUMS[:2]), (False, _SUMS[2:])):
        shares = counting.grouped_by("").shares(measure, system=side).collect(engine="in-memory")
        size = counting.whole.rows.filter(system=side).height
        part = pl.lit(_part(measure, right))
        tables += [
            shares.select(part=part, number="denominator", count="numerator"),
            pl.DataFrame({"part": [_part(measure, every)], "number": [1], "count": [size]}),
        ]
    return pl.concat(tables)


def merge(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The condensed counts of several batches as one.

    A part and two clusters are one number, by which rows add up much faster; and a part at a time,
    in a fraction of the memory.

    Args:
        tables: of the same measures.
    """
    known = [_categories(table["reference"]) for table in tables]
    every = pl.concat(known)
    names = pl.concat([pl.Series([None], dtype=pl.String), every.unique().sort()])
    names = names.cast(pl.Enum(names[1:]))
    places, size = every.cast(names.dtype).to_physical().cast(pl.Int64) + 1, names.len()
    firsts = np.cumsum([0, *map(len, known)]).tolist()
    numbers = [places.slice(first, own.len()) for first, own in zip(firsts, known, strict=False)]
    items = pl.col("number").filter(_IN_CLUSTERS).max().fill_null(0)
    largest = [0, *(table.select(items).item() for table in tables)]
    offsets = np.cumsum(largest, dtype=np.int64).tolist()
    contents = pl.concat(table.filter(_IN_CLUSTERS)["part"].unique() for table in tables).unique()
    merged = list[pl.DataFrame]()
    for kept in (~_IN_CLUSTERS, *(pl.col("part") == part for part in contents)):
        rows = list[pl.DataFrame]()
        for table, own, offset in zip(tables, numbers, offsets, strict=False):
            some = table.filter(kept).with_columns(_NUMBERS.cast(pl.Int64))
            code = some["part"].to_physical().cast(pl.Int64)
            for side in _CLUSTERS:  # 0 for no cluster
                code = code * size + own.gather(some[side].to_physical()).fill_null(0)
            number = pl.when(_IN_CLUSTERS).then(pl.col("number") + offset).otherwise("number")
            rows.append(some.select("count", code=code, number=number))
        for single, key in ((True, ["code"]), (False, ["code", "number"])):
            alike = pl.concat(rows).filter(pl.col("number").is_null() == single).sort("code")
            merged.append(alike.group_by(key).agg(pl.col("count").sum()))
    table, parts = pl.concat(merged, how="diagonal"), tables[0]["part"]
    code = table["code"]
    whole = table.select(
        part=_categories(parts).cast(parts.dtype).gather(code // size**2),
        reference=names.gather(code // size % size),
        system=names.gather(code % size),
        number="number",
        count="count",
    )
    return _narrow(whole)


def _categories(values: pl.Series) -> pl.Series:
    """The texts of an `Enum`, in the order of their numbers."""
    return values.dtype.categories if isinstance(values.dtype, pl.Enum) else values.clear()


@dataclass(frozen=True)
class _Condensed(Compared):
    """Condensed counts as one group.

    Attributes:
        table: the condensed counts.
    """

    table: pl.DataFrame
    _kept: dict[str, Clusterings] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def sums(self, measure: Measure) -> pl.LazyFrame:
        """The numerators and denominators of precision and recall, as merged."""
        parts = ((name, pl.col("part") == _part(measure, name)) for name in _SUMS)
        return together(*(fractions(self._sums.filter(part), name) for name, part in parts))

    @cached_property
    def _sums(self) -> pl.LazyFrame:
        """The counts that are sums, which are few, as fractions."""
        return (
            self.table.lazy()
            .filter(~_IN_CLUSTERS)
            .with_columns(_NUMBERS.cast(pl.Int64))
            .select("part", group=pl.lit(0, pl.Int64), denominator="number", numerator="count")
            .collect(engine="in-memory")
            .lazy()
        )

    def compared_clusters(self, measure: Measure) -> Clusterings:
        """The clusterings that a measure compares, kept until a measure compares others."""
        part = _contents(measure)
        if part not in self._kept:
            self._kept.clear()
            numbers = (
                pl.col(side).to_physical().cast(pl.Int64).alias(name)
                for side, name in _CLUSTERS.items()
            )
            rows = self.table.filter(pl.col("part") == part).with_columns(_NUMBERS.cast(pl.Int64))
            kinds = rows.select(*numbers, item="number", weight="count")
            self._kept[part] = Clusterings.of_weighed(kinds)
        both = self._kept[part]
        return both.partition if measure.aggregate in PARTITIONS else both


@dataclass(frozen=True)
class CondensedResults(Results):
    """The results of condensed counts.

    Attributes:
        weights: none.
        table: the condensed counts.
    """

    table: pl.DataFrame

    @cached_property
    def _group(self) -> _Condensed:
        """The counts as one group."""
        return _Condensed(pl.DataFrame({"group": [0]}), self.table)

    def figures(self, measure: Measure, by: str) -> pl.DataFrame:
        """The figures of a measure as one group: by document, those of the sums over documents."""
        summed = replace(measure, aggregate="sets") if by else measure
        return self._group.figures(summed).with_columns(group=pl.lit(""))

    def irregularities(self) -> Mapping[str, int]:
        """The irregularities of all batches."""
        sums = self.table.filter(pl.col("part").is_in([SEVERAL, REVERSED]))
        return dict(sums.select("part", "count").iter_rows())
