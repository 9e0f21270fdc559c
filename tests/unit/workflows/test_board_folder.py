"""The folder of a leaderboard: pages whose links lead to each other, and no path in any of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hlteval.results.systems import Leaderboard
from hlteval.workflows.compare.board import report_files
from hlteval.workflows.run.request import Intervals
from hlteval.workflows.run.verdicts import Refused
from tests.runs import leaderboard_in

DEMO = Path(__file__).parents[3] / "hlteval" / "demo"
SYSTEMS = [str(DEMO / "system"), str(DEMO / "flawed"), str(DEMO / "absent")]


def made(output: Path | None, **more: Any) -> Leaderboard:
    given = {"metrics": ("f1", "ser"), "intervals": Intervals(9), **more}
    return leaderboard_in(output, "seedev-full", str(DEMO / "reference"), SYSTEMS, **given)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published") / "board"
    made(path)
    return path


def test_it_has_a_page_a_report_of_each_system_and_the_table(folder: Path) -> None:
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")) == [
        "index.html",
        "leaderboard.json",
        "leaderboard.md",
        "leaderboard.tex",
        "leaderboard.tsv",
        "reports/absent.html",
        "reports/flawed.html",
        "reports/system.html",
    ]
    table = json.loads((folder / "leaderboard.json").read_text("utf-8"))
    assert table == made(None).to_dict()


def test_all_links_lead_to_files(folder: Path) -> None:
    index = (folder / "index.html").read_text("utf-8")
    links = set(re.findall(r'"(reports/[^"]*\.html)"', index))
    assert links == {str(path.relative_to(folder)) for path in (folder / "reports").iterdir()}
    for report in (folder / "reports").iterdir():
        (back,) = re.findall(r'<p class="parent"><a href="([^"]*)"', report.read_text("utf-8"))
        assert (report.parent / back).resolve() == (folder / "index.html").resolve()


def test_no_file_has_the_folder_of_a_submission(folder: Path) -> None:
    files = [path for path in folder.rglob("*.*") if path.is_file()]
    assert folder / "index.html" in files
    for path in files:
        assert str(DEMO) not in path.read_text("utf-8"), path


def test_a_report_has_the_findings_that_are_the_reason(folder: Path) -> None:
    report = (folder / "reports" / "flawed.html").read_text("utf-8")
    assert "SEE205" in report
    assert "flawed/demo-1.a2" in report
    assert "LDB201" in (folder / "reports" / "absent.html").read_text("utf-8")


def test_an_earlier_leaderboard_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    made(tmp_path / "board")
    made(tmp_path / "board")
    (tmp_path / "board" / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(FileExistsError, match="files other than a leaderboard"):
        made(tmp_path / "board")
    with pytest.raises(FileNotFoundError, match="no folder"):
        made(tmp_path / "nowhere" / "board")


def test_without_a_leaderboard_nothing_is_written(tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("system\tA\nflawed\tA\n", "utf-8")
    with pytest.raises(Refused):
        made(tmp_path / "board", names=str(names))
    assert [path.name for path in tmp_path.iterdir()] == ["names.tsv"]


def test_names_of_files_differ_and_need_no_escapes(tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("system\t<b> Team/A\nflawed\tb team a\nabsent\t大\n", "utf-8")
    board = made(None, names=str(names))
    assert report_files(board) == {
        "<b> Team/A": "reports/b-Team-A.html",
        "b team a": "reports/b-team-a-2.html",
        "大": "reports/system.html",
    }
