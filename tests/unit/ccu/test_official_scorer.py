"""The profile `official` of norms, emotions and change points: what only the scorer does."""

from __future__ import annotations

import polars as pl
import pytest

from hlteval.representation import Corpus
from hlteval.scoring.ccu import official_files
from hlteval.scoring.ccu.changes import change_detection
from hlteval.scoring.ccu.detections import ChangeOptions, DetectionOptions, LlrFilter
from hlteval.scoring.ccu.official_detections import by_majority, truncate
from hlteval.scoring.ccu.official_files import in_order, instance_detection

NAMES = ("d0", "d1")


def corpus(instances=(), changes=(), kinds=("audio", "audio"), length=100.0, attributes=()):
    """Instances as (document, label, start, end, llr, status), changes as (document, at, llr)."""
    shared = {"origin": 0}
    rows = [
        {
            **shared, "row": row, "record": row, "document": document, "kind": "norm",
            "label": label, "start": float(start), "end": float(end), "llr": llr,
            "status": status, "region": f"{document}-{start}",
        }
        for row, (document, label, start, end, llr, status) in enumerate(instances)
    ]  # fmt: skip
    places = ("row", "origin", "record", "document", "region", "start", "end")
    return Corpus(
        documents=[
            {"row": row, "name": name, "modality": kind, "length": length, "processed": True}
            for row, (name, kind) in enumerate(zip(NAMES, kinds, strict=True))
        ],
        instances=rows,
        regions=[{name: row[name] for name in places} for row in rows],
        changes=[
            {**shared, "row": row, "record": row, "document": document, "at": float(at), "llr": llr}
            for row, (document, at, llr) in enumerate(changes)
        ],
        attributes=[
            {**shared, "row": row, "record": 1, "document": document, "element": "whole",
             "name": name, "value": ""}
            for row, (document, name) in enumerate(attributes)
        ],
    )  # fmt: skip


def counted(reference, system, **options):
    metric = instance_detection("official", DetectionOptions(**options))
    return metric, metric.total([metric.statistics(reference, system)[0]])


FIRST = (0, "101", 0, 10, None, "adhere")
GOLD = corpus([FIRST, (0, "none", 10, 50, None, None)])
TWO = corpus([(0, "101", 0, 10, 1.5, "adhere"), (0, "101", 30, 40, 2.5, "violate")])


def test_false_alarms_that_have_a_reference_are_forgiven_whether_they_overlap_it_or_not():
    # the second instance is the higher one: precision is 1/2 at the only correct one
    metric, total = counted(GOLD, TWO)
    assert metric.score(total)[0]["map"] == 0.5
    # both belong to 101 from 0 to 10, the only reference of the document: one remains
    metric, total = counted(GOLD, TWO, align="OneRef:ManyHyp")
    assert metric.score(total)[0]["map"] == 1.0


def test_what_two_annotators_give_a_segment_alike_is_one_instance():
    both = corpus([(0, "101", 0, 10, None, "adhere"), (0, "noann", 10, 20, None, "noann")] * 2)
    judges = pl.Series("annotator", [*"aabb"])
    both = both.replace(instances=both.instances.with_columns(judges))
    metric, total = counted(both, corpus([(0, "101", 0, 10, 1.5, "adhere")]))
    # one instance, and it is found; two of them would leave one missed
    assert total.filter(pl.col("outcome").is_in(["CD", "FA", "MD"])).height == 1
    assert metric.score(total)[0]["recall.101"] == 1.0


