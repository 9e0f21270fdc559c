"""Cycles among frames."""

from __future__ import annotations

import pytest

from hlteval.validators.seedev.events import Edge, cycles


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ([], []),
        ([(1, 2), (2, 3), (1, 3)], []),
        ([(1, 2), (2, 1)], [((2, 1), [1, 2, 1])]),
        ([(3, 1), (1, 2), (2, 3)], [((3, 1), [1, 2, 3, 1])]),
        # two circles apart
        ([(1, 2), (2, 1), (5, 6), (6, 5)], [((2, 1), [1, 2, 1]), ((6, 5), [5, 6, 5])]),
        # two circles with a frame in common
        ([(1, 2), (2, 1), (1, 3), (3, 1)], [((2, 1), [1, 2, 1]), ((3, 1), [1, 3, 1])]),
        # what leads into a circle is not part of it
        ([(0, 1), (1, 2), (2, 1)], [((2, 1), [1, 2, 1])]),
    ],
)
def test_loops(edges: list[Edge], found: list[tuple[Edge, list[int]]]) -> None:
    assert list(cycles(edges)) == found


def test_a_long_circle_needs_no_deep_stack() -> None:
    size = 50_000
    edges = [(at, (at + 1) % size) for at in range(size)]
    ((edge, path),) = cycles(edges)
    assert edge == (size - 1, 0)
    assert path == [*range(size), 0]
