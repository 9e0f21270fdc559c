"""`hlteval campaign` as a user types it."""

from __future__ import annotations

import json

import pytest

from hlteval.workflows.evaluation import campaign
from tests.unit.campaign.demo import InProcess, unpacked


class Here(InProcess):
    """Computes in this process, whatever number of processes is asked for."""

    def __init__(self, count):
        assert count in {1, 2}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    unpacked(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(campaign.graph, "LocalProcesses", Here)
    return tmp_path


def test_cells_are_listed_and_written(folder, invoke):
    result = invoke("campaign", "demo.toml", "--jobs", "2")
    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "seedev-full, profile plan"
    assert lines[2].split()[:4] == ["system", "scored", "f1", "0.6667"]
    assert lines[-1] == "6 cells: 2 scored, 4 refused"
    names = {path.name for path in (folder / "demo").iterdir()}
    assert names == {"cache", "campaign.parquet", "index.html", "leaderboards"}
    again = invoke("campaign", "demo.toml", "-j", "2", "--format", "json")
    content = json.loads(again.stdout)
    assert (content["counts"], content["computed"]) == ({"scored": 2, "refused": 4}, 2)
    first, flawed, *_ = content["cells"]
    assert first["metrics"]["f1"] == pytest.approx(2 / 3)
    assert "SEE101" in {finding["code"] for finding in flawed["findings"]}


def test_a_manifest_with_errors_is_reported_and_nothing_is_written(folder, invoke):
    (folder / "demo.toml").write_text("name = 3\n")
    result = invoke("campaign", "demo.toml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "CPN103" in result.stderr
    assert "CPN104" in result.stderr
    assert not (folder / "demo").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nothing.toml"], "no such file or folder: nothing.toml"),
        (["reference"], "reference is a folder"),
        (["demo.toml", "-j", "2", "--cluster", "x"], "--jobs has no effect with --cluster"),
        (["demo.toml", "-o", "reference"], "reference is an input"),
        (["demo.toml", "-o", "no/such"], "no folder no"),
        (["demo.toml", "--cluster", "no-address"], "no scheduler at no-address"),
    ],
)
def test_usage_errors(arguments, reason, folder, invoke):
    result = invoke("campaign", *arguments)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())
