"""SeeDev at growing sizes: reading, validating and scoring, beside merely reading the bytes.

    python benchmarks/seedev.py [--shared ../shared] [--sizes 1,10,100,500] [--json FILE]

Copies of the SeeDev-binary development set and of a system's predictions for it are made in a
temporary folder; each command then runs in a process of its own, whose CPU time and peak memory the
operating system tells. Without the shared folder, the demonstration's documents are copied instead.
The official software needs 18.9 s of CPU and 2.8 GB to score 500 copies, and 27 s (wall) to check
them (Java 17, two cores; measured elsewhere).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
READ = """
import os, sys
for folder in sys.argv[1:]:
    for entry in os.scandir(folder):
        file = os.open(entry.path, os.O_RDONLY)
        while os.read(file, 1 << 20):
            pass
        os.close(file)
"""


class Usage(NamedTuple):
    """What a process took: seconds of CPU and of the clock, and megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


class Files(NamedTuple):
    """The files of one copy, by name: reference and predictions."""

    task: str
    reference: dict[str, bytes]
    system: dict[str, bytes]


def originals(shared: Path) -> Files:
    """The files that are copied."""
    cases = shared / "cases" / "seedev"
    if cases.is_dir():
        gold = cases / "corpora" / "BioNLP-ST-2016_SeeDev-binary_dev.zip"
        return Files("seedev-binary", _members(gold), _members(cases / "b03_mixed" / "pred.zip"))
    demo = ROOT / "hlteval" / "demo"
    reference, system = (
        {file.name: file.read_bytes() for file in (demo / side).iterdir()}
        for side in ("reference", "system")
    )
    return Files("seedev-full", reference, system)


def _members(archive: Path) -> dict[str, bytes]:
    with ZipFile(archive) as members:
        return {
            Path(name).name: members.read(name)
            for name in members.namelist()
            if name.endswith((".txt", ".a1", ".a2"))
        }


def copies(files: Files, number: int, folder: Path) -> tuple[Path, Path]:
    """Folders with so many copies of each document, under names of their own."""
    sides = folder / f"reference-{number}", folder / f"system-{number}"
    for side, content in zip(sides, (files.reference, files.system), strict=True):
        side.mkdir()
        for name, data in content.items():
            stem, _, suffix = name.rpartition(".")
            for copy in range(number):
                (side / f"{stem}-{copy}.{suffix}").write_bytes(data)
    return sides


def measured(command: list[str]) -> Usage:
    """Run a command, its output thrown away."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        before = os.times().elapsed
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = os.times().elapsed - before
    if process.returncode:
        sys.exit(f"failed: {' '.join(command)}")
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def best(command: list[str], runs: int) -> Usage:
    """The least of several runs: what else the machine does only adds."""
    return min(measured(command) for _ in range(runs))


def rows(files: Files, sizes: list[int], folder: Path, runs: int) -> Iterator[dict[str, float]]:
    """A row per size."""
    python = sys.executable
    for number in sizes:
        reference, system = map(str, copies(files, number, folder))
        score = [python, "-m", "hlteval", "score", files.task, "-r", reference, "-s", system]
        scored = best(score, runs)
        validate = [python, "-m", "hlteval", "validate", files.task, system]
        checked = best([*validate, "--against", reference, "--format", "concise"], runs)
        raw = best([python, "-c", READ, reference, system], runs)
        documents = number * sum(name.endswith(".txt") for name in files.reference)
        events = number * sum(
            data.count(b"\nE") + data.startswith(b"E")
            for name, data in files.reference.items()
            if name.endswith(".a2")
        )
        yield {
            "copies": number,
            "documents": documents,
            "events": events,
            "score CPU s": scored.cpu,
            "score wall s": scored.wall,
            "score peak MB": scored.peak,
            "validate CPU s": checked.cpu,
            "validate peak MB": checked.peak,
            "bytes CPU s": raw.cpu,
            "score / bytes": scored.cpu / raw.cpu,
        }


def table(listed: list[dict[str, float]]) -> str:
    """The rows as a Markdown table, and how time grows between the last two."""
    head = list(listed[0])
    lines = [f"| {' | '.join(head)} |", f"|{'---:|' * len(head)}"]
    for row in listed:
        cells = (
            f"{row[name]:.2f}" if isinstance(row[name], float) else str(row[name]) for name in head
        )
        lines.append(f"| {' | '.join(cells)} |")
    if len(listed) > 1:
        first, last = listed[-2:]
        grown = log(last["score CPU s"] / first["score CPU s"]) / log(
            last["copies"] / first["copies"]
        )
        lines.append(f"\ngrowth exponent of score CPU between the last two sizes: {grown:.2f}")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sizes", default="1,10,100,500")
    parser.add_argument("--runs", type=int, default=3, help="of which the least is told")
    parser.add_argument("--json", type=Path, help="also write the rows there")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    files = originals(given.shared)
    with tempfile.TemporaryDirectory() as folder:
        listed = list(rows(files, sizes, Path(folder), given.runs))
    print(f"{files.task}, {os.cpu_count()} cores\n\n{table(listed)}")
    if given.json:
        given.json.write_text(json.dumps(listed, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
