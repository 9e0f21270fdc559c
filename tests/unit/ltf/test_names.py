"""A document id unlike its file name is one problem, whose fix agrees with the texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import runs as validation

VALID = Path(__file__).parents[3] / "fixtures" / "ltf" / "valid"

# The id in each file, the code of the only finding, and its fix; the texts are water-1 and water-2.
CASES = {
    "id": (
        {"water-1": "x9", "water-2": "water-2"},
        "LTF208",
        "write water-1, the name of this file and of a text",
    ),
    "all-ids": (
        {"water-1": "x9"},
        "REF104",
        "write the name of the file as the document id in water-1.ltf.xml: water-1",
    ),
    "file": ({"x9": "water-1"}, "LTF201", "rename the file to water-1.ltf.xml"),
    "exchanged": (
        {"water-2": "water-1"},
        "LTF201",
        "rename the file to water-1.ltf.xml, or correct the id",
    ),
}


def _run(folder: Path, ids: Mapping[str, str]) -> str:
    folder.mkdir()
    for name, written in ids.items():
        origin = VALID / f"{written if written != 'x9' else name}.ltf.xml"
        text = origin.read_text("utf-8")
        text = text.replace('id="water-1"', f'id="{written}"')
        (folder / f"{name}.ltf.xml").write_text(text, "utf-8")
    return str(folder)


@pytest.mark.parametrize("batch", [1, 500])
@pytest.mark.parametrize("case", CASES)
def test_the_fix_is_that_of_the_texts(case: str, batch: int, tmp_path: Path) -> None:
    ids, code, fix = CASES[case]
    verdict = validation.validate(
        "ltf", _run(tmp_path / "run", ids), against=str(VALID), batch=batch
    )
    (only,) = verdict.findings
    assert (only.code, (only.help or "").replace(f"{tmp_path / 'run'}/", "")) == (code, fix)


def test_both_names_may_be_wrong_where_no_text_has_them(tmp_path: Path) -> None:
    found = validation.validate("ltf", _run(tmp_path / "run", {"water-1": "x9"})).findings
    expected = ("LTF201", "rename the file to x9.ltf.xml, or correct the id")
    assert [(item.code, item.help) for item in found] == [expected]


def test_annotations_of_an_unknown_document_name_the_text_of_their_file(tmp_path: Path) -> None:
    text = (VALID.parents[1] / "laf" / "valid" / "water-1.laf.xml").read_text("utf-8")
    run = tmp_path / "run"
    run.mkdir()
    for name, written in (("water-1", "x9"), ("water-2", "water-2")):
        copy = text.replace('id="water-1"', f'id="{written}"', 1)
        (run / f"{name}.laf.xml").write_text(copy, "utf-8")
    found = validation.validate("laf", str(run), against=str(VALID)).findings
    unknown = [item.help for item in found if item.code == "LAF201"]
    assert unknown == ["write water-1, the name of this file and of a text"]


@pytest.mark.parametrize(("batch", "jobs"), [(1, 1), (1, 2), (500, 1)])
def test_a_document_in_two_files_is_reported_once_in_all_batches(
    batch: int, jobs: int, tmp_path: Path
) -> None:
    run = _run(tmp_path / "run", {"water-1": "water-1"})
    copy = (VALID / "water-1.ltf.xml").read_bytes()
    (tmp_path / "run" / "a.ltf.xml").write_bytes(copy)
    found = validation.validate("ltf", run, batch=batch, jobs=jobs).findings
    (only,) = [item for item in found if item.code == "LTF105"]
    assert only.file == str(tmp_path / "run" / "water-1.ltf.xml")
    assert "a.ltf.xml" in only.message