@pytest.mark.parametrize(
    ("statuses", "correct", "missed"),
    # of two references at one place, the first in the file is the first of each instance
    [(("adhere", "violate"), "adhere", "violate"), (("violate", "adhere"), "violate", "adhere")],
)
def test_of_two_statuses_of_a_segment_the_first_is_found(statuses, correct, missed):
    both = corpus([(0, "101", 0, 10, None, status) for status in statuses])
    judges = pl.Series("annotator", ["a", "b"])
    both = both.replace(instances=both.instances.with_columns(judges))
    system = corpus([(0, "101", 0, 10, 1.5, "adhere"), (0, "101", 0, 9, 0.5, "violate")])
    metric, total = counted(both, system)
    own = total.drop_nulls("outcome").select("outcome", "reference_status", "llr")
    assert own.filter(pl.col("outcome") == "CD").rows() == [("CD", correct, 1.5)]
    # the first instance finds one and is a false alarm for the other, the second is one once: 1 / 3
    values = metric.score(total)[0]
    assert (values["precision.101"], values["recall.101"]) == (0.333, 0.5)
    rows = metric.official_files(total)["instance_alignment.tab"].split("\n")[1:-1]
    written = [(line.split("\t")[3], *line.split("\t")[-2:]) for line in rows]
    place = "{start=0,end=10}"
    assert sorted(written) == sorted(
        [
            (place, correct, "adhere"),
            *(("{}", "EMPTY_NA", "adhere"), (place, missed, "EMPTY_NA")),
            *(("{}", "EMPTY_NA", "violate"), (place, missed, "violate")),
        ]
    )


@pytest.mark.parametrize("first", ["noann", "101"])
def test_of_a_region_and_a_reference_at_one_place_the_first_label_comes_first(first):
    second = "101" if first == "noann" else "noann"
    labels = [(0, label, 20, 30, None, None) for label in (first, second)]
    reference = corpus([(0, "102", 0, 10, None, "adhere"), *labels])
    metric, total = counted(reference, corpus([(0, "101", 2, 8, 1.5, "adhere")]))
    rows = metric.official_files(total)["instance_alignment.tab"].split("\n")[1:-1]
    rows = [line.split("\t")[3:5] for line in rows if line.startswith("101\t")]
    # the instance overlaps neither; the region as the second row is written without its place
    expected = [["{}", "{start=2,end=8}"], ["{start=20,end=30}", "{}"]]
    expected += [["{start=nan,end=nan}", "{}"]] if first == "101" else []
    assert sorted(rows) == sorted(expected)


def test_parts_have_the_labels_of_segments_that_are_not_merged():
    def judgments(*segments):
        return [(0, label, *bounds, None, None) for label, *bounds in segments]

    # 40 s in two parts: 101 is in the first, and in the second if it is one segment
    apart = corpus(judgments(("101", 0, 20), ("102", 20, 30), ("101", 30, 40)))
    close = corpus(judgments(("101", 0, 10), ("102", 0, 10), ("101", 10, 20), ("102", 20, 40)))
    system = corpus([(0, "101", 0, 40, 1.5, None)])
    metric, total = counted(apart, system, file_merge=2, merge_reference=1.0)
    assert metric.score(total)[0]["recall.101"] == 1.0
    found = counted(close, system, file_merge=2, merge_reference=1.0)[1].filter(outcome="MD")
    # the segments of 101 are one from 0 to 20, which is not a segment: 102 alone is missed
    assert found["class"].to_list() == ["102", "102"]


def test_forgiven_instances_are_written_with_what_they_share_with_their_reference():
    """The reference is 0-10. 9-60 shares 1 of 60, reaches from 0 with the collar of 15, and has
    50 s beside the 10; 70-80 shares nothing, and all of it is beside."""
    gold = corpus([*[(0, "none", at, at + 50, None, None) for at in (0, 50)], FIRST])
    own = [(0, "101", *span) for span in ((0, 10, 3.0), (9, 60, 2.0), (70, 80, 1.0))]
    metric, total = counted(gold, corpus([(*row, "adhere") for row in own]), align="OneRef:ManyHyp")
    lines = metric.official_files(total)["instance_alignment.tab"].splitlines()[1:]
    shared = [
        "{iou=1.000,intersection=10.000,union=10.000,shifted_start_hyp=0.000,"
        "shifted_end_hyp=10.000,pct_temp_tp=1.000,pct_temp_fp=0.000,",
        "{iou=0.017,intersection=1.000,union=60.000,shifted_start_hyp=0.000,"
        "shifted_end_hyp=60.000,pct_temp_tp=1.000,pct_temp_fp=5.000,",
        "{iou=0.000,intersection=0.000,union=80.000,shifted_start_hyp=55.000,"
        "shifted_end_hyp=80.000,pct_temp_tp=0.000,pct_temp_fp=1.000,",
    ]
    said = [line.split("\t")[6] for line in lines]
    assert [text.partition("collar")[0] for text in said] == shared


