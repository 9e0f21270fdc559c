"""What `make new-task`, `new-format` and `new-rule` write works, and says what is left to do."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from house import new

ROOT = Path(__file__).parents[2]
ROOMS = ("hlteval", "converters", "grammars", "scoring", "validators", "house")
FILES = ("README.md", "conftest.py", "mkdocs.yml", "pyproject.toml", "docs/tutorials/index.md")
TESTS = ("tests/conftest.py", "tests/effort.py", "tests/unit/test_skeleton.py")
FOLDERS = (*ROOMS[:-1], "docs", "tests")


def marks(root: Path) -> list[str]:
    """The places where something is to be filled in: file, line, and what."""
    paths = (path for folder in FOLDERS for path in sorted((root / folder).rglob("*.*")))
    return [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in paths
        if path.suffix in {".py", ".toml", ".md"}
        if path.name not in {"test_skeleton.py", "adding.md"}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if "FILL IN" in line
    ]


def test_nothing_is_left_to_fill_in() -> None:
    left = marks(ROOT)
    assert not left, "\n".join(left)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, in which the commands of docs/adding.md were run."""
    root = tmp_path_factory.mktemp("skeleton") / "copy"
    for name in ROOMS:
        shutil.copytree(ROOT / name, root / name)
    for name in (*FILES, *TESTS):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    page = (ROOT / "docs/adding.md").read_text("utf-8")
    own = {"spans": "zzz", "span-list": "zzz-list", "SPN": "ZZZ", "SPL": "ZZL"}  # names of its own
    page = re.sub("|".join(own), lambda name: own[name[0]], page)
    lines = re.findall(r"^make (new-.*)$", page, re.M)
    assert [line.split()[0] for line in lines] == ["new-task", "new-format", "new-rule"]
    for line in lines:
        dry = ["make", "--dry-run", "--assume-old=.venv/installed", *shlex.split(line)]
        command = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        program, *words = shlex.split(command.splitlines()[-1])
        assert words[:2] == ["-m", "house.new"], program
        new.main(words[2:], root)
    return root


def run(root: Path, *words: str) -> str:
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_the_skeleton_lints_clean(copy: Path) -> None:
    written = [str(path) for path in copy.rglob("zzz*") if path.suffix == ".py" or path.is_dir()]
    assert run(copy, "ruff", "check", *written) == "All checks passed!\n"
    assert "would reformat" not in run(copy, "ruff", "format", "--check", *written)


@pytest.mark.thorough
def test_its_tests_fail_only_where_something_is_to_be_filled_in(copy: Path) -> None:
    tests = ["tests/unit/zzz", "tests/unit/test_skeleton.py::test_nothing_is_left_to_fill_in"]
    output = run(copy, "pytest", "-q", "-p", "no:cacheprovider", *tests)
    failed = re.findall(r"^FAILED (\S+)", output, re.M)
    rule = "tests/unit/zzz/test_fixtures.py::test_a_fixture_raises_its_code_and_nothing_else"
    assert failed == [f"{rule}[ZZZ303-long-span.zzz]", tests[1]], output
    assert all(mark in output for mark in marks(copy))
