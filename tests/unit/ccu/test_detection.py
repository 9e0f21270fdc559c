"""Norms, emotions and change points: what is scored, and what makes no difference."""

from __future__ import annotations

import polars as pl
import pytest

from hlteval.representation import Corpus
from hlteval.scoring.ccu.changes import change_detection
from hlteval.scoring.ccu.detections import ChangeOptions, DetectionOptions, LlrFilter
from hlteval.scoring.ccu.official_files import instance_detection
from hlteval.scoring.ccu.spans import criterion, shares
from hlteval.scoring.instance_detection import points
from hlteval.tasks import ccu as ccu_readers
from hlteval.tasks.option_files import integer

DOCUMENTS = ("audio", "text", "video")
"""The modalities of the documents `d0`, `d1` and `d2`."""


def corpus(instances=(), changes=(), regions=(), disclosed=(), processed=True):
    """Instances as (document, label, start, end, llr), changes as (document, at, llr)."""
    shared = {"origin": 0, "record": 1}
    return Corpus(
        documents=[
            {
                "row": row,
                "name": f"d{row}",
                "modality": kind,
                "length": 100.0,
                "processed": processed,
            }
            for row, kind in enumerate(DOCUMENTS)
        ],
        instances=[
            {
                **shared,
                "row": row,
                "document": document,
                "kind": "norm",
                "label": label,
                "start": None if start is None else float(start),
                "end": None if end is None else float(end),
                "llr": llr,
                "region": f"s{start}" if start is not None else "s0",
            }
            for row, (document, label, start, end, llr) in enumerate(instances)
        ],
        changes=[
            {**shared, "row": row, "document": document, "at": float(at), "llr": llr}
            for row, (document, at, llr) in enumerate(changes)
        ],
        regions=[
            {
                **shared,
                "row": row,
                "document": document,
                "region": f"s{start}",
                "start": float(start),
                "end": float(end),
            }
            for row, (document, start, end) in enumerate(regions)
        ],
        entities=[
            {"row": row, "entity": name, "label": kind}
            for row, (name, kind) in enumerate(disclosed)
        ],
    )


def of(reference, system, metric=None, **options):
    scorer = metric or instance_detection(options=DetectionOptions(**options))
    total = scorer.total([scorer.statistics(reference, system)[0]])
    return scorer.score(total)


def values(reference, system, **options):
    return of(reference, system, **options)[0]


ONE = corpus([(0, "101", 0, 10, None), (0, "none", 20, 50, None)])


def test_a_class_has_its_own_values_and_genres_have_theirs():
    reference = corpus([(0, "101", 0, 10, None), (1, "102", 0, 9, None)])
    found = values(reference, corpus([(0, "101", 0, 10, 1.5)]))
    assert (found["ap.101"], found["ap.102"], found["map"]) == (1, 0, 0.5)
    assert (found["map.audio"], found["map.text"], found["classes"]) == (1, 0, 2)
    assert found["map.video"] is None
    assert (found["micro_recall"], found["micro_precision"]) == (0.5, 1)


DISCLOSED = [("101", "known"), ("109", "hidden"), ("110", "hidden")]
DISCOVERED = corpus(
    [(0, "101", 0, 10, None), (0, "109", 20, 30, None), (0, "110", 40, 50, None)],
    disclosed=DISCLOSED,
)
FOUND = corpus([(0, "101", 0, 10, 1.5), (0, "101", 20, 30, 0.5), (0, "110", 40, 50, 2.5)])


def mapped(*pairs):
    return pl.DataFrame(pairs, ["sys_norm", "ref_norm"], orient="row")


def test_a_norm_that_the_mapping_does_not_list_is_not_scored_as_a_hidden_one():
    """101 is mapped to 109; the cluster that the system calls 110 is not that of the annotation."""
    scorer = instance_detection(options=DetectionOptions(mapping=mapped(("101", "109"))))
    total = scorer.total([scorer.statistics(DISCOVERED, FOUND)[0]])
    found = scorer.score(total)[0]
    # 109: of the two detections of 101, the one with the lower score is right
    assert (found["ap.101"], found["ap.109"], found["ap.110"]) == (1, 0.5, 0)
    # what is not scored is not a false alarm either
    assert (found["precision.110"], found["recall.110"]) == (None, 0)
    assert (found["map.known"], found["map.hidden"], found["classes"]) == (1, 0.25, 3)
    assert found["map"] == 0.5
    assert scorer.notes(total) == (
        "1 norm of the system with the name of a hidden norm is not in the mapping and not "
        "scored: 110",
    )


