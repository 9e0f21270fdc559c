"""What is wrong with a stored corpus is told with its file, and its line and column."""

from __future__ import annotations

import json
from functools import partial
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from hlteval.converters import load as form
from hlteval.converters.corpus.jsonl import Lines, write_jsonl
from hlteval.converters.corpus.parquet import VERSION_KEY, StoreError, read_table, save
from hlteval.representation import SCHEMA_VERSION, TABLES, Corpus
from hlteval.sources import open_source
from tests.stored import load, read_jsonl

HEADER = b'{"format":"hlteval-corpus","version":1}\n'
SOURCE = b'{"table":"sources","row":0,"path":"p","member":"","format":"standoff","sha256":"0"}\n'
DOCUMENT = b'{"table":"documents","row":0,"name":"d1"}\n'
MENTION = (
    '{"table":"mentions","row":0,"document":0,"origin":0,"record":1,"mention":"T1","label":"東京",'
    '"start":0,"end":3,"fragments":[{"start":0,"end":1},{"start":2,"end":3}]}\n'
).encode()


NESTED = 30_000
DEEP = {
    "an unfinished line": (b'{"a":' * NESTED, 2, 501),
    "an unknown column": (
        b'{"table":"documents","row":0,"name":"d1","x":' + b"[" * NESTED + b"]" * NESTED + b"}",
        2,
        145,
    ),
    "strings with brackets": (
        b'{"x":"[[[\\"[[","y":' + b"[" * NESTED + b"]" * NESTED + b"}",
        2,
        119,
    ),
}
"""Lines that nest too deeply, with the place of the 101st level."""


@pytest.mark.parametrize("name", DEEP)
def test_a_line_that_nests_too_deeply_is_reported_with_its_place(name: str) -> None:
    line, number, column = DEEP[name]
    with pytest.raises(StoreError, match="nested deeper than 100 levels") as caught:
        read_jsonl(HEADER + line + b"\n")
    assert (caught.value.line, caught.value.column) == (number, column)


@pytest.mark.parametrize("levels", [90, 150, 600, 900, 980, 1000, 1100, 5000])
def test_any_depth_is_read_or_reported(levels: int) -> None:
    deep = b"[" * levels + b"]" * levels
    rows = (
        b'{"table":"documents","x":' + deep + b',"row":0,"name":"d1"}\n',
        b'{"table":"documents","x":' + deep + b',"row":"0","name":"d1"}\n',
        b'{"table":"documents","row":0,"name":' + deep + b"}\n",
    )
    for row in rows:
        try:
            read_jsonl(HEADER + row)
        except StoreError as error:
            assert error.line == 2
            assert 1 <= (error.column or 0) <= len(row)
    with pytest.raises(StoreError):
        read_jsonl(b'{"format":' + deep + b"}\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stored corpus of one document."""
    save(Corpus(documents=[{"row": 0, "name": "d1", "text": "aba"}]), tmp_path / "corpus [1]*")
    return tmp_path / "corpus [1]*"


def test_every_table_is_written_also_when_it_is_empty(folder):
    assert sorted(file.stem for file in folder.iterdir()) == sorted(TABLES)
    assert load(folder).documents["text"].to_list() == ["aba"]


def test_other_programs_can_read_the_schema_version(folder):
    for file in folder.iterdir():
        assert pl.read_parquet_metadata(file)["hlteval.schema"] == str(SCHEMA_VERSION)


def findings(path: Path, name: str = "corpus") -> list[tuple[str, str, str | None]]:
    """The code, the message and the file of each finding about a stored corpus."""
    (result,) = form(name).read(open_source(str(path)))
    return [(found.code, found.message, found.file) for found in result.findings]


def test_a_missing_table_is_named(folder):
    (folder / "groups.parquet").unlink()
    assert findings(folder) == [("COR101", "missing table groups", str(folder / "groups.parquet"))]


def rewritten(folder: Path, table: str, frame: pl.DataFrame, version: object = 1) -> None:
    frame.write_parquet(folder / f"{table}.parquet", metadata={"hlteval.schema": str(version)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop("label"), "table frames is missing the column label"),
        (
            lambda f: f.with_columns(pl.col("record").cast(pl.Int32)),
            "column frames.record is Int32, expected Int64",
        ),
    ],
)
def test_other_columns_are_told(folder, change, message):
    rewritten(folder, "frames", change(TABLES["frames"].empty()))
    with pytest.raises(StoreError, match=message):
        load(folder)


