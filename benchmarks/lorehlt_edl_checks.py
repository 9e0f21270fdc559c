"""Checking entity mentions at growing sizes, beside merely reading the table.

    python benchmarks/lorehlt_edl_checks.py [--shared ../shared] [--sizes 2000,20000,100000,400000]

A hundred mentions a document are made by the shared generator in a temporary folder. Each command
runs in a process of its own, whose CPU time and peak memory the operating system tells; from the
CPU time, that of starting Python is subtracted before anything is compared. The last rows are hard
cases: all mentions in one document and crossing, and a table in which every tenth line is wrong.
The public validator takes 0.18 s for 2,000 mentions, 1.9 s for 20,000 and 16.9 s and 83 MB for
100,000: it compares all pairs of a document. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
READ = "import sys; [line.split('\\t') for line in open(sys.argv[1], encoding='utf-8')]"
START = "pass"
HLTEVAL = [sys.executable, "-m", "hlteval", "validate", "lorehlt-edl"]
PER_DOCUMENT = 100
PEER = {2000: (0.18, 7), 20000: (1.9, 21), 100000: (16.9, 83)}
"""Seconds and megabytes of the public validator, by mentions."""


class Usage(NamedTuple):
    """What a process took: seconds of CPU and by the clock, and megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


def measured(command: list[str]) -> Usage:
    """Run a command, its output thrown away."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def generated(shared: Path, size: int, folder: Path, *, texts: bool = False) -> Path:
    """A folder with about so many mentions of a system, and the list of their documents."""
    made = folder / str(size)
    documents = ["--docs", str(size // PER_DOCUMENT), "--mentions-per-doc", str(PER_DOCUMENT)]
    generator = [sys.executable, str(shared / "tools" / "gen_edl.py"), "--seed", "7", *documents]
    command = [*generator, "--out", str(made), *(["--ltf"] if texts else [])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def crossing(size: int, folder: Path) -> Path:
    """A table of mentions of one document, each of which crosses thousands of others."""
    path = folder / "crossing.tab"
    lines = (f"R\tm{i}\tx\tD1:{i}-{i + size // 2}\t1\tGPE\tNAM\t1.0\n" for i in range(size))
    path.write_text("".join(lines), "utf-8")
    return path


def flawed(system: Path, folder: Path) -> Path:
    """A table in which every tenth line has a fault, of five kinds in turn."""
    faults = [("\tNAM\t", "\tnam\t"), ("\tNIL", "\tnil"), (":", ": "), ("\t1.0", "\t1"), ("-", "")]
    lines = system.read_text("utf-8").splitlines(keepends=True)
    for number in range(0, len(lines), 10):
        lines[number] = lines[number].replace(*faults[number // 10 % len(faults)])
    path = folder / "flawed.tab"
    path.write_text("".join(lines), "utf-8")
    return path


def rows(sizes: list[int], shared: Path, folder: Path) -> Iterator[dict[str, object]]:
    """What each command takes at each size."""
    start = measured([sys.executable, "-c", START])
    for size in sizes:
        texts = size == min(sizes)
        made = generated(shared, size, folder, texts=texts)
        system = made / "system.tab"
        reading = measured([sys.executable, "-c", READ, str(system)])
        commands = {"validate": [*HLTEVAL, str(system)]}
        commands["validate --documents"] = [
            *(*HLTEVAL, str(system), "--documents", str(made / "doclist.txt")),
        ]
        if texts:
            commands["validate --against"] = [*HLTEVAL, str(system), "--against", str(made / "ltf")]
        if size == max(sizes):
            commands["validate, all crossing"] = [*HLTEVAL, str(crossing(size, folder))]
            commands["validate, 10 % faults"] = [*HLTEVAL, str(flawed(system, folder))]
        yield row("reading", size, reading, reading, start)
        for name, command in commands.items():
            yield row(name, size, measured(command), reading, start)


def row(name: str, size: int, usage: Usage, reading: Usage, start: Usage) -> dict[str, object]:
    """One line of the report."""
    bare = reading.cpu - start.cpu
    ratio = round((usage.cpu - start.cpu) / bare, 1) if bare > 0.02 else None  # too short to tell
    peer = PEER.get(size, (None, None)) if name == "validate" else (None, None)
    return {
        "command": name,
        "mentions": size,
        "cpu_s": round(usage.cpu, 2),
        "wall_s": round(usage.wall, 2),
        "peak_mb": round(usage.peak),
        "times_reading": ratio,
        "peer_s": peer[0],
        "peer_mb": peer[1],
    }


def exponents(listed: list[dict[str, object]]) -> dict[str, float]:
    """The growth of each command between the last two sizes: 1 is linear."""
    found = {}
    for name in dict.fromkeys(str(one["command"]) for one in listed):
        some = [one for one in listed if one["command"] == name]
        if len(some) > 1:
            small, large = some[-2:]
            sizes = log(float(str(large["mentions"])) / float(str(small["mentions"])))
            costs = log(float(str(large["cpu_s"])) / max(float(str(small["cpu_s"])), 1e-3))
            found[name] = round(costs / sizes, 2)
    return found


def main() -> None:
    """Report as a table, and as JSON where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sizes", default="2000,20000,100000,400000")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with tempfile.TemporaryDirectory() as name:
        listed = list(rows(sizes, given.shared, Path(name)))
    print("\t".join(listed[0]))
    for one in listed:
        print("\t".join("-" if value is None else str(value) for value in one.values()))
    print("growth exponents:", exponents(listed))
    if given.json:
        found = {"rows": listed, "exponents": exponents(listed)}
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