def test_counts_of_outcomes_and_statuses_are_written():
    metric, total = counted(GOLD, TWO)
    files = metric.official_files(total)
    # adhere is found; violate is a false alarm, and its reference is found already
    assert files["instance_alignment_class_stats.tab"].split("\n")[1:-1] == [
        f"{name}\tnumber_{outcome}\t{count}"
        for name in ("all", "101")
        for outcome, count in (("cd", 1), ("fa", 1), ("md", 0))
    ]
    assert files["instance_alignment_status_confusion.tab"].split("\n")[1:-1] == [
        f"{name}\t{expected}\t{said}\tnumber_instance\t1"
        for name in ("all", "101")
        for expected, said in (("EMPTY_NA", "violate"), ("adhere", "adhere"))
    ]


def test_a_text_is_divided_after_the_middle_of_a_gap_of_characters():
    gold = corpus(
        [(0, "101", 0, 9, None, "adhere"), (0, "101", 15, 24, None, "adhere")],
        kinds=("text", "text"),
    )
    system = corpus([(0, "101", 0, 24, 1.0, "adhere")], kinds=("text", "text"))
    metric, total = counted(gold, system, align="ManyRef:OneHyp")
    own = total.filter(outcome="CD").select("system_start", "system_end").sort("system_start")
    # the last character of the first is 9, the first of the next 15: their middle is 12
    assert own.rows() == [(0.0, 12.0), (13.0, 24.0)]
    assert metric.score(total)[0]["map"] == 1.0


def test_means_are_sums_of_rounded_values_in_the_order_of_classes():
    # 0.475 + 0.489 = 0.964, + 0.65 = 1.6139999999999999, + 0.744 = 2.3579999999999997: over 4
    # .58949…, which rounds to .589; their exact mean .5895 rounds to .59
    values = [0.475, 0.489, 0.65, 0.744]
    names = ["101", "102", "103", "104"]
    group = {"criterion": "0.2", "genre": "all", "disclosure": None, "relevant": 1}
    rows = [
        {**group, "class": name, **dict.fromkeys(official_files.COUNTS, 1.0),
         **dict.fromkeys(official_files.MEASURES, value)}
        for name, value in zip(names, values, strict=True)
    ]  # fmt: skip
    mean = official_files.means(pl.DataFrame(rows[::-1]).cast({"disclosure": pl.String}))
    assert mean["mean_ap"].item() == 0.589


SILENT = corpus([(0, "101", 0, 100, None, "adhere"), (0, "102", 0, 100, None, "adhere")])
HALF_LABELLED = corpus([(0, "101", 0, 40, None, "adhere"), (0, "101", 80, 80, None, "adhere")])
POINT = corpus([(0, "101", 0, 0, 1.0, "adhere")])


@pytest.mark.parametrize(
    ("reference", "system", "options", "why"),
    [
        (corpus([(0, "none", 0, 10, None, None)]), TWO, {}, "the reference has no instance"),
        (GOLD, corpus(), {"llr_filter": LlrFilter("after_read", 0.5)}, "filters a submission"),
        (SILENT, POINT, {"align": "ManyRef:OneHyp"}, "no no-score region"),
        (GOLD, corpus(), {"file_merge": 2}, "a submission has no instances"),
        (HALF_LABELLED, TWO, {"file_merge": 2}, "no segment of a part of a document has a label"),
    ],
)
def test_there_is_no_score_where_the_scorer_crashes_on_instances(reference, system, options, why):
    metric, total = counted(reference, system, **options)
    assert set(metric.score(total)[0].values()) <= {None}
    assert why in metric.notes(total)[0]
    assert metric.official_files(total) == {}


CHANGES = [(0, 20, 1.0), (0, 70, 2.0)]
SEGMENT = [(0, "none", 0, 100, None, None)]


