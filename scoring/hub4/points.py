"""Points of templettes: what pairs of instances come to, from single fills up to slots.

The specification's "Mapping Slots", "Mapping Fill-Alternatives" and "Mapping Single Fills": slots
go together by name; of a reference's alternatives the one of best F-measure counts; single fills
of the same kind are paired greedily until none of one side are left. Hence how many are paired is
known beforehand, and only pairs that gain points have to be looked at.

Conventions:
    A "pair" is a reference instance beside a system's; one of the two is null where an instance
    is mapped to nothing. `at` is a slot of a pair and `which` an alternative of a slot of a pair,
    as numbers; the two sides number their slots alike. F-measures are quotients of small
    integers: equal ones are equal as floats, and different ones differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from hlteval.scoring.hub4.fill_match import LINK, TESTS, Candidates, Fills, by_content, by_extent

Mode = Literal["content", "extent", "both"]
MODES: tuple[Mode, ...] = ("content", "extent", "both")
POINTS = ("cor", "inc", "mis", "spu", "optional", "removed")


def f_measure() -> pl.Expr:
    """The F-measure of beta 1 of the columns of points: 2 COR / (POS + ACT), and 0 for 0 / 0."""
    both = 2 * (pl.col("cor") + pl.col("inc")) + pl.col("mis") + pl.col("spu")
    return pl.when(both > 0).then(2 * pl.col("cor") / both).otherwise(0.0)


@dataclass(frozen=True)
class Known:
    """What has been decided so far.

    Attributes:
        mapped: `set`, `reference`, `system`: the instances that are mapped to each other.
        removed: `set`, `reference`: the optional instances that are mapped to nothing.
    """

    mapped: pl.DataFrame
    removed: pl.DataFrame


@dataclass(frozen=True)
class Evaluation:
    """The points of pairs of instances.

    Attributes:
        slots: `pair`, `at`, `alternative` (of the reference; null where a side has none) and
            `POINTS`.
        links: the pairs of fills that gain points: `at`, `which`, `fill`, `fill_system`, `gain`.
        dropped: the pointers of the reference that are removed: `at`, `which`, `fill`, `target`.
    """

    slots: pl.DataFrame
    links: pl.DataFrame
    dropped: pl.DataFrame

    def pairs(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs with the sums of their points, and their F-measure."""
        sums = self.slots.group_by("pair").agg(pl.col(*POINTS).sum())
        rows = pairs.join(sums, on="pair", how="left", maintain_order="left")
        return rows.with_columns(pl.col(*POINTS).fill_null(0)).with_columns(f=f_measure())


def evaluated(given: Candidates, known: Known, mode: Mode) -> Evaluation:
    """The points of pairs of instances, given what is decided about those they point to."""
    dropped = _dropped(given.pointers, known.removed)
    alternatives = given.alternatives
    if not dropped.is_empty():
        alternatives = _without(alternatives, dropped)
    links = _linked(given, dropped, known, mode)
    slots = _slots(alternatives, given.answers, links, 2 if mode == "both" else 1)
    if not dropped.is_empty():
        slots = _with_removed(slots, dropped)
    points = [pl.col(name).fill_null(0).cast(pl.Int64) for name in POINTS]
    slots = slots.select("pair", "at", "alternative", *points)
    return Evaluation(slots, links, dropped.select("at", "which", "fill", "target"))


def _dropped(pointers: pl.DataFrame, removed: pl.DataFrame) -> pl.DataFrame:
    """The pointers to instances that are removed."""
    if pointers.is_empty() or removed.is_empty():
        return pointers.clear()
    gone = removed.select("set", target="reference")
    return pointers.join(gone, on=["set", "target"], how="semi", maintain_order="left")


def gained(mode: Mode) -> pl.Expr:
    """The correct points of a pair of text fills, of its columns `content` and `extent`."""
    content, extent = (pl.col(name).cast(pl.Int64) for name in ("content", "extent"))
    return {"content": content, "extent": extent, "both": content + extent}[mode]


