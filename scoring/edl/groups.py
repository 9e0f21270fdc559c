"""Groups: annotations that are counted apart, and what measures compare of them, made once.

What several measures compare is kept: the overlaps of spans, which are few numbers, and the latest
clusterings, which are large.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from hlteval.scoring.edl.annotations import Coded
from hlteval.scoring.edl.clusterings import Clusterings, fractions
from hlteval.scoring.edl.measures import Measure
from hlteval.scoring.edl.overlaps import Integers, covered, spans


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
