"""The inputs of the official scorer of LoReHLT situation frames: read, judged and made again."""

from __future__ import annotations

import json

import polars as pl
import pytest

from hlteval import convert
from hlteval.converters import ReadResult, load
from hlteval.sources import open_source
from tests.runs import validate

SYNTHETIC = ("synthetic-h1", "synthetic-h2")
SEC = ("SEC_test1", "SEC_test2")
OLD = ("Test_MAPMAR", "Test_MAPMAR_UrgentUnresolved", "Test_nDCG", "Test_nDCG2", "Test_nDCG3")
ANNOTATION = "setE/data/annotation/eng/situation_frame"
CASES = "cases/lorehlt-sf"


def read(form, path) -> ReadResult:
    (result,) = load(form).read(open_source(str(path)))
    result.corpus.check_keys()
    return result


def references(shared):
    folder = shared / CASES
    return [
        *(folder / name / "ref" for name in SYNTHETIC),
        *(folder / name / ANNOTATION for name in SEC),
        *(folder / name for name in OLD),
    ]


def test_every_annotation_is_read_without_a_finding(shared, tmp_path):
    form = load("lorehlt-sf-reference")
    for number, path in enumerate(references(shared)):
        result = read("lorehlt-sf-reference", path)
        assert result.findings == ()
        assert result.corpus.frames.height
        form.write([result.corpus], tmp_path / str(number))
        again = read("lorehlt-sf-reference", tmp_path / str(number))
        for table in ("documents", "frames", "sentiments", "mentions", "attributes"):
            ours, theirs = getattr(again.corpus, table), getattr(result.corpus, table)
            assert ours.drop("origin").equals(theirs.drop("origin")), (path, table)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_the_rows_of_the_annotation_are_those_of_the_official_scorer(shared, name):
    extra = json.loads((shared / CASES / name / "extra.json").read_text("utf-8"))
    corpus = read("lorehlt-sf-reference", shared / CASES / name / "ref").corpus
    names = corpus.documents.select("name", document="row")
    frames = corpus.frames.join(names, on="document").filter(pl.col("place").is_not_null())
    ours = {
        (document, frame, annotator): (label, place or "", status)
        for document, frame, annotator, label, place, status in frames.select(
            "name", "frame", "annotator", "label", "place_kb", "status"
        ).iter_rows()
    }
    theirs = {
        (row["doc_id"], row["frame_id"], str(row["user_id"])): (
            row["type"],
            row["kb_id"] if isinstance(row["kb_id"], str) else "",
            row["status"],
        )
        for row in extra["reference_rows"]
    }
    assert theirs
    assert {key: ours[key] for key in theirs} == theirs


@pytest.mark.parametrize("name", SYNTHETIC)
def test_the_situations_of_a_submission_are_those_of_the_official_scorer(shared, name):
    extra = json.loads((shared / CASES / name / "extra.json").read_text("utf-8"))
    corpus = read("lorehlt-sf-json", shared / CASES / name / "system_output.json").corpus
    counts = corpus.frames.group_by("place_kb", "label").len()
    ours = {(place or "", label): count for place, label, count in counts.iter_rows()}
    # The scorer replaces places by those of ambiguous references: most are left as they are.
    theirs = {(place, label): count for place, label, _, count in extra["system_situations"]}
    assert sum(ours.values()) == sum(theirs.values())
    assert len({*ours.items()} & {*theirs.items()}) > 0.8 * len(theirs)


def test_verdicts(shared):
    folder = shared / CASES
    good = [folder / name / "system_output.json" for name in SYNTHETIC]
    good += [folder / name / f"{one}.json" for name in SEC for one in ("perfect_submission",)]
    for path in good:
        assert validate("lorehlt-sf", str(path), profile="official").passed
    old = validate("lorehlt-sf", str(folder / "1_good.json"), profile="official")
    assert {item.message for item in old.findings if item.blocking} == {
        "$[0]: need frame without SEC",
        "$[1]: need frame without SEC",
    }
    options = {"schema": "2018-v2"}
    assert validate("lorehlt-sf", str(folder / "1_good.json"), options=options).passed
    bad = validate("lorehlt-sf", str(folder / "1_bad_docid.json"), options=options)
    assert [item.message for item in bad.findings if item.blocking][:2] == [
        "$[0]: need frame without DocumentID",
        "$[0].Place_KB_ID is a number, not a string",
    ]


@pytest.mark.parametrize("name", OLD)
def test_submissions_of_2018_follow_their_schema(shared, name):
    paths = sorted((shared / CASES / name).glob("system_test*.json"))
    assert paths
    for path in paths:
        verdict = validate("lorehlt-sf", str(path), options={"schema": "2018-v2"})
        assert verdict.passed, path


@pytest.mark.parametrize("name", SEC)
def test_an_annotation_makes_the_perfect_submission(shared, name, tmp_path):
    path = tmp_path / "system_output.json"
    settings = {"urgency": "and"}
    folder = shared / CASES / name
    convert(str(folder / ANNOTATION), str(path), to_format="lorehlt-sf-json", settings=settings)
    ours, theirs = (
        sorted(map(said, json.loads(file.read_text("utf-8"))))
        for file in (path, folder / "perfect_submission.json")
    )
    assert ours == theirs


def said(frame):
    """What a frame says, but for urgency, which these annotations have in another column."""
    felt = ("Sentiment", "Emotion_Fear", "Emotion_Anger", "Emotion_Joy", "Source")
    entries = sorted(tuple(str(entry[name]) for name in felt) for entry in frame["SEC"])
    names = ("DocumentID", "Type", "Place_KB_ID", "Status", "Resolution")
    return [frame.get(name, "") for name in names], entries
