"""Names of a header are corrected only where it is certain which columns they mean."""

from __future__ import annotations

import pytest

from hlteval.syntax.tsv import Column, Table
from hlteval.syntax.tsv_mistakes import diagnose

TABLE = Table(
    (
        Column("speaker"),
        Column("status", pattern="adhere|violate"),
        Column("start", "number"),
        Column("note", pattern=".*"),
    ),
    header="required",
)
ROWS = "ann\tadhere\t1.5\tx y\nbob\tviolate\t2.5\tz\nann\tadhere\t3.5\tx\n"


def names(header: str, rows: str = ROWS) -> str | None:
    """The names that the diagnosis corrects; None if it is not about names."""
    found = diagnose(f"{header}\n{rows}", [TABLE])
    if found is None or found.codes != ["TAB103"]:
        return None
    return str(found.header.values["names"])


@pytest.mark.parametrize(
    ("header", "corrected"),
    [
        ("speaker_id\tstatus\tstart\tnote", "speaker_id for speaker"),
        ("speaker\tjudgement\tstart\tnote", "judgement for status"),
        ("speaker\tstatus\twhen\tnotes", "when for start, notes for note"),
    ],
)
def test_names_are_corrected_that_are_similar_or_whose_cells_fit_one_column(
    header: str, corrected: str
) -> None:
    assert names(header) == corrected


@pytest.mark.parametrize(
    "header",
    [
        "who\tstatus\tstart\tnote",  # any text would fit
        "speaker\tstatus\tstart\twhy",
        "who\tstatus\tstart\twhy",
        "year\tcity\tcountry\tcapital",
    ],
)
def test_names_that_have_nothing_in_common_are_not(header: str) -> None:
    assert names(header) is None


def test_cells_that_fit_two_columns_do_not_tell_which_it_is() -> None:
    two = Table((Column("start", "number"), Column("last", "number")), header="required")
    assert diagnose("x\ty\n1\t2\n3\t4\n5\t6\n", [two]) is None


def test_another_table_is_no_table_with_other_names() -> None:
    rows = "Kyoto\t1.4\tJapan\tno\nOsh\t0.3\tKyrgyzstan\tno\nLyon\t0.5\tFrance\tno\n"
    assert names("city\tpopulation\tcountry\tcapital", rows) is None
