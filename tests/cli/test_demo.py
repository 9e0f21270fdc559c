"""`hlteval demo`: the main job, shown on files that come with the package."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def shown(invoke: Run, tmp_path: Path) -> str:
    result = invoke("demo", tmp_path / "demo")
    assert result.exit_code == 0
    return str(result.stdout)


def commands(shown: str) -> list[list[str]]:
    return [shlex.split(line[2:]) for line in shown.splitlines() if line.startswith("$ ")]


def test_it_checks_explains_scores_and_converts_and_each_command_can_be_typed(
    shown: str, invoke: Run, tmp_path: Path
) -> None:
    assert [command[:2] for command in commands(shown)] == [
        ["hlteval", "validate"],
        ["hlteval", "explain"],
        ["hlteval", "score"],
        ["hlteval", "score"],
        ["hlteval", "validate"],
        ["hlteval", "score"],
        ["hlteval", "convert"],
    ]
    assert "error[" in shown
    assert "fail: " in shown
    assert "profile official" in shown
    assert (tmp_path / "demo" / "scores" / "scores.json").is_file()
    assert (tmp_path / "demo" / "system.jsonl").is_file()
    for command in commands(shown):
        result = invoke(*command[1:])
        assert result.exit_code == (1 if command[1] == "validate" else 0)
        assert result.stdout in shown


def test_it_may_be_run_again_and_overwrites_nothing(
    shown: str, invoke: Run, tmp_path: Path
) -> None:
    file = tmp_path / "demo" / "system" / "demo-1.a2"
    file.write_text(file.read_text("utf-8").splitlines(keepends=True)[0], "utf-8")
    again = invoke("demo", tmp_path / "demo")
    assert again.exit_code == 0
    assert again.stdout != shown
    assert file.read_text("utf-8").count("\n") == 1


def test_a_file_in_its_place_is_told(invoke: Run, tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("mine")
    result = invoke("demo", tmp_path / "demo")
    assert result.exit_code == 2
    assert (tmp_path / "demo").read_text() == "mine"


def test_a_folder_with_brackets_and_blanks(invoke: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a [bold] folder"
    result = invoke("demo", folder)
    assert result.exit_code == 0
    assert f"'{folder}/flawed'" in result.stdout


def test_as_a_program(program: Run, tmp_path: Path) -> None:
    done = program("hlteval demo demo > shown; echo $?", tmp_path)
    assert (done.stdout, done.stderr) == ("0\n", "")
    assert "$ hlteval validate seedev-full demo/flawed" in (tmp_path / "shown").read_text("utf-8")
