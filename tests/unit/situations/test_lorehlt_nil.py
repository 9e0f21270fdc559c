"""NIL sources and places of LoReHLT situation frames: what an EDL pair says that they are."""

from __future__ import annotations

import pytest

from tests.unit.situations.lorehlt_frames import corpus, gold, said, scored, values
from tests.unit.situations.test_lorehlt_scores import FEAR, mentions

OTHER_PERSON = {
    "system_edl": mentions(("d1", 40, 45, "NIL001")),
    "reference_edl": mentions(("d1", 3, 8, "NIL001")),
}
"""NIL001 of the system is mentioned where the reference mentions nobody."""


def sentiment_pair():
    felt = [FEAR | {"doc": "d1", "frame_row": 0, "holder_kb": "NIL001"}]
    return corpus([gold("d1")], felt), corpus([said("d1")], felt)


def test_a_nil_source_without_an_overlapping_mention_is_equal_to_nothing():
    """Both sides name a NIL001, but of other persons: no sentiment is right."""
    reference, system = sentiment_pair()
    assert values(reference, system)["sec_f1.polarity"] == 1.0
    assert values(reference, system, **OTHER_PERSON)["sec_f1.polarity"] == 0.0


@pytest.mark.parametrize(("options", "gravity"), [({}, 1.2), (OTHER_PERSON, 1.0)])
def test_its_fear_makes_no_frame_graver(options, gravity):
    reference, system = sentiment_pair()
    metric, total = scored(reference, system, **options)
    assert metric.scores(total).ranking("numeric").system["gravity"].to_list() == [gravity]


def test_nil_places_are_resolved_by_the_pair():
    """NIL7 is mentioned where the reference mentions NIL001, and its own NIL001 is elsewhere: of
    the two places one is right, and one of the reference is missed: P = 1/2, R = 1/1."""
    reference = corpus([gold("d1", place="NIL001")])
    system = corpus([said("d1", place="NIL7"), said("d1", place="NIL001")])
    pair = {
        "system_edl": mentions(("d1", 3, 8, "NIL7"), ("d1", 40, 45, "NIL001")),
        "reference_edl": mentions(("d1", 3, 8, "NIL001")),
    }
    metric, total = scored(reference, system, **pair)
    found, tables = metric.score(total)
    assert found["frame_precision.type,place"] == 1 / 2
    assert found["frame_recall.type,place"] == 1.0
    assert set(tables["situations"]["place"]) == {"NIL001", "system:NIL001"}
    assert metric.notes(total) == ()


def test_a_submission_with_mentions_but_none_of_nil_entities_is_half_of_a_pair():
    """Its NIL source has no mention, so that it is equal to nothing."""
    reference, system = sentiment_pair()
    row = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "m", "label": "PER"}
    held = system.replace(mentions=[row | {"start": 40, "end": 45, "entity": "77"}])
    table = OTHER_PERSON["reference_edl"]
    assert values(reference, held, reference_edl=table)["sec_f1.polarity"] == 0.0


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({}, "--system-edl and --reference-edl resolve"),
        ({"system_edl": OTHER_PERSON["system_edl"]}, "--reference-edl resolves"),
        ({"reference_edl": OTHER_PERSON["reference_edl"]}, "--system-edl resolves"),
    ],
)
def test_what_is_compared_by_name_is_noted(options, flags):
    felt = [FEAR | {"doc": "d1", "frame_row": 0, "holder_kb": name} for name in ("NIL1", "NIL2")]
    system = corpus([said("d1"), said("d1", place="NIL9")], [*felt, *felt])
    metric, total = scored(corpus([gold("d1")]), system, **options)
    assert metric.notes(total) == (
        f"2 NIL sources and 1 NIL place of the submission were compared by name; {flags} them",
    )
    metric, total = scored(corpus([gold("d1")]), system, no_sec=True, **options)
    assert metric.notes(total) == (
        f"1 NIL place of the submission was compared by name; {flags} it",
    )
