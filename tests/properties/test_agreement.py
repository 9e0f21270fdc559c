"""Coefficients of agreement are those of other libraries and of their definitions."""

from __future__ import annotations

import warnings
from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from hlteval.scoring.agreement.coefficients import COEFFICIENTS, FOUND, Coefficient, Ratings, Scale
from tests.effort import tries

CATEGORIES = ("a", "b", "c", "d")
NUMBERS = st.sampled_from([np.nan, 0.0, 1.0, 1.0, 2.0, 3.0])
TABLES = st.tuples(st.integers(1, 9), st.integers(2, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=NUMBERS)
)
EXAMPLES = settings(max_examples=tries(50))


def named(scale: Scale, name: str) -> Coefficient:
    """A coefficient by its name."""
    return next(item for item in COEFFICIENTS[scale] if item.name == name)


def value(item: Coefficient, table: np.ndarray, documents: int = 3) -> float:
    """A coefficient of a table, from sums over several documents."""
    ratings = Ratings(table, np.arange(len(table)) % documents, documents, CATEGORIES)
    return float(item.value(item.sums(ratings).sum(axis=0), ratings.raters))


def complete(table: np.ndarray) -> np.ndarray:
    """The units that all judged."""
    return table[~np.isnan(table).any(axis=1)]


def same(ours: float, theirs: float) -> None:
    """Hold that values are equal, or both undefined."""
    assert ours == pytest.approx(theirs, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@EXAMPLES
@given(table=TABLES)
def test_alpha_is_that_of_krippendorff(scale: Scale, table: np.ndarray) -> None:
    """Alpha of any number of annotators with units that some did not judge."""
    paired = table[(~np.isnan(table)).sum(axis=1) > 1]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        assert np.isnan(value(named(scale, "alpha"), table))
        return
    theirs = krippendorff.alpha(reliability_data=table.T, level_of_measurement=scale)
    same(value(named(scale, "alpha"), table), theirs)


@EXAMPLES
@given(TABLES)
def test_kappas_are_those_of_statsmodels(table: np.ndarray) -> None:
    """Cohen's kappa, weighted or not, of two annotators; Fleiss' of all."""
    whole = complete(table)
    counts = np.array([[np.sum(row == code) for code in range(4)] for row in whole])
    if len(whole) == 0 or np.count_nonzero(counts.sum(axis=0)) == 1:
        assert np.isnan(value(named("nominal", "fleiss_kappa"), table))
        return
    same(value(named("nominal", "fleiss_kappa"), table), fleiss_kappa(counts))
    pair = whole[:, :2]
    confusion = np.zeros((4, 4))
    np.add.at(confusion, tuple(pair.astype(int).T), 1)
    if len(np.unique(pair)) == 1:
        assert np.isnan(value(named("nominal", "kappa"), pair))
        return
    with warnings.catch_warnings():  # statsmodels divides by a variance of 0
        warnings.simplefilter("ignore")
        plain = cohens_kappa(confusion, return_results=False)
        weighted = cohens_kappa(confusion, wt="quadratic", return_results=False)
    same(value(named("nominal", "kappa"), pair), plain)
    same(value(named("ordinal", "weighted_kappa"), pair), weighted)
    same(value(named("nominal", "agreement"), pair), float(np.mean(pair[:, 0] == pair[:, 1])))


@EXAMPLES
@given(arrays(np.float64, (6, 2), elements=st.floats(1, 1000, allow_nan=False)))
def test_concordance_is_that_of_its_definition(table: np.ndarray) -> None:
    """Lin's coefficient with the moments of a population."""
    x, y = table.T
    apart = (x.mean() - y.mean()) ** 2 + x.var() + y.var()
    assume(apart > 1e-6)
    ours = value(named("interval", "ccc"), table)
    assert ours == pytest.approx(2 * np.mean((x - x.mean()) * (y - y.mean())) / apart, abs=1e-6)


@EXAMPLES
@given(TABLES)
def test_categories_are_those_of_two_categories(table: np.ndarray) -> None:
    """The value of a category is that of all others taken together."""
    ratings = Ratings(table, np.zeros(len(table), dtype=np.int64), 1, CATEGORIES)
    pair = ratings.pair(0, 1)
    for item in COEFFICIENTS["nominal"]:
        if item.of_categories is None:
            continue
        own = pair if item.of == "pair" else ratings
        found = item.of_categories(item.sums(own)[0], own.raters)
        for code in range(4):
            two = np.where(np.isnan(own.values), np.nan, own.values == code)
            same(float(found[code]), value(item, two))


@EXAMPLES
@given(TABLES)
def test_equal_annotators_agree(table: np.ndarray) -> None:
    """Whatever is defined is 1 for one annotator twice, and the order makes no difference."""
    twice = table[:, [0, 0]]
    for scale, items in COEFFICIENTS.items():
        for item in items:
            own = value(item, twice)
            assert np.isnan(own) or own == pytest.approx(1), (scale, item.name)
            orders = [value(item, table[:, list(order)][:, :2]) for order in permutations(range(2))]
            same(*orders)


def test_units_that_both_marked() -> None:
    """F1 of detection counts what each annotator marked, whatever its category."""
    table = np.array([[0, 1], [0, np.nan], [np.nan, 2], [3, 3.0]])
    same(value(FOUND, table), 2 * 2 / (3 + 3))


def test_levels_far_from_0_lose_no_digits() -> None:
    """Lin's coefficient of series that differ by 1 in 10**9: as of the same near 0, 0.6."""
    near = np.array([[1.0, 2], [2, 2], [3, 5]])
    expected = value(named("interval", "ccc"), near)
    assert value(named("interval", "ccc"), near + 1e9) == pytest.approx(expected, abs=1e-9)
