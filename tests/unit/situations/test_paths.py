"""Where Appen annotations are written: where they are read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.representation import Corpus


def corpus(member: str, *names: str) -> Corpus:
    return Corpus(
        sources=[{"row": 0, "path": "in", "member": member, "format": "appen", "sha256": ""}],
        documents=[{"row": at, "origin": 0 if at == 0 else None, "name": name}
                   for at, name in enumerate(names)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("member", "names", "expected"),
    [
        ("D1.txt", ["D1"], ["D1.txt"]),
        ("x/ANNOTATION/D1.txt", ["D1"], ["x/ANNOTATION/D1.txt"]),
        ("x/ANNOTATION/D1.txt", ["D1", "D2"], ["ALL/ANNOTATION/D2.txt", "x/ANNOTATION/D1.txt"]),
        ("D1.txt", ["D1", "D2"], ["ALL/ANNOTATION/D1.txt", "ALL/ANNOTATION/D2.txt"]),
        ("N/A", ["D1"], ["ALL/ANNOTATION/D1.txt"]),
        ("D2.txt", ["D1"], ["ALL/ANNOTATION/D1.txt"]),
    ],
    ids=["bare", "in its folder", "another beside", "a bare one beside", "no text", "another name"],
)
def test_what_is_written_is_read(
    tmp_path: Path, member: str, names: list[str], expected: list[str]
) -> None:
    out = tmp_path / "out"
    convert(corpus(member, *names), out, to_format="appen")
    written = sorted(file.relative_to(out).as_posix() for file in out.rglob("*.txt"))
    assert written == expected
    again, findings = read(out, from_format="appen")
    assert sorted(again.documents["name"]) == names
    assert not findings


def test_a_name_with_a_folder_is_listed_as_lost(tmp_path: Path) -> None:
    found = convert(corpus("x", "a/b", "c"), tmp_path / "out", to_format="appen")
    assert [f.message for f in found if "valid file name" in f.message]
    assert [file.name for file in (tmp_path / "out").rglob("*.txt")] == ["c.txt"]


def test_a_list_names_no_document_with_a_null_character(tmp_path: Path) -> None:
    found = convert(corpus("x", "a\0b", "c"), tmp_path / "d.list", to_format="document-list")
    assert [f.code for f in found] == ["CNV103", "COR108"]
    assert (tmp_path / "d.list").read_text() == "c\n"


def test_tables_of_a_document_whose_name_has_a_space_are_read(tmp_path: Path) -> None:
    """They were written, but rows of such a document were errors (LSF507)."""
    frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "situation"}
    given = corpus("x", "ENG D1").replace(
        frames=[{**frame, "frame": "Frame 1", "label": "food", "place": "Osh"}]
    )
    convert(given, tmp_path / "out", to_format="lorehlt-sf-reference")
    again, findings = read(tmp_path / "out", from_format="lorehlt-sf-reference")
    assert not findings
    assert again.documents["name"].to_list() == ["ENG D1"]
    assert again.frames["frame"].to_list() == ["Frame 1"]
