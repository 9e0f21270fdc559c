"""HUB-4 templettes at growing sizes: validating and scoring, beside merely reading the bytes.

    python benchmarks/hub4.py [--shared ../shared] [--sizes 1000,10000] [--json FILE]

Documents with about eight instances on both sides are made by the shared generator in a temporary
folder. Each command runs in a process of its own, whose CPU time and peak memory the operating
system tells. Beside them stands what was measured of the peers: bare Lark with an embedded
transformer reads 2.5 MB/s, and a literal scorer in Python takes 4.8 s for one mode of 1,000
documents. Nothing is asserted.
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
BYTES = "import sys; [open(path, 'rb').read() for path in sys.argv[1:]]"
START = "pass"
HLTEVAL = [sys.executable, "-m", "hlteval"]


class Usage(NamedTuple):
    """What a process took: seconds of CPU and by the clock, and megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


def measured(command: list[str]) -> Usage:
    """Run a command, its output thrown away."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def generated(shared: Path, size: int, folder: Path) -> Path:
    """A folder with so many documents: corpus, reference, and a system's instances."""
    made = folder / str(size)
    generator = str(shared / "tools" / "gen_hub4.py")
    command = [sys.executable, generator, "--docs", str(size), "--events", "4", "--out", str(made)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def changed(corpus: Path, share: float = 0.15) -> Path:
    """A corpus of the same documents with some words changed, as a recognizer would."""
    chance = random.Random(5)
    lines = []
    for line in corpus.read_text("utf-8").split("\n"):
        words = line.split(" ")
        if "<" not in line:
            words = [word if chance.random() > share else "well" for word in words]
        lines.append(" ".join(words))
    path = corpus.with_name("hyp_corpus.sgml")
    path.write_text("\n".join(lines), "utf-8")
    return path


def rows(sizes: list[int], shared: Path, folder: Path) -> Iterator[dict[str, object]]:
    """What each command takes at each size."""
    start = measured([sys.executable, "-c", START])
    for size in sizes:
        made = generated(shared, size, folder)
        corpus, reference, system = (
            str(made / name) for name in ("corpus.sgml", "reference.tpl", "hypothesis.tpl")
        )
        scoring = [*HLTEVAL, "score", "hub4", "-r", reference, "-s", system]
        commands = {
            "validate": [*HLTEVAL, "validate", "hub4", system],
            "validate --corpus": [*HLTEVAL, "validate", "hub4", system, "--corpus", corpus],
            "score --mode both": [*scoring, "--mode", "both"],
            "score": scoring,
            "score -o": [*scoring, "-o", str(made / "scores")],
            "score --align": [
                *scoring,
                *("--corpus", corpus, "--hyp-corpus", str(changed(Path(corpus)))),
            ],
        }
        megabytes = sum(Path(path).stat().st_size for path in (reference, system)) / 1e6
        reading = measured([sys.executable, "-c", BYTES, reference, system])
        for name, command in commands.items():
            yield row(name, size, megabytes, measured(command), start, reading)


def row(
    name: str, size: int, megabytes: float, usage: Usage, start: Usage, reading: Usage
) -> dict[str, object]:
    """One line of the report."""
    bare = max(reading.cpu - start.cpu, 1e-3)
    return {
        "command": name,
        "documents": size,
        "templates_mb": round(megabytes, 2),
        "cpu_s": round(usage.cpu, 2),
        "wall_s": round(usage.wall, 2),
        "peak_mb": round(usage.peak),
        "times_reading_bytes": round((usage.cpu - start.cpu) / bare),
    }


def exponents(listed: list[dict[str, object]]) -> dict[str, float]:
    """The growth of each command between the last two sizes: 1 is linear."""
    found = {}
    for name in dict.fromkeys(str(one["command"]) for one in listed):
        some = [one for one in listed if one["command"] == name]
        if len(some) > 1:
            small, large = some[-2:]
            sizes = log(float(str(large["documents"])) / float(str(small["documents"])))
            costs = log(float(str(large["cpu_s"])) / max(float(str(small["cpu_s"])), 1e-3))
            found[name] = round(costs / sizes, 2)
    return found


def main() -> None:
    """Report as a table, and as JSON where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with tempfile.TemporaryDirectory() as name:
        listed: list[dict[str, object]] = []
        for one in rows(sizes, given.shared, Path(name)):
            if not listed:
                print("\t".join(one))
            print("\t".join(map(str, one.values())), flush=True)
            listed.append(one)
    print("growth exponents:", exponents(listed))
    if given.json:
        given.json.write_text(
            json.dumps({"rows": listed, "exponents": exponents(listed)}, indent=1)
        )


if __name__ == "__main__":
    main()
