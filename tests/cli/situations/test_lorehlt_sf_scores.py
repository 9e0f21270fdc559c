"""Scores of lorehlt-sf on the command line, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hlteval
from hlteval.cli.app import app

NEEDS = (
    *("user_id", "doc_id", "frame_id", "frame_type", "need_type", "place_id", "proxy_status"),
    *("need_status", "scope", "severity", "resolution_status", "reported_by", "resolved_by"),
    *("description", "kb_id"),
)
SENTIMENTS = (
    *("user_id", "doc_id", "sentiment_value", "polarity", "emotion_value", "source", "target"),
    "kb_id",
)
CONFIG = """\
[Gain]
High=9
Medium=4
Low=0
[GraveFrameCounts]
HighGravity=3
MediumGravity=2
"""


def need(document: str, user: str, place: str, label: str = "food") -> str:
    frame = f"F-{document}-{user}-{place}"
    cells = [user, document, frame, "need", label, "Ent-1", "False", "current", "2_largegroup"]
    return "\t".join([*cells, "2_injury", "insufficient", "none", "none", "-", place])


def frame(document: str, place: str, sec: list | None = None) -> dict:
    own = {"DocumentID": document, "Type": "food", "Place_KB_ID": place, "Status": "current"}
    own |= {"Confidence": 0.5, "Justification_ID": "segment-0", "Resolution": "insufficient"}
    return own | {"Urgent": True, "SEC": sec or []}


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three documents of two annotators, who never agree; the system agrees with the first."""
    for kind in ("needs", "sentiments"):
        (tmp_path / "gold" / kind).mkdir(parents=True)
    frames = []
    for name in ("D1", "D2", "D3"):
        rows = [need(name, "7", "1"), need(name, "8", "2")]
        table = "".join(f"{row}\n" for row in ["\t".join(NEEDS), *rows])
        (tmp_path / "gold" / "needs" / f"{name}.needs.tab").write_text(table)
        felt = ["7", name, "-1", "negative", "fear", "Ent-9", f"F-{name}-7-1", "NIL1"]
        table = "".join(f"{row}\n" for row in ["\t".join(SENTIMENTS), "\t".join(felt)])
        (tmp_path / "gold" / "sentiments" / f"{name}.sentiment.tab").write_text(table)
        sec = {"Sentiment": -1, "Source": "NIL7", "Emotion_Fear": True, "Emotion_Anger": False}
        frames.append(frame(name, "1", [sec | {"Emotion_Joy": False}]))
    (tmp_path / "system.json").write_text(json.dumps(frames))
    mentions = "R\tm{n}\tOsh\tD{n}:3-5\t{entity}\tPER\tNAM\t1.0\n"
    for side, entity in (("gold", "NIL1"), ("system", "NIL7")):
        text = "".join(mentions.format(n=n, entity=entity) for n in (1, 2, 3))
        (tmp_path / f"{side}-edl.tab").write_text(text)
    everybody = "".join(f"D{n}\tneed\t7\n" for n in (1, 2, 3))
    (tmp_path / "annotators.tsv").write_text(everybody)
    return tmp_path


