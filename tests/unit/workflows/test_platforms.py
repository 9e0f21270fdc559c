"""Folders of competition platforms: scores, pages, and what is beside the files."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import hlteval
from hlteval.cli.app import app
from hlteval.reports.html.scores import smaller
from hlteval.results.scores import Scores
from hlteval.results.verdict import Refusal
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.task import WrongOption
from hlteval.workflows.platforms import column_keys, default_columns, fitting_page, score_folders
from hlteval.workflows.run import engine
from hlteval.workflows.run.request import Intervals, Request
from tests.unit.workflows.trials import Trial, trials

ROOT = Path(__file__).parents[3]
EDL = ROOT / "hlteval/demo/tutorials/lorehlt-edl"
FLAWED = ROOT / "hlteval/demo/entities"


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Trial]:
    """A submission that can be scored of each task that scores."""
    every = trials(tmp_path_factory.mktemp("trials"))
    return {each.task: each for each in every if each.scored and not each.options}


def layout(folder: Path, reference: Path | None, submission: Path, inside: str = "") -> Path:
    """The folders of a worker: a single file is in a folder."""
    for path, target in ((reference, folder / "ref"), (submission, folder / "res" / inside)):
        if path is None:
            continue
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            target.mkdir(parents=True)
            shutil.copy(path, target)
    return folder


def edl(folder: Path, submission: Path = EDL / "system.tab", inside: str = "") -> Path:
    return layout(folder, EDL / "reference.tab", submission, inside)


def written(folder: Path) -> dict[str, float]:
    scores: dict[str, float] = json.loads((folder / "scores.json").read_text("utf-8"))
    return scores


def test_every_task_that_scores_has_a_trial(scored: Mapping[str, Trial]) -> None:
    assert set(scored) == {name for name in BUILTIN if load(name).metric is not None}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("task", [name for name in BUILTIN if load(name).metric is not None])
def test_scores_are_those_of_the_engine(
    task: str, scored: Mapping[str, Trial], tmp_path: Path
) -> None:
    trial = scored[task]
    reference = "" if load(task).scored_alone else str(trial.against)
    plain = Request(task, str(trial.submission), reference, lenient=True)
    metrics = engine.score(plain).metrics
    folders = layout(tmp_path / "input", trial.against, trial.submission)
    result = score_folders(Request(task, "", lenient=True), folders, tmp_path / "output")
    assert isinstance(result, Scores)
    assert dict(result.metrics) == dict(metrics)
    keys = column_keys(default_columns(plain))
    defined = {key: metrics[name] for name, key in keys.items() if metrics[name] is not None}
    assert written(tmp_path / "output") == defined
    assert all(re.fullmatch("[A-Za-z0-9_]{1,36}", key) for key in keys.values())
    page = (tmp_path / "output" / "detailed_results.html").read_text("utf-8")
    assert result.signature.partition("|")[0] in page
    assert str(tmp_path) not in page


@settings(max_examples=25)
@given(st.lists(st.text("ab.:;=@<>é", max_size=50), unique=True, max_size=8))
def test_keys_are_unique_and_short(names: list[str]) -> None:
    keys = column_keys(names)
    assert list(keys) == names
    assert len(set(keys.values())) == len(names)
    assert all(re.fullmatch("[A-Za-z0-9_]+", key) for key in keys.values())
    assert all(len(key) <= 31 for key in keys.values())


def test_limits_of_intervals_are_columns(tmp_path: Path) -> None:
    request = Request("lorehlt-edl", "", intervals=Intervals(100))
    columns = ["strong_typed_all_match.fscore"]
    result = score_folders(request, edl(tmp_path / "input"), tmp_path, columns)
    assert isinstance(result, Scores)
    numbers = written(tmp_path)
    key = "strong_typed_all_match_fscore"
    low, high = result.intervals[columns[0]]
    assert numbers == {key: result.metrics[columns[0]], f"{key}_low": low, f"{key}_high": high}


@pytest.mark.parametrize("inside", ["", "my run", "a/b/c"])
def test_folders_in_an_archive_and_files_of_the_worker_are_understood(
    inside: str, tmp_path: Path
) -> None:
    plain = score_folders(Request("lorehlt-edl", ""), edl(tmp_path / "plain"), tmp_path)
    folders = edl(tmp_path / "input", inside=inside)
    (folders / "res" / "metadata").write_text("elapsedTime: 0.1\nexitCode: 0\n")
    (folders / "res" / "__MACOSX").mkdir()
    (folders / "res" / "__MACOSX" / "._system.tab").write_bytes(b"\0")
    result = score_folders(Request("lorehlt-edl", ""), folders, tmp_path)
    assert isinstance(result, Scores)
    assert isinstance(plain, Scores)
    assert result.signature == plain.signature


def test_an_archive_in_the_archive_is_opened(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "run.tgz", "w:gz") as archive:
        archive.add(EDL / "system.tab", "NIST_EDL_CP1_1.tab")
    folders = edl(tmp_path / "input", tmp_path / "run.tgz")
    assert isinstance(score_folders(Request("lorehlt-edl", ""), folders, tmp_path), Scores)


def test_a_refused_submission_has_a_page_and_no_scores(tmp_path: Path) -> None:
    score_folders(Request("lorehlt-edl", ""), edl(tmp_path / "good"), tmp_path)
    assert (tmp_path / "scores.json").exists()
    broken = tmp_path / "broken.tab"
    broken.write_text((EDL / "system.tab").read_text("utf-8").replace("\t", " ", 3), "utf-8")
    folders = edl(tmp_path / "input", broken, inside="run")
    result = score_folders(Request("lorehlt-edl", ""), folders, tmp_path)
    assert isinstance(result, Refusal)
    assert not (tmp_path / "scores.json").exists()
    page = (tmp_path / "detailed_results.html").read_text("utf-8")
    assert "EDL201" in page
    assert {each.file for each in result.blocking} == {"run/broken.tab"}
    called = CliRunner().invoke(app, ["platform", "lorehlt-edl", str(folders), str(tmp_path)])
    assert called.exit_code == 1
    assert "error[EDL201]" in called.stderr
    assert "run/broken.tab:1:1" in called.stderr
    assert "submit again" in called.stderr
    assert str(tmp_path) not in called.stderr


def test_python_has_the_same(tmp_path: Path) -> None:
    columns = ["muc.fscore"]
    folders = edl(tmp_path / "input")
    result = hlteval.platform("lorehlt-edl", folders, tmp_path / "new", columns=columns)
    assert isinstance(result, Scores)
    assert written(tmp_path / "new") == {"muc_fscore": result.metrics["muc.fscore"]}
    with pytest.raises(WrongOption, match="no metric f2"):
        hlteval.platform("lorehlt-edl", folders, tmp_path / "new", columns=["f2"])


def test_the_command_prints_its_numbers(tmp_path: Path) -> None:
    words = ["platform", "lorehlt-edl", str(edl(tmp_path / "input")), str(tmp_path / "new")]
    called = CliRunner().invoke(app, [*words, "--columns", "strong_mention_match.ptp"])
    assert called.exit_code == 0, called.stderr
    assert "strong_typed_all_match.fscore: 0.9182" in called.stdout
    assert written(tmp_path / "new") == {"strong_mention_match_ptp": 104.0}


def test_the_page_shows_the_reference_only_if_it_is_wanted(tmp_path: Path) -> None:
    """A mention that only the reference has is not on the page that participants see."""
    folder = tmp_path / "input"
    edl(folder)
    lines = (EDL / "system.tab").read_text("utf-8").splitlines()
    (folder / "res" / "system.tab").write_text("\n".join(lines[:3]) + "\n", "utf-8")
    missing = (EDL / "reference.tab").read_text("utf-8").splitlines()[-1].split("\t")[2]
    score_folders(Request("lorehlt-edl", ""), folder, tmp_path / "some")
    score_folders(Request("lorehlt-edl", ""), folder, tmp_path / "every", details="all")
    pages = [
        (tmp_path / name / "detailed_results.html").read_text("utf-8").partition("<body")[2]
        for name in ("some", "every")
    ]
    assert [f'"{missing}"' in page for page in pages] == [False, True]


def test_problems_of_folders_and_columns_are_errors_of_use(tmp_path: Path) -> None:
    request = Request("lorehlt-edl", "")
    with pytest.raises(FileNotFoundError, match=r"no folder .*res"):
        score_folders(request, tmp_path, tmp_path)
    (tmp_path / "res").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no files in .*res"):
        score_folders(request, tmp_path, tmp_path)
    shutil.copy(EDL / "system.tab", tmp_path / "res")
    with pytest.raises(FileNotFoundError, match=r"no folder .*ref"):
        score_folders(request, tmp_path, tmp_path)
    with pytest.raises(WrongOption, match="no metric f2 "):
        score_folders(request, edl(tmp_path / "input"), tmp_path, ["f2"])
    metric = "strong_mention_match.fscore"
    with pytest.raises(WrongOption, match=f"the column {metric} is given twice"):
        score_folders(request, tmp_path / "input", tmp_path, [metric, metric])
    result = CliRunner().invoke(
        app, ["platform", "lorehlt-edl", str(tmp_path / "input"), str(tmp_path), "--columns", ","]
    )
    assert (result.exit_code, "invalid --columns ,: use" in result.output) == (2, True)


@pytest.mark.parametrize("folder", ["ref", "res", "res/output"])
def test_no_output_is_written_into_what_is_read(folder: str, tmp_path: Path) -> None:
    inputs = edl(tmp_path)
    (tmp_path / "res/scores.json").write_text("{}", "utf-8")
    with pytest.raises(FileExistsError, match=r"scores\.json is an input"):
        score_folders(Request("lorehlt-edl", ""), inputs, tmp_path / folder)
    assert (tmp_path / "res/scores.json").read_text("utf-8") == "{}"
    assert not (tmp_path / folder / "detailed_results.html").exists()


def test_large_pages_lose_what_is_less_important_and_say_so() -> None:
    request = Request("lorehlt-edl", str(EDL / "system.tab"), str(EDL / "reference.tab"))
    scores = engine.score(request)
    steps = [each for each in smaller(scores) if isinstance(each, Scores)]
    notes = [each.notes[len(scores.notes) :] for each in steps]
    assert [len(each) for each in notes[:5]] == [0, 1, 2, 3, 4]
    parts = ["the alignment", "counts in tables", "numbers that are not rates in tables", "tables"]
    assert all(part in note for part, note in zip(parts, notes[4], strict=True))
    cells = [sum(each.width * each.height for each in step.tables.values()) for step in steps]
    assert cells == sorted(cells, reverse=True)
    assert set(steps[4].tables) == {"scorings"}
    page = fitting_page(steps[3], len(fitting_page(steps[3])) - 1)
    assert parts[-1] in page


def test_pages_of_many_findings_have_the_first(tmp_path: Path) -> None:
    file = tmp_path / "x.tab"
    file.write_text("wrong\n" * 300, "utf-8")
    result = score_folders(Request("lorehlt-edl", ""), edl(tmp_path / "input", file), tmp_path)
    assert isinstance(result, Refusal)
    whole = fitting_page(result)
    page = fitting_page(result, len(whole) - 1000)
    assert len(page) < len(whole)
    assert re.search(r"the first 100 of 30\d findings", page)
