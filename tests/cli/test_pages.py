"""The pages of the documentation: every command in them is run, and what they show comes out.

Blocks marked `console` hold commands behind `$ ` and what these print; a line `…` stands for any
number of lines that are left out. They run, page by page, in a folder that `hlteval demo` makes. A
block behind a line that is a name in backticks and a colon is a file of that folder.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from typer.testing import CliRunner, Result

from hlteval import converters, tasks
from hlteval.cli.app import app

pytestmark = pytest.mark.long("every command of a page runs")

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
FOLDERS = (ROOT / "docs", ROOT / "docs" / "how-to", ROOT / "docs" / "tutorials")
GUIDES = [page for folder in FOLDERS for page in sorted(folder.glob("*.md"))]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LEFT_OUT = "…"
"""A line of its own in what is shown: any number of lines are left out here."""
BLOCK = re.compile(r"^(?:`([^`\s]+)`:\n\n)?```(\w+)\n(.*?)^```$", re.M | re.S)
TYPED = {
    "hlteval demo",
    "cd hlteval-demo",
    "cd build/demo",
    'export PATH="$PWD/.venv/bin:$PATH"',
    "pip install .",
    "pip install hlteval",
}
"""Commands in blocks that are not run: what comes before there is a folder to run in."""
ELSEWHERE = {
    "adding.md": "test_skeleton.py",
    "extending.md": "test_extending.py",
    "extending-formats.md": "test_extending.py",
    "difference-examples.md": "test_differences.py",
}
"""Pages whose blocks are tried by tests of their own."""


class Block(NamedTuple):
    """A fenced block of a page; `file` names what it is the content of."""

    file: str
    language: str
    text: str


class Session(NamedTuple):
    """A command and what a page shows of its output."""

    command: str
    shown: str


def blocks(page: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a page, of some languages."""
    found = [Block(*parts) for parts in BLOCK.findall(page.read_text("utf-8"))]
    return [block for block in found if not languages or block.language in languages]


def sessions(page: Path) -> Iterator[Session]:
    """Every command of the blocks marked `console`, in order."""
    for block in blocks(page, "console"):
        _, *parts = re.split(r"^\$ ", block.text, flags=re.M)
        for part in parts:
            command, _, shown = part.partition("\n")
            yield Session(command, shown)


def run(command: str, folder: Path) -> str:
    """What a command prints to either stream: hlteval here, all else in a shell that has it."""
    ours, _, rest = command.partition(" | ")
    if not re.fullmatch(r"hlteval [^|<>;&$*`]*", ours):
        return stripped(in_a_shell(command, folder))
    result = called(shlex.split(ours)[1:], folder)
    if not rest:
        return stripped(result.output)
    return stripped(result.stderr + in_a_shell(rest, folder, result.stdout))


def in_a_shell(command: str, folder: Path, given: str | None = None) -> str:
    """What a command prints in a shell that finds the installed hlteval first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"},
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def called(arguments: list[str], folder: Path) -> Result:
    """What hlteval prints, called in this process."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, arguments, prog_name="hlteval")
    finally:
        os.chdir(before)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def stripped(text: str) -> str:
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `hlteval demo` makes."""
    folder = tmp_path_factory.mktemp("pages")
    run("hlteval demo", folder)
    return folder / "hlteval-demo"


def prepared(page: Path, demo: Path, folder: Path) -> Path:
    """A folder of a page's own, with its files."""
    own = folder / "hlteval-demo"
    if page.parent == ROOT / "docs" / "tutorials":
        shutil.copytree(demo / "tutorials", own / "tutorials")
    else:
        shutil.copytree(demo, own, ignore=shutil.ignore_patterns("tutorials"))
    for block in blocks(page):
        if block.file:
            (own / block.file).parent.mkdir(parents=True, exist_ok=True)
            (own / block.file).write_text(block.text, "utf-8")
    return own


def agrees(shown: str, printed: str) -> bool:
    """Whether a text is what was printed, apart from the lines that are left out of it."""
    lines = (
        "(?:.*\n)*?" if line == LEFT_OUT else f"{re.escape(line)}\n" for line in shown.splitlines()
    )
    return re.fullmatch("".join(lines), printed) is not None


def test_lines_are_left_out_where_a_page_says_so_and_nowhere_else():
    assert agrees("a\n…\nd\n", "a\nb\nc\nd\n")
    assert agrees("a\n…\n", "a\n")
    assert not agrees("a\nd\n", "a\nb\nd\n")
    assert not agrees("a\n…\nd\n", "a\nd\ne\n")


def test_what_is_called_here_prints_what_the_program_prints(demo):
    command = "hlteval score seedev-full -r reference -s flawed --lenient"
    here, there = run(command, demo), stripped(in_a_shell(command, demo))
    assert sorted(here.splitlines()) == sorted(there.splitlines())  # the streams may interleave
    assert "note: " in here


