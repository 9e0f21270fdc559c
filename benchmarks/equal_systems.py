"""Tests between two systems that are equally good: how often they find a difference at 0.05.

    python -m benchmarks equal-systems [TASK ...] [--documents 20] [--corpora 60] [--page FILE]

Two systems make independent errors against the same reference, with names of their own for entities
(and, in Speech Situation Frames, confidences on scales of their own). A valid test finds a
difference in at most one of twenty corpora. *Swapped* is the mean value of the systems that the
permutation test makes by swapping documents: it should be that of the systems themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.coverage import insert, setting
from benchmarks.generators import generator
from hlteval.scoring.intervals import Jackknife, deletions, groups
from hlteval.scoring.metric import Metric
from hlteval.scoring.resampling import Pair, drawn_chance
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.task import Task

REPLICATES = 99
LEVEL = 0.05
POOLED = ("lorehlt-edl",)
"""Tasks with many measures over all documents at once."""
HEADS = ("metric", "documents", "corpora", "permutation", "jackknife", "value", "swapped")
MARKS = ("<!-- equal systems -->\n", "<!-- end of equal systems -->\n")

Values = NDArray[np.float64]


def rows(task: Task, documents: int, corpora: int) -> Iterator[tuple[str, ...]]:
    """The rows of a task: shares of corpora in which a test finds a difference."""
    metric = task.scorer("plan")
    counts = []
    for number in (0, 1):
        pair = generator(task.name)(documents * corpora, 1, number)
        counts.append(metric.statistics(*pair, alignment=False)[0])
    names = setting(task).metrics
    for part in metric.decompose(names):
        found: dict[str, list[tuple[float, ...]]] = {}
        for at in range(corpora):
            sides = [_corpus(part, side, at, documents) for side in counts]
            for name, values in _tested(Pair.of(part, *sides), at).items():
                found.setdefault(name, []).append(values)
        for name in names:
            if name in found:
                yield _row(name, documents, np.array(found[name]))


def _corpus(metric: Metric, counts: pl.DataFrame, at: int, documents: int) -> pl.DataFrame:
    number = pl.col(metric.document_column).str.extract(r"(\d+)$").cast(pl.Int64)
    return counts.filter(number // documents == at)


def _tested(pair: Pair, seed: int) -> Mapping[str, tuple[float, ...]]:
    """By metric: both probabilities, the value of the first system, and of swapped ones."""
    size = pair.size
    kept = deletions(groups(size, seed))
    swaps = np.random.default_rng(seed).integers(0, 2, (REPLICATES, size))
    own = np.vstack([np.ones((1, size), np.int64), kept, 1 - swaps])
    other = np.vstack([np.zeros((1 + len(kept), size), np.int64), swaps])
    weights = np.vstack([np.hstack([own, other]), np.hstack([other, own])])
    values = pair.both.replicates(weights)
    jackknife = Jackknife(size, 1 - LEVEL, seed)
    found = {}
    for name, both in values.items():
        first, second = np.split(both, 2)
        observed, without, swapped = np.split(first - second, [1, 1 + len(kept)])
        chances = (
            drawn_chance(swapped, float(observed[0])).p,
            jackknife.probability(float(observed[0]), without),
        )
        found[name] = (*chances, float(first[0]), float(np.nanmean(first[1 + len(kept) :])))
    return found


def _row(name: str, documents: int, found: Values) -> tuple[str, ...]:
    known = found[~np.isnan(found).any(axis=1)]
    shares = (known[:, :2] < LEVEL).mean(axis=0)
    errors = np.sqrt(shares * (1 - shares) / len(known))
    tests = (f"{share:.3f} ± {error:.3f}" for share, error in zip(shares, errors, strict=True))
    means = (f"{mean:.3f}" for mean in known[:, 2:].mean(axis=0))
    return (f"`{name}`", str(documents), str(len(known)), *tests, *means)


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and print the table."""
    scored = [name for name in BUILTIN if load(name).metric]
    parser = argparse.ArgumentParser(prog="benchmarks equal-systems", description="Tests.")
    parser.add_argument("tasks", nargs="*", default=[], choices=[*scored, []])
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--corpora", type=int, default=60)
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    options = parser.parse_args(arguments)
    lines = [HEADS, ("---",) * len(HEADS)]
    for name in options.tasks or POOLED:
        lines += rows(load(name), options.documents, options.corpora)
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    print(table)
    if options.page:
        options.page.write_text(insert(options.page.read_text("utf-8"), table, MARKS), "utf-8")


if __name__ == "__main__":
    main()
