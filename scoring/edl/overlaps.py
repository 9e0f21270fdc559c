"""Overlap of spans: which share of each is covered by those of the other side.

Either by the single span that covers most of it (`max`), or by all of them together (`sum`, where a
unit that several cover counts once). The time is that of sorting, however spans nest or repeat.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

#: Offsets are those of the first and the last unit of a span; both belong to it.
Integers = npt.NDArray[np.int64]


class Spans(NamedTuple):
    """The kind, first and last unit of spans; only spans of one kind meet."""

    kind: Integers
    first: Integers
    last: Integers


_LARGEST = 2**62


def spans(rows: pl.DataFrame) -> Spans:
    """The columns `item`, `from` and `last` of annotations as spans."""
    return Spans(*(rows[name].to_numpy() for name in ("item", "from", "last")))


def coverage(mode: str, spans: Spans, others: Spans) -> Integers:
    """How many units of each span other spans of the same kind cover.

    A span that ends before it starts neither covers anything nor is covered.

    Args:
        mode: `max` for the most that one of them covers, `sum` for what all of them cover.
        spans: kind, first and last unit of each.
        others: the same of the other spans.

    Examples:
        >>> one = (np.array([0]), np.array([1]), np.array([10]))
        >>> two = (np.array([0, 0, 1]), np.array([0, 5, 1]), np.array([2, 6, 10]))
        >>> coverage("max", one, two).tolist(), coverage("sum", one, two).tolist()
        ([2], [4])
    """
    kind, first, last = (np.r_[ours, theirs] for ours, theirs in zip(spans, others, strict=True))
    ours, real = np.arange(len(kind)) < len(spans[0]), first <= last
    units = np.zeros(len(spans[0]), dtype=np.int64)
    if not (real & ours).any() or not (real & ~ours).any():
        return units
    kinds, kind = np.unique(kind, return_inverse=True)
    lowest, highest = (np.full(len(kinds), limit) for limit in (_LARGEST * 2 - 1, -_LARGEST * 2))
    np.minimum.at(lowest, kind, first)
    np.maximum.at(highest, kind, last)
    room = np.maximum(highest.astype(float) - lowest + 2, 0)
    if room.sum() <= _LARGEST:  # every kind after the one before: all are one kind
        shift = np.r_[0, np.cumsum(np.maximum(highest - lowest + 2, 0))[:-1]] - lowest
        first, last, kind = first + shift[kind], last + shift[kind], np.zeros_like(kind)
    for number in np.unique(kind).tolist():
        here = np.flatnonzero((kind == number) & real & ours)
        there = np.flatnonzero((kind == number) & real & ~ours)
        there = there[np.lexsort((last[there], first[there]))]
        if len(here) and len(there):
            cover = _most if mode == "max" else _union
            units[here] = cover(first[here], last[here], first[there], last[there])
    return units


def _union(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """How many units of each span all others together cover."""
    reach = np.maximum.accumulate(ends)
    opens = np.flatnonzero(np.r_[True, starts[1:] > reach[:-1] + 1])
    begins, closes = starts[opens], reach[np.r_[opens[1:] - 1, len(ends) - 1]]
    before = np.r_[0, np.cumsum(closes - begins + 1)]
    closes = np.r_[first.min() - 1, closes]

    def up_to(unit: Integers) -> Integers:
        """Units covered before a unit."""
        run = np.searchsorted(begins, unit, side="left")
        units: Integers = before[run] - np.maximum(closes[run] - unit + 1, 0)
        return units

    return up_to(last + 1) - up_to(first)


def _most(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """The most units of each span that one of the others covers.

    It is one that begins no later than the span, one that ends no earlier, or one within it.
    """
    reach = np.r_[first.min() - 1, np.maximum.accumulate(ends)]
    left = np.minimum(reach[np.searchsorted(starts, first, side="right")], last) - first + 1
    by_end = np.argsort(ends, kind="stable")
    leads = np.r_[np.minimum.accumulate(starts[by_end][::-1])[::-1], last.max() + 1]
    right = last - np.maximum(leads[np.searchsorted(ends[by_end], last, side="left")], first) + 1
    best: Integers = np.maximum(np.maximum(left, right), 0)
    low, high = np.searchsorted(starts, first), np.searchsorted(starts, last, side="right")
    partly = np.flatnonzero((best < last - first + 1) & (low < high))
    inside = np.zeros(len(starts) + 1, dtype=np.int64)  # how many of these each begins in
    np.add.at(inside, low[partly], 1)
    np.add.at(inside, high[partly], -1)
    some = np.cumsum(inside)[:-1] > 0
    within = _longest_within(first[partly], last[partly], starts[some], ends[some])
    best[partly] = np.maximum(best[partly], within)
    return best


def _longest_within(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """The length of the longest of the others that lies within each span; 0 for none.

    Both sides are taken by falling begin. Of the others that begin no earlier than a span, a
    staircase of rising ends and lengths is kept: one that ends no earlier than a longer one can
    never be the longest within anything.
    """
    best = np.zeros(len(first), dtype=np.int64)
    stair, lengths = list[int](), list[int]()
    left = list(zip(starts.tolist(), ends.tolist(), strict=True))
    for span in np.argsort(-first, kind="stable").tolist():
        while left and left[-1][0] >= first[span]:
            start, end = left.pop()
            step = behind = bisect_left(stair, end)
            if step and lengths[step - 1] > end - start:
                continue
            while behind < len(stair) and lengths[behind] <= end - start + 1:
                behind += 1
            stair[step:behind], lengths[step:behind] = [end], [end - start + 1]
        step = bisect_right(stair, int(last[span]))
        best[span] = lengths[step - 1] if step else 0
    return best


def sweep(reference: Spans, system: Spans) -> tuple[Integers, Integers]:
    """The pairs of spans that overlap, as far as a sweep with two stacks finds them.

    Both sides are sorted by begin, the longer first; the last ones are compared, and the one that
    stands later in that order is taken away (of two equal ones, the reference's). Where spans of a
    side overlap each other, pairs are missed.

    Returns:
        The places of the pairs on both sides.
    """
    stacks = []
    for kind, first, last in (reference, system):
        order = np.lexsort((-last, first, kind))
        columns = (kind[order], first[order], -last[order], order)
        stacks.append(list(zip(*(column.tolist() for column in columns), strict=True)))
    ours, theirs = stacks
    pairs = list[tuple[int, int]]()
    while ours and theirs:
        (kind, first, last, place), (other_kind, start, end, other) = ours[-1], theirs[-1]
        if kind == other_kind and first <= -end and start <= -last:
            pairs.append((place, other))
        (theirs if (other_kind, start, end) > (kind, first, last) else ours).pop()
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]
