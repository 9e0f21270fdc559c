"""Intervals of all metrics of all tasks, on generated corpora: they hold the value, and the truth.

The generators are those of `python -m benchmarks coverage`; a task without one is made of its
demonstration, so that a further task needs a line of `DEMONSTRATIONS` and nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage import MARKS, Setting, setting, simulated
from benchmarks.generators import generator
from hlteval import tasks
from hlteval.scoring.intervals import IntervalSet, intervals
from hlteval.scoring.metric import Metric
from hlteval.tasks.task import Task

SCORED = [task for name in tasks.BUILTIN if (task := tasks.load(name)).metric]
PAGE = Path(__file__).parents[2] / "docs" / "intervals.md"
WELL = 0.88
"""The least coverage of 95 % intervals that are given, in the table of the page."""


def corpus(task: Task, documents: int, seed: int) -> tuple[IntervalSet, Mapping[str, float | None]]:
    """The intervals and the values of a generated corpus."""
    metric = task.scorer("plan")
    counts, _ = metric.statistics(*generator(task.name)(documents, seed, 0), alignment=False)
    values, _ = metric.score(metric.total([counts]))
    found = intervals(
        metric, counts, values, task.limits, resamples=200, confidence=0.95, seed=seed
    )
    return found, values


def pooled(metric: Metric, defined: Iterable[str]) -> bool:
    """Whether values that are defined come from the jackknife, which needs few documents."""
    return any(
        part.interval_method == "jackknife" and {*part.score(part.total([]))[0]} & {*defined}
        for part in metric.decompose()
    )


def enough(metric: Metric, names: Iterable[str], documents: int) -> list[str]:
    """The values that ask for no more documents."""
    parts = {name: metric.decompose((name,))[0] for name in names}
    return [name for name, part in parts.items() if documents >= part.fewest_documents(name)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("documents", "seed"), [(7, 1), (12, 2), (30, 3)])
@pytest.mark.parametrize("task", SCORED, ids=lambda task: task.name)
def test_every_interval_holds_its_value(task: Task, documents: int, seed: int) -> None:
    found, values = corpus(task, documents, seed)
    defined = {name for name, value in values.items() if value is not None}
    assert {*found.limits, *found.missing} == defined  # an interval, or a reason
    for name, (low, high) in found.limits.items():
        least, most = task.limits(name)
        value = values[name]
        assert value is not None
        assert least <= low <= value + 1e-9, name
        assert value - 1e-9 <= high <= most, name
        assert low < high, name
    metric = task.scorer("plan")
    if documents >= 12 or pooled(metric, defined):
        assert len(found.limits) > len(enough(metric, defined, documents)) / 4


@pytest.mark.parametrize("names", [("muc.fscore", "b_cubed.fscore", "mention_ceaf.fscore")])
def test_intervals_over_clusters_cover_the_truth(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """Of 40 corpora of 20 documents; what the bootstrap does not."""
    settings = {"lorehlt-edl": Setting(names, resamples=100)}
    monkeypatch.setattr("benchmarks.coverage.SETTINGS", settings)
    rows = list(simulated(tasks.load("lorehlt-edl"), 20, 40))
    covered = {(row.metric, row.method): row for row in rows}
    for name in names:
        row = covered[name, "jackknife"]
        assert row.holds == row.printed == 1
        assert row.coverage >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 40)
    assert covered["muc.fscore", "bootstrap"].coverage < 0.8
    assert covered["muc.fscore", "bootstrap"].holds < 1


def rows() -> list[tuple[str, str, int, str]]:
    """The cells of the jackknife in the committed table, with task, metric and documents."""
    text = PAGE.read_text("utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    found = []
    for part in re.split(r"^### ", text, flags=re.M)[1:]:
        name, _, table = part.partition("\n")
        lines = re.findall(r"^\| `(.+)` \| (\d+) \|.*\| ([^|]+) \|$", table, re.M)
        found += [(name, metric, int(documents), cell) for metric, documents, cell in lines]
    return found


def test_the_page_has_the_coverage_of_every_task() -> None:
    found = {(task, metric) for task, metric, _, _ in rows()}
    expected = {(task.name, name) for task in SCORED for name in setting(task).metrics}
    assert found == expected


def test_intervals_that_are_printed_cover_the_truth_on_the_page() -> None:
    """Those of measures that are computed from all documents at once."""
    checked = 0
    for name, measure, documents, cell in rows():
        (part,) = tasks.load(name).scorer("plan").decompose((measure,))
        shown = documents >= part.fewest_documents(measure) and not part.no_interval(measure)
        if part.interval_method == "jackknife" and shown:
            assert "holds" not in cell  # said where it is not always
            assert float(cell.partition(" ")[0]) >= WELL, (measure, documents)
            checked += 1
    assert checked > 20
