"""`--max-memory`: what is accepted is enough for the demonstration."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from fuzz.serving import Visitor, of_folder
from hlteval import WrongOption, pipeline
from hlteval.serve.jobs import Processes
from hlteval.serve.settings import ServeLimits
from hlteval.workflows.evaluation.pipeline_state import LEAST_MEGABYTES
from tests.cli.conftest import Invoke
from tests.unit.serve.visiting import visit

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of an evaluation with the system of the demonstration."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for file in sorted((DEMO / "system").iterdir()):
            archive.add(file, file.name)
    made = tmp_path / "root"
    (made / "submissions").mkdir(parents=True)
    (made / "submissions" / "team_run1.tgz").write_bytes(packed.getvalue())
    return made


@pytest.mark.parametrize("megabytes", [1, 500, 800, LEAST_MEGABYTES - 1])
@pytest.mark.parametrize("command", ["serve", "pipeline"])
def test_less_than_a_job_needs_is_refused(
    command: str, megabytes: int, root: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hlteval.serve.server.serve", lambda *_, **__: 1 // 0)
    given = [str(root), "-r", str(DEMO / "reference"), "--task", "seedev-full"]
    result = invoke(
        command, *(given if command == "pipeline" else []), "--max-memory", str(megabytes)
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"use {LEAST_MEGABYTES} or more" in " ".join(result.stderr.split())
    assert [path.name for path in root.iterdir()] == ["submissions"]


def test_less_is_refused_from_python(root: Path) -> None:
    with pytest.raises(WrongOption, match=f"^max_memory 500 .* {LEAST_MEGABYTES} or more, or 0"):
        pipeline(root, reference=DEMO / "reference", task="seedev-full", max_memory=500)


@pytest.mark.thorough
def test_a_pipeline_needs_no_more(root: Path) -> None:
    given = {"reference": DEMO / "reference", "task": "seedev-full"}
    assert pipeline(root, **given, max_memory=LEAST_MEGABYTES).counts == {"scored": 1}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("seedev-full", ("system", "reference", "flawed")),
        ("hub4", ("comparison/bold.tpl", "comparison/reference.tpl", "comparison/careful.tpl")),
    ],
)
def test_a_job_needs_no_more(task: str, names: tuple[str, ...], tmp_path: Path) -> None:
    roles = zip(("submission", "reference", "second"), names, strict=True)
    inputs = {role: of_folder(DEMO / name) for role, name in roles}

    async def steps(visitor: Visitor) -> None:
        _, state = await visitor.done(task, inputs, intervals=True)
        assert (state["state"], state["error"]) == ("done", "")
        assert len(state["parts"]) == 4

    visit(steps, runner=Processes(tmp_path, ServeLimits(megabytes=LEAST_MEGABYTES)))
