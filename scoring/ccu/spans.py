"""Spans of streams: half-open, cut to what is scored, and paired where they overlap.

Conventions:
    Spans are half-open, in seconds or characters: the last character of a stretch of text, which is
    written as its end, is in it. Frames of spans have `document`, `start` and `end`.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation.judgments import last_before, with_reach
from hlteval.scoring.ratios import Whole, ratio

Places = NDArray[np.float64]
#: Decimals of lengths and ratios that count; what is beyond comes from binary fractions.
DIGITS = 9


#: What the instances of a pair have in common.
KEY = ("document", "class")


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
    """The places that spans cover, as disjoint spans by document and start.

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
    blocks = lengths.select("document", begin="start", until="end", before=before)
    inside = pl.min_horizontal("place", "until") - pl.col("begin")
    place = (pl.col("before") + inside).fill_null(0.0).round(DIGITS)
    for column in ("start", "end"):
        last = last_before(rows.select("document", place=column), blocks, "place")
        rows = rows.with_columns(last.select(place.alias(column)).to_series())
    return rows


def inside(rows: pl.DataFrame, regions: pl.DataFrame) -> pl.Series:
    """Whether each row lies in one region: the one that ends last of those before it does.

    Examples:
        >>> rows = pl.DataFrame({"document": ["d"] * 2, "start": [1.0, 4.0], "end": [3.0, 6.0]})
        >>> regions = pl.DataFrame({"document": ["d"], "start": [0.0], "end": [5.0]})
        >>> inside(rows, regions).to_list()
        [True, False]
    """
    is_inside = (pl.col("end") <= pl.col("until")).fill_null(value=False)
    return with_reach(rows, regions).select(is_inside.alias("inside")).to_series()


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
    one, other = _groups(left, right, by)
    starts, ends = (left[name].to_numpy() for name in ("start", "end"))
    begins, stops = (right[name].to_numpy() for name in ("start", "end"))
    inside = _near((other, begins), (one, starts), (one, ends))
    around = _near((one, starts), (other, begins), (other, stops))[::-1]
    size = max(right.height, 1)
    codes = np.sort(np.concatenate([rows * size + matches for rows, matches in (inside, around)]))
    # those that begin alike are found twice
    rows, matches = np.divmod(codes[np.diff(codes, prepend=-1) > 0], size)
    common = np.minimum(ends[rows], stops[matches]) - np.maximum(starts[rows], begins[matches])
    real = common > 0
    return rows[real], matches[real], common[real]


_FARTHEST = 1e9
Keys = tuple[Whole, Places]


