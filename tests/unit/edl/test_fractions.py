"""Sums of fractions are the same in every run, to the last digit."""

from __future__ import annotations

from pathlib import Path

from tests.runs import score

FIXTURES = Path(__file__).parents[3] / "fixtures/lorehlt-edl"


def test_sums_of_fractions_are_the_same_in_every_run():
    reference = str(FIXTURES / "valid/submission.tab")
    system = str(FIXTURES / "invalid/EDL205-letters.tab")
    runs = (score("lorehlt-edl", reference, system, lenient=True).metrics for _ in range(12))
    assert {run["entity_ceaf.ptp"] for run in runs} == {1 + 1 + 1 + 1 + 1 + 1 + 2 / 3}
