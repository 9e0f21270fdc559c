"""Start-up: commands with little work, compared with importing the libraries that they need."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval

DEMO = Path(__file__).parents[1] / "hlteval" / "demo"


def steps(_: int, __: Path) -> Iterator[Step]:
    """Import the libraries, and run the commands."""
    for libraries in ("typer, rich.console", "polars"):
        yield Step(f"import {libraries}", (sys.executable, "-c", f"import {libraries}"), ())
    for command in ("--help", "--version", "explain STD302", "tasks", "formats"):
        yield Step(command, hlteval(*command.split()), ())
    system, reference = DEMO / "system", DEMO / "reference"
    validate = hlteval("validate", "seedev-full", system, "--against", reference)
    yield Step("validate two documents", validate, (system, reference))
    score = hlteval("score", "seedev-full", "-r", reference, "-s", system)
    yield Step("score two documents", score, (system, reference))


BENCHMARKS = (Benchmark("start-up", "runs", (1,), (1,), steps),)
