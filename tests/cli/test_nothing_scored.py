"""Leaderboards and comparisons of nothing that can be scored, and of odd paths."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hlteval import leaderboard
from tests.cli.conftest import Invoke

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
FORMS = ("text", "json", "tsv", "markdown", "latex", "html")


@pytest.fixture(autouse=True)
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the demonstration, as the working directory."""
    shutil.copytree(DEMO, tmp_path / "demo")
    monkeypatch.chdir(tmp_path / "demo")
    return tmp_path / "demo"


def in_files(*forms: str) -> list[str]:
    """The options that write what a command prints in other forms, too."""
    return [word for form in forms for word in ("--output-file", f"{form}=out.{form}")]


def test_a_board_without_a_scored_submission(invoke: Invoke) -> None:
    given = ("seedev-full", "-r", "reference", "flawed", "absent", "--bootstrap", "99")
    result = invoke("leaderboard", *given, *in_files(*FORMS[1:]), "-o", "board")
    assert result.exit_code == 1
    texts = [result.stdout, *(Path(f"out.{form}").read_text("utf-8") for form in FORMS[1:])]
    assert all("flawed" in text for text in texts)
    assert (Path("board") / "index.html").is_file()


@pytest.mark.parametrize("command", ["compare", "score", "agreement"])
def test_commands_without_anything_that_can_be_scored(command: str, invoke: Invoke) -> None:
    given = {
        "compare": ["-r", "reference", "flawed", "flawed/demo-1.a2"],
        "score": ["-r", "reference", "-s", "flawed"],
        "agreement": ["flawed", "system"],
    }
    others = in_files("json", "tsv", "markdown", "latex")
    result = invoke(command, "seedev-full", *given[command], *others, "--report", "report.html")
    assert result.exit_code == 1
    assert Path("report.html").is_file()


@pytest.mark.sampled(6)
@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
@pytest.mark.parametrize(
    "options",
    [
        ("compare", "--report", "report.html"),
        ("compare", "--format", "json"),
        ("leaderboard", "-o", "board"),
        ("leaderboard", "--output-file", "html=board.html"),
        *(("leaderboard", "--format", form) for form in FORMS),
    ],
)
def test_a_name_that_is_not_utf_8(options: tuple[str, ...], invoke: Invoke) -> None:
    odd = b"bad\xff.tpl".decode(errors="surrogateescape")
    shutil.copy("comparison/bold.tpl", odd)
    command, *rest = options
    given = ("hub4", "-r", "comparison/reference.tpl", "comparison/careful.tpl", odd)
    result = invoke(command, *given, *rest, "--bootstrap", "99")
    assert result.exit_code == 1
    assert "bad\\xff" in result.stdout + result.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_an_agreement_on_no_document(invoke: Invoke) -> None:
    odd = b"annotators/bad\xff.tab".decode(errors="surrogateescape")
    shutil.copy("annotators/bo.tab", odd)
    result = invoke("agreement", "lorehlt-edl", "annotators/ada.tab", odd, "--lenient")
    assert "no unit was judged by both" in " ".join(result.stdout.split())


def test_a_folder_of_submissions_is_ranked_as_its_members() -> None:
    board = leaderboard(
        "lorehlt-edl", "leaderboard/reference.tab", ["leaderboard/submissions"], bootstrap=99
    )
    names = sorted(row.name for row in board.rows)
    assert names == [f"team-{number:02}" for number in range(1, 11)]
    assert board.notes[0] == "leaderboard/submissions has 10 submissions; each is one of its own"
