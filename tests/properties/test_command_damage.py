"""Damage to the inputs, paths and outputs of commands; see `fuzz/commands.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import commands

TRIALS = 48
"""Eight of each command; `python -m fuzz.commands` makes a thousand."""


def made(number: int, folder: Path) -> commands.Trial:
    """A trial in a folder of its own."""
    folder.mkdir()
    return commands.generate(number, folder)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("number", [*range(TRIALS), 1563])
def test_a_command_answers_and_harms_no_file(number: int, tmp_path: Path) -> None:
    trial = made(number, tmp_path / "one")
    reason = commands.run(trial, tmp_path / "one")
    assert not reason, f"{trial}\n{reason}"


def test_trials_depend_on_their_number_alone(tmp_path: Path) -> None:
    assert made(7, tmp_path / "one") == made(7, tmp_path / "same")
    assert commands.content(tmp_path / "one") == commands.content(tmp_path / "same")


def test_an_exception_and_a_changed_input_are_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail."""
    made(0, tmp_path / "one")
    line = commands.LINES["compare"][1].split()
    words = ["compare", *line, "--output-file", "json=comparison/bold.tpl"]
    trial = commands.Trial(words, ["comparison/bold.tpl"], [])
    assert not commands.run(trial, tmp_path / "one")
    monkeypatch.setattr("hlteval.cli.output.check_inputs_stay", lambda *_: None)
    assert "changed ['comparison/bold.tpl']" in commands.run(trial, tmp_path / "one")
    monkeypatch.setattr("hlteval.workflows.compare.comparison.compare", lambda *_, **__: 1 // 0)
    assert "ZeroDivisionError" in commands.run(trial, tmp_path / "one")
