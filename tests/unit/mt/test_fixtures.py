"""Every code of machine translation has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import read
from hlteval.findings import Finding, catalogue

FIXTURES = Path(__file__).parents[3] / "fixtures"

# What each fixture raises, and where: line, column, end column (0: the file, or the whole
# submission); then E for an error, W for a warning, I for an info, and ! where it blocks.
LOREHLT_MT = """
MTF101-system.ltf.xml                  4  18  23  W
MTF102-two-documents.ltf.xml           9   5  27  E
MTF103-copied                          5  17  25  E
MTF104-no-doctype.ltf.xml              2   1   9  W
MTF104-other-form.ltf.xml              2   1  47  W
"""
ROOMS = {"lorehlt-mt": LOREHLT_MT}


def cases(*rooms: str) -> list[tuple[Path, list[str]]]:
    lines = [(room, line.split()) for room in rooms for line in ROOMS[room].strip().splitlines()]
    return [(FIXTURES / room / "invalid" / name, fields) for room, (name, *fields) in lines]


def named(case: tuple[Path, list[str]]) -> str:
    return case[0].name


def holds(path: Path, fields: list[str], findings: tuple[Finding, ...]) -> None:
    """That one finding is there and that it is the expected one, down to the column."""
    line, column, end_column, level = fields
    assert [finding.code for finding in findings] == [path.name.partition("-")[0]]
    only = findings[0]
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    assert (only.file or "").startswith(str(path))
    span = only.span
    place = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    assert place == [int(line), int(column), int(end_column)]
    assert only.help
    assert "{" not in only.message + only.help


@pytest.mark.parametrize("case", cases(*ROOMS), ids=named)
def test_a_file_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    holds(path, fields, tuple(read(str(path))[1]))


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code.startswith("MTF")}
    listed = {path for path, _ in cases(*ROOMS)}
    assert {path.name.partition("-")[0] for path in listed} == codes
    assert {path for room in ROOMS for path in FIXTURES.glob(f"{room}/invalid/*")} == listed


@pytest.mark.parametrize("room", ["lorehlt-mt"])
def test_what_is_valid_has_no_finding(room: str) -> None:
    assert read(str(FIXTURES / room / "valid"))[1] == []
