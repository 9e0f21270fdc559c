"""Tables of tab-separated values: headers, counts of cells, invalid cells, and their places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from hlteval.sources import Member
from hlteval.syntax.tsv import Column, Table, is_blank

TABLE = Table(
    (
        Column("name", heading="file_id", pattern="[^\t]+"),
        Column("start", "integer", code="NEL103"),
        Column("score", "number", nullable=True, code="NEL105"),
    ),
    code="SFT102",
    header="required",
    header_code="SFT101",
)
HEADER = "file_id\tstart\tscore"


def read(*lines: str, table: Table = TABLE) -> list[tuple[object, ...]]:
    return table.read("\n".join(lines)).rows.rows()


def problems(*lines: str, table: Table = TABLE) -> list[tuple[object, ...]]:
    """Code, line, first and last column, as findings have them."""
    found = table.read("\n".join(lines)).findings(Member("", "x.tab", 0, bytes))
    return [(f.code, f.span.line, f.span.column, f.span.end_column) for f in found if f.span]


def test_rows_have_the_types_of_their_columns():
    parsed = TABLE.read(f"{HEADER}\nd1\t007\t.5\nd2\t3\t\n")
    assert parsed.rows.rows() == [(2, "d1", 7, 0.5), (3, "d2", 3, None)]
    assert parsed.rows.dtypes == [pl.Int64, pl.String, pl.Int64, pl.Float64]
    assert TABLE.read(HEADER).rows.schema == parsed.rows.schema


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("d1\t1", ("SFT102", 2, 1, 5)),
        ("d1\t1\t1\t", ("SFT102", 2, 1, 8)),
        ("\t1\t1", ("SFT102", 2, 1, 5)),
        ("d1\tone\t1", ("NEL103", 2, 4, 7)),
        ("d1\t\t1", ("NEL103", 2, 4, 4)),
        ("d1\t1\t0,5", ("NEL105", 2, 6, 9)),
        ("d1\t1\t0.5\r0.6", ("NEL105", 2, 6, 13)),
        ("d1\t1\tnan", ("NEL105", 2, 6, 9)),
        ("d1\t1\t1_0", ("NEL105", 2, 6, 9)),
        ("d1\t\u0661\t1", ("NEL103", 2, 4, 5)),
        ("d1\t1234567890123456\t1", ("NEL103", 2, 4, 20)),
        ("d1\t1\t1e999", ("NEL105", 2, 6, 11)),
    ],
)
def test_a_line_that_is_not_valid_has_no_row(line: str, found: tuple[object, ...]):
    assert problems(HEADER, line, "d2\t1\t1") == [found]
    assert read(HEADER, line, "d2\t1\t1") == [(3, "d2", 1, 1.0)]


def test_a_line_has_all_its_problems_in_order():
    assert [code for code, *_ in problems(HEADER, "d1\tx\ty")] == ["NEL103", "NEL105"]
    parsed = TABLE.read(f"{HEADER}\nd1\tx\ty\n")
    (record,) = parsed.rejected_records("row", origin=2, first=7, id_column="name").to_dicts()
    assert {"row": 7, "origin": 2, "record": 2, "code": "NEL103", "id": "d1"}.items() <= (
        record.items()
    )


@pytest.mark.parametrize("text", [f"{HEADER}\r\nd1\t1\t1\r\n", f"{HEADER}\nd1\t1\t1\r", f"{HEADER}\n\n \t\u3000\nd1\t1\t1"])  # fmt: skip  # noqa: E501
def test_line_ends_and_empty_lines_do_not_count(text: str):
    parsed = TABLE.read(text)
    assert parsed.rows.drop("record").rows() == [("d1", 1, 1.0)]
    assert parsed.problems == []


def test_empty_lines_may_be_problems_or_lines():
    loud = replace(TABLE, empty_code="EDL103")
    assert problems(HEADER, "", " ", table=loud) == [("EDL103", 2, 1, 1), ("EDL103", 3, 1, 1)]
    exact = replace(TABLE, blank_is_empty=False)
    assert problems(HEADER, "", " ", table=exact) == [("SFT102", 3, 1, 2)]


@pytest.mark.parametrize("first", ["", "file_id\tstart", "FILE_ID\tstart\tscore", "d1\t1\t1"])
def test_without_its_header_a_table_is_not_read(first: str):
    assert problems(first, "d1\t1\t1") == [("SFT101", 1, 1, len(first) + 1)]
    assert read(first, "d1\t1\t1") == []


def test_an_optional_header_is_recognised():
    table = replace(TABLE, header="optional", exact=False)
    assert read("File_ID\tstart \tSCORE", "d1\t1\t1", table=table) == [(2, "d1", 1, 1.0)]
    assert read("d1\t1\t1", table=table) == [(1, "d1", 1, 1.0)]


ANY_ORDER = replace(TABLE, any_order=True)


def test_a_header_may_tell_the_order_of_columns():
    assert read("score\tstart\tfile_id", ".5\t1\td1", table=ANY_ORDER) == [(2, "d1", 1, 0.5)]
    assert read("start\tfile_id", "1\td1", table=ANY_ORDER) == [(2, "d1", 1, None)]
    assert problems("score\tstart\tfile_id", ".5\tx\td1", table=ANY_ORDER) == [("NEL103", 2, 4, 5)]


@pytest.mark.parametrize(
    ("first", "missing", "unknown"),
    [
        ("start\tscore", "file_id", ""),
        ("file_id\tstart\tllr", "", "llr"),
        ("file_id\tstart\tstart", "", ""),
    ],
)
def test_a_header_names_all_columns_once(first: str, missing: str, unknown: str):
    (problem,) = ANY_ORDER.read(f"{first}\nd1\t1\t1\n").problems
    assert problem.code == "SFT101"
    assert (problem.values["missing"], problem.values["unknown"]) == (missing, unknown)


def test_lines_of_a_ragged_table_have_any_length():
    table = replace(ANY_ORDER, ragged=True)
    lines = ("x\tfile_id\tstart\tscore\ty", "?\td1\t1", "?\td1\t1\t.5\t?\t?", "?", "?\td1")
    assert read(*lines, table=table) == [(2, "d1", 1, None), (3, "d1", 1, 0.5)]
    assert problems(*lines, table=table) == [
        ("SFT102", 4, 1, 2), ("NEL103", 4, 2, 2), ("NEL103", 5, 5, 5)
    ]  # fmt: skip


def test_a_line_may_end_before_optional_cells():
    columns = (Column("name"), Column("score", "number", optional=True, code="NEL105"))
    table = Table(columns, code="SFT102")
    assert read("d1", "d1\t1", table=table) == [(1, "d1", None), (2, "d1", 1.0)]
    assert problems("d1\t", "d1\t1\t2", table=table) == [("NEL105", 1, 4, 4), ("SFT102", 2, 1, 7)]
    rows = pl.DataFrame({"name": ["d1", "d1"], "score": [None, 1.0]})
    assert table.lines(rows).to_list() == ["d1", "d1\t1.0"]


def test_a_tolerated_cell_is_reported_and_read():
    label = Column("label", pattern="A|B", code="NEL105", tolerated=True)
    table = Table((label, Column("start", "integer")), code="SFT102")
    assert read("C\t1", "AB\tx", table=table) == [(1, "C", 1)]
    assert problems("C\t1", "AB\tx", table=table) == [
        ("NEL105", 1, 1, 2), ("SFT102", 2, 1, 5), ("NEL105", 2, 1, 3)
    ]  # fmt: skip


def test_a_format_may_explain_its_lines():
    table = Table(
        (Column("name", pattern="[a-z]+"),), explain=lambda _, line: ([[line.lower()]] * 2, [])
    )
    assert read("a", "B", "c", table=table) == [(1, "a"), (2, "b"), (2, "b"), (3, "c")]


def test_cells_are_found_by_the_names_of_their_columns():
    assert TABLE.stretch("d1\t10\t0.5", "start") == (3, 5)
    assert TABLE.stretch("d1\t10\t0.5", "file_id") == (0, 2)
    assert TABLE.stretch("d1\t10", "score") == TABLE.stretch("d1\t10", "other") == (0, 5)


def test_a_table_is_written_as_it_is_declared(tmp_path: Path):
    rows = pl.DataFrame(
        {"score": [None, 1e-9, 0.25], "name": ["d1", "d2", "d3"], "start": [1, 2, 3]}
    )
    TABLE.write([rows[:1], rows[1:]], tmp_path / "out.tab")
    written = (tmp_path / "out.tab").read_bytes()
    assert written == f"{HEADER}\nd1\t1\t\nd2\t2\t1e-09\nd3\t3\t0.25\n".encode()
    assert TABLE.read(written.decode()).rows.select(rows.columns).equals(rows)


def test_a_long_cell_is_quoted_in_part():
    (problem,) = TABLE.read(f"{HEADER}\nd1\t{'x' * 999}\t1\n").problems
    assert problem.values == {"given": "x" * 80 + "…", "column": "start"}


def test_white_space_is_what_polars_strips():
    characters = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    stripped = pl.Series(characters).str.strip_chars() == ""
    assert [is_blank(character) for character in characters] == stripped.to_list()


@pytest.mark.parametrize(("code", "asked"), [("", []), ("SFT104", [""])])
def test_empty_lines_are_not_split_into_cells_unless_they_are_problems(code, asked, monkeypatch):
    lines: list[str] = []
    is_empty = Table.is_empty

    def noted(table: Table, line: str) -> bool:
        lines.append(line)
        return is_empty(table, line)

    monkeypatch.setattr(Table, "is_empty", noted)
    table = Table((Column("name"), Column("score", "number")), code="SFT102", empty_code=code)
    parsed = table.read("a\t1\n\n\nb\t2\n\n")
    assert lines == asked
    assert parsed.rows["record"].to_list() == [1, 4]
    assert [problem.record for problem in parsed.problems] == [2, 3, 5] * bool(code)