def test_a_norm_can_be_mapped_to_the_hidden_norm_of_its_name():
    found = values(DISCOVERED, FOUND, mapping=mapped(("110", "110"), ("110", "109")))
    assert (found["ap.110"], found["ap.109"], found["precision.109"]) == (1, 0, 0)
    # A mapping to a norm that is not hidden changes nothing.
    found = values(DISCOVERED, FOUND, mapping=mapped(("110", "101")))
    assert (found["ap.101"], found["precision.101"]) == (1, 0.5)
    # A row twice maps once.
    found = values(DISCOVERED, FOUND, mapping=mapped(("110", "110"), ("110", "110")))
    assert (found["ap.110"], found["precision.110"]) == (1, 1)


def test_hidden_norms_without_a_mapping_have_no_values():
    scorer = instance_detection()
    total = scorer.total([scorer.statistics(DISCOVERED, FOUND)[0]])
    found, tables = scorer.score(total)
    for name in ("ap", "ap_interpolated", "precision", "recall", "f1", "scaled_f1"):
        assert (found[f"{name}.109"], found[f"{name}.110"]) == (None, None)
    # 101 is right at 0-10 with 1.5, and a false alarm at 20-30 with 0.5
    assert (found["map"], found["map.known"], found["map.hidden"]) == (1, 1, None)
    assert (found["map.audio"], found["classes"]) == (1, 1)
    assert (found["micro_precision"], found["micro_recall"]) == (0.5, 1)
    assert scorer.notes(total) == (
        "2 hidden norms are not scored without a mapping (--mapping): 109, 110",
    )
    outcomes = tables["detections"].select("class", "outcome").sort("class", "outcome").rows()
    hidden = [("109", "not mapped"), ("110", "not mapped"), ("110", "not mapped")]
    assert outcomes == [("101", "CD"), ("101", "FA"), *hidden]


def test_only_hidden_norms_without_a_mapping_are_no_score():
    reference = corpus([(0, "109", 20, 30, None)], disclosed=DISCLOSED)
    found, tables = of(reference, FOUND)
    assert (found["map"], found["ap.109"], found["classes"]) == (None, None, 0)
    rows = tables["scorings"].filter(scoring="109", measure="references")
    assert rows["value"].to_list() == [1.0]


def test_hidden_norms_are_all_that_is_mapped_to_where_the_annotation_lists_none():
    reference = corpus([(0, "101", 0, 10, None), (0, "110", 40, 50, None)])
    assert values(reference, FOUND)["ap.110"] == 1
    assert values(reference, FOUND, mapping=mapped(("A1", "110")))["ap.110"] == 0


def test_an_annotator_scored_like_a_system_knows_the_hidden_norms():
    found = values(DISCOVERED, DISCOVERED.replace(instances=FOUND.instances))
    assert (found["ap.110"], found["map.hidden"]) == (1, 0.5)


def test_known_and_hidden_norms_are_reported_separately():
    system = corpus([(0, "101", 0, 10, 1.5), (0, "A1", 20, 30, 1.5), (0, "A2", 40, 50, 1.5)])
    found = values(DISCOVERED, system, mapping=mapped(("A1", "109"), ("A2", "110")))
    assert (found["map.known"], found["map.hidden"]) == (1, 1)
    found = values(DISCOVERED, system, mapping=mapped(("A1", "109")))
    assert (found["map.known"], found["map.hidden"]) == (1, 0.5)


def test_a_mapping_is_many_to_many_and_known_norms_stay_known():
    disclosed = [("101", "known"), ("005", "hidden"), ("006", "hidden")]
    instances = [(0, "101", 0, 10, None), (0, "005", 20, 30, None), (0, "006", 20, 30, None)]
    reference = corpus(instances, disclosed=disclosed)
    system = corpus([(0, "101", 0, 10, 1.5), (0, "A1", 20, 30, 1.5), (0, "A2", 20, 30, 0.5)])
    pairs = [("101", "005"), ("A1", "005"), ("A1", "006"), ("A2", "005")]
    found = values(reference, system, mapping=mapped(*pairs))
    assert (found["ap.101"], found["ap.006"]) == (1, 1)
    # of A1, A2 and the mapped known norm, one is right
    assert found["precision.005"] == pytest.approx(1 / 3)


