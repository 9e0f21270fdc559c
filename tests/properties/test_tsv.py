"""What holds of all tables: lines read in bulk and one by one agree; rows come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import polars as pl
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hlteval.sources import Member
from hlteval.syntax import tsv as tsv_lines
from hlteval.syntax.tsv import Column, Lines, Table
from tests.effort import tries

FEW = settings(max_examples=tries(50), deadline=None)
PATTERNS = ("", "[^\t]+", "GPE|LOC", "[a-z ]*", "[0-9]{1,2}")
NUMBERS = ("0.5", "1", "1.", ".5", "-2e-3", "+0", "1e99", "1e999", "nan", "0x1", "1_0", " 1", "")
WORDS = st.sampled_from(["GPE", "LOC", "ab", "a b", "", " ", "7", "12", "007", *NUMBERS])
ANY = st.text(
    st.sampled_from("\r\x85\u2028\ufeff")
    | st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n"),
    max_size=4,
)
CELL = WORDS | ANY


@st.composite
def columns(draw, index: int) -> Column:
    kind = draw(st.sampled_from(["text", "integer", "number"]))
    return Column(
        f"c{index}",
        kind,
        pattern=draw(st.sampled_from(PATTERNS)) if kind == "text" else "",
        code=draw(st.sampled_from(["", "NEL103", "NEL105"])),
        nullable=draw(st.booleans()),
        tolerated=kind == "text" and draw(st.booleans()),
        heading=draw(st.sampled_from(["", f"Column {index}"])),
    )


@st.composite
def tables(draw) -> Table:
    width = draw(st.integers(1, 4))
    found = [draw(columns(index)) for index in range(width)]
    last = draw(st.integers(1, width))
    found[last:] = [
        Column(c.name, c.kind, c.pattern, c.code, optional=True) for c in found[last:]
    ]  # fmt: skip
    return Table(
        tuple(found),
        code="SFT102",
        header=draw(st.sampled_from(["none", "optional", "required"])),
        header_code="SFT101",
        exact=draw(st.booleans()),
        any_order=draw(st.booleans()),
        ragged=draw(st.booleans()),
        empty_code=draw(st.sampled_from(["", "EDL103"])),
        blank_is_empty=draw(st.booleans()),
    )


@st.composite
def files(draw, table: Table) -> str:
    """Lines of about the right number of cells, after a header or none; and a mutation."""
    width = len(table.columns)
    line = st.lists(CELL, min_size=max(width - 1, 0), max_size=width + 1).map("\t".join)
    lines = draw(st.lists(line | st.sampled_from(["", " ", "\t"]), max_size=6))
    if table.header != "none" and draw(st.integers(0, 9)):
        order = draw(
            st.permutations(table.headings) if table.any_order else st.just(table.headings)
        )
        lines.insert(0, "\t".join(order))
    text = "".join(line + draw(st.sampled_from(["\n", "\n", "\r\n"])) for line in lines)
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from(["", "", "\t", "\n", "\r", "x"])) + text[at:]


CASES = tables().flatmap(lambda table: st.tuples(st.just(table), files(table)))
ONE = Table((Column("c0", "number"),), code="SFT102")


@FEW
@given(CASES)
@example((ONE, "1e999\n1.\n.5\n \n\n1\r\n1\r"))
def test_the_bulk_and_the_explained_lines_agree(case: tuple[Table, str]) -> None:
    table, text = case
    fast = table.read(text)
    with patch.object(Table, "_fits", lambda _: pl.col("line").is_null()):  # all are explained
        slow = table.read(text)
    assert fast.rows.equals(slow.rows)
    assert fast.rows.schema == slow.rows.schema
    assert fast.problems == slow.problems
    assert list(fast.rejected) == list(slow.rejected)
    member = Member("", "x", 0, bytes)
    assert fast.findings(member) == slow.findings(member)


@FEW
@given(CASES, st.integers(0, 30))
@example((ONE, "1\n2\n\nx\nx"), 0)
def test_the_slices_of_a_text_do_not_show(case: tuple[Table, str], size: int) -> None:
    table, text = case
    whole = table.read(text)
    with patch.object(tsv_lines, "SLICE", size):
        sliced = table.read(text)
        assert sliced.rows.equals(whole.rows)
        assert sliced.rows.schema == whole.rows.schema
        assert sliced.problems == whole.problems
        assert sliced.rejected_records("row").equals(whole.rejected_records("row"))
        assert list(sliced.lines) == list(whole.lines)
        member = Member("", "x", 0, bytes)
        assert sliced.findings(member) == whole.findings(member)


@FEW
@given(st.text("ab\r\n\t\u20ac"), st.integers(0, 9), st.integers(1, 9), st.data())
def test_lines_are_those_of_the_text(text: str, size: int, most: int, data: st.DataObject) -> None:
    written = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    expected = written if text else []
    with patch.object(tsv_lines, "MOST", most):
        lines = Lines(text, size)
        assert list(lines) == expected
    assert len(lines) == len(expected)
    assert [lines[at] for at in range(len(lines))] == expected
    assert all(len(some) <= most for _, some in lines.slices())
    numbers = data.draw(st.lists(st.integers(0, len(expected) - 1))) if expected else []
    assert lines.gather(numbers).to_list() == [expected[at] for at in numbers]


@FEW
@given(CASES)
def test_every_line_is_a_row_or_rejected_or_empty_or_the_header(case: tuple[Table, str]) -> None:
    table, text = case
    parsed = table.read(text)
    seen = [*parsed.rows["record"], *(record for record, _ in parsed.rejected)]
    assert len(seen) == len(set(seen))
    if any(problem.code == "SFT101" for problem in parsed.problems):
        assert not seen
        return
    lines = enumerate(parsed.lines, start=1)
    missing = [(record, line) for record, line in lines if record not in seen]
    assert all(record == 1 or table.is_empty(line) for record, line in missing)


@FEW
@given(CASES)
def test_problems_are_inside_their_lines(case: tuple[Table, str]) -> None:
    parsed = case[0].read(case[1])
    for problem in parsed.problems:
        assert 0 <= problem.start <= problem.end <= len(parsed.lines[problem.record - 1])


TWO = (Column("c0"), Column("c1", "integer", optional=True))


@FEW
@given(CASES)
@example((Table(TWO, header="required", any_order=True), "c0\nGPE\n"))
@example((Table(TWO[:1], header="optional"), "\nc0\n"))
def test_rows_are_written_as_they_were_read(case: tuple[Table, str]) -> None:
    table, text = replace(case[0], ragged=False), case[1]  # where a null may be an empty cell
    rows = table.read(text).rows
    # A carriage return before the line break would belong to that.
    assume(not any("\r" in cell for row in rows.rows() for cell in row if isinstance(cell, str)))
    with TemporaryDirectory() as folder:
        table.write([rows], Path(folder, "rows.tab"))
        again = table.read(Path(folder, "rows.tab").read_bytes().decode())
    kept = [not table.is_empty(line) for line in table.lines(rows)]
    assert again.rows.drop("record").equals(
        rows.filter(pl.Series(kept, dtype=pl.Boolean)).drop("record")
    )


@FEW
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(1e16)
@example(1e-5)
@example(-0.0)
def test_a_number_is_written_as_python_writes_it(value: float) -> None:
    cells = ONE.columns[0].cells(pl.Series([value]))
    assert cells.to_list() == [repr(value)]
    assert ONE.columns[0].values(cells).to_list() == [value]


@FEW
@given(st.from_regex(ONE.columns[0].full_pattern, fullmatch=True))
def test_a_number_is_what_python_reads(text: str) -> None:
    assert ONE.columns[0].accepts(text)
    assert ONE.columns[0].values(pl.Series([text])).to_list() == [float(text)]
