"""LoReHLT situation frames: what readers make of them, and what writers make of a reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval import convert
from hlteval.converters import load
from hlteval.findings import FieldRef
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.runs import validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
ANNOTATION = FIXTURES / "lorehlt-sf-reference/valid/annotation"
ENTRY = {
    "Sentiment": -1.5,
    "Emotion_Fear": True,
    "Emotion_Anger": False,
    "Emotion_Joy": False,
    "Source": "author",
}
NEED: dict[str, Any] = {
    "DocumentID": "D1",
    "Type": "food",
    "Place_KB_ID": "17",
    "Status": "current",
    "Confidence": 0.5,
    "Justification_ID": "segment-1",
    "Resolution": "insufficient",
    "Urgent": True,
    "SEC": [ENTRY],
}
ISSUE = {name: value for name, value in NEED.items() if name != "Resolution"} | {
    "Type": "terrorism"
}


def read(text: str, tmp_path: Path, **settings: str) -> tuple[Corpus, list[tuple[str, str]]]:
    path = tmp_path / "system_output.json"
    path.write_text(text, "utf-8")
    (result,) = load("lorehlt-sf-json").with_settings(settings).read(open_source(str(path)))
    return result.corpus, [(item.code, item.message) for item in result.findings]


def problems(frame: dict[str, Any], tmp_path: Path, version: str = "plan") -> list[tuple[str, str]]:
    return read(json.dumps([frame]), tmp_path, schema=version)[1]


def without(frame: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in frame.items() if name not in names}


def test_an_error_names_the_branch_that_was_meant(tmp_path: Path) -> None:
    bare = problems(without(NEED, "Resolution"), tmp_path)
    assert bare == [("LSF202", "$[0]: need frame without Resolution")]
    assert problems(NEED | {"Status": "not_current"}, tmp_path) == [
        ("LSF207", "$[0].Status: unknown Status not_current (need frame)")
    ]
    assert problems(ISSUE | {"Status": "future"}, tmp_path) == [
        ("LSF207", "$[0].Status: unknown Status future (issue frame)")
    ]
    assert problems(without(NEED, "Urgent", "SEC", "Confidence"), tmp_path) == [
        ("LSF202", "$[0]: need frame without Confidence, Urgent, SEC")
    ]
    half = problems(NEED | {"SEC": [ENTRY, without(ENTRY, "Source")]}, tmp_path)
    assert half == [("LSF202", "$[0].SEC[1]: entry of SEC without Source")]


@pytest.mark.parametrize(
    ("frame", "codes"),
    [
        (NEED | {"Confidence": True}, ["LSF204"]),
        (NEED | {"Confidence": "0.5"}, ["LSF204"]),
        (NEED | {"Confidence": 1.01}, ["LSF205"]),
        (NEED | {"Urgent": "true"}, ["LSF204"]),
        (NEED | {"SEC": None}, ["LSF204"]),
        (NEED | {"SEC": [ENTRY | {"Sentiment": 0}]}, ["LSF209"]),
        (NEED | {"SEC": [ENTRY | {"Sentiment": 3.5}]}, ["LSF209"]),
        (NEED | {"SEC": [ENTRY | {"Sentiment": -0.25}]}, ["LSF209"]),
        (NEED | {"SEC": [ENTRY | {"Sentiment": -3.0}]}, []),
        (NEED | {"SEC": [ENTRY | {"Sentiment": True}]}, ["LSF204"]),
        (NEED | {"SEC": [ENTRY | {"Emotion_Joy": 1}]}, ["LSF204"]),
        (NEED | {"Place_KB_ID": ""}, []),
        (NEED | {"Place_KB_ID": None}, ["LSF204"]),
        (NEED | {"Type": "Food"}, ["LSF206"]),
        (ISSUE | {"Resolution": "insufficient"}, ["LSF208"]),
        (without(NEED, "Justification_ID") | {"Justification": "segment-1"}, ["LSF215"]),
        (without(NEED, "Justification_ID"), ["LSF215"]),
    ],
)
def test_the_schema_of_the_plan(frame: dict[str, Any], codes: list[str], tmp_path: Path) -> None:
    assert [code for code, _ in problems(frame, tmp_path)] == codes


@pytest.mark.parametrize(
    ("version", "frame", "valid"),
    [
        ("2018-v2", without(NEED, "SEC"), True),
        ("2019-v1", without(NEED, "SEC"), False),
        ("2019-v1", NEED | {"SEC": [without(ENTRY, "Emotion_Fear")]}, True),
        ("2019-v2", NEED | {"SEC": [without(ENTRY, "Emotion_Fear")]}, False),
        ("2019-v1", ISSUE | {"SEC": None}, True),
        ("2019-v2", ISSUE | {"SEC": None}, False),
        ("2019-v1", ISSUE | {"Resolution": "insufficient"}, True),
        ("2019-v1", without(NEED, "Justification_ID") | {"Justification": "segment-1"}, False),
        ("2018-v2", without(NEED, "Justification_ID"), False),
    ],
)
def test_the_published_schemas(
    version: str, frame: dict[str, Any], valid: bool, tmp_path: Path
) -> None:
    codes = [code for code, _ in problems(frame, tmp_path, version)]
    assert valid == ({*codes} <= {"LSF212"})
    plan = [code for code, _ in problems(frame, tmp_path)]
    if valid:  # what the plan does not accept is reported
        assert bool(codes) == bool(plan)


def test_a_frame_that_breaks_a_published_schema_is_beyond_the_plan_too(tmp_path: Path) -> None:
    frame = without(ISSUE, "Justification_ID") | {"Resolution": "sufficient"}
    assert problems(frame, tmp_path, "2019-v1") == [
        ("LSF202", "$[0]: issue frame without Justification_ID"),
        ("LSF212", "the schema 2019-v1 accepts this, the plan does not: issue frame with a "
         "Resolution"),
    ]  # fmt: skip


def test_broken_json_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    twice = json.dumps(NEED).replace('"Status"', '"Urgent": true, "Status"')
    nan = json.dumps(NEED | {"Confidence": float("nan")})
    literal = json.dumps(NEED).replace("true", "True", 1)
    corpus, found = read(f"[{twice},\n{nan},\n{literal},\n{json.dumps(ISSUE)}]", tmp_path)
    assert [code for code, _ in found] == ["JSN109", "JSN108", "JSN102"]
    assert corpus.frames["record"].to_list() == [4]
    assert corpus.rejected_records["code"].to_list() == ["JSN109", "JSN108", "JSN102"]


def test_frames_and_their_entries(tmp_path: Path) -> None:
    more = ENTRY | {"Sentiment": 3, "Source": "NIL12"}
    frames = [ISSUE | {"Place_KB_ID": "", "SEC": []}, NEED | {"SEC": [ENTRY, more]}]
    corpus, found = read(json.dumps(frames), tmp_path)
    assert found == []
    corpus.check_keys()
    columns = ("label", "place_kb", "status", "resolution", "urgent", "confidence", "justification")
    assert corpus.frames.select(columns).rows() == [
        ("terrorism", None, "current", None, "true", 0.5, "segment-1"),
        ("food", "17", "current", "insufficient", "true", 0.5, "segment-1"),
    ]
    columns = ("frame_row", "record", "item", "holder_kb", "value", "fear", "anger", "polarity")
    assert corpus.sentiments.select(columns).rows() == [
        (1, 2, 1, "author", -1.5, True, False, None),
        (1, 2, 2, "NIL12", 3.0, True, False, None),
    ]


def test_official_identifiers_lose_characters_at_their_end(tmp_path: Path) -> None:
    frames = [NEED | {"DocumentID": name} for name in ("D1.txt", "DOC_abt", "D2", "D1.txt")]
    corpus, found = read(json.dumps(frames), tmp_path, **{"document-ids": "stripped"})
    assert corpus.documents["name"].to_list() == ["D1", "DOC_ab", "D2"]
    assert found == [
        ("LSF213", "the official scorer reads the document D1.txt as D1 (frames: 2)"),
        ("LSF213", "the official scorer reads the document DOC_abt as DOC_ab (frames: 1)"),
    ]


def annotation() -> Corpus:
    (result,) = load("lorehlt-sf-reference").read(open_source(str(ANNOTATION)))
    assert result.findings == ()
    result.corpus.check_keys()
    return result.corpus


def test_an_annotation_has_what_its_tables_say() -> None:
    corpus = annotation()
    assert corpus.documents.select("name", "modality").rows() == [
        ("ENG_A1", "speech"),
        ("ENG_D1", "text"),
        ("ENG_D2", "text"),
    ]
    columns = ("frame", "label", "place", "place_kb", "status", "scope", "severity", "resolution")
    place = "Ent-ENG_D1-1"
    assert corpus.frames.select(*columns, "annotator").rows() == [
        ("Frame-1", "food", place, "1000001", "current", "3_municipality", "2_injury",
         "insufficient", "300"),
        ("Frame-1", "food", place, "1000001", "current", "3_municipality", "1_discomfort",
         "insufficient", "314"),
        ("Frame-2", "water", None, None, "future", None, "2_injury", "sufficient", "300"),
        ("Frame-3", "med", place, "NIL12", "current", "3_municipality", "2_injury",
         "insufficient", "300"),
        ("Frame-9", "terrorism", place, "1000001|1000002", "current", None, "4_certaindeath",
         None, "300"),
        ("Frame-10", "regimechange", place, "1000001", "not_current", None, None, None, "300"),
        ("F1", "water", None, "1000001", "Current", "2_largegroup", "Severity_Not_Required",
         "Insufficient/Unknown", None),
        ("F2", "crimeviolence", None, "NIL", "not_current", "2_largegroup",
         "Severity_Not_Required", None, None),
    ]  # fmt: skip
    assert corpus.frames["confidence"].null_count() == corpus.frames.height
    columns = ("frame_row", "target", "holder", "holder_kb", "value", "polarity")
    assert corpus.sentiments.select(*columns, "fear", "anger", "joy", "annotator").rows() == [
        (0, "Frame-1", "author", "author", -1.5, "negative", True, True, False, "300"),
        (0, "Frame-1", "Ent-ENG_D1-2", "NIL13", 2.0, "positive", False, False, False, "300"),
        (4, "Frame-9", "other", "other", 0.5, "positive", False, False, True, "314"),
    ]
    assert corpus.mentions.select("start", "end", "text").rows() == [(5, 8, "Osh"), (12, 15, "Ada")]
    extra = corpus.attributes.filter(pl.col("name") == "description")
    assert extra["value"].unique().sort().to_list() == ["a bomb", "no bread"]


def test_a_sentiment_is_about_the_frame_of_its_annotator(tmp_path: Path) -> None:
    for path in ANNOTATION.rglob("*.tab"):
        other = tmp_path / path.relative_to(ANNOTATION)
        other.parent.mkdir(exist_ok=True)
        text = path.read_text("utf-8")
        if path.parent.name == "sentiments":
            text = text.replace("300\t", "314\t")
        other.write_text(text, "utf-8")
    (result,) = load("lorehlt-sf-reference").read(open_source(str(tmp_path)))
    assert result.corpus.sentiments["frame_row"].to_list() == [1, 1, 4]


@pytest.mark.parametrize("missing", ["sentiments", "issues", "needs", "mentions", "speech"])
def test_a_folder_may_be_missing_or_without_rows(missing: str, tmp_path: Path) -> None:
    for path in ANNOTATION.rglob("*.tab"):
        if path.parent.name != missing:
            other = tmp_path / "one" / path.relative_to(ANNOTATION)
            other.parent.mkdir(exist_ok=True, parents=True)
            other.write_bytes(path.read_bytes())
    (result,) = load("lorehlt-sf-reference").read(open_source(str(tmp_path / "one")))
    assert result.findings == ()
    (again,) = load("lorehlt-sf-reference").read(open_source(str(ANNOTATION)))
    for path in (ANNOTATION / missing).glob("*.tab"):
        other = tmp_path / "one" / path.relative_to(ANNOTATION)
        other.parent.mkdir(exist_ok=True, parents=True)
        header = path.read_text("utf-8").partition("\n")[0]
        other.write_text(f"{header}\n", "utf-8")
    (bare,) = load("lorehlt-sf-reference").read(open_source(str(tmp_path / "one")))
    assert bare.findings == ()
    assert bare.corpus.documents["name"].to_list() == again.corpus.documents["name"].to_list()
    assert bare.corpus.frames.height == result.corpus.frames.height


@pytest.mark.parametrize("none", ["", "none"])
def test_what_is_no_value_is_null(none: str, tmp_path: Path) -> None:
    header = (ANNOTATION / "needs/ENG_D2.needs.tab").read_text("utf-8")
    cells = (ANNOTATION / "needs/ENG_D1.needs.tab").read_text("utf-8").split("\n")[1].split("\t")
    cells[5] = cells[8] = cells[9] = none
    path = tmp_path / "needs.tab"
    path.write_text(header + "\t".join(cells) + "\n", "utf-8")
    (result,) = load("lorehlt-sf-reference").read(open_source(str(path)))
    assert result.findings == ()
    assert result.corpus.frames.select("place", "scope", "severity").rows() == [(None, None, None)]


def test_places_of_findings_are_those_of_the_file() -> None:
    form = load("lorehlt-sf-reference")
    member = next(
        m for m in open_source(str(ANNOTATION)).members if m.name.startswith("sentiments")
    )
    (cell, line, none) = form.locate(
        member, [FieldRef(3, "kb_id"), FieldRef(2), FieldRef(99, "kb_id")]
    )
    assert cell is not None
    assert line is not None
    assert (cell.span.line, cell.excerpt.text[cell.span.column - 1 :]) == (3, "NIL13")
    assert line.span.line == 2
    assert none is None


def test_a_reference_makes_the_output_that_agrees_with_it(tmp_path: Path) -> None:
    path = tmp_path / "system_output.json"
    convert(str(ANNOTATION), str(path), to_format="lorehlt-sf-json")
    frames = json.loads(path.read_text("utf-8"))
    short = [
        (f["Type"], f["Place_KB_ID"], f["Status"], f.get("Resolution"), f["Urgent"], len(f["SEC"]))
        for f in frames
    ]
    assert short == [
        ("food", "1000001", "current", "insufficient", True, 2),  # of both annotators
        ("water", "", "future", "sufficient", True, 0),
        ("med", "NIL12", "current", "insufficient", True, 0),
        ("terrorism", "1000001|1000002", "current", None, True, 1),
        ("regimechange", "1000001", "not_current", None, False, 0),
        ("water", "1000001", "current", "insufficient", True, 0),
        ("crimeviolence", "NIL", "not_current", None, True, 0),
    ]
    assert {frame["Confidence"] for frame in frames} == {1}
    official = tmp_path / "official.json"
    convert(
        str(ANNOTATION), str(official), to_format="lorehlt-sf-json", settings={"urgency": "and"}
    )
    # The annotators disagree on the severity: one of them finds the need urgent.
    urgent = [(f["Type"], f["Urgent"]) for f in json.loads(official.read_text("utf-8"))]
    assert urgent == [
        *(("food", True), ("food", False), ("water", False), ("med", True)),
        *(("terrorism", False), ("regimechange", False), ("water", False)),
        ("crimeviolence", False),
    ]
    verdict = validate("lorehlt-sf", str(path), profile="official")
    assert not any(finding.blocking for finding in verdict.findings)


def test_truth_values_of_spreadsheets_and_several_tables(tmp_path: Path) -> None:
    valid = FIXTURES / "lorehlt-sf-tables/valid/submission"
    form = load("lorehlt-sf-tables")
    for name in ("frames.tsv", "sec.tsv"):
        text = (valid / name).read_text("utf-8")
        text = text.replace("true", "TRUE").replace("false", "False")
        (tmp_path / name).write_text(text, "utf-8")
    (result,) = form.read(open_source(str(tmp_path)))
    (other,) = form.read(open_source(str(valid)))
    assert result.findings == ()
    assert result.corpus.frames.equals(other.corpus.frames)
    assert result.corpus.sentiments.equals(other.corpus.sentiments)
    (tmp_path / "run2").mkdir()
    (tmp_path / "run2/sec.tsv").write_bytes((valid / "sec.tsv").read_bytes())
    (result,) = form.read(open_source(str(tmp_path)))
    assert [item.message for item in result.findings] == [
        "expected exactly one file sec.tsv, found 2"
    ]
    assert result.corpus.frames.is_empty()


def test_the_suffix_json_is_that_of_the_evaluation_of_the_input(tmp_path: Path) -> None:
    for given_path, own_member in (
        (ANNOTATION, "Place_KB_ID"),
        (FIXTURES / "lorehlt-sf-tables/valid/submission", "Place_KB_ID"),
        (FIXTURES / "appen/valid", "TypeConfidence"),
        (FIXTURES / "speech-sf-json/valid/frames.json", "TypeConfidence"),
    ):
        convert(str(given_path), str(tmp_path / "out.json"), force=True)
        assert own_member in (tmp_path / "out.json").read_text("utf-8")


def test_texts_and_frames_are_joined_with_their_modality(tmp_path: Path) -> None:
    texts = FIXTURES / "lorehlt-sf/valid/texts.jsonl"
    frames = FIXTURES / "lorehlt-sf/valid/submission"
    out = tmp_path / "out.jsonl"
    convert([str(texts), str(frames)], str(out))
    (result,) = load("jsonl").read(open_source(str(out)))
    corpus = result.corpus
    named = corpus.documents.select("name", "modality", pl.col("text").is_not_null()).rows()
    assert sorted(named) == [("ENG_A1", None, False), ("ENG_D1", "text", True)]
    heights = {name: getattr(corpus, name).height for name in ("frames", "sentiments", "mentions")}
    assert heights == {"frames": 3, "sentiments": 2, "mentions": 3}
