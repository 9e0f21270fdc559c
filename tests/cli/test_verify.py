"""`hlteval verify`: parts, numbers, the task's own options and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
DEMO = Path(__file__).parents[2] / "hlteval" / "demo" / "entities"
SIDES = ("-r", DEMO / "reference.tab", "-s", DEMO / "system.tab")


@pytest.fixture
def zones(tmp_path: Path) -> Path:
    """A file that an option names."""
    path = tmp_path / "zones.tsv"
    path.write_text("ENG_D1\t0\t1\n", "utf-8")
    return path


@pytest.fixture
def scores(invoke: Run, zones: Path) -> str:
    """Scores in JSON."""
    given = ("score", "lorehlt-edl", *SIDES, "-m", "muc", "--exclude", zones, "--format", "json")
    return str(invoke(*given).stdout)


@pytest.fixture
def signature(scores: str) -> str:
    return str(json.loads(scores)["signature"])


def test_the_parts_are_listed_each_with_its_outcome(
    invoke: Run, signature: str, zones: Path
) -> None:
    result = invoke("verify", signature, *SIDES, "--exclude", zones, "--profile", "plan")
    assert result.exit_code == 0
    *lines, last = result.stdout.splitlines()
    found = [line.split()[:2] for line in lines if not line.startswith("not")]
    assert found == [["same", n] for n in ("hlteval", "profile", "reference", "system", "exclude")]
    rest = "taken from the signature; use --metric to compare yours"
    assert f"not checked  measure    muc, {rest}" in lines
    assert last == "same: 5 parts, 3 not checked"


def test_a_part_that_differs_is_exit_code_1(invoke: Run, signature: str, zones: Path) -> None:
    zones.write_text("ENG_D1\t0\t2\n", "utf-8")
    result = invoke("verify", signature, *SIDES, "--exclude", zones, "-m", "b_cubed")
    assert result.exit_code == 1
    assert "differs      measure    expected muc, found b_cubed\n" in result.stdout
    assert result.stdout.splitlines()[-1] == "differs: measure, exclude"
    found = json.loads(
        invoke("verify", signature, *SIDES, "--exclude", zones, "--format", "json").stdout
    )
    assert (found["verdict"], found["differing"]) == ("differs", ["exclude"])
    (part,) = (part for part in found["parts"] if part["name"] == "exclude")
    assert part["expected"] != part["found"]


def test_scores_on_standard_input_are_computed_again(invoke: Run, scores: str, zones: Path) -> None:
    given = ("verify", "-", *SIDES, "--exclude", zones)
    result = invoke(*given, stdin=scores.encode())
    assert result.exit_code == 0
    numbers = len(json.loads(scores)["metrics"])
    assert result.stdout.splitlines()[-1] == f"same: 4 parts and {numbers} numbers, 4 not checked"
    changed = json.loads(scores)
    name = next(name for name, value in changed["metrics"].items() if value is not None)
    changed["metrics"][name] += 1e-15
    result = invoke(*given, stdin=json.dumps(changed).encode())
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == f"differs: {name}"


def test_without_the_files_of_options_numbers_are_not_compared(invoke: Run, scores: str) -> None:
    result = invoke("verify", "-", *SIDES, stdin=scores.encode())
    assert result.exit_code == 0
    assert "not checked  numbers    exclude was not checked\n" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hlteval:0.1.0|task:hub5", *SIDES), "unknown task hub5; did you mean hub4"),
        (("nonsense", *SIDES), "nonsense is neither a signature"),
        (("-", "-r", "-", "-s", "x"), "standard input can be read only once"),
        (("hlteval:0.1.0|task:hub4", "-r", "nowhere", "-s", "x"), "no such file or folder"),
        (("/dev/zero", *SIDES), "/dev/zero is neither a signature"),
        (("/proc/self/mem", *SIDES), "/proc/self/mem is neither a signature"),
        (("hlteval:0.1.0|task:hub4", *SIDES, "--modes", "all"), "--mode"),
        (("hlteval:0.1.0|task:hub4", *SIDES, "--mode", "al"), "invalid value al of --mode"),
        (("hlteval:0.1.0|task:hub4", *SIDES, "more"), "more"),
        (("hlteval:0.1.0|task:hub4", *SIDES, "--encoding", "utf9"), "unknown encoding utf9"),
    ],
)
def test_errors_of_usage(invoke: Run, arguments: tuple[object, ...], message: str) -> None:
    given = ("verify", *arguments)
    result = invoke(*given, stdin=b"hlteval:0.1.0|task:hub4|profile:plan\n")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
