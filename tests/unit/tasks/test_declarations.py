"""Files of declarations: what they name is there, and what is wrong in them is refused."""

from __future__ import annotations

import tomllib
from functools import partial
from importlib import resources
from typing import Any

import msgspec
import pytest

from hlteval.extensions import LazyImport, resolve
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.declarations import make_task

FILES = {
    file.name.removesuffix(".toml"): tomllib.loads(file.read_text("utf-8"))
    for file in resources.files("hlteval.tasks").iterdir()
    if file.name.endswith(".toml")
}
TASK = {"title": "T", "specification": "S", "format": "hub4"}


def references(value: object) -> set[str]:
    """The references to functions in a declaration, as `module:name`."""
    match value:
        case LazyImport(named=named):
            return {named}
        case partial(func=function):
            return references(function)
        case tuple():
            return set().union(*map(references, value))
        case msgspec.Struct():
            return set().union(*(references(getattr(value, f)) for f in value.__struct_fields__))
    return set()


def test_every_file_is_one_of_a_task_or_what_tasks_have_in_common() -> None:
    shared = {name for tables in FILES.values() for name in tables.get("extends", ())}
    assert FILES.keys() == {*BUILTIN, *shared}


@pytest.mark.parametrize("name", BUILTIN)
def test_what_a_file_refers_to_is_there(name: str) -> None:
    named = references(load(name))
    assert named
    assert not [reference for reference in named if resolve(reference) is None]


def test_names_rows_defaults_and_order_are_expanded() -> None:
    tables = {
        **TASK,
        "names": {"plan": "the plan of {this}"},
        "rows": {"sides": [{"side": "left"}, {"side": "right"}]},
        "defaults": {"statistics": {"clause": "{plan}, 1", "values": "count"}},
        "statistics": {
            "all": {"meaning": "All.", "clause": "{plan}, 2", "values": "rate"},
            "{side}": {"each": "sides", "meaning": "What is {side}.", "importance": "high"},
        },
        "order": {"statistics": ["right", "all"]},
    }
    right, every = make_task("a-b", tables).statistics
    assert (right.name, right.meaning, right.weight) == ("right", "What is right.", 3)
    assert (right.clause, right.values.kind) == ("the plan of {this}, 1", "count")
    assert (every.name, every.clause, every.values.kind) == ("all", "the plan of {this}, 2", "rate")


def test_a_function_can_have_arguments_and_the_name_of_the_task() -> None:
    rules = {"call": "builtins:dict", "task": "{task}", "suffixes": [".a"]}
    task = make_task("a-b", {**TASK, "rules": rules, "package": "builtins:list"})
    assert task.rules() == {"task": "b", "suffixes": (".a",)}  # type: ignore[comparison-overlap]
    assert task.package == LazyImport("builtins:list")


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"titel": "T"}, "unknown field `titel`"),
        ({"title": 3}, "$.title"),
        ({"options": {"x": {"help": "X.", "comands": []}}}, "$.options[0]"),
        ({"options": {"x": {"help": "X.", "commands": ["scores"]}}}, "$.options[0].commands[0]"),
        ({"hooks": {"batch": "many"}}, "$.hooks.batch"),
        ({"rules": 3}, "$.rules"),
        ({"alignment_info": {"table": "t", "outcomes": [{"name": "n"}]}}, "`kind`"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_place(wrong: dict[str, Any], place: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        make_task("a-b", {**TASK, **wrong})
    assert place in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": "{plan}"},
        {"statistics": {"x": {"meaning": "X.", "each": "sides"}}},
        {"statistics": {"x": {"meaning": "X.", "values": "many"}}},
        {"order": {"statistics": ["x"]}},
    ],
)
def test_a_name_that_stands_for_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        make_task("a-b", {**TASK, **wrong})
