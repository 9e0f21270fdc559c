"""Damage to the environment and to files of options; see `fuzz/environment.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.environment import generate, run


@pytest.mark.sampled(12)
@pytest.mark.parametrize("number", [*range(8), 128, 136])
def test_a_damaged_environment_gives_a_report_and_leaves_nothing(
    number: int, tmp_path: Path
) -> None:
    trial = generate(number, tmp_path)
    assert not run(trial, tmp_path), trial


def test_trials_depend_on_their_number_alone(tmp_path: Path) -> None:
    for name in ("one", "same"):
        (tmp_path / name).mkdir()
    one, same = (generate(7, tmp_path / name) for name in ("one", "same"))
    words = [word.replace("/same/", "/one/") for word in same.command]
    assert one == same._replace(command=words)
