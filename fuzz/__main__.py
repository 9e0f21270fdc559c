"""Fuzz every reader with damaged files, from a seed: only findings, no hang, bounded memory.

    python -m fuzz [READER ...] [--mutations 20000] [--again] [--folder build/fuzz]

The fixtures of each format are damaged in bytes, lines, fields, structure and as packages, and
passed to `validate` and `convert`; equal numbers give equal files. Readers take turns, and an
interrupted run is resumed. Failing inputs are saved in the folder, as generated and minimised:
`failing/READER/NUMBER`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from fuzz.subjects import readers

ROUND = 1000
"""Number of mutations of a reader per turn."""
SAVED = 20
"""Number of trials between two saves of the state."""
ENVIRONMENT = {
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")},
    "POLARS_MAX_THREADS": "1",
    "RUST_BACKTRACE": "0",
}


def main() -> None:
    """Fuzz the readers named on the command line; exit code 1 if a trial fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("readers", nargs="*", help="names of formats (default: all)")
    parser.add_argument("--mutations", type=int, default=20_000, help="per reader")
    parser.add_argument("--first", type=int, default=0, help="first number")
    parser.add_argument("--again", action="store_true", help="start again")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    if unknown := {*options.readers} - {*readers()}:
        parser.error(f"unknown format {min(unknown)}; use some of {', '.join(readers())}")
    states = [
        State(name, options.folder, options.first, again=options.again)
        for name in options.readers or readers()
    ]
    while waiting := [state for state in states if state.mutations < options.mutations]:
        state = min(waiting, key=lambda state: state.mutations)
        state.advance(min(state.mutations + ROUND, options.mutations))
        print(table(states), file=sys.stderr, flush=True)
    print(table(states))
    sys.exit(1 if any(state.totals["failed"] for state in states) else 0)


class State:
    """The progress of a reader, saved in a file."""

    def __init__(self, reader: str, folder: Path, first: int, *, again: bool) -> None:
        self.reader, self.failing = reader, folder / "failing"
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / f"{reader}.json"
        self.totals: dict[str, Any] = {"next": first, "mutations": 0, "findings": 0}
        self.totals |= {"slowest": 0.0, "slowest_number": 0}
        self.totals |= {"memory": 0, "seconds": 0.0, "failed": {}}
        if self.file.is_file() and not again:
            self.totals = json.loads(self.file.read_text("utf-8"))

    @property
    def mutations(self) -> int:
        """The number of mutations that were tried."""
        number: int = self.totals["mutations"]
        return number

    def advance(self, mutations: int) -> None:
        """Run trials up to a number of mutations, with a new worker if one ends early."""
        while self.mutations < mutations:
            numbers = (str(self.totals["next"]), str(mutations - self.mutations))
            command = [sys.executable, "-m", "fuzz.worker", self.reader, *numbers]
            with subprocess.Popen(
                [*command, str(self.failing), json.dumps(list(self.totals["failed"]))],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | ENVIRONMENT,
            ) as worker:
                assert worker.stdout and worker.stderr
                started = [-1]
                for line in worker.stdout:
                    self.add(json.loads(line), started)
                report = worker.stderr.read()
            if worker.returncode:
                if started[0] < 0:
                    raise SystemExit(f"the worker cannot start:\n{report}")
                self.add_crash(started[0], worker.returncode, report)
            self.save()

    def add(self, line: dict[str, Any], started: list[int]) -> None:
        """Add one line of a worker to the totals."""
        if "start" in line:
            started[0] = line["start"]
            return
        totals = self.totals
        totals["next"] = line["done"] + 1
        totals["mutations"] += line["mutations"]
        totals["findings"] += line["findings"]
        totals["seconds"] += line["seconds"]
        totals["memory"] = max(totals["memory"], line["memory"])
        if line["seconds"] > totals["slowest"]:
            totals["slowest"], totals["slowest_number"] = line["seconds"], line["done"]
        if line["failure"]:
            totals["failed"].setdefault(line["failure"], []).append(line["done"])
        if line["done"] % SAVED == 0:
            self.save()

    def add_crash(self, number: int, code: int, report: str) -> None:
        """Add a trial that ended its process to the totals, and save its report."""
        self.totals["next"] = number + 1
        self.totals["mutations"] += 1
        hangs = "Timeout" in report or code == -signal.SIGXCPU
        kind = "hang" if hangs else f"process ended with {code}"
        self.totals["failed"].setdefault(kind, []).append(number)
        folder = self.failing / self.reader
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.txt").write_text(report, "utf-8")

    def save(self) -> None:
        """Save the totals."""
        self.file.write_text(json.dumps(self.totals, indent=1), "utf-8")


def table(states: list[State]) -> str:
    """A table of the totals in Markdown, one row per reader, then the failures."""
    head = "| reader | mutations | findings | CPU time of each | slowest trial | peak | failures |"
    rows = [head, "|---|---|---|---|---|---|---|"]
    for state in states:
        totals = state.totals
        rows.append(
            f"| `{state.reader}` | {totals['mutations']:,} | {totals['findings']:,} "
            f"| {1000 * totals['seconds'] / max(1, totals['mutations']):.1f} ms "
            f"| {totals['slowest']:.2f} s | {totals['memory'] >> 20} MB | {len(totals['failed'])} |"
        )
    failures = [
        f"{state.reader}: {failure}: {len(numbers)} times, first {numbers[0]}"
        for state in states
        for failure, numbers in state.totals["failed"].items()
    ]
    return "\n".join([*rows, "", *failures])


if __name__ == "__main__":
    main()
