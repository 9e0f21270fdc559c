"""The sparse assignment beside a dense one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from hlteval.scoring.matching import assign
from tests.effort import tries


def tables(least: int, most: int) -> st.SearchStrategy[list[tuple[int, int, int]]]:
    pairs = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(least, most))
    return st.lists(pairs, max_size=30, unique_by=lambda pair: pair[:2])


@settings(max_examples=tries(80), deadline=None)
@given(tables(1, 6) | tables(4, 5) | tables(4, 4), st.sampled_from([1, 7]))
def test_the_total_is_that_of_a_dense_assignment(pairs, divisor):
    table = np.array(pairs, dtype=np.int64).reshape(-1, 3)
    rows, columns, weights = table[:, 0], table[:, 1], table[:, 2]
    worth = weights / divisor if divisor > 1 else weights
    chosen = assign(rows, columns, worth)
    assert len(set(rows[chosen])) == len(set(columns[chosen])) == chosen.sum()
    dense = np.zeros((10, 10))
    dense[rows, columns] = worth
    best = dense[linear_sum_assignment(dense, maximize=True)].sum()
    assert worth[chosen].sum() == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("size", [3, 500])
def test_a_chain_in_which_nothing_is_sure(size):
    at = np.arange(size)
    rows, columns = np.r_[at, at[1:]], np.r_[at, at[:-1]]
    chosen = assign(rows, columns, np.ones(len(rows), dtype=np.int64))
    assert chosen.sum() == size
