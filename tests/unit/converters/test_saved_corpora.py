"""A saved corpus, or one in memory, is checked once on loading: what cannot be kept is listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.converters.corpus.parquet import VERSION_KEY, save
from hlteval.findings import Finding
from hlteval.representation import TABLES, Corpus
from hlteval.representation.corpus import BrokenKey
from hlteval.sources import open_source
from hlteval.workflows.convert.conversion import NotConverted

SOURCE = {"row": 0, "path": "d1.ann", "member": "d1.ann", "format": "brat", "sha256": ""}
PLACE = {"document": 0, "origin": 0, "record": 1}
MENTION = {**PLACE, "row": 0, "mention": "T1", "label": "City", "start": 3, "end": 6}
FRAME = {**PLACE, "row": 0, "frame": "E1", "kind": "event", "label": "Move", "trigger": "T1"}
ARGUMENT = {**PLACE, "row": 0, "frame_row": 0, "position": 1, "role": "Who", "target": "T1"}
TWO = [{"row": at, "name": f"d{at + 1}", "text": "in Osh", "origin": 0} for at in range(2)]
SEGMENT = {**PLACE, "row": 0, "start": 0, "end": 6}
TOKEN = {**SEGMENT, "segment_row": 0, "text": "in Osh"}
REJECTED = {**PLACE, "row": 0, "code": "BRT103", "kind": "mention", "id": "T2", "text": "T2\t"}
REJECTED |= {"column": 4, "end_column": 4, "expected": "a type"}


def rows(**changed: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    tables = {
        "sources": [SOURCE],
        "documents": [{"row": 0, "name": "d1", "text": "in Osh", "origin": 0}],
        "mentions": [MENTION],
        "frames": [FRAME],
        "arguments": [ARGUMENT],
    }
    return tables | changed


def as_lines(tables: dict[str, list[dict[str, Any]]], folder: Path) -> Path:
    lines: list[dict[str, Any]] = [{"format": "hlteval-corpus", "version": 1}]
    lines += [{"table": name, **row} for name, each in tables.items() for row in each]
    path = folder / "c.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def as_parquet(tables: dict[str, list[dict[str, Any]]], folder: Path) -> Path:
    save(Corpus(), folder / "c.corpus")
    for name, each in tables.items():
        frame = pl.DataFrame(each, schema=TABLES[name].schema)
        frame.write_parquet(folder / f"c.corpus/{name}.parquet", metadata={VERSION_KEY: "1"})
    return folder / "c.corpus"


def found(path: Path) -> tuple[Corpus, list[Finding]]:
    name = "jsonl" if path.is_file() else "corpus"
    (result,) = load(name).read(open_source(str(path)))
    return result.corpus, list(result.findings)


WRONG: dict[str, tuple[dict[str, list[dict[str, Any]]], list[tuple[str, str, int]]]] = {
    "a value that is missing": (
        rows(mentions=[MENTION, {**MENTION, "row": 1, "label": None}]),
        [("COR103", "mentions", 1)],
    ),
    "a key twice": (rows(mentions=[MENTION, MENTION]), [("COR104", "mentions", 0)]),
    "a reference to nothing": (
        rows(arguments=[ARGUMENT, {**ARGUMENT, "row": 1, "frame_row": 9}]),
        [("COR105", "arguments", 1)],
    ),
    "a reference to nothing that may be missing": (
        rows(documents=[{"row": 0, "name": "d1", "text": "in Osh", "origin": 5}]),
        [("COR105", "documents", 0)],
    ),
    "what refers to a rejected row": (
        rows(frames=[{**FRAME, "document": 3}]),
        [("COR105", "frames", 0)],
    ),
    "two documents of one name": (
        rows(documents=[{"row": at, "name": "d1", "text": "in Osh"} for at in (0, 1)]),
        [("COR106", "documents", 1)],
    ),
    "a document without a name": (
        rows(documents=[{"row": 0, "name": " ", "text": "in Osh"}]),
        [("COR106", "documents", 0)],
    ),
    "offsets behind the text": (
        rows(mentions=[{**MENTION, "end": 7}]),
        [("COR107", "mentions", 0)],
    ),
    "negative offsets": (rows(mentions=[{**MENTION, "start": -1}]), [("COR107", "mentions", 0)]),
    "fragments behind the text": (
        rows(mentions=[{**MENTION, "fragments": [{"start": 3, "end": 4}, {"start": 5, "end": 9}]}]),
        [("COR107", "mentions", 0)],
    ),
    "a name with a null character": (
        rows(documents=[{"row": 0, "name": "d\0", "text": "in Osh"}]),
        [("COR108", "documents", 0)],
    ),
    "a record that could not be read": (
        rows(rejected_records=[REJECTED]),
        [("COR109", "rejected_records", 0)],
    ),
    "an argument of a frame of another document": (
        rows(documents=TWO, arguments=[{**ARGUMENT, "document": 1}]),
        [("COR110", "arguments", 0)],
    ),
    "a token of a segment of another document": (
        rows(documents=TWO, segments=[SEGMENT], tokens=[{**TOKEN, "document": 1}]),
        [("COR110", "tokens", 0)],
    ),
    "an offset that no text reaches": (
        rows(mentions=[{**MENTION, "end": 2**63 - 1}, {**MENTION, "row": 1, "start": -(2**63)}]),
        [("COR103", "mentions", 0), ("COR103", "mentions", 1)],
    ),
    "a part of a span that no text reaches": (
        rows(mentions=[{**MENTION, "fragments": [{"start": 0, "end": 2**63 - 1}]}]),
        [("COR103", "mentions", 0)],
    ),
    "several at once": (
        rows(mentions=[{**MENTION, "row": at, "document": at} for at in range(3)]),
        [("COR105", "mentions", 1), ("COR105", "mentions", 2)],
    ),
}
LOST = {"COR103", "COR104", "COR105", "COR110"}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_reported_at_table_and_row(what: str, tmp_path: Path) -> None:
    tables, expected = WRONG[what]
    corpus, findings = found(as_parquet(tables, tmp_path))
    assert [(f.code, f.table, f.row) for f in findings] == expected
    corpus.check_keys()


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_reported_at_its_line(what: str, tmp_path: Path) -> None:
    tables, expected = WRONG[what]
    tables = {
        name: [{key: value for key, value in row.items() if value is not None} for row in each]
        for name, each in tables.items()
    }
    path = as_lines(tables, tmp_path)
    corpus, findings = found(path)
    assert [f.code for f in findings] == [code for code, *_ in expected]
    corpus.check_keys()
    lines = path.read_text("utf-8").split("\n")
    for finding, (_, table, row) in zip(findings, expected, strict=True):
        assert finding.span
        line = json.loads(lines[finding.span.line - 1])
        assert (line["table"], line["row"]) == (table, row)


@pytest.mark.parametrize("what", [name for name in WRONG if "missing" not in name])
def test_a_corpus_in_memory_is_checked_alike(what: str) -> None:
    tables, expected = WRONG[what]
    corpus, findings = read(Corpus(**tables))
    assert [(f.code, f.table, f.row) for f in findings] == expected
    corpus.check_keys()


def test_rejected_rows_are_counted(tmp_path: Path) -> None:
    """The frame has no document, so its argument goes with it: two records are left out."""
    path = as_lines(rows(frames=[{**FRAME, "document": 3}]), tmp_path)
    corpus, findings = found(path)
    assert [*corpus.rejected_records.select("code", "kind").rows()] == [
        ("COR105", "frames"),
        ("COR105", "arguments"),
    ]
    assert len(findings) == 1
    told = convert(path, tmp_path / "out", to_format="brat")
    assert [f.message for f in told if f.code == "CNV107"] == [
        "wrote 1 document; left out 2 records because of 1 error"
    ]


def test_what_refers_to_a_line_that_is_not_a_row_has_no_finding(tmp_path: Path) -> None:
    path = as_lines(rows(documents=[{"row": 0, "name": 7}]), tmp_path)
    corpus, findings = found(path)
    assert [f.code for f in findings] == ["COR103"]
    assert corpus.rejected_records["kind"].to_list() == ["row", "mentions", "frames", "arguments"]
    with pytest.raises(NotConverted, match="can represent nothing of"):
        convert(path, tmp_path / "out", to_format="brat")


def test_numbers_that_are_not_finite_are_no_confidences(tmp_path: Path) -> None:
    mentions = [{**MENTION, "confidence": float("nan")}]
    corpus, findings = found(as_parquet(rows(mentions=mentions), tmp_path))
    assert [f.message for f in findings] == ["invalid row: mentions.confidence is nan"]
    assert corpus.mentions.is_empty()


def test_all_tables_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    path = as_parquet(rows(), tmp_path)
    (path / "frames.parquet").write_bytes(b"rubbish")
    (path / "groups.parquet").unlink()
    _, findings = found(path)
    assert [(f.code, Path(f.file or "").name) for f in findings] == [
        ("COR101", "groups.parquet"),
        ("COR101", "frames.parquet"),
    ]


def test_tables_are_read_like_all_files(tmp_path: Path) -> None:
    """A link that leads out of the folder to a device is not opened."""
    path = as_parquet(rows(), tmp_path)
    (path / "frames.parquet").unlink()
    (path / "frames.parquet").symlink_to("/dev/zero")
    _, findings = found(path)
    assert [f.code for f in findings] == ["COR101"]


def test_nesting_does_not_exhaust_the_stack(tmp_path: Path) -> None:
    path = as_lines(rows(), tmp_path)
    deep = '{"a":' * 30_000 + "1" + "}" * 30_000
    path.write_text(f'{path.read_text("utf-8")}{deep}\n{{"table":"frames","x":{deep}}}\n', "utf-8")
    corpus, findings = found(path)
    assert [f.code for f in findings] == ["COR103", "COR103"]
    assert corpus.mentions.height == 1


def test_rows_that_share_lines_are_reported_at_these(tmp_path: Path) -> None:
    """Two rows in a line and one in two: as many rows as lines."""
    path = as_lines(rows(), tmp_path)
    header, *lines = path.read_text("utf-8").splitlines()
    at = lines[1].index('"name"')
    lines[:2] = [lines[0] + lines[1][:at], lines[1][at:]]
    path.write_text("\n".join([header, *lines]) + "\n", "utf-8")
    corpus, findings = found(path)
    assert corpus.documents.is_empty()
    places = [(f.code, f.span.line) for f in findings if f.span]
    assert places[:2] == [("COR103", 2), ("COR103", 3)]


def test_a_token_of_another_document_is_kept_without_its_segment(tmp_path: Path) -> None:
    tables, _ = WRONG["a token of a segment of another document"]
    corpus, _ = found(as_parquet(tables, tmp_path))
    assert corpus.tokens.select("document", "segment_row").rows() == [(1, None)]


def test_a_reference_into_another_document_is_a_broken_key() -> None:
    tables, _ = WRONG["an argument of a frame of another document"]
    with pytest.raises(BrokenKey, match="another document has the row of frames 0"):
        Corpus(**tables).check_keys()
