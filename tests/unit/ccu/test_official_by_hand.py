"""The public scorer's values and files of the example of `test_by_hand`, with the computation."""

from __future__ import annotations

from statistics import mean

import numpy as np
import polars as pl
import pytest

from hlteval.scoring.ccu.detection_metric import with_congruence
from hlteval.scoring.ccu.detections import AGAIN, CORRECT, FALSE, MISSED, DetectionOptions
from hlteval.scoring.ccu.levels import PIECE
from hlteval.scoring.ccu.official_detections import UNANNOTATED, _label, candidates, chain_segments
from hlteval.scoring.ccu.official_files import instance_detection, interpolated_area, statuses
from hlteval.scoring.ccu.official_levels import _average_scores, _place_pieces
from hlteval.scoring.ccu.spans import divide
from tests.unit.ccu.test_by_hand import (
    CLASSES,
    DETECTION,
    KNOWN,
    MAPPING,
    REFERENCE,
    SYSTEM,
    TEXT,
    corpus,
)

SHARES = ("tp_share", "fp_share")

ROUNDED = {
    name: [round(value, 3) for value in CLASSES["ap_interpolated" if name == "ap" else name]]
    for name in CLASSES
}
"""Measures of classes have three decimals; average precision is interpolated."""
EXPECTED = {
    f"{name}.{label}": value
    for name, own in ROUNDED.items()
    for label, value in zip(("101", "102", "103", "104"), own, strict=True)
}
EXPECTED |= {f"mean_{name}": round(mean(own), 3) for name, own in ROUNDED.items() if name != "ap"}
del EXPECTED["mean_ap_interpolated"]
EXPECTED |= {
    "classes": 4,
    "map": round(mean(ROUNDED["ap"]), 3),
    "map_interpolated": round(mean(ROUNDED["ap"]), 3),
    "map.known": round(mean(ROUNDED["ap"][:3]), 3),
    "map.hidden": 1,
    "map.audio": round(mean((ROUNDED["ap"][0], 1, 1)), 3),
    "map.text": 0,
    "map.video": 1,
    **{name: value for name, value in DETECTION.items() if name.startswith("micro_")},
}
ALIGNED = [
    # class, reference, system, llr, verdict, tp and fp shares, shifted ends where there are any
    ("101", "{start=0,end=10}", "{start=0,end=10}", "3.0", "CD", 1, 0, (0, 10)),
    ("101", "{start=20,end=40}", "{start=22,end=32}", "1.0", "CD", 1, 0, (20, 40)),
    ("101", "{}", "{start=50,end=55}", "4.0", "FA", 0, 1, None),
    ("102", "{}", "{start=0,end=5}", "0.1", "FA", 0, 1, None),
    ("102", "{start=60,end=80}", "{start=55,end=80}", "1.0", "CD", 1, 0.25, (55, 80)),
    ("102", "{start=0,end=9}", "{}", "", "MD", 0, 0, None),
    ("103", "{start=0,end=100}", "{start=30,end=60}", "1.0", "CD", 0.6, 0, (15, 75)),
    ("104", "{start=85,end=95}", "{start=85,end=95}", "0.5", "CD", 1, 0, (85, 95)),
]


@pytest.fixture
def scored():
    mapping = pl.DataFrame(MAPPING, ["sys_norm", "ref_norm"], orient="row")
    metric = instance_detection("official", options=DetectionOptions(mapping=mapping))
    reference = corpus(REFERENCE, disclosed=KNOWN)
    return metric, metric.total([metric.statistics(reference, corpus(SYSTEM))[0]])


def rows(metric, total, file):
    header, *lines = metric.official_files(total)[file].splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines if line]


def test_every_measure_by_hand(scored):
    metric, total = scored
    assert metric.score(total)[0] == pytest.approx(EXPECTED, abs=1e-12)


def test_the_alignment_by_hand(scored):
    found = rows(*scored, "instance_alignment.tab")
    assert [(row["class"], row["ref"], row["sys"], row["llr"]) for row in found] == [
        row[:4] for row in ALIGNED
    ]
    for row, (*_, verdict, right, beside, ends) in zip(found, ALIGNED, strict=True):
        assert row["eval"] == ("mapped" if verdict == "CD" else "unmapped")
        said = dict(part.split("=") for part in row["parameters"][1:-1].split(","))
        assert said["eval"] == verdict
        assert (float(said["pct_temp_tp"]), float(said["pct_temp_fp"])) == (right, beside)
        shown = [float(said[f"shifted_{end}_hyp"]) for end in ("start", "end") if ends]
        assert shown == [*(ends or ())]


