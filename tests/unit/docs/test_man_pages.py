"""Manual pages: one for each command, with all its options, and without a warning of roff."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from docs.make.man_pages import man_pages, roff, write
from docs.make.option_page import COMMANDS, PER_TASK, taken
from hlteval import tasks
from hlteval.cli.process import exit_codes


def test_every_command_has_a_page(tmp_path: Path) -> None:
    write(tmp_path)
    names = {f"hlteval-{name.replace(' ', '-')}.1" for name in COMMANDS} | {"hlteval.1"}
    assert {path.name for path in (tmp_path / "man1").iterdir()} == names == set(man_pages())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_all_options_and_exit_codes(command: str) -> None:
    page = man_pages()[f"hlteval-{command.replace(' ', '-')}.1"]
    for item in taken(command, COMMANDS[command]):
        assert roff(item.names[-1]) in page
    for code, meaning in exit_codes(command).items():
        assert f".B {code}\n{roff(meaning)}" in page
    named = [task for task in tasks.BUILTIN if f".SH OPTIONS OF {roff(task)}\n" in page]
    assert bool(named) == (command in PER_TASK)


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_roff_accepts_the_pages() -> None:
    text = "".join(man_pages().values())
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-rLL=78n"],
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = re.sub(".\b", "", done.stdout)  # bold letters are printed twice
    assert "--by-folder" in shown
    assert "hlteval-manifest-check(1)" in shown
