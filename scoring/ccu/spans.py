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
from hlteval.scoring.instance_detection import (
    DIGITS,
    KEY,
    group_numbers,
    near_places,
    overlap_pairs,
)
from hlteval.scoring.ratios import Whole


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
    one, other = group_numbers(left, right, by)
    place, target = left["at"].to_numpy(), right["at"].to_numpy()
    rows, matches = near_places((other, target), (one, place - distance), (one, place + distance))
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
