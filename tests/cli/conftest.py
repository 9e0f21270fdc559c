"""Running the command line: in this process, and as a program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hlteval.cli.app import app
from tests.json_outputs import check_outputs

FIXTURES = Path(__file__).parents[2] / "fixtures"

Invoke = Callable[..., Result]
Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def invoke() -> Invoke:
    """Runs a command in this process; an error of the program comes through.

    All JSON that it prints or writes is held to its schema.
    """

    def run(*arguments: object, stdin: bytes | None = None) -> Result:
        result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        if result.exit_code in {0, 1}:
            check_outputs(list(map(str, arguments)), result.stdout)
        return result

    return run


@pytest.fixture
def program() -> Program:
    """Runs a command line in a shell, where `hlteval` is this program."""

    def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
        called = f'hlteval() {{ "{sys.executable}" -m hlteval "$@"; }}; {line}'
        return subprocess.run(
            ["bash", "-c", called],
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.fixture
def reference() -> Path:
    """Two documents of seedev-full with texts, entities and events."""
    return FIXTURES / "standoff" / "valid" / "full"


@pytest.fixture
def system(reference: Path, tmp_path: Path) -> Path:
    """The reference's own events as a submission, but for one of eight that is missing."""
    folder = tmp_path / "system"
    folder.mkdir()
    for name in ("seed-1.a2", "seed-2.a2"):
        lines = (reference / name).read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith(("*", "E4"))]
        (folder / name).write_text("".join(kept), "utf-8")
    return folder


@pytest.fixture
def flawed() -> Path:
    """A submission with a blocking fault."""
    return FIXTURES / "seedev" / "invalid" / "SEE205-entity-type"


@pytest.fixture
def zipped(system: Path, tmp_path: Path) -> Path:
    """The submission as an archive."""
    return Path(shutil.make_archive(str(tmp_path / "run1"), "zip", system))
