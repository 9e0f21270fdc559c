"""Options that a command would ignore are refused, with what they need or where they belong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from hlteval.cli.commands import Command
from hlteval.tasks import load, task_names
from hlteval.tasks.options import check_effect
from hlteval.tasks.task import Option, Task, WrongOption

Run = Callable[..., Any]
TEMPLATES = Path(__file__).parents[2] / "fixtures" / "hub4" / "valid" / "reference.tpl"


def commands(task: Task) -> Iterator[Command]:
    return (c for c in get_args(Command) if c in {"pack", "validate"} or task.metric)


def line(command: str, task: str) -> list[object]:
    given: dict[str, list[object]] = {
        "validate": ["absent"],
        "score": ["-r", "absent", "-s", "absent"],
        "compare": ["-r", "absent", "absent"],
        "leaderboard": ["-r", "absent", "absent"],
        "agreement": ["absent", "absent"],
        "pack": ["absent", "-o", "out.tgz"],
        "platform": ["absent", "out"],
    }
    return [command, task, *given[command]]


def written(option: Option) -> list[str]:
    return [f"--{option.flag}", *([] if option.switch else [(*option.choices, "x")[0]])]


def every(available: bool) -> list[tuple[str, str, Option]]:
    return [
        (command, name, option)
        for name in task_names()
        for command in commands(load(name))
        for option in load(name).options
        if option.available_in(command) is available
        if option.key != "metric" or command not in {"compare", "leaderboard"}  # of their own
    ]


def named(value: object) -> str:
    """The name of a command, a task or an option."""
    return value.name if isinstance(value, Option) else str(value)


@pytest.mark.parametrize("task", task_names())
def test_an_option_of_another_command_is_refused_with_where_it_belongs(
    invoke: Run, task: str
) -> None:
    helps = {name: invoke(name, task, "--help").stdout.split() for name in commands(load(task))}
    for command, _, option in (row for row in every(available=False) if row[1] == task):
        result = invoke(*line(command, task), *written(option))
        assert result.exit_code == 2
        homes = [home for home in option.commands if f"`hlteval {home} {task}`" in result.stderr]
        assert homes == list(option.commands), (command, option.flag)
        assert command not in homes
        assert f"--{option.flag}" not in helps[command]


@pytest.mark.parametrize(
    ("command", "task", "option"),
    [row for row in every(available=True) if row[2].needs_any.get(row[0])],
    ids=named,
)
def test_an_option_is_refused_without_what_it_needs(
    invoke: Run, command: str, task: str, option: Option
) -> None:
    result = invoke(*line(command, task), *written(option))
    assert result.exit_code == 2
    assert f"--{option.flag} has no effect without --" in result.stderr
    needed = option.needs_any[command]
    for name in needed:
        check_effect(load(task), command, {option.name}, {name})


def test_what_options_need_exists() -> None:
    for name in task_names():
        names = {option.name for option in load(name).options} | {"against"}
        for option in load(name).options:
            assert option.needs_any.keys() <= set(get_args(Command))
            for needed in option.needs_any.values():
                assert set(needed) <= names


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("score", "--seed", "3"), "--seed has no effect without --bootstrap"),
        (("score", "--confidence", "0.9"), "--confidence has no effect without --bootstrap"),
        (("score", "--seed", "3", "--bootstrap", "0"), "--seed has no effect without --bootstrap"),
    ],
)
def test_common_options_without_effect_are_refused(
    invoke: Run, given: tuple[str, ...], reason: str
) -> None:
    command, *options = given
    result = invoke(*line(command, "hub4"), *options)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_the_lowest_severity_that_fails_is_refused_in_the_profile_official(invoke: Run) -> None:
    given = ("--profile", "official", "--fail-on", "warning")
    result = invoke(*line("validate", "seedev-full"), *given)
    assert result.exit_code == 2
    assert "--fail-on has no effect with --profile official" in result.stderr


def test_common_options_are_accepted_where_they_have_an_effect(invoke: Run, tmp_path: Path) -> None:
    given = ("score", "hub4", "-r", TEMPLATES, "-s", TEMPLATES, "--bootstrap", 2)
    assert invoke(*given, "--seed", 0, "--confidence", 0.9).exit_code == 0
    file = tmp_path / "out.txt"
    given = ("validate", "hub4", TEMPLATES, "--format", "json", "--output-file", f"text={file}")
    assert invoke(*given, "--max-findings", 1).exit_code < 2


def test_what_compare_is_short_for_is_its_metric(invoke: Run) -> None:
    given = ("compare", "hub4", "-r", TEMPLATES, TEMPLATES, "--bootstrap", 2, "-m")
    assert "hub4, profile plan: content.f" in invoke(*given, "content.f").stdout
    assert "hub4, profile plan: content.f" in invoke(*given, "content").stdout
    result = invoke(*given, "contents")
    assert result.exit_code == 2
    assert "unknown metric contents of hub4" in result.stderr


def test_tables_that_nothing_shows_are_refused() -> None:
    task = load("lorehlt-edl")
    with pytest.raises(WrongOption, match="--texts has no effect without -o, --report or JSON"):
        check_effect(task, "score", ["texts"])
    check_effect(task, "score", ["texts"], ["tables"])


def test_an_option_of_a_file_satisfies_another(invoke: Run, tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text("noisy = true\n", "utf-8")
    given = ("score", "hub4", "-r", TEMPLATES, "-s", TEMPLATES, "--fillers", "um")
    assert invoke(*given).exit_code == 2
    assert invoke(*given, "--options", file).exit_code == 0
