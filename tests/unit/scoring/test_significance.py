"""Permutation tests: p values that are counted, and p values that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import permutation_test

from hlteval.scoring.intervals import Jackknife
from hlteval.scoring.metric import Replicates, Weights
from hlteval.scoring.ratios import ratio
from hlteval.scoring.resampling import Pair, drawn_chance, replicate_sums
from tests.unit.scoring.counts_only import CountsOnly


@dataclass(frozen=True)
class FScore(CountsOnly):
    """F1 of pooled counts: a ratio, not a sum of values of documents."""

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        sums = replicate_sums(counts, ["hits", "items"], documents, weights)
        return {"f1": ratio(2 * sums["hits"], sums["items"])}


def counts(rows: NDArray[np.int64]) -> pl.DataFrame:
    """Hits and items of documents, a row each."""
    names = [f"d{at:02}" for at in range(len(rows))]
    return pl.DataFrame({"document": names, "hits": rows[:, 0], "items": rows[:, 1]})


def f1(rows: NDArray[np.int64]) -> float:
    return float(2 * rows[:, 0].sum() / rows[:, 1].sum())


def systems(documents: int, seed: int, equal: int = 0) -> tuple[NDArray[np.int64], ...]:
    """Two systems, which have the same counts in some documents."""
    random = np.random.default_rng(seed)
    items = random.integers(4, 20, (2, documents))
    hits = random.binomial(items // 2, np.array([[0.8], [0.6]]))
    first, second = np.stack([hits, items], axis=2)
    second[:equal] = first[:equal]
    return first, second


def test_eight_wins_of_eight_are_two_outcomes_of_256() -> None:
    first = np.array([[5, 10]] * 8 + [[3, 10]] * 4)
    second = np.array([[4, 10]] * 8 + [[3, 10]] * 4)
    pair = Pair.of(FScore(), counts(first), counts(second))
    swapped = pair.permutation(10_000, seed=0)
    assert pair.differing == tuple(range(8))
    assert swapped.exact
    assert swapped.differences["f1"].size == 128  # each with its opposite
    chance = swapped.chance("f1", f1(first) - f1(second))
    assert (chance.p, chance.error, chance.smallest) == (2 / 256, 0.0, 2 / 2**12)


@pytest.mark.parametrize(("documents", "equal"), [(2, 0), (3, 0), (5, 1), (7, 0), (10, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_counted_probabilities_are_those_of_scipy(documents: int, equal: int, seed: int) -> None:
    first, second = systems(documents, seed, equal)
    pair = Pair.of(FScore(), counts(first), counts(second))
    chance = pair.permutation(10_000, seed=99).chance("f1", f1(first) - f1(second))

    def statistic(mine: NDArray[np.int64], yours: NDArray[np.int64], axis: int) -> object:
        one, two = (np.take(side, at, axis=0) for side, at in ((both, mine), (both, yours)))
        one, two = (2 * own[..., 0].sum(axis) / own[..., 1].sum(axis) for own in (one, two))
        return one - two

    both = np.concatenate([first, second])
    numbers = np.arange(documents)
    oracle = permutation_test(
        (numbers, numbers + documents),
        statistic,
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
        axis=0,
        alternative="two-sided",
    )
    # two-sided there: twice the smaller tail; the distribution is symmetric
    assert chance.error == 0
    assert chance.p == pytest.approx(oracle.pvalue, abs=1e-12)


def test_a_test_is_exact_if_all_outcomes_are_at_most_the_draws() -> None:
    pair = Pair.of(FScore(), *map(counts, systems(9, seed=1, equal=3)))
    assert len(pair.differing) == 6
    assert pair.permutation(64, seed=0).exact
    assert not pair.permutation(63, seed=0).exact


def test_a_drawn_probability_is_never_below_the_smallest_possible_one() -> None:
    first = np.array([[5, 10]] * 6)
    second = np.array([[4, 10]] * 6)
    pair = Pair.of(FScore(), counts(first), counts(second))
    for seed in range(40):
        chance = pair.permutation(63, seed=seed).chance("f1", 0.2)
        assert chance.p >= chance.smallest == 2 / 64


def test_a_drawn_probability_has_its_monte_carlo_error() -> None:
    differences = np.array([0.0] * 90 + [1.0] * 9)
    chance = drawn_chance(differences, 1.0)
    assert chance.p == 10 / 100
    assert chance.error == pytest.approx((10 / 101 * 91 / 101 / 100) ** 0.5)
    assert not chance.exact
    always = drawn_chance(np.ones(99), 1.0)
    assert always.p == 1.0
    assert not always.exact


def test_documents_differ_in_any_of_their_rows() -> None:
    first = pl.DataFrame({"document": ["a", "a", "b", "c"], "hits": [1, 2, 3, 0], "items": [4] * 4})
    second = pl.DataFrame({"document": ["a", "a", "b"], "hits": [2, 1, 2], "items": [4] * 3})
    assert Pair.of(FScore(), first, second).differing == (1, 2)


@pytest.mark.parametrize(("documents", "few"), [(5, True), (6, False)])
def test_a_jackknife_of_too_few_documents_has_no_probability(documents: int, few: bool) -> None:
    reason = Jackknife(documents, 0.95, 0).too_few(FScore(), "f1")
    assert bool(reason) == few
