"""Scoring entity mentions at growing sizes, beside merely reading the two tables.

    python benchmarks/lorehlt_edl.py [--shared ../shared] [--sizes 2000,20000,100000,400000]
                                     [--large 2000000] [--json FILE]

A hundred mentions a document are made by the shared generator in a temporary folder. Each command
runs in a process of its own, whose CPU time and peak memory the operating system tells; from the
CPU time, that of starting Python is subtracted before anything is compared. `score` validates the
submission and gives all measures of section 17.3; `all` gives every measure; `sets and overlaps` is
measured at the large size as well, made of copies of the documents. The hard cases are clusterings
drawn at random, whose clusters nearly all hang together. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SPLIT = (
    "import sys; [[line.split('\\t') for line in open(p, encoding='utf-8')] for p in sys.argv[1:]]"
)
READ = "import sys, hlteval; [hlteval.read(p) for p in sys.argv[1:]]"
START, IMPORT = "pass", "import hlteval.runs.scoring"
HLTEVAL = [sys.executable, "-m", "hlteval", "score", "lorehlt-edl", "--format", "tsv"]
PER_DOCUMENT = 100
SETS = ["strong_mention_match", "strong_typed_mention_match", "strong_typed_all_match"]
SETS += ["strong_typed_link_match", "strong_typed_nil_match", "entity_match"]
SETS += [f"overlap-{x}{y}::span" for x in ("max", "sum") for y in ("max", "sum")]
PEER = {
    ("score", 2000): "1.9 s, 73 MB",
    ("score", 20000): "12.4 s, 227 MB",
    ("score", 100000): "mention_ceaf alone > 200 s, 3196 MB",
    ("sets and overlaps", 100000): "23 s, 240 MB",
    ("sets and overlaps", 400000): "89 s, 764 MB",
}
"""What the public scorer takes by the clock, and its peak, by command and mentions."""


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


def generated(shared: Path, size: int, folder: Path) -> list[str]:
    """Tables of a reference with about so many mentions, and of a system."""
    made = folder / str(size)
    documents = ["--docs", str(size // PER_DOCUMENT), "--mentions-per-doc", str(PER_DOCUMENT)]
    generator = [sys.executable, str(shared / "tools" / "gen_edl.py"), "--seed", "7", *documents]
    subprocess.run([*generator, "--out", str(made)], check=True, stdout=subprocess.DEVNULL)
    return [str(made / "gold.tab"), str(made / "system.tab")]


def copied(tables: list[str], times: int, folder: Path) -> list[str]:
    """The same tables several times over, each time with other documents and mention ids."""
    paths = []
    for table in tables:
        lines = Path(table).read_text("utf-8").splitlines()
        paths.append(str(folder / f"large-{Path(table).name}"))
        with Path(paths[-1]).open("w", encoding="utf-8") as stream:
            for time_ in range(times):
                for line in lines:
                    run, mention, text, extent, *rest = line.split("\t")
                    cells = (run, f"{mention}-{time_}", text, f"{extent[:4]}{time_}{extent[4:]}")
                    stream.write("\t".join((*cells, *rest)) + "\n")
    return paths


def at_random(size: int, folder: Path) -> list[str]:
    """Two clusterings of the same mentions that have nothing to do with each other."""
    draw = random.Random(7)
    paths = []
    for side in ("gold", "system"):
        paths.append(str(folder / f"random-{side}.tab"))
        with Path(paths[-1]).open("w", encoding="utf-8") as stream:
            for at in range(size):
                start, entity = at % PER_DOCUMENT * 10, draw.randrange(size // 4)
                extent = f"ENG_{at // PER_DOCUMENT:06}:{start}-{start + 5}"
                stream.write(f"R\tm{at}\tname\t{extent}\tNIL{entity}\tPER\tNAM\t1.0\n")
    return paths


def score(tables: list[str], *names: str) -> list[str]:
    """The command that gives some measures, or all."""
    chosen = [part for name in names for part in ("-m", name)]
    return [*HLTEVAL, "-r", tables[0], "-s", tables[1], *chosen]


def rows(sizes: list[int], large: int, shared: Path, folder: Path) -> Iterator[dict[str, object]]:
    """What each command takes at each size."""
    bare, start = (measured([sys.executable, "-c", code]) for code in (START, IMPORT))
    tables: list[str] = []
    for size in sizes:
        tables = generated(shared, size, folder)
        commands = {
            "split lines": ([sys.executable, "-c", SPLIT, *tables], bare),
            "read": ([sys.executable, "-c", READ, *tables], start),
            "score": (score(tables, "plan"), start),
            "all": (score(tables), start),
            "sets and overlaps": (score(tables, *SETS), start),
        }
        yield from listed(commands, size)
    if large > sizes[-1]:
        tables = copied(tables, large // sizes[-1], folder)
        commands = {
            "read": ([sys.executable, "-c", READ, *tables], start),
            "sets and overlaps": (score(tables, *SETS), start),
        }
        yield from listed(commands, large)
    size = sizes[-1]
    tables = at_random(size, folder)
    commands = {
        "read": ([sys.executable, "-c", READ, *tables], start),
        "random clusters: score": (score(tables, "plan"), start),
    }
    yield from listed(commands, size)


def listed(commands: dict[str, tuple[list[str], Usage]], size: int) -> Iterator[dict[str, object]]:
    """The lines of the report for commands at a size, beside the first of them that reads."""
    reading = 0.0
    for name, (command, start) in commands.items():
        usage = measured(command)
        own = usage.cpu - start.cpu
        if name == "read":
            reading = own
        yield {
            "command": name,
            "mentions": size,
            "cpu_s": round(usage.cpu, 2),
            "wall_s": round(usage.wall, 2),
            "peak_mb": round(usage.peak),
            "times_reading": round(own / reading, 1) if reading > 0.05 else None,
            "public_scorer": PEER.get((name, size), ""),
        }


def exponents(report: list[dict[str, object]]) -> dict[str, float]:
    """The growth of each command between its last two sizes: 1 is linear."""
    found = {}
    for name in dict.fromkeys(str(one["command"]) for one in report):
        some = [one for one in report if one["command"] == name]
        some = sorted({int(str(one["mentions"])): one for one in some}.items())[-2:]
        if len(some) == 2:
            (small, before), (great, after) = some
            costs = float(str(after["cpu_s"])) / max(float(str(before["cpu_s"])), 1e-3)
            found[name] = round(log(costs) / log(great / small), 2)
    return found


def main() -> None:
    """Report as a table, and as JSON where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sizes", default="2000,20000,100000,400000")
    parser.add_argument("--large", type=int, default=2_000_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    report = []
    with tempfile.TemporaryDirectory() as name:
        for one in rows(sizes, given.large, given.shared, Path(name)):
            if not report:
                print("\t".join(one))
            report.append(one)
            print("\t".join(map(str, one.values())), flush=True)
    print("growth exponents:", exponents(report))
    if given.json:
        given.json.write_text(
            json.dumps({"rows": report, "exponents": exponents(report)}, indent=1)
        )


if __name__ == "__main__":
    main()
