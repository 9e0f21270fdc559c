"""LTF at growing sizes: checking and converting, beside reading the bytes and bare XML parsing.

    python benchmarks/ltf.py [--megabytes 10,30,100] [--folder FOLDER] [--json FILE]

Documents of some 50 KB in four scripts are made in a temporary folder, or those of a folder are
taken. Each command runs in a process of its own, whose CPU time and peak memory the operating
system tells. Nothing is asserted. For comparison, of other programs on 40 MB such as these, in MB
of CPU second: an XML tree by lxml 20 to 23, with DTD 15 to 18, by the standard library 12; a full
check of offsets in Python over the tree 17; expat with such a check 16.
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

BYTES = "import hashlib, pathlib, sys\nfor f in pathlib.Path(sys.argv[1]).iterdir(): "
READ = BYTES + "hashlib.md5(f.read_bytes())"
PARSE = "from lxml import etree; " + BYTES + "etree.fromstring(f.read_bytes())"
HLTEVAL = [sys.executable, "-m", "hlteval"]
SCRIPTS = (
    "The flood destroyed houses near river rescue teams need water AT&T <b> 1,000.5 don't",
    "Наводнение разрушило дома спасателям нужна вода еда лекарства срочно",
    "الفيضانات دمرت المنازل قرب النهر وفرق الإنقاذ تحتاج إلى الماء",
    "洪水 摧毁 河边 房屋 救援队 急需 水 和 食物 😀 𠮷",
)
SEGMENTS = 35
"""Segments of a document."""


class Usage(NamedTuple):
    """What a process took: seconds of CPU and on the clock, and megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


def measured(command: list[str]) -> Usage:
    """Run a command, its output thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    return Usage(cpu, time.perf_counter() - start, usage.ru_maxrss / 1024)


def text(rng: random.Random) -> str:
    """A document of one script."""
    words = rng.choice(SCRIPTS).split()
    lines = (" ".join(rng.choices(words, k=rng.randint(3, 30))) for _ in range(SEGMENTS))
    return "\n" + "".join(f"{line}.{chr(10) * rng.randint(1, 3)}" for line in lines)


def generated(megabytes: float, folder: Path) -> Path:
    """A folder of LTF of about this size, made in a process of its own."""
    made = folder / f"{megabytes:g}"
    subprocess.run([sys.executable, __file__, "--make", str(made), str(megabytes)], check=True)
    return made


def make(made: Path, megabytes: float) -> None:
    """Write documents to a folder until they are of about this size."""
    from hlteval.converters import load
    from hlteval.representation import Corpus

    rng, total, row, step = random.Random(5), 0, 0, 50 if megabytes else 1
    write = load("ltf").write
    assert write is not None
    while not total or total < megabytes * 1e6:
        names = [f"DOC_{number:06}" for number in range(row, row + step)]
        rows = [{"row": n, "name": name, "text": text(rng)} for n, name in enumerate(names)]
        write([Corpus(documents=rows)], made)
        row += step
        total += sum((made / f"{name}.ltf.xml").stat().st_size for name in names)


def rows(folder: Path, scratch: Path) -> Iterator[dict[str, object]]:
    """What each command takes for a folder, and for a single document."""
    megabytes = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    single = str(generated(0, scratch))
    start = measured([*HLTEVAL, "validate", "ltf", single])
    bare = measured([sys.executable, "-c", "pass"])
    reading = measured([sys.executable, "-c", READ, str(folder)])
    commands = {
        "lxml, parse only": [sys.executable, "-c", PARSE, str(folder)],
        "validate": [*HLTEVAL, "validate", "ltf", str(folder)],
        "convert to rsd": [*HLTEVAL, "convert", str(folder), str(scratch / "a"), "--to", "rsd"],
        "convert to ltf": [*HLTEVAL, "convert", str(folder), str(scratch / "b"), "--to", "ltf"],
        "convert to conllu": [*HLTEVAL, "convert", str(folder), str(scratch / "c.conllu")],
    }
    yield row("read and md5", megabytes, reading, bare, reading, bare)
    for name, command in commands.items():
        usage = measured(command)
        started = start if command[:3] == HLTEVAL else bare
        yield row(name, megabytes, usage, started, reading, bare)


def row(
    name: str, megabytes: float, usage: Usage, start: Usage, reading: Usage, bare: Usage
) -> dict[str, object]:
    """One line of the report; rates and ratios are beyond a single document."""
    own, merely = usage.cpu - start.cpu, reading.cpu - bare.cpu
    return {
        "command": name,
        "mb": round(megabytes, 1),
        "cpu_s": round(usage.cpu, 2),
        "wall_s": round(usage.wall, 2),
        "peak_mb": round(usage.peak),
        "mb_per_cpu_s": round(megabytes / own, 1) if own > 0.02 else None,
        "times_reading": round(own / merely, 1) if merely > 0.02 else None,
    }


def exponents(listed: list[dict[str, object]]) -> dict[str, float]:
    """The growth of each command between the last two sizes: 1 is linear."""
    found = {}
    for name in dict.fromkeys(str(one["command"]) for one in listed):
        some = [one for one in listed if one["command"] == name]
        if len(some) > 1:
            (small, cheap), (large, dear) = (
                (float(str(one["mb"])), max(float(str(one["cpu_s"])), 1e-3)) for one in some[-2:]
            )
            found[name] = round(log(dear / cheap) / log(large / small), 2)
    return found


def main() -> None:
    """Report as a table, and as JSON where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", default="10,30,100")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        make(Path(given.make[0]), float(given.make[1]))
        return
    listed: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        for size in [0] if given.folder else map(float, given.megabytes.split(",")):
            with tempfile.TemporaryDirectory() as scratch:
                folder = given.folder or generated(size, Path(name))
                listed += rows(folder, Path(scratch))
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
