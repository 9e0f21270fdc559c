"""Tasks as declarations: what they name is there."""

from __future__ import annotations

import pickle
from dataclasses import fields, is_dataclass
from typing import get_args, get_type_hints

import pytest

from hlteval import converters
from hlteval.findings import catalogue
from hlteval.representation import TABLES
from hlteval.scoring.metric import SCORINGS, Metric
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.generic.declaration import READ_OPTIONS, tables_with_keys
from hlteval.tasks.generic.task_file import BUILTIN_OF, UNITS
from hlteval.tasks.options import metric_options
from hlteval.tasks.task import Task

PROFILES = ("plan", "official")
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
def test_a_task_can_go_to_another_process(name: str) -> None:
    task = load(name)
    assert pickle.loads(pickle.dumps(task)).name == name
    agreement = task.agreement() if task.agreement else None
    assert pickle.loads(pickle.dumps(agreement)) == agreement


@pytest.mark.parametrize("name", BUILTIN)
def test_its_rules_are_in_the_catalogue_each_once(name: str) -> None:
    rules = load(name).rules()
    codes = [rule.code for rule in rules if rule.counts_if is None]
    assert {rule.code for rule in rules} <= catalogue().keys()
    assert len(codes) == len(set(codes))  # a second rule is for what all batches decide
    deciding = [rule.code for rule in rules if rule.counts_if is not None]
    assert len(deciding) == len(set(deciding))
    assert {rule.runs_on for rule in rules} <= TABLES.keys()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", SEEDEV)
def test_each_profile_gives_every_metric(name: str, profile: str) -> None:
    task = load(name)
    metric = task.scorer(profile)
    metrics, tables = metric.score(metric.total([]))
    assert set(metrics) == set(task.metrics)
    assert metrics["references"] == metrics["predictions"] == 0
    assert metrics["f1"] is metrics["ser"] is None  # of nothing, no rate is defined
    assert tables["scorings"].schema == dict(SCORINGS)


def test_the_scorings_are_those_of_the_task() -> None:
    counts = {}
    for name in SEEDEV:
        for profile in PROFILES:
            for options in ({}, {"sentences": "SeeDev-sentences.txt"}):
                task = load(name)
                metric = task.scorer(profile, metric_options(task, options))
                rows = metric.score(metric.total([]))[1]["scorings"]
                scorings = rows.height // rows["measure"].n_unique()
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


@pytest.mark.parametrize("name", [name for name in BUILTIN if load(name).metric])
def test_a_metric_is_frozen_and_says_whether_its_counts_add(name: str) -> None:
    for profile in load(name).profiles:
        metric = load(name).scorer(profile)
        assert isinstance(metric, Metric)
        assert is_dataclass(metric)
        assert type(metric).__dataclass_params__.frozen  # type: ignore[attr-defined]
        for part in metric.decompose():
            assert part.additive <= (type(part).replicates is not Metric.replicates)


DECLARABLE = {BUILTIN_OF.get(unit, unit) for unit in UNITS}


def keys_of_declarations() -> set[str]:
    """The keys of files that declare tasks."""
    tables = tables_with_keys()
    return {*READ_OPTIONS, *(key.replace("-", "_") for keys in tables.values() for key in keys)}


def sharing(options: type) -> list[Task]:
    """The tasks whose metrics have options of a type; each may offer some of them."""
    tasks = [load(name) for name in BUILTIN]
    return [t for t in tasks if t.metric_options and type(t.metric_options()) is options]


@pytest.mark.parametrize("name", BUILTIN)
def test_every_option_of_a_metric_can_be_given_and_has_the_declared_choices(name: str) -> None:
    task = load(name)
    if task.metric_options is None:
        assert not [option for option in task.options if option.read or option.kind != "text"]
        return
    declared = {option.name: option for option in task.options if "score" in option.commands}
    default = task.metric_options()
    of_others = {option.name for other in sharing(type(default)) for option in other.options}
    types = get_type_hints(type(default))
    # of a task that files declare: what these have a key for
    in_files = keys_of_declarations() if name in DECLARABLE else set()
    for field in fields(default):
        if field.name not in declared:
            assert field.name in of_others or field.name in in_files
            continue
        option, kind = declared[field.name], types[field.name]
        choices = [choice for part in (kind, *get_args(kind)) for choice in get_args(part)]
        names = tuple[str, ...] | None  # of the documents of a list
        assert (kind is bool) == (option.switch or (option.format != "" and kind != names))
        assert kind != names or option.format == "document-list"
        if option.read is None:  # a reader gives what it likes
            if option.choices:
                assert {c for c in choices if isinstance(c, str)} - {""} == set(option.choices)
            assert (kind is float) == (option.kind == "number")
            assert (kind == tuple[str, ...]) == (option.kind == "list")
    for option in task.options:
        for_rules = option.is_file and "validate" in option.commands
        assert option.name in types or for_rules or option.groups_documents or not option.read


def test_an_unknown_task_is_an_error_of_the_program() -> None:
    with pytest.raises(KeyError):
        load("no-such")