def test_several_thresholds_have_names_of_their_own():
    system = corpus([(0, "101", 0, 4, 1.5)])
    found = values(ONE, system, overlap=(criterion("0.2"), criterion("iou:gt:0.4")))
    assert (found["map"], found["map@0.2"], found["map@iou:gt:0.4"]) == (1, 1, 0)
    assert "map@0.2" not in values(ONE, system)


def test_the_last_character_of_text_is_inside():
    reference = corpus([(1, "101", 0, 9, None)])
    found = of(reference, corpus([(1, "101", 9, 9, 1.5)]), overlap=(criterion("0.1"),))[1]
    assert found["detections"].filter(outcome="CD").select("iou", "intersection").row(0) == (0.1, 1)


def test_what_the_system_says_of_other_regions_makes_no_difference():
    system = [(0, "101", 0, 10, 1.5)]
    longer = [(0, "101", 0, 20, 1.5), (0, "101", 12, 18, 9.5), (0, "101", 60, 90, 9.5)]
    assert values(ONE, corpus(system)) == values(ONE, corpus(longer))
    within = corpus([*system, (0, "101", 25, 30, 0.5)])
    assert values(ONE, within)["precision.101"] == 0.5


def test_documents_that_were_not_processed_are_missed():
    found = values(ONE, corpus([(0, "101", 0, 10, 1.5)], processed=False))
    assert (found["map"], found["recall.101"], found["precision.101"]) == (0, 0, None)


def test_a_filter_takes_negative_scores():
    system = corpus([(0, "101", 0, 10, -0.25), (0, "101", 30, 40, -0.5)])
    chosen = ccu_readers.llr_filter("after_read:by_value:-0.3", {})
    assert chosen == LlrFilter("after_read", -0.3)
    assert values(ONE, system, llr_filter=chosen)["precision.101"] == 1
    assert values(ONE, system)["precision.101"] == 0.5


def test_instances_can_name_segments_instead_of_places():
    reference = corpus([(0, "101", 0, 10, None)], regions=[(0, 0, 10)])
    system = corpus([(0, "101", None, None, 1.5)])
    assert values(reference, system)["map"] == 1
    assert values(reference, system, submission_form="open")["map"] == 1
    scorer = instance_detection(options=DetectionOptions(submission_form="regular"))
    total = scorer.total([scorer.statistics(reference, system)[0]])
    assert scorer.score(total)[0]["map"] == 0
    (note,) = scorer.notes(total)
    assert note.startswith("1 system instance without a place")


def test_the_classes_that_have_no_reference_are_told():
    scorer = instance_detection()
    total = scorer.total([scorer.statistics(ONE, corpus([(0, "A1", 0, 10, 1.5)]))[0]])
    assert scorer.notes(total) == ("1 class of the system without references is not scored: A1",)


def test_instances_of_a_system_are_merged_if_that_is_chosen():
    system = corpus([(0, "101", 0, 4, -1.5), (0, "101", 4.5, 10, 2.5)])
    assert values(ONE, system)["precision.101"] == 0.5
    table = of(ONE, system, merge_system=1.0, merge_system_llr="min_llr")[1]["detections"]
    assert table.filter(outcome="CD").select("iou", "llr").row(0) == (1, -1.5)


