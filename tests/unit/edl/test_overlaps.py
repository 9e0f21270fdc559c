"""Overlaps of spans that nest deeply, against counting unit by unit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hlteval.scoring.edl.annotations import _longest_within, coverage


def spans(draw: random.Random, size: int, kinds: int) -> tuple[np.ndarray, ...]:
    """Spans of which many lie within others."""
    rows = []
    for _ in range(size):
        first = draw.randrange(60)
        rows.append((draw.randrange(kinds), first, first + int(draw.paretovariate(0.7)) % 90))
    return tuple(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))


def most(span: tuple[int, ...], others: list[tuple[int, ...]]) -> int:
    """The most units of a span that one of the others covers."""
    kind, first, last = span
    met = [min(last, end) - max(first, start) + 1 for item, start, end in others if item == kind]
    return max([0, *met])


@pytest.mark.parametrize("seed", range(20))
def test_the_most_that_one_span_covers(seed: int) -> None:
    draw = random.Random(seed)
    ours, theirs = (spans(draw, draw.choice((1, 5, 60, 150)), 1 + seed % 3) for _ in range(2))
    others = list(zip(*(column.tolist() for column in theirs), strict=True))
    expected = [most(span, others) for span in zip(*(c.tolist() for c in ours), strict=True)]
    assert coverage("max", ours, theirs).tolist() == expected


def together(span: tuple[int, ...], others: list[tuple[int, ...]]) -> int:
    """How many units of a span all others cover, each counted once."""
    kind, first, last = span
    units = {unit for item, start, end in others if item == kind for unit in range(start, end + 1)}
    return len(units & {*range(first, last + 1)})


@pytest.mark.parametrize("seed", range(20))
def test_what_all_spans_cover_together(seed: int) -> None:
    draw = random.Random(seed)
    ours, theirs = (spans(draw, draw.choice((1, 5, 60)), 1 + seed % 3) for _ in range(2))
    others = list(zip(*(column.tolist() for column in theirs), strict=True))
    expected = [together(span, others) for span in zip(*(c.tolist() for c in ours), strict=True)]
    assert coverage("sum", ours, theirs).tolist() == expected


def test_spans_that_share_a_unit_cover_it_once() -> None:
    """1-3 and 3-5 cover five units of 1-10, 1-3 and 4-5 too, 1-3 and 5-5 four."""
    one = tuple(np.array([value]) for value in (0, 1, 10))
    for second, expected in (((3, 5), 5), ((4, 5), 5), ((5, 5), 4)):
        others = tuple(np.array(column) for column in ((0, 0), (1, second[0]), (3, second[1])))
        assert coverage("sum", one, others).tolist() == [expected]


def test_of_spans_with_one_end_the_longest_counts() -> None:
    """Deeply nested, each beside a shorter one."""
    depth = 40
    at = np.arange(depth, dtype=np.int64)
    ours = (np.zeros(depth, dtype=np.int64), at, 200 - at)
    first, last = np.r_[at + 1, at + 2], np.r_[199 - at, 199 - at]
    theirs = (np.zeros(2 * depth, dtype=np.int64), first, last)
    expected = [199, *(201 - 2 * number for number in range(1, depth))]
    assert coverage("max", ours, theirs).tolist() == expected


def test_spans_within_spans_within_spans() -> None:
    """Deeply nested, each of the length that it must have."""
    depth = 40
    at = np.arange(depth, dtype=np.int64)
    nested = (np.zeros(depth, dtype=np.int64), at, 200 - at)
    inner = (np.zeros(depth, dtype=np.int64), at + 1, 199 - at)
    expected = [199, *(201 - 2 * number for number in range(1, depth))]
    assert coverage("max", nested, inner).tolist() == expected


@pytest.mark.parametrize("mode", ["max", "sum"])
def test_kinds_whose_offsets_are_far_apart(mode: str) -> None:
    """There is no room for all in one line: 0-9 is covered by 2-5, far away 5-9 by 5-7."""
    far = 2**61
    kinds = np.array([0, 1])
    ours = (kinds, np.array([0, far + 5]), np.array([9, far + 9]))
    theirs = (np.array([0, 0, 1]), np.array([2, far, far + 5]), np.array([5, far, far + 7]))
    again = tuple(
        np.r_[column, other] for column, other in zip(theirs, ([1], [-far], [-far]), strict=True)
    )
    assert coverage(mode, ours, again).tolist() == [4, 3]


def test_the_longest_of_spans_that_nest_by_hand() -> None:
    """Of 6-9, 5-9, 5-6, 3-4 and 1-9 the longest within 4-9 is 5-9, within 3-6 3-4."""
    starts, ends = np.array([1, 3, 5, 5, 6]), np.array([9, 4, 6, 9, 9])
    first, last = np.array([4, 3, 1, 7]), np.array([9, 6, 10, 9])
    assert _longest_within(first, last, starts, ends).tolist() == [5, 2, 9, 0]
