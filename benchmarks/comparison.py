"""Comparisons: `compare` and `leaderboard` of every task, over documents and over systems.

Reference and systems are made by the generators of simulations, and read from saved corpora.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.generators import generator
from benchmarks.measuring import Benchmark, Step, hlteval
from hlteval import tasks
from hlteval.converters.corpus.jsonl import write_jsonl

SCORED = tuple(name for name in tasks.BUILTIN if tasks.load(name).metric)
DOCUMENTS, SYSTEMS = (10, 200, 1_000), (2, 8, 24)
FEW = 100
"""Documents where there are many systems."""


def steps(task: str, documents: int, systems: int, folder: Path) -> Iterator[Step]:
    """Compare and rank systems."""
    files = []
    for number in range(systems):
        sides = generator(task)(documents, 3, number)
        for name, corpus in zip(("reference", f"s{number}"), sides, strict=True):
            path = folder / f"{name}.jsonl"
            if not path.exists():
                with path.open("wb") as stream:
                    write_jsonl(corpus, stream)
                files.append(path)
    reference, *submissions = files
    alone = tasks.load(task).scored_alone
    words = (task, *(() if alone else ("-r", reference)), *submissions, "--lenient")
    yield Step("compare", hlteval("compare", *words), files)
    yield Step("leaderboard", hlteval("leaderboard", *words), files)


def of_documents(task: str, size: int, folder: Path) -> Iterator[Step]:
    """Compare two systems."""
    return steps(task, size, 2, folder)


def of_systems(task: str, size: int, folder: Path) -> Iterator[Step]:
    """Compare many systems."""
    return steps(task, FEW, size, folder)


BENCHMARKS = tuple(
    benchmark
    for task in SCORED
    for benchmark in (
        Benchmark(task, "documents of 2 systems", DOCUMENTS, (10, 50), partial(of_documents, task)),
        Benchmark(
            task, f"systems of {FEW} documents", SYSTEMS, (2, 4), partial(of_systems, task), True
        ),
    )
)
