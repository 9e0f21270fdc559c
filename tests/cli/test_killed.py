"""Commands that are killed leave what was there before, or a complete result, and never a part.

The commands run as users run them, on input that takes them a while; SIGKILL comes when the first
unfinished file appears, and at moments drawn from a seed. What stays beside the result is told by
its name, and the next run does not mind it.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hlteval import convert
from hlteval.cli.output import Outputs, show_scores
from hlteval.reports.tables import View
from tests.runs import score

UNFINISHED = re.compile(r"\.out(\.jsonl)?\.[0-9a-f]{8}\.part")
DOCUMENTS = 200
"""Enough for some time between the first unfinished file and the last."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many documents with some events each."""
    folder = tmp_path_factory.mktemp("killed") / "corpus"
    folder.mkdir()
    for number in range(DOCUMENTS):
        text = f"AB{number:05} binds to CD{number:05}. " * 12
        spans = [(at, at + 7) for at in (26 * n for n in range(12))]
        given = [
            f"T{n + 1}\tProtein {start} {end}\t{text[start:end]}"
            for n, (start, end) in enumerate(spans)
        ]
        events = [
            f"E{n}\tBinding Functional_Molecule:T{n} Molecule:T{n % 12 + 1}" for n in range(1, 13)
        ]
        for suffix, lines in ((".a1", given), (".a2", events)):
            (folder / f"d{number}{suffix}").write_text("\n".join([*lines, ""]), "utf-8")
        (folder / f"d{number}.txt").write_text(text, "utf-8")
    return folder


def content(path: Path) -> dict[str, bytes]:
    """The files of a result by name."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


def killed(command: list[str], folder: Path, seconds: float) -> bool:
    """Run a command and kill it some seconds after something new and unfinished is there.

    Whether it was still running then.
    """
    before = set(folder.iterdir())
    with subprocess.Popen(
        [sys.executable, "-m", "hlteval", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"POLARS_MAX_THREADS": "1"},
    ) as process:
        while process.poll() is None and before.issuperset(folder.iterdir()):
            time.sleep(0.001)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL


def unfinished(folder: Path, target: Path) -> int:
    """How many things are beside a result; all of them are told by their names."""
    beside = [path for path in folder.iterdir() if path != target]
    assert all(UNFINISHED.fullmatch(path.name) for path in beside), beside
    return len(beside)


class Tried(NamedTuple):
    """What is killed: the command by its target, the same without a process, and the target."""

    command: Callable[[Path], list[str]]
    again: Callable[[Path], object]
    name: str


def to_file(corpus: Path) -> Tried:
    return Tried(
        lambda target: ["convert", str(corpus), str(target), "--force"],
        lambda target: convert(str(corpus), str(target), force=True),
        "out.jsonl",
    )


def to_folder(corpus: Path) -> Tried:
    return Tried(
        lambda target: ["convert", str(corpus), str(target), "--to", "standoff"],
        lambda target: convert(str(corpus), str(target), to_format="standoff"),
        "out",
    )


def to_scores(corpus: Path) -> Tried:
    given = ["score", "seedev-full", "-r", str(corpus), "-s", str(corpus), "-o"]
    return Tried(
        lambda target: [*given, str(target)],
        lambda target: show_scores(
            score(given[1], str(corpus), str(corpus)), Outputs("tsv"), View(), target
        ),
        "out",
    )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("of", [to_file, to_folder, to_scores])
def test_a_killed_command_leaves_no_part(
    of: Callable[[Path], Tried], corpus: Path, tmp_path: Path
) -> None:
    tried = of(corpus)
    target = tmp_path / tried.name
    running = killed(tried.command(target), tmp_path, 0)
    early = content(target) if target.exists() else None
    assert unfinished(tmp_path, target) == (early is None)
    if of is to_folder and early:
        shutil.rmtree(target)  # `convert` replaces no folder that holds something
    tried.again(target)
    complete = content(target)
    assert early in (None, complete)
    if of is not to_folder:
        old = target / "old.txt" if target.is_dir() else target
        old.write_bytes(b"earlier")
        before = content(target)
        running |= killed(tried.command(target), tmp_path, random.Random(7).uniform(0, 0.05))
        assert content(target) in (before, complete)
        unfinished(tmp_path, target)
        tried.again(target)
        assert content(target) == complete
    assert running, "the input is too small: the command had ended before it was killed"