def test_a_null_that_is_not_allowed_is_told(folder):
    rewritten(
        folder, "frames", TABLES["frames"].empty().clear(1).with_columns(row=pl.lit(0, pl.Int64))
    )
    code, message, file = findings(folder)[0]
    assert (code, file) == ("COR103", str(folder))
    assert message == "invalid row: frames.document is missing"


def test_a_column_that_may_be_null_may_be_absent(folder):
    rewritten(folder, "documents", load(folder).documents.drop("language", "text"))
    assert load(folder) == Corpus(documents=[{"row": 0, "name": "d1"}])


def test_an_unknown_column_is_ignored_and_reported(folder):
    frame = load(folder).documents
    rewritten(folder, "documents", frame.with_columns(colour=pl.lit("red"), name_2=1))
    reported = []
    assert load(folder, reported.append).documents.equals(frame)
    assert [(error.message, error.file) for error in reported] == [
        (f"the table documents has an unknown column {name}", str(folder / "documents.parquet"))
        for name in ("colour", "name_2")
    ]
    assert load(folder).documents.equals(frame)


def test_columns_in_another_order_are_put_right(folder):
    frame = load(folder).documents
    rewritten(folder, "documents", frame.select(reversed(frame.columns)))
    assert load(folder).documents.equals(frame)


def test_another_schema_version_is_told_with_its_cure(folder):
    rewritten(folder, "frames", TABLES["frames"].empty(), version=2)
    with pytest.raises(StoreError, match=r"schema version 2, .* reads 1; convert it again"):
        load(folder)


def test_a_parquet_file_of_somebody_else_is_no_table(folder):
    TABLES["frames"].empty().write_parquet(folder / "frames.parquet")
    with pytest.raises(StoreError, match="not a table of a corpus"):
        load(folder)


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PK\x03\x04" * 99, b"PAR1" + bytes(99) + b"PAR1"]
)
def test_what_is_no_parquet_is_told(folder, content):
    (folder / "frames.parquet").write_bytes(content)
    with pytest.raises(StoreError, match="invalid or truncated Parquet file"):
        load(folder)


def test_a_folder_in_place_of_a_table_is_no_table(folder):
    (folder / "frames.parquet").unlink()
    (folder / "frames.parquet").mkdir()
    assert findings(folder) == [("COR101", "missing table frames", str(folder / "frames.parquet"))]


def test_keys_are_checked(folder):
    frame = load(folder).documents
    rewritten(folder, "documents", pl.concat([frame, frame]))
    assert findings(folder)[0] == ("COR104", "duplicate key 0 in documents.row", str(folder))


def test_saving_again_replaces(folder):
    save(Corpus(), folder)
    assert load(folder) == Corpus()


def test_json_lines_are_for_people():
    stream = BytesIO()
    write_jsonl(read_jsonl(HEADER + SOURCE + DOCUMENT + MENTION), stream)
    assert stream.getvalue() == HEADER + SOURCE + DOCUMENT + MENTION


