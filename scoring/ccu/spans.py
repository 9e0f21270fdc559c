"""Spans of streams: half-open, cut to what is scored, and paired where they overlap.

Conventions:
    Spans are half-open, in seconds or characters: the last character of a stretch of text, which is
    written as its end, is in it. Frames of spans have `document`, `start` and `end`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Numbers = NDArray[np.float64]
#: Decimals of lengths and ratios that count; what is beyond comes from binary fractions.
DIGITS = 9


def half_open(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with `from` and `to`, places as written, and half-open `start` and `end`.

    Args:
        rows: with `text`, whether places are characters.

    Examples:
        >>> half_open(pl.DataFrame({"text": [True], "start": [3.0], "end": [5.0]}))["end"][0]
        6.0
    """
    written = rows.with_columns(pl.col("start").alias("from"), pl.col("end").alias("to"))
    return written.with_columns(end=pl.col("end") + pl.col("text").cast(pl.Float64))


def union(spans: pl.DataFrame) -> pl.DataFrame:
    """What spans cover, as disjoint spans by document and start.

    Examples:
        >>> rows = {"document": ["d", "d", "d"], "start": [0.0, 2.0, 9.0], "end": [3.0, 5.0, 9.5]}
        >>> union(pl.DataFrame(rows)).rows()
        [('d', 0.0, 5.0), ('d', 9.0, 9.5)]
    """
    rows = spans.select("document", "start", "end").sort("document", "start", "end")
    before = pl.col("end").cum_max().shift().over("document")
    begins = (before.is_null() | (pl.col("start") > before)).cum_sum()
    joined = rows.group_by("document", block=begins, maintain_order=True)
    return joined.agg(pl.col("start").min(), pl.col("end").max()).drop("block")


