"""HUB-4 template sets at growing sizes: reading and converting, beside merely reading the bytes.

    python benchmarks/hub4_reading.py [--shared ../shared] [--sizes 100,1000,10000] [--json FILE]

Documents with about four instances each are made by the shared generator in a temporary folder.
Each step runs in a process of its own, whose CPU time and peak memory the operating system tells;
its start and imports are taken off by reading a set of one document. Beside it, what others need
for 10,000 documents on such a machine: a line parser by hand, without checks, 9.7 MB/s, one regular
expression 10.8, bare Lark with an embedded transformer 2.5. Nothing is asserted.
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
READ = """
import sys
from hlteval.converters import load
from hlteval.sources import open_source
for reading in load(sys.argv[1]).read(open_source(sys.argv[2])):
    assert not reading.findings
"""
BYTES = "import sys; open(sys.argv[2], 'rb').read()"
HLTEVAL = [sys.executable, "-m", "hlteval"]


class Usage(NamedTuple):
    """What a process took: seconds of CPU and of the clock, and megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


def measured(command: list[str]) -> Usage:
    """Run a command, its output thrown away."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    wall = time.perf_counter() - begun
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def generated(shared: Path, size: int, folder: Path) -> Path:
    """A folder with so many documents: corpus, reference and hypothesis."""
    made = folder / str(size)
    options = ["--docs", str(size), "--events", "4", "--seed", "1", "--out", str(made)]
    command = [sys.executable, str(shared / "tools" / "gen_hub4.py"), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def steps(made: Path) -> dict[str, tuple[Path, list[str]]]:
    """The steps by name, each with the file that it is about."""
    reference, corpus = made / "reference.tpl", made / "corpus.sgml"
    python = [sys.executable, "-c"]
    side = ["--side", "reference"]
    return {
        "bytes": (reference, [*python, BYTES, "hub4", str(reference)]),
        "read hub4": (reference, [*python, READ, "hub4", str(reference)]),
        "read sgml-corpus": (corpus, [*python, READ, "sgml-corpus", str(corpus)]),
        "validate --corpus": (
            reference,
            [*HLTEVAL, "validate", "hub4", str(reference), "--corpus", str(corpus), *side],
        ),
        "convert to hub4": (
            reference,
            [*HLTEVAL, "convert", str(reference), str(made / "again.tpl")],
        ),
        "convert to jsonl": (
            reference,
            [*HLTEVAL, "convert", str(reference), str(made / "kept.jsonl")],
        ),
    }


def rows(sizes: list[int], shared: Path, folder: Path) -> Iterator[dict[str, object]]:
    """What each step takes at each size, its start taken off."""
    start = {name: measured(step[1]) for name, step in steps(generated(shared, 1, folder)).items()}
    for size in sizes:
        bare = 0.0
        for name, (file, command) in steps(generated(shared, size, folder)).items():
            usage, megabytes = measured(command), file.stat().st_size / 1e6
            cpu = max(usage.cpu - start[name].cpu, 1e-3)
            bare = cpu if name == "bytes" else bare
            yield {
                "step": name,
                "documents": size,
                "mb": round(megabytes, 2),
                "cpu_s": round(cpu, 3),
                "wall_s": round(max(usage.wall - start[name].wall, 0), 3),
                "peak_mb": round(usage.peak),
                "mb_per_cpu_s": round(megabytes / cpu, 1),
                "times_bytes": round(cpu / bare) if bare > 0.005 else None,  # too short to tell
            }


def exponents(listed: list[dict[str, object]]) -> dict[str, float]:
    """The growth of each step between the last two sizes: 1 is linear."""
    found = {}
    for name in dict.fromkeys(str(one["step"]) for one in listed):
        some = [one for one in listed if one["step"] == name]
        if len(some) > 1 and name != "bytes":
            small, large = some[-2:]
            sizes = log(float(str(large["documents"])) / float(str(small["documents"])))
            costs = log(float(str(large["cpu_s"])) / float(str(small["cpu_s"])))
            found[name] = round(costs / sizes, 2)
    return found


def main() -> None:
    """Report as a table, and as JSON where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with tempfile.TemporaryDirectory() as name:
        listed = list(rows(sizes, given.shared, Path(name)))
    print("\t".join(listed[0]))
    for one in listed:
        print("\t".join(map(str, one.values())))
    print("growth exponents:", exponents(listed))
    if given.json:
        given.json.write_text(
            json.dumps({"rows": listed, "exponents": exponents(listed)}, indent=1)
        )


if __name__ == "__main__":
    main()