@pytest.mark.parametrize(
    ("system", "why"),
    [
        (corpus(), "without change points"),
        (corpus(changes=CHANGES, attributes=[(0, "llr")]), "whole numbers"),
    ],
)
def test_there_is_no_score_where_the_scorer_crashes_on_change_points(system, why):
    metric = change_detection("official")
    reference = corpus(SEGMENT, changes=[(0, 20, None)])
    total = metric.total([metric.statistics(reference, system)[0]])
    assert set(metric.score(total)[0].values()) == {None}
    assert why in metric.notes(total)[0]
    assert metric.official_files(total) == {}


@pytest.mark.parametrize("found", [[], [(0, 20, 1.5), (0, 70, 2.0)]])
def test_without_change_points_of_the_reference_the_scorer_writes_na(found):
    metric = change_detection("official", ChangeOptions(delta=(5.0,)))
    # d1 is not scored: its change point only shows that the system has some; its segments end at 50
    system = corpus(changes=[*found, (1, 30, 0.5)])
    total = metric.total([metric.statistics(corpus([(0, "none", 0, 50, None, None)]), system)[0]])
    assert metric.score(total)[0]["cd.ap"] is None
    files = {name: text.split("\n")[1:-1] for name, text in metric.official_files(total).items()}
    assert files["instance_alignment.tab"] == ["cp" + 6 * "\tNA"]
    letters = '[""N"", ""A""]'
    curve = ", ".join(f'""{name}"": {letters}' for name in ("precision", "recall", "llr"))
    assert files["scores_by_class.tab"] == [
        f"cp\tNA\t{metric_name}\t{value}\t{{delta_cp={delta}}}"
        for delta in ("100", "5.0")
        for metric_name, value in (("AP", "NA"), ("PRCurve_json", f'"{{{curve}}}"'))
    ]
    # regions that are not scored are no instances; the row of NA counts as missed
    assert not any(line.startswith("ref") for line in files["statistics_by_class.tab"])
    assert "ref\tall\tfile_scoring_counts\t0" in files["statistics_aggregated.tab"]
    assert "cp\tnumber_md\t1" in files["instance_alignment_class_stats.tab"]


def test_none_for_a_change_point_crashes_the_scorer_where_another_is_scored():
    metric = change_detection("official")
    system = corpus(changes=CHANGES)
    for changes, crashes in ([(0, 20, None)], False), ([(0, 20, None), (1, "nan", None)], True):
        reference = corpus(SEGMENT, changes=changes)
        places = reference.changes.with_columns(pl.col("at").fill_nan(None))
        total = metric.total([metric.statistics(reference.replace(changes=places), system)[0]])
        assert (metric.score(total)[0]["cd.ap"] is None) == crashes
        assert ("has none for a change point" in "".join(metric.notes(total))) == crashes
    # without any place, there is nothing to compute with: NA
    total = metric.total([metric.statistics(reference.replace(changes=places[1:]), system)[0]])
    assert "cp\tNA\tAP\tNA" in metric.official_files(total)["scores_by_class.tab"]


def test_a_repeated_change_point_makes_a_false_alarm():
    metric = change_detection("official")
    reference = corpus(SEGMENT, changes=[(0, 20, None), (0, 20, None)])
    system = corpus(changes=[(0, 20, 1.5)])
    total = metric.total([metric.statistics(reference, system)[0]])
    # of two equal references the point finds one, and is a false alarm for the other: P = R = 1/2
    assert metric.score(total)[0]["cd.ap.audio"] == 0.25
    assert "\t{delta_cp=0.0}" in metric.official_files(total)["instance_alignment.tab"]


def test_a_line_that_a_submission_repeats_counts_once():
    """Lines of another direction or strength are other lines."""
    metric = change_detection("official")
    reference = corpus(SEGMENT, changes=[(0, 50, None)])
    system = corpus(changes=[(0, 20, 1.5), (0, 20, 1.5), (0, 50, 0.5)])
    for said, precision in ((["1", "1.0", "1"], 1 / 2), (["1", "2", "1"], 1 / 3)):
        changes = system.changes.with_columns(strength=pl.Series(said))
        total = metric.total([metric.statistics(reference, system.replace(changes=changes))[0]])
        assert metric.score(total)[0]["cd.ap.audio"] == pytest.approx(precision, abs=5e-4)


