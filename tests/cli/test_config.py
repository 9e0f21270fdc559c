"""Files of defaults: each fixture raises its code at its place; what they give is never silent."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval
from hlteval.results.signature import Signature
from hlteval.workflows.config import find, read_config, start_of

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "config"
DEMO = ROOT / "hlteval" / "demo"

# Line, column and end column of the only finding.
PLACES = """
CFG101-no-quotes    1   8   8
CFG102-misspelt     2   1  11
CFG102-project      6   1   8
CFG103-one-code     1  10  18
CFG105-level        2  10  17
CFG105-profile      2  11  20
CFG106-hyphen       1   8  15
CFG107-exchanged    2  19  25
CFG107-severity     2   1   5
CFG108-misspelt     2  11  22
CFG108-option       4   7  16
CFG109-option       4   1   4
CFG109-picture      2  13  17
CFG109-profile      2  11  21
CFG109-value        4   8  17
CFG110-misspelt     1  12  20
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


def file_of(name: str) -> Path:
    return next((FIXTURES / "invalid" / name).iterdir())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fixture_raises_its_code_at_its_place_and_nothing_else(row: list[str]) -> None:
    name, *place = row
    (found,) = read_config(str(file_of(name))).findings
    assert found.code == name.partition("-")[0]
    assert found.span is not None
    assert [found.span.line, found.span.column, found.span.end_column] == list(map(int, place))
    assert "{" not in found.message + (found.help or "")


