"""The mode of HUB-4 selects the metric that ranks, in score and in compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

VALID = Path(__file__).parents[3] / "fixtures" / "hub4" / "valid"
SYSTEM, REFERENCE = (VALID / name for name in ("system.tpl", "reference.tpl"))


@pytest.mark.parametrize("mode", ["content", "extent", "both"])
def test_the_primary_metric_follows_the_mode(invoke, mode: str) -> None:
    run = ("score", "hub4", "-r", REFERENCE, "-s", SYSTEM, "--mode", mode)
    scores = json.loads(invoke(*run, "--format", "json").stdout)
    assert scores["primary"] == f"{mode}.f"
    assert scores["metrics"][f"{mode}.f"] is not None
    assert f"{mode}.f" in invoke(*run).stdout.splitlines()[1]


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    other = tmp_path / "other.tpl"
    other.write_text(SYSTEM.read_text("utf-8").replace('"Cairo" ##47#52#', '"air" ##47#52#'))
    return SYSTEM, other


def test_systems_are_compared_in_a_mode(invoke, two, tmp_path: Path) -> None:
    result = invoke(
        "compare", "hub4", "-r", REFERENCE, *two, "--mode", "content", "--format", "json"
    )
    assert result.exit_code == 0
    assert json.loads(result.stdout)["metric"] == "content.f"
    options = tmp_path / "options.toml"
    options.write_text('mode = "extent"\n', "utf-8")
    run = ("compare", "hub4", "-r", REFERENCE, *two, "--options", options, "--format", "json")
    assert json.loads(invoke(*run).stdout)["metric"] == "extent.f"


def test_a_metric_of_another_mode_is_an_error_of_usage(invoke, two) -> None:
    run = ("compare", "hub4", "-r", REFERENCE, *two, "--mode", "content", "-m", "both.f")
    result = invoke(*run)
    assert result.exit_code == 2
    assert "both.f is not computed" in result.stderr
