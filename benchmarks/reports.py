"""Reports: what `--report` adds to scoring, with a row of the alignment and its text per event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval
from benchmarks.seedev import EVENTS, write

KIND = "binary"


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Score with the alignment as a table, and as a report."""
    reference, system = write(KIND, max(1, size // EVENTS[KIND]), EVENTS[KIND], folder)
    score = ("score", f"seedev-{KIND}", "-r", reference, "-s", system)
    yield Step("score --format json", hlteval(*score, "--format", "json"), [reference, system])
    report = folder / "report.html"
    yield Step("score --report", hlteval(*score, "--report", report), [reference, system])


BENCHMARKS = (Benchmark("reports", "events", (100, 10_000, 100_000), (100, 1000), steps),)
