"""Spans inside each other, and spans that cross.

Both are found in n log n steps, however many overlap; every span is reported at most once, with one
other span.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

import polars as pl

SPAN = ("document", "start", "end")
#: Larger than any offset.
_AFTER_ALL = 2**63


def in_order(spans: pl.DataFrame) -> pl.DataFrame:
    """Each span once, by document and start, the longer first; empty and reversed ones left out.

    Args:
        spans: with the columns `document`, `start` and `end`, half-open.
    """
    proper = spans.filter(pl.col("start") < pl.col("end"))
    once = proper.unique(SPAN, keep="first", maintain_order=True)
    return once.sort(*SPAN, descending=[False, False, True], maintain_order=True)


def nested(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans that lie inside another.

    Args:
        spans: as from `in_order`.

    Returns:
        `inner` and `outer`, indices of `spans`: each inner span once, with the earlier span that
        reaches furthest.

    Examples:
        >>> rows = {"document": [0] * 3, "start": [0, 2, 2], "end": [9, 9, 5]}
        >>> nested(pl.DataFrame(rows)).rows()
        [(1, 0), (2, 0)]
    """
    size = spans.height
    ranked = spans.with_columns(inner=pl.int_range(pl.len()), rank=pl.col("end").rank("dense"))
    # Where a span ends, and which span that is, as one number: the largest so far is then both.
    both = pl.col("rank").cast(pl.Int64) * size + (size - 1 - pl.col("inner"))
    reach = pl.col("both").cum_max().shift(1).over("document")
    found = ranked.with_columns(both=both).with_columns(reach=reach)
    inside = found.filter(pl.col("reach") // size >= pl.col("rank"))
    return inside.select("inner", outer=size - 1 - pl.col("reach") % size)


def crossing(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans that begin inside an earlier one and end after it.

    Args:
        spans: as from `in_order`.

    Returns:
        `later` and `earlier`, indices of `spans`: each later span once, with the first-ending one
        of those that it crosses.

    Examples:
        >>> rows = {"document": [0] * 3, "start": [0, 2, 9], "end": [5, 9, 12]}
        >>> crossing(pl.DataFrame(rows)).rows()
        [(1, 0)]
    """
    before = pl.col("end").cum_max().shift(1).over("document")
    first = (pl.col("start") >= before).fill_null(value=True)
    heaps = spans.select(
        *("start", "end"), place=pl.int_range(pl.len()), heap=first.cast(pl.Int64).cum_sum()
    )
    heaped = heaps.filter(pl.len().over("heap") > 1)
    pairs = _crossing(heaped.select("heap", "start", "end", "place").rows())
    return pl.DataFrame(
        sorted(pairs), schema={"later": pl.Int64, "earlier": pl.Int64}, orient="row"
    )


def _crossing(spans: list[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    """The crossing spans of heaps, from the last to the first.

    The ends of all earlier spans are kept in order; a span is removed when it is passed. The search
    for the next end follows a chain of removed spans, which is shortened on the way, so that it
    takes no more than a few steps.
    """
    ends = sorted((heap, end, place) for heap, _, end, place in spans)
    order = {place: index for index, (_, _, place) in enumerate(ends)}
    following = list(range(len(ends) + 1))
    pairs = []
    for _, group in groupby(reversed(spans), key=lambda span: span[:2]):
        alike = list(group)
        for _, _, _, place in alike:
            following[order[place]] = order[place] + 1
        for heap, start, end, place in alike:
            index = _following(following, bisect_right(ends, (heap, start, _AFTER_ALL)))
            if index < len(ends) and ends[index][:2] < (heap, end) and ends[index][0] == heap:
                pairs.append((place, ends[index][2]))
    return pairs


def _following(following: list[int], index: int) -> int:
    """The first index from one on that is not removed, with all chains to it shortened."""
    last = index
    while following[last] != last:
        last = following[last]
    while following[index] != last:
        index, following[index] = following[index], last
    return last
