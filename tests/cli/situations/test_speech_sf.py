"""speech-sf on the command line, as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hlteval.cli.app import app

FIXTURES = Path(__file__).parents[3] / "fixtures"
ANNOTATED = """TYPE: Shelter
TIME: Current
Resolution: Sufficient
PLACE: {place}
"""


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    pack = tmp_path / "gt" / "SET1" / "ANNOTATION"
    pack.mkdir(parents=True)
    for name, place in (("D1", "Osh"), ("D2", "Naryn، Talas")):
        (pack / f"{name}.txt").write_text(ANNOTATED.format(place=place), "utf-8")
    frames = [
        {"DocumentID": "D1", "Type": "Shelter", "TypeConfidence": 0.9, "PlaceMention": "Osh"},
        {"DocumentID": "D2", "Type": "Shelter", "TypeConfidence": 0.5, "PlaceMention": "Talas"},
        {"DocumentID": "D2", "Type": "Evacuation", "TypeConfidence": 0.1},
    ]
    (tmp_path / "system.json").write_text(json.dumps(frames))
    return tmp_path


def scores(data: Path, *more: object, system: str = "system.json") -> dict:
    result = run(
        *("score", "speech-sf", "-r", data / "gt", "-s", data / system, "--format", "json"), *more
    )
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_scores_name_all_metrics_and_the_primary_one(data):
    found = scores(data)
    assert found["primary"] == "type.auc"
    figures = ("auc", "auc_anchored", "auc_unanchored", "max_f1")
    layers = ("relevance", "type", "type+place")
    assert list(found["metrics"]) == [f"{layer}.{figure}" for layer in layers for figure in figures]
    assert set(found["tables"]) == {"scorings", "curve", "alignment", "near_misses"}
    assert found["tables"]["curve"][0] == {
        "layer": "Relevance", "cut": 0, "threshold": None, "tp": 0, "fp": 0, "fn": 2,
        "precision": None, "recall": 0,
    }  # fmt: skip


def test_options_change_the_numbers_and_stand_in_the_signature(data):
    def places(*more: object) -> float:
        rows = scores(data, *more)["tables"]["curve"]
        return [row["tp"] for row in rows if row["layer"] == "Type+Place"][-1]

    assert 1 < places() < 2
    assert places("--place-match", "exact") == 1
    assert places("--place-match", "exact", "--place-separators", ",،") == 2
    (data / "dictionary.tsv").write_text("Naryn، Talas\tTalas\n", "utf-8")
    dictionary = ("--place-match", "exact", "--place-dictionary", data / "dictionary.tsv")
    assert places(*dictionary) == 2
    signature = scores(data, *dictionary, "--normalize", "NFC")["signature"]
    assert "place_match:exact" in signature
    assert "normalize:NFC" in signature
    assert str(data) not in signature


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--place-match", "fuzzy"), "soft or exact"),
        (("--normalize", "nfc"), "NFC or NFD"),
        (("--plot", "curve.gif"), ".png"),
        (("--place-dictionary", "absent.tsv"), "no such file"),
        (("--plot", "curve.svg", "--beside", "absent.json"), "no such file"),
        (("--beside", "absent.json"), "--beside has no effect without --plot"),
    ],
)
def test_a_wrong_option_is_an_error_of_usage(data, arguments, told):
    result = run("score", "speech-sf", "-r", data / "gt", "-s", data / "system.json", *arguments)
    assert result.exit_code == 2
    assert told in " ".join(result.output.replace("│", " ").split())


def test_a_list_of_segments_is_nothing_to_score_against(data):
    (data / "segments.list").write_text("D1\nD2\n")
    result = run("score", "speech-sf", "-r", data / "segments.list", "-s", data / "system.json")
    assert result.exit_code == 1
    assert "REF103" in result.stderr


def test_a_submission_is_checked_alone_and_against_segments_or_a_reference(data):
    submission = data / "system.json"
    assert run("validate", "speech-sf", submission).exit_code == 0
    (data / "segments.list").write_text("D1\n")
    for against, code in ((data / "segments.list", 1), (data / "gt", 0)):
        result = run("validate", "speech-sf", submission, "--against", against, "--format", "json")
        assert result.exit_code == code
        unknown = [
            load for load in json.loads(result.stdout)["findings"] if load["code"] == "SSF101"
        ]
        assert [(item["line"], item["blocking"]) for item in unknown] == [(1, False)] * code


def test_official_forgives_what_the_script_forgives(data):
    frames = [{"DocumentID": "D1", "Type": "shelter", "TypeConfidence": 1.5}]
    (data / "flawed.json").write_text(json.dumps(frames))
    for profile, code in (("plan", 1), ("official", 0)):
        arguments = ("validate", "speech-sf", data / "flawed.json", "--profile", profile)
        assert run(*arguments).exit_code == code
    assert scores(data, "--profile", "official", system="flawed.json")["metrics"]["type.auc"] == 0
    refused = run("score", "speech-sf", "-r", data / "gt", "-s", data / "flawed.json")
    assert refused.exit_code == 1
    assert "--lenient" in refused.output
    assert scores(data, "--lenient", system="flawed.json")["notes"]


def test_tables_are_written_and_the_files_of_the_script_with_official(data):
    output = data / "out"
    scores(data, "-o", output)
    assert {path.name for path in output.iterdir()} == {
        "scores.json", "metrics.tsv", "scorings.tsv", "curve.tsv", "alignment.tsv",
        "near_misses.tsv",
    }  # fmt: skip
    head = (output / "curve.tsv").read_text().splitlines()[0]
    assert head == "layer\tcut\tthreshold\ttp\tfp\tfn\tprecision\trecall"
    scores(data, "-o", output, "--profile", "official")
    assert (output / "summary.tsv").read_text().startswith("Layer\tAUC\nRelevance\t")
    logs = {"log_Relevance.tsv", "log_Type.tsv", "log_Type+Place.tsv"}
    assert logs <= {path.name for path in output.iterdir()}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_curves_of_several_systems_are_drawn(data, suffix):
    (data / "other.json").write_text((data / "system.json").read_text().replace("0.9", "0.05"))
    picture = data / f"curves.{suffix}"
    scores(data, "--plot", picture, "--beside", data / "other.json")
    content = picture.read_bytes()
    assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix])
    if suffix == "svg":
        for text in (b">Type+Place<", b">system<", b">other<", b">recall<", b">type.auc<"):
            assert content.count(text) == (3 if text == b">recall<" else 1)
    again = data / f"again.{suffix}"
    scores(data, "--plot", again, "--beside", data / "other.json")
    assert again.read_bytes() == content


def test_a_reference_scores_the_same_as_annotations_and_as_json(data):
    result = run("convert", data / "gt", data / "gt.json", "--to", "speech-sf-json")
    assert result.exit_code == 0
    frames = json.loads((data / "gt.json").read_text())
    assert [frame["TypeConfidence"] for frame in frames] == [1, 1]
    from_json = run(
        *("score", "speech-sf", "-r", data / "gt.json", "-s", data / "system.json"),
        *("--format", "tsv"),
    )
    from_annotations = run(
        *("score", "speech-sf", "-r", data / "gt", "-s", data / "system.json", "--format", "tsv")
    )
    assert from_json.stdout == from_annotations.stdout != ""


def test_frames_go_through_all_formats_and_back(data):
    steps = [
        ("system.json", "a.tsv", "speech-sf-tsv"),
        ("a.tsv", "b.jsonl", "jsonl"),
        ("b.jsonl", "c.corpus", "corpus"),
        ("c.corpus", "d.json", "speech-sf-json"),
    ]
    for source, target, form in steps:
        result = run("convert", data / source, data / target, "--to", form, "--strict-loss")
        assert result.exit_code == 0, result.output
    assert json.loads((data / "d.json").read_text()) == json.loads(
        (data / "system.json").read_text()
    )
    result = run("convert", data / "d.json", data / "annotations", "--to", "appen")
    assert "appen cannot represent 3 TypeConfidences" in result.output
    assert len(list((data / "annotations/ALL/ANNOTATION").iterdir())) == 2


def test_what_a_format_has_no_place_for_is_told(data):
    folder = FIXTURES / "appen/valid"
    result = run("convert", folder, data / "x.json", "--to", "speech-sf-json", "--strict-loss")
    assert result.exit_code == 1
    assert not (data / "x.json").exists()
    for told in ("4 candidate places", "1 document without frames", "2 URGENCY lines"):
        assert told in result.output
    result = run("convert", folder, data / "x", "--to", "standoff")
    assert "standoff can represent nothing of" in result.output


def test_escapes_and_native_script_are_offered(data):
    for escapes, text in (("native", "Ош"), ("ascii", "\\u041e\\u0448")):
        frames = [
            {"DocumentID": "D", "PlaceMention": "Ош", "Type": "Shelter", "TypeConfidence": 0.5}
        ]
        (data / "in.json").write_text(json.dumps(frames))
        setting = f"escapes={escapes}"
        result = run("convert", data / "in.json", data / "out.json", "--set", setting, "--force")
        assert result.exit_code == 0
        assert text in (data / "out.json").read_text("utf-8")
    result = run("convert", data / "in.json", data / "out.json", "--set", "escapes=both", "--force")
    assert result.exit_code == 2


def test_errors_in_a_large_file_are_all_told_at_their_places(tmp_path):
    frame = {"DocumentID": "D1", "PlaceMention": "Osh", "Type": "Shelter", "TypeConfidence": 0.5}
    frames = [dict(frame) for _ in range(2000)]
    for number in range(0, 2000, 20):
        frames[number]["TypeConfidence"] = "0.5"
    (tmp_path / "large.json").write_text(json.dumps(frames))  # in a single line
    result = run("validate", "speech-sf", tmp_path / "large.json", "--format", "json")
    found = [load for load in json.loads(result.stdout)["findings"] if load["code"] == "SFJ204"]
    assert len(found) == 100
    text = (tmp_path / "large.json").read_text()
    for number, one in zip(range(0, 2000, 20), found, strict=True):
        assert one["record"] == f"$[{number}].TypeConfidence"
        assert text[one["column"] - 1 : one["end_column"] - 1] == '"0.5"'


def test_reading_goes_on_behind_an_item_that_makes_no_sense(tmp_path):
    good = '{"DocumentID": "D1", "Type": "Shelter", "TypeConfidence": 0.5}'
    bad = '{"DocumentID": "D1" "Type": oops, "TypeConfidence": 0.5}'
    late = '{"DocumentID": "D1", "Type": "Shelter", "TypeConfidence": 2}'
    (tmp_path / "flawed.json").write_text("[\n" + ",\n".join([good, bad, good, late]) + "\n]\n")
    result = run("validate", "speech-sf", tmp_path / "flawed.json", "--format", "json")
    found = [(load["code"], load["line"]) for load in json.loads(result.stdout)["findings"]]
    assert ("SFJ205", 5) in found
    assert {line for code, line in found if code.startswith("JSN")} == {3}


def test_intervals_leave_out_segments_and_need_some(data):
    found = scores(data, "--bootstrap", 30)
    assert found["intervals"] == {}
    assert "2 documents with counts, at least 6 are needed" in found["notes"][-1]
    frames = json.loads((data / "system.json").read_text())
    pack = data / "gt" / "SET1" / "ANNOTATION"
    for number in range(3, 9):
        (pack / f"D{number}.txt").write_text(ANNOTATED.format(place="Osh"), "utf-8")
        sure = {"TypeConfidence": number / 10, "Type": ("Shelter", "Evacuation")[number % 2]}
        frames.append({"DocumentID": f"D{number}", **sure})
    (data / "system.json").write_text(json.dumps(frames))
    found = scores(data, "--bootstrap", 30)
    low, high = found["intervals"]["type.max_f1"]
    assert 0 < low < found["metrics"]["type.max_f1"] < high < 1
    assert "relevance.max_f1" not in found["intervals"]  # it is 1 whatever segments there are
    assert found["intervals"] == scores(data, "--bootstrap", 40)["intervals"]
    assert "jackknife:8|confidence:0.95|seed:0" in found["signature"]
    assert any("95 % jackknife interval, 8 groups of documents" in note for note in found["notes"])
