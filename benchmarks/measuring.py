"""Toolkit of the benchmarks: measure commands, each in its own process.

A module of benchmarks has one for each sweep: over the number of documents, and over the size of a
single one. A benchmark has sizes, a unit, and `steps`, which generates data of a size in a folder
and yields the commands to measure. The data depend on a fixed seed only. Nothing is asserted about
time; a command that does not end as expected stops the run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import NamedTuple

HLTEVAL = (sys.executable, "-m", "hlteval")
BARE = (sys.executable, "-I", "-S")
"""Python that loads nothing but what it must."""
LEAST = 0.02
"""Minimum CPU time in seconds that is compared."""
LIMIT = 900
"""Maximum wall time of a command in seconds."""
FOLDER = Path(__file__).parent


class Usage(NamedTuple):
    """The resources that a process used.

    Attributes:
        code: exit code; negative for the signal that ended the process.
        cpu: user and system time of all threads in seconds.
        wall: wall time in seconds.
        peak: peak memory in megabytes.
    """

    code: int
    cpu: float
    wall: float
    peak: float


class Peer(NamedTuple):
    """The command of a public program that does the same work.

    Attributes:
        program: name of the executable, in the folder that the user names.
        arguments: its arguments.
    """

    program: str
    arguments: Sequence[str]


class Step(NamedTuple):
    """A command to measure.

    Attributes:
        name: name in the report.
        command: the command as a list of words.
        files: the files and folders that it reads.
        code: the exit code that it must have: 1 where the data have errors; None if either is
            right.
        peer: the public program that does the same.
    """

    name: str
    command: Sequence[str]
    files: Sequence[Path] = ()
    code: int | None = 0
    peer: Peer | None = None


@dataclass(frozen=True)
class Benchmark:
    """A sweep of sizes.

    Attributes:
        name: name of the task.
        unit: unit of the sizes.
        sizes: the sizes in ascending order; the first is so small that it shows the start alone.
        quick: smaller sizes for a quick run; none if it is left out there.
        steps: function that generates data of a size in a folder and yields the commands.
        pairs: whether the sizes are numbers of systems, each pair of which is compared.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    steps: Callable[[int, Path], Iterable[Step]]
    pairs: bool = False


Row = dict[str, str | float | None]


class Failed(Exception):
    """A command did not end as expected; the message is for users."""


def hlteval(*arguments: object) -> tuple[str, ...]:
    """A command of hlteval as a list of words."""
    return (*HLTEVAL, *map(str, arguments))


def run(command: Sequence[str], *, limit: int = LIMIT) -> Usage:
    """Run a command without its output, and kill it after a number of seconds."""
    launcher = [*BARE, str(FOLDER / "launch.py"), str(limit)]
    process = subprocess.run([*launcher, *command], stdout=subprocess.PIPE, check=True, text=True)
    return Usage(**json.loads(process.stdout))


def measure(
    benchmark: Benchmark, sizes: Sequence[int], programs: Path | None = None
) -> Iterator[Row]:
    """Measure each command of a benchmark at each size; one row for each.

    Args:
        benchmark: what is measured.
        sizes: the sizes in ascending order; times of the first are taken for the start.
        programs: the folder with public programs to measure as well.

    Raises:
        Failed: if a command ends with another exit code than its step names.
    """
    growth = Growth()
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for step in benchmark.steps(size, Path(folder)):
                # What is compiled in the first run is not measured.
                if size == sizes[0] and len(sizes) > 1:
                    run(step.command)
                usage = run(step.command)
                if usage.code not in ((0, 1) if step.code is None else (step.code,)):
                    words = " ".join(step.command)
                    raise Failed(f"exit code {usage.code} instead of {step.code}: {words}")
                row = _row(benchmark, size, step, usage)
                row["exponent"] = growth.exponent(step.name, size, usage.cpu)
                if benchmark.pairs:
                    row |= growth.shares(step.name, size, usage.cpu)
                yield row | _beside(step.peer, programs, usage)


class Growth:
    """The growth of CPU time with the size, without the start."""

    def __init__(self) -> None:
        self._starts: dict[str, float] = {}
        self._previous: dict[str, tuple[int, float]] = {}
        self._every: dict[str, list[tuple[int, float]]] = {}

    def exponent(self, name: str, size: int, cpu: float) -> float | None:
        """The exponent of growth since the previous size; None if there is too little time.

        Examples:
            >>> growth = Growth()
            >>> [growth.exponent("score", size, 1 + size**2) for size in (0, 10, 20)]
            [None, None, 2.0]
        """
        start = self._starts.setdefault(name, cpu)
        before, own = self._previous.get(name), cpu - start
        self._previous[name] = (size, own)
        if before is None or min(own, before[1]) < 10 * LEAST:
            return None
        return round(log(own / before[1]) / log(size / before[0]), 2)

    def shares(self, name: str, systems: int, cpu: float) -> Row:
        """The CPU time of each system and of each pair; none before the third size.

        They solve the last three times: a start, a share per system and a share per pair.

        Examples:
            >>> growth = Growth()
            >>> for size in (2, 4, 8):
            ...     row = growth.shares("compare", size, 1 + 0.5 * size + 0.25 * size * (size - 1))
            >>> row
            {'s per system': 0.5, 's per pair': 0.5}
        """
        import numpy as np

        self._every.setdefault(name, []).append((systems, cpu))
        last = self._every[name][-3:]
        solved = (None, None, None)
        if len(last) == 3:
            numbers = [(1, size, size * (size - 1) / 2) for size, _ in last]
            times = [time for _, time in last]
            solved = tuple(np.linalg.solve(numbers, times).round(4).tolist())
        return {"s per system": solved[1], "s per pair": solved[2]}


def reading(files: Sequence[Path]) -> float:
    """The CPU time in seconds of only reading files: the least of three runs, without the start."""
    script = str(FOLDER / "read_bytes.py")
    start, *times = (
        min(run([*BARE, script, *map(str, paths)]).cpu for _ in range(3)) for paths in ((), files)
    )
    return times[0] - start


def _row(benchmark: Benchmark, size: int, step: Step, usage: Usage) -> Row:
    megabytes = sum(map(_bytes, step.files)) / 1e6
    floor = reading(step.files) if step.files else 0
    return {
        "task": benchmark.name,
        "command": step.name,
        "size": size,
        "unit": benchmark.unit,
        "MB": round(megabytes, 2),
        "CPU s": round(usage.cpu, 2),
        "wall s": round(usage.wall, 2),
        "peak MB": round(usage.peak),
        "x reading": round(usage.cpu / floor, 1) if floor > LEAST else None,
        "exponent": None,
        "s per system": None,
        "s per pair": None,
    }


def _beside(peer: Peer | None, programs: Path | None, usage: Usage) -> Row:
    """The columns of the public program; empty without a folder of programs."""
    if programs is None:
        return {}
    columns: Row = dict.fromkeys(("peer", "peer code", "peer CPU s", "peer peak MB", "x peer"))
    if peer is None or not os.access(programs / peer.program, os.X_OK):
        return columns
    theirs = run([str((programs / peer.program).absolute()), *peer.arguments])
    values = (peer.program, theirs.code, round(theirs.cpu, 2), round(theirs.peak))
    return dict(zip(columns, (*values, round(usage.cpu / theirs.cpu, 2)), strict=True))


def _bytes(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = [f"| {' | '.join(rows[0])} |", f"|{'---|' * len(rows[0])}"]
    lines += [
        f"| {' | '.join('-' if cell is None else str(cell) for cell in row.values())} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
