"""Options that take one value are given once, in every command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
DEMO = Path(__file__).parents[2] / "hlteval" / "demo" / "comparison"
REFERENCE, CAREFUL, BOLD = (DEMO / f"{name}.tpl" for name in ("reference", "careful", "bold"))


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("score", "hub4", "-r", "r.tpl", "-s", "a.tpl", "-s", "b.tpl"), "'-s' / '--system'"),
        (("score", "hub4", "-s", "a.tpl", "-r", "r.tpl", "--reference", "q.tpl"), "'--reference'"),
        (("score", "hub4", "--mode", "both", "-r", "r", "-s", "s", "--mode", "text"), "'--mode'"),
        (("validate", "--profile", "plan", "hub4", "a.tpl", "--profile", "plan"), "'--profile'"),
        (("compare", "hub4", "a", "b", "-r", "r", "--seed", 1, "--seed", 2), "'--seed'"),
        (("leaderboard", "hub4", "a", "-r", "r", "--names", "x", "--names", "y"), "'--names'"),
        (("agreement", "hub4", "a", "b", "--seed", 1, "--seed", 1), "'--seed'"),
        (("pack", "hub4", "a", "-o", "x.tgz", "-o", "y.tgz"), "'-o'"),
        (("convert", "a", "b", "--to", "jsonl", "--to", "corpus"), "'--to'"),
        (("inspect", "a", "--format", "json", "--format", "text"), "'--format'"),
        (("pipeline", "root", "-r", "a", "-r", "b"), "'-r'"),
        (("campaign", "m.toml", "-o", "a", "-o", "b"), "'-o'"),
        (("manifest", "check", "m.toml", "--format", "json", "--format", "text"), "'--format'"),
        (("tasks", "--format", "json", "--format", "text"), "'--format'"),
        (("explain", "SEE101", "--format", "json", "--format", "json"), "'--format'"),
        (("serve", "hub4", "--port", 1, "--port", 2), "'--port'"),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_an_option_of_one_value_that_is_repeated_is_an_error_of_usage(
    invoke: Run, words: tuple[Any, ...], option: str
) -> None:
    done = invoke(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    message = " ".join(done.stderr.replace("│", " ").split())
    assert "given 2 times, but it takes one value" in message
    assert option in message


def test_options_of_several_values_and_switches_are_repeated(invoke: Run, tmp_path: Path) -> None:
    files = [f"{form}={tmp_path / form}" for form in ("json", "tsv")]
    given = [word for file in files for word in ("--output-file", file)]
    done = invoke("score", "hub4", "-r", REFERENCE, "-s", CAREFUL, *given, "--wide", "--wide")
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["json", "tsv"]