def test_the_counts_of_classes_by_hand(scored):
    found = {
        (row["class"], row["metric"]): row["value"]
        for row in rows(*scored, "scores_by_class.tab")
        if row["genre"] == "all"
    }
    of_102 = {
        "sum_tp_at_MinLLR": 1,
        "sum_fp_at_MinLLR": 1,
        "sum_md_at_MinLLR": 1,
        "sum_scaled_tp_at_MinLLR": 1,
        "sum_scaled_fp_at_MinLLR": 1.25,
        "llr_at_MinLLR": 0.1,
    }
    assert {name: float(found["102", name]) for name in of_102} == of_102
    statistics = {
        (row["data"], row["genre"], row["metric"]): row["value"]
        for row in rows(*scored, "statistics_aggregated.tab")
    }
    # 10 + 20 + 20 + 10 seconds, ten characters; 5 + 10 + 10 + 25 + 5 + 10 seconds
    assert statistics["ref", "audio", "total_instance_seconds"] == "60"
    assert statistics["ref", "text", "total_instance_characters"] == "10"
    assert statistics["sys", "audio", "total_instance_seconds"] == "65"


def test_what_overlaps_no_reference_is_compared_with_what_starts_first():
    """D1: a region, then a reference. D2: a reference, then a region. D3: neither."""
    others = pl.DataFrame(
        [
            ("101", "D1", 0.0, 10.0, None, 0),
            ("101", "D1", 20.0, 30.0, 7, 1),
            ("101", "D2", 0.0, 10.0, 8, 2),
            ("101", "D2", 20.0, 30.0, None, 3),
        ],
        schema=["class", "document", "start", "end", "_reference", "_place"],
        orient="row",
    )
    system = [
        ("101", "D1", 40.0, 50.0, True, 0),  # cut, and its place is the region: not scored
        ("101", "D1", 50.0, 60.0, False, 1),
        ("101", "D2", 40.0, 50.0, True, 2),  # cut, but its place is a reference
        ("101", "D3", 0.0, 10.0, True, 3),
    ]
    columns = ["class", "document", "start", "end", "truncated", "_system"]
    found = candidates(pl.DataFrame(system, schema=columns, orient="row"), others)
    assert found.rows() == [(1, None, 0), (2, 8, 2), (3, None, None)]


def test_what_overlaps_several_regions_only_is_compared_with_what_it_does_not_overlap():
    """5-25 has 5 of 25 units with the first region and 5 of 25 with the second; 40-50 is left."""
    others = pl.DataFrame(
        [
            ("101", "D1", 0.0, 10.0, None, 0),
            ("101", "D1", 20.0, 30.0, None, 1),
            ("101", "D1", 40.0, 50.0, 7, 2),
            ("101", "D2", 0.0, 10.0, None, 3),
            ("101", "D2", 20.0, 30.0, None, 4),
        ],
        schema=["class", "document", "start", "end", "_reference", "_place"],
        orient="row",
    )
    system = [("101", document, 5.0, 25.0, False, at) for at, document in enumerate(("D1", "D2"))]
    columns = ["class", "document", "start", "end", "truncated", "_system"]
    found = candidates(pl.DataFrame(system, schema=columns, orient="row"), others)
    assert found.rows() == [(0, 7, 2)]


def test_of_what_it_does_not_overlap_an_instance_that_was_cut_has_references_only():
    """5-25 overlaps both regions; it is apart from a reference at 40 and a region at 60."""
    others = pl.DataFrame(
        [
            ("101", "D1", 0.0, 10.0, None, 0),
            ("101", "D1", 20.0, 30.0, None, 1),
            ("101", "D1", 40.0, 50.0, 7, 2),
            ("101", "D1", 60.0, 70.0, None, 3),
        ],
        schema=["class", "document", "start", "end", "_reference", "_place"],
        orient="row",
    )
    columns = ["class", "document", "start", "end", "truncated", "_system"]
    for cut, expected in ((False, [(0, 7, 2), (0, None, 3)]), (True, [(0, 7, 2)])):
        system = pl.DataFrame([("101", "D1", 5.0, 25.0, cut, 0)], schema=columns, orient="row")
        assert candidates(system, others).rows() == expected


