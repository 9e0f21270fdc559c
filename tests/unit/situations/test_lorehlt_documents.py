"""Which documents of LoReHLT situation frames are scored: those of the reference, or of a list."""

from __future__ import annotations

import pytest

from hlteval.scoring.situations.lorehlt.frame_rows import _hint
from tests.unit.situations.lorehlt_frames import corpus, gold, said, scored, values

REFERENCE = [gold("D1"), gold("D1", "water", "2"), gold("D1", "med", "3")]
PERFECT = [said("D1"), said("D1", "water", "2"), said("D1", "med", "3")]
ELSEWHERE = [said("D2", "search", "8"), said("D3", "infra", "9"), said("D3", "food", "9")]
ALL = ("D1", "D2", "D3")
SUFFIX = "list documents that were annotated and are empty with --scored"


def test_documents_of_the_test_set_that_are_not_annotated_are_not_scored():
    """A system that is perfect in D1 loses nothing by processing D2 and D3 (section 16.1)."""
    metric, total = scored(corpus(REFERENCE), corpus([*PERFECT, *ELSEWHERE]), documents=ALL)
    found = metric.score(total)[0]
    assert found["ndcg.standard"] == found["frame_precision.type"] == 1.0
    assert metric.notes(total) == (f"3 frames of 2 documents were not scored; {SUFFIX}",)
    assert metric.documents(total) == ["D1"]


def test_a_document_in_neither_list_is_a_false_alarm():
    """Three frames are right and three are of unknown documents: precision is 3/6; of D3 alone,
    which the list of the test set lacks, two: 3/5."""
    reference, system = corpus(REFERENCE), corpus([*PERFECT, *ELSEWHERE])
    assert values(reference, system)["frame_precision.type"] == 3 / 6
    found = values(reference, system, documents=("D1", "D2"))
    assert found["frame_precision.type"] == 3 / 5
    listed = values(reference, system, scored=("D1",))
    assert listed["frame_precision.type"] == 3 / 6


def test_a_document_that_was_annotated_and_is_empty_is_scored_if_it_is_listed():
    """D3 has no needs: both of its frames are false alarms, and D2 is left out."""
    system = corpus([*PERFECT, *ELSEWHERE])
    metric, total = scored(corpus(REFERENCE), system, documents=ALL, scored=("D1", "D3"))
    assert metric.score(total)[0]["frame_precision.type"] == 3 / 5
    assert metric.documents(total) == ["D1", "D3"]
    assert metric.notes(total) == (
        "1 frame of 1 document was not scored: --scored does not list it",
    )


def test_a_list_of_scored_documents_leaves_out_documents_of_the_reference():
    """D2 is annotated but not scored: what is missed there does not count, either."""
    reference = corpus([*REFERENCE, gold("D2", "evac", "4")])
    system = corpus([*PERFECT, *ELSEWHERE])
    metric, total = scored(reference, system, documents=ALL, scored=("D1",))
    found = metric.score(total)[0]
    assert found["frame_recall.type"] == found["frame_precision.type"] == 1.0
    assert found["ndcg.standard"] == 1.0


def test_a_document_of_the_reference_without_frames_is_scored():
    """A table without rows is annotation: the two frames of D3 are false alarms."""
    reference = corpus(REFERENCE, documents={"D1": "text", "D3": "text"})
    found = values(reference, corpus([*PERFECT, *ELSEWHERE]), documents=ALL)
    assert found["frame_precision.type"] == 3 / 5


@pytest.mark.parametrize(
    ("listed", "expected"), [(None, 3 / 6), (("D1",), 1.0), (("D1", "D2"), 3 / 4)]
)
def test_official_scores_every_document_or_those_of_its_list(listed, expected):
    reference, system = corpus(REFERENCE), corpus([*PERFECT, *ELSEWHERE])
    found = values(reference, system, "official", documents=ALL, scored=listed)
    assert found["frame_precision.type"] == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("abcde", "did you mean a? D1 has a, b, c, d, e"),
        ("abcdefg", "did you mean a? D1 has a, b, c, d, e and 2 more"),
        ("", "did you mean a? D1 has none"),
    ],
)
def test_a_hint_lists_five_names(names, expected):
    assert _hint("a", "D1", names) == expected
    assert _hint(None, "D1", names) == expected.partition("? ")[2]
