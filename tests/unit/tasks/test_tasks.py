"""Tasks as declarations: what they name is there."""

from __future__ import annotations

import pytest

from hlteval import converters
from hlteval.findings import catalogue
from hlteval.representation import TABLES
from hlteval.tasks import BUILTIN, PROFILES, load

SEEDEV = ("seedev-binary", "seedev-full")


@pytest.mark.parametrize("name", BUILTIN)
def test_a_task_names_what_there_is(name: str) -> None:
    task = load(name)
    assert task.name == name
    assert task.title
    assert task.specification
    suffixes = set(converters.load(task.format).suffixes)
    assert set(task.submission_suffixes) | set(task.provided_suffixes) <= suffixes
    assert (task.metric is None) == (not task.metrics)
    assert set(task.primary) == set(task.profiles if task.metrics else ())
    assert {"plan"} <= set(task.profiles) <= set(PROFILES)
    assert set(task.primary.values()) <= set(task.metrics)
    formats = {option.format for option in task.options} - {""}
    assert formats <= converters.BUILTIN.keys()
    assert task.official_crashes_on <= catalogue().keys()
    # a task whose software refuses other things than what blocks says so itself
    assert all(
        catalogue()[code].blocking or task.official_rejects for code in task.official_crashes_on
    )


@pytest.mark.parametrize("name", BUILTIN)
def test_its_rules_are_in_the_catalogue_each_once(name: str) -> None:
    rules = load(name).rules()
    codes = [rule.code for rule in rules]
    assert set(codes) <= catalogue().keys()
    assert len(codes) == len(set(codes))
    assert {rule.runs_on for rule in rules} <= TABLES.keys()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", SEEDEV)
def test_each_profile_gives_every_metric(name: str, profile: str) -> None:
    task = load(name)
    metric = task.metric(profile, {})
    metrics, scorings = metric.score(metric.total([]))
    assert set(metrics) == set(task.metrics)
    assert metrics["references"] == metrics["predictions"] == 0
    assert metrics["f1"] is metrics["ser"] is None  # of nothing, no rate is defined
    assert all(set(row) == {"evaluation", "scoring", "measure", "value"} for row in scorings)


def test_the_scorings_are_those_of_the_task() -> None:
    counts = {}
    for name in SEEDEV:
        for profile in PROFILES:
            for options in ({}, {"sentences": "SeeDev-sentences.txt"}):
                metric = load(name).metric(profile, options)
                _, rows = metric.score(metric.total([]))
                scorings = len(rows) // len({row["measure"] for row in rows})
                counts[name, profile, bool(options)] = scorings
    assert counts == {
        ("seedev-binary", "plan", False): 23,
        ("seedev-binary", "plan", True): 46,
        ("seedev-binary", "official", False): 31,
        ("seedev-binary", "official", True): 56,
        ("seedev-full", "plan", False): 22,
        ("seedev-full", "plan", True): 22,
        ("seedev-full", "official", False): 25,
        ("seedev-full", "official", True): 25,
    }


def test_an_unknown_task_is_an_error_of_the_program() -> None:
    with pytest.raises(KeyError):
        load("no-such")