def test_only_the_first_candidate_of_an_instance_is_a_false_alarm():
    """Of the first instance there are a reference, a region and a reference; one is not a match."""
    columns = ["_system", "_reference", "reference_start", "reference_end", "reference_status"]
    spans = [(0, 1, 0.0, 9.0, "a"), (0, None, 10.0, 19.0, None), (0, 2, 20.0, 29.0, "b")]
    pairs = pl.DataFrame([*spans, (1, 3, 30.0, 39.0, "c")], columns, orient="row")
    measures = ("iou", "intersection", "union", "shifted_start", "shifted_end")
    pairs = pairs.with_columns(pl.lit(0.5).alias(name) for name in (*measures, *SHARES))
    found = _label(pairs, np.array([False, False, False, True]), DetectionOptions())
    assert found["outcome"].to_list() == [FALSE, AGAIN, AGAIN, CORRECT]
    assert found.select(SHARES).rows() == [(0, 1), (0.5, 0.5), (0.5, 0.5), (0.5, 0.5)]
    assert found["reference_status"].to_list() == ["a", UNANNOTATED, "b", "c"]
    for name, ends in (("reference_start", (0, 20, 30)), ("reference_end", (9, 29, 39))):
        assert found[name].is_nan().to_list() == [False, True, False, False]
        assert found[name].to_list()[::2] == [ends[0], ends[1]]
        assert found[name].to_list()[3] == ends[2]
    assert found.select(measures).rows() == [(None,) * 5] * 3 + [(0.5,) * 5]


def test_a_reference_of_one_character_is_found_without_a_share():
    """The scorer divides by its end less its start, and takes 0 for that."""
    reference, system = ([(TEXT, "102", 4, end, llr)] for end, llr in ((4, None), (4, 1.0)))
    metric = instance_detection("official", options=DetectionOptions())
    total = metric.total([metric.statistics(corpus(reference), corpus(system))[0]])
    (row,) = rows(metric, total, "instance_alignment.tab")
    assert row["eval"] == "mapped"
    assert "iou=1.000,intersection=1.000,union=1.000" in row["parameters"]
    assert "pct_temp_tp=0.000,pct_temp_fp=0.000" in row["parameters"]


def test_gaps_between_pieces_are_closed_or_not_scored():
    """Seconds: .5 is closed, 1.5 is not. Characters: 9 are closed, 10 are not."""
    documents = pl.DataFrame({"document": [0, 1], "text": [False, True], "length": [10.0, 100.0]})
    pieces = [(0, 1.0, 2.0), (0, 2.5, 4.0), (0, 5.0, 5.0), (0, 5.5, 7.0)]
    pieces += [(1, 0.0, 5.0), (1, 15.0, 20.0), (1, 29.0, 40.0)]
    columns = ["document", "start", "end"]
    own = pl.DataFrame(pieces, schema=columns, orient="row").with_columns(level=pl.lit(2.0))
    found = _place_pieces(own, documents, closed=True)
    scored = pl.col("level") == 2.0
    assert found.select(*columns, scored).rows() == [
        *((0, 0, 1000, False), (0, 1000, 2500, True), (0, 2500, 4000, True)),
        # the piece without a length is left out: 4 to 5.5 is one gap
        *((0, 4000, 5500, False), (0, 5500, 7000, True), (0, 7000, 10000, False)),
        # the last characters are in the pieces, and in the document
        *((1, 0, 6, True), (1, 6, 15, False), (1, 15, 29, True), (1, 29, 41, True)),
        (1, 41, 101, False),
    ]
    open_gaps = _place_pieces(own, documents, closed=False)
    assert open_gaps.select(columns).rows() == [
        *((0, 1000, 2000), (0, 2500, 4000), (0, 5500, 7000)),
        *((1, 0, 6), (1, 15, 21), (1, 29, 41)),
    ]


def test_a_gap_has_three_decimals():
    """.9996 s is a gap of a second, which is not closed; .9994 s is one of .999 s, which is."""
    documents = pl.DataFrame({"document": [0], "text": [False], "length": [3.0]})
    for start, end in ((1.9996, 1000), (1.9994, 1999)):
        rows = [(0, 0.0, 1.0, 2.0), (0, start, 3.0, 2.0)]
        own = pl.DataFrame(rows, ["document", "start", "end", "level"], orient="row")
        assert _place_pieces(own, documents, closed=True)["end"].to_list()[0] == end


