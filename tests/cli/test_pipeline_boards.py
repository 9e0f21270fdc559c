"""Leaderboards of a pipeline: those of `hlteval leaderboard`, of what counts now."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path

import pytest

from hlteval.results.evaluation import PipelineResult
from hlteval.workflows.compare.board import leaderboard_in
from hlteval.workflows.evaluation.deposits import Deposit
from hlteval.workflows.evaluation.pipeline import pipeline
from hlteval.workflows.evaluation.pipeline_state import PipelineSettings, with_manifest
from hlteval.workflows.evaluation.pipeline_work import BoardOrder, Order, Outcome
from hlteval.workflows.processes.graph import Failed
from hlteval.workflows.run.request import Request
from tests.unit.workflows.evaluations import (
    STREAMS,
    Doubles,
    InProcess,
    content,
    evaluation,
    links,
    packed,
    streams,
)

EDL = "leaderboards/lorehlt-edl"
MUC = {"measure": "muc"}


def run(root: Path, reference: Path | None = None, **more: object) -> PipelineResult:
    more.setdefault("options", MUC)
    made = PipelineSettings(root, str(reference or root.parent / "reference.tab"), **more)  # type: ignore[arg-type]
    return pipeline(made, workers=InProcess(root))


def board(root: Path, name: str = EDL) -> dict[str, float | None]:
    """The value of each system of a leaderboard by the metric that ranks."""
    found = json.loads((root / name / "leaderboard.json").read_text("utf-8"))
    first = found["metrics"][0]
    return {each["name"]: each["scores"][first]["value"] for each in found["systems"]}


def test_it_is_what_the_command_leaderboard_writes_of_the_valid_submissions(tmp_path):
    broken = links("EVE", 1, "CITY")
    root = evaluation(tmp_path, links("LCC", 1), links("COL", 1, "PER"), broken)
    result = run(root)
    assert result.leaderboards == (f"{EDL}/index.html",)
    assert result.notes == ()
    with chdir(root):
        names = ("COL_EDL_CP1_1.tab.tgz", "LCC_EDL_CP1_1.tab.tgz")
        request = Request("lorehlt-edl", "", "../reference.tab", options=MUC)
        leaderboard_in(tmp_path / "same", request, [f"submissions/{name}" for name in names])
    written = {path.removeprefix(f"{EDL}/"): data for path, data in content(root).items()}
    same = [path for path in (tmp_path / "same").rglob("*") if path.is_file()]
    assert len(same) == 7
    for path in same:
        assert written[path.relative_to(tmp_path / "same").as_posix()] == path.read_bytes()
    assert board(root).keys() == {"LCC_EDL_CP1_1.tab", "COL_EDL_CP1_1.tab"}


@pytest.mark.thorough
def test_late_and_withdrawn_submissions_change_it_and_nothing_else_does(tmp_path):
    root = evaluation(tmp_path, links("LCC", 1))
    run(root)
    page = root / EDL / "index.html"
    stamp = page.stat().st_mtime_ns
    assert (run(root).done, page.stat().st_mtime_ns) == (0, stamp)
    name, data = links("COL", 1)
    (root / "submissions" / name).write_bytes(data)
    run(root)
    assert len(board(root)) == 2
    (root / "submissions" / name).unlink()
    assert run(root).done == 0
    assert board(root).keys() == {"LCC_EDL_CP1_1.tab"}
    before = content(root)
    # What is damaged or lost is made again, and is the same.
    page.unlink()
    (root / f"{EDL}.txt").unlink()
    run(root)
    assert content(root) == before
    for path in (root / "submissions").iterdir():
        path.unlink()
    assert run(root).leaderboards == ()
    assert list((root / "leaderboards").iterdir()) == []


def mapping(of: str, norm: str, second: int) -> tuple[str, bytes]:
    name = of.replace("_ND_", "_NDMAP_")[:-2] + f"{second:02}"
    table = f"sys_norm\tref_norm\tsub_id\n{norm}\t101\t{of}\n"
    return f"{name}.tgz", packed({f"{name}/nd.map.tab": table.encode()})


def test_systems_have_the_values_of_their_own_scores_also_with_a_mapping(tmp_path):
    archives = [streams("nd"), streams("nd", "COL")]
    first, second = (name.removesuffix(".tgz") for name, _ in archives)
    root = evaluation(tmp_path, *archives, mapping(first, "102", 1), mapping(second, "103", 2))
    run(root, STREAMS, options={})
    values = {}
    for name in (first, second):
        scores = json.loads((root / "results" / name / "scores.json").read_text("utf-8"))
        values[name] = scores["metrics"][scores["primary"]]
    assert board(root, "leaderboards/ccu-nd") == values
    assert len({*values.values()}) == 2
    signature = json.loads((root / "leaderboards/ccu-nd/leaderboard.json").read_text("utf-8"))
    assert signature["signature"].count("|mapping:") == 2


class Unranked(Doubles):
    """Everything is valid, and no leaderboard can be made."""

    def __init__(self) -> None:
        self.boards = 0

    def outcome(self, order: Order) -> Outcome:
        if order.step == "score":
            Path(order.output).mkdir()
            Path(order.output, "scores.json").write_text("{}", "utf-8")
        return Outcome("passed" if order.step == "validation" else "scored")

    def rank(self, order: BoardOrder) -> Failed:
        self.boards += len(order.systems)
        return Failed("time", "it took too long")


class Ranked(Unranked):
    """Everything is valid, and leaderboards have the names of their submissions."""

    def rank(self, order: BoardOrder) -> Outcome:
        return Doubles.rank(self, order)  # type: ignore[return-value]


def test_tasks_of_one_name_have_leaderboards_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(PipelineSettings, "board_of", lambda *_: "same")
    nd, ed = streams("nd"), streams("ed")
    root = evaluation(tmp_path, nd, ed)
    with chdir(root):
        result = pipeline(PipelineSettings(root, str(STREAMS)), workers=Ranked())
    assert result.leaderboards == ("leaderboards/same/index.html", "leaderboards/same-2/index.html")
    shown = [(root / page).read_text("utf-8") for page in result.leaderboards]
    assert sorted(shown) == sorted(f"submissions/{name}" for name, _ in (nd, ed))


def test_a_leaderboard_that_cannot_be_made_is_a_note_until_limits_change(tmp_path, monkeypatch):
    root = evaluation(tmp_path, links("LCC", 1), links("COL", 1))
    workers = Unranked()
    made = PipelineSettings(root, str(tmp_path / "reference.tab"))
    for _ in range(2):
        result = pipeline(made, workers=workers)
        assert result.notes == ("no leaderboard of lorehlt-edl: it took too long",)
        assert (result.leaderboards, result.clean) == ((), True)
    assert workers.boards == 2
    retry = PipelineSettings(root, made.reference, retry=True)
    assert pipeline(retry, workers=workers).notes
    assert workers.boards == 4


def test_each_language_with_its_own_reference_has_a_leaderboard(tmp_path):
    manifest = tmp_path / "manifest.toml"
    manifest.write_text(
        'name = "x"\nlanguages = ["il9", "il10"]\n[tasks.lorehlt-edl]\n'
        'reference = { il9 = "a.tab", il10 = "b.tab" }\n[tasks.hub4]\nreference = "c.tpl"\n',
        "utf-8",
    )
    settings, _ = with_manifest(PipelineSettings(tmp_path), str(manifest))

    def named(task: str, language: str) -> str:
        return settings.board_of(
            Deposit("x.tgz", "x", {"task": task, "language": language}, (0, 0, 0))
        )

    assert named("lorehlt-edl", "il9") == "lorehlt-edl-il9"
    assert named("lorehlt-edl", "il10") == "lorehlt-edl-il10"
    assert named("hub4", "il9") == "hub4"


def test_the_command_names_the_page(tmp_path, invoke):
    root = evaluation(tmp_path, links("LCC", 1))
    given = ("pipeline", root, "-r", tmp_path / "reference.tab", "--option", "measure=muc")
    done = invoke(*given)
    assert f"leaderboard: {root}/{EDL}/index.html\n" in done.stdout
    found = json.loads(invoke(*given, "--format", "json").stdout)
    assert found["leaderboards"] == [f"{EDL}/index.html"]
    assert Path(found["root"], found["leaderboards"][0]).is_file()


@pytest.mark.parametrize("name", ["logs", "results", "leaderboards"])
def test_no_output_is_where_the_reference_is(name, tmp_path, invoke):
    root = evaluation(tmp_path, links("LCC", 1))
    (root / name).mkdir()
    reference = (tmp_path / "reference.tab").rename(root / name / "reference.tab")
    assert invoke("pipeline", root, "-r", reference).exit_code == 2
