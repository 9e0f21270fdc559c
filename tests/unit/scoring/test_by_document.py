"""The values of each document by itself, for reports."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from hlteval.scoring import metric as module
from hlteval.scoring.metric import by_document
from tests.runs import score, scored

DEMO = Path(__file__).parents[3] / "hlteval" / "demo"
REFERENCE, SYSTEM = (str(DEMO / "comparison" / name) for name in ("reference.tpl", "bold.tpl"))


def test_a_document_has_the_score_that_it_would_have_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_CHUNK", 5)
    run = scored("hub4", REFERENCE, SYSTEM)
    counts = pl.concat(run.counts)
    found = by_document(run.metric, counts, ["both.f", "both.rec"])
    assert found.columns == ["document", "both.f", "both.rec"]
    assert found["document"].to_list() == run.metric.documents(counts)
    own = counts.filter(pl.col(run.metric.document_column) == found["document"][3])
    alone, _ = run.metric.score(run.metric.total([own]))
    assert found.row(3)[1:] == pytest.approx((alone["both.f"], alone["both.rec"]))


def test_many_documents_are_not_scored_one_by_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST", 0)
    entities = DEMO / "entities"
    paths = (str(entities / "reference.tab"), str(entities / "system.tab"))
    run = scored("lorehlt-edl", *paths)
    found = by_document(run.metric, pl.concat(run.counts), ["mention_ceaf.fscore"])
    assert found.is_empty()


def test_scores_have_them_for_reports_only():
    assert score("hub4", REFERENCE, SYSTEM).by_document is None
    found = score("hub4", REFERENCE, SYSTEM, evidence=True).by_document
    assert found is not None
    assert found.columns[:2] == ["document", "both.f"]
