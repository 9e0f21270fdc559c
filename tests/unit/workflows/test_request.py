"""Requests: what the engine takes, and where the help of options comes from."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, replace
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from typer.main import get_command

import hlteval
from hlteval.cli.app import app
from hlteval.cli.commands import Command
from hlteval.cli.process import declarations
from hlteval.sources.inputs import as_path
from hlteval.workflows.run.request import Intervals, Request

GRAMMARS = Path(__file__).parents[3] / "grammars"
#: The declarations of the options that are fields of a request.
OPTIONS = {
    name: entry
    for name, entry in declarations()["options"].items()
    if name in signature(Request).parameters
}


def options_of(command: str, task: str) -> dict[str, str]:
    """The help of the options of a command, by name."""
    group: Any = get_command(app)
    context = group.make_context("hlteval", [command, task, "-h"], resilient_parsing=True)
    of_tasks = group.get_command(context, command)
    return {item.name: item.help for item in of_tasks.get_command(context, task).params}


def test_a_request_does_not_change() -> None:
    request = Request("hub4", "a.tpl", "b.tpl")
    with pytest.raises(FrozenInstanceError):
        request.lenient = True  # type: ignore[misc]
    assert replace(request, lenient=True) != request


def test_other_processes_get_the_same_request() -> None:
    request = Request("hub4", "a.tpl", options={"beta": 2}, intervals=Intervals(10, seed=3))
    assert pickle.loads(pickle.dumps(request)) == request


@pytest.mark.parametrize(
    ("given", "repeatable"),
    [
        ({"system": "-"}, False),
        ({"system": "runs", "against": "-"}, False),
        ({"system": "runs", "reference": "gold"}, True),
        ({"system": "runs", "options": {"sentences": ["a", "-"]}}, False),
        ({"system": as_path("system", StringIO("x"))}, False),
    ],
)
def test_standard_input_and_what_is_in_memory_are_read_once(
    given: dict[str, Any], repeatable: bool
) -> None:
    assert Request("lorehlt-sf", **given).repeatable is repeatable


@pytest.mark.parametrize("name", OPTIONS)
def test_commands_have_the_help_of_the_request(name: str) -> None:
    commands = ("validate", "score")
    texts = [options_of(command, "hub4") for command in commands]
    own = {text for each in texts for option, text in each.items() if option in {name, "role"}}
    assert OPTIONS[name]["help"] in own


@pytest.mark.parametrize("name", get_args(Command))
def test_python_has_the_defaults_and_values_of_the_request(name: str) -> None:
    own = signature(Request).parameters
    ours = [
        parameter
        for parameter in signature(getattr(hlteval, name), eval_str=True).parameters.values()
        if parameter.name in OPTIONS and parameter.name != "reference"
    ]
    assert [each.default for each in ours] == [own[each.name].default for each in ours]
    chosen = [
        (get_args(each.annotation), OPTIONS[each.name]["choices"])
        for each in ours
        if get_origin(each.annotation) is Literal and "choices" in OPTIONS[each.name]
    ]
    assert [[*values] for values, _ in chosen] == [choices for _, choices in chosen]


def test_files_of_defaults_have_the_keys_and_values_of_the_request() -> None:
    definitions = json.loads((GRAMMARS / "config.schema.json").read_text("utf-8"))["definitions"]
    properties = definitions["config"]["properties"]
    assert properties["profile"]["enum"] == OPTIONS["profile"]["choices"]
    assert definitions["level"]["enum"] == OPTIONS["fail_on"]["choices"]
    others = {"select", "ignore", "severity", "tasks"}
    fields = {name.replace("_", "-") for name in signature(Request).parameters}
    assert properties.keys() <= fields | others
