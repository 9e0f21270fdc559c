"""Run benchmarks and print a table in Markdown; optionally also write JSON.

    python -m benchmarks [TASK ...] [--quick] [--sizes 100,1000] [--json FILE]
    python -m benchmarks coverage|equal-systems [...]

Each command is run once in a process of its own. CPU time is the sum over all threads and includes
the start of Python, about 0.7 s with the libraries. `x bytes` is its ratio to the time of only
reading the files, `growth` the exponent of growth since the previous size, and `others` the time of
other programs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.measuring import Benchmark, Row, markdown, measure

TASKS = ("startup", "seedev", "speech_sf", "ltf", "lorehlt_edl", "hub4", "interchange")


SIMULATIONS = ("coverage", "equal-systems")
"""Programs that measure no time; see their modules."""


def main() -> None:
    """Run the benchmarks, or a simulation."""
    if sys.argv[1:] and sys.argv[1] in SIMULATIONS:
        import_module(f"benchmarks.{sys.argv[1].replace('-', '_')}").main(sys.argv[2:])
    else:
        measured()


def measured() -> None:
    """Run the benchmarks; print each row when it is complete, and the table at the end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=[], choices=[*TASKS, []])
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--sizes", help="other sizes, separated by commas")
    parser.add_argument("--json", type=Path, help="also write the rows to a file")
    options = parser.parse_args()
    rows: list[Row] = []
    for name in options.tasks or TASKS:
        benchmark: Benchmark = import_module(f"benchmarks.{name}").BENCHMARK
        sizes = benchmark.quick if options.quick else benchmark.sizes
        sizes = tuple(map(int, options.sizes.split(","))) if options.sizes else sizes
        for row in measure(benchmark, sizes):
            print("\t".join(map(str, row.values())), file=sys.stderr, flush=True)
            rows.append(row)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    print(f"{machine}\n\n{markdown(rows)}")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
