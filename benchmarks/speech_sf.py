"""Speech Situation Frames at growing sizes: validating and scoring, beside merely parsing the JSON.

    python benchmarks/speech_sf.py [--shared ../shared] [--sizes 100,1000,10000] [--json FILE]

Segments with about twelve frames each are made by the shared generator in a temporary folder. Each
command runs in a process of its own, whose CPU time and peak memory the operating system tells. A
last row validates 10 MB of JSON of which 1,000 frames break the schema. Nothing is asserted.
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

ROOT = Path(__file__).resolve().parents[1]
PARSE = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"
START = "pass"
HLTEVAL = [sys.executable, "-m", "hlteval"]


class Usage(NamedTuple):
    """What a process took: seconds of CPU, and megabytes at its peak."""

    cpu: float
    peak: float


def measured(command: list[str]) -> Usage:
    """Run a command, its output thrown away."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def generated(shared: Path, size: int, folder: Path) -> Path:
    """A folder with so many segments: annotations and a system's frames."""
    made = folder / str(size)
    generator = shared / "tools" / "gen_speech.py"
    options = ["--seed", "5", "--multiplace", "0.1", "--mtmp", "0.02"]
    command = [
        sys.executable,
        str(generator),
        "--segments",
        str(size),
        "--out",
        str(made),
        *options,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def rows(sizes: list[int], shared: Path, folder: Path) -> Iterator[dict[str, object]]:
    """What each command takes at each size."""
    start = measured([sys.executable, "-c", START])
    for size in sizes:
        made = generated(shared, size, folder)
        reference, system = str(made / "gt"), str(made / "system_output.json")
        parsing = measured([sys.executable, "-c", PARSE, system])
        commands = {
            "validate": [*HLTEVAL, "validate", "speech-sf", system],
            "validate --against": [
                *HLTEVAL,
                "validate",
                "speech-sf",
                system,
                "--against",
                reference,
            ],
            "score": [*HLTEVAL, "score", "speech-sf", "-r", reference, "-s", system],
        }
        megabytes = Path(system).stat().st_size / 1e6
        yield row("json.load", size, megabytes, parsing, parsing, start)
        for name, command in commands.items():
            yield row(name, size, megabytes, measured(command), parsing, start)


def row(
    name: str, size: int, megabytes: float, usage: Usage, parsing: Usage, start: Usage
) -> dict[str, object]:
    """One line of the report."""
    bare = parsing.cpu - start.cpu
    ratio = round((usage.cpu - start.cpu) / bare, 1) if bare > 0.02 else None  # too short to tell
    return {
        "command": name,
        "segments": size,
        "json_mb": round(megabytes, 2),
        "cpu_s": round(usage.cpu, 2),
        "peak_mb": round(usage.peak),
        "times_parsing": ratio,
    }


def flawed(folder: Path, shared: Path) -> dict[str, object]:
    """Ten megabytes of frames, 1,000 of which break the schema."""
    made = generated(shared, 6200, folder)
    frames = json.loads((made / "system_output.json").read_text("utf-8"))
    for number in range(1000):
        frame = frames[number * (len(frames) // 1000)]
        if number % 2:
            frame["Type"] = frame["Type"].lower()
        else:
            frame["TypeConfidence"] = str(frame["TypeConfidence"])
    path = folder / "flawed.json"
    path.write_text(json.dumps(frames, indent=1), "utf-8")
    start = measured([sys.executable, "-c", START])
    parsing = measured([sys.executable, "-c", PARSE, str(path)])
    usage = measured([*HLTEVAL, "validate", "speech-sf", str(path)])
    return row("1,000 errors", 6200, path.stat().st_size / 1e6, usage, parsing, start)


def exponents(listed: list[dict[str, object]]) -> dict[str, float]:
    """The growth of each command between the last two sizes: 1 is linear."""
    found = {}
    for name in dict.fromkeys(str(one["command"]) for one in listed):
        some = [one for one in listed if one["command"] == name]
        if len(some) > 1:
            small, large = some[-2:]
            sizes = log(float(str(large["segments"])) / float(str(small["segments"])))
            costs = log(float(str(large["cpu_s"])) / max(float(str(small["cpu_s"])), 1e-3))
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
        listed.append(flawed(Path(name), given.shared))
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
