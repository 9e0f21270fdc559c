"""Sizes and counts that damaged and hostile Parquet files announce."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from hlteval.converters import load
from hlteval.converters.corpus.parquet import StoreError, read_table, save
from hlteval.converters.toolkit import parquet_sizes
from hlteval.converters.toolkit.parquet_sizes import size_problem
from hlteval.findings import Finding
from hlteval.representation import TABLES, Corpus
from hlteval.sources import open_source

ROWS = 9
CORPUS = Corpus(documents=[{"row": row, "name": f"d{row}", "text": "aba"} for row in range(ROWS)])
COUNT = bytes([0x2C, 0x15, ROWS * 2])
"""In the header of a data page: its own struct, whose first field is the number of values."""


def saved(folder: Path) -> bytes:
    """The table of documents, of a page for each column."""
    save(CORPUS, folder)
    return (folder / "documents.parquet").read_bytes()


def parquet(frame: pl.DataFrame, **settings: object) -> bytes:
    """A table as Parquet."""
    buffer = BytesIO()
    frame.write_parquet(buffer, **settings)  # type: ignore[arg-type]
    return buffer.getvalue()


# As zigzag, 0x7F is -64, 0x13 is -10 and 0x14 is 10: a value more than there are.
@pytest.mark.parametrize("byte", [0x7F, 0x13, 0x14, 0x7E, 0x01])
def test_a_page_with_a_wrong_number_of_values_is_refused(tmp_path: Path, byte: int) -> None:
    """Polars reserves memory for it: 2 EiB for -64 values, and the process aborts."""
    content = saved(tmp_path)
    pages = content.count(COUNT)
    assert pages > 5
    start = 0
    for _ in range(pages):
        start = content.index(COUNT, start) + len(COUNT)
        damaged = content[: start - 1] + bytes([byte]) + content[start:]
        with pytest.raises(StoreError, match=r"d\.parquet: invalid or truncated Parquet file"):
            read_table(TABLES["documents"], damaged, "d.parquet", print)


def test_a_page_of_levels_with_a_wrong_number_of_values_is_a_finding(tmp_path: Path) -> None:
    columns = {"file_id": "d", "kind": "valence", "start": 0.0, "end": 1.0, "level": 500.0}
    content = parquet(pl.DataFrame({name: [value] * ROWS for name, value in columns.items()}))
    path = tmp_path / "levels.parquet"
    path.write_bytes(content.replace(COUNT, COUNT[:2] + b"\x7f"))
    results = list(load("levels-parquet").read(open_source(str(path))))
    findings: list[Finding] = [each for result in results for each in result.findings]
    assert [found.code for found in findings] == ["TLN701"]


def test_a_corpus_with_a_damaged_page_is_a_finding(tmp_path: Path) -> None:
    content = saved(tmp_path / "c")
    (tmp_path / "c" / "documents.parquet").write_bytes(content.replace(COUNT, COUNT[:2] + b"\x7f"))
    (result,) = load("corpus").read(open_source(str(tmp_path / "c")))
    assert [found.code for found in result.findings] == ["COR101"]


@pytest.mark.thorough
def test_every_byte_of_the_metadata_may_be_wrong(tmp_path: Path) -> None:
    """It is an error, or the sizes are those that the file can have: never another exception."""
    content = saved(tmp_path)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    outcomes = set()
    for index in range(start, len(content)):
        for byte in (0x00, 0x7F, 0xFF, content[index] ^ 0x10):
            damaged = content[:index] + bytes([byte]) + content[index + 1 :]
            try:
                outcomes.add(size_problem(damaged).partition(" to ")[0])
            except ValueError:
                outcomes.add("ValueError")
    assert outcomes == {"", "ValueError"}


@pytest.mark.parametrize(
    "settings",
    [
        *({"compression": name} for name in ("uncompressed", "snappy", "gzip", "lz4", "brotli")),
        {"data_page_size": 64, "row_group_size": 50},
        {"statistics": "full"},
    ],
)
def test_tables_of_other_writers_are_read(settings: dict[str, object]) -> None:
    frame = pl.DataFrame(
        {
            "key": range(300),
            "flag": [True, None, False] * 100,
            "name": [f"é{row % 7}" for row in range(300)],
            "places": [[{"start": row, "end": None}] * (row % 3) for row in range(300)],
            "value": [0.5, None, 1e300] * 100,
        }
    )
    assert size_problem(parquet(frame, **settings)) == ""
    assert size_problem(parquet(frame.clear(), **settings)) == ""


def test_pages_unpack_to_a_thousand_times_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_sizes, "_UNPACKED_BYTES", 1_000_000)
    content = parquet(pl.DataFrame({"text": ["a" * 10_000_000]}), statistics=False)
    assert len(content) < 10_000
    # The page has the text and its length in four bytes, and the level of its single value.
    assert size_problem(content).startswith(f"{len(content):,} bytes unpack to 10,000,0")
    assert size_problem(parquet(pl.DataFrame({"text": ["a" * 900_000]}), statistics=False)) == ""


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (b"\x49\x1c" + b"\x1c" * 99, "nested too deep"),
        (b"\x19\xfc\xff\xff\xff\xff\x0f", "another kind|longer than the file"),
        (b"\x18\xff\xff\xff\x7f", "ends after the file"),
        (b"\x15" + b"\xff" * 12, "too long"),
        (b"\x1b\x00", "unknown kind"),
        (b"\x15\x02\x00", "field 4 is missing"),
        (b"\x45\x02\x00", "field 4 has another kind"),
        (b"\x49\x15\x02\x00", "not a list of structs"),
        (b"", "ends after the file"),
    ],
)
def test_metadata_that_cannot_be_read(metadata: bytes, message: str) -> None:
    size = len(metadata).to_bytes(4, "little")
    with pytest.raises(ValueError, match=message):
        size_problem(b"PAR1" + metadata + size + b"PAR1")


def test_metadata_larger_than_the_file() -> None:
    with pytest.raises(ValueError, match="larger than the file"):
        size_problem(b"PAR1" + (99).to_bytes(4, "little") + b"PAR1")


def test_texts_of_a_table_count_as_often_as_they_are_there() -> None:
    few, many = (pl.DataFrame({"text": ["a" * 1_000_000] * rows}) for rows in (16, 17))
    assert parquet_sizes.read_table(parquet(few)).table.equals(few)
    content = parquet(many)  # its pages have the text once
    assert size_problem(content) == ""
    problem = parquet_sizes.read_table(content).problem
    assert problem.startswith(f"{len(content):,} bytes unpack to 17,00")


def test_texts_of_a_corpus_count_as_often_as_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_sizes, "_UNPACKED_BYTES", 1_000_000)
    text = "a" * 300_000
    for rows, codes in ((3, []), (9, ["COR101"])):
        documents = [{"row": row, "name": f"d{row}", "text": text} for row in range(rows)]
        save(Corpus(documents=documents), tmp_path / str(rows))
        size = (tmp_path / str(rows) / "documents.parquet").stat().st_size
        monkeypatch.setattr(parquet_sizes, "_UNPACKED_RATIO", 1_000_000 // size)
        (result,) = load("corpus").read(open_source(str(tmp_path / str(rows))))
        assert [found.code for found in result.findings] == codes


def test_lists_of_a_table_have_at_most_500_000_values_unless_the_file_is_large() -> None:
    few, many = (pl.DataFrame({"tags": [["O"] * size]}) for size in (500_000, 500_001))
    assert parquet_sizes.read_table(parquet(few)).table.equals(few)
    content = parquet(many)
    problem = parquet_sizes.read_table(content).problem
    assert problem == f"{len(content):,} bytes unpack to 500,001 values"
