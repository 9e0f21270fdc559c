"""Intervals of the official software: ours are drawn alike, and agree within sampling error.

The software prints, of 200 draws, the sixth and the 196th in order of size; the seed is its own, so
that its limits are random to us. If a value has the distribution F in our draws, F at the k-th of n
sorted draws has a beta distribution with the parameters k and n - k + 1: that is how far a limit
may lie off. There are many limits, and each is held to the level at which one false alarm among all
of them has a chance of one in a hundred.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.special import betaincinv

from hlteval.scoring.metric import DOCUMENTS
from hlteval.scoring.resampling import bootstrap
from hlteval.workflows.run.engine import Run
from tests.runs import scored

CASES = {
    **dict.fromkeys(("b01_perfect", "b02_drop", "b03_mixed", "b04_types_swaps"), "binary"),
    "b05_missing_wild": "binary",
    **dict.fromkeys(("f01_perfect", "f02_optional", "f03_negation", "f04_mixed"), "full"),
    **dict.fromkeys(("f05_retarget_all", "f06_missing_wild", "f07_dups"), "full"),
}
METRICS = {
    "F1": "f1",
    "Recall": "recall",
    "Precision": "precision",
    "Predictions": "predictions",
    "False Negatives": "deletions",
    "False Positives": "insertions",
    "SER": "ser",
    "Mismatches": "substitutions",
    "Insertions": "insertions",
    "Deletions": "deletions",
}
DRAWS = 200
LOW, HIGH = 6, 196
"""The places of the software's limits among its sorted draws, from 1."""
OURS = 20_000


class Limits(NamedTuple):
    """What the software prints of a measure, and our draws of it."""

    low: float
    high: float
    drawn: NDArray[np.float64]


@cache
def run_of(shared: Path, case: str) -> Run:
    folder, task = shared / "cases" / "seedev", CASES[case]
    gold = folder / "corpora" / f"BioNLP-ST-2016_SeeDev-{task}_dev.zip"
    given = (f"seedev-{task}", str(gold), str(folder / case / "pred.zip"))
    return scored(*given, profile="official", lenient=True, alignment=False)


@cache
def limits(shared: Path, case: str, drawn: str) -> Mapping[str, Limits]:
    run = run_of(shared, case)
    ours = bootstrap(run.metric, pl.concat(run.counts), OURS, seed=1, units=drawn)
    path = shared / "cases" / "seedev" / case / "eval_bootstrap200_seed42.tsv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))
    return {row[3]: Limits(float(row[5]), float(row[6]), ours[METRICS[row[3]]]) for row in rows}


def all_limits(shared: Path, drawn: str) -> Iterator[tuple[str, str, Limits]]:
    for case in CASES:
        for measure, one in limits(shared, case, drawn).items():
            yield case, measure, one


def chances(value: float, drawn: NDArray[np.float64]) -> tuple[float, float]:
    """How much of the draws is less, and how much is not more; values that are equal are close."""
    less = float((drawn < value - 1e-9).mean())
    return less, float((drawn <= value + 1e-9).mean())


def off(shared: Path, drawn: str) -> list[str]:
    """The limits that lie further off than sampling explains."""
    listed = list(all_limits(shared, drawn))
    level = 0.01 / (2 * len(listed))
    found = []
    for case, measure, one in listed:
        for place, value in ((LOW, one.low), (HIGH, one.high)):
            low, high = betaincinv(place, DRAWS - place + 1, [level / 2, 1 - level / 2])
            less, up_to = chances(value, one.drawn)
            if up_to < low or less > high:
                found.append(f"{case} {measure} {value}: {less:.4f} to {up_to:.4f}")
    return found


def test_every_limit_is_where_a_limit_of_our_draws_could_be(shared: Path) -> None:
    assert len(list(all_limits(shared, "pairs"))) == 72
    assert off(shared, "pairs") == []


def test_limits_of_drawn_documents_are_somewhere_else(shared: Path) -> None:
    """The same test finds the difference between drawing pairs and drawing documents."""
    assert len(off(shared, DOCUMENTS)) > 20


def ratios(shared: Path, drawn: str) -> NDArray[np.float64]:
    """By case, how wide the interval of recall is at the software, over ours."""
    found = []
    for case in CASES:
        one = limits(shared, case, drawn)["Recall"]
        ours = np.sort(one.drawn)[[round(LOW / 201 * OURS), round(HIGH / 201 * OURS)]]
        if one.low < one.high:
            found.append((one.high - one.low) / (ours[1] - ours[0]))
    return np.array(found)


def test_intervals_are_as_wide_as_those_of_the_software(shared: Path) -> None:
    found = ratios(shared, "pairs")
    assert found.size == 9
    error = _error_of_widths() / np.sqrt(found.size)
    assert 0.02 < error < 0.03
    assert abs(found.mean() - 1) < 3 * error
    assert abs(ratios(shared, DOCUMENTS).mean() - 1) > 3 * error


def _error_of_widths() -> float:
    """The standard error of a width, relative to it, for draws that are about normal."""
    share = LOW / (DRAWS + 1)
    at = NormalDist().inv_cdf(share)
    of_a_limit = np.sqrt(share * (1 - share) / DRAWS) / NormalDist().pdf(at)
    return float(np.sqrt(2) * of_a_limit / (2 * abs(at)))


@pytest.mark.parametrize("case", ["b03_mixed", "b05_missing_wild"])
def test_counts_are_binomial(case: str, shared: Path) -> None:
    """How many of n drawn pairs have a side: mean and deviation are known exactly."""
    run = run_of(shared, case)
    counts, drawn = pl.concat(run.counts), limits(shared, case, "pairs")
    total = run.metric.total([counts]).row(0, named=True)
    pairs = total["references"] + total["predictions"] - total["pairs"]
    for measure, count in (
        ("Predictions", total["predictions"]),
        ("False Negatives", total["references"] - total["pairs"]),
    ):
        share, values = count / pairs, drawn[measure].drawn
        deviation = np.sqrt(pairs * share * (1 - share))
        assert abs(values.mean() - count) < 4 * deviation / np.sqrt(OURS)
        assert abs(values.std() / deviation - 1) < 4 / np.sqrt(2 * OURS)
