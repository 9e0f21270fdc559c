"""`hlteval pack` and `hlteval inspect`: what they print, their exit codes and usage errors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
FIXTURES = Path(__file__).parents[2] / "fixtures"
TEMPLATES = FIXTURES / "hub4/valid/system.tpl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_packed_archive_is_described_in_one_line(invoke: Run, tmp_path: Path) -> None:
    result = invoke("pack", "hub4", TEMPLATES, "-o", "run")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].startswith("packed run.tgz: 1 file, 2")
    assert (tmp_path / "run.tgz").stat().st_mode & 0o777 == 0o666 & ~umask()


def umask() -> int:
    present = os.umask(0)
    os.umask(present)
    return present


def test_json_has_the_verdict_and_the_archive(invoke: Run) -> None:
    result = invoke("pack", "hub4", TEMPLATES, "-o", "run.zip", "--format", "json")
    found = json.loads(result.stdout)
    assert (found["verdict"], found["archive"], found["findings"]) == ("pass", "run.zip", [])
    assert found["members"] == [
        {"name": "system.tpl", "type": "file", "size": TEMPLATES.stat().st_size}
    ]
    looked = json.loads(invoke("inspect", "run.zip", "--format", "json").stdout)
    assert {name: looked[name] for name in ("size", "sha256", "members")} == {
        name: found[name] for name in ("size", "sha256", "members")
    }
    assert looked["tasks"] == [{"task": "hub4", "reasons": ["has the format hub4"]}]


def test_what_does_not_validate_is_exit_code_1(invoke: Run, tmp_path: Path) -> None:
    wrong = FIXTURES / "hub4/invalid/HUB204-two-templates.tpl"
    result = invoke("pack", "hub4", wrong, "-o", "run.tgz")
    assert result.exit_code == 1
    last = result.stdout.splitlines()[-1]
    assert last == "nothing was written: the submission does not validate"
    assert "error[HUB204]" in result.stdout
    found = json.loads(invoke("pack", "hub4", wrong, "-o", "run.tgz", "--format", "json").stdout)
    assert (found["verdict"], found["archive"], found["members"]) == ("fail", None, [])
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["hub4", "-o", "run.tgz"], "Missing argument"),
        (["hub4", TEMPLATES], "Missing option '-o'"),
        (["hub4", TEMPLATES, "-o", "run.tar"], "is named NAME.tgz or NAME.zip"),
        (["hub4", TEMPLATES, "-o", "no/run.tgz"], "no folder "),
        (["hub4", "nothing.tpl", "-o", "run.tgz"], "no such file or folder: nothing.tpl"),
        (["hub4", TEMPLATES, "-o", "."], "is a folder; name the archive"),
        (["hub4", TEMPLATES, "-o", "run", "--aspects", "x"], "No such option"),
        (["hub5", TEMPLATES, "-o", "run"], "unknown task hub5; did you mean hub4?"),
        (["seedev-full", FIXTURES / "seedev/invalid/SEE401-one-file", "-o", "r"], "--against"),
    ],
    ids=lambda value: (
        "-".join(str(word).rpartition("/")[2] for word in value) if isinstance(value, list) else ""
    ),
)
def test_usage_errors(arguments: list[object], reason: str, invoke: Run, tmp_path: Path) -> None:
    result = invoke("pack", *arguments)
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())
    assert [*tmp_path.iterdir()] == []


def test_tasks_without_a_metric_are_packed_too(invoke: Run) -> None:
    assert "ccu-ndmap" in invoke("pack", "--help").stdout
    help_text = invoke("pack", "ccu-ndmap", "--help").stdout
    assert "--norms" in help_text  # an option of validate


def test_a_hostile_archive_is_shown_and_is_exit_code_1(invoke: Run) -> None:
    result = invoke("inspect", FIXTURES / "source/invalid/SRC112-symlink.tgz")
    assert result.exit_code == 1
    assert "symbolic link  " in result.stdout
    assert "error[SRC112]" in result.stdout
    assert result.stdout.splitlines()[-1] == "rejected: nothing of it is read"


def test_a_long_list_is_cut(invoke: Run, tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(25):
        (tmp_path / "many" / f"d{number:02}.txt").write_text("")
    shown = invoke("inspect", "many").stdout
    assert "d19.txt" in shown
    assert "d20.txt" not in shown
    assert "5 more; use --max-members 0 to show all" in shown
    assert "d24.txt" in invoke("inspect", "many", "--max-members", "0").stdout


def test_usage_errors_of_inspect(invoke: Run) -> None:
    assert "no such file or folder: no.tgz" in invoke("inspect", "no.tgz").output
    result = invoke("inspect", TEMPLATES, "--max-members", 3, "--format", "json")
    assert result.exit_code == 2
    assert "--max-members has no effect" in " ".join(result.output.split())


def test_standard_input_is_inspected(invoke: Run) -> None:
    result = invoke("inspect", "-", stdin=TEMPLATES.read_bytes())
    assert result.exit_code == 0
    assert result.stdout.startswith("-: stream; 1 file, ")


def test_standard_input_has_no_name_to_be_packed_under(invoke: Run, tmp_path: Path) -> None:
    result = invoke("pack", "hub4", "-", "-o", "run.zip", stdin=TEMPLATES.read_bytes())
    assert result.exit_code == 2
    assert "- is a file without a name; pass a path or an archive" in result.output
    assert [*tmp_path.iterdir()] == []


def test_an_archive_on_standard_input_is_packed(invoke: Run, tmp_path: Path) -> None:
    assert invoke("pack", "hub4", TEMPLATES, "-o", "run.zip").exit_code == 0
    data = (tmp_path / "run.zip").read_bytes()
    assert invoke("pack", "hub4", "-", "-o", "again.zip", stdin=data).exit_code == 0
    assert (tmp_path / "again.zip").read_bytes() == data
