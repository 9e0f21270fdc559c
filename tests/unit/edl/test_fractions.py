"""Sums of fractions do not depend on the order of rows, to the last digit."""

from __future__ import annotations

import polars as pl

from hlteval.scoring.edl.clusterings import fractions


def test_the_sum_of_fractions_is_the_same_every_time():
    sizes = range(3, 40)
    rows = pl.LazyFrame({"group": 0, "numerator": 2, "denominator": sizes})
    found = {fractions(rows, "ptp").collect()["ptp"].item() for _ in range(40)}
    assert found == {sum(2 / size for size in sizes)}