@pytest.mark.parametrize("command", ["validate", "explain", "score", "compare", "convert"])
def test_every_command_is_shown(command: str) -> None:
    typed = [session.command for page in (README, *GUIDES) for session in sessions(page)]
    assert any(item.startswith(f"hlteval {command} ") for item in typed)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    "page",
    [page for page in (README, *GUIDES) if page.name not in ELSEWHERE and blocks(page, "console")],
    ids=lambda page: page.name,
)
def test_every_command_prints_what_its_page_shows(page: Path, demo: Path, tmp_path: Path) -> None:
    folder = prepared(page, demo, tmp_path)
    for command, shown in sessions(page):
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")
            continue
        printed = run(command, folder)
        assert agrees(shown, printed), f"$ {command}\n{printed}"


@pytest.mark.parametrize(
    "page",
    [page for page in (README, *GUIDES) if page.name not in ELSEWHERE],
    ids=lambda page: page.name,
)
def test_nothing_that_is_typed_is_left_untried(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not re.search(r"^ {4,}(?:\$ )?hlteval ", text, re.M)
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for block in blocks(page, "sh", "bash", "shell"):
        for line in block.text.splitlines():
            command = line.partition("#")[0].strip()
            made = re.fullmatch(r"make (\w+)", command)
            assert command in TYPED or (made and made[1] in targets), command


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "page",
    [page for page in (README, *GUIDES) if page.name not in ELSEWHERE and blocks(page, "python")],
    ids=lambda page: page.name,
)
def test_python_gives_what_its_page_shows(
    page: Path, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(prepared(page, demo, tmp_path))
    text = "\n".join(block.text for block in blocks(page, "python"))
    example = doctest.DocTestParser().get_doctest(text, {}, page.name, page.name, 0)
    told: list[str] = []
    result = doctest.DocTestRunner().run(example, out=told.append)
    assert result.attempted
    assert not result.failed, "".join(told)


def same(shown: Any, printed: Any) -> bool:
    """Whether JSON is what a page shows: `…` is any text, a list may show some of its items."""
    if isinstance(shown, dict) and isinstance(printed, dict):
        return list(shown) == list(printed) and all(same(shown[k], printed[k]) for k in shown)
    if isinstance(shown, list) and isinstance(printed, list):
        some = bool(shown) or not printed
        return some and all(any(same(item, other) for other in printed) for item in shown)
    if isinstance(shown, float):
        return printed == pytest.approx(shown, abs=5e-4)
    return (shown == LEFT_OUT and isinstance(printed, str)) or shown == printed


def test_json_is_what_the_page_shows(demo):
    shown = [json.loads(block.text) for block in blocks(ROOT / "docs" / "programs.md", "json")]
    verdict = run("hlteval validate seedev-full flawed --against reference --format json", demo)
    scores = run("hlteval score seedev-full -r reference -s system --format json", demo)
    printed = [json.loads(verdict), json.loads(scores)]
    assert len(shown) == len(printed)
    assert same(shown[0], printed[0]), verdict
    assert same(shown[1], printed[1]), scores


def test_what_a_workflow_runs_is_what_there_is():
    workflow, hooks, (other,) = (
        yaml.safe_load(block.text) for block in blocks(ROOT / "docs" / "programs.md", "yaml")
    )
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    given = workflow["jobs"]["submission"]["steps"][-1]["with"]
    assert set(given) <= set(action["inputs"])
    assert given["task"] in tasks.BUILTIN
    assert "--format github" in action["runs"]["steps"][-1]["run"]
    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (hook,) = hooks["repos"][0]["hooks"]
    for each in (hook, other):
        assert each["id"] in {item["id"] for item in offered}
        assert each["args"][0] in tasks.BUILTIN


@pytest.mark.parametrize(
    ("shown", "printed"),
    [({}, {"a": 1}), ([], [1]), ([2], [1]), ("a", "b"), (0.5, 0.51), (1, None)],
)
def test_other_json_is_not_what_is_shown(shown, printed):
    assert not same(shown, printed)


def test_the_readme_knows_every_task_and_format():
    lines = README.read_text("utf-8").splitlines()
    rows = {line.split("`")[1] for line in lines if line.startswith("| `")}
    assert rows == {*tasks.BUILTIN, *converters.BUILTIN}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_there_are(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    for name, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", text):
        target = (page.parent / name) if name else page
        assert target.exists(), f"{page.name} links to {name}"
        if anchor:
            assert anchor in headings(target), f"{page.name} links to {name}#{anchor}"


@cache
def headings(page: Path) -> set[str]:
    """The anchors of the headings of a page, and those that it names itself."""
    text = page.read_text("utf-8")
    lines = re.findall(r"^#+ (.*)$", text, re.M)
    named = set(re.findall(r'<a id="([^"]+)"></a>', text))
    return named | {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}
