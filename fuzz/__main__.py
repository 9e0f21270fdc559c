"""Damaged files for every reader, from a seed: only findings, no hang, memory bounded.

    python -m fuzz [READER ...] [--mutations 20000] [--again] [--folder build/fuzz]

The fixtures of each format are damaged in bytes, lines, fields, structure and as packages, and
given to `validate` and `convert`; the same numbers make the same files. Readers take turns, and a
run that is broken off goes on where it was. What fails is kept below the folder, as it was and
minimised: `failing/READER/NUMBER`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from fuzz.subjects import readers

ROUND = 1000
"""Mutations of a reader before the next has its turn."""
SAVED = 20
"""Trials after which it is noted how far a reader has come."""
ENVIRONMENT = {
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")},
    "POLARS_MAX_THREADS": "1",
    "RUST_BACKTRACE": "0",
}


def main() -> None:
    """Run what is asked for; exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("readers", nargs="*", help="all if none is named")
    parser.add_argument("--mutations", type=int, default=20_000, help="of each reader")
    parser.add_argument("--first", type=int, default=0, help="the number to begin with")
    parser.add_argument("--again", action="store_true", help="from the beginning")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    given = parser.parse_args()
    states = [
        State(name, given.folder, given.first, again=given.again)
        for name in given.readers or readers()
    ]
    while waiting := [state for state in states if state.made < given.mutations]:
        least = min(waiting, key=lambda state: state.made)
        least.advance(min(least.made + ROUND, given.mutations))
        print(table(states), file=sys.stderr, flush=True)
    print(table(states))
    sys.exit(1 if any(state.told["failed"] for state in states) else 0)


class State:
    """How far a reader has come, kept in a file."""

    def __init__(self, reader: str, folder: Path, first: int, *, again: bool) -> None:
        self.reader, self.failing = reader, folder / "failing"
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / f"{reader}.json"
        self.told: dict[str, Any] = {"next": first, "mutations": 0, "findings": 0}
        self.told |= {
            "slowest": 0.0,
            "slowest_number": 0,
            "memory": 0,
            "seconds": 0.0,
            "failed": {},
        }
        if self.file.is_file() and not again:
            self.told = json.loads(self.file.read_text("utf-8"))

    @property
    def made(self) -> int:
        """How many mutations were tried."""
        number: int = self.told["mutations"]
        return number

    def advance(self, wanted: int) -> None:
        """Run trials up to a number of mutations, with a new worker where one ends early."""
        while self.made < wanted:
            numbers = (str(self.told["next"]), str(wanted - self.made))
            command = [sys.executable, "-m", "fuzz.worker", self.reader, *numbers]
            with subprocess.Popen(
                [*command, str(self.failing), json.dumps(list(self.told["failed"]))],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | ENVIRONMENT,
            ) as worker:
                assert worker.stdout and worker.stderr
                started = [-1]
                for line in worker.stdout:
                    self.take(json.loads(line), started)
                report = worker.stderr.read()
            if worker.returncode:
                if started[0] < 0:
                    raise SystemExit(f"the worker cannot start:\n{report}")
                self.broken(started[0], worker.returncode, report)
            self.save()

    def take(self, line: dict[str, Any], started: list[int]) -> None:
        """Count one line of a worker."""
        if "start" in line:
            started[0] = line["start"]
            return
        told = self.told
        told["next"] = line["done"] + 1
        told["mutations"] += line["mutations"]
        told["findings"] += line["findings"]
        told["seconds"] += line["seconds"]
        told["memory"] = max(told["memory"], line["memory"])
        if line["seconds"] > told["slowest"]:
            told["slowest"], told["slowest_number"] = line["seconds"], line["done"]
        if line["fault"]:
            told["failed"].setdefault(line["fault"], []).append(line["done"])
        if line["done"] % SAVED == 0:
            self.save()

    def broken(self, number: int, code: int, report: str) -> None:
        """Note a trial that ended its process."""
        self.told["next"] = number + 1
        self.told["mutations"] += 1
        kind = "hang" if "Timeout" in report else f"process ended with {code}"
        self.told["failed"].setdefault(kind, []).append(number)
        folder = self.failing / self.reader
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.txt").write_text(report, "utf-8")

    def save(self) -> None:
        """Keep how far it has come."""
        self.file.write_text(json.dumps(self.told, indent=1), "utf-8")


def table(states: list[State]) -> str:
    """What came out, a row a reader, in Markdown; faults below."""
    head = "| reader | mutations | findings | CPU time of each | slowest trial | peak | faults |"
    rows = [head, "|---|---|---|---|---|---|---|"]
    for state in states:
        told = state.told
        rows.append(
            f"| `{state.reader}` | {told['mutations']:,} | {told['findings']:,} "
            f"| {1000 * told['seconds'] / max(1, told['mutations']):.1f} ms "
            f"| {told['slowest']:.2f} s | {told['memory'] >> 20} MB | {len(told['failed'])} |"
        )
    faults = [
        f"{state.reader}: {fault}: {len(numbers)} times, first {numbers[0]}"
        for state in states
        for fault, numbers in state.told["failed"].items()
    ]
    return "\n".join([*rows, "", *faults])


if __name__ == "__main__":
    main()
