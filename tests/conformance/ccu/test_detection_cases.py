"""Norms, emotions and change points: the files of the public scorer, run by run.

Its authors compare the alignment and the scores; the statistics that they keep are of earlier
versions, and are not compared. The two runs of change points that are named for a filter were made
without it.
"""

from __future__ import annotations

import pytest

from hlteval.scoring.ccu.changes import change_detection
from hlteval.scoring.ccu.official_files import instance_detection
from tests.conformance.ccu.detection_runs import corpora, differences, options, runs

FILES = ("instance_alignment.tab", "scores_by_class.tab", "scores_aggregated.tab")
CHANGES = (13, 14, 18, 24, 27, 55)
KINDS = {"nd": "norm", "ed": "emotion"}
NUMBERS = (*range(6, 13), 15, 16, 17, 19, 22, 23, 25, 26, *range(28, 55), 56, 57, 58)


@pytest.fixture(scope="module")
def cases(shared):
    return shared / "cases" / "ccu"


def test_all_runs_are_compared(cases):
    assert tuple(run.number for run in runs(cases, *KINDS)) == NUMBERS


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", NUMBERS)
def test_the_files_of_a_run_are_those_of_the_public_scorer(cases, number):
    (run,) = (run for run in runs(cases, *KINDS) if run.number == number)
    chosen = options(cases, run.given)
    metric = instance_detection(profile="official", options=chosen, kind=KINDS[run.task])
    counts, _ = metric.statistics(*corpora(cases, run))
    files = metric.official_files(metric.total([counts]))
    for name in FILES:
        expected = (run.expected / name).read_text("utf-8")
        assert files[name].splitlines()[0] == expected.splitlines()[0]
        assert differences(files[name], expected) == [], name


def test_all_runs_of_change_points_are_compared(cases):
    assert tuple(run.number for run in runs(cases, "cd")) == CHANGES


@pytest.mark.parametrize("number", CHANGES)
def test_the_files_of_change_points_are_those_of_the_public_scorer(cases, number):
    (run,) = (run for run in runs(cases, "cd") if run.number == number)
    metric = change_detection(profile="official")
    counts, _ = metric.statistics(*corpora(cases, run))
    files = metric.official_files(metric.total([counts]))
    for name in FILES[:2]:
        expected = (run.expected / name).read_text("utf-8")
        assert files[name].splitlines()[0] == expected.splitlines()[0]
        assert differences(files[name], expected) == [], name