def _without(alternatives: pl.DataFrame, dropped: pl.DataFrame) -> pl.DataFrame:
    """The alternatives without removed pointers; one that has nothing else is none."""
    counts = dropped.group_by("which").agg(gone=pl.len().cast(pl.Int64))
    rows = alternatives.join(counts, on="which", how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("pointers") - pl.col("gone").fill_null(0)).drop("gone")
    return rows.filter(pl.col("texts") + pl.col("pointers") > 0)


def _with_removed(slots: pl.DataFrame, dropped: pl.DataFrame) -> pl.DataFrame:
    """The slots, with how many instances of those they point to are removed."""
    counts = dropped.group_by("at").agg(
        pl.col("pair").first(), removed=pl.col("target").n_unique().cast(pl.Int64)
    )
    rows = slots.drop("removed").join(counts, on="at", how="full", coalesce=True)
    return rows.with_columns(pl.coalesce("pair", "pair_right")).drop("pair_right")


def _linked(given: Candidates, dropped: pl.DataFrame, known: Known, mode: Mode) -> pl.DataFrame:
    """The pairs of single fills that the greedy algorithm takes, as far as they gain points."""
    gain = gained(mode)
    rows = given.texts.select(*LINK, gain=gain, good=gain).filter(pl.col("gain") > 0)
    if not given.pointers.is_empty() and not known.mapped.is_empty():
        # Whether a text gains 1 of 2 or 2 of 2 points, or a pointer 1 of 1, orders as F does.
        best = 2 if mode == "both" else 1
        right = _right(given, dropped, known)
        points = {"gain": pl.lit(1, pl.Int64), "good": pl.lit(best, pl.Int64)}
        rows = pl.concat([rows, right.select(*LINK, **points)])
    linked = ("at", "which", "fill", "fill_system", "gain")
    twice = rows.select(
        pl.struct("which", "fill").is_duplicated()
        | pl.struct("which", "fill_system").is_duplicated()
    ).to_series()
    if not twice.any():
        return rows.select(linked)
    order = ["which", "good", "position", "position_system"]
    contested = rows.filter(twice).sort(order, descending=[name == "good" for name in order])
    kept = greedy(contested.select("which", "fill", "fill_system"))
    return pl.concat([rows.filter(~twice), contested.filter(kept)]).select(linked)


def _right(given: Candidates, dropped: pl.DataFrame, known: Known) -> pl.DataFrame:
    """The pointers of the same slot to instances that are mapped to each other."""
    right = given.pointers.join(
        known.mapped, left_on=["set", "target"], right_on=["set", "reference"]
    ).join(
        given.pointers_system.drop("pair"),
        left_on=["at", "system"],
        right_on=["at", "target"],
        suffix="_system",
    )
    return right if dropped.is_empty() else right.join(dropped, on=["which", "fill"], how="anti")


def greedy(rows: pl.DataFrame) -> pl.Series:
    """The general greedy mapping algorithm, over pairs that are sorted from best to worst.

    Args:
        rows: the columns of what pairs belong to, then the reference's object and the system's;
            rows that belong to the same are together.

    Returns:
        Whether each pair is chosen.

    Examples:
        >>> rows = pl.DataFrame({"set": [1, 1, 1], "r": [1, 1, 2], "s": [1, 2, 2]})
        >>> greedy(rows).to_list()
        [True, False, True]
    """
    *groups, reference, system = rows.columns
    number = rows.select(pl.struct(groups).rle_id()).to_series() if groups else rows[system] * 0
    columns = (values.to_list() for values in (number, rows[reference], rows[system]))
    chosen: list[bool] = []
    ours: set[int] = set()
    theirs: set[int] = set()
    current = None
    for group, one, other in zip(*columns, strict=True):
        if group != current:
            ours, theirs, current = set(), set(), group
        free = one not in ours and other not in theirs
        chosen.append(free)
        if free:
            ours.add(one)
            theirs.add(other)
    return pl.Series("chosen", chosen, dtype=pl.Boolean)


