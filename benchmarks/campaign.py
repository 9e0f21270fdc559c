"""Campaigns: many small cells, a few large ones, and cells whose results are known.

`overhead` has cells of one document: beside `score in one process`, the time of a cell is what a
campaign adds. `scaling` has cells of several batches with one and with two processes: of twice the
processes, the wall time is half where nothing is serial.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval
from benchmarks.seedev import EVENTS, write

KIND = "binary"
TASK = f"seedev-{KIND}"
SCORES = """\
import sys
from hlteval import score
for path in sys.argv[2:]:
    score("seedev-binary", sys.argv[1], path)
"""


def manifest(folder: Path, submissions: int, documents: int) -> tuple[Path, list[Path]]:
    """The manifest of submissions that differ in an event or two; and all folders."""
    reference, system = write(KIND, documents, EVENTS[KIND], folder)
    paths = [folder / f"system-{number}" for number in range(submissions)]
    for number, path in enumerate(paths):
        shutil.copytree(system, path)
        first = min(path.iterdir())
        events = first.read_text("utf-8").splitlines(keepends=True)
        left_out = {number % len(events), number // len(events)}
        kept = (event for place, event in enumerate(events) if place not in left_out)
        first.write_text("".join(kept), "utf-8")
    lines = [f'{path.name} = "{path.name}"' for path in paths]
    text = [
        'name = "Benchmark"',
        "leaderboards = false",
        "[submissions]",
        *lines,
        f"[tasks.{TASK}]",
    ]
    made = folder / "benchmark.toml"
    made.write_text("\n".join([*text, f'reference = "{reference.name}"\n']), "utf-8")
    return made, [reference, *paths]


def overhead(size: int, folder: Path) -> Iterator[Step]:
    """Cells of one document: scored one after the other, as a campaign, and from its cache."""
    made, (reference, *paths) = manifest(folder, size, 1)
    words = (sys.executable, "-c", SCORES, *map(str, (reference, *paths)))
    yield Step("score in one process", words, [reference, *paths])
    output = folder / "output"
    known = hlteval("campaign", made, "-o", output, "--cache", folder / "cache")
    yield Step("campaign", _anew(known, folder / "cache"))
    yield Step("campaign, all known", known)


def scaling(jobs: int, size: int, folder: Path) -> Iterator[Step]:
    """Four submissions of some documents by one process or two."""
    made, files = manifest(folder, 4, size)
    output, cache = folder / "output", folder / "cache"
    words = ("campaign", made, "-o", output, "--cache", cache, "--jobs", jobs)
    yield Step(f"campaign --jobs {jobs}", _anew(hlteval(*words), cache), files)


def _anew(command: tuple[str, ...], cache: Path) -> tuple[str, ...]:
    """A command after its cache is removed: at the first size, each command runs twice."""
    return ("sh", "-c", f"rm -rf {shlex.quote(str(cache))} && exec {shlex.join(command)}")


BENCHMARKS = (
    Benchmark("campaign overhead", "cells", (1, 10, 40), (1, 10), overhead),
    *(
        Benchmark("campaign", "documents", (1, 1000, 4000), (1, 100), partial(scaling, jobs))
        for jobs in (1, 2)
    ),
)
