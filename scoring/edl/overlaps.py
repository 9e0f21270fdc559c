"""Overlap of spans: which share of each is covered by those of the other side.

Either by the single span that covers most of it (`max`), or by all of them together (`sum`, where a
unit that several cover counts once). The time is that of sorting, however spans nest or repeat.
"""

from __future__ import annotations

from bisect import bisect_left
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


def covered(mode: str, spans: Spans, others: Spans) -> Integers:
    """How many units of each span other spans of the same kind cover.

    Args:
        mode: `max` for the most that one of them covers, `sum` for what all of them cover.
        spans: kind, first and last unit of each.
        others: the same of the other spans.

    Examples:
        >>> one = (np.array([0]), np.array([1]), np.array([10]))
        >>> two = (np.array([0, 0, 1]), np.array([0, 5, 1]), np.array([2, 6, 10]))
        >>> covered("max", one, two).tolist(), covered("sum", one, two).tolist()
        ([2], [4])
    """
    if not len(spans[0]) or not len(others[0]):
        return np.zeros(len(spans[0]), dtype=np.int64)
    placed = _in_line(spans, others)
    if placed is None:
        return _by_kind(mode, spans, others)
    first, last, first_other, last_other = placed
    order = np.lexsort((last_other, first_other))
    ordered = first_other[order], last_other[order]
    return (_most if mode == "max" else _union)(first, last, *ordered)


def _by_kind(mode: str, spans: Spans, others: Spans) -> Integers:
    """The same kind by kind: for offsets so large that there is no room for all in one line."""
    found = np.zeros(len(spans[0]), dtype=np.int64)
    for kind in np.unique(spans[0]).tolist():
        here, there = np.flatnonzero(spans[0] == kind), np.flatnonzero(others[0] == kind)
        first, last = others[1][there], others[2][there]
        order = np.lexsort((last, first))
        if len(there):
            measured = _most if mode == "max" else _union
            found[here] = measured(spans[1][here], spans[2][here], first[order], last[order])
    return found


def _in_line(spans: Spans, others: Spans) -> tuple[Integers, Integers, Integers, Integers] | None:
    """The offsets with every kind behind the one before, so that kinds never meet."""
    kinds, inverse = np.unique(np.r_[spans[0], others[0]], return_inverse=True)
    first, last = np.r_[spans[1], others[1]], np.r_[spans[2], others[2]]
    lowest = np.full(len(kinds), np.iinfo(np.int64).max)
    highest = np.full(len(kinds), np.iinfo(np.int64).min)
    np.minimum.at(lowest, inverse, first)
    np.maximum.at(highest, inverse, last)
    if (highest.astype(float) - lowest + 2).sum() > _LARGEST:
        return None
    begins = np.r_[0, np.cumsum(highest - lowest + 2)[:-1]] - lowest
    moved = begins[inverse]
    size = len(spans[0])
    first, last = first + moved, last + moved
    return first[:size], last[:size], first[size:], last[size:]


