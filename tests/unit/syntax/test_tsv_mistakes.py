"""What a diagnosis of a table leaves open, and what it must not take for something else."""

from __future__ import annotations

import pytest

from hlteval.converters.situations.lorehlt.reference_tables import kinds
from hlteval.syntax.tsv import Column, Table
from hlteval.syntax.tsv_mistakes import diagnose

EXTENT = Column("extent", pattern="[A-Z]+:[0-9]+")
SCORE = Column("score", "number")
TABLE = Table((Column("run"), Column("mention"), EXTENT, SCORE))
SCORES = Table(
    (Column("file"), Column("label"), Column("llr", "number")), header="required", any_order=True
)
LINES = Table((Column("id", pattern="E[0-9]+"), Column("event", pattern=r"\w+( \w+:T[0-9])+")))


def message_values(text: str, table: Table) -> tuple[str, dict[str, object]]:
    found = diagnose(text, [table])
    assert found is not None
    (mistake,) = found.mistakes(text)
    return mistake.code, mistake.values


def repaired(text: str, table: Table) -> str | None:
    found = diagnose(text, [table])
    assert found is not None
    lines = found.repair(text, found.codes)
    return None if lines is None else "\n".join(line for _, line in lines)


def test_a_missing_column_is_named_only_as_far_as_cells_tell() -> None:
    text = "Osh\tD:3\t0.5\nUN\tD:9\t0.25\nOsh\tD:12\t1\n"
    code, values = message_values(text, TABLE)
    assert (code, values["column"]) == ("TAB110", "run (field 1) or mention (field 2)")
    code, values = message_values("r\tOsh\t0.5\nr\tUN\t0.25\nr\tOsh\t1\n", TABLE)
    assert (code, values["column"]) == ("TAB110", "extent (field 3)")


def test_a_surplus_column_is_left_out_only_if_it_is_certain_which() -> None:
    text = "r\tD\tOsh\tD:3\t0.5\nr\tD\tUN\tD:9\t0.25\n"
    code, values = message_values(text, TABLE)
    assert (code, values["column"]) == ("TAB109", "column 1, 2 or 3")
    assert values["example"] == "r, D or Osh"
    assert values["hint"] == "leave the column out"
    assert repaired(text, TABLE) is None


def test_equal_columns_are_one_too_many_whichever_goes() -> None:
    text = "r\tr\tOsh\tD:3\t0.5\nr\tr\tUN\tD:9\t0.25\n"
    assert message_values(text, TABLE)[1]["column"] == "column 1, 2 or 3"
    one = Table((Column("run"), EXTENT))
    assert repaired("r\tr\tD:3\ns\ts\tD:9\n", one) == "r\tD:3\ns\tD:9\n"


def test_spaces_between_cells_that_have_spaces_are_undone_where_no_cell_has() -> None:
    text = "r Osh D:3 0.5\nr Red Cross D:9 0.25\nr the UN D:12 1\n"
    code, values = message_values(text, TABLE)
    assert (code, values["wrong"], values["count"]) == ("TAB102", "spaces", 3)
    hint = "separate cells by tabs; --fix does so where no cell can have a space"
    assert values["hint"] == hint
    wanted = "r\tOsh\tD:3\t0.5\nr Red Cross D:9 0.25\nr the UN D:12 1\n"
    assert repaired(text, TABLE) == wanted


def test_several_spaces_separate_cells_that_have_one() -> None:
    text = "r  Osh        D:3   0.5\nr  Red Cross  D:9   0.25\nr  the UN     D:12  1\n"
    code, values = message_values(text, TABLE)
    assert (code, values["wrong"]) == ("TAB102", "several spaces")
    assert (
        repaired(text, TABLE) == "r\tOsh\tD:3\t0.5\nr\tRed Cross\tD:9\t0.25\nr\tthe UN\tD:12\t1\n"
    )


