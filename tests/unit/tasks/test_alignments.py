"""What tasks declare of their alignments is what their tables have."""

from __future__ import annotations

from functools import cache

import pytest

from hlteval.results.scores import Scores
from hlteval.scoring.metric import MARKS, TEXTS
from hlteval.tasks import BUILTIN, load
from tests.cli.test_widths import SIDES
from tests.runs import score

SCORED = sorted(SIDES)
TEXT_OPTIONS = {
    "lorehlt-edl": {"texts": "hlteval/demo/entities/texts"},
    "hub4": {"corpus": "hlteval/demo/comparison/corpus.sgml"},
}


@cache
def scored(task: str) -> Scores:
    options = TEXT_OPTIONS.get(task, {})
    return score(task, *SIDES[task], evidence=True, options=options)


def test_every_task_that_is_scored_declares_how_its_alignment_is_read() -> None:
    known = {name: load(name) for name in BUILTIN}
    assert {name for name in known if known[name].metric} == {
        name for name in known if known[name].alignment_info
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", SCORED)
def test_declared_columns_and_outcomes_are_there(task: str) -> None:
    info = load(task).alignment_info
    assert info is not None
    table = scored(task).tables[info.table]
    rows = info.rows(table) if info.rows else table
    places = (*info.places.reference, *info.places.system) if info.places else ()
    cells = (name for cell in info.cells for name in (cell.reference, cell.system, cell.differs))
    facets = (facet.column for facet in info.facets)
    wanted = {"outcome", "document", *info.label, *places, *cells, *facets, *info.details}
    assert wanted - {""} <= {*rows.columns}
    assert rows.height
    assert {*rows["outcome"]} <= {outcome.name for outcome in info.outcomes}


@pytest.mark.parametrize("task", ["seedev-binary", "seedev-full", "lorehlt-edl", "hub4"])
def test_texts_of_documents_are_evidence(task: str) -> None:
    evidence = scored(task).evidence
    assert evidence is not None
    assert evidence.texts.schema == dict(TEXTS)
    info = load(task).alignment_info
    assert info is not None
    documents = scored(task).tables[info.table]["document"]
    assert {*documents} <= {*evidence.texts["document"]}


def test_arguments_of_events_are_evidence() -> None:
    evidence = scored("seedev-full").evidence
    assert evidence is not None
    assert evidence.marks.schema == dict(MARKS)
    own = evidence.marks.filter(item="E3", side="system").select("role", "text").rows()
    assert ("Developmental_Stage", "late embryogenesis") in own


def test_nothing_is_kept_unless_it_is_wanted() -> None:
    assert score("seedev-full", *SIDES["seedev-full"]).evidence is None


def test_evidence_does_not_depend_on_batches() -> None:
    sides = SIDES["seedev-binary"]
    whole, parts = (score("seedev-binary", *sides, evidence=True, batch=n) for n in (9, 1))
    assert whole.evidence is not None and parts.evidence is not None
    assert whole.evidence.texts.equals(parts.evidence.texts)
    assert whole.evidence.marks.equals(parts.evidence.marks)
