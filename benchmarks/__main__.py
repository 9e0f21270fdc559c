"""Run benchmarks and print a table in Markdown; optionally also write JSON.

    python -m benchmarks [TASK ...] [--only TEXT] [--quick] [--sizes 100,1000] [--json FILE]
                         [--peers FOLDER]
    python -m benchmarks biased-measures|coverage|editor|equal-systems [...]
    python -m benchmarks many-machines|open-report|stages [...]

Each command is run once in a process of its own; at the first size once before, so that Python has
compiled the modules, as for an installed package. CPU time is the sum over all threads and includes
the start of Python. `x reading` is its ratio to the time of only reading the files, and `exponent`
the exponent of growth since the previous size, without the start, which is the time of the first
size; `s per system` and `s per pair` are what each adds. With `--peers`, public programs in a
folder run beside each command: docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks.measuring import Benchmark, Failed, Row, markdown, measure

TASKS = (
    *("startup", "seedev", "speech_sf", "ltf", "lorehlt_edl", "lorehlt_sf", "translations"),
    *(
        "generic",
        "biotope",
        "hub4",
        "ccu",
        "comparison",
        "interchange",
        "campaign",
        "reports",
        "hostile",
        "formats",
        "dense",
    ),
)


SIMULATIONS = (
    "biased-measures",
    "coverage",
    "editor",
    "equal-systems",
    "many-machines",
    "open-report",
    "stages",
)
"""Programs of their own; see their modules."""


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
    parser.add_argument("--only", default="", help="only sweeps whose names contain this text")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--sizes", help="other sizes, separated by commas")
    parser.add_argument("--json", type=Path, help="also write the rows to a file")
    parser.add_argument("--peers", type=Path, help="a folder with public programs")
    options = parser.parse_args()
    rows: list[Row] = []
    try:
        for row in _rows(options):
            print("\t".join(map(str, row.values())), file=sys.stderr, flush=True)
            rows.append(row)
    except Failed as reason:
        sys.exit(str(reason))
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    print(f"{machine}\n\n{markdown(rows)}")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1), "utf-8")


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    for name in options.tasks or TASKS:
        benchmarks: tuple[Benchmark, ...] = import_module(f"benchmarks.{name}").BENCHMARKS
        for benchmark in benchmarks:
            if options.only not in benchmark.name:
                continue
            sizes = benchmark.quick if options.quick else benchmark.sizes
            sizes = tuple(map(int, options.sizes.split(","))) if options.sizes else sizes
            yield from measure(benchmark, sizes, options.peers)


if __name__ == "__main__":
    main()
