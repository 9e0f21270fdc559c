"""Augmenting paths beside the assignment of SciPy, ties included."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from hlteval.scoring.matching import AugmentingPaths
from tests.effort import tries


def tables(most_rows: int, most_columns: int) -> st.SearchStrategy[list[list[int]]]:
    """Tables of costs in which ties abound."""
    costs = st.integers(-3, 0) | st.integers(-1000, 1000)
    return st.integers(1, most_columns).flatmap(
        lambda width: st.lists(
            st.lists(costs, min_size=width, max_size=width), min_size=1, max_size=most_rows
        )
    )


@settings(max_examples=tries(100), deadline=None)
@given(tables(6, 7))
def test_every_prefix_of_rows_has_the_assignment_of_scipy(table: list[list[int]]) -> None:
    width, total = len(table[0]), 0
    paths = AugmentingPaths(width)
    for number, row in enumerate(table[:width], 1):
        total += paths.add(row)
        part = np.array(table[:number])
        rows, columns = linear_sum_assignment(part)
        assert paths.columns == columns.tolist()
        assert total == part[rows, columns].sum()


@settings(max_examples=tries(100), deadline=None)
@given(tables(8, 4))
def test_optional_rows_are_those_with_free_columns_of_their_own(table: list[list[int]]) -> None:
    width, total = len(table[0]), 0
    paths = AugmentingPaths(width, optional=True)
    for number, row in enumerate(table, 1):
        total += paths.add(row)
        part = np.array(table[:number])
        free = np.hstack([part, np.zeros((number, number), dtype=np.int64)])
        assert total == free[linear_sum_assignment(free)].sum()
        taken = [(at, column) for at, column in enumerate(paths.columns) if column >= 0]
        assert total == sum(table[at][column] for at, column in taken)
        assert len({column for _, column in taken}) == len(taken)
