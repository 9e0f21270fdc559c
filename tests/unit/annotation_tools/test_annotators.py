"""Who has annotated a document, where an annotation of it may be empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlteval import agreement, convert, score, validate
from hlteval.converters import load
from hlteval.sources import open_source

#: Both annotators mark Ann; Bob is marked by kim alone: lee has looked, and found nothing.
TEXTS = {"d1": "Ann sang.", "d2": "Bob sang."}


def label_studio(by: str, *, marked: bool) -> dict[str, Any]:
    value = {"start": 0, "end": 3, "labels": ["PER"]}
    region = {"id": f"a{by}", "from_name": "label", "to_name": "text", "type": "labels"}
    return {"completed_by": by, "result": [{**region, "value": value}] if marked else []}


def export(form: str) -> str:
    """Both texts, as a tool exports them."""
    if form == "label-studio":
        return json.dumps([
            {"id": name, "data": {"text": text}, "annotations": [
                label_studio("kim", marked=True), label_studio("lee", marked=name == "d1"),
            ]}
            for name, text in TEXTS.items()
        ])  # fmt: skip
    lines: list[dict[str, Any]] = []
    for name, text in TEXTS.items():
        for by in ("kim", "lee"):
            spans = [{"start": 0, "end": 3, "label": "PER"}] if (name, by) != ("d2", "lee") else []
            answer = {"id": name, "text": text, "spans": spans, "answer": "accept"}
            lines.append({**answer, "_session_id": f"{by}-1", "_annotator_id": by})
    return "\n".join(map(json.dumps, lines))


@pytest.mark.parametrize("form", ["label-studio", "prodigy"])
def test_who_marks_nothing_has_annotated_the_document(form: str, tmp_path: Path) -> None:
    """One of two mentions is in both annotations: precision 1, recall 1/2."""
    path = tmp_path / f"x.{form}.json"
    path.write_text(export(form), "utf-8")
    found = agreement("mentions", [str(path)])
    (pair,) = found.measures
    assert (pair.first, pair.second, pair.documents) == ("kim", "lee", 2)
    assert pair.value == pytest.approx(2 / 3)
    assert found.findings == ()


@pytest.mark.parametrize(
    ("form", "other"), [("label-studio", "prodigy"), ("prodigy", "label-studio")]
)
def test_the_other_tool_has_the_empty_annotation(form: str, other: str, tmp_path: Path) -> None:
    path, again = tmp_path / f"x.{form}.json", tmp_path / f"y.{other}.json"
    path.write_text(export(form), "utf-8")
    convert(str(path), str(again), to_format=other)
    (pair,) = agreement("mentions", [str(again)]).measures
    assert pair.value == pytest.approx(2 / 3)


@pytest.mark.parametrize("form", ["label-studio", "prodigy"])
def test_the_empty_annotation_of_the_chosen_annotator_counts(form: str, tmp_path: Path) -> None:
    path, system = tmp_path / f"x.{form}.json", tmp_path / "s.doccano.jsonl"
    path.write_text(export(form), "utf-8")
    marks = [{"id": name, "text": text, "label": [[0, 3, "PER"]]} for name, text in TEXTS.items()]
    system.write_text("\n".join(map(json.dumps, marks)), "utf-8")
    options = {"annotator": "lee"}
    found = score("mentions", str(path), str(system), options=options)
    assert (found.metrics["micro.precision"], found.metrics["micro.recall"]) == (0.5, 1.0)


def test_who_connects_nothing_has_annotated_the_relations(tmp_path: Path) -> None:
    """Both mark two mentions, and only one of them a relation: no agreement at all."""
    path = tmp_path / "x.json"
    ends = [
        {"id": name, "from_name": "label", "type": "labels",
         "value": {"start": at, "end": at + 3, "labels": ["PER"]}}
        for name, at in (("a", 0), ("b", 4))
    ]  # fmt: skip
    relation = {"type": "relation", "from_id": "a", "to_id": "b", "labels": ["knows"]}
    annotations = [
        {"completed_by": {"id": 1, "email": "kim@x"}, "result": [*ends, relation]},
        {"completed_by": {"id": 2, "email": ""}, "result": ends},
    ]
    task = {"id": 1, "data": {"text": "Ann Bob"}, "annotations": annotations}
    path.write_text(json.dumps([task]), "utf-8")
    (pair,) = agreement("relations", [str(path)]).measures
    assert (pair.first, pair.second, pair.value) == ("2", "kim@x", 0.0)


def test_the_suffix_decides_in_scoring_as_in_converting(tmp_path: Path) -> None:
    """Prodigy keeps members of Label Studio, by which the file was read as one of these."""
    path, system = tmp_path / "x.json", tmp_path / "x.prodigy.jsonl"
    path.write_text(export("label-studio"), "utf-8")
    task = json.loads(path.read_text("utf-8"))[0] | {"total_annotations": 2}
    path.write_text(json.dumps([task]), "utf-8")
    convert(str(path), str(system))
    found = score("mentions", str(path), str(system), options={"annotator": "lee"})
    assert found.metrics["micro.f1"] == 1.0


def test_ground_truth_of_label_studio_is_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    annotations = [label_studio("kim", marked=True), label_studio("lee", marked=True)]
    annotations[1]["ground_truth"] = True
    task = {"id": 1, "data": {"text": "Ann sang."}, "annotations": annotations}
    path.write_text(json.dumps([task]), "utf-8")
    (found,) = (
        load("label-studio").with_settings({"results": "ground-truth"}).read(open_source(str(path)))
    )
    assert found.corpus.mentions["annotator"].to_list() == ["lee"]
    (left,) = found.findings
    assert left.message == "1 annotation without ground truth is left out"


def test_the_curated_annotation_is_proposed_as_the_reference(tmp_path: Path) -> None:
    """Capital letters are first in the order of names, in which Anna is the first."""
    path = tmp_path / "x.json"
    annotations = [label_studio(by, marked=True) for by in ("Anna", "CURATION_USER", "ben")]
    task = {"id": 1, "data": {"text": "Ann sang."}, "annotations": annotations}
    path.write_text(json.dumps([task]), "utf-8")
    (found,) = validate("mentions", str(path)).findings
    assert (found.code, "--annotator CURATION_USER" in (found.help or "")) == ("GEN410", True)


def test_what_was_curated_is_no_annotator(tmp_path: Path) -> None:
    """Ada and Bo agree on one of two labels; what was curated is what Ada has."""
    labels = {"ada": "PER", "bo": "ORG", "CURATION_USER": "PER"}
    items = [
        {"id": f"d{at}", "text": "Ann", "_annotator_id": by, "answer": "accept",
         "spans": [{"start": 0, "end": 3, "label": label if at else "PER"}]}
        for at in range(2) for by, label in labels.items()
    ]  # fmt: skip
    path = tmp_path / "x.prodigy.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items))
    found = agreement("mentions", [str(path)])
    assert found.annotators == ("ada", "bo")
    assert found.measures[0].value == 0.5
    assert "CURATION_USER is no annotator" in found.notes[0]
    pair = tmp_path / "y.prodigy.jsonl"
    pair.write_text(
        "".join(f"{json.dumps(item)}\n" for item in items if item["_annotator_id"] != "bo")
    )
    assert agreement("mentions", [str(pair)]).measures[0].value == 1.0
    # rows of nobody, such as the default set of GATE, are not a second annotator to curate
    alone = [
        {**item, "_annotator_id": None} if item["_annotator_id"] == "bo" else item for item in items
    ]
    pair.write_text("".join(f"{json.dumps(item)}\n" for item in alone))
    assert agreement("mentions", [str(pair)]).annotators == ("CURATION_USER", "ada", "nobody")


@pytest.mark.parametrize(("marked", "documents"), [((True, False), ["d1"]), ((False, False), [])])
def test_a_task_without_ground_truth_is_no_document(
    marked: tuple[bool, ...], documents: list[str], tmp_path: Path
) -> None:
    """Ground truth of some tasks: the others were documents in which nothing is right."""
    path = tmp_path / "x.json"
    tasks = json.loads(export("label-studio"))
    for task, truth in zip(tasks, marked, strict=True):
        task["annotations"][0]["ground_truth"] = truth
    path.write_text(json.dumps(tasks))
    form = load("label-studio").with_settings({"results": "ground-truth"})
    (read,) = form.read(open_source(str(path)))
    assert read.corpus.documents["name"].to_list() == documents
    left = {found.message for found in read.findings if found.code == "JAN107"}
    count = 2 - len(documents)
    assert any(f"{count} task" in message and "without ground truth" in message for message in left)
