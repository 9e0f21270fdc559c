"""The commands that score translations: output, tables, comparison, and failures of METEOR."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from hlteval.scoring.mt.measures import packaged_jar

ROOT = Path(__file__).parents[3] / "fixtures"
SIDES = [ROOT / "scores/lorehlt-mt/reference", "-s", ROOT / "scores/lorehlt-mt/system"]
SCORE = ["score", "lorehlt-mt", "-r", *SIDES]


def scores(invoke, *options):
    result = invoke(*SCORE, *options, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_values_documents_and_segments(invoke, tmp_path):
    found = scores(invoke, "-o", tmp_path / "out")
    assert found["primary"] == "bleu"
    # edits by hand: 3 of 7 words, 3 of 4, 2 of 4, 0 of 3, 2 of 5
    assert found["metrics"]["ter"] == pytest.approx(100 * 10 / 23)
    assert found["metrics"]["meteor"] is None
    documents = pl.read_csv(tmp_path / "out" / "documents.tsv", separator="\t")
    assert documents["ter"].to_list() == pytest.approx([100 * 8 / 15, 100 * 2 / 8])
    segments = pl.read_csv(tmp_path / "out" / "segments.tsv", separator="\t")
    assert segments["ter"].to_list() == pytest.approx([300 / 7, 75, 50, 0, 40])
    notes = " ".join(found["notes"])
    assert "1 segment with empty references: not scored" in notes
    assert "TER|nrefs:1|case:lc|tok:tercom" in notes


def test_the_metrics_that_are_named(invoke):
    found = scores(invoke, "--metric", "ter,chrf")
    assert list(found["metrics"]) == ["chrf", "ter", "segments"]
    assert found["primary"] == "ter"
    assert "|metrics:ter,chrf|" in found["signature"]
    result = invoke(*SCORE, "--metric", "ter,blue")
    assert result.exit_code == 2
    assert "unknown metric blue; did you mean bleu?" in result.output


def test_a_leaderboard_has_the_metrics_that_are_computed_without_being_named(invoke):
    options = ["--bootstrap", 9, "--format", "json"]
    result = invoke("leaderboard", *SCORE[1:3], SIDES[0], SIDES[2], *options)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["metrics"] == ["bleu", "chrf", "chrf_pp", "ter"]


def test_missing_segments_are_scored_only_where_that_is_asked_for(invoke, tmp_path):
    system = tmp_path / "system"
    shutil.copytree(SIDES[2], system)
    (system / "EPO_NW_2.ltf.xml").unlink()
    path = system / "EPO_NW_1.ltf.xml"
    path.write_text(path.read_text("utf-8").replace("segment-2", "segment-9"), "utf-8")
    command = ["score", "lorehlt-mt", "-r", SIDES[0], "-s", system]
    result = invoke(*command)
    assert result.exit_code == 1
    assert "nothing was scored because of blocking findings (MTV201, MTV301)" in result.output
    for option in (["--missing", "empty"], ["--lenient"]):
        result = invoke(*command, *option, "--format", "json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert "3 segments without a translation: scored as empty" in found["notes"]
        assert found["metrics"]["ter"] == pytest.approx(100 * (3 + 3 + 4 + 3 + 5) / 23)


def test_the_system_may_have_more_than_the_reference(invoke, tmp_path):
    reference = tmp_path / "reference"
    shutil.copytree(SIDES[0], reference)
    (reference / "EPO_NW_2.ltf.xml").unlink()
    path = reference / "EPO_NW_1.ltf.xml"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "segment-2" not in line), "utf-8")
    result = invoke("score", "lorehlt-mt", "-r", reference, *SIDES[1:], "--format", "json")
    found = json.loads(result.stdout)
    assert found["metrics"]["ter"] == pytest.approx(100 * 6 / 11)
    assert not [note for note in found["notes"] if "error" in note]


def test_a_subset(invoke, tmp_path):
    subset = tmp_path / "subset.tsv"
    subset.write_text("EPO_NW_1\tsegment-1\nEPO_NW_2\tsegment-2\nEPO_NW_2\tsegment-2\n")
    found = scores(invoke, "--subset", subset)
    assert found["metrics"]["segments"] == 2
    assert found["metrics"]["ter"] == pytest.approx(100 * 5 / 9)
    assert "only a subset is scored: 2 of its 2 segments are in the reference" in found["notes"]
    subset.write_text("EPO_NW_1 segment-1\n")
    result = invoke(*SCORE, "--subset", subset)
    assert result.exit_code == 1
    assert "OPT101" in result.output
    subset.write_text("\n")
    assert "OPT109" in invoke(*SCORE, "--subset", subset).output


def test_justifications_of_correct_frames(invoke, tmp_path):
    frame = {"DocumentID": "EPO_NW_1", "Type": "water", "Place_KB_ID": "17", "Status": "current",
             "Confidence": 0.5, "Justification_ID": "segment-0", "Resolution": "insufficient",
             "Urgent": False, "SEC": []}  # fmt: skip
    wrong = frame | {"Place_KB_ID": "18", "Justification_ID": "segment-1"}
    submission, gold = tmp_path / "system.json", tmp_path / "gold.json"
    submission.write_text(json.dumps([frame, wrong]))
    gold.write_text(json.dumps([frame | {"Justification_ID": "segment-2"}]))
    options = ["--sf-justifications", submission, "--sf-reference", gold, "-o", tmp_path / "out"]
    found = scores(invoke, *options, "--neighbours", "2")
    assert found["metrics"]["segments"] == 1
    assert "justifications: 1 of 2 situation frames is correct" in found["notes"]
    shown = pl.read_csv(tmp_path / "out" / "assessment.tsv", separator="\t")
    assert shown["distance"].to_list() == [0, 1, 2]
    assert shown["type"].to_list() == ["water"] * 3
    result = invoke(*SCORE, "--sf-justifications", submission)
    assert result.exit_code == 2
    assert "--sf-justifications needs --sf-reference" in result.output


def test_correlation_with_scores_of_situation_frames(invoke, tmp_path):
    table = tmp_path / "sf.tsv"
    table.write_text("EPO_NW_1\tmt\t0.5\nEPO_NW_2\tmt\t0.75\nEPO_NW_2\tsource\t1\n")
    scores(invoke, "--sf-scores", table, "-o", tmp_path / "out")
    found = pl.read_csv(tmp_path / "out" / "sf_performance.tsv", separator="\t")
    assert found.rows() == [("source", 1, 1.0, -0.25), ("mt", 2, 0.625, 0.0)]
    assert (tmp_path / "out" / "sf_correlation.tsv").is_file()


def test_systems_are_compared(invoke):
    result = invoke("compare", "lorehlt-mt", "-r", SIDES[0], SIDES[2], SIDES[0], "--metric", "ter")
    assert result.exit_code == 0
    assert "lower is better for ter" in result.output
    given = ("compare", "lorehlt-mt", "-r", SIDES[0], *SIDES[::2], "--metric", "meteor")
    result = invoke(*given, "--metrics", "bleu")
    assert result.exit_code == 2
    assert "meteor is not computed with these options" in result.output


@pytest.mark.parametrize("lenient", [[], ["--lenient"]], ids=["strict", "lenient"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_without_java_nothing_is_scored_or_written(invoke, tmp_path, monkeypatch, lenient, jobs):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", "")
    jar = tmp_path / "meteor-1.5.jar"
    jar.touch()
    options = ["--metric", "meteor,bleu", "--meteor-jar", jar, "--no-paraphrases"]
    result = invoke(*SCORE, *options, *lenient, "--jobs", jobs, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert result.output.count("error[MTS103]") == 1
    assert "in the option --metric (MTS103)" in result.output
    assert not (tmp_path / "out").exists()


def test_meteor_ranks_where_it_is_named(invoke):
    if shutil.which("java") is None or packaged_jar() is None:
        pytest.skip("METEOR NOT CHECKED: no Java or no jar, install the extra mt")
    own = ["--meteor-jar", str(packaged_jar()), "--no-paraphrases"]
    found = scores(invoke, "--metric", "bleu,meteor", *own, "--bootstrap", "100")
    assert "/" not in found["signature"].partition("|meteor_jar:")[2].partition("|")[0]
    assert "|meteor_jar:" in found["signature"]
    assert found["primary"] == "meteor"
    assert 0.4 < found["metrics"]["meteor"] < 0.7
    assert any("matchers:exact+stem+synonym|version:1.5" in note for note in found["notes"])


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "command",
    [
        ("compare", "--metric", "meteor", "--metrics", "meteor"),
        ("compare", "--metric", "meteor"),
        ("leaderboard", "--metric", "meteor"),
        ("leaderboard", "--metric", "meteor,bleu"),
    ],
    ids=" ".join,
)
def test_systems_are_compared_by_meteor(invoke, command):
    """With the values that `score` gives: the reference against itself has 1."""
    if shutil.which("java") is None or packaged_jar() is None:
        pytest.skip("METEOR NOT CHECKED: no Java or no jar, install the extra mt")
    own = ["--meteor-jar", str(packaged_jar()), "--no-paraphrases"]
    name, *words = command
    given = (name, "lorehlt-mt", "-r", SIDES[0], SIDES[2], SIDES[0], *words, *own)
    result = invoke(*given, "--format", "json")
    assert result.exit_code == 0, result.output
    systems = json.loads(result.stdout)["systems"]
    values = {
        system["name"]: (system["scores"]["meteor"] if name == "leaderboard" else system)["value"]
        for system in systems
    }
    scored = scores(invoke, "--metric", "meteor", *own)["metrics"]["meteor"]
    assert values == {"reference": 1.0, "system": scored}
    assert 0.4 < scored < 0.7
