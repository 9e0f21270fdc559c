"""`hlteval tasks`, `formats`, `explain`, and the program as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hlteval import __version__, converters, tasks
from hlteval.findings import catalogue
from tests.effort import codes_by_family

Run = Callable[..., Any]
COMMANDS = (
    "validate",
    "convert",
    "score",
    "leaderboard",
    "pipeline",
    "tasks",
    "formats",
    "explain",
    "demo",
)


def test_tasks_are_listed(invoke: Run) -> None:
    result = invoke("tasks")
    assert (result.exit_code, result.stderr) == (0, "")
    words = result.stdout.split()
    for name in tasks.BUILTIN:
        assert name in words
    assert {"plan", "official", "standoff"} <= set(words)


@pytest.mark.parametrize("name", tasks.BUILTIN)
def test_the_metrics_and_options_of_a_task_are_explained(name: str, invoke: Run) -> None:
    result, task = invoke("tasks", name), tasks.load(name)
    assert (result.exit_code, result.stderr) == (0, "")
    assert max(map(len, result.stdout.splitlines())) <= 80
    words, lines = result.stdout.split(), result.stdout.splitlines()
    known = (*task.measures, *task.statistics)
    for each in known:
        assert [line for line in lines if line.split()[:1] == [each.name]], each.name
        assert set(each.meaning.split()) <= set(words), each.name
    for option in task.options:
        assert f"--{option.flag}" in words
        assert set(option.help.split()) <= set(words), option.name
    for metric in task.primary.values():
        assert f"{metric} (primary" in result.stdout


def test_the_explanation_of_a_task_is_grouped(invoke: Run) -> None:
    lines = invoke("tasks", "coreference").stdout.splitlines()
    titles = [line for line in lines if line in {"Measures", "Statistics", "Metrics", "Options"}]
    assert titles == ["Measures", "Statistics", "Options"]
    assert lines[2] == "Metrics are named MEASURE.STATISTIC: conll_average.f1 (primary)"
    text = invoke("tasks", "seedev-full").stdout
    assert "  ser (primary, profile official)\n" in text
    assert (
        "  insertions                  Unpaired predicted events: false positives. Lower\n" in text
    )


@pytest.mark.parametrize("command", ["validate", "convert", "score", "compare", "explain"])
def test_help_names_values_and_not_types(command: str, invoke: Run) -> None:
    task = [] if command in {"convert", "explain"} else ["hub4"]
    text = invoke(command, *task, "--help").stdout
    assert "  -h, --help" in text
    assert not re.findall(r"<[a-z \[\]]+>", text)


def test_an_unknown_task_is_told(invoke: Run) -> None:
    result = invoke("tasks", "nope")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "unknown task nope" in result.stderr
    assert "did you mean hub4?" in invoke("tasks", "hub3").stderr


def test_formats_are_listed(invoke: Run) -> None:
    result = invoke("formats")
    assert (result.exit_code, result.stderr) == (0, "")
    for name in converters.BUILTIN:
        line = next(line for line in result.stdout.splitlines() if line.startswith(f"{name} "))
        form = converters.load(name)
        able = ["yes" if has else "-" for has in (form.reads, form.write)]
        assert line.split()[1:3] == able


def test_the_format_of_a_file_is_told(invoke: Run, tmp_path: Path) -> None:
    fixture = Path(__file__).parents[2] / "fixtures/pubtator/invalid/PBT202-utf16.pubtator"
    result = invoke("formats", fixture)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "pubtator, as no other format accepts it" in " ".join(result.stdout.split())
    assert "3 of 3 spans need it" in result.stdout
    result = invoke("formats", "-", stdin=fixture.read_bytes())
    assert (result.exit_code, result.stdout[:11]) == (0, "-: pubtator")
    nothing = tmp_path / "x"
    nothing.write_text("some words, and others", "utf-8")
    result = invoke("formats", nothing, "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["schema"], found["format"], found["candidates"]) == ("detection", "", [])
    assert "matches no known format" in found["reason"]
    assert invoke("formats", nothing, "--wide").exit_code == 2
    assert invoke("formats", tmp_path / "absent").exit_code == 2


@pytest.mark.parametrize("family", codes_by_family())
def test_every_code_is_explained(family: str, invoke: Run) -> None:
    for code in codes_by_family()[family]:
        result = invoke("explain", code)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.startswith(f"{code}: {catalogue()[code].title}\n")
        assert "Why\n" in result.stdout
        assert "Fix\n" in result.stdout
        sentences = re.split(r"\n(?:Wrong|Right)\n", result.stdout)[0]  # examples are not broken
        assert max(map(len, sentences.splitlines())) <= 88, code


def test_a_code_may_be_in_small_letters(invoke: Run) -> None:
    assert invoke("explain", "std302").stdout == invoke("explain", "STD302").stdout


def test_an_unknown_code_is_told(invoke: Run) -> None:
    result = invoke("explain", "STD999")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "unknown code STD999" in result.stderr
    assert "codes start with" in invoke("explain", "nothing").stderr


def test_letters_list_their_codes(invoke: Run) -> None:
    lines = invoke("explain", "std").stdout.splitlines()[1:]
    listed = [code for code in catalogue() if code.startswith("STD")]
    assert [line.split()[0] for line in lines] == listed


def test_version_and_help(invoke: Run) -> None:
    assert invoke("--version").stdout == f"hlteval {__version__}\n"
    for option in ("--help", "-h"):
        result = invoke(option)
        assert result.exit_code == 0
        assert all(command in result.stdout for command in COMMANDS)


@pytest.mark.parametrize(
    "command", ["", "score hub4", "compare hub4", "validate hub4", "convert", "score lorehlt-edl"]
)
def test_a_switch_takes_no_value_in_help(command: str, invoke: Run) -> None:
    shown = invoke(*command.split(), "--help").stdout
    assert "--" in shown
    assert "bool" not in shown.lower()


@pytest.mark.parametrize("task", tasks.BUILTIN)
def test_the_help_of_a_task_has_its_own_options(
    task: str, invoke: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # where less fits, long names are cut
    declared = tasks.load(task)
    assert (f" {task} " in invoke("score", "--help").stdout) == (declared.metric is not None)
    told = ""
    for command in ("validate", "score") if declared.metric else ("validate",):
        told = invoke(command, task, "--help").stdout
        assert declared.title.split(":")[0] in told
        for option in declared.options:
            assert (f"--{option.flag}" in told) or command not in option.commands
    with_sentences = {"seedev-binary", "bb19-rel", "bb19-rel-ner", "bb16-event"}
    assert ("--sentences" in told) == (task in with_sentences)


def test_an_unknown_command_is_told(invoke: Run) -> None:
    result = invoke("scroe")
    assert result.exit_code == 2
    assert "scroe" in result.stderr


def test_as_a_program(program: Run, tmp_path: Path) -> None:
    done = program("hlteval --version; hlteval explain STD101 | head -1", tmp_path)
    assert done.stdout.startswith(f"hlteval {__version__}\nSTD101: ")
    assert done.stderr == ""
