"""The page of options has every command and option that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from docs.make.option_page import COMMANDS, PER_TASK, option_page
from hlteval import tasks
from hlteval.cli import evaluation as manifest
from hlteval.cli.app import app

DOCS = Path(__file__).parents[3] / "docs"
TASK = "lorehlt-edl"


def test_the_committed_page_is_up_to_date(golden):
    golden(DOCS / "options.md", option_page())


def test_every_command_is_told():
    registered = {item.name for item in (*app.registered_commands, *app.registered_groups)}
    assert registered == {name.partition(" ")[0] for name in COMMANDS}
    assert {group.name for group in app.registered_groups} == {*PER_TASK, "manifest"}
    of_manifests = {f"manifest {item.name}" for item in manifest.app.registered_commands}
    assert of_manifests == {name for name in COMMANDS if name.startswith("manifest ")}
    headings = re.findall(r"^## ([\w -]+)$", option_page(), re.M)
    assert [name for name in headings if name in COMMANDS] == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_the_options_that_its_help_tells(command: str) -> None:
    arguments = [*command.split(), *([TASK] if command in PER_TASK else []), "--help"]
    shown = CliRunner().invoke(app, arguments, terminal_width=200).stdout
    own = {option.flag for option in tasks.load(TASK).options}
    helped = set(re.findall(r"--([a-z][a-z-]*)", shown)) - {"help"}
    page = option_page().split(f"\n## {command}\n")[1].partition("\n## ")[0]
    cells = re.findall(r"^\| `([^`]*)`", page, re.M)
    told = {name for cell in cells for name in re.findall(r"--([a-z][a-z-]*)", cell)}
    assert told <= helped
    assert helped - told <= (own if command in PER_TASK else set())


@pytest.mark.parametrize("name", tasks.BUILTIN)
def test_the_options_of_every_task_are_told(name: str) -> None:
    task = tasks.load(name)
    _, heading, page = option_page().partition(f"\n### {name}\n")
    assert bool(heading) == bool(task.options)
    told = re.findall(r"^\| `[^`]*--([a-z-]+)", page.partition("\n### ")[0], re.M)
    assert told == [option.flag for option in task.options]
