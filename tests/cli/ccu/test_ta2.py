"""CCU TA2 on the command line: scored without a reference, compared and verified."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

FIXTURES = Path(__file__).parents[3] / "fixtures"
Invoke = Callable[..., Result]

RESPONSES = FIXTURES / "ccu-ta2/valid/responses.tsv"


def test_a_file_is_scored_without_a_reference(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("score", "ccu-ta2", "-s", RESPONSES, "-o", tmp_path / "out")
    assert result.exit_code == 0
    scores = json.loads((tmp_path / "out/scores.json").read_text("utf-8"))
    assert scores["metrics"]["baseline.agreement"] == 10 / 36
    assert scores["metrics"]["operation_1.agreement_over_baseline"] == 10 / 18 - 10 / 36
    assert "|reference:" not in scores["signature"]
    again = invoke("score", "ccu-ta2", "-s", "-", stdin=RESPONSES.read_bytes())
    assert again.stdout == result.stdout
    verified = invoke("verify", tmp_path / "out/scores.json", "-r", RESPONSES, "-s", RESPONSES)
    assert verified.exit_code == 0
    assert "18 numbers" in verified.stdout


def test_a_reference_is_refused_with_a_reason(invoke: Invoke) -> None:
    other = FIXTURES / "ccu-ta2/invalid/CCA203-six.tsv"
    for command in (
        ["score", "ccu-ta2", "-r", other, "-s", RESPONSES],
        ["compare", "ccu-ta2", "-r", other, RESPONSES, RESPONSES],
        ["validate", "ccu-ta2", RESPONSES, "--against", other],
    ):
        result = invoke(*command)
        assert result.exit_code == 2
        assert "ccu-ta2 has no reference" in result.stderr
    assert "--reference" not in invoke("score", "ccu-ta2", "-h").stdout
    assert "--reference" in invoke("score", "hub4", "-h").stdout


def test_other_tasks_need_their_reference(invoke: Invoke) -> None:
    result = invoke("score", "hub4", "-s", FIXTURES / "hub4/valid/system.tpl")
    assert result.exit_code == 2
    assert "--reference" in result.stderr


def test_what_blocks_names_a_command_without_a_reference(invoke: Invoke) -> None:
    result = invoke("score", "ccu-ta2", "-s", FIXTURES / "ccu-ta2/invalid/CCA208-number.tsv")
    assert result.exit_code == 1
    assert "--against" not in result.output
    assert "pass --scale N" in result.output


def test_submissions_are_compared_without_a_reference(invoke: Invoke, tmp_path: Path) -> None:
    better = tmp_path / "better.tsv"
    better.write_text(RESPONSES.read_text("utf-8").replace("Somewhat", "Completely"), "utf-8")
    result = invoke("compare", "ccu-ta2", RESPONSES, better, "--bootstrap", "20")
    assert result.exit_code == 0
    assert "better" in result.stdout