def _union(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """How many units of each span all others together cover."""
    reach = np.maximum.accumulate(ends)
    opens = np.flatnonzero(np.r_[True, starts[1:] > reach[:-1] + 1])
    begins, closes = starts[opens], reach[np.r_[opens[1:] - 1, len(ends) - 1]]
    before = np.r_[0, np.cumsum(closes - begins + 1)]

    def up_to(unit: Integers) -> Integers:
        """Units covered before a unit."""
        at = np.searchsorted(begins, unit, side="left")
        inside = (
            np.minimum(closes[np.maximum(at - 1, 0)], unit - 1) - begins[np.maximum(at - 1, 0)] + 1
        )
        return np.where(at > 0, before[np.maximum(at - 1, 0)] + inside, 0)

    return up_to(last + 1) - up_to(first)


def _most(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """The most units of each span that one of the others covers.

    It is one that begins before the span, one that ends behind it, or one that lies within it.
    """
    reach = np.maximum.accumulate(ends)
    at = np.searchsorted(starts, first, side="right")
    left = np.where(at > 0, np.minimum(reach[np.maximum(at - 1, 0)], last) - first + 1, 0)
    by_end = np.argsort(ends, kind="stable")
    leads = np.minimum.accumulate(starts[by_end][::-1])[::-1]
    at = np.searchsorted(ends[by_end], last, side="left")
    behind = np.minimum(at, len(ends) - 1)
    right = np.where(at < len(ends), last - np.maximum(leads[behind], first) + 1, 0)
    return np.maximum(
        np.maximum(np.maximum(left, right), 0), _longest_within(first, last, starts, ends)
    )


def _longest_within(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """The length of the longest of the others that lies within each span; 0 for none.

    The others are taken in layers in which none lies within another: those that end no earlier than
    all before them, then those of the rest. There are as many layers as spans nest deep.
    """
    best = np.zeros(len(first), dtype=np.int64)
    for _ in range(_LAYERS):
        outer = ends >= np.maximum.accumulate(ends)
        low = np.searchsorted(starts[outer], first, side="left")
        high = np.searchsorted(ends[outer], last, side="right")
        lengths = (ends - starts + 1)[outer]
        best = np.maximum(best, _range_maximum(lengths, low, high))
        starts, ends = starts[~outer], ends[~outer]
        if not len(ends):
            return best
    return np.maximum(best, _longest_of_nested(first, last, starts, ends))


#: Layers that are taken one by one; what is nested deeper is taken at once, span by span.
_LAYERS = 8


def _range_maximum(values: Integers, low: Integers, high: Integers) -> Integers:
    """The greatest of values[low:high] for each pair of bounds; 0 where there is none."""
    size = np.maximum(high - low, 0)
    best = np.zeros(len(low), dtype=np.int64)
    table, width = values, 1
    while width <= size.max(initial=0):
        at = np.flatnonzero((size >= width) & (size < 2 * width))
        best[at] = np.maximum(table[low[at]], table[high[at] - width])
        table = np.maximum(table[:-width], table[width:]) if len(table) > width else table[:0]
        width *= 2
    return best


def _longest_of_nested(
    first: Integers, last: Integers, starts: Integers, ends: Integers
) -> Integers:
    """The same where others lie within each other: spans and others by falling begin.

    Of the others that begin no earlier than a span, a staircase is kept: one that ends no earlier
    than a longer one can never be the longest within anything.
    """
    best = np.zeros(len(first), dtype=np.int64)
    stair: list[int] = []
    longest: list[int] = []
    other = len(starts) - 1
    begins, closes = starts.tolist(), ends.tolist()
    for span in np.argsort(-first, kind="stable").tolist():
        while other >= 0 and begins[other] >= first[span]:
            _step(stair, longest, closes[other], closes[other] - begins[other] + 1)
            other -= 1
        at = bisect_left(stair, int(last[span]) + 1) - 1
        best[span] = longest[at] if at >= 0 else 0
    return best


def _step(stair: list[int], longest: list[int], end: int, length: int) -> None:
    """Put a span of a length and an end into the staircase of rising ends and lengths.

    Spans come by falling begin: of those with one end, each is as long as all before it.
    """
    at = bisect_left(stair, end)
    if at < len(stair) and stair[at] == end:
        longest[at] = length
    elif at == 0 or longest[at - 1] < length:
        stair.insert(at, end)
        longest.insert(at, length)
    else:
        return
    behind = at + 1
    while behind < len(stair) and longest[behind] <= length:
        behind += 1
    del stair[at + 1 : behind]
    del longest[at + 1 : behind]


def self_overlapping(spans: Spans) -> Integers:
    """The kinds in which spans overlap each other.

    Examples:
        >>> spans = np.array([1, 2, 2]), np.array([1, 1, 3]), np.array([4, 3, 9])
        >>> self_overlapping(spans).tolist()
        [2]
    """
    kinds, first, last = spans
    order = np.lexsort((first, kinds))
    kinds, first, last = kinds[order], first[order], last[order]
    # as the first offset of a kind is its least, each needs to look at the one before it only:
    # where that one is outreached by an earlier one, the two before overlap already
    meets = (kinds[1:] == kinds[:-1]) & (first[1:] <= last[:-1])
    return np.unique(kinds[1:][meets])


def swept(reference: Spans, system: Spans) -> tuple[Integers, Integers]:
    """The pairs of spans that overlap, as far as a sweep with two stacks finds them.

    Both sides are sorted by begin, the longer first; the last ones are compared, and the one that
    stands later in that order is taken away (of two equal ones, the reference's). Where spans of a
    side overlap each other, pairs are missed.

    Returns:
        The places of the pairs on both sides.
    """
    pairs: list[tuple[int, int]] = []
    stacks = _stacks(system)
    for kind, ours in _stacks(reference).items():
        theirs = stacks.get(kind, [])
        while ours and theirs:
            (first, negative, at), (start, end, other) = ours[-1], theirs[-1]
            if first <= -end and start <= -negative:
                pairs.append((at, other))
            (theirs if (start, end) > (first, negative) else ours).pop()
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _stacks(spans: Spans) -> dict[int, list[tuple[int, int, int]]]:
    """By kind, the spans in order: first unit, negative last unit, place."""
    stacks: dict[int, list[tuple[int, int, int]]] = {}
    order = np.lexsort((np.arange(len(spans[0])), -spans[2], spans[1], spans[0]))
    for at in order.tolist():
        stack = stacks.setdefault(int(spans[0][at]), [])
        stack.append((int(spans[1][at]), -int(spans[2][at]), at))
    return stacks
