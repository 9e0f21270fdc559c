"""SeeDev-full: many copies of the documents of the demonstration, in a folder of small files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval

DEMO = Path(__file__).parents[1] / "hlteval" / "demo"


def copies(side: str, number: int, folder: Path) -> Path:
    """Write a folder with copies of each document under different names."""
    target = folder / side
    target.mkdir()
    for file in (DEMO / side).iterdir():
        data = file.read_bytes()
        for copy in range(number):
            (target / f"{file.stem}-{copy}{file.suffix}").write_bytes(data)
    return target


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Validate and score."""
    reference, system = copies("reference", size, folder), copies("system", size, folder)
    task, both = "seedev-full", (reference, system)
    yield Step("validate", hlteval("validate", task, system, "--against", reference), both)
    yield Step("score", hlteval("score", task, "-r", reference, "-s", system), both)
    intervals = ("--bootstrap", 10_000)
    yield Step(
        "score --bootstrap 10000",
        hlteval("score", task, "-r", reference, "-s", system, *intervals),
        both,
    )


BENCHMARK = Benchmark(
    name="seedev-full",
    unit="documents",
    sizes=(100, 1_000, 10_000),
    quick=(10, 100),
    steps=steps,
    # on the development data, copied: 9,500 documents with 409,500 events
    peers={("score", 10_000): "official software: 19 s, 2.8 GB for 9,500 larger documents"},
)
