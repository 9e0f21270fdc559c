"""Entities that are written in several ways, and mention strings beside the length of extents."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import validate


def row(number: int, string: str, extent: str, entity: str = "9000", label: str = "GPE") -> str:
    return f"T\tm{number}\t{string}\tD1:{extent}\t{entity}\t{label}\tNAM\t1.0\n"


def codes(tmp_path: Path, *rows: str) -> dict[str, int]:
    path = tmp_path / "run.tab"
    path.write_text("".join(rows), "utf-8")
    return dict(validate("lorehlt-edl", str(path)).by_code)


@pytest.mark.parametrize(
    ("entities", "expected"),
    [
        (("9000", "0009000"), 1),
        (("9000", "0009000", "09000"), 2),
        (("NIL1", "NIL001"), 1),
        (("0009000", "09000"), 2),
        (("0009000", "0009000"), 0),
        (("9000", "90000"), 0),
        (("NIL9000", "9000"), 0),
    ],
)
def test_a_number_with_zeros_beside_another_form(entities, expected: int, tmp_path: Path) -> None:
    rows = [row(at, "Paris", f"{10 * at}-{10 * at + 4}", e) for at, e in enumerate(entities, 1)]
    assert codes(tmp_path, *rows).get("EDL317", 0) == expected


def test_a_nil_entity_has_one_type(tmp_path: Path) -> None:
    first, second = row(1, "Paris", "10-14", "NIL1"), row(2, "Paris", "20-24", "NIL1", "PER")
    assert codes(tmp_path, first, second) == {"EDL318": 1}
    (found,) = validate("lorehlt-edl", str(tmp_path / "run.tab")).findings
    assert found.message == "type PER, but the first mention of NIL1 has GPE (mentions: 2)"
    assert codes(tmp_path, first, second.replace("NIL1", "NIL2")) == {}
    # An entry of the knowledge base has its type there.
    assert codes(tmp_path, row(1, "Paris", "10-14"), row(2, "Paris", "20-24", label="PER")) == {}


@pytest.mark.parametrize(
    ("string", "extent", "fits"),
    [
        ("Paris", "10-14", True),
        ("Paris", "10-15", False),
        ("Paris", "10-13", False),
        ("New York", "10-17", True),
        ("New York", "10-19", True),  # several spaces in the text
        ("New York", "10-16", False),
        ("Bosnie-Hercegovine", "10-28", True),  # a line break after the hyphen
        ("카불", "10-11", True),
        ("😀😀", "10-13", False),  # in UTF-16 code units
    ],
)
def test_a_string_has_the_length_of_its_extent(
    string: str, extent: str, fits: bool, tmp_path: Path
) -> None:
    assert codes(tmp_path, row(1, string, extent)) == ({} if fits else {"EDL319": 1})


def test_another_convention_is_reported_once(tmp_path: Path) -> None:
    exclusive = [row(at, "Paris", f"{10 * at}-{10 * at + 5}") for at in range(1, 12)]
    path = tmp_path / "run.tab"
    path.write_text("".join(exclusive) + row(12, "Lyon", "200-213"), "utf-8")
    found = validate("lorehlt-edl", str(path)).findings
    assert [(item.span.line, item.code) for item in found] == [(1, "EDL319"), (12, "EDL319")]
    assert "all offsets of 11 mentions differ alike" in str(found[0].help)
    assert "write the offsets" in str(found[1].help)
