"""Files of CCU: no line is lost, and neither the order of columns nor other files change a row."""

from __future__ import annotations

import math
import re
import tempfile
from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.converters.ccu.tables import NUMBER
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import open_source
from hlteval.syntax.tsv import Column
from tests.effort import tries

HEADER = ("file_id", "norm", "start", "end", "status", "llr")
CELLS = {
    "norm": st.sampled_from(["101", "A1", '"A1"', "", "n\xf6rm", " 101", "NA"]),
    "start": st.sampled_from(["0", "1.5", "-2", "", "1,5", "\u0664", "1e9"]),
    "end": st.sampled_from(["30", "+4.25", "inf", "7_0", "30 "]),
    "status": st.sampled_from(["adhere", "violate", "", "ad\rhere"]),
    "llr": st.sampled_from(["1", "-0.5", "1e-300", "1e400", "nan", "."]),
}
LINES = st.lists(
    st.one_of(
        st.tuples(*CELLS.values()).map(lambda cells: "\t".join(["D1", *cells])),
        st.sampled_from(["", "D2\t101\t0\t1\tadhere\t1", "D1\t101\t0\t1", "D1" + "\t" * 6, "x"]),
    ),
    max_size=6,
)


def read(files: dict[str, str]) -> tuple[Corpus, list[Finding]]:
    with tempfile.TemporaryDirectory() as name:
        for file, text in files.items():
            Path(name, file).write_text(text, "utf-8", newline="")
        (result,) = load("ccu-submission").read(open_source(name))
        return result.corpus, list(result.findings)


def submission(*outputs: str) -> dict[str, str]:
    index = "file_id\tis_processed\tmessage\tfile_path\n"
    lines = [f"D{number}\ttrue\t\tD{number}.tab\n" for number in range(1, len(outputs) + 1)]
    files = {f"D{number}.tab": text for number, text in enumerate(outputs, start=1)}
    return {"system_output.index.tab": index + "".join(lines), **files}


@given(LINES)
@settings(max_examples=tries(20), deadline=None)
def test_each_line_is_a_row_or_rejected_and_reported(lines: list[str]) -> None:
    text = "\n".join(["\t".join(HEADER), *lines])
    corpus, findings = read(submission(text))
    written = [line for line in text.rstrip("\r\n").split("\n")[1:] if line]
    rows, rejected = corpus.instances, corpus.rejected_records
    assert rows.height + rejected.height == len(written)
    assert not {*rows["record"]} & {*rejected["record"]}
    errors = {f.span.line for f in findings if f.span and f.severity == "error"}
    assert {*rejected["record"]} <= errors
    values = rows.select(pl.col("start", "end", "llr").is_finite().all())
    assert rows.is_empty() or values.row(0) == (True, True, True)


@given(LINES, st.permutations(range(len(HEADER))), LINES)
@settings(max_examples=tries(8), deadline=None)
def test_the_order_of_columns_and_other_files_change_no_row(
    lines: list[str], order: list[int], others: list[str]
) -> None:
    whole = [line for line in lines if line.count("\t") == len(HEADER) - 1]
    table = [HEADER, *(line.split("\t") for line in whole)]
    text = "\n".join("\t".join(cells) for cells in table)
    moved = "\n".join("\t".join(cells[at] for at in order) for cells in table)
    other = "\n".join(["\t".join(HEADER), *(line.replace("D1", "D2") for line in others)])
    columns = ["record", "label", "start", "end", "status", "llr"]
    expected = read(submission(text))[0].instances.select(columns)
    for output in (submission(moved), submission(text, other), submission(moved, other)):
        found = read(output)[0].instances.filter(document=0)
        assert found.select(columns).sort("record").equals(expected)


@given(st.text("0123456789.,eE+-_ \u0664nai", max_size=7))
@settings(max_examples=tries(50), deadline=None)
def test_a_number_is_what_matches_and_is_finite(cell: str) -> None:
    column = Column("x", "number", NUMBER)
    value = column.values(pl.Series([cell]))[0] if column.accepts(cell) else None
    assert value is None or (value == float(cell) and math.isfinite(value))
    assert value is not None or not plain_number(cell)


def plain_number(cell: str) -> bool:
    """Whether a cell is a number in ASCII whose exponent has at most two digits."""
    if not re.fullmatch(r"[0-9.+-]+(?:[eE][+-]?[0-9]{1,2})?", cell):
        return False
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False
