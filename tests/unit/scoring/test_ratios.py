"""Precision, recall and F1: values by hand, and one formula for arrays and for columns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from hlteval.scoring.edl.official import OfficialGrouped
from hlteval.scoring.ratios import harmonic, rates, side_rates
from hlteval.scoring.situations.lorehlt.official_frames import official_rates

UNDEFINED = None
BY_HAND = [
    # right, predicted, expected: precision, recall, F1
    ((3, 4, 6), (3 / 4, 3 / 6, 2 * 3 / (4 + 6))),
    ((0, 4, 6), (0.0, 0.0, 0.0)),
    ((0, 0, 6), (UNDEFINED, 0.0, 0.0)),
    ((0, 4, 0), (0.0, UNDEFINED, 0.0)),
    ((0, 0, 0), (UNDEFINED, UNDEFINED, UNDEFINED)),
]


def columns(rated):
    """The row of values of expressions without columns."""
    return pl.select(**rated._asdict()).row(0)


@pytest.mark.parametrize(("counts", "expected"), BY_HAND)
def test_rates_by_hand(counts, expected):
    found = [float(rate) for rate in rates(*map(np.array, counts))]
    assert found == pytest.approx([np.nan if x is None else x for x in expected], nan_ok=True)
    assert columns(rates(*map(pl.lit, counts))) == expected


@pytest.mark.parametrize(("counts", "expected"), BY_HAND)
def test_rates_of_two_sides_are_those_of_one_where_they_agree(counts, expected):
    right, predicted, relevant = map(pl.lit, counts)
    found = columns(side_rates(right, predicted, right, relevant))
    assert found == pytest.approx(expected)


def test_rates_of_two_sides_by_hand():
    # the system has 1 of 4 right, the reference finds 3 of 4 of its own: P = 1/4, R = 3/4
    found = columns(side_rates(*map(pl.lit, (1, 4, 3, 4))))
    assert found == pytest.approx((1 / 4, 3 / 4, 2 * (1 / 4) * (3 / 4) / (1 / 4 + 3 / 4)))


@pytest.mark.parametrize(("counts", "expected"), BY_HAND)
def test_the_public_scorers_have_zeros_where_nothing_can_be_divided(counts, expected):
    zeros = tuple(0.0 if value is None else value for value in expected)
    assert [float(rate) for rate in official_rates(*map(np.array, counts))] == pytest.approx(zeros)
    right, predicted, relevant = map(float, counts)
    values = {"ptp": right, "fp": predicted - right, "rtp": right, "fn": relevant - right}
    rated = OfficialGrouped.with_rates(pl.DataFrame([values]))
    assert rated.row(0)[4:] == pytest.approx(zeros)


def test_arrays_and_columns_have_the_same_digits():
    draws = np.random.default_rng(5)
    predicted, expected = draws.integers(1, 1000, (2, 500))
    right = draws.integers(0, np.minimum(predicted, expected) + 1)
    table = pl.DataFrame({"right": right, "predicted": predicted, "expected": expected})
    found = table.select(**rates(*(pl.col(name) for name in table.columns))._asdict())
    arrays = rates(right, predicted, expected)
    for name, values in arrays._asdict().items():
        assert found[name].to_list() == values.tolist()
    means = harmonic(arrays.precision, arrays.recall)
    assert np.nan_to_num(means) == pytest.approx(arrays.f1)
