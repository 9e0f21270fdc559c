"""Completion of names, as shells ask for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from hlteval import converters, tasks
from hlteval.cli.app import app
from hlteval.findings import catalogue

VARIABLE = "_HLTEVAL_COMPLETE"
SCORED = [name for name in tasks.BUILTIN if tasks.load(name).metric]


def answer(line: str, **more: str) -> str:
    """What the program prints for a shell with a command line."""
    env = {"_TYPER_COMPLETE_ARGS": line, **more}
    return CliRunner().invoke(app, [], prog_name="hlteval", env=env).stdout


def completed(line: str) -> list[str]:
    """The words that bash offers for the last word of a line."""
    words = line.split(" ")
    number = str(len(words) - 1)
    env = {VARIABLE: "complete_bash", "COMP_WORDS": line, "COMP_CWORD": number}
    return answer(line, **env).split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hlteval expl", ["explain"]),
        ("hlteval validate ", list(tasks.BUILTIN)),
        ("hlteval score ", SCORED),
        ("hlteval score lorehlt-s", ["lorehlt-sf"]),
        ("hlteval tasks hub", ["hub4"]),
        ("hlteval pipeline . --task hub", ["hub4"]),
        ("hlteval verify x --task hub", ["hub4"]),
        ("hlteval convert --from ", list(converters.BUILTIN)),
        ("hlteval convert --to rs", ["rsd"]),
        ("hlteval convert --set off", ["offsets="]),
        ("hlteval compare seedev-full -m ", list(tasks.load("seedev-full").metrics)),
        ("hlteval score hub4 --mode ", ["content", "extent", "both", "all"]),
        ("hlteval score hub4 --profile o", ["official"]),
        ("hlteval explain STD30", [code for code in catalogue() if code.startswith("STD30")]),
        ("hlteval validate hub4 --ignore HUB2,STD10", [
            f"HUB2,{code}" for code in catalogue() if code.startswith("STD10")
        ]),
        ("hlteval validate hub4 --severity SRC201=", [
            f"SRC201={level}" for level in ("error", "warning", "info")
        ]),
        ("hlteval validate hub4 --by", ["--by-folder"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_names_are_completed(line: str, words: list[str]) -> None:
    assert completed(line) == words


def test_every_code_is_completed() -> None:
    assert set(completed("hlteval explain ")) == set(catalogue())


def test_zsh_and_fish_show_what_a_name_means() -> None:
    line, title = "hlteval score hub", tasks.load("hub4").title
    assert f'"hub4":"{title.partition(":")[0]}' in answer(line, **{VARIABLE: "complete_zsh"})
    fish = answer(
        line, **{VARIABLE: "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    ).split("\t")
    assert fish == ["hub4", f"{title}\n"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell: str) -> None:
    assert f"{VARIABLE}=" in answer("", **{VARIABLE: f"source_{shell}"}) or shell == "fish"
    assert "hlteval" in answer("", **{VARIABLE: f"source_{shell}"})


def test_completion_imports_no_heavy_library() -> None:
    code = "import runpy, sys\ntry:\n runpy.run_module('hlteval', run_name='__main__')\n"
    code += "except SystemExit:\n sys.stderr.write(' '.join(sys.modules))"
    env = {VARIABLE: "complete_bash", "COMP_WORDS": "hlteval validate ", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == list(tasks.BUILTIN)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & {"polars", "numpy", "scipy", "lxml", "lark", "jsonschema", "jsonschema_rs"}
