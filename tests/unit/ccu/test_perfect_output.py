"""What is made of a reference: the output of a perfect system, and itself as it is scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read, score, validate
from hlteval.representation import Corpus

REFERENCE = Path(__file__).parents[3] / "fixtures/ccu-reference/valid/annotation"
PRIMARY = {"nd": "map", "ed": "map", "vd": "ccc", "ad": "ccc", "cd": "cd.ap"}


def perfect(folder: Path, **settings: str) -> str:
    output = str(folder / "-".join(["output", *settings.values()]))
    convert(str(REFERENCE), output, to_format="ccu-submission", settings=settings)
    return output


def instances(path: str) -> list[tuple[object, ...]]:
    corpus: Corpus = read(path)[0]
    return corpus.instances.select("label", "start", "end", "status", "llr").rows()


def test_norms_are_merged_as_they_are_scored_or_kept(tmp_path: Path) -> None:
    merged = perfect(tmp_path, task="nd")
    assert instances(merged) == [
        ("101", 0.0, 30.0, "adhere", 1.0),
        ("102", 0.0, 99.0, "adhere", 1.0),
    ]
    kept = perfect(tmp_path, task="nd", merge="no")
    assert [row[1:3] for row in instances(kept)] == [(0.0, 15.0), (15.5, 30.0), (0.0, 99.0)]


def test_emotions_are_those_of_two_annotators(tmp_path: Path) -> None:
    labels = [row[0] for row in instances(perfect(tmp_path, task="ed"))]
    assert labels == ["joy", "anger"]


def test_levels_are_means_that_cover_the_document(tmp_path: Path) -> None:
    corpus: Corpus = read(perfect(tmp_path, task="vd"))[0]
    rows = corpus.ratings.select("document", "start", "end", "level").rows()
    assert rows[:2] == [(0, 0.0, 15.5, 333.0), (0, 15.5, 60.5, 500.0)]
    assert rows[-1][2] == 249.0  # the last character


@pytest.mark.parametrize("task", ["nd", "ed", "cd"])
def test_the_score_of_perfect_output_is_1(task: str, tmp_path: Path) -> None:
    output = perfect(tmp_path, task=task)
    for profile in ("plan", "official"):  # its scores have a point, which `official` demands
        found = validate(f"ccu-{task}", output, against=str(REFERENCE), profile=profile)
        assert found.passed
        assert not {"CCU509"} & {finding.code for finding in found.findings}
    result = score(f"ccu-{task}", str(REFERENCE), output)
    assert result.metrics[PRIMARY[task]] == pytest.approx(1.0)


def test_the_reference_as_it_is_scored_has_a_segment_for_each_instance(tmp_path: Path) -> None:
    output = str(tmp_path / "scored")
    settings = {"judgments": "as-scored"}
    findings = convert(str(REFERENCE), output, to_format="ccu-reference", settings=settings)
    assert [f.message for f in findings if f.code == "CNV103"] == [
        "ccu-reference cannot represent 23 judgments, collapsed and merged as in scoring, "
        "with whole levels"
    ]
    corpus, found = read(output)
    assert found == []
    norms = corpus.instances.filter(kind="norm").select("label", "start", "end").rows()
    assert norms == [
        ("101", 0.0, 30.0), ("none", 30.0, 45.0), ("102", 0.0, 99.0), ("noann", 100.0, 199.0)
    ]  # fmt: skip
    emotions = corpus.instances.filter(kind="emotion", label="joy")
    assert emotions["annotator"].to_list() == ["scored-1", "scored-2"]
    again = str(tmp_path / "again")
    convert(output, again, to_format="ccu-reference", settings=settings)
    assert read(again)[0].instances.drop("origin").equals(corpus.instances.drop("origin"))