def _groups(left: pl.DataFrame, right: pl.DataFrame, by: Sequence[str]) -> tuple[Whole, Whole]:
    """A number for what the columns of each row are, equal where they are equal."""
    every = pl.concat([left.select(by), right.select(by)])
    group = every.select(pl.struct(by).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    return group[: left.height], group[left.height :]


def _near(places: Keys, low: Keys, high: Keys) -> tuple[Whole, Whole]:
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
    rows, matches = _near((other, target), (one, place - distance), (one, place + distance))
    near = np.abs(place[rows] - target[matches]).round(DIGITS) <= distance
    order = np.lexsort((matches[near], rows[near]))
    return rows[near][order], matches[near][order]


# One system instance for several references: an option of the public scorer.
#
# An instance that overlaps several references of its class is divided between them, in the middle
# of the gap that lies between each two of them.


def divide(system: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """System instances, those that overlap several references divided; all half-open.

    Args:
        system: instances, with `class`, `text`, and `from` and `to`, places as written.
        references: instances, with `class`.

    Examples:
        >>> same = {"document": "d", "class": "102", "text": False}
        >>> own = pl.DataFrame([{**same, "start": 0.0, "end": 9.0, "from": 0.0, "to": 9.0}])
        >>> others = pl.DataFrame([{**same, "start": s, "end": s + 2} for s in (0.0, 6.0)])
        >>> divide(own, others).select("start", "end").rows()
        [(0.0, 4.0), (4.0, 9.0)]
    """
    rows, matches, _ = overlap_pairs(system, references, KEY)
    numbered = system.with_columns(_row=pl.int_range(pl.len(), dtype=pl.Int64))
    places = references.select(begin="start", until="end")[matches]
    pairs = pl.concat([numbered[rows], places], how="horizontal").sort("_row", "begin", "until")
    several = pairs.filter(pl.len().over("_row") > 1)
    middle = (pl.col("until") + pl.col("begin").shift(-1).over("_row")) / 2
    # of text, the character in the middle still belongs to the first
    cut = pl.when("text").then(middle.floor()).otherwise(middle)
    step = pl.col("text").cast(pl.Float64)
    placed = pl.col("start").alias("from"), (pl.col("end") - step).alias("to")
    pieces = cut_pieces(several, cut, "_row").with_columns(placed)
    rest = numbered.join(several, on="_row", how="anti")
    every = pl.concat([rest, pieces.select(numbered.columns)])
    return every.sort("_row", maintain_order=True).drop("_row")


def cut_pieces(pairs: pl.DataFrame, cut: pl.Expr, instance: str) -> pl.DataFrame:
    """Rows of instances with several references, each row with the `start` and `end` of a piece.

    Args:
        pairs: the rows of each instance follow each other.
        cut: where each piece ends and the next begins; null for the last.
        instance: the column of the number of the instance.
    """
    marked = pairs.with_columns(_cut=cut)
    start = pl.col("_cut").shift().over(instance).fill_null(pl.col("start"))
    return marked.with_columns(start=start, end=pl.col("_cut").fill_null(pl.col("end")))


# Scaled scores: how much of a correct detection is right, with a collar.
#
# A system instance that starts or ends within the reference is extended towards its start or end,
# at most by the collar. What it then covers of the reference is true, what lies beside the
# reference is false, both as shares of the length of the reference. The measure is that of the
# public scorer; the plan has none.


def shares(pairs: pl.DataFrame, collar: float, collar_text: float) -> pl.DataFrame:
    """Correct pairs with `union`, `shifted_start`, `shifted_end`, `tp_share` and `fp_share`.

    Args:
        pairs: `text`, the half-open span of the system, `start` and `end`, and that of the
            reference, `expected_start` and `expected_end`.
        collar: in seconds.
        collar_text: in characters.

    Examples:
        >>> row = {"text": [False], "start": [20.0], "end": [55.0]}
        >>> row |= {"expected_start": [25.0], "expected_end": [75.0]}
        >>> shares(pl.DataFrame(row), 15, 150).select("shifted_end", "tp_share", "fp_share").rows()
        [(70.0, 0.9, 0.1)]
    """
    width = pl.when("text").then(collar_text).otherwise(collar).cast(pl.Float64)
    # By `clip`, since there are pairs without a reference, which stay as they are.
    start, end, first, last = map(pl.col, ("start", "end", "expected_start", "expected_end"))
    begin = pl.min_horizontal(start, first.clip(lower_bound=start - width))
    until = pl.max_horizontal(end, last.clip(upper_bound=end + width))
    length = last - first
    covered = pl.min_horizontal(last, until) - pl.max_horizontal(first, begin)
    beside = (first - begin).clip(0) + (until - last).clip(0)
    return pairs.with_columns(
        union=pl.max_horizontal(end, last) - pl.min_horizontal(start, first),
        shifted_start=begin,
        shifted_end=until - pl.col("text").cast(pl.Float64),
        tp_share=pl.when(length > 0).then(covered.clip(0) / length).otherwise(0.0),
        fp_share=pl.when(length > 0).then(beside / length).otherwise(0.0),
    )


# When a pair of instances is correct: the distance functions of the CCU Phase 1 plan.
#
# Table 13 says an agreement of 0.2: `>=` as in Appendix A, not `>` as in Tables 1 and 8.


_WRITTEN = re.compile(r"(?:(iou|intersection):(gte?):)?((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))")


class Criterion(NamedTuple):
    """How similar a pair must be.

    Attributes:
        written: as the user wrote it.
        measure: what is compared: the ratio of intersection and union, or the intersection alone.
        strict: whether it must be greater than the limit.
        least: the limit: a ratio, or seconds or characters.
    """

    written: str = "0.2"
    measure: Literal["iou", "intersection"] = "iou"
    strict: bool = False
    least: float = 0.2

    def holds(
        self, *, iou: NDArray[np.float64], intersection: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Whether pairs are similar enough.

        Examples:
            >>> Criterion().holds(iou=np.array([0.2, 0.1]), intersection=np.array([1, 1])).tolist()
            [True, False]
        """
        values = iou if self.measure == "iou" else intersection
        return values > self.least if self.strict else values >= self.least


def criterion(written: str) -> Criterion:
    """A criterion from its notation: `0.2`, `iou:gt:0.5` or `intersection:gte:3`.

    Raises:
        ValueError: for anything else, or a ratio above 1.

    Examples:
        >>> criterion("intersection:gt:0")
        Criterion(written='intersection:gt:0', measure='intersection', strict=True, least=0.0)
    """
    found = _WRITTEN.fullmatch(written)
    if not found:
        raise ValueError(
            f"{written} is not a ratio such as 0.2, nor like iou:gt:0.5 or intersection:gte:3"
        )
    is_iou, least = found[1] != "intersection", float(found[3])
    if is_iou and least > 1:
        raise ValueError(f"an IoU is at most 1, not {found[3]}")
    return Criterion(written, "iou" if is_iou else "intersection", found[2] == "gt", least)


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
    chosen = np.zeros(len(system), dtype=bool)
    # most instances are in one pair, which nothing can take away
    alone = (_times(system) == 1) & (_times(reference) == 1)
    chosen[alone] = True
    rest = np.flatnonzero(~alone)
    keys = (reference, system, reference_start, system_start, -scores)
    rest = rest[np.lexsort([key[rest] for key in keys])]
    used, taken = set[int](), set[int]()
    columns = (values.tolist() for values in (rest, system[rest], reference[rest]))
    for pair, own, expected in zip(*columns, strict=True):
        if own not in used and expected not in taken:
            used.add(own)
            taken.add(expected)
            chosen[pair] = True
    return chosen


def _times(rows: Whole) -> Whole:
    """How often the value of each element occurs."""
    return np.bincount(rows)[rows] if len(rows) else rows


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
