"""The package that docs/extending.md makes, installed in a fresh environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.long("a package is built and installed")

ROOT = Path(__file__).parents[2]
BIN = "Scripts" if os.name == "nt" else "bin"
FILE = re.compile(r"^`(\S+)`[^\n]*:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
REFERENCE = "d1:0-4\tNAME\nd1:8-9\tPLACE\nd2:3-3\tNAME\n"
SYSTEM = "d1:0-4\tNAME\nd1:8-9\tplace\nd2 3-3\tNAME\n"


TWO_PAGES = 120
"""Lines."""


def files() -> list[tuple[str, str]]:
    """The files that the pages make, by name."""
    pages = (ROOT / "docs" / name for name in ("extending.md", "extending-formats.md"))
    return [file for page in pages for file in FILE.findall(page.read_text("utf-8"))]


def test_the_pages_have_every_file_and_a_task_takes_less_than_two() -> None:
    assert [name for name, _ in files()] == [
        "pyproject.toml",
        "colons/matching.py",
        "colons/task.py",
        "colons/colon_tab.py",
        "colons/codes/COL.toml",
        "colons/labels.py",
    ]
    page = (ROOT / "docs/extending.md").read_text("utf-8")
    assert page.count("\n") < TWO_PAGES


@pytest.fixture(scope="module")
def hlteval(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """The program in an environment that has hlteval, its libraries, and the package."""
    folder = tmp_path_factory.mktemp("extending")
    for name, content in files():
        path = folder / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    for package in ("colons", "colons/codes"):
        (folder / "package" / package / "__init__.py").touch()
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / BIN / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True).stdout
    libraries = [str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    Path(site.strip(), "libraries.pth").write_text("\n".join(libraries), "utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    offline = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile"]
    subprocess.run([*pip, "install", *offline, str(folder / "package")], check=True, cwd=folder)
    (folder / "reference.colons").write_text(REFERENCE, "utf-8")
    (folder / "system.colons").write_text(SYSTEM, "utf-8")

    def run(*arguments: str) -> str:
        command = [python, "-m", "hlteval", *arguments]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode in {0, 1}, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    return run


@pytest.mark.thorough
@pytest.mark.packaging
def test_what_the_package_adds_works_like_our_own(hlteval: Callable[..., str]) -> None:
    assert "colon-spans" in hlteval("tasks")
    assert "colon-tab" in hlteval("formats")
    assert "Label not in uppercase" in hlteval("explain", "CLN201")
    found = hlteval("validate", "colon-spans", "system.colons", "--format", "concise")
    assert found.splitlines() == [
        "system.colons:2:1: error[CLN201] label place is not in uppercase",
        "system.colons:3:1: error[CLN101] malformed span",
    ]
    given = ("colon-spans", "-r", "reference.colons")
    scored = json.loads(hlteval("score", *given, "-s", "system.colons", "--format", "json"))
    assert scored["metrics"] == {"f1": 2 * 1 / (3 + 2)}
    hlteval("convert", "reference.colons", "kept.jsonl")
    hlteval("convert", "kept.jsonl", "again.colons", "--to", "colon-tab")
    again = hlteval("score", *given, "-s", "again.colons", "--format", "tsv", "--bootstrap", "20")
    assert again == "f1\t1.0\n"  # 2 documents are too few for an interval
    compared = hlteval("compare", *given, "system.colons", "again.colons", "--bootstrap", "20")
    assert "again.colons" in compared