def test_a_level_needs_two_judgments_and_no_noann():
    """1 and 2 have the mean 3/2, 1 alone and 2 beside a noann have none.

    The second row of the first annotator is added, but not counted: 1, 2 and 3 are 6 of two.
    """
    rows = [("a", 0.0, 1.0), ("b", 0.0, 2.0), ("a", 5.0, 1.0), ("a", 9.0, 2.0), ("b", 9.0, None)]
    rows += [("a", 20.0, 1.0), ("a", 20.0, 2.0), ("b", 20.0, 3.0)]
    judgments = pl.DataFrame(rows, schema=["annotator", "start", "level"], orient="row")
    constant = {name: pl.lit(0) for name in PIECE if name not in {"start", "end"}}
    found = _average_scores(judgments.with_columns(end=pl.col("start") + 4, **constant))
    assert found.select("start", pl.col("level").fill_nan(None)).rows() == [
        (0.0, 1.5), (5.0, None), (9.0, None), (20.0, 3.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "end", "expected"),
    [
        (MISSED, None, ["adhere", "EMPTY_NA"]),
        (MISSED, 4.0, ["adhere", "violate"]),  # written for an instance that is not right
        (FALSE, 4.0, ["EMPTY_NA", "violate"]),
        (CORRECT, 4.0, ["adhere", "violate"]),
    ],
)
def test_the_statuses_of_an_outcome(outcome, end, expected):
    row = {"outcome": outcome, "system_end": end, "reference_status": "adhere"}
    assert statuses(row | {"system_status": "violate"}) == expected


def test_the_terms_of_average_precision_are_those_of_recall_that_rises():
    """Of 17 detections every second is right, from the first on: nine terms of a ninth each.

    More terms, of 0, would be added in another order, and the last digit would differ.
    """
    right = np.cumsum([number % 2 == 0 for number in range(17)])
    precision, recall = right / np.arange(1, 18), right / 9
    found = [rank for rank in range(17) if rank % 2 == 0]
    before = np.array([0.0, *recall[found][:-1]])
    terms = (recall[found] - before) * [precision[rank:].max() for rank in found]
    assert interpolated_area(precision, recall) == float(np.sum(terms))


@pytest.mark.parametrize(("by_status", "ends"), [(False, [4, 9, 4]), (True, [2, 4, 9, 4])])
def test_references_closer_than_a_gap_are_one(by_status, ends):
    """Of gaps of 1 and 2 s the first is less than 2 s; the other class is apart."""
    spans = [("101", 0.0, 2.0, "a"), ("101", 3.0, 4.0, "b"), ("101", 6.0, 9.0, "b")]
    own = pl.DataFrame(
        [*spans, ("102", 3.5, 4.0, "b")], ["label", "start", "end", "status"], orient="row"
    ).with_columns(document=0, genre=pl.lit("audio"), text=False)
    found = chain_segments(own, (2.0, None), by_status=by_status)
    assert found["end"].to_list() == ends
    statuses = ["a", "b", "b", "b"] if by_status else ["a,b", "b", "b"]
    assert found["status"].to_list() == statuses
    assert chain_segments(own, (None, 2.0), by_status=by_status).height == 4


def test_a_divided_text_has_inclusive_places_as_written():
    """Between 0-1 and 6-7 the middle is 4: 0-3 and 4-9, of which the ends are 4 and 10."""
    same = {"document": "d", "class": "102", "text": True}
    own = pl.DataFrame([{**same, "start": 0.0, "end": 10.0, "from": 0.0, "to": 9.0}])
    others = pl.DataFrame([{**same, "start": start, "end": start + 2} for start in (0.0, 6.0)])
    found = divide(own, others).select("start", "end", "from", "to")
    assert found.rows() == [(0, 4, 0, 3), (4, 10, 4, 9)]


def test_the_congruence_of_scores_by_hand():
    """Scores over their range of .5; without a range there is none, and none of what is missed."""
    rows = pl.DataFrame(
        [("101", CORRECT, 0.5), ("101", FALSE, 1.0), ("101", MISSED, None), ("102", FALSE, 2.0)],
        ["class", "outcome", "llr"],
        orient="row",
    ).with_columns(criterion=pl.lit("0.2"))
    assert with_congruence(rows)["congruence"].to_list() == [1, 2, None, None]
