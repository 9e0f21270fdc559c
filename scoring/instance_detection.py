"""Detections in streams: pairs of spans that overlap, correct detections, and average precision.

Conventions:
    Frames of spans have `document`, `start` and `end`, half-open; `class` is what the instances of
    a pair have in common beside their document.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.matching import first_free
from hlteval.scoring.ratios import Whole, ratio

Places = NDArray[np.float64]
#: Decimals of lengths and ratios that count; what is beyond comes from binary fractions.
DIGITS = 9


#: What the instances of a pair have in common.
KEY = ("document", "class")


def overlap_pairs(
    left: pl.DataFrame, right: pl.DataFrame, by: Sequence[str]
) -> tuple[Whole, Whole, Places]:
    """The pairs of spans that overlap: rows of either side, and how much they have in common.

    Of two that overlap, one begins inside the other: both sides are looked up in order of their
    starts, so that there are hardly more candidates than pairs.

    Args:
        left: spans.
        right: spans.
        by: the columns that must be equal.

    Examples:
        >>> left = pl.DataFrame({"document": ["d"], "start": [0.0], "end": [4.0]})
        >>> right = pl.DataFrame({"document": ["d"] * 2, "start": [3.0, 4.0], "end": [9.0, 9.0]})
        >>> [part.tolist() for part in overlap_pairs(left, right, ["document"])]
        [[0], [0], [1.0]]
    """
    one, other = group_numbers(left, right, by)
    starts, ends = (left[name].to_numpy() for name in ("start", "end"))
    begins, stops = (right[name].to_numpy() for name in ("start", "end"))
    inside = near_places((other, begins), (one, starts), (one, ends))
    around = near_places((one, starts), (other, begins), (other, stops))[::-1]
    size = max(right.height, 1)
    codes = np.sort(np.concatenate([rows * size + matches for rows, matches in (inside, around)]))
    # those that begin alike are found twice
    rows, matches = np.divmod(codes[np.diff(codes, prepend=-1) > 0], size)
    common = np.minimum(ends[rows], stops[matches]) - np.maximum(starts[rows], begins[matches])
    real = common > 0
    return rows[real], matches[real], common[real]


_FARTHEST = 1e9
Keys = tuple[Whole, Places]


def group_numbers(
    left: pl.DataFrame, right: pl.DataFrame, by: Sequence[str]
) -> tuple[Whole, Whole]:
    """A number for what the columns of each row are, equal where they are equal."""
    every = pl.concat([left.select(by), right.select(by)])
    group = every.select(pl.struct(by).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    return group[: left.height], group[left.height :]


def near_places(places: Keys, low: Keys, high: Keys) -> tuple[Whole, Whole]:
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
    # each index as often as its range is long, and the positions in the range
    sizes = after - first
    rows = np.repeat(np.arange(len(sizes)), sizes)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = order[np.repeat(first, sizes) + offsets]
    same = places[0][found] == low[0][rows]
    return rows[same], found[same]


# Step 1 of Streaming Instance Detection: the instances of a system that are correct.
#
# CCU Phase 1 plan, Appendix A. For each norm, emotion or change point:
#
# - build a list of potentially mappable pairs of system and reference instances;
# - sort the pairs by decreasing detection score;
# - while the list is not empty: the top pair is correct; remove the others of both instances.
#
# Instances of different documents or classes are never a pair, so that all lists are one here.
# Ties, which the plan leaves open, go to the system instance that starts first, then to the
# reference instance that does.


def pairs(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
    """All pairs of instances that overlap, by rows of both; no other could be correct.

    Returns:
        `_system`, `_reference`, `intersection`, how much they have in common, and `iou`, this over
        what either covers.

    Examples:
        >>> one = {"document": ["d"], "class": ["101"], "start": [0.0], "end": [4.0]}
        >>> other = pl.DataFrame({**one, "start": [2.0], "end": [5.0]})
        >>> pairs(pl.DataFrame(one), other)["iou"].to_list()
        [0.4]
    """
    rows, matches, common = overlap_pairs(system, reference, KEY)
    own = (system["end"] - system["start"]).to_numpy()[rows]
    expected = (reference["end"] - reference["start"]).to_numpy()[matches]
    iou = (common / (own + expected - common)).round(DIGITS)
    columns = {"_system": rows, "_reference": matches, "intersection": common.round(DIGITS)}
    return pl.DataFrame({**columns, "iou": iou})


def greedy(
    system: Whole,
    reference: Whole,
    scores: NDArray[np.float64],
    system_start: NDArray[np.float64],
    reference_start: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Which pairs are correct.

    Args:
        system: the row of the system instance of each pair.
        reference: the row of its reference instance.
        scores: its detection score.
        system_start: where its system instance starts.
        reference_start: where its reference instance starts.

    Examples:
        >>> rows, matches = np.array([0, 1, 1]), np.array([0, 0, 1])
        >>> scores, starts = np.array([2.0, 1.0, 1.0]), np.zeros(3)
        >>> greedy(rows, matches, scores, starts, np.array([20.0, 20.0, 35.5])).tolist()
        [True, False, True]
    """
    keys = (reference, system, reference_start, system_start, -scores)
    return first_free(system, reference, *keys)


