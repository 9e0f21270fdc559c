"""The files of docs/how-to/in-ci.md for CI servers and git: their commands run and work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree
from typer.testing import CliRunner

from hlteval.cli.app import app
from tests.cli.test_pages import blocks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "in-ci.md"
DEMO = ROOT / "hlteval" / "demo"
FILES = {block.file: block.text for block in blocks(PAGE) if block.file}
REPORT = "hlteval.xml"


def loaded(name: str) -> Any:
    return yaml.safe_load(FILES[name])


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the settings of the page, beside the runs of the demonstration."""
    (tmp_path / "hlteval.toml").write_text(FILES["hlteval.toml"], "utf-8")
    for name in ("reference", "system", "flawed"):
        (tmp_path / name).symlink_to(DEMO / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def exit_code(command: str) -> int:
    program, *words = shlex.split(command)
    assert program == "hlteval"
    return CliRunner().invoke(app, words, prog_name="hlteval").exit_code


def commands_of_servers() -> list[str]:
    """What the jobs of GitLab and Jenkins run."""
    job = loaded(".gitlab-ci.yml")["submission"]
    assert job["artifacts"]["reports"]["junit"] == REPORT
    (command,) = (line for line in job["script"] if line.startswith("hlteval "))
    assert f"junit '{REPORT}'" in FILES["Jenkinsfile"]
    return [command, *re.findall(r"sh '(hlteval [^']*)'", FILES["Jenkinsfile"])]


@pytest.mark.parametrize("command", commands_of_servers())
@pytest.mark.parametrize(("run", "code"), [("system", 0), ("flawed", 1), ("missing", 2)])
def test_jobs_fail_where_the_page_says_so_and_write_their_report(
    command: str, run: str, code: int, repository: Path
) -> None:
    assert exit_code(command.replace(" system ", f" {run} ")) == code
    report = repository / REPORT
    assert report.exists() == (code < 2)
    if code < 2:
        assert int(etree.parse(report).getroot().get("failures") or 0) == code


def test_the_workflow_passes_inputs_of_the_action_and_uploads_what_it_writes(
    repository: Path,
) -> None:
    _, step, upload = loaded(".github/workflows/submission.yml")["jobs"]["submission"]["steps"]
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert set(step["with"]) <= set(action["inputs"])
    words = [step["with"]["submission"], *step["with"]["arguments"].split("\n")]
    assert exit_code(shlex.join(["hlteval", "validate", *filter(None, words)])) == 0
    assert (repository / upload["with"]["sarif_file"]).is_file()


def test_the_hook_is_one_of_ours_for_the_runs_of_the_page() -> None:
    (hook,) = loaded(".pre-commit-config.yaml")["repos"][0]["hooks"]
    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert hook["id"] in {item["id"] for item in offered}
    assert re.search(hook["files"], "flawed/demo-1.a2")
    assert not re.search(hook["files"], "reference/demo-1.a2")
