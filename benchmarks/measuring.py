"""What all benchmarks share: a command in a process of its own, a row of what it took, the tables.

A benchmark is a module with a `BENCHMARK`: sizes, a unit, and `steps`, which makes data of a size
in a folder and names the commands that are run on it. Data are drawn from a seed, so that everybody
measures the same. Nothing is asserted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import NamedTuple

HLTEVAL = (sys.executable, "-m", "hlteval")
BYTES = (
    "import pathlib, sys\n"
    "for given in sys.argv[1:]:\n"
    "    path = pathlib.Path(given)\n"
    "    for file in sorted(path.rglob('*')) if path.is_dir() else [path]:\n"
    "        file.is_file() and file.read_bytes()"
)
LEAST = 0.02
"""Seconds below which a time is too short to be compared."""


class Usage(NamedTuple):
    """What a process took: seconds of CPU and by the clock, and megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


class Step(NamedTuple):
    """A command to measure.

    Attributes:
        name: in the report.
        command: as it is run.
        files: what it reads: folders or files.
    """

    name: str
    command: Sequence[str]
    files: Sequence[Path]


@dataclass(frozen=True)
class Benchmark:
    """What is measured of a task.

    Attributes:
        name: of the task.
        unit: what sizes count.
        sizes: from small to large.
        steps: data of a size in a folder, and what is run on them.
        peers: what other programs take, by command and size, as told in their documentation or
            measured once.
        quick: smaller sizes, for a look.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    steps: Callable[[int, Path], Iterable[Step]]
    quick: tuple[int, ...]
    peers: Mapping[tuple[str, int], str] = field(default_factory=dict)


Row = dict[str, str | float | None]


def hlteval(*arguments: object) -> tuple[str, ...]:
    """A command of hlteval."""
    return (*HLTEVAL, *map(str, arguments))


def measured(command: Sequence[str]) -> Usage:
    """Run a command, its output thrown away."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:  # 1 tells of findings
        raise SystemExit(f"failed: {' '.join(command)}")
    wall = time.perf_counter() - begun
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def rows(benchmark: Benchmark, sizes: Sequence[int]) -> Iterator[Row]:
    """A row for each command at each size."""
    start = measured([sys.executable, "-c", "pass"]).cpu
    before: dict[str, tuple[int, float]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for name, command, files in benchmark.steps(size, Path(folder)):
                reading = measured([sys.executable, "-c", BYTES, *map(str, files)]).cpu - start
                usage = measured(command)
                row = _row(benchmark, name, size, usage, files, reading)
                row["growth"] = _growth(before.get(name), size, usage.cpu)
                before[name] = (size, usage.cpu)
                yield row


def _row(
    benchmark: Benchmark,
    name: str,
    size: int,
    usage: Usage,
    files: Sequence[Path],
    reading: float,
) -> Row:
    megabytes = sum(map(_bytes, files)) / 1e6
    return {
        "task": benchmark.name,
        "command": name,
        "size": size,
        "unit": benchmark.unit,
        "MB": round(megabytes, 2),
        "CPU s": round(usage.cpu, 2),
        "wall s": round(usage.wall, 2),
        "peak MB": round(usage.peak),
        "MB/s": round(megabytes / usage.cpu, 1),
        "x bytes": round(usage.cpu / reading) if reading > LEAST else None,
        "growth": None,
        "others": benchmark.peers.get((name, size), ""),
    }


def _bytes(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _growth(before: tuple[int, float] | None, size: int, cpu: float) -> float | None:
    """The exponent of growth since the size before: 1 is linear, with the start it is less."""
    if before is None:
        return None
    return round(log(cpu / before[1]) / log(size / before[0]), 2)


def markdown(listed: Sequence[Row]) -> str:
    """The rows as a table."""
    lines = [f"| {' | '.join(listed[0])} |", f"|{'---|' * len(listed[0])}"]
    lines += [
        f"| {' | '.join('-' if cell is None else str(cell) for cell in row.values())} |"
        for row in listed
    ]
    return "\n".join(lines) + "\n"
