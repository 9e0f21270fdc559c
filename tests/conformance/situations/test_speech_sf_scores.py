"""The official numbers to the last printed digit, and each way in which the plan differs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from hlteval.results.scores import Scores
from tests.runs import score

MICRO = ["badschema", "empty", "mtmp_after", "mtmp_before", "multiplace"]
MICRO += ["soft", "ties", "utils_comma"]
CRASHES = ["noref_doc", "onepoint", "unknown_doc"]
LAYERS = ("relevance", "type", "type+place")


def scored(shared, case: str, profile: str, **options) -> Scores:
    folder = shared / "cases/speech-sf" / case
    system = folder / (
        "system_output.json" if case.startswith("s") and "/" not in case else "sys.json"
    )
    return score("speech-sf", str(folder / "gt"), str(system), profile=profile, **options)


@pytest.mark.parametrize("case", ["s1", "s3", *(f"micro/{name}" for name in MICRO)])
def test_official_reproduces_the_files_of_the_script_byte_by_byte(shared, case):
    files = scored(shared, case, "official").files
    expected = {
        path.name: path.read_text("utf-8")
        for path in (shared / "cases/speech-sf" / case / "out").glob("*.tsv")
    }
    assert dict(files) == expected


@pytest.mark.parametrize(
    ("case", "areas"),
    [("s1", (0.84640263, 0.50034594, 0.14309672)), ("s3", (0.76560375, 0.49120806, 0.10771376))],
)
def test_official_areas_are_those_of_the_index(shared, case, areas):
    metrics = scored(shared, case, "official").metrics
    found = tuple(round(metrics[f"{layer}.auc"] or 0, 8) for layer in LAYERS)
    assert found == areas


@pytest.mark.parametrize("case", CRASHES)
def test_where_the_script_crashes_official_is_null_with_a_note(shared, case):
    scores = scored(shared, f"micro/{case}", "official")
    assert scores.metrics["relevance.auc"] is None
    assert scores.files == {}
    assert any("official script crashes" in note for note in scores.notes)


def test_a_submission_without_frames_has_an_area_of_0(shared):
    official, plan = (scored(shared, "micro/empty", profile) for profile in ("official", "plan"))
    assert official.metrics["relevance.auc"] == plan.metrics["relevance.auc"] == 0
    assert official.metrics["type.auc"] is None  # the script looks at Relevance only
    assert plan.metrics["type.auc"] == plan.metrics["type.max_f1"] == 0
    assert any("official script prints an area of 0" in note for note in official.notes)


@pytest.mark.parametrize("case", ["s1", "s3", "micro/soft", "micro/utils_comma"])
def test_difference_1_the_plan_anchors_the_curve_at_recall_0(shared, case):
    official, plan = (scored(shared, case, profile) for profile in ("official", "plan"))
    for layer in LAYERS:
        assert plan.metrics[f"{layer}.auc"] == plan.metrics[f"{layer}.auc_anchored"]
        assert official.metrics[f"{layer}.auc"] == official.metrics[f"{layer}.auc_unanchored"]
        points = [
            (row["recall"], row["precision"])
            for row in plan.tables["curve"].filter(layer=_name(layer)).iter_rows(named=True)
            if row["recall"] and row["precision"] is not None
        ]
        first_recall, first_precision = min(points)
        first = plan.tables["curve"].filter(layer=_name(layer)).drop_nulls("precision")
        anchor = first["precision"][0]
        added = first_recall * (anchor + first_precision) / 2
        difference = plan.metrics[f"{layer}.auc_anchored"] - plan.metrics[f"{layer}.auc_unanchored"]
        assert difference == pytest.approx(added, abs=1e-12)


def _name(layer: str) -> str:
    return {"relevance": "Relevance", "type": "Type", "type+place": "Type+Place"}[layer]


def test_difference_2_the_plan_extends_a_cut_over_equal_confidences(shared):
    official, plan = (scored(shared, "micro/ties", profile) for profile in ("official", "plan"))
    assert official.tables["curve"].filter(layer="Type")["cut"].to_list() == [0, 1, 2, 3, 4]
    assert plan.tables["curve"].filter(layer="Type")["cut"].to_list() == [0, 4]
    assert plan.metrics["type.auc_unanchored"] is None  # a single point
    assert plan.metrics["type.auc_anchored"] == 0.5
    assert any("separate frames of equal confidence" in note for note in official.notes)


def test_difference_3_the_plan_keeps_all_places_of_one_type(shared):
    official, plan = (
        scored(shared, "micro/multiplace", profile) for profile in ("official", "plan")
    )
    assert plan.metrics["type+place.max_f1"] == 1
    assert official.metrics["type+place.max_f1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("case", ["mtmp_after", "mtmp_before"])
def test_difference_4_the_plan_leaves_an_ambiguous_segment_out_on_both_sides(shared, case):
    plan = scored(shared, f"micro/{case}", "plan")
    counted = plan.tables["alignment"].filter(layer="Type+Place")
    assert set(counted.filter(document="D1")["outcome"]) == {"left out"}
    assert plan.metrics["type+place.max_f1"] == 1
    official = scored(shared, f"micro/{case}", "official")
    recalls = official.tables["curve"].filter(layer="Type+Place")["recall"]
    assert recalls.max() == (0.5 if case == "mtmp_after" else 1)


def test_difference_5_undefined_is_null_in_the_plan_and_1_in_the_script(shared):
    official, plan = (scored(shared, "micro/onepoint", profile) for profile in ("official", "plan"))
    assert official.tables["curve"].filter(layer="Type")["precision"].to_list() == [1, 1]
    assert plan.tables["curve"].filter(layer="Type")["precision"].to_list() == [None, 1]


def test_difference_6_the_plan_refuses_what_breaks_the_schema(shared):
    from hlteval.workflows.run.verdicts import Refused

    with pytest.raises(Refused, match="SFJ205, SFJ206"):
        scored(shared, "micro/badschema", "plan")
    assert scored(shared, "micro/badschema", "official").metrics["type.max_f1"] == 1


def in_the_order_of_the_script(scores: Scores, layer: str) -> float:
    """The unanchored area of the points of the plan, by recall and rising precision."""
    rows = scores.tables["curve"].filter(layer=_name(layer)).iter_rows(named=True)
    points = sorted((row["recall"], row["precision"]) for row in rows if row["recall"])
    return sum((r2 - r1) * (p1 + p2) / 2 for (r1, p1), (r2, p2) in pairwise(points))


@pytest.mark.parametrize("case", ["s1", "s3"])
def test_apart_from_these_differences_both_profiles_agree(shared, case):
    official, plan = (scored(shared, case, profile) for profile in ("official", "plan"))
    layers = {"s1": ["relevance"], "s3": ["relevance", "type"]}[case]
    for layer in layers:  # s1 has two frames of one confidence at a cut: only Relevance is the same
        area = official.metrics[f"{layer}.auc_unanchored"]
        assert in_the_order_of_the_script(plan, layer) == pytest.approx(area, abs=1e-12)
    if case == "s1":
        assert any(note.startswith("1 cut separates") for note in official.notes)
    else:  # there the script loses places
        ours, theirs = (item.metrics["type+place.auc_unanchored"] for item in (plan, official))
        assert abs(ours - theirs) > 0.01


def test_without_its_tie_s1_is_the_same_in_both_profiles(shared, tmp_path):
    import json

    folder = shared / "cases/speech-sf/s1"
    frames = json.loads((folder / "system_output.json").read_text())
    frames.sort(key=lambda frame: -frame["TypeConfidence"])
    for number, frame in enumerate(frames):
        frame["TypeConfidence"] = 1 - number / 1000
    (tmp_path / "ranked.json").write_text(json.dumps(frames))
    ours, theirs = (
        score("speech-sf", str(folder / "gt"), str(tmp_path / "ranked.json"), profile=profile)
        for profile in ("plan", "official")
    )
    for layer in LAYERS:
        area, best = f"{layer}.auc_unanchored", f"{layer}.max_f1"
        assert ours.metrics[best] == pytest.approx(theirs.metrics[best], abs=1e-12)
        found = in_the_order_of_the_script(ours, layer)
        assert found == pytest.approx(theirs.metrics[area], abs=1e-12)


@pytest.mark.parametrize("case", ["s1", "s3"])
def test_difference_7_at_equal_recall_precision_falls_in_the_plan(shared, case):
    plan = scored(shared, case, "plan")
    curve = plan.tables["curve"].drop_nulls("precision")
    assert curve.height > curve["layer"].n_unique()
    for (_,), rows in curve.group_by("layer"):
        for (r1, p1), (r2, p2) in pairwise(rows.select("recall", "precision").iter_rows()):
            assert r1 < r2 or p1 >= p2
