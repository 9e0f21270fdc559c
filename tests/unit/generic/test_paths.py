"""A path of a declaration goes wherever the name of a task goes."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import hlteval
from hlteval.cli.app import app

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `tasks/people.task.toml`, and `gold` and `system`."""
    for side in ("gold", "system"):
        shutil.copytree(FIXTURES / "generic" / "valid" / "mentions" / side, tmp_path / side)
    (tmp_path / "tasks").mkdir()
    valid = FIXTURES / "task-toml" / "valid" / "people.task.toml"
    shutil.copy(valid, tmp_path / "tasks" / "people.task.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(command: str) -> Result:
    result = CliRunner().invoke(app, shlex.split(command), prog_name="hlteval")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.mark.parametrize(
    "command",
    [
        "validate tasks/people.task.toml system --against gold",
        "score tasks/people.task.toml -r gold -s system",
        "score --lenient tasks/people.task.toml -r gold -s system --profile official",
        "compare tasks/people.task.toml -r gold system gold",
        "leaderboard tasks/people.task.toml -r gold system gold",
        "agreement tasks/people.task.toml gold system",
        "pack tasks/people.task.toml system -o run.zip",
        "tasks tasks/people.task.toml",
        "tasks --check tasks/people.task.toml",
    ],
)
def test_commands_take_it(command: str, folder: Path) -> None:
    result = call(command)
    assert result.exit_code == 0, result.output


def test_a_file_of_defaults_names_it(folder: Path) -> None:
    Path("hlteval.toml").write_text(
        'task = "people"\nreference = "gold"\n[tasks]\npeople = "tasks/people.task.toml"\n'
    )
    for words in ("people", ""):
        result = call(f"score {words} -s system")
        assert result.exit_code == 0
        assert "|task:people|declaration:" in result.stdout
    assert call("tasks people").exit_code == 0
    Path("evaluation", "submissions").mkdir(parents=True)
    assert call("pipeline evaluation -r gold --task people").exit_code == 0
    Path("hlteval.toml").write_text('[tasks]\npeople = "tasks/poeple.task.toml"\n')
    assert "CFG108" in call("config hlteval.toml").output


def test_a_wrong_one_is_an_error_of_usage_with_all_findings(folder: Path) -> None:
    Path("bad.task.toml").write_text(
        '[task]\nunit = "mentions"\n[match]\nspan = "exakt"\ncolar = 1\n'
    )
    result = call("score bad.task.toml -r gold -s system")
    assert result.exit_code == 2
    assert "TSK102" in result.output
    assert "TSK105" in result.output
    assert call("tasks --check bad.task.toml").exit_code == 1
    missing = call("score none.task.toml -r gold -s system")
    assert missing.exit_code == 2
    assert "no such file or folder: none.task.toml" in missing.output


def test_a_manifest_names_it_relative_to_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("campaign.toml").write_text(
        'name = "c"\n[submissions]\na = "system"\n'
        '[tasks."tasks/people.task.toml"]\nreference = "gold"\n'
    )
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    result = hlteval.campaign(str(folder / "campaign.toml"))
    (row,) = result.rows
    assert row.result.signature.startswith(f"hlteval:{hlteval.__version__}|task:people|")
    Path("wrong.toml").write_text(
        'name = "c"\n[submissions]\na = "../system"\n[tasks."x.task.toml"]\nreference = "../gold"\n'
    )
    result = call("campaign wrong.toml -o out")
    assert "unknown task x.task.toml" in result.output


def test_its_digest_is_verified(folder: Path) -> None:
    signature = hlteval.score("tasks/people.task.toml", "gold", "system").signature
    sides = "-r gold -s system"
    alike = call(f"verify '{signature}' {sides} --task tasks/people.task.toml")
    assert alike.exit_code == 0, alike.output
    path = Path("tasks/people.task.toml")
    path.write_text(path.read_text("utf-8") + "# changed\n")
    changed = call(f"verify '{signature}' {sides} --task tasks/people.task.toml")
    assert changed.exit_code == 1
    assert "declaration" in changed.stdout
    without = call(f"verify '{signature}' {sides}")
    assert "it is declared in a file; use --task FILE" in without.output


def test_completion_offers_paths(folder: Path) -> None:
    from hlteval.cli.commands import tasks

    assert tasks("tasks/pe") == [("tasks/people.task.toml", "")]
