"""Intervals by the jackknife: groups, standard errors, scales, and what has no interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from hlteval import tasks
from hlteval.representation import Corpus
from hlteval.scoring import intervals as jackknife
from hlteval.scoring.edl.measures import measures
from hlteval.scoring.edl.metric import LinkMatch, Options
from hlteval.scoring.intervals import UNLIMITED, Bootstrap, Jackknife, encloses, intervals, method
from hlteval.scoring.metric import Metric
from hlteval.scoring.resampling import unit_draws

SCORED = [name for name in tasks.BUILTIN if tasks.load(name).metric]
SAMPLE = np.random.default_rng(1).normal(3.0, 2.0, 15)


@pytest.mark.parametrize("documents", [1, 2, 7, 20, 21, 59])
def test_groups_are_as_equal_as_can_be_and_depend_on_the_seed(documents: int) -> None:
    group = jackknife.groups(documents, seed=3)
    sizes = np.bincount(group)
    assert len(sizes) == min(documents, jackknife.GROUPS)
    assert sizes.max() - sizes.min() <= 1
    assert group.tolist() == jackknife.groups(documents, seed=3).tolist()
    if documents > jackknife.GROUPS:
        assert group.tolist() != jackknife.groups(documents, seed=4).tolist()
    left_out = 1 - jackknife.deletions(group)
    assert (left_out.sum(axis=0) == 1).all()
    assert (left_out.sum(axis=1) == sizes).all()


def test_the_interval_of_a_mean_is_that_of_student() -> None:
    without = (SAMPLE.sum() - SAMPLE) / (len(SAMPLE) - 1)
    sizes = np.ones(len(SAMPLE), int)
    found = jackknife.jackknife_interval(SAMPLE.mean(), without, sizes, 0.9, UNLIMITED)
    expected = stats.t.interval(0.9, len(SAMPLE) - 1, SAMPLE.mean(), stats.sem(SAMPLE))
    assert found == pytest.approx(expected)
    chance = jackknife.probability(SAMPLE.mean(), without, sizes)
    assert chance == pytest.approx(stats.ttest_1samp(SAMPLE, 0).pvalue)


def test_the_error_of_a_sum_is_the_same_by_documents_and_by_groups() -> None:
    """Of many documents, on average over the groups."""
    values = np.random.default_rng(2).gamma(2.0, 1.0, 400)
    expected = values.std(ddof=1) * 20
    errors = []
    for seed in range(30):
        sizes = np.bincount(group := jackknife.groups(400, seed))
        without = jackknife.deletions(group) @ values
        errors.append(jackknife.standard_error(values.sum(), without, sizes))
    assert np.mean(errors) == pytest.approx(expected, rel=0.1)


def test_bca_of_scipy_and_the_jackknife_agree_for_a_ratio() -> None:
    """An interval of another method, for a smooth statistic of many documents."""
    random = np.random.default_rng(3)
    every = random.integers(1, 20, 300)
    right = random.binomial(every, 0.7)
    found = stats.bootstrap(
        (right, every),
        lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
        paired=True,
        method="BCa",
        rng=np.random.default_rng(4),
    )
    group = jackknife.groups(300, seed=0)
    kept = jackknife.deletions(group)
    values = (kept @ right) / (kept @ every)
    low, high = (
        jackknife.jackknife_interval(
            right.sum() / every.sum(), values, np.bincount(group), 0.95, (0.0, 1.0)
        )
        or UNLIMITED
    )
    width = found.confidence_interval.high - found.confidence_interval.low
    assert low == pytest.approx(found.confidence_interval.low, abs=width / 2)
    assert high == pytest.approx(found.confidence_interval.high, abs=width / 2)


@pytest.mark.parametrize("within", [(0.0, 1.0), (0.0, np.inf), UNLIMITED, (0.0, 0.5)])
def test_intervals_hold_their_value_and_stay_within_its_limits(within: tuple[float, float]) -> None:
    random = np.random.default_rng(5)
    for value in (1e-9, 0.01, 0.4999, 0.5):
        values = value + random.normal(0, 0.3, 10)
        low, high = jackknife.jackknife_interval(value, values, np.ones(10, int), 0.99, within) or (
            1.0,
            0.0,
        )
        assert within[0] <= low <= value <= high <= within[1]


def test_what_has_no_interval_says_why() -> None:
    few, many = Jackknife(5, 0.95, 0), Jackknife(8, 0.95, 0)
    varying = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    part = tasks.load("lorehlt-edl").scorer("plan")
    assert few.missing(part, "muc.fscore") == "5 documents with counts, at least 6 are needed"
    assert many.missing(part, "muc.fscore") == ""
    assert "same whatever" in str(many.interval(1.0, np.ones(8), (0.0, 1.0)))
    assert "undefined" in str(many.interval(0.5, np.array([np.nan, *varying[1:]]), (0.0, 1.0)))
    beside = Bootstrap(10, 0.95, 0, 8)
    assert "to one side" in str(beside.interval(0.9, varying, (0.0, 1.0)))
    assert isinstance(many.interval(0.5, varying, (0.0, 1.0)), tuple)


def test_systems_that_never_differ_have_no_difference() -> None:
    for how in (Jackknife(8, 0.95, 0), Bootstrap(10, 0.95, 0, 8)):
        assert how.difference(0.0, np.zeros(8), (0.0, 1.0)) == (0.0, 0.0)
        chance = how.chance(0.0, np.zeros(8))
        assert chance is not None
        assert chance.p == 1.0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", SCORED)
def test_nothing_at_all_has_no_interval(task: str) -> None:
    """No document, and a document of which nothing is counted, in every profile."""
    declared = tasks.load(task)
    for profile in declared.profiles:
        metric = declared.scorer(profile)
        for corpus in (Corpus(), Corpus(documents=[{"row": 0, "name": "d"}])):
            counts, _ = metric.statistics(corpus, corpus, alignment=False)
            values, _ = metric.score(metric.total([counts]))
            found = intervals(
                metric, counts, values, declared.limits, resamples=5, confidence=0.9, seed=0
            )
            assert found.limits == {}
            for part in metric.decompose():
                how = method(part, 0, resamples=5, confidence=0.9, seed=0)
                assert how is None or all(
                    np.isnan(own).all() or (own == 0).all()
                    for own in how.replicates(part, counts, []).values()
                )
    assert next(unit_draws(np.array([], int), 3, seed=1)).shape == (3, 0)


NAMES = ("muc", "b_cubed_plus", "entity_ceaf", "mention_ceaf:is_first:span", "blanc", "pairwise")


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_replicates_in_one_table_are_those_by_themselves(profile: str) -> None:
    """With documents that are drawn never, once and several times."""
    random = np.random.default_rng(6)
    sides = []
    for _ in range(2):
        rows = [
            {
                "row": at,
                "document": at // 5,
                "origin": 0,
                "record": at,
                "mention": "m",
                "start": at % 5,
                "end": at % 5 + 1,
                "label": "PER",
                "entity": f"NIL{random.integers(4)}",
            }
            for at in range(40)
        ]
        documents = [{"row": at, "name": f"ENG_{at}"} for at in range(8)]
        sides.append(Corpus(documents=documents, mentions=rows))
    metric = LinkMatch(profile, Options(measures(NAMES)), ranked=False)
    counts, _ = metric.statistics(*sides, alignment=False)
    names = metric.documents(counts)
    weights = random.poisson(0.8, (6, 8))
    weights[2] = 0
    together = metric.replicates(counts, names, weights)
    alone = Metric.replicates(metric, counts, names, weights)
    for name, values in alone.items():
        assert together[name] == pytest.approx(values, nan_ok=True), name
    assert len(metric._kept) == 1  # of all replicates, the last; they are large


def test_a_metric_declares_its_method() -> None:
    metric = LinkMatch("plan", Options(measures(["muc", "strong_mention_match"]), by="type"))
    parts = metric.decompose()
    assert [part.interval_method for part in parts] == ["jackknife", "bootstrap"]
    assert parts[0].no_interval("pairwise.ptp")
    assert not parts[0].no_interval("pairwise.fscore")
    assert method(replace(metric), 8, resamples=9, confidence=0.9, seed=0) == Jackknife(8, 0.9, 0)


@pytest.mark.parametrize(
    ("value", "held"),
    [(0.5, True), (1.0, True), (0.5 - 1e-13, True), (1 + 1e-13, True), (0.49, False), (1.1, False)],
)
def test_limits_are_held_but_for_a_rounding_error(value: float, held: bool) -> None:
    assert encloses((0.5, 1.0), value) == held