def test_the_congruence_of_a_score_is_its_share_of_their_range():
    system = corpus([(0, "101", 0, 10, 3.0), (0, "101", 30, 40, 1.0)])
    table = of(ONE, system)[1]["detections"].sort("llr")
    assert table["congruence"].to_list() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("align", "precision", "recall"),
    [
        ("", 1 / 3, 0.5),
        ("ManyRef:OneHyp", 0.5, 1),
        ("OneRef:ManyHyp", 0.5, 0.5),
        ("ManyRef:ManyHyp", 2 / 3, 1),
    ],
)
def test_one_instance_for_several_or_several_for_one(align, precision, recall):
    reference = corpus(
        [
            (0, "101", 0, 10, None),
            (0, "none", 10, 20, None),
            (0, "101", 20, 30, None),
            (0, "none", 40, 50, None),
        ]
    )
    system = corpus([(0, "101", 0, 30, 2.5), (0, "101", 2, 8, 1.5), (0, "101", 40, 50, 0.5)])
    found = values(reference, system, align=align)
    assert found["precision.101"] == pytest.approx(precision)
    assert found["recall.101"] == recall


def test_change_points_of_each_data_type_have_their_delta():
    regions = [(document, 0, 500) for document in range(3)]
    reference = corpus(changes=[(0, 50, None), (1, 50, None), (2, 50, None)], regions=regions)
    system = corpus(changes=[(0, 60, 1.5), (1, 150, 1.5), (2, 60.5, 1.5)])
    found = of(reference, system, change_detection())[0]
    assert (found["cd.ap.audio"], found["cd.ap.text"], found["cd.ap.video"]) == (1, 1, 0)
    assert found["cd.ap"] == pytest.approx(2 / 3)
    several = change_detection(options=ChangeOptions(delta=(10.0, 10.5), delta_text=(99.0,)))
    found = of(reference, system, several)[0]
    assert (found["cd.ap.video"], found["cd.ap.video@10"], found["cd.ap.video@10.5"]) == (0, 0, 1)
    assert found["cd.ap.text@99"] == 0


def test_a_change_point_without_a_score_is_the_last():
    regions = [(0, 0, 500)]
    reference = corpus(changes=[(0, 50, None)], regions=regions)
    system = corpus(changes=[(0, 200, None), (0, 50, 0.5)], regions=regions)
    # At 0.5 the one point is right: 1 · 1; the other one adds no recall.
    assert of(reference, system, change_detection())[0]["cd.ap.audio"] == 1


def test_change_points_in_regions_that_nobody_annotated_do_not_count():
    reference = corpus(changes=[(0, 50, None)], regions=[(0, 10, 60), (0, 80, 100)])
    system = corpus(changes=[(0, at, 9.5) for at in (5, 70)] + [(0, 50, 1.5)])
    assert of(reference, system, change_detection())[0]["cd.precision.audio"] == 1
    inside = corpus(changes=[(0, at, 9.5) for at in (10, 80)] + [(0, 50, 1.5)])
    found = of(reference, inside, change_detection())[0]
    assert found["cd.precision.audio"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (ccu_readers.llr_filter, "before:by_value:1"),
        (ccu_readers.llr_filter, "after_read:by_value:nan"),
        (integer, "0"),
        (ccu_readers.gap, "-1"),
        (ccu_readers.amount, "x"),
        (ccu_readers.overlap, ("0.2", "0.2")),
        (ccu_readers.overlap, ("1.5",)),
        (ccu_readers.overlap, ()),
        (ccu_readers.deltas, ("10", "10.0")),
    ],
)
def test_a_wrong_value_is_refused(read, written):
    with pytest.raises(ValueError, match=r"\S"):
        read(written, {})


def test_a_detection_of_a_point_has_no_shares():
    """Nothing of a length of 0 is covered, and nothing beside it counts."""
    row = {"text": [False], "start": [0.0], "end": [10.0]}
    row |= {"expected_start": [5.0], "expected_end": [5.0]}
    found = shares(pl.DataFrame(row), 0, 0).select("union", "tp_share", "fp_share")
    assert found.rows() == [(10, 0, 0)]


@pytest.mark.parametrize("hits", [5, 6])
def test_the_points_of_a_single_curve_are_exact_quotients(hits):
    # 5 · (1 / 7) is 0.7142857142857142, 5 / 7 is 0.7142857142857143
    found = pl.DataFrame(
        {"class": "a", "llr": [3.0] * hits + [1.0], "hit": [True] * hits + [False]}
    )
    curve = points(found, pl.DataFrame({"class": ["a"], "relevant": [7]}), ["class"])
    assert curve["recall"].to_list() == [hits / 7, hits / 7]
    assert curve["precision"].to_list() == [1.0, hits / (hits + 1)]