def test_an_emotion_for_one_speaker_and_for_several_has_two_votes():
    rows = [("joy", 1, "TRUE"), ("joy", 1, "FALSE"), ("joy", 1, "TRUE"), ("fear", 2, "TRUE")]
    said = {"document": "d", "genre": "audio", "text": False, "region": "r", "start": 0, "end": 9}
    judged = [
        {**said, "record": at, "annotator": f"{who}", "label": label, "several": several}
        for at, (label, who, several) in enumerate(rows)
    ]
    table = pl.DataFrame(judged).with_columns(pl.col("start", "end").cast(pl.Float64), status=None)
    assert by_majority(table, 2)["label"].to_list() == ["joy"]
    assert "joy" not in by_majority(table.filter(pl.col("several") == "TRUE"), 2)["label"]


def test_a_data_type_without_points_of_the_system_has_a_curve_of_zeros():
    metric, kinds = change_detection("official"), ("audio", "text")
    segments = [*SEGMENT, (1, "none", 0, 100, None, None)]
    reference = corpus(segments, changes=[(0, 20, None), (1, 30, None)], kinds=kinds)
    system = corpus(changes=[(0, 20, 1.5)], kinds=kinds)
    total = metric.total([metric.statistics(reference, system)[0]])
    header, *lines = metric.official_files(total)["scores_by_class.tab"].splitlines()
    curve = '"{{""precision"": [{0}], ""recall"": [{0}], ""llr"": [{1}]}}"'
    assert header.split("\t") == ["class", "genre", "metric", "value", "correctness_criteria"]
    assert [line.split("\t")[1:] for line in lines] == [
        ["text", "AP", "0.0", "{delta_cp=100}"],
        ["text", "PRCurve_json", curve.format("0.0", "0.0"), "{delta_cp=100}"],
        ["audio", "AP", "1.0", "{delta_cp=10.0}"],
        ["audio", "PRCurve_json", curve.format("1.0", "1.5"), "{delta_cp=10.0}"],
    ]


def test_instances_are_cut_at_regions_or_dropped_inside_of_them():
    """Of the region from 10 to 20."""
    places = [(5.0, 15.0), (15.0, 25.0), (12.0, 18.0), (5.0, 25.0), (0.0, 10.0)]
    rows = pl.DataFrame(places, ["start", "end"], orient="row")
    rows = rows.with_columns(document=pl.lit(0, pl.Int64), text=False)
    region = pl.DataFrame({"document": [0], "start": [10.0], "end": [20.0], "text": [False]})
    found = truncate(rows, region).select("start", "end", "truncated").rows()
    whole = [(5.0, 25.0, False), (0.0, 10.0, False)]
    assert found == [(5.0, 10.0, True), (20.0, 25.0, True), *whole]


def test_an_instance_without_a_score_comes_last():
    system = corpus([(0, "101", 0, 10, None, "adhere"), (0, "101", 30, 40, 2.5, "violate")])
    metric, total = counted(GOLD, system)
    assert metric.score(total)[0]["map"] == 0.5
    rows = metric.official_files(total)["scores_by_class.tab"].splitlines()
    assert "101\tall\tllr_at_MinLLR\t\t{iou=0.2}" in rows
    assert '""llr"": [2.5, NaN]' in rows[15]


def test_instances_follow_by_class_score_and_document_and_missed_ones_come_last():
    columns = ("class", "document", "llr", "system_start", "system_end", "outcome")
    rows = [
        ("101", "b", 2.0, 0.0, 1.0, "CD"),
        ("101", "a", 2.0, 0.0, 1.0, "FA"),
        ("101", "c", 3.0, 0.0, 1.0, "FA"),
        ("101", "a", 3.0, 0.0, None, "MD"),  # near a false alarm
        ("101", "a", None, None, None, "MD"),
        ("100", "d", 1.0, 0.0, 1.0, "CD"),
    ]
    found = in_order(pl.DataFrame(rows[::-1], columns, orient="row"), pl.Series(["100", "101"]))
    assert found.rows() == [rows[number] for number in (5, 2, 1, 0, 4, 3)]
