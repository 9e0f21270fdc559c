"""Toolkit of the benchmarks: measure commands, each in its own process, and print tables.

A benchmark is a module with a `BENCHMARK`: sizes, a unit, and `steps`, which generates data of a
size in a folder and yields the commands to measure. The data depend on a fixed seed only. Nothing
is asserted.
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
"""Minimum time in seconds for a comparison."""


class Usage(NamedTuple):
    """The resources that a process used: CPU and wall time in seconds, peak memory in megabytes."""

    cpu: float
    wall: float
    peak: float


class Step(NamedTuple):
    """A command to measure.

    Attributes:
        name: name in the report.
        command: the command as a list of words.
        files: the files and folders that it reads.
    """

    name: str
    command: Sequence[str]
    files: Sequence[Path]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark of a task.

    Attributes:
        name: name of the task.
        unit: unit of the sizes.
        sizes: the sizes in ascending order.
        steps: function that generates data of a size in a folder and yields the commands.
        quick: smaller sizes for a quick run.
        peers: the resources of other programs by command and size, from their documentation or
            from one measurement.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    steps: Callable[[int, Path], Iterable[Step]]
    quick: tuple[int, ...]
    peers: Mapping[tuple[str, int], str] = field(default_factory=dict)


Row = dict[str, str | float | None]


def hlteval(*arguments: object) -> tuple[str, ...]:
    """A command of hlteval as a list of words."""
    return (*HLTEVAL, *map(str, arguments))


def run(command: Sequence[str]) -> Usage:
    """Run a command without its output.

    Raises:
        SystemExit: if the command fails.
    """
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:  # 1: it has findings
        raise SystemExit(f"failed: {' '.join(command)}")
    wall = time.perf_counter() - start
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def measure(benchmark: Benchmark, sizes: Sequence[int]) -> Iterator[Row]:
    """Measure each command of a benchmark at each size; one row for each."""
    start = run([sys.executable, "-c", "pass"]).cpu
    previous: dict[str, tuple[int, float]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for name, command, files in benchmark.steps(size, Path(folder)):
                reading = run([sys.executable, "-c", BYTES, *map(str, files)]).cpu - start
                usage = run(command)
                row = _row(benchmark, name, size, usage, files, reading)
                if name in previous:  # below 1 for linear growth, because of the start
                    old_size, cpu = previous[name]
                    row["growth"] = round(log(usage.cpu / cpu) / log(size / old_size), 2)
                previous[name] = (size, usage.cpu)
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


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = [f"| {' | '.join(rows[0])} |", f"|{'---|' * len(rows[0])}"]
    lines += [
        f"| {' | '.join('-' if cell is None else str(cell) for cell in row.values())} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
