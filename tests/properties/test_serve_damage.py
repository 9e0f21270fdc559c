"""Damaged uploads and requests for the page: a sample of `python -m fuzz.serve`."""

from __future__ import annotations

import pytest

from fuzz.serve import run


@pytest.mark.thorough
def test_damaged_inputs_are_answered_and_nothing_is_written_elsewhere() -> None:
    totals, left = run(0, 40)
    assert totals.failures == []
    assert left == []
    assert totals.inputs >= 40
    assert {200, 201, 202, 204, 400, 404} <= set(totals.statuses)
    assert totals.outcomes["fail"]
