"""Places in tables whose header tells the order of columns."""

from __future__ import annotations

import pytest

from hlteval.converters.toolkit.source_files import located_cells
from hlteval.findings import FieldRef
from hlteval.sources import Member
from hlteval.syntax.tsv import Column, Table

TABLE = Table((Column("start"), Column("end", heading="END")), header="required", any_order=True)


@pytest.mark.parametrize(
    ("data", "span"),
    [(b"END\tstart\n25\t7\n", (1, 3)), (b"\xef\xbb\xbfstart\tEND\r\n7\t25\r\n", (3, 5))],
)
def test_a_cell_is_where_the_header_says(data: bytes, span: tuple[int, int]) -> None:
    member = Member("", "x.tab", len(data), lambda: data)
    end, heading, absent = located_cells(
        member, [FieldRef(2, "end"), FieldRef(2, "END"), FieldRef(9)], TABLE
    )
    assert end == heading
    assert end is not None
    assert (end.span.line, end.span.column, end.span.end_column) == (2, *span)
    assert absent is None
