"""Replicates: draws, weighted sums, intervals and their coverage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from hlteval.representation import Corpus
from hlteval.scoring import resampling
from hlteval.scoring.metric import Metric, Replicates, Weights
from hlteval.scoring.ratios import ratio
from hlteval.scoring.resampling import (
    CELLS,
    Pair,
    bootstrap,
    draws,
    holm,
    interval,
    over,
    replicate_sums,
)

SCHEMA = {"document": pl.String, "right": pl.Int64, "all": pl.Int64}


@dataclass(frozen=True)
class Pooled(Metric):
    """The share of what is right, scored replicate by replicate."""

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, None]:
        raise NotImplementedError

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        return pl.concat(counts)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        whole = total["all"].sum()
        documents = float(total["document"].n_unique())
        return {
            "share": total["right"].sum() / whole if whole else None,
            "documents": documents,
        }, {}


@dataclass(frozen=True)
class Added(Pooled):
    """The same, from sums."""

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        sums = replicate_sums(counts, ["right", "all"], documents, weights)
        return {"share": ratio(sums["right"], sums["all"])}


def counted(*rows: tuple[str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


COUNTS = counted(("b", 1, 4), ("a", 3, 3), ("c", 0, 0), ("d", 2, 9))


def test_every_draw_has_as_many_documents() -> None:
    most = CELLS // 5
    blocks = list(draws(5, most + 7, seed=3))
    assert [block.shape for block in blocks] == [(most, 5), (7, 5)]
    assert all((block.sum(axis=1) == 5).all() for block in blocks)
    drawn = np.vstack(blocks)
    assert drawn.mean(axis=0) == pytest.approx([1.0] * 5, abs=0.1)
    assert drawn.var() == pytest.approx(1 - 1 / 5, abs=0.1)


def test_draws_depend_on_the_seed_alone() -> None:
    one, same, other = (np.vstack(list(draws(9, 50, seed=seed))) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_blocks_bound_memory_and_change_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(size * 300_000 <= resampling.MOST_CELLS for size in resampling.blocks(1000, 300_000))
    whole = np.vstack(list(draws(9, 50, seed=1)))
    times = np.array([4, 1, 2])
    units = np.vstack(list(resampling.unit_draws(times, 50, seed=1)))
    monkeypatch.setattr(resampling, "MOST_CELLS", 63)
    blocks = list(draws(9, 50, seed=1))
    assert {block.shape for block in blocks} == {(7, 9), (1, 9)}
    assert (np.vstack(blocks) == whole).all()
    assert (np.vstack(list(resampling.unit_draws(times, 50, seed=1))) == units).all()


def test_sums_and_regrouped_documents_agree() -> None:
    documents = Added().documents(COUNTS)
    assert documents == ["a", "b", "c", "d"]
    (weights,) = draws(4, 40, seed=5)
    added = Added().replicates(COUNTS, documents, weights)["share"]
    pooled = Pooled().replicates(COUNTS, documents, weights)
    assert added.tolist() == pooled["share"].tolist()
    assert pooled["documents"].tolist() == [4.0] * 40  # one that is drawn twice is there twice


def test_a_draw_of_nothing_is_undefined() -> None:
    weights = np.array([[0, 0, 4, 0]])
    assert np.isnan(Added().replicates(COUNTS, Added().documents(COUNTS), weights)["share"]).all()
    assert interval(np.array([np.nan, np.nan]), 0.95) is None
    assert interval(np.array([np.nan, 2.0]), 0.95) == (2.0, 2.0)


def test_the_order_of_documents_does_not_matter() -> None:
    one = bootstrap(Added(), COUNTS, 100, seed=1)["share"]
    assert one.tolist() == bootstrap(Added(), COUNTS.reverse(), 100, seed=1)["share"].tolist()


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Of documents whose items are right with a known probability, over many samples."""
    random = np.random.default_rng(7)
    covered, samples = 0, 300
    for _ in range(samples):
        sizes = random.integers(1, 20, 80)
        right = random.binomial(sizes, 0.7)
        rows = [(f"d{at}", int(right[at]), int(sizes[at])) for at in range(80)]
        drawn = bootstrap(Added(), counted(*rows), 300, seed=1)["share"]
        low, high = interval(drawn, 0.9) or (1.0, 0.0)
        covered += low <= 0.7 <= high
    # 0.9 within three standard errors of a share of so many samples, and a little: percentile
    # intervals are known to be somewhat narrow for few documents.
    assert 0.83 <= covered / samples <= 0.96


BETTER = counted(*((f"d{at:02}", 8 + at % 3, 10) for at in range(30)))
WORSE = counted(*((f"d{at:02}", 5 + at % 3, 10) for at in range(30)))


def differences(
    metric: Added | Pooled, one: pl.DataFrame, two: pl.DataFrame, replicates: int, *, seed: int
) -> NDArray[np.float64]:
    """The differences of two systems that are drawn alike."""
    documents = sorted({*metric.documents(one), *metric.documents(two)})
    first, second = (over(metric, side, documents, replicates, seed) for side in (one, two))
    return first["share"] - second["share"]


@pytest.mark.parametrize("metric", [Added(), Pooled()], ids=["sums", "regrouped"])
def test_a_clear_difference_is_significant(metric: Added | Pooled) -> None:
    pair = Pair.of(metric, BETTER, WORSE)
    drawn = differences(metric, BETTER, WORSE, 100, seed=1)
    assert interval(drawn, 0.95) == pytest.approx((0.3, 0.3))
    assert pair.permutation(100, seed=1).chance("share", 0.3).p == 1 / 101


def test_a_system_does_not_differ_from_itself() -> None:
    pair = Pair.of(Added(), BETTER, BETTER)
    assert interval(differences(Added(), BETTER, BETTER, 50, seed=1), 0.95) == (0.0, 0.0)
    assert pair.permutation(50, seed=1).chance("share", 0.0).p == 1.0


def test_exchanging_systems_changes_signs_alone() -> None:
    orders = ((BETTER, COUNTS), (COUNTS, BETTER))
    one, two = (Pair.of(Added(), *sides).permutation(15, seed=2) for sides in orders)
    assert not one.exact
    one, two = one.differences["share"], two.differences["share"]
    assert np.array_equal(one, -two, equal_nan=True)
    one, two = (differences(Added(), *sides, 60, seed=2) for sides in orders)
    assert np.array_equal(one, -two, equal_nan=True)


def test_probabilities_of_equal_systems_are_even() -> None:
    """Under chance alone, one in ten tests gives a probability of at most 0.1."""
    random = np.random.default_rng(11)
    found = 0
    for _ in range(200):
        sides = [
            counted(*((f"d{at}", int(right), 10) for at, right in enumerate(rights)))
            for rights in random.binomial(10, 0.6, (2, 25))
        ]
        observed = (sides[0]["right"].sum() - sides[1]["right"].sum()) / 250
        found += Pair.of(Added(), *sides).permutation(99, seed=3).chance("share", observed).p <= 0.1
    assert 0.04 <= found / 200 <= 0.17


def test_corrected_probabilities_keep_their_order_and_never_shrink() -> None:
    given = [0.2, 0.001, 0.04, 0.04]
    corrected = holm(given)
    assert corrected == pytest.approx([0.2, 0.004, 0.12, 0.12])
    assert all(after >= before for before, after in zip(given, corrected, strict=True))
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]