# Steps 2 and 3 of Streaming Instance Detection: counts at thresholds, and what they give.
#
# CCU Phase 1 plan, Appendix A and section C.4. At each unique detection score, what has at least
# this score is a correct detection or a false alarm; precision and recall follow, and from them
# average precision, the area below their curve: Σ precision · Δrecall. Beside it, with the
# precision of each recall raised to the best of any higher one, is the interpolated average
# precision (VOC 2011).
#
# Conventions:
#     Many curves are computed at a time; a curve has its own values in the columns `by`.


COUNTS = ("hits", "false")


def points(instances: pl.DataFrame, relevant: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The points of the curves, by falling detection score.

    Args:
        instances: of the system: `by`, `llr`, and `hit`, whether each is correct.
        relevant: `by` and `relevant`, how many instances the reference has, of all curves.
        by: the columns whose values identify a curve.

    Returns:
        `by`, `llr`, `hits`, `false`, `relevant`, `precision` and `recall`.

    Examples:
        >>> rows = [("a", 0.9, True), ("a", 0.5, False), ("a", 0.4, True)]
        >>> instances = pl.DataFrame(rows, ["class", "llr", "hit"], orient="row")
        >>> relevant = pl.DataFrame({"class": ["a"], "relevant": [4]})
        >>> points(instances, relevant, ["class"])["recall"].to_list()
        [0.25, 0.25, 0.5]
    """
    hits, size = pl.col("hit").sum().cast(pl.Int64), pl.len().cast(pl.Int64)
    numbered = relevant.sort(by).with_row_index("curve")  # one number is grouped and sorted faster
    found = (
        instances.join(numbered.select(*by, "curve"), on=by, maintain_order="left")
        .group_by("curve", "llr")
        .agg(hits=hits, false=size - hits, last=pl.col("llr").last())
        .sort("curve", "llr", descending=[False, True], nulls_last=True)
        # 0 and -0 are one score, written as the last of them
        .with_columns(pl.col(COUNTS).cum_sum().over("curve"), llr="last")
        .drop("last")
        .join(numbered, on="curve", maintain_order="left")
        .select(*by, "llr", *COUNTS, "relevant")
    )
    # by NumPy: Polars multiplies by the inverse of a column that is one number, here of one curve
    right, wrong, expected = (found[name].to_numpy() for name in (*COUNTS, "relevant"))
    precision, recall = ratio(right, right + wrong), ratio(right, expected)
    return found.with_columns(precision=pl.Series(precision), recall=pl.Series(recall))


def average_precision(curves: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The areas below the curves: `by`, `ap` and `ap_interpolated`.

    Args:
        curves: as from `points`.
        by: the columns whose values identify a curve.

    Examples:
        >>> curves = {"class": ["a"] * 3, "hits": [0, 1, 2], "relevant": [2] * 3}
        >>> curves |= {"precision": [0.0, 0.5, 2 / 3], "recall": [0.0, 0.5, 1.0]}
        >>> areas = average_precision(pl.DataFrame(curves), ["class"])
        >>> areas.select(pl.col("ap", "ap_interpolated").round(3)).row(0)
        (0.583, 0.667)
    """
    gained = (pl.col("recall") - pl.col("recall").shift(fill_value=0.0)).over(by)
    best = pl.col("precision").cum_max(reverse=True).over(by)
    steps = curves.select(*by, step=gained * pl.col("precision"), interpolated=gained * best)
    return steps.group_by(by, maintain_order=True).agg(
        ap=pl.col("step").sum(), ap_interpolated=pl.col("interpolated").sum()
    )
