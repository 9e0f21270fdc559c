"""Every metric tells what it means, and the page has them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.make.metric_page import metric_page
from hlteval import tasks
from hlteval.scoring.edl.measures import DEFAULT
from hlteval.scoring.generic.labels import Options
from hlteval.scoring.generic.semeval import MEASURES
from hlteval.tasks.task import Task

DOCS = Path(__file__).parents[3] / "docs"
SCORED = [task for name in tasks.BUILTIN if (task := tasks.load(name)).metrics]
VALUES = re.compile(r"0 to 1(?:00)?|-1 to 1|≥ 0|an integer ≥ 0|a number ≥ 0(, .+)?")


def test_the_committed_page_is_up_to_date(golden):
    golden(DOCS / "metrics.md", metric_page())


@pytest.mark.parametrize("task", SCORED, ids=lambda task: task.name)
def test_every_metric_tells_what_it_means(task: Task) -> None:
    assert list(task.metric_parts) == list(task.metrics)
    for measured, figure in task.metric_parts.values():
        assert re.fullmatch(r"[A-Z].*\.", figure.meaning)
        assert VALUES.fullmatch(figure.values.text)
        assert figure.clause
        # a count needs no formula, a ratio does
        assert figure.formula or figure.values.kind != "rate"
        assert (figure.values.kind == "count") == figure.values.text.startswith("an integer")
        assert measured is None or (measured.meaning and measured.formula and measured.clause)


@pytest.mark.parametrize("task", SCORED, ids=lambda task: task.name)
def test_the_page_tells_every_figure_and_what_has_it(task: Task) -> None:
    part = metric_page().split(f"\n## {task.name}\n")[1].partition("\n## ")[0]
    named = re.findall(r"^\| `([^`]+)` \|", part, re.M)
    assert named == [item.name for item in (*task.measures, *task.statistics)]
    for figure in task.statistics:
        assert f"| `{figure.name}` | {figure.meaning} |" in part.replace("\\", "")


@pytest.mark.parametrize("task", SCORED, ids=lambda task: task.name)
def test_what_is_declared_is_what_is_scored(task: Task) -> None:
    for profile in task.profiles:
        metrics = [task.scorer(profile)]
        if task.name == "labels":  # the metrics of names, and those of numbers
            metrics.append(task.scorer(profile, Options(kind="numbers")))
        scored = [{*metric.score(metric.total([]))[0]} for metric in metrics]
        assert sum(map(len, scored)) == len(task.metrics)
        assert set().union(*scored) == set(task.metrics)


def test_errors_are_better_where_they_are_less():
    less = {
        statistic.name
        for task in SCORED
        for statistic in task.statistics
        if statistic.better == "less"
    }
    assert less == {
        *("ser", "substitutions", "insertions", "deletions", "fp", "fn"),
        *("inc", "mis", "spu", "und", "ovg", "sub", "sub_muc", "err", "ter"),
        *("wer", "mer", "wil", "cer", "der", "jer", "detection_error"),
        *("der.miss", "der.false_alarm", "der.confusion", "mse", "mae"),
        *(f"{u}.{e}" for u in ("words", "characters") for e in ("substitutions", "insertions")),
        *("words.deletions", "characters.deletions"),
        *(f"{m}.{o}" for m in MEASURES for o in ("incorrect", "missed", "spurious")),
    }


def test_every_measure_of_linking_is_told():
    (linking,) = (task for task in SCORED if task.name == "lorehlt-edl")
    assert tuple(measure.name for measure in linking.measures) == DEFAULT
    meanings = [(measure.meaning, measure.formula) for measure in linking.measures]
    assert len(set(meanings)) == len(meanings)
