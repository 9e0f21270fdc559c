"""The tasks coreference, segments and transcripts as users run them, on their fixtures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runs import score, validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
SUFFIXES = {"coreference": ".conll", "segments": ".rttm", "transcripts": ".txt"}
#: By hand: two of three links of either side are right; of 22.75 s, 1.75 s are missed, 1.25 s are
#: false and 2.75 s confused; of eleven words, four are wrong.
EXPECTED: dict[str, dict[str, float]] = {
    "coreference": {"muc.recall": 2 / 3, "muc.precision": 2 / 3},
    "segments": {"der": 5.75 / 22.75, "der.miss": 1.75, "der.confusion": 2.75},
    "transcripts": {"wer": 4 / 11, "words.hits": 8.0, "words.insertions": 1.0},
}


def run(task: str, **keywords: Any) -> Any:
    folder, suffix = FIXTURES / task / "valid", SUFFIXES[task]
    sides = (str(folder / f"{side}{suffix}") for side in ("reference", "submission"))
    return score(task, *sides, **keywords)


@pytest.mark.parametrize("task", EXPECTED)
def test_values_by_hand(task: str) -> None:
    metrics = run(task).metrics
    expected = EXPECTED[task]
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("task", EXPECTED)
def test_an_invalid_submission_has_its_code(task: str) -> None:
    (path,) = (FIXTURES / task / "invalid").iterdir()
    assert {item.code for item in validate(task, str(path)).findings} == {path.name[:6]}


def test_options_reach_the_metric() -> None:
    found = run("coreference", options={"singletons": "remove", "measures": "muc"})
    assert found.metrics.keys() == {f"muc.{rate}" for rate in ("recall", "precision", "f1")}
    found = run("segments", options={"collar": "0.5", "skip_overlap": "yes", "label": "equal"})
    assert found.metrics["der.confusion"] > EXPECTED["segments"]["der.confusion"]
    assert run("segments", options={"measures": "map"}).primary == "map"
    found = run("transcripts", options={"documents": "files", "contiguous": "yes"})
    assert found.metrics["words.hits"] >= EXPECTED["transcripts"]["words.hits"]


def test_stretches_of_a_file_are_evaluated(tmp_path: Path) -> None:
    (tmp_path / "all.uem").write_text("m1 1 0 5\nm2 1 0 5\n", "utf-8")
    found = run("segments", options={"evaluated": str(tmp_path / "all.uem")})
    assert found.metrics["der.total"] == 4.5 + 5.0
    assert not [note for note in found.notes if "without evaluated" in note]
