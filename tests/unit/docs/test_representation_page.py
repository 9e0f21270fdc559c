"""The page of the tables is the one that their declarations make."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from docs.make.representation_page import page
from hlteval.representation import TABLES

DOCS = Path(__file__).parents[3] / "docs"


def test_the_committed_page_is_up_to_date(golden):
    golden(DOCS / "representation.md", page())


def test_every_column_has_its_line():
    sections = page().split("\n## ")[1:]
    assert [section.partition("\n")[0] for section in sections] == list(TABLES)
    for section, table in zip(sections, TABLES.values(), strict=True):
        named = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
        assert named == [column.name for column in table.columns]


def test_types_are_told_in_plain_words():
    types = {str(column.dtype) for table in TABLES.values() for column in table.columns}
    assert str(pl.Int64) in types
    assert not any(f"| {kind} |" in page() for kind in types)
