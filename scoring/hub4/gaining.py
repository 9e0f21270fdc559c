"""Gaining pairs: the fills that gain points, and so the pairs of instances that have any.

A pair of instances without a correct point has the F-measure 0, and is mapped when nothing else is
left. So only the others are looked at. They are found by joins, not by trying all pairs: texts that
are correct by content by what they say, those correct by extent by where they stand, and pointers
by what is mapped to what.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from hlteval.scoring.hub4.candidates import Fills
from hlteval.scoring.hub4.fill_match import TESTS, by_content, by_extent
from hlteval.scoring.hub4.points import Known

SLOT = ("set", "type", "place")
_SAME = ("fill", "fill_system")
_WORDING = ("same", "same_system")
_POSITIONS = ("position", "position_system")


class GainingTexts:
    """The text fills of two sides, to find those that are correct.

    Args:
        fills: the fills of both sides.
        ours: `set`, `type`, `reference`: the instances of the reference.
        theirs: `set`, `type`, `system`: those of the system.
    """

    def __init__(self, fills: Fills, ours: pl.DataFrame, theirs: pl.DataFrame) -> None:
        self._fills = fills
        system = fills.texts_system.with_columns(same=_first("content", "whole"))
        right = theirs.join(system, left_on="system", right_on="instance")
        groups = right.select(SLOT).unique().with_row_index("group")
        self._right = right.join(groups, on=SLOT).drop(SLOT)
        left = ours.join(self._worded(), left_on="reference", right_on="instance")
        self._left = left.join(groups, on=SLOT)

    def _worded(self) -> pl.DataFrame:
        """The texts of the reference, with the first of those that are worded alike."""
        texts, listed = self._fills.texts, self._fills.minimal.select("fill", "content", "bare")
        if listed.is_empty():
            return texts.with_columns(same=_first("content"))
        minimal = listed.group_by("fill").agg(strings="content", bares="bare")
        rows = texts.join(minimal, on="fill", how="left")
        same = rows.group_by("content", "strings", "bares").agg("fill")
        first = same.select("fill", same=pl.col("fill").list.min()).explode("fill")
        return texts.join(first, on="fill")

    def correct(self, instances: pl.DataFrame) -> pl.DataFrame:
        """The correct pairs of texts of some instances of the reference.

        Args:
            instances: `set`, `reference`.

        Returns:
            `set`, `reference`, `system`, `place`, `alternative`, `fill`, `fill_system`, `position`,
            `position_system`, and whether they are correct by `content` and `extent`.
        """
        left = self._left.join(instances, on=["set", "reference"], how="semi")
        content, extent = self._by_content(left), self._by_extent(left)
        both = content.join(extent.select(*_SAME, extent=True), on=_SAME, how="left")
        rest = extent.join(content.select(_SAME), on=_SAME, how="anti")
        return pl.concat(
            [
                both.with_columns(pl.col("extent").fill_null(False), content=pl.lit(True)),
                rest.with_columns(content=False, extent=True).select(*both.columns, "content"),
            ]
        )

    def _by_content(self, left: pl.DataFrame) -> pl.DataFrame:
        """The pairs that are correct by content; what is worded alike is compared once."""
        right = self._right.select("group", same_system="same").unique()
        slots = left.select("group", "same").unique().join(right, on="group")
        tried = slots.select(_WORDING).unique()
        ours = self._fills.texts.select(same="fill", content="content")
        theirs = self._fills.texts_system.select(
            same_system="fill", content_system="content", whole_system="whole"
        )
        rows = tried.join(ours, on="same").join(theirs, on="same_system")
        minimal = self._fills.minimal
        tested = by_content(rows.with_columns(fill="same"), minimal, fillers=self._fills.fillers)
        good = tested.filter(pl.all_horizontal(TESTS[:2])).select(_WORDING)
        slots = slots.join(good, on=_WORDING, how="semi")
        found = left.join(slots, on=["group", "same"])
        right = self._right.rename({"same": "same_system"})
        return _shaped(found.join(right, on=["group", "same_system"], suffix="_system"))

    def _by_extent(self, left: pl.DataFrame) -> pl.DataFrame:
        """The pairs that are correct by extent; only what begins inside the other is tried."""
        left, right = (rows.drop_nulls(["start", "end"]) for rows in (left, self._right))
        right = right.sort("group", "start")
        starts = right["start"].to_numpy()
        offsets, places = np.unique(starts, return_inverse=True)
        keys = right["group"].to_numpy().astype(np.int64) * (len(offsets) + 1) + places
        before = left["group"].to_numpy().astype(np.int64) * (len(offsets) + 1)
        begin = np.searchsorted(offsets, left["start"].to_numpy(), side="left")
        end = np.searchsorted(offsets, left["end"].to_numpy(), side="right")
        first, last = (np.searchsorted(keys, before + at) for at in (begin, end))
        counts = np.maximum(last - first, 0)
        rows = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        paired = right[first[rows] + within].drop("group")
        names = {name: f"{name}_system" for name in paired.columns if name in left.columns}
        both = pl.concat([left[rows], paired.rename(names)], how="horizontal")
        tested = by_extent(both, self._fills.minimal)
        return _shaped(tested.filter(pl.all_horizontal(TESTS[2:])))


def pointing(fills: Fills, ours: pl.DataFrame, theirs: pl.DataFrame, known: Known) -> pl.DataFrame:
    """The pairs of instances that point in the same slot to instances that are mapped.

    Args:
        fills: the fills of both sides.
        ours: `set`, `type`, `reference`, `is_optional`: instances of the reference.
        theirs: `set`, `type`, `system`: those of the system.
        known: what is mapped.

    Returns:
        `set`, `reference`, `system`.
    """
    if known.mapped.is_empty() or fills.pointers.is_empty() or fills.pointers_system.is_empty():
        return known.mapped.clear()
    left = ours.join(fills.pointers, left_on="reference", right_on="instance")
    mapped = known.mapped.select("set", target="reference", other="system")
    left = left.select(*SLOT, "reference", "target")
    left = left.join(mapped, on=["set", "target"])
    right = theirs.join(fills.pointers_system, left_on="system", right_on="instance")
    right = right.select(*SLOT, "system", other="target")
    return left.join(right, on=[*SLOT, "other"]).select("set", "reference", "system")


def _first(*columns: str) -> pl.Expr:
    """The first fill that has the same in some columns."""
    return pl.col("fill").min().over(columns)


def _shaped(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.select("set", "reference", "system", "place", "alternative", *_SAME, *_POSITIONS)
