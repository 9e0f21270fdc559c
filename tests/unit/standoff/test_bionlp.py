"""Standoff: which files make a document, what is read of them, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval.converters import ReadResult
from hlteval.converters.standoff.bionlp import BATCH, EXPLAINED, FORMAT
from hlteval.findings import FieldRef
from hlteval.representation import Corpus
from hlteval.sources import Source, open_source

Made = Callable[[Mapping[str, str]], Source]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Makes a folder of files."""

    def make(files: Mapping[str, str]) -> Source:
        folder = tmp_path / "corpus"
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode())
        return open_source(str(folder))

    return make


def read(source: Source) -> ReadResult:
    (reading,) = FORMAT.read(source)
    return reading


def rows(table: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return table.select(columns).rows()


def test_a_document_is_named_up_to_the_last_dot(made: Made) -> None:
    source = made(dict.fromkeys(["a.b.txt", "a.b.a1", "a.a2", "c.A2", "d.ann", "e", ".a2"], ""))
    found = FORMAT.documents(source)
    assert {name: [m.name for m in members] for name, members in found.items()} == {
        "a": ["a.a2"],
        "a.b": ["a.b.a1", "a.b.txt"],
    }


def test_sub_folders_are_read(made: Made) -> None:
    assert list(FORMAT.documents(made({"a.a2": "", "sub/b.a2": ""}))) == ["a", "b"]


def test_documents_come_in_order_and_in_batches(made: Made) -> None:
    names = [f"d{number:04}" for number in range(BATCH + 3)]
    source = made({f"{name}.a2": "E1\tX A:T1\n" for name in reversed(names)})
    readings = list(FORMAT.read(source))
    read_names = [reading.corpus.documents["name"].to_list() for reading in readings]
    assert [len(batch) for batch in read_names] == [BATCH, 3]
    assert [name for batch in read_names for name in batch] == names
    for reading in readings:
        reading.corpus.check_keys()


def test_spans(made: Made) -> None:
    text = "T1\tTissue 0 4\tseed\nT2\tProtein_Family 9 12;2 4;20 30\tany  text \tat all\n"
    corpus = read(made({"d.a1": text})).corpus
    assert rows(corpus.mentions, "record", "mention", "label", "start", "end", "text") == [
        (1, "T1", "Tissue", 0, 4, "seed"),
        (2, "T2", "Protein_Family", 2, 30, "any  text \tat all"),
    ]
    parts = [{"start": 9, "end": 12}, {"start": 2, "end": 4}, {"start": 20, "end": 30}]
    assert corpus.mentions["fragments"].to_list() == [None, parts]


def test_events(made: Made) -> None:
    text = "E2\tBinding:T9 A:T1  B:E1 A:T2\n\nR1\tLink A:b:c\n"
    corpus = read(made({"d.a2": text})).corpus
    assert rows(corpus.frames, "row", "record", "frame", "kind", "label", "trigger") == [
        (0, 1, "E2", "event", "Binding", "T9"),
        (1, 3, "R1", "relation", "Link", None),
    ]
    assert rows(corpus.arguments, "frame_row", "record", "position", "role", "target") == [
        (0, 1, 1, "A", "T1"),
        (0, 1, 2, "B", "E1"),
        (0, 1, 3, "A", "T2"),
        (1, 3, 1, "A", "b:c"),
    ]


def test_modifiers_normalizations_and_equivalences(made: Made) -> None:
    text = (
        "N1\tOntoBiotope Annotation:T1 Referent:OBT:1\nM1\tNegation Annotation:E1\n"
        "*\tEquiv T1 T2\n*\tEquiv T3 T4\tT5\n"
    )
    corpus = read(made({"d.a2": text})).corpus
    assert rows(corpus.modifiers, "record", "modifier", "label", "target", "value") == [
        (1, "N1", "OntoBiotope", "T1", "OBT:1"),
        (2, "M1", "Negation", "E1", None),
    ]
    assert rows(corpus.groups, "record", "group", "kind", "member") == [
        (3, "1", "Equiv", "T1"),
        (3, "1", "Equiv", "T2"),
        (4, "2", "Equiv", "T3"),
        (4, "2", "Equiv", "T4"),
        (4, "2", "Equiv", "T5"),
    ]


def test_line_ends_and_blank_lines(made: Made) -> None:
    reading = read(made({"d.a2": "\r\nE1\tX A:T1\r\n \t\r\n\nE2\tX A:T2"}))
    assert rows(reading.corpus.frames, "record", "frame") == [(2, "E1"), (5, "E2")]
    assert reading.findings == ()


def test_only_line_feeds_end_a_line(made: Made) -> None:
    """Not what str.splitlines takes for an end."""
    text = "T1\tTissue 0 9\ta\u2028b\x85c\x1cd\re\n"
    reading = read(made({"d.a1": text}))
    assert reading.corpus.mentions["text"].to_list() == ["a\u2028b\x85c\x1cd\re"]


def test_sources_tell_where_a_row_stands(made: Made) -> None:
    files = {"d.txt": "seed", "d.a1": "T1\tX 0 4\tseed\n", "d.a2": "E1\tX A:T1\n", "e.a2": ""}
    reading = read(made(files))
    corpus = reading.corpus
    assert corpus.sources["member"].to_list() == ["d.a1", "d.a2", "d.txt", "e.a2"]
    assert [member.name for member in reading.members] == corpus.sources["member"].to_list()
    assert rows(corpus.documents, "name", "text", "origin") == [("d", "seed", 2), ("e", None, None)]
    assert corpus.mentions["origin"].to_list() == [0]
    assert corpus.frames["origin"].to_list() == [1]


def test_a_file_that_is_no_text_has_no_records(made: Made, tmp_path: Path) -> None:
    source = made({"d.a2": "E1\tX A:T1\n", "e.a2": "E1\tX A:T1\n"})
    (tmp_path / "corpus" / "d.a2").write_bytes(b"E1\tX A:\xff\n")
    reading = read(source)
    assert [finding.code for finding in reading.findings] == ["SRC201"]
    assert reading.corpus.documents["name"].to_list() == ["d", "e"]
    assert reading.corpus.frames["document"].to_list() == [1]
    assert [member.name for member in reading.members] == ["e.a2"]


def test_a_record_that_cannot_be_read_is_kept_and_told(made: Made) -> None:
    reading = read(made({"d.a2": "E1\tX A:T1\n  E2\tX A:  \nE3 X A:T1\n"}))
    refused = reading.corpus.rejected_records
    assert rows(refused, "record", "code", "kind", "id", "label", "column", "end_column") == [
        (2, "STD104", "frame", "E2", "X", 10, 10),
        (3, "STD101", "frame", "E3", None, 3, 4),
    ]
    assert refused["text"].to_list() == ["  E2\tX A:  ", "E3 X A:T1"]
    assert [(f.code, f.record, f.span.line if f.span else 0) for f in reading.findings] == [
        ("STD104", "E2", 2),
        ("STD101", "E3", 3),
    ]


def test_beyond_the_first_few_thousand_the_whole_line_is_marked(made: Made) -> None:
    """Their codes stay the same: what blocks does not depend on what else is wrong."""
    lines = ["M1\tNegation E1"] * EXPLAINED + [
        "M1\tNegation E1",
        "E1\tX foo",
        "T1\tX 0 9999999999\tx",
        "no tab",
    ]
    source = made({"d.a2": "\n".join(lines)}).with_max_per_code(0)
    findings = read(source).findings
    assert findings[EXPLAINED - 1].span.column == 13  # type: ignore[union-attr]
    late = [(f.code, f.span.column, f.span.end_column) for f in findings[EXPLAINED:] if f.span]
    assert late == [("STD106", 1, 15), ("STD105", 6, 9), ("STD109", 8, 18), ("STD101", 1, 7)]


def test_places_are_found(made: Made) -> None:
    source = made({"d.a2": "\n \tE1\tBinding A:T1  B:T22\r\n"})
    (member,) = source.members
    places = [
        FieldRef(2),
        FieldRef(2, "id"),
        FieldRef(2, "label"),
        FieldRef(2, "argument 2"),
        FieldRef(2, "role 2"),
        FieldRef(2, "target 2"),
        FieldRef(2, "no such field"),
        FieldRef(9),
        FieldRef(0),
    ]
    located = FORMAT.locate(member, places)
    spans = [item and (item.span.line, item.span.column, item.span.end_column) for item in located]
    assert spans == [
        (2, 3, 25),
        (2, 3, 5),
        (2, 6, 13),
        (2, 20, 25),
        (2, 20, 21),
        (2, 22, 25),
        (2, 3, 25),
        None,
        None,
    ]
    assert all(
        item is None or item.excerpt.text == " \tE1\tBinding A:T1  B:T22" for item in located
    )


def written(corpus: Corpus, folder: Path) -> dict[str, str]:
    assert FORMAT.write is not None
    FORMAT.write([corpus], folder)
    return {file.name: file.read_bytes().decode() for file in folder.iterdir()}


def test_records_of_another_format_go_where_they_belong(tmp_path: Path) -> None:
    """Entities are given, all else is asked for; what has no text takes it from the document."""
    place = {"document": 0, "origin": 0}
    frame = {**place, "record": 9, "frame_row": 0}
    group = {**place, "record": 11, "group": "g", "kind": "Equiv"}
    corpus = Corpus(
        sources=[{"row": 0, "path": "x", "member": "x.json", "format": "other", "sha256": ""}],
        documents=[{"row": 0, "name": "d", "text": "young\nseeds here"}],
        mentions=[
            {"row": 0, **place, "record": 5, "mention": "T2", "label": "X", "start": 0, "end": 11},
            {"row": 1, **place, "record": 2, "mention": "T1", "label": "X", "start": 6, "end": 11},
        ],
        frames=[{"row": 0, **place, "record": 9, "frame": "E1", "kind": "event", "label": "Y"}],
        arguments=[
            {"row": 0, **frame, "position": 2, "role": "B", "target": "T1"},
            {"row": 1, **frame, "position": 1, "role": "A", "target": "T2"},
        ],
        modifiers=[
            {"row": 0, **place, "record": 10, "modifier": "M1", "label": "Negation", "target": "E1"}
        ],
        groups=[{"row": 0, **group, "member": "T1"}, {"row": 1, **group, "member": "T2"}],
    )
    assert written(corpus, tmp_path / "out") == {
        "d.txt": "young\nseeds here",
        "d.a1": "T1\tX 6 11\tseeds\nT2\tX 0 11\tyoung seeds\n",
        "d.a2": "E1\tY A:T2 B:T1\nM1\tNegation Annotation:E1\n*\tEquiv T1 T2\n",
    }


def test_a_document_without_records_has_its_files(tmp_path: Path) -> None:
    corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "x"}])
    assert written(corpus, tmp_path / "out") == {"d.txt": "x", "d.a1": "", "d.a2": ""}


def test_it_is_told_by_its_suffixes(made: Made) -> None:
    assert FORMAT.sniff(made({"d.a2": ""}))
    assert not FORMAT.sniff(Source("x", "folder", ()))
