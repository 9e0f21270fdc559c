"""Every measure of speech situation frames on one example, with the computation.

Five frames by falling confidence, of which the first and the third are right; all numbers of frames
from 1 to 5 are cuts. The reference has three frames, in the segments D1, D2 and D3, and none in D4.
"""

from __future__ import annotations

import pytest

from hlteval.representation import Corpus
from hlteval.scoring.situations.official import frame_match
from tests.unit.situations.test_areas import annotated, frame, scores

FRAMES = [
    frame("D1", "Shelter", 0.9, "Osh"),
    frame("D1", "Evacuation", 0.8, "Osh"),  # no such type
    frame("D2", "Evacuation", 0.7, "Narun"),  # of Naryn: 10 characters, 1 substitution, so 8 / 10
    frame("D2", "Shelter", 0.6, "Osh"),  # no such type
    frame("D4", "Shelter", 0.5, "Osh"),  # no situation
]
EXPECTED = {
    # Segments D1, D1, D1 D2, D1 D2, D1 D2 D4. P: 1 1 1 1 2/3, R: 1/3 1/3 2/3 2/3 2/3.
    # The area from recall 1/3 to 2/3 is 1/3 · 1; from recall 0 on 2/3. F1: 2 · 2 / (2 + 3).
    "relevance.auc_anchored": 2 / 3,
    "relevance.auc_unanchored": 1 / 3,
    "relevance.max_f1": 4 / 5,
    # True positives 1 1 2 2 2. P: 1 1/2 2/3 2/4 2/5, R: 1/3 1/3 2/3 2/3 2/3.
    # The area from recall 1/3 to 2/3 is 1/3 · (1/2 + 2/3) / 2; before it is 1/3 · 1.
    "type.auc_anchored": 1 / 3 + 1 / 3 * (1 / 2 + 2 / 3) / 2,
    "type.auc_unanchored": 1 / 3 * (1 / 2 + 2 / 3) / 2,
    "type.max_f1": 2 * 2 / (3 + 3),
    # True positives 1 1 1.8 1.8 1.8. P: 1 .5 .6 .45 .36, R: 1/3 1/3 .6 .6 .6.
    "type+place.auc_anchored": 1 / 3 + (0.6 - 1 / 3) * (0.5 + 0.6) / 2,
    "type+place.auc_unanchored": (0.6 - 1 / 3) * (0.5 + 0.6) / 2,
    "type+place.max_f1": 2 * 1.8 / (3 + 3),
}
EXPECTED |= {f"{layer}.auc": EXPECTED[f"{layer}.auc_anchored"] for layer in (
    "relevance", "type", "type+place"
)}  # fmt: skip


def test_every_measure_by_hand(tmp_path):
    segments = {"D1": ("Shelter", "Osh"), "D2": ("Evacuation", "Naryn")}
    segments |= {"D3": ("Shelter", "Batken"), "D4": ("n/a", "n/a")}
    found = scores(annotated(tmp_path, **segments), FRAMES).metrics
    assert found == pytest.approx(EXPECTED, abs=1e-12)


def test_a_frame_without_a_confidence_is_as_sure_as_one_with_1():
    """The frame of D1 is right, that of D0 is not: as they are taken together, P is 1/2 at once."""
    rows = [{"row": at, "document": at, "origin": 0, "record": at + 1} for at in range(2)]
    frames = [row | {"kind": "situation", "label": "shelter"} for row in rows]
    documents = [{"row": at, "name": f"D{at}"} for at in range(2)]
    reference = Corpus(documents=documents, frames=frames[1:])
    system = Corpus(documents=documents, frames=[frames[0], frames[1] | {"confidence": 1.0}])
    metric = frame_match()
    values, tables = metric.score(metric.total([metric.statistics(reference, system)[0]]))
    assert values["type.auc"] == 1 / 2
    assert set(tables["curve"].drop_nulls("threshold")["threshold"]) == {1.0}
    assert metric.official_files(metric.total([metric.statistics(reference, system)[0]])) == {}


EXAMPLES = {"speech-sf": EXPECTED}
