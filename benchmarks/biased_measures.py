"""Intervals of measures whose average grows with the number of documents, by simulation.

    python -m benchmarks biased-measures [TASK ...] [--sizes 10,20,30] [--corpora 100] [--page FILE]

As in `coverage`, corpora are generated and scored, but the truth is the value of all documents of a
size together. The table has the interval that is printed, and the same interval around the value
without the bias that the jackknife estimates. Seeds are fixed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage import CONFIDENCE, CORPORA, Plan, insert, replicates
from benchmarks.generators import generator
from hlteval.scoring.intervals import Jackknife
from hlteval.scoring.metric import Limits
from hlteval.tasks import load
from hlteval.tasks.task import Task

BIASED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"ccu-vd": ("ccc", "kappa"), "lorehlt-sf": ("ndcg.standard", "ndcg.vindictive")}
)
"""What is simulated, by task."""
SIZES = "10,20,30"
RESAMPLES = 200
HEADS = ("measure", "documents", "truth", "mean", "mean, corrected")
HEADS += ("interval covers the truth", "corrected")
MARKS = ("<!-- biased measures -->\n", "<!-- end of biased measures -->\n")

Values = NDArray[np.float64]


def rows(task: Task, documents: int, corpora: int) -> Iterator[tuple[str, ...]]:
    """The rows of a task for corpora of so many documents."""
    pair = generator(task.name)(documents * corpora, documents, 0)
    metric = task.scorer("plan")
    counts, _ = metric.statistics(*pair, alignment=False)
    names = BIASED[task.name]
    for part in metric.decompose(names):
        every = part.documents(counts)
        truths = part.replicates(counts, every, np.ones((1, len(every)), np.int64))
        drawn = RESAMPLES if part.interval_method == "bootstrap" else 0
        found = replicates(part, counts, documents, corpora, drawn)
        for name in names:
            if name in truths:
                values = [(plan, own[name]) for plan, own in found]
                texts = _row(values, float(truths[name][0]), part.interval_method, task, name)
                yield (f"`{task.name} {name}`", str(documents), *texts)


def bias(plan: Plan, values: Values) -> float:
    """The jackknife's estimate: the value minus the mean pseudo-value.

    Args:
        plan: of the corpus.
        values: of the corpus, then without each of its groups.

    Examples:
        >>> sample = np.array([1.0, 2.0, 6.0])  # the variance with divisor n is s² / n too low
        >>> without = [np.delete(sample, at).var() for at in range(3)]
        >>> round(bias(Plan(3, 0, 0), np.array([sample.var(), *without])), 9)
        -2.333333333
    """
    sizes = Jackknife(plan.documents, CONFIDENCE, plan.seed).sizes
    shares = sizes.sum() / sizes
    pseudo = shares * values[0] - (shares - 1) * values[1 : 1 + len(sizes)]
    return float(values[0] - pseudo.mean())


def _row(
    found: Sequence[tuple[Plan, Values]], truth: float, method: str, task: Task, name: str
) -> Iterator[str]:
    """The truth, both means, and how often both intervals cover the truth."""
    within = task.limits(name)
    known = [(plan, values) for plan, values in found if not np.isnan(values[0])]
    errors = [bias(plan, values) for plan, values in known]
    mean = float(np.mean([values[0] for _, values in known]))
    limits = [dict(plan.intervals(values, within))[method] for plan, values in known]
    moved = [own and _moved(own, error) for own, error in zip(limits, errors, strict=True)]
    yield from (f"{value:.2f}" for value in (truth, mean, mean - float(np.nanmean(errors))))
    yield from (_coverage(own, truth) for own in (limits, moved))


def _moved(limits: Limits, error: float) -> Limits:
    return limits[0] - error, limits[1] - error


def _coverage(intervals: Sequence[Limits | None], truth: float) -> str:
    """The share of the intervals that contain the truth, with its standard error."""
    inside = [low <= truth <= high for low, high in filter(None, intervals)]
    if not inside:
        return "-"
    share = float(np.mean(inside))
    return f"{share:.2f} ± {(share * (1 - share) / len(inside)) ** 0.5:.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks biased-measures", description="Intervals.")
    parser.add_argument("tasks", nargs="*", default=[], choices=[*BIASED, []])
    parser.add_argument("--sizes", default=SIZES, help="numbers of documents, with commas")
    parser.add_argument("--corpora", type=int, default=CORPORA, help="repetitions")
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    options = parser.parse_args(arguments)
    lines = [HEADS, ("---",) * len(HEADS)]
    for name in options.tasks or BIASED:
        for size in map(int, options.sizes.split(",")):
            lines += rows(load(name), size, options.corpora)
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    print(table)
    if options.page:
        options.page.write_text(insert(options.page.read_text("utf-8"), table, MARKS), "utf-8")


if __name__ == "__main__":
    main()