def test_tables_of_json_lines_come_in_any_order():
    mixed = (
        HEADER + MENTION + DOCUMENT + SOURCE + DOCUMENT.replace(b":0", b":1").replace(b"d1", b"e")
    )
    corpus = read_jsonl(mixed.replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    assert corpus.documents["name"].to_list() == ["d1", "e"]
    assert corpus.mentions["fragments"].to_list() == [
        [{"start": 0, "end": 1}, {"start": 2, "end": 3}]
    ]


def test_an_explicit_null_is_taken_where_null_is_allowed():
    line = b'{"table":"documents","row":0,"name":"d1","text":null}\n'
    assert read_jsonl(HEADER + line) == read_jsonl(HEADER + DOCUMENT)


def refusal(lines: bytes) -> StoreError:
    with pytest.raises(StoreError) as caught:
        read_jsonl(lines, "c.jsonl")
    assert caught.value.file == "c.jsonl"
    assert str(caught.value).startswith(f"c.jsonl:{caught.value.line}:{caught.value.column}: ")
    return caught.value


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", DOCUMENT, b'{"format":"other","version":1}\n', b'{"version":1}', b"\xff\n"],
)
def test_json_lines_begin_with_the_header(content):
    error = refusal(content)
    assert "the first line must be" in error.message
    assert HEADER.decode().strip() in error.message
    assert (error.line, error.column) == (1, 1)


def test_another_schema_version_of_json_lines_is_told():
    error = refusal(b'{"format":"hlteval-corpus", "version": 7}\n')
    assert "schema version 7" in error.message
    assert (error.line, error.column) == (1, 40)


def put(old: str, new: str) -> bytes:
    """The mention with a stretch exchanged."""
    assert old.encode() in MENTION
    return MENTION.replace(old.encode(), new.encode("utf-8", "surrogateescape"), 1)


@pytest.mark.parametrize(
    ("line", "message", "marked"),
    [
        (put('"table":"mentions"', '"table":"frobs"'), "unknown table", '"frobs"'),
        (put('"table":"mentions",', ""), "missing required field `table`", "{"),
        (put('"start":0', '"START":0'), "missing required field `start`", "{"),
        (put('"start":2', '"from":2'), "unknown column 'from'", '2,"end":3}]'),
        (put('"start":0', '"start":"0"'), "Expected `int`, got `str`", '"0",'),
        (put('"start":2', '"start":2.5'), "Expected `int`, got `float`", "2.5"),
        (put('"start":0', '"start":null'), "Expected `int`, got `null`", "null"),
        (put('"start":0', f'"start":{2**63}'), "Expected `int` <= 9223372036854775807", "92"),
        (put('"end":3,', ""), "missing required field `end`", "{"),
        (put('"label":"東京"', '"label":3'), "Expected `str`, got `int`", "3"),
        (put('"start":0', '"start":NaN'), "invalid JSON: invalid character", "NaN"),
        (put('"start":0,', '"start":0 '), "invalid JSON", '"end"'),
        (put('"東京"', '"東\t京"'), "invalid JSON: invalid character", "\t京"),
        (put('"東京"', '"\\udc00"'), "unpaired surrogate", "\\udc00"),
        (put('"東京"', '"\\\\\\ud83d\\ude00\\ud800"'), "unpaired surrogate", "\\ud800"),
        (put('"東京"', '"東\udcff"'), "byte 0xff is not UTF-8", "\udcff"),
        (MENTION[:-3] + b"\n", "unexpected end of line", ""),
        (put('"label":"', '"label":"\\\u202e'), "invalid JSON: invalid escape", "\u202e"),
        (MENTION.strip() + MENTION, "invalid JSON", '{"table":"mentions","row":0,"document"'),
        (b"\n" + MENTION, "line is empty", ""),
        (b"[]\n", "Expected `object`, got `array`", "[]"),
    ],
)
def test_the_place_in_a_line_is_told(line, message, marked):
    error = refusal(HEADER + SOURCE + DOCUMENT + line + MENTION)
    assert message in error.message
    assert error.line == 4
    text = line.split(b"\n")[0].decode("utf-8", "surrogateescape")
    rest = text[error.column - 1 :]
    assert rest.startswith(marked) if marked else rest == ""


