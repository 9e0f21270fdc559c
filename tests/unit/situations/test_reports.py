"""What a participant asks for beside the curves: one threshold, near misses, a list of types."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from hlteval.results.scores import Scores
from hlteval.tasks.task import WrongOption
from hlteval.workflows.run.verdicts import Refused
from tests.runs import score, validate

REFERENCE = {"D1": ("Shelter", "Osh"), "D2": ("Shelter", "Đà Nẵng"), "D3": ("Evacuation", "Talas")}
FRAMES = [
    ("D1", "Shelter", 0.9, "Osh"),
    ("D2", "Shelter", 0.6, "\u0110a\u0300 N\u0103\u0303ng"),
    ("D3", "Evacuation", 0.5, "TALAS"),
    ("D1", "Evacuation", 0.4, "Osh"),
]


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    home = tmp_path / "gt" / "P1" / "ANNOTATION"
    home.mkdir(parents=True)
    for name, (label, place) in REFERENCE.items():
        text = f"TYPE: {label}\nTIME: Current\nResolution: Sufficient\nPLACE: {place}\n"
        (home / f"{name}.txt").write_text(text, "utf-8")
    names = ("DocumentID", "Type", "TypeConfidence", "PlaceMention")
    frames = [dict(zip(names, frame, strict=True)) for frame in FRAMES]
    (tmp_path / "system.json").write_text(json.dumps(frames), "utf-8")
    return str(tmp_path / "gt"), str(tmp_path / "system.json")


def scores(paths: tuple[str, str], **options: str) -> Scores:
    return score("speech-sf", *paths, options=options)


def measures(found: Scores, evaluation: str, scoring: str) -> dict[str, float | None]:
    rows = found.tables["scorings"].filter(evaluation=evaluation, scoring=scoring)
    return dict(rows.select("measure", "value").iter_rows())


def test_a_threshold_adds_precision_recall_and_f1_of_each_layer_and_type(paths):
    found = scores(paths, threshold="0.5")
    assert measures(found, "Confidence ≥ 0.5", "Type") == {
        "Precision": 1, "Recall": 1, "F1": 1,
        "True Positives": 3, "False Positives": 0, "False Negatives": 0,
    }  # fmt: skip
    assert measures(scores(paths, threshold="0.55"), "Confidence ≥ 0.55", "Type") == {
        "Precision": 1, "Recall": pytest.approx(2 / 3), "F1": pytest.approx(0.8),
        "True Positives": 2, "False Positives": 0, "False Negatives": 1,
    }  # fmt: skip
    low = scores(paths, threshold="0")
    evacuation = measures(low, "Confidence ≥ 0", "Type: Evacuation")
    assert (evacuation["Precision"], evacuation["Recall"]) == (0.5, 1)
    assert found.metrics == low.metrics == scores(paths).metrics


def test_a_threshold_gives_tables_by_type_and_by_segment(paths):
    tables = scores(paths, threshold="0").tables
    rows = tables["by_type"].filter(layer="Type").select("type", "tp", "fp", "fn").rows()
    assert rows == [("Evacuation", 1, 1, 0), ("Shelter", 2, 0, 0)]
    rows = tables["by_segment"].filter(layer="Type").select("segment", "tp", "fp", "f1").rows()
    assert rows == [("D1", 1, 1, pytest.approx(2 / 3)), ("D2", 1, 0, 1), ("D3", 1, 0, 1)]
    none = scores(paths, threshold="1").tables["by_segment"].filter(layer="Type")
    assert none["precision"].null_count() == none.height
    assert none["f1"].to_list() == [0, 0, 0]


def test_counts_at_a_threshold_are_those_of_the_curve(paths):
    found = scores(paths)
    curve = found.tables["curve"].drop_nulls("threshold")
    assert curve.height
    for row in curve.iter_rows(named=True):
        at = scores(paths, threshold=str(row["threshold"]))
        values = measures(at, f"Confidence ≥ {row['threshold']:g}", row["layer"])
        for measure, column in (("True Positives", "tp"), ("False Positives", "fp")):
            assert values[measure] == pytest.approx(row[column])
        assert values["Recall"] == pytest.approx(row["recall"])


@pytest.mark.parametrize("value", ["1.5", "-0.1", "high", "nan"])
def test_a_threshold_is_a_confidence(paths, value):
    with pytest.raises(WrongOption, match="from 0 to 1"):
        scores(paths, threshold=value)


def test_near_misses_are_named_with_what_would_make_them_equal(paths):
    found = scores(paths).tables["near_misses"]
    fixes = dict(found.select("reference_place", "fix").iter_rows())
    assert fixes == {"Đà Nẵng": "--normalize NFC", "Talas": "capitals: --place-dictionary"}
    gains = found["gain"].to_list()
    assert gains == sorted(gains, reverse=True)
    assert found["frames"].to_list() == [1, 1]
    before = scores(paths).tables["curve"].filter(layer="Type+Place")["tp"].max()
    normalized = scores(paths, normalize="NFC")
    after = normalized.tables["curve"].filter(layer="Type+Place")["tp"].max()
    gain = found.filter(pl.col("fix") == "--normalize NFC")["gain"].sum()
    assert after == pytest.approx(before + gain)
    assert normalized.tables["near_misses"]["reference_place"].to_list() == ["Talas"]


def test_near_misses_are_lines_of_a_dictionary(paths, tmp_path):
    names = scores(paths).tables["near_misses"].select("system_place", "reference_place")
    dictionary = tmp_path / "places.tsv"
    dictionary.write_text("".join(f"{one}\t{other}\n" for one, other in names.rows()), "utf-8")
    found = scores(paths, place_dictionary=str(dictionary))
    assert found.tables["near_misses"].is_empty()
    assert found.tables["curve"].filter(layer="Type+Place")["recall"].max() == 1


def types(folder: Path, text: str) -> str:
    path = folder / "types.list"
    path.write_text(text, "utf-8")
    return str(path)


def test_types_that_are_not_evaluated_are_reported(paths, tmp_path):
    options = {"types": types(tmp_path, "Shelter\nWater Supply\n")}
    verdict = validate("speech-sf", paths[1], options=options)
    (finding,) = (item for item in verdict.findings if item.code == "SSF108")
    assert "Evacuation is not in the file of --types (such frames: 2)" in finding.message
    assert finding.span
    assert finding.span.line == 1
    (missing,) = (item for item in verdict.findings if item.message.startswith("segment D2"))
    assert "frames of 1 of 2 types" in missing.message
    assert "SSF108" not in validate("speech-sf", paths[1]).by_code
    both = score("speech-sf", *paths, options=options).verdict.findings
    assert {item.side for item in both if item.code == "SSF108"} == {"submission", "reference"}


def test_the_file_of_types_is_judged_under_its_own_name(paths, tmp_path):
    options = {"types": types(tmp_path, "Shelter\nevacuation\n")}
    with pytest.raises(Refused, match="OPT110") as caught:
        score("speech-sf", *paths, options=options)
    (finding,) = (item for item in caught.value.verdict.findings if item.code == "OPT110")
    assert (finding.side, finding.span.line, finding.span.column) == ("--types", 2, 1)
    assert str(finding.help).startswith("did you mean Evacuation?")
    with pytest.raises(Refused, match="OPT109"):
        score("speech-sf", *paths, options={"types": types(tmp_path, "\n")})
