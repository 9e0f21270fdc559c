"""Overlaps of spans that nest deeply, against counting unit by unit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hlteval.scoring.edl.overlaps import covered


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
    assert covered("max", ours, theirs).tolist() == expected


def test_spans_within_spans_within_spans() -> None:
    """More than are taken layer by layer, each of the length that it must have."""
    depth = 40
    at = np.arange(depth, dtype=np.int64)
    nested = (np.zeros(depth, dtype=np.int64), at, 200 - at)
    inner = (np.zeros(depth, dtype=np.int64), at + 1, 199 - at)
    expected = [199, *(201 - 2 * number for number in range(1, depth))]
    assert covered("max", nested, inner).tolist() == expected