def test_every_fixture_has_its_place() -> None:
    assert {path.name for path in (FIXTURES / "invalid").iterdir()} == {row[0] for row in ROWS}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an evaluation, with defaults for all that is in it."""
    for name in ("reference", "system", "flawed"):
        shutil.copytree(DEMO / name, tmp_path / "runs" / name)
    monkeypatch.chdir(tmp_path)
    text = 'task = "seedev-full"\nreference = "runs/reference"\nagainst = "runs/reference"\n'
    (tmp_path / "hlteval.toml").write_text(f'{text}profile = "official"\nignore = ["STD"]\n')
    return tmp_path


def test_validate_takes_what_is_not_given_from_the_file(folder: Path, invoke: Run) -> None:
    with_file = invoke("validate", "runs/flawed", "--format", "json")
    words = ["--against", "runs/reference", "--profile", "official", "--ignore", "STD"]
    command = ["validate", "seedev-full", "runs/flawed", "--format", "json", "--defaults", "none"]
    without, shown = json.loads(invoke(*command, *words).stdout), json.loads(with_file.stdout)
    names = ["task", "against", "profile", "ignore"]
    assert shown.pop("defaults") == {"file": "hlteval.toml", "names": names}
    assert shown == without
    note = "note: defaults from hlteval.toml: task, against, profile, ignore\n"
    assert with_file.stderr == note


def test_the_command_line_wins(folder: Path, invoke: Run) -> None:
    words = ["seedev-full", "runs/flawed", "--profile", "plan", "--ignore", "SEE"]
    shown = json.loads(invoke("validate", *words, "--format", "json").stdout)
    assert shown["profile"] == "plan"
    assert {code[:3] for code in shown["counts"]["code"]} == {"STD"}
    assert shown["defaults"]["names"] == ["against"]


def test_scores_name_what_changed_them(folder: Path, invoke: Run) -> None:
    words = ["score", "-s", "runs/system", "--format", "json"]
    shown = json.loads(invoke(*words).stdout)
    given = ["seedev-full", "-r", "runs/reference", "--profile", "official", "--defaults", "none"]
    without = json.loads(invoke(*words, *given).stdout)
    assert shown["metrics"] == without["metrics"]
    assert shown["notes"] == [
        *without["notes"], "defaults from hlteval.toml: task, reference, profile"
    ]  # fmt: skip
    assert shown["signature"] == f"{without['signature']}|defaults:reference,profile"
    verified = invoke("verify", shown["signature"], "-r", "runs/reference", "-s", "runs/system")
    assert verified.exit_code == 0, verified.output


def test_compare_takes_defaults_too(folder: Path, invoke: Run) -> None:
    words = ["compare", "runs/system", "runs/reference", "--bootstrap", "9", "--format", "json"]
    shown = json.loads(invoke(*words).stdout)
    assert shown["profile"] == "official"
    assert "defaults from hlteval.toml: task, reference, profile" in shown["notes"]
    assert Signature.parse(shown["signature"]).values("defaults") == ["reference,profile"]


def test_a_refusal_names_the_file(folder: Path, invoke: Run) -> None:
    refused = invoke("score", "-s", "runs/flawed")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("note: defaults from hlteval.toml: task, reference, profile\n")


def test_options_of_the_task_reach_the_signature(tmp_path: Path, invoke: Run) -> None:
    run = shutil.copy(DEMO / "comparison" / "bold.tpl", tmp_path)
    for name in ("hlteval.toml", "reference.tpl"):
        shutil.copy(FIXTURES / "valid" / name, tmp_path)
    signature = Signature.parse(
        json.loads(invoke("score", "-s", run, "--format", "json").stdout)["signature"]
    )
    assert signature.values("mode") == ["both"]
    assert signature.values("beta") == ["2"]
    assert signature.values("premodifiers") == ["a,the"]
    names = "reference,mode,ignore_case,premodifiers,beta"
    assert signature.values("defaults") == [names]
    over = invoke("score", "-s", run, "--mode", "content", "--format", "json").stdout
    signature = Signature.parse(json.loads(over)["signature"])
    assert signature.values("mode") == ["content"]
    assert signature.values("defaults") == [names.replace("mode,", "")]


def test_nothing_inside_a_submission_changes_how_it_is_judged(folder: Path, invoke: Run) -> None:
    own = folder / "runs" / "flawed" / "hlteval.toml"
    shutil.copy(folder / "hlteval.toml", own)
    assert start_of("runs/flawed") == folder / "runs"
    assert find(start_of("runs/flawed")) == folder / "hlteval.toml"
    by_folder = invoke("validate", "--by-folder", "runs/flawed/demo-1.a2")
    assert "note: defaults from hlteval.toml: task," in by_folder.stderr


def test_a_file_with_errors_stops_the_command(folder: Path, invoke: Run) -> None:
    (folder / "hlteval.toml").write_text('task = "seedev-full"\nprofle = "plan"\n')
    for words in (["validate", "runs/flawed"], ["score", "seedev-full", "-s", "runs/system"]):
        result = invoke(*words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "hlteval.toml:2:1" in result.stderr
    assert invoke("validate", "seedev-full", "--help").exit_code == 0


def test_defaults_of_another_task_have_no_effect(folder: Path, invoke: Run) -> None:
    result = invoke(
        "validate", "hub4", DEMO / "comparison" / "bold.tpl", "--defaults", "hlteval.toml"
    )
    assert result.exit_code == 0
    note = "note: hlteval.toml has defaults for seedev-full only, not for hub4\n"
    assert result.stderr == note


def test_submissions_with_different_files_need_a_choice(folder: Path, invoke: Run) -> None:
    other = shutil.copytree(folder / "runs" / "system", folder / "other" / "system")
    (folder / "other" / "hlteval.toml").write_text('task = "seedev-full"\n')
    words = ["compare", "seedev-full", "-r", "runs/reference", "runs/system", other]
    refused = invoke(*words)
    assert refused.exit_code == 2
    assert "use --defaults FILE" in refused.stderr
    assert invoke(*words, "--defaults", "none", "--bootstrap", "9").exit_code == 0


def test_unusual_command_lines(folder: Path, invoke: Run) -> None:
    assert "unknown task" in invoke("validate", "nope", "--defaults", "none").stderr
    assert "no such file" in invoke("validate", "hub4", "x", "--defaults", "absent.toml").stderr
    assert invoke("validate", "hub4").exit_code == 2
    attached = invoke("score", "-sruns/system")
    assert attached.exit_code == 0, attached.stderr


def test_config_shows_the_file(folder: Path, invoke: Run) -> None:
    shown = invoke("config", "runs/flawed")
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[:2] == ["hlteval.toml", "  task       seedev-full"]
    read = json.loads(invoke("config", "--format", "json").stdout)
    assert read["file"] == "hlteval.toml"
    assert read["defaults"]["ignore"] == ["STD"]
    wrong = invoke("config", file_of("CFG108-misspelt"))
    assert wrong.exit_code == 1
    assert "error[CFG108]" in wrong.stderr
    assert invoke("config", "absent").exit_code == 2


def test_without_a_file_config_says_so(tmp_path: Path, invoke: Run) -> None:
    assert invoke("config", tmp_path).stdout == "no file of defaults applies\n"


def test_python_takes_a_file_that_is_named_and_looks_for_none(folder: Path) -> None:
    plain = hlteval.validate("seedev-full", "runs/flawed", against="runs/reference")
    assert plain.defaults is None
    verdict = hlteval.validate("seedev-full", "runs/flawed", defaults="hlteval.toml")
    assert verdict.defaults is not None
    assert verdict.defaults.names == ("against", "profile", "ignore")
    assert verdict.profile == "official"
    assert not any(code.startswith("STD") for code in verdict.by_code)
    own = hlteval.validate("seedev-full", "runs/flawed", defaults="hlteval.toml", profile="plan")
    assert own.profile == "plan"
    scores = hlteval.score("seedev-full", "runs/reference", "runs/system", defaults="hlteval.toml")
    assert (scores.profile, scores.signature.rpartition("|")[2]) == ("official", "defaults:profile")
    with pytest.raises(hlteval.WrongArgument, match="defaults for seedev-full, not for hub4"):
        hlteval.validate("hub4", "x.tpl", defaults="hlteval.toml")
    (folder / "hlteval.toml").write_text("profile = 1\n")
    with pytest.raises(
        hlteval.WrongArgument, match=r"hlteval\.toml:1:11: invalid value 1 of profile .CFG105"
    ):
        hlteval.validate("seedev-full", "runs/flawed", defaults="hlteval.toml")
