"""Coverage of confidence intervals, by simulation: how often they hold the truth, and the value.

    python -m benchmarks coverage [TASK ...] [--sizes 10,20] [--corpora 100] [--page FILE]

Of each size, corpora are generated (`generators`), scored, and given intervals by every method. The
truth is the mean of the values of all corpora of that size. Seeds are fixed.
With `--page`, the table replaces the one of that page; docs/intervals.md has it.

- bootstrap: percentiles of resamples of documents.
- jackknife: without groups of documents.
- halves: percentiles of the values of random halves of the documents, around the value.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.generators import generator
from hlteval.scoring.intervals import Bootstrap, Jackknife, deletions, groups
from hlteval.scoring.metric import Limits, Metric, Weights
from hlteval.scoring.resampling import draws
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.task import Task

CORPORA = 100
COSTLY = 5
"""Where replicates are scored one by one, resamples are drawn for one corpus in so many."""
BLOCK = 10
"""Corpora that are scored at a time."""
CONFIDENCE = 0.95
METHODS = ("bootstrap", "halves", "jackknife")
HEADS = ("metric", "documents", *METHODS)
MARKS = ("<!-- coverage -->\n", "<!-- end of coverage -->\n")

_LINKING = ("muc", "b_cubed", "mention_ceaf", "entity_ceaf", "typed_mention_ceaf_plus", "pairwise")
_INSTANCES = (
    *("map", "map.text", "map.audio", "map.video"),
    *("mean_f1", "micro_f1", "micro_scaled_f1"),
)
_FEW = (10, 20, 50)


class Setting(NamedTuple):
    """What is simulated of a task.

    Attributes:
        metrics: in the table; all of the task if empty.
        sizes: numbers of documents.
        resamples: of the bootstrap, and halves.
    """

    metrics: tuple[str, ...] = ()
    sizes: tuple[int, ...] = (6, 10, 20, 50)
    resamples: int = 200


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "lorehlt-edl": Setting(
            (
                *(f"{name}.fscore" for name in (*_LINKING, "blanc", "strong_typed_all_match")),
                *("muc.ptp", "muc.fn", "pairwise.ptp"),
            ),
            sizes=(6, 10, 20),
            resamples=100,
        ),
        "speech-sf": Setting(resamples=50),  # scored one by one
        "lorehlt-sf": Setting(
            (
                *("ndcg.standard", "ndcg_sec.standard", "map.type,place", "mar.type,place"),
                *("auc.type,place", "frame_f1.type,place", "sec_f1.polarity"),
            ),
            sizes=(6, 10, 20),
            resamples=30,
        ),
        "hub4": Setting(("both.f", "both.rec", "both.pre", "both.err", "both.cor")),
        "seedev-full": Setting(("f1", "recall", "ser", "matches")),
        "seedev-binary": Setting(("f1",)),
        "ccu-nd": Setting(_INSTANCES, sizes=(6, 10, 20), resamples=20),  # scored one by one
        "ccu-ed": Setting(_INSTANCES, sizes=(6, 10, 20), resamples=20),
        "ccu-vd": Setting(("ccc", "ccc_document_mean", "kappa")),
        "ccu-ad": Setting(("ccc",), sizes=(10, 20)),
        "ccu-cd": Setting(
            (
                *("cd.ap", "cd.ap.text", "cd.ap.audio", "cd.ap.video"),
                *("cd.f1.text", "cd.f1.audio", "cd.f1.video"),
            ),
            sizes=(6, 10, 20),
            resamples=20,
        ),
        "lorehlt-mt": Setting(("bleu", "chrf", "chrf_pp", "ter")),
        "ccu-ta2": Setting(
            (
                *("operation_1.agreement", "operation_1.agreement_over_baseline"),
                *("operation_1.responses", "baseline.agreement"),
            ),
            sizes=(10, 20, 30, 50),
        ),
        **dict.fromkeys(("mentions", "relations"), Setting(("micro.f1", "macro.f1"), _FEW)),
        "events": Setting(("micro.f1", "argument_classification.f1"), _FEW),
        "labels": Setting(("micro.f1", "macro.f1", "mcc", "kappa"), _FEW),
        "coreference": Setting(("conll_average.f1", "muc.f1", "blanc.f1", "lea.f1"), _FEW),
        "links": Setting(("strong_link_match.fscore", "mention_ceaf.fscore"), _FEW, resamples=50),
        "segments": Setting(("der", "jer"), _FEW),
        "transcripts": Setting(("wer", "cer"), _FEW),
        **dict.fromkeys(("bb19-norm", "bb16-cat"), Setting(("precision",), _FEW)),
        **dict.fromkeys(("bb19-norm-ner", "bb19-rel-ner"), Setting(("ser", "f1"), _FEW)),
        **dict.fromkeys(("bb19-rel", "bb16-event"), Setting(("f1",), _FEW)),
        **dict.fromkeys(("bb19-kb", "bb19-kb-ner"), Setting(("mean-references",), _FEW)),
    }
)
"""What is simulated, by task; of tasks that are not here, everything."""


def setting(task: Task) -> Setting:
    """What is simulated of a task, with its metrics."""
    found = SETTINGS.get(task.name, Setting())
    return found._replace(metrics=found.metrics or task.metrics)


Values = NDArray[np.float64]


class Row(NamedTuple):
    """A row of the table: shares over the corpora that have an interval."""

    metric: str
    documents: int
    method: str
    corpora: int
    printed: float
    coverage: float
    width: float
    holds: float

    @property
    def text(self) -> str:
        """Coverage with its standard error, mean width, and what is less than it should be."""
        error = (self.coverage * (1 - self.coverage) / max(1, self.corpora * self.printed)) ** 0.5
        parts = [f"{self.coverage:.3f} ± {error:.3f}, width {self.width:.3g}"]
        parts += [f"holds {self.holds:.2f}"] if self.holds < 1 else []
        parts += [f"given {self.printed:.2f}"] if self.printed < 1 else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Plan:
    """The replicates of a corpus: the corpus itself, then those of each method.

    Attributes:
        documents: of the corpus.
        seed: of the random numbers.
        resamples: of the bootstrap, and halves; 0 for none.
    """

    documents: int
    seed: int
    resamples: int

    def weights(self) -> Weights:
        """How often each replicate has each document."""
        size = self.documents
        left_out = deletions(groups(size, self.seed))
        parts = [np.ones((1, size), np.int64), left_out]
        if self.resamples:
            random = np.random.default_rng(self.seed)
            order = random.permuted(np.tile(np.arange(size), (self.resamples, 1)), axis=1)
            parts += [*draws(size, self.resamples, self.seed), (order < size // 2).astype(np.int64)]
        return np.vstack(parts)

    def intervals(self, values: Values, within: Limits) -> Iterator[tuple[str, Limits | None]]:
        """The interval of each method, None where it gives none."""
        value, rest = float(values[0]), values[1:]
        count = len(deletions(groups(self.documents, self.seed)))
        jackknife = Jackknife(self.documents, CONFIDENCE, self.seed)
        yield "jackknife", _varying(jackknife.limits(value, rest[:count], within))
        if self.resamples:
            bootstrap = Bootstrap(self.documents, CONFIDENCE, self.seed, self.resamples)
            drawn, halves = np.split(rest[count:], 2)
            yield "bootstrap", _varying(bootstrap.limits(value, drawn, within))
            if within[1] == 1:  # a sum over half of the documents is half as large
                around = bootstrap.limits(value, value + halves - np.nanmean(halves), within)
                yield "halves", _varying(around)


def _varying(limits: Limits | None) -> Limits | None:
    return limits if limits and limits[1] > limits[0] else None


def simulated(task: Task, documents: int, corpora: int) -> Iterator[Row]:
    """The rows of a task for corpora of so many documents."""
    reference, system = generator(task.name)(documents * corpora, documents, 0)
    metric = task.scorer("plan")
    counts, _ = metric.statistics(reference, system, alignment=False)
    names, _, resamples = setting(task)
    for part in metric.decompose(names):
        found = replicates(part, counts, documents, corpora, resamples)
        for name in names:
            if name in found[0][1]:
                values = [(plan, own[name]) for plan, own in found]
                yield from _rows(name, values, task.limits(name))


def replicates(
    part: Metric, counts: pl.DataFrame, documents: int, corpora: int, resamples: int
) -> list[tuple[Plan, Mapping[str, Values]]]:
    """The values of every replicate of each corpus."""
    number = pl.col(part.document_column).str.extract(r"(\d+)$").cast(pl.Int64) // documents
    counts = counts.with_columns(_corpus=number)
    found: list[tuple[Plan, Mapping[str, Values]]] = []
    for begin in range(0, corpora, BLOCK):
        some = range(begin, min(begin + BLOCK, corpora))
        every = part.additive
        plans = [Plan(documents, at, resamples if every or at % COSTLY == 0 else 0) for at in some]
        rows = counts.filter(pl.col("_corpus").is_between(some[0], some[-1])).drop("_corpus")
        names = [f"DOC_{at}" for at in range(some[0] * documents, (some[-1] + 1) * documents)]
        blocks = [plan.weights() for plan in plans]
        values = part.replicates(rows, names, _diagonal(blocks))
        ends = np.cumsum([len(block) for block in blocks])[:-1]
        pieces = {name: np.split(own, ends) for name, own in values.items()}
        found += [
            (plan, {name: own[at] for name, own in pieces.items()}) for at, plan in enumerate(plans)
        ]
    return found


def _diagonal(blocks: Sequence[Weights]) -> Weights:
    """The weights of several corpora, each over documents of its own."""
    whole = np.zeros((sum(map(len, blocks)), sum(block.shape[1] for block in blocks)), np.int64)
    row = column = 0
    for block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return whole


def _rows(name: str, found: Sequence[tuple[Plan, Values]], within: Limits) -> Iterator[Row]:
    """The rows of a metric, of each method."""
    known = [(plan, values) for plan, values in found if not np.isnan(values[0])]
    truth = float(np.mean([values[0] for _, values in known]))
    methods: dict[str, list[tuple[float, Limits | None]]] = {}
    for plan, values in known:
        for method, limits in plan.intervals(values, within):
            methods.setdefault(method, []).append((float(values[0]), limits))
    for method, every in methods.items():
        limits = np.array([own for _, own in every if own])
        values = np.array([value for value, own in every if own])
        if len(values):
            low, high = limits.T
            shares = [float(np.mean((low <= x) & (x <= high))) for x in (truth, values)]
            printed = len(values) / len(every)
            width = float((high - low).mean())
            size = found[0][0].documents
            yield Row(name, size, method, len(every), printed, shares[0], width, shares[1])


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown, the methods side by side."""
    cells: dict[tuple[str, int], dict[str, str]] = {}
    for row in rows:
        cells.setdefault((row.metric, row.documents), {})[row.method] = row.text
    lines = [HEADS, ("---",) * len(HEADS)]
    for (metric, documents), texts in cells.items():
        lines.append((f"`{metric}`", str(documents), *(texts.get(name, "-") for name in METHODS)))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def insert(page: str, tables: str, marks: tuple[str, str] = MARKS) -> str:
    """A page with other tables between the marks."""
    begin, end = map(re.escape, marks)
    text = f"{marks[0]}\n{tables}\n{marks[1]}"
    return re.sub(f"{begin}.*{end}", lambda _: text, page, flags=re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and print the tables; each row also when it is complete."""
    scored = [name for name in BUILTIN if load(name).metric]
    parser = argparse.ArgumentParser(prog="benchmarks coverage", description="Coverage.")
    parser.add_argument("tasks", nargs="*", default=[], choices=[*scored, []])
    parser.add_argument("--sizes", help="other numbers of documents, separated by commas")
    parser.add_argument("--corpora", type=int, default=CORPORA)
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    options = parser.parse_args(arguments)
    parts = []
    for name in options.tasks or scored:
        rows: list[Row] = []
        metrics, sizes, _ = setting(load(name))
        for size in map(int, options.sizes.split(",")) if options.sizes else sizes:
            for row in simulated(load(name), size, options.corpora):
                print(name, *row[:3], row.text, sep="\t", file=sys.stderr, flush=True)
                rows.append(row)
        rows.sort(key=lambda row: (metrics.index(row.metric), row.documents))
        parts.append(f"### {name}\n\n{table(rows)}")
    tables = "\n".join(parts)
    print(tables)
    if options.page:
        options.page.write_text(insert(options.page.read_text("utf-8"), tables), "utf-8")


if __name__ == "__main__":
    main()