def scores(data: Path, *more: object) -> dict:
    sides = ("-r", data / "gold", "-s", data / "system.json")
    result = run("score", "lorehlt-sf", *sides, "--format", "json", *more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def edl(data: Path) -> tuple[object, ...]:
    return "--system-edl", data / "system-edl.tab", "--reference-edl", data / "gold-edl.tab"


def test_annotators_and_mentions_of_files(data):
    own = "--annotators", data / "annotators.tsv"
    found = scores(data, *own, *edl(data))
    assert found["primary"] == "ndcg.standard"
    values = found["metrics"]
    assert values["ndcg.standard"] == values["ndcg_sec.forgiving"] == values["sec_f1.polarity"] == 1
    assert values["frame_recall.type,place"] == 0.5
    assert scores(data, *own)["metrics"]["sec_f1.polarity"] == 0
    tables = {"scorings", "situations", "frames", "sec", "ndcg", "precision_at", "pr", "annotators"}
    assert set(found["tables"]) == tables


def test_the_seed_draws_annotators_and_is_signed(data):
    each = {seed: scores(data, "--seed", seed) for seed in (0, 1, 2, 3)}
    drawn = {
        seed: tuple(row["annotator"] for row in found["tables"]["annotators"])
        for seed, found in each.items()
    }
    assert len(set(drawn.values())) > 1
    assert "annotator_seed" not in each[0]["signature"]
    assert "|annotator_seed:2|" in each[2]["signature"]
    assert scores(data, "--annotator-seed", 2)["metrics"] == each[2]["metrics"]
    same = hlteval.score("lorehlt-sf", data / "gold", data / "system.json", seed=2)
    assert same.metrics == each[2]["metrics"]


def test_draws_are_tables(data):
    found = scores(data, "--draws", 3)["tables"]
    assert {row["draw"] for row in found["annotation_draws"]} == {1, 2, 3}
    sides = ("-r", data / "gold", "-s", data / "system.json")
    result = run("score", "lorehlt-sf", *sides, "--draws", 3)
    assert result.exit_code == 2
    assert "--draws has no effect without -o, --report or JSON" in result.output


def test_the_files_of_the_public_scorer(data):
    own = ("--annotators", data / "annotators.tsv", "--profile", "official", "-o", data / "out")
    scores(data, *own, "--system-name", "RUN1", *edl(data))
    assert (data / "out" / "standard_nDCG_Scores.txt").read_text() == (
        "SF nDCG Scores for Sysyem: RUN1\nk\tnDCG\n1\t1.0\n"
    )
    assert (data / "out" / "precisionN.txt").read_text().endswith("\n1\t1.0\n")
    assert (data / "out" / "F1_Type.txt").read_text().startswith("F1_Type:\t1.0\nPrecision_Type:")
    names = {path.name for path in (data / "out").glob("*.txt")}
    assert len(names) == 12


def test_a_configuration_of_the_public_scorer(data):
    config = data / "config.ini"
    config.write_text(CONFIG)
    found = scores(data, "--config", config, "--annotators", data / "annotators.tsv")
    (row,) = found["tables"]["situations"]
    assert (row["gain"], row["reference_gravity"]) == (9.0, 3.0)
    other = scores(data, "--config", config, "--gravity-thresholds", "9,8")
    assert other["metrics"]["ndcg.standard"] is None  # a gain of 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--gains", "5,3", "three or four numbers from 0 are needed"),
        ("--gains", "1,3,5", "a higher gravity cannot have a lower gain"),
        ("--gravity-thresholds", "10,25", "high gravity begins above medium gravity"),
        ("--gravity-thresholds", "ten,2", "two numbers above 0 are needed"),
        ("--cutoff", "2", "a confidence is a number from 0 to 1"),
        ("--max-frames", "0", "a positive integer is needed"),
        ("--annotator-seed", "-1", "a seed is an integer from 0"),
        ("--dcg", "method2", "use method0 or method1"),
    ],
)
def test_values_that_an_option_cannot_have(data, option, value, message):
    sides = ("-r", data / "gold", "-s", data / "system.json")
    result = run("score", "lorehlt-sf", *sides, option, value)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize("metric", ["ndcg_sec.vindictive", "frame_f1.type,place", "map.type,place"])
def test_systems_are_compared_by_a_metric(data, metric):
    other = data / "other.json"
    other.write_text(json.dumps([frame("D1", "3")]))
    result = run(
        *("compare", "lorehlt-sf", "-r", data / "gold", data / "system.json", other, "-m", metric),
        *("--annotators", data / "annotators.tsv", "--format", "json", "--bootstrap", 20),
    )
    assert result.exit_code == 0, result.output
    systems = json.loads(result.stdout)["systems"]
    assert [system["name"] for system in systems] == ["system", "other"]


def test_a_plot(data):
    pytest.importorskip("matplotlib")
    scores(data, "--plot", data / "curves.svg")
    text = (data / "curves.svg").read_text()
    assert ">nDCG<" in text
    assert ">type,place,status,urgent,resolution<" in text


def test_a_scored_document_outside_of_the_test_set_blocks(data):
    (data / "all.list").write_text("D1\nD2\nD3\nD4\n")
    (data / "scored.list").write_text("D1\nD4\nD5\n")
    lists = ("--documents", data / "all.list", "--scored", data / "scored.list")
    result = run("score", "lorehlt-sf", "-r", data / "gold", "-s", data / "system.json", *lists)
    assert result.exit_code == 1
    assert "the scored document D5" in " ".join(result.output.split())


def test_a_scored_document_that_the_reference_lacks_is_noted(data):
    (data / "scored.list").write_text("D1\nD2\nD3\nD4\n")
    found = scores(data, "--scored", data / "scored.list")
    assert any("D4: they count as annotated and empty (LSF704)" in note for note in found["notes"])
