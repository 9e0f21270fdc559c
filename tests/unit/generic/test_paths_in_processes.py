"""A declaration reaches what runs elsewhere: workers, pipelines, the editor and the page."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

import hlteval
from fuzz.editor import Editor
from fuzz.serving import Visitor, of_folder
from hlteval.serve.settings import ServeSettings, check
from tests.unit.generic.test_paths import FIXTURES, call
from tests.unit.serve.visiting import visit

TASK = "tasks/people.task.toml"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a declaration, `gold`, and `system` with a label that is not declared."""
    case = FIXTURES / "generic" / "invalid" / "GEN101-misspelt"
    for side in ("gold", "system"):
        shutil.copytree(case / side, tmp_path / side)
    (tmp_path / "tasks").mkdir()
    shutil.copy(case / "own.task.toml", tmp_path / TASK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_workers_of_jobs_read_it(folder: Path) -> None:
    alone, several = (hlteval.score(TASK, "gold", "gold", jobs=jobs) for jobs in (1, 2))
    assert alone.signature == several.signature
    assert alone.metrics == several.metrics


@pytest.mark.thorough
def test_a_pipeline_and_its_workers_read_it(folder: Path) -> None:
    (folder / "eval" / "submissions").mkdir(parents=True)
    for side in ("gold", "system"):
        shutil.make_archive(f"eval/submissions/{side}", "zip", side)
    result = call(f"pipeline eval -r gold --task {TASK} --jobs 2")
    assert "GEN101" in result.output
    assert "2 submissions: 1 scored, 1 invalid" in result.output
    assert str(folder) not in result.output


def test_the_editor_shows_its_findings(folder: Path) -> None:
    Path("hlteval.toml").write_text(
        f'task = "people"\nagainst = "gold"\n[tasks]\npeople = "{TASK}"\n', "utf-8"
    )
    file = folder / "system" / "d1.ann"

    async def session() -> None:
        async with Editor() as editor:
            text = file.read_text("utf-8")
            found = await editor.open(file.as_uri(), text)
            assert [item["code"] for item in found] == ["GEN101"]
            fixed = await editor.change(file.as_uri(), 2, text.replace("Persn", "Person"))
            assert fixed == []

    asyncio.run(session())


def test_the_page_scores_it(folder: Path) -> None:
    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": of_folder(folder / "gold"), "reference": of_folder(folder / "gold")}
        path, state = await visitor.done(settings.task, inputs)
        assert (state["state"], state["error"]) == ("done", "")
        read = await visitor.read(path, state)
        scores = json.loads(read["scores-json"])
        assert scores["metrics"]["micro.f1"] == 1.0
        assert "|declaration:" in scores["signature"]

    settings, _ = check(ServeSettings(task=TASK))
    visit(steps, settings)