def test_spaces_are_separators_up_to_the_last_cell_if_only_that_has_some() -> None:
    text = "E1 Binding A:T1 B:T2\nE2 Binding A:T3\n"
    assert message_values(text, LINES)[0] == "TAB102"
    assert repaired(text, LINES) == "E1\tBinding A:T1 B:T2\nE2\tBinding A:T3\n"


@pytest.mark.parametrize("sign", [",", ";", "|"])
def test_signs_in_cells_are_no_separators_below_a_header_with_tabs(sign: str) -> None:
    kind = kinds()["mentions"]
    text = "\t".join(kind.headings) + f"\nD{sign}1\tEnt-1\tMen-1\tPER\tNAM\tx\t3\tAnn\n"
    found = diagnose(text, [kind.declaration])
    assert found is None or "TAB102" not in found.codes


def test_one_line_with_spaces_is_no_mistake_of_all_lines() -> None:
    found = diagnose("E1\tBinding A:T1\nE2 Binding A:T2\nE3\tBinding A:T3\n", [LINES])
    assert found is None or found.codes == []


@pytest.mark.parametrize(
    ("cells", "meant"), [("178% -5% 9%", "1.78 -0.05 0.09"), ("58% 21% 97%", "0.58 0.21 0.97")]
)
def test_a_sign_of_percent_is_no_exchange(cells: str, meant: str) -> None:
    """A label may be any text, so that it and a score could be exchanged."""
    text = "file\tlabel\tllr\n" + "".join(f"a\t101\t{cell}\n" for cell in cells.split())
    code, values = message_values(text, SCORES)
    assert (code, values["column"]) == ("TAB107", "llr")
    wanted = "".join(f"a\t101\t{value}\n" for value in meant.split())
    assert repaired(text, SCORES) == f"file\tlabel\tllr\n{wanted}"


def test_numbers_of_columns_are_a_header() -> None:
    """As programs write it for columns without names."""
    text = "0\t1\t2\na\tx\t0.5\na\ty\t0.25\n"
    code, values = message_values(text, SCORES)
    assert (code, values["names"]) == ("TAB103", "0 for file, 1 for label, 2 for llr")
    assert repaired(text, SCORES) == "file\tlabel\tllr\na\tx\t0.5\na\ty\t0.25\n"
    text = "0\t1\t2\t3\nr\tOsh\tD:3\t0.5\nr\tUN\tD:9\t0.25\n"
    assert message_values(text, TABLE)[0] == "TAB105"
    assert repaired(text, TABLE) == "r\tOsh\tD:3\t0.5\nr\tUN\tD:9\t0.25\n"


def test_a_word_may_be_one_of_several_in_a_cell() -> None:
    status = Column("status", usual="(?:adhere|violate)(?:,(?:adhere|violate))*")
    known = Table(
        (Column("file"), Column("status", usual=status.usual, words=("adhere", "violate")))
    )
    text = "a\tAdhere\nb\tVIOLATE\nc\tAdhere\n"
    assert message_values(text, known)[0] == "TAB111"
    assert repaired(text, known) == "a\tadhere\nb\tviolate\nc\tadhere\n"


@pytest.mark.parametrize("first", ["E1 Binding Agent:T2", "Binding of T2", "E1"])
def test_a_first_line_without_separators_is_no_header(first: str) -> None:
    """To leave it out as a header would lose its record."""
    text = f"{first}\nE2\tBinding Agent:T3\nE3\tBinding Agent:T4\nE4\tBinding Agent:T5\n"
    found = diagnose(text, [LINES])
    assert found is None or "TAB105" not in found.codes


def test_columns_are_put_in_order_without_the_optional_one() -> None:
    table = Table(
        (Column("name", pattern="[a-z]+"), SCORE, Column("note", optional=True)), header="required"
    )
    text = "score\tname\n0.5\ta\n0.25\tb\n1\tc\n"
    assert message_values(text, table)[0] == "TAB108"
    assert repaired(text, table) == "name\tscore\na\t0.5\nb\t0.25\nc\t1\n"