def scored_places(rows: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """Rows with `start` and `end` as places in the scored part of their documents.

    No-score regions are cut out of the stream: a place is how much of the document before it is
    scored. So what is said of such a region makes no difference, and what lies within one is empty.

    Args:
        rows: spans.
        scored: the parts that are scored, disjoint, as from `union`.

    Examples:
        >>> scored = pl.DataFrame({"document": ["d", "d"], "start": [2.0, 8.0], "end": [5.0, 9.0]})
        >>> rows = pl.DataFrame({"document": ["d"], "start": [4.0], "end": [8.5]})
        >>> scored_places(rows, scored).rows()
        [('d', 2.0, 3.5)]
    """
    lengths = scored.with_columns(length=pl.col("end") - pl.col("start"))
    before = (pl.col("length").cum_sum() - pl.col("length")).over("document")
    blocks = lengths.with_columns(
        before=before, begin="start", until="end", start=pl.col("start")
    ).select("document", "begin", "until", "before")
    for column in ("start", "end"):
        rows = rows.with_columns(_place(rows, column, blocks))
    return rows


def _place(rows: pl.DataFrame, column: str, blocks: pl.DataFrame) -> pl.Series:
    """How much of the blocks lies before each place."""
    numbered = rows.select("document", place=column).with_row_index("_order")
    found = numbered.sort("place").join_asof(
        blocks.sort("begin"),
        left_on="place",
        right_on="begin",
        by="document",
        strategy="backward",
        check_sortedness=False,
    )
    inside = pl.min_horizontal("place", "until") - pl.col("begin")
    place = (pl.col("before") + inside).fill_null(0.0).round(DIGITS)
    return found.sort("_order").select(place.alias(column)).to_series()


def overlapping(
    left: pl.DataFrame, right: pl.DataFrame, by: Sequence[str]
) -> tuple[Whole, Whole, Numbers]:
    """The pairs of spans that overlap: rows of either side, and how much they have in common.

    Spans of about the same length are looked up together, in order of their starts: of these only
    few begin near a span without reaching it, so that there are hardly more candidates than pairs.

    Args:
        left: spans.
        right: spans.
        by: the columns that must be equal.

    Examples:
        >>> left = pl.DataFrame({"document": ["d"], "start": [0.0], "end": [4.0]})
        >>> right = pl.DataFrame({"document": ["d"] * 2, "start": [3.0, 4.0], "end": [9.0, 9.0]})
        >>> [part.tolist() for part in overlapping(left, right, ["document"])]
        [[0], [0], [1.0]]
    """
    one, other = _groups(left, right, by)
    starts, ends = (left[name].to_numpy() for name in ("start", "end"))
    begins, stops = (right[name].to_numpy() for name in ("start", "end"))
    lengths = stops - begins
    bucket = np.where(lengths > 0, np.frexp(np.where(lengths > 0, lengths, 1.0))[1], _EMPTY)
    found: list[tuple[Whole, Whole]] = []
    for size in np.unique(bucket[bucket != _EMPTY]):
        members = np.flatnonzero(bucket == size)
        reach = float(lengths[members].max())
        places = (other[members], begins[members])
        near = _between(places, (one, starts - reach), (one, ends))
        found.append((near[0], members[near[1]]))
    rows, matches = (np.concatenate(part) for part in zip(*found, strict=True)) if found else _NONE
    common = np.minimum(ends[rows], stops[matches]) - np.maximum(starts[rows], begins[matches])
    real = common > 0
    order = np.lexsort((matches[real], rows[real]))
    return rows[real][order], matches[real][order], common[real][order]


_NONE = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
#: The bucket of empty spans, less than any exponent.
_EMPTY = -10_000
_FARTHEST = 1e9
Keys = tuple[Whole, Numbers]


def _groups(left: pl.DataFrame, right: pl.DataFrame, by: Sequence[str]) -> tuple[Whole, Whole]:
    """A number for what the columns of each row are, equal where they are equal."""
    every = pl.concat([left.select(by), right.select(by)])
    group = every.select(pl.struct(by).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    return group[: left.height], group[left.height :]


def _between(places: Keys, low: Keys, high: Keys) -> tuple[Whole, Whole]:
    """The places that lie between limits of the same group: rows of limits, and of places.

    Group and place are one number, so that a search is one search; places that miss the limits by a
    rounding error can be among them.
    """
    every = np.concatenate([places[1], low[1], high[1]]).clip(-_FARTHEST, _FARTHEST)
    least = every.min(initial=0.0)
    width = float(every.max(initial=0.0) - least) + 1.0
    slack = 8 * np.spacing(width * (max(places[0].max(initial=0), low[0].max(initial=0)) + 2.0))
    keys, begins, ends = (
        group * width + (place.clip(-_FARTHEST, _FARTHEST) - least)
        for group, place in (places, low, high)
    )
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    first = np.searchsorted(ranked, begins - slack, "left")
    after = np.maximum(np.searchsorted(ranked, ends + slack, "right"), first)
    rows, positions = _expanded(first, after)
    found = order[positions]
    same = places[0][found] == low[0][rows]
    return rows[same], found[same]


def _expanded(low: Whole, high: Whole) -> tuple[Whole, Whole]:
    """Each index of `low` as often as its range is long, and the positions in the range."""
    sizes = high - low
    rows = np.repeat(np.arange(len(low)), sizes)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows, np.repeat(low, sizes) + offsets


def within(
    left: pl.DataFrame, right: pl.DataFrame, by: Sequence[str], distance: float
) -> tuple[Whole, Whole]:
    """The pairs of points that are not farther apart than a distance: rows of either side.

    Args:
        left: points, in `at`.
        right: points.
        by: the columns that must be equal.
        distance: how far.

    Examples:
        >>> left = pl.DataFrame({"document": ["d"], "at": [10.0]})
        >>> right = pl.DataFrame({"document": ["d"] * 2, "at": [0.0, 20.5]})
        >>> [part.tolist() for part in within(left, right, ["document"], 10)]
        [[0], [0]]
    """
    one, other = _groups(left, right, by)
    place, target = left["at"].to_numpy(), right["at"].to_numpy()
    low, high = place - distance, place + distance
    rows, matches = _between((other, target), (one, low), (one, high))
    near = np.abs(place[rows] - target[matches]).round(DIGITS) <= distance
    order = np.lexsort((matches[near], rows[near]))
    return rows[near][order], matches[near][order]
