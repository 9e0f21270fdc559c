"""Leaderboards and the report of a campaign, and the files of its folder."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

import hlteval
from hlteval.workflows.evaluation.campaign_files import prepare_folder, write_campaign
from tests.unit.campaign.demo import run, unpacked

HOSTILE = "<img src=x onerror=alert(1)></script>"


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    path = unpacked(tmp_path_factory.mktemp("demo"), documents=3)
    copy = path.parent / "worse"
    copy.mkdir()
    for file in (path.parent / "system").iterdir():
        lines = file.read_text().splitlines(keepends=True)
        (copy / file.name).write_text("".join(lines[: 1 if "-02" in file.name else None]))
    text = path.read_text().replace('absent = "absent"', f'worse = "worse"\n"{HOSTILE}" = "absent"')
    path.write_text(text + 'metrics = ["ser"]\n')
    return path


@pytest.fixture(scope="module")
def result(example, tmp_path_factory):
    return run(example, tmp_path_factory.mktemp("cache"))


def test_a_leaderboard_is_that_of_the_command(example, result):
    folder = example.parent
    systems = {name: folder / name for name in ("system", "flawed", "worse")}
    expected = hlteval.leaderboard(
        "seedev-full", folder / "reference", systems, metrics=["ser"], bootstrap=20
    )
    board = result.boards["seedev-full", "plan", ""]
    assert board.comparisons == expected.comparisons
    assert (board.signature, board.notes) == (expected.signature, expected.notes)
    assert [row.name for row in board.rows] == ["system", "worse", "flawed", HOSTILE]
    assert [row.codes for row in board.rows[2:]] == [
        ("SEE101", "SEE202", "SEE205", "SEE401"),
        ("CPN201",),
    ]


def test_leaderboards_are_the_same_from_the_cache(example, result, tmp_path):
    first = run(example, tmp_path)
    second = run(example, tmp_path)
    assert second.computed == 2
    assert first.boards == second.boards == result.boards


def test_without_leaderboards_nothing_that_was_counted_is_kept(example, tmp_path):
    path = example.with_name("without.toml")
    path.write_text(f"leaderboards = false\n{example.read_text()}")
    result = run(path, tmp_path / "small")
    assert not result.boards
    run(example, tmp_path / "large")
    small, large = (
        sum(file.stat().st_size for file in (tmp_path / name).rglob("*.msgpack"))
        for name in ("small", "large")
    )
    assert small < large


def test_the_folder_has_the_table_leaderboards_and_a_report(result, tmp_path):
    for _ in range(2):  # a second run replaces what is there
        prepare_folder(tmp_path / "out")
        write_campaign(result, tmp_path / "out")
    names = sorted(str(f.relative_to(tmp_path / "out")) for f in (tmp_path / "out").rglob("*.*"))
    boards = [f"leaderboards/seedev-full-{name}" for name in ("official", "plan")]
    reports = [f"{name}.{suffix}" for name in boards for suffix in ("html", "tsv")]
    assert names == ["campaign.parquet", "index.html", *reports]
    assert pl.read_parquet(tmp_path / "out" / "campaign.parquet").equals(result.to_frame())
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert HOSTILE not in page
    assert not re.findall(r"""(?:src|href)=["']https?:""", page)
    assert "leaderboards/seedev-full-plan.html" in page


def test_a_folder_of_something_else_is_not_used(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(FileExistsError, match="contains files other than a campaign"):
        prepare_folder(tmp_path / "other")
    with pytest.raises(FileExistsError, match="is a file, not a folder"):
        prepare_folder(tmp_path / "other" / "thesis.tex")
    with pytest.raises(FileNotFoundError, match="no folder"):
        prepare_folder(tmp_path / "no" / "such")


def test_runs_at_the_same_time_share_a_cache(example, result, tmp_path):
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(run, example, tmp_path) for _ in range(2)]
    assert all(each.result().to_frame().equals(result.to_frame()) for each in runs)
    assert run(example, tmp_path).computed == 2
    assert not [*tmp_path.rglob("*.part")]