def test_unknown_columns_of_json_lines_are_ignored_and_reported_once_each():
    line = DOCUMENT.replace(b'"d1"', b'"d1","later":[1,{"a":null}],"colour":"red"')
    second = line.replace(b":0", b":1").replace(b"d1", b"d2")
    reported = []
    corpus = read_jsonl(HEADER + line + SOURCE + second, "c.jsonl", reported.append)
    assert corpus.documents["name"].to_list() == ["d1", "d2"]
    assert sorted(str(error) for error in reported) == [
        "c.jsonl:2:50: the table documents has an unknown column later",
        "c.jsonl:2:74: the table documents has an unknown column colour",
    ]
    error = refusal(HEADER + line + SOURCE + second.replace(b'"row":1', b'"row":"1"'))
    assert (error.line, error.message) == (4, "Expected `int`, got `str`")


def test_an_object_over_two_lines_is_no_line():
    error = refusal(HEADER + DOCUMENT.replace(b",", b",\n", 1))
    assert (error.line, error.column) == (2, 22)


@pytest.mark.parametrize(
    ("lines", "code", "message", "place"),
    [
        (DOCUMENT + SOURCE + DOCUMENT, "COR104", "duplicate key 0 in documents.row", (4, 28)),
        (
            SOURCE + DOCUMENT + MENTION.replace(b'"origin":0', b'"origin":5'),
            "COR105",
            "no row with this key",
            (4, 51),
        ),
    ],
)
def test_the_place_of_a_broken_key_is_told(lines, code, message, place, tmp_path):
    (tmp_path / "c.jsonl").write_bytes(HEADER + lines)
    (result,) = form("jsonl").read(open_source(str(tmp_path / "c.jsonl")))
    found = next(each for each in result.findings if each.code == code)
    assert message in found.message
    assert (found.span.line, found.span.column) == place


def test_long_files_are_read_in_parts(monkeypatch):
    """With parts of a few lines each, the numbers of the lines go on."""
    monkeypatch.setattr("hlteval.converters.corpus.jsonl.Lines", partial(Lines, size=100))
    monkeypatch.setattr("hlteval.converters.corpus.jsonl._SLICE", 3)
    rows = [{"row": row, "name": f"d{row}"} for row in range(20)]
    stream = BytesIO()
    write_jsonl(Corpus(documents=rows), stream)
    assert read_jsonl(stream.getvalue()).documents["name"].to_list() == [f"d{n}" for n in range(20)]
    assert refusal(stream.getvalue().replace(b'"d17"', b"17")).line == 19


def test_a_line_with_many_unknown_columns_is_searched_once(monkeypatch: pytest.MonkeyPatch):
    names = [f"x{number}" for number in range(300)]
    members = ",".join(f'"{name}":{number}' for number, name in enumerate(names))
    line = f'{{"table":"documents","row":0,"name":"d1",{members}}}\n'
    values, found = list[int](), list[StoreError]()

    def value(text: str, index: int) -> tuple[object, int]:
        values.append(index)
        return json.JSONDecoder().raw_decode(text, index)

    monkeypatch.setattr("hlteval.syntax.json_text._decode", value)
    read_jsonl(HEADER + line.encode(), report=found.append)
    assert [error.column for error in found] == [
        line.index(f'"{name}":') + len(name) + 4 for name in names
    ]
    assert len(values) == 2 * (3 + len(names))


def test_a_table_that_unpacks_to_more_rows_than_its_size_allows_is_not_read() -> None:
    rows = pl.DataFrame({"row": pl.zeros(150_000, dtype=pl.Int64, eager=True)})
    buffer = BytesIO()
    rows.write_parquet(buffer, metadata={VERSION_KEY: str(SCHEMA_VERSION)})
    with pytest.raises(StoreError, match="unpack to 150,000 rows"):
        read_table(TABLES["documents"], buffer.getvalue(), "documents.parquet", print)
