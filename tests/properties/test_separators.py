"""Characters that separate cells and lines: what a writer writes, its reader reads as one value.

Each column of text of each table that a format represents gets a separator in its values. The
values come back, or the loss is listed; nothing that was written is an error.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest

from hlteval import convert, read
from hlteval.converters import known, load
from hlteval.representation import Corpus
from hlteval.syntax.tsv import Column, Table
from hlteval.workflows.convert.conversion import NotConverted

FIXTURES = Path(__file__).parents[2] / "fixtures"
SEPARATORS = ("\t", "\n", "\r\n")
WORDS = {("translations", "role"), ("documents", "modality")}
"""Columns of a few declared values."""
FORMATS = [
    name
    for name in known()
    if load(name).reads and load(name).write and (FIXTURES / name / "valid").is_dir()
]


def converted(name: str, corpus: Corpus) -> tuple[bool, set[str], Corpus]:
    """Whether losses are listed, the codes of errors in what was written, and what it holds."""
    form = load(name)
    with tempfile.TemporaryDirectory() as folder:
        suffix = "" if form.layout == "per_document" else next(iter(form.suffixes), "")
        path = Path(folder, f"out{suffix}")
        try:
            found = convert(corpus, path, to_format=name)
        except NotConverted:
            return True, set(), corpus
        again, findings = read(path, name)
    losses = any(item.code in {"CNV101", "CNV102", "CNV103"} for item in found)
    return losses, {item.code for item in findings if item.severity == "error"}, again


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", FORMATS)
def test_separators_come_back_or_are_listed_as_lost(name: str) -> None:
    folder = FIXTURES / name / "valid"
    inner = sorted(path for path in folder.iterdir() if path.is_dir())
    corpus, _ = read(next(iter(inner), folder) if inner else folder, name)
    tables = {table: frame for table, frame in corpus.tables() if table != "sources"}
    for table, frame in tables.items():
        texts = [c for c, kind in frame.schema.items() if kind == pl.String]
        texts = [
            c for c in texts if (table, c) not in WORDS and frame[c].null_count() < frame.height
        ]
        for column in texts:
            kept = text_is_kept(name, corpus, table, column, "".join(SEPARATORS) + "x")
            # a column that is not written, or has declared values, does not keep any text
            assert kept or not text_is_kept(name, corpus, table, column, "xx"), f"{table}.{column}"


def text_is_kept(name: str, corpus: Corpus, table: str, column: str, more: str) -> bool:
    """Whether the values of a column come back with more text, or are listed as lost."""
    longer = (pl.col(column) + more).alias(column)
    changed = corpus.replace(**{table: getattr(corpus, table).with_columns(longer)})
    lost, errors, again = converted(name, changed)
    written = getattr(again, table)[column].sort().to_list()
    return not errors and (lost or written == getattr(changed, table)[column].sort().to_list())


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "\t", "a\r\nb"])
def test_a_table_writes_no_cell_that_it_reads_as_two(text: str, tmp_path: Path) -> None:
    table = Table((Column("name"), Column("place")), code="SFT102")
    rows = pl.DataFrame({"name": ["plain", "b"], "place": ["c", text]})
    with pytest.raises(ValueError, match="tab or a line break"):
        table.write([rows], tmp_path / "out.tsv")
    table.write([rows.head(1)], tmp_path / "out.tsv")
    assert table.read((tmp_path / "out.tsv").read_text()).rows.rows() == [(1, "plain", "c")]
