"""The README: every command in it is run, and what it shows is what comes out."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hlteval import converters, tasks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LEFT_OUT = "…"
"""A line of its own in what is shown: any number of lines are left out here."""


class Session(NamedTuple):
    """A command and what the README shows of its output."""

    command: str
    shown: str


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def sessions() -> list[Session]:
    """Every command of the blocks marked `console`, in order."""
    found = []
    for block in blocks("console"):
        _, *parts = re.split(r"^\$ ", block, flags=re.M)
        for part in parts:
            command, _, shown = part.partition("\n")
            found.append(Session(command, shown))
    return found


def run(command: str, folder: Path) -> str:
    """What a command prints to either stream, in a shell that finds the installed hlteval first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return re.sub(r"[ \t]+$", "", done.stdout, flags=re.M)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `hlteval demo` makes."""
    folder = tmp_path_factory.mktemp("readme")
    run("hlteval demo", folder)
    return folder / "hlteval-demo"


def agrees(shown: str, printed: str) -> bool:
    """Whether a text is what was printed, apart from the lines that are left out of it."""
    lines = (
        "(?:.*\n)*?" if line == LEFT_OUT else f"{re.escape(line)}\n" for line in shown.splitlines()
    )
    return re.fullmatch("".join(lines), printed) is not None


def test_lines_are_left_out_where_the_readme_says_so_and_nowhere_else():
    assert agrees("a\n…\nd\n", "a\nb\nc\nd\n")
    assert agrees("a\n…\n", "a\n")
    assert not agrees("a\nd\n", "a\nb\nd\n")
    assert not agrees("a\n…\nd\n", "a\nd\ne\n")


def test_the_readme_has_commands():
    commands = [session.command for session in sessions()]
    for command in ("validate", "explain", "score", "convert"):
        assert any(one.startswith(f"hlteval {command} ") for one in commands)
    assert "hlteval demo" in "".join(blocks("sh"))


def test_every_command_prints_what_the_readme_shows(demo):
    for command, shown in sessions():
        printed = run(command, demo)
        assert agrees(shown, printed), f"$ {command}\n{printed}"


def test_the_readme_names_no_other_commands():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for line in "".join(blocks("sh")).splitlines():
        command = line.partition("#")[0].strip()
        made = re.fullmatch(r"make (\w+)", command)
        assert command in {"hlteval demo", "cd hlteval-demo", "pip install ."} or (
            made and made[1] in targets
        )


def test_python_gives_what_the_readme_shows(demo, monkeypatch):
    monkeypatch.chdir(demo)
    (block,) = blocks("python")
    example = doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0)
    told: list[str] = []
    result = doctest.DocTestRunner().run(example, out=told.append)
    assert result.attempted > 5
    assert not result.failed, "".join(told)


def same(shown: Any, printed: Any) -> bool:
    """Whether JSON is what the README shows: `…` is any text, a list may show some of its items."""
    if isinstance(shown, dict) and isinstance(printed, dict):
        return list(shown) == list(printed) and all(same(shown[k], printed[k]) for k in shown)
    if isinstance(shown, list) and isinstance(printed, list):
        some = bool(shown) or not printed
        return some and all(any(same(one, other) for other in printed) for one in shown)
    if isinstance(shown, float):
        return printed == pytest.approx(shown, abs=5e-4)
    return (shown == LEFT_OUT and isinstance(printed, str)) or shown == printed


def test_json_is_what_the_readme_shows(demo):
    shown = [json.loads(block) for block in blocks("json")]
    verdict = run("hlteval validate seedev-full flawed --against reference --format json", demo)
    scores = run("hlteval score seedev-full -r reference -s system --format json", demo)
    printed = [json.loads(verdict), json.loads(scores)]
    assert len(shown) == len(printed)
    assert same(shown[0], printed[0]), verdict
    assert same(shown[1], printed[1]), scores


@pytest.mark.parametrize(
    ("shown", "printed"),
    [({}, {"a": 1}), ([], [1]), ([2], [1]), ("a", "b"), (0.5, 0.51), (1, None)],
)
def test_other_json_is_not_what_is_shown(shown, printed):
    assert not same(shown, printed)


def test_the_readme_knows_every_task_and_format():
    rows = {line.split("`")[1] for line in README.splitlines() if line.startswith("| `")}
    assert rows == {*tasks.BUILTIN, *converters.BUILTIN}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_there_are(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    for name, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", text):
        target = (page.parent / name) if name else page
        assert target.exists(), f"{page.name} links to {name}"
        if anchor:
            assert anchor in headings(target), f"{page.name} links to {name}#{anchor}"


def headings(page: Path) -> set[str]:
    """The anchors of the headings of a page."""
    lines = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    named = set(re.findall(r'<a id="([^"]+)"></a>', page.read_text("utf-8")))
    return named | {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}
