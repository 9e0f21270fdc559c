"""All benchmarks: one table in Markdown, and the same in JSON.

    python -m benchmarks [TASK ...] [--quick] [--sizes 100,1000] [--json FILE]

Each command is run once in a process of its own. CPU time is the sum of all its threads and
includes the start of Python, some 0.7 s with the libraries; `x bytes` compares it with merely
reading the files; `growth` is the exponent since the size before. `others` tells what other
programs take.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.measuring import Benchmark, Row, markdown, rows

TASKS = ("startup", "seedev", "speech_sf", "ltf", "lorehlt_edl", "hub4", "interchange")


def main() -> None:
    """Measure what is asked for, and tell it row by row and then as a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=[], choices=[*TASKS, []])
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--sizes", help="other sizes, with commas between")
    parser.add_argument("--json", type=Path, help="also write the rows there")
    given = parser.parse_args()
    listed: list[Row] = []
    for name in given.tasks or TASKS:
        benchmark: Benchmark = import_module(f"benchmarks.{name}").BENCHMARK
        sizes = benchmark.quick if given.quick else benchmark.sizes
        sizes = tuple(map(int, given.sizes.split(","))) if given.sizes else sizes
        for row in rows(benchmark, sizes):
            print("\t".join(map(str, row.values())), file=sys.stderr, flush=True)
            listed.append(row)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    print(f"{machine}\n\n{markdown(listed)}")
    if given.json:
        given.json.write_text(json.dumps({"machine": machine, "rows": listed}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
