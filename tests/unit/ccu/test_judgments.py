"""Appendix D of the CCU plan: its worked examples, and where they contradict its rules."""

from __future__ import annotations

import polars as pl
import pytest

from hlteval.representation import Corpus
from hlteval.representation.judgments import Constants, decisions_of, scored_reference


def corpus(kind, segments, modality="audio"):
    """A reference of one document: (start, end, [labels of each annotator])."""
    rows = [
        {
            "row": 0,
            "document": 0,
            "origin": 0,
            "record": record,
            "kind": kind,
            "label": label,
            "start": float(start),
            "end": float(end),
            "annotator": f"a{number}",
        }
        for record, (start, end, given) in enumerate(segments)
        for number, labels in enumerate(given)
        for label in labels.split("+")
    ]
    numbered = [{**row, "row": index} for index, row in enumerate(rows)]
    return Corpus(documents=[{"row": 0, "name": "d", "modality": modality}], instances=numbered)


def instances(reference, kind, **constants):
    found = scored_reference(reference, kind, Constants(**constants)).instances
    return sorted(found.select("start", "end", "label").rows())


EMOTIONS = [
    (0, 10, ["sad", "sad+happy", "angry"]),
    (10, 15, ["sad", "happy+sad", "happy+sad"]),
    (15, 18, ["angry", "angry+joy", "angry+joy"]),
    (18, 23, ["none", "angry", "joy"]),
    (23, 33, ["joy", "joy", "joy"]),
    (33, 43, ["joy", "joy+angry"]),
    (43, 53, ["joy"]),
    (53, 63, ["joy+angry"]),
    (63, 73, ["none"]),
    (73, 83, ["noann"]),
]


def test_norms_are_merged_as_in_the_example():
    reference = corpus(
        "norm", [(0, 10, ["greeting"]), (10, 15, ["greeting+criticize"]), (15, 18, ["greeting"])]
    )
    assert instances(reference, "norm") == [(0, 18, "greeting"), (10, 15, "criticize")]


def test_emotions_are_collapsed_as_in_the_example():
    # The list of the plan has "63s-63s" for the segment from 53 to 63.
    given = decisions_of(corpus("emotion", EMOTIONS), "emotion", Constants())
    assert sorted(given.select("start", "label").rows()) == [
        (0, "sad"),
        (10, "happy"),
        (10, "sad"),
        (15, "angry"),
        (15, "joy"),
        (18, "none"),
        (23, "joy"),
        (33, "joy"),
        (43, "noann"),
        (53, "noann"),
        (63, "noann"),
        (73, "noann"),
    ]


def test_emotions_are_merged_by_the_rule():
    # The list of the plan ends with joy from 23 to 33. Joy survives the vote from 33 to 43 too,
    # without a gap, so that the rule gives one instance.
    assert instances(corpus("emotion", EMOTIONS), "emotion") == [
        (0, 15, "sad"),
        (10, 15, "happy"),
        (15, 18, "angry"),
        (15, 18, "joy"),
        (23, 43, "joy"),
    ]


def test_what_is_annotated_is_what_enough_annotators_judged():
    places = scored_reference(corpus("emotion", EMOTIONS), "emotion").annotated
    assert places.select(pl.col("start").min(), pl.col("end").max()).row(0) == (0, 43)


@pytest.mark.parametrize(
    ("modality", "gap", "together"),
    [("audio", 0.999, 1), ("audio", 1, 2), ("video", 0.5, 1), ("text", 10, 1), ("text", 11, 2)],
)
def test_a_gap_less_than_the_constant_is_merged(modality, gap, together):
    # of text, the first segment ends with character 20: 10 further on, there are 9 between
    reference = corpus("norm", [(0, 20, ["101"]), (20 + gap, 40, ["101"])], modality)
    assert len(instances(reference, "norm")) == together


def test_what_is_not_annotated_breaks_continuity():
    silent = [(0, 10, ["101"]), (10.2, 10.6, ["noann"]), (10.8, 20, ["101"])]
    assert len(instances(corpus("norm", silent), "norm")) == 2
    nothing = [(0, 10, ["101"]), (10.2, 10.6, ["none"]), (10.8, 20, ["101"])]
    assert len(instances(corpus("norm", nothing), "norm")) == 1


def test_nothing_is_merged_if_that_is_chosen():
    reference = corpus("norm", [(0, 10, ["101"]), (10, 20, ["101"])])
    assert len(instances(reference, "norm", seconds=None)) == 2


@pytest.mark.parametrize(
    ("votes", "labels"), [(1, {"joy", "fear", "trust"}), (2, {"joy"}), (3, {"none"})]
)
def test_enough_annotators_must_agree(votes, labels):
    reference = corpus("emotion", [(0, 10, ["joy", "joy+fear", "trust"])])
    found = decisions_of(reference, "emotion", Constants(votes=votes))
    assert set(found["label"]) == labels


def test_two_that_judged_and_agree_are_a_majority():
    reference = corpus("emotion", [(0, 10, ["joy", "noann", "joy"])])
    assert decisions_of(reference, "emotion", Constants())["label"].to_list() == ["joy"]
    alone = corpus("emotion", [(0, 10, ["joy", "noann", "noann"])])
    assert decisions_of(alone, "emotion", Constants())["label"].to_list() == ["noann"]


def statuses(*given):
    rows = [
        {
            "row": index,
            "document": 0,
            "origin": 0,
            "record": index,
            "kind": "norm",
            "label": label,
            "status": status,
            "start": 0.0,
            "end": 10.0,
            "annotator": "a",
        }
        for index, (label, status) in enumerate(given)
    ]
    return Corpus(documents=[{"row": 0, "name": "d", "modality": "audio"}], instances=rows)


def test_statuses_of_a_merged_instance_are_listed():
    reference = statuses(("101", "violate"), ("101", "adhere"))
    found = scored_reference(reference, "norm").instances
    assert found["status"].to_list() == ["adhere,violate"]
    apart = scored_reference(reference, "norm", Constants(by_status=True)).instances
    assert sorted(apart["status"]) == ["adhere", "violate"]


def test_a_segment_with_conflicts_is_not_annotated_if_that_is_chosen():
    reference = statuses(("101", "violate"), ("101", "adhere"), ("102", "adhere"))
    found = scored_reference(reference, "norm", Constants(conflicts_unscored=True))
    assert not found.instances.height
    assert not found.annotated.height
    agreeing = statuses(("101", "adhere"), ("102", "violate"))
    assert (
        scored_reference(agreeing, "norm", Constants(conflicts_unscored=True)).instances.height == 2
    )