def _slots(
    alternatives: pl.DataFrame, answers: pl.DataFrame, links: pl.DataFrame, weight: int
) -> pl.DataFrame:
    """The points of every slot that either side has."""
    gained = links.group_by("which").agg(cor=pl.col("gain").sum())
    both = alternatives.join(answers.drop("pair"), on="at", suffix="_system")
    both = both.join(gained, on="which", how="left")
    # All fills of a kind are paired until none are left on one side, whatever they gain.
    texts = pl.min_horizontal("texts", "texts_system")
    pointers = pl.min_horizontal("pointers", "pointers_system")
    cor, optional = pl.col("cor").fill_null(0), pl.col("slot_optional")
    silent = pl.col("pointers") - pointers
    answered = both.select(
        *_CHOSEN,
        cor=cor,
        inc=weight * texts + pointers - cor,
        mis=weight * (pl.col("texts") - texts) + pl.when(optional).then(0).otherwise(silent),
        spu=weight * (pl.col("texts_system") - texts) + pl.col("pointers_system") - pointers,
        optional=pl.when(optional).then(silent).otherwise(0),
        removed=pl.lit(0, pl.Int64),
    )
    missing = alternatives.join(answers, on="at", how="anti")
    spurious = answers.join(alternatives, on="at", how="anti")
    return pl.concat([_best(answered), _cheapest(missing, weight), _spurious(spurious, weight)])


_CHOSEN = ("pair", "at", "alternative")


def _best(alternatives: pl.DataFrame) -> pl.DataFrame:
    """Of each slot the alternative of best F-measure.

    Of equal ones the one with fewest possible points that still has as many as the system has
    actual ones; otherwise the first.
    """
    several = alternatives["at"].is_duplicated()
    if not several.any():
        return alternatives
    alone, rows = alternatives.filter(~several), alternatives.filter(several)
    rows = rows.with_columns(f=f_measure())
    rows = rows.filter(pl.col("f") == pl.col("f").max().over("at")).with_columns(
        pos=pl.col("cor") + pl.col("inc") + pl.col("mis"),
        act=pl.col("cor") + pl.col("inc") + pl.col("spu"),
    )
    rows = rows.sort("at", "alternative")
    first = pl.col("alternative") == pl.col("alternative").first().over("at")
    short = (pl.col("pos") < pl.col("act")).first().over("at")
    rows = rows.filter(pl.when(short).then(first).otherwise(pl.col("pos") >= pl.col("act")))
    rows = rows.sort("at", "pos", "alternative").unique("at", keep="first", maintain_order=True)
    return pl.concat([alone, rows.drop("f", "pos", "act")])


def _cheapest(alternatives: pl.DataFrame, weight: int) -> pl.DataFrame:
    """Slots to which the system is silent: the alternative with fewest points is missing."""
    cost = weight * pl.col("texts") + pl.col("pointers")
    rows = alternatives.with_columns(cost=cost)
    several = rows["at"].is_duplicated()
    if several.any():
        best = rows.filter(several).sort("at", "cost", "alternative")
        best = best.unique("at", keep="first", maintain_order=True)
        rows = pl.concat([rows.filter(~several), best])
    optional, none = pl.col("slot_optional"), pl.lit(0, pl.Int64)
    return rows.select(
        *_CHOSEN,
        cor=none,
        inc=none,
        mis=pl.when(optional).then(none).otherwise("cost"),
        spu=none,
        optional=pl.when(optional).then("cost").otherwise(none),
        removed=none,
    )


def _spurious(answers: pl.DataFrame, weight: int) -> pl.DataFrame:
    """Slots that only the system has."""
    none = pl.lit(0, pl.Int64)
    return answers.select(
        "pair",
        "at",
        alternative=pl.lit(None, pl.Int64),
        cor=none,
        inc=none,
        mis=none,
        spu=weight * pl.col("texts") + pl.col("pointers"),
        optional=none,
        removed=none,
    )


# Gaining pairs: the fills that gain points, and so the pairs of instances that have any.
#
# A pair of instances without a correct point has the F-measure 0, and is mapped when nothing else
# is left. So only the others are looked at. They are found by joins, not by trying all pairs:
# texts that are correct by content by what they say, those correct by extent by where they stand,
# and pointers by what is mapped to what.


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
