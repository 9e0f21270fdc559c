"""Progress: the documents that are done, and how many there are where that is known."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlteval.workflows.convert.conversion import convert
from tests.runs import compare, score, validate_all

ROOT = Path(__file__).parents[3]
FIXTURES, DEMO = ROOT / "fixtures", ROOT / "hlteval" / "demo"
FULL = str(FIXTURES / "standoff" / "valid" / "full")

Steps = list[tuple[int, int | None]]


@pytest.fixture
def steps() -> Steps:
    return []


def test_the_total_of_files_by_document_is_known_before_they_are_read(steps: Steps) -> None:
    score("seedev-full", FULL, FULL, batch=1, step=lambda *given: steps.append(given))
    assert steps == [(1, 2), (2, 2)]


def test_a_document_of_one_side_counts_too(steps: Steps, tmp_path: Path) -> None:
    (tmp_path / "other.a2").write_text("", "utf-8")
    shutil.copy(next(Path(FULL).glob("*.a2")), tmp_path)
    score("seedev-full", FULL, str(tmp_path), lenient=True, step=lambda *given: steps.append(given))
    assert steps[-1] == (3, 3)


def test_several_submissions_are_one_piece_of_work(steps: Steps, tmp_path: Path) -> None:
    for file in Path(FULL).glob("*.a2"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    submissions = [FULL, str(tmp_path)]
    settings = {"against": FULL, "batch": 1, "step": lambda *given: steps.append(given)}
    validate_all("seedev-full", submissions, **settings)
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    steps.clear()
    del settings["against"]
    compare("seedev-full", FULL, submissions, **settings)
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_conversions_count_documents(steps: Steps, tmp_path: Path) -> None:
    convert(FULL, str(tmp_path / "brat"), to_format="brat", step=lambda *given: steps.append(given))
    assert steps[-1] == (2, 2)
    steps.clear()
    path = str(DEMO / "entities" / "system.tab")
    convert(path, str(tmp_path / "x.jsonl"), step=lambda *given: steps.append(given))
    assert steps
    assert {total for _, total in steps} == {None}


def test_a_total_that_only_reading_tells_is_unknown(steps: Steps) -> None:
    texts = str(DEMO / "entities" / "texts")
    path = str(DEMO / "entities" / "flawed.tab")
    settings = {"against": texts, "step": lambda *given: steps.append(given)}
    validate_all("lorehlt-edl", [path], **settings)
    assert [total for _, total in steps] == [None]
    steps.clear()
    validate_all("lorehlt-edl", [path, path, path], **settings)
    assert steps == [(1, 3), (2, 3), (3, 3)]
