"""The pre-commit hook: what git commits is validated as the submission that it belongs to."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hlteval.tasks import BUILTIN, load

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "hlteval" / "demo"
FULL = ROOT / "fixtures" / "standoff" / "valid" / "full"
Run = Callable[..., Any]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


class Repository:
    """A git repository whose hook calls hlteval as pre-commit does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.folder,
            env=kept,
            check=False,
            capture_output=True,
            text=True,
        )

    def install(self, args: list[str], files: str) -> None:
        """Pass the changed files that match `files` after the entry and the arguments."""
        name, *words = shlex.split(HOOK["entry"])
        assert name == "hlteval"
        called = shlex.join([sys.executable, "-m", "hlteval", *words, *args])
        listed = f"git diff --cached --name-only --diff-filter=ACMRT | grep -E '{files}'"
        hook = self.folder / ".git" / "hooks" / "pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(
            f"#!/bin/bash\nset -o pipefail\n{listed} | xargs -d '\\n' {called}\n", "utf-8"
        )
        hook.chmod(0o755)

    def commit(self) -> subprocess.CompletedProcess[str]:
        self.git("add", "--all")
        return self.git("commit", "--quiet", "--message", "a run")


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_a_commit_with_a_part_of_a_folder_is_validated_as_the_folder(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "runs")
    shutil.copytree(FULL, repository.folder / "reference")
    run = repository.folder / "run 1"
    run.mkdir()
    for path in FULL.glob("*.a2"):
        shutil.copy(path, run)
    assert repository.commit().returncode == 0
    repository.install(["seedev-full", "--against", "reference"], "^run 1/.*\\.a2$")
    first, *others = sorted(run.glob("*.a2"))
    assert others

    right = first.read_text("utf-8")
    first.write_text(right.replace("T10", "T99"), "utf-8")  # one of several files is changed
    refused = repository.commit()
    assert refused.returncode == 1
    reported = refused.stdout + refused.stderr
    assert set(re.findall(r"error\[([A-Z]{3}\d+)\]", reported)) == {"STD302"}

    first.write_text("".join(right.splitlines(keepends=True)[:-1]), "utf-8")
    accepted = repository.commit()
    assert accepted.returncode == 0, accepted.stderr


def test_the_files_of_a_folder_are_one_submission(invoke: Run) -> None:
    files = sorted((DEMO / "flawed").glob("*.a2"))
    command = ["validate", "seedev-full", "--against", DEMO / "reference"]
    by_folder = invoke(*command, "--by-folder", files[0])
    assert by_folder.stdout == invoke(*command, DEMO / "flawed").stdout
    assert "SEE401" not in by_folder.stdout


def test_options_may_be_before_the_task(invoke: Run) -> None:
    words = ["--against", DEMO / "reference", DEMO / "flawed"]
    before = invoke("validate", "--by-folder", *words[:2], "seedev-full", words[2])
    assert (before.exit_code, before.stdout) == (
        1,
        invoke("validate", "seedev-full", *words).stdout,
    )
    assert invoke("validate", "--by-folder", "nope", "x").exit_code == 2


@pytest.mark.parametrize("name", BUILTIN)
def test_what_a_submission_to_a_task_is_agrees_with_how_it_is_packed(name: str) -> None:
    task = load(name)
    many = bool(task.submission_suffixes) or task.format in {"ccu-submission", "ccu-reference"}
    assert task.submitted_as_folder == many
