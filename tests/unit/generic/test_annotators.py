"""Annotators of one file: one is chosen, or there are no numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hlteval import Refused, agreement, compare, score, validate

TEXT = "Ann Lee works at Acme."
KIM, LEE = [(0, 7, "PER")], [(0, 3, "PER"), (17, 21, "ORG")]
Spans = list[tuple[int, int, str]]


def write(path: Path, *documents: dict[str, Spans]) -> str:
    """An export of Label Studio: the spans of each annotator of each document."""
    tasks = []
    for number, by in enumerate(documents, start=1):
        results = [
            {
                "completed_by": name,
                "result": [
                    {
                        "id": f"{name}{at}",
                        "type": "labels",
                        "from_name": "l",
                        "to_name": "t",
                        "value": {"start": a, "end": b, "text": TEXT[a:b], "labels": [label]},
                    }
                    for at, (a, b, label) in enumerate(spans)
                ],
            }
            for name, spans in by.items()
        ]
        tasks.append({"id": f"d{number}", "data": {"text": TEXT}, "annotations": results})
    path.write_text(json.dumps(tasks), "utf-8")
    return str(path)


@pytest.mark.parametrize("side", ["reference", "system"])
def test_two_annotators_of_a_document_give_no_number(side: str, tmp_path: Path) -> None:
    """Together they would have three units: neither has annotated that."""
    paths = {
        "reference": write(tmp_path / "gold.json", {"kim": KIM}),
        "system": write(tmp_path / "run.json", {"kim": KIM}),
    }
    paths[side] = write(tmp_path / "two.json", {"kim": KIM, "lee": LEE})
    with pytest.raises(Refused) as refused:
        score("mentions", **paths)
    (finding,) = (item for item in refused.value.verdict.findings if item.blocking)
    assert (finding.code, finding.side) == (
        "GEN410",
        "reference" if side == "reference" else "submission",
    )
    assert finding.message == "2 annotators have annotated the document: kim, lee"
    assert finding.help is not None
    assert "--annotator kim" in finding.help


@pytest.mark.parametrize(("name", "f1"), [("kim", 1.0), ("lee", 0.0)])
def test_one_of_them_is_chosen(name: str, f1: float, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", {"kim": KIM, "lee": LEE})
    system = write(tmp_path / "run.json", {"model": KIM})
    scores = score("mentions", gold, system, options={"annotator": name})
    assert scores.metrics["micro.f1"] == f1
    assert f"annotator:{name}" in scores.signature
    found = validate("mentions", gold, options={"annotator": name}).findings
    assert found == ()


def test_documents_by_one_annotator_each_are_whole(tmp_path: Path) -> None:
    """Kim is chosen in the first; the second has only Lee, whose one unit is right."""
    gold = write(tmp_path / "gold.json", {"kim": KIM, "lee": LEE}, {"lee": LEE[:1]})
    system = write(tmp_path / "run.json", {"model": KIM}, {"model": LEE})
    scores = score("mentions", gold, system, options={"annotator": "kim"})
    assert scores.metrics["micro.recall"] == 1.0  # 2 of 2
    assert scores.metrics["micro.precision"] == pytest.approx(2 / 3)
    (noted,) = scores.verdict.findings
    assert (noted.code, noted.side, noted.blocking) == ("OPT117", "reference", False)
    assert noted.message.startswith("1 document with annotation of others, but none of kim: ")
    chosen = score("mentions", gold, system, options={"annotator": "lee"})
    assert not chosen.verdict.findings  # lee has annotated both, and the system names neither
    alone = write(tmp_path / "alone.json", {"kim": KIM}, {"lee": LEE[:1]})
    assert score("mentions", alone, system).metrics["micro.recall"] == 1.0


@pytest.mark.parametrize("name", ["ki", "KIM", ""])
def test_a_name_that_nobody_has_chooses_nothing(name: str, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", {"kim": KIM, "lee": LEE})
    system = write(tmp_path / "run.json", {"model": KIM})
    with pytest.raises(Refused) as refused:
        score("mentions", gold, system, options={"annotator": name})
    codes = {item.code for item in refused.value.verdict.findings if item.blocking}
    assert codes == ({"GEN410", "OPT114"} if name else {"GEN410"})


def test_a_name_that_is_needed_nowhere_is_looked_up_too(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", {"kim": KIM})
    with pytest.raises(Refused) as refused:
        score("mentions", gold, gold, options={"annotator": "lee"})
    assert {item.code for item in refused.value.verdict.findings} == {"OPT114"}


def test_systems_are_compared_with_the_chosen_one(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", {"kim": KIM, "lee": LEE})
    systems = [write(tmp_path / f"{n}.json", {"m": own}) for n, own in (("a", KIM), ("b", LEE))]
    result = compare("mentions", gold, systems, options={"annotator": "lee"})
    assert {item.name: item.value for item in result.systems} == {"a": 0.0, "b": 1.0}


def test_agreement_takes_all_annotators_of_a_file(tmp_path: Path) -> None:
    both = write(tmp_path / "two.json", {"kim": KIM, "lee": LEE})
    result = agreement("mentions", [both])
    assert [*result.annotators] == ["kim", "lee"]
    assert result.findings == ()
