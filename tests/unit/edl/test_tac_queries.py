"""Queries of TAC KBP with their links, and tables of other years."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.converters.format import ReadResult
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[3] / "fixtures/tac-queries"
# File, line, column and end column.
PLACES = """
TAC101-no-end       queries.xml 3 3 18
TAC102-blanks       links.tab   1 1 12
TAC103-other-query  links.tab   2 1 10
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


def result(path: Path, form: str = "tac-queries", **values: str) -> ReadResult:
    (read,) = load(form).with_settings(values).read(open_source(str(path)))
    read.corpus.check_keys()
    return read


def test_the_table_is_complete() -> None:
    assert {row[0] for row in ROWS} == {path.name for path in (FIXTURES / "invalid").iterdir()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fixture_raises_its_code_and_nothing_else(row: list[str]) -> None:
    name, file, *numbers = row
    (only,) = result(FIXTURES / "invalid" / name).findings
    assert (only.code, only.file) == (name[:6], str(FIXTURES / "invalid" / name / file))
    assert only.span is not None
    assert [only.span.line, only.span.column, only.span.end_column] == [*map(int, numbers)]


def test_the_best_link_is_the_entity() -> None:
    read = result(FIXTURES / "valid/two")
    assert read.findings == ()
    columns = ("mention", "text", "label", "start", "end", "entity", "confidence")
    assert read.corpus.mentions.select(columns).rows() == [
        ("Q1", "Osh", "GPE", 5, 8, "E206", 0.75),
        ("Q2", "\U0001f600 & Co", "ORG", 0, 6, "NIL3", None),
    ]
    assert read.corpus.documents["name"].to_list() == ["D1", "D2"]
    links = read.corpus.links.select("mention_row", "rank", "entity", "label", "confidence")
    assert links.rows() == [(0, 2, "E7", "GPE", 0.25)]


@pytest.mark.parametrize("text", ["", "<a", "<kbpentlink/>", "<query id='x'><beg>1</beg></query>"])
def test_other_files_have_no_queries(text: str, tmp_path: Path) -> None:
    (tmp_path / "q.xml").write_text(text, "utf-8")
    assert result(tmp_path).corpus.mentions.height == 0


def test_a_query_at_two_places_is_reported(tmp_path: Path) -> None:
    query = "<query id='Q'><docid>D</docid><beg>5</beg><end>{}</end></query>".format
    (tmp_path / "a.xml").write_text(f"<kbpentlink>{query(7)}{query(9)}</kbpentlink>", "utf-8")
    (tmp_path / "b.xml").write_text(f"<kbpentlink>{query(7)}</kbpentlink>", "utf-8")
    read = result(tmp_path)
    assert [item.message for item in read.findings] == ["query Q has no valid id of its own"]
    assert read.corpus.mentions.select("start", "end").rows() == [(5, 8)]


def test_fields_of_2015_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "gold.tab"
    line = "LDC\tm1\tOsh\tD1:5-7\tm.0206\tGPE\tNAM\t1.0"
    path.write_text(f"{line}\tNO\tYES\tNO\r\n{line.replace('m1', 'm2')}\r\n", "utf-8")
    assert [f.code for f in result(path, "edl-tab").findings] == ["EDL104", "EDL201"]
    read = result(path, "edl-tab", further="ignore")
    assert [f.code for f in read.findings] == ["EDL104"]
    assert read.corpus.mentions.select("mention", "entity", "confidence").rows() == [
        ("m1", "m.0206", 1.0),
        ("m2", "m.0206", 1.0),
    ]
