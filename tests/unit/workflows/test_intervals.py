"""Intervals of every task: replicates are made of the very counts that scores are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fuzz.subjects import CONTEXTS
from hlteval import tasks
from hlteval.scoring.metric import Metric, Replicates, Weights
from hlteval.scoring.resampling import draws
from hlteval.workflows.run.engine import Run
from hlteval.workflows.run.request import Intervals
from tests.runs import scored

DEMO = Path(__file__).parents[3] / "hlteval" / "demo"
FIXTURES = DEMO.parents[1] / "fixtures"
SMALL = FIXTURES / "scores" / "lorehlt-sf"
RESPONSES = str(FIXTURES / "ccu-ta2" / "valid" / "responses.tsv")
GIVEN = {
    "seedev-binary": ("reference", "system"),
    "seedev-full": ("reference", "system"),
    "speech-sf": ("speech/annotations", "speech/system.json"),
    "lorehlt-edl": ("entities/reference.tab", "entities/system.tab"),
    "hub4": ("templettes/reference.tpl", "templettes/system.tpl"),
    "lorehlt-sf": (f"{SMALL}/reference", f"{SMALL}/system"),
    "lorehlt-mt": (f"{SMALL.parent}/lorehlt-mt/reference", f"{SMALL.parent}/lorehlt-mt/system"),
    **{
        f"ccu-{task}": (f"{SMALL.parent}/ccu/reference", f"{SMALL.parent}/ccu-{task}/system")
        for task in ("nd", "ed", "vd", "ad", "cd")
    },
    "ccu-ta2": (RESPONSES, RESPONSES),  # its own reference
}
GIVEN |= {
    name: (str(FIXTURES / use.against), str(FIXTURES / use.submission))
    for name, use in CONTEXTS.items()
    if name not in GIVEN
}
FEWEST = {"ccu-ta2": 30}
"""Documents that a task needs, where they are not 6."""
SCORED = [name for name in tasks.BUILTIN if tasks.load(name).metric]


def run_of(task: str) -> Run:
    reference, system = GIVEN[task]
    lenient = task == "seedev-binary"  # the documents are those of the other task
    return scored(task, str(DEMO / reference), str(DEMO / system), lenient=lenient)


def replicates(
    run: Run, counts: pl.DataFrame, documents: list[str], weights: Weights
) -> Replicates:
    """The replicates of all parts of a run's metric."""
    found: Replicates = {}
    for part in run.metric.decompose():
        found |= part.replicates(counts, documents, weights)
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("task", SCORED)
def test_every_document_once_gives_the_scores(task: str) -> None:
    run = run_of(task)
    counts = pl.concat(run.counts)
    documents = run.metric.documents(counts)
    assert documents
    weights = np.ones((1, len(documents)), np.int64)
    once = replicates(run, counts, documents, weights)
    expected = run.scores().metrics
    defined = {name: value for name, value in expected.items() if value is not None}
    assert {name: once[name][0] for name in defined} == pytest.approx(defined)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("task", SCORED)
def test_weights_and_copies_agree(task: str) -> None:
    """Of counts of several documents, made of one document's by other names."""
    run = run_of(task)
    column = run.metric.document_column
    counts = pl.concat(
        count.with_columns(pl.format("{} {}", column, pl.lit(copy)).alias(column))
        for copy in range(3)
        for count in run.counts
    )
    documents = run.metric.documents(counts)
    (weights,) = draws(len(documents), 4, seed=1)
    added = replicates(run, counts, documents, weights)
    copied = Metric.replicates(run.metric, counts, documents, weights)
    assert added
    for name, values in added.items():
        assert values == pytest.approx(copied[name], nan_ok=True), name


@pytest.mark.sampled(4)
@pytest.mark.parametrize("task", SCORED)
def test_few_documents_have_no_intervals_and_the_note_says_how_many_are_needed(task: str) -> None:
    run = run_of(task)
    documents = run.metric.documents(pl.concat(run.counts))
    assert len(documents) < FEWEST.get(task, 6)
    found = run.scores(Intervals(20))
    assert found.intervals == {}
    assert found.metrics[found.primary] is not None
    notes = [note for note in found.notes if note.endswith("are needed")]
    assert notes
    assert all(f": {len(documents)} document" in note for note in notes)


@pytest.mark.parametrize("task", ["seedev-binary", "seedev-full"])
def test_all_drawn_pairs_once_give_the_official_scores(task: str) -> None:
    reference, system = GIVEN[task]
    run = scored(task, str(DEMO / reference), str(DEMO / system), profile="official", lenient=True)
    assert run.metric.resampling_units == "pairs"
    kinds = run.metric.units(pl.concat(run.counts))
    times = kinds["times"].to_numpy()[np.newaxis]
    once = run.metric.replicates(kinds.drop("times"), kinds["document"].to_list(), times)
    expected = {name: v for name, v in run.scores().metrics.items() if v is not None}
    assert {name: once[name][0] for name in expected} == pytest.approx(expected)
    assert "resamples of pairs" in run.scores(Intervals(10)).notes[-1]


def test_intervals_of_measures_that_grow_with_documents_have_a_note() -> None:
    from hlteval.tasks import load
    from hlteval.workflows.run.verdicts import size_notes

    (note,) = size_notes(load("ccu-vd"), ["ccc", "ccc.audio", "ccc_document_mean"], 12)
    assert note.startswith("intervals of ccc are for corpora of 12 documents: with more")
    (note,) = size_notes(load("lorehlt-sf"), ["ndcg.standard", "ndcg_sec.vindictive"], 30)
    assert note.startswith("intervals of ndcg, ndcg_sec are for corpora of 30 documents")
    assert not list(size_notes(load("hub4"), ["both.f"], 12))
