"""Formats as declarations, and the small ones: sentences, and the corpus as it is saved."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from hlteval.converters import BUILTIN, load, summaries, summary
from hlteval.converters.corpus.jsonl import write_jsonl
from hlteval.converters.format import EVERYTHING, derived_losses
from hlteval.findings import FieldRef
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, open_source
from hlteval.workflows.convert.inputs import UnknownFormat, detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures"


def single(data: bytes, name: str = "file") -> Source:
    return Source(name, "file", (Member("", name, len(data), lambda: data),))


@pytest.mark.parametrize("name", BUILTIN)
def test_a_format_says_what_it_is(name: str) -> None:
    form = load(name)
    assert form.name == name
    assert form.title
    assert set(form.carries) <= set(EVERYTHING)
    assert all(suffix.startswith(".") for suffix in form.suffixes)
    assert form.carries_all == (name in {"corpus", "jsonl"})


def test_summaries_without_modules_are_those_of_the_formats() -> None:
    assert {name: summary(load(name)) for name in BUILTIN} == summaries()


def test_an_unknown_format_is_an_error_of_the_program() -> None:
    with pytest.raises(KeyError):
        load("no-such")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("standoff/valid/full", "standoff"),
        ("seedev/invalid/SEE408-two-files.zip", "standoff"),
        ("seedev-sentences/valid/sentences.tsv", "seedev-sentences"),
        ("conversion/invalid/CNV101-sentences.jsonl", "jsonl"),
        ("jsonl/invalid/COR101-later-version.jsonl", "jsonl"),
        ("hub4/valid/reference.tpl", "hub4"),
        ("hub4/invalid/HUB102-no-number.tpl", "hub4"),
        ("hub4/valid/corpus.sgml", "sgml-corpus"),
    ],
)
def test_each_file_is_of_one_format(path: str, name: str) -> None:
    source = open_source(str(FIXTURES / path))
    assert detect_format(source).name == name


def test_what_looks_alike_is_told_apart_by_its_name() -> None:
    data = b"d1\t0\t3\n"
    fitting = [name for name in BUILTIN if load(name).sniff(single(data))]
    assert fitting == ["seedev-sentences", "neleval"]
    assert detect_format(single(data, "d.tsv")).name == "seedev-sentences"
    assert detect_format(single(data, "d.neleval")).name == "neleval"
    with pytest.raises(UnknownFormat, match="may be seedev-sentences or neleval"):
        detect_format(single(data, "d"))


def test_a_saved_corpus_is_of_one_format(tmp_path: Path) -> None:
    form = load("corpus")
    assert form.write is not None
    form.write([Corpus(documents=[{"row": 0, "name": "d"}])], tmp_path / "kept")
    source = open_source(str(tmp_path / "kept"))
    assert [name for name in BUILTIN if load(name).sniff(source)] == ["corpus"]
    (reading,) = form.read(source)
    assert reading.corpus.documents["name"].to_list() == ["d"]
    assert form.locate(source.members[0], [FieldRef(1)]) == [None]


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xfe", b"x" * 10_000, b"a\tb\tc\n"])
def test_rubbish_is_of_no_format(data: bytes) -> None:
    assert [name for name in BUILTIN if load(name).sniff(single(data))] == []


def test_sentences_are_segments_of_their_documents() -> None:
    text = "d2\t0\t5\r\nd1\t0\t3\n\nd2\t6\t9"
    (reading,) = load("seedev-sentences").read(single(text.encode()))
    assert reading.findings == ()
    corpus = reading.corpus
    assert corpus.documents["name"].to_list() == ["d2", "d1"]
    columns = corpus.segments.select("document", "record", "start", "end").rows()
    assert columns == [(0, 1, 0, 5), (1, 2, 0, 3), (0, 4, 6, 9)]
    corpus.check_keys()


@pytest.mark.parametrize(
    "line",
    [
        "d1 0 3",
        "d1\t0",
        "d1\t0\t3\t4",
        "d1\t3\t3",
        "d1\t4\t3",
        "d1\t-1\t3",
        "\t0\t3",
        "d1\t0\t3.0",
        "d1\t0\t9999999999",
        "d1\t\u0660\t3",
    ],
)
def test_a_line_that_is_no_sentence_is_told(line: str) -> None:
    (reading,) = load("seedev-sentences").read(single(f"d1\t0\t3\n{line}\n".encode()))
    (finding,) = reading.findings
    assert finding.code == "SNT101"
    assert finding.span is not None
    assert (finding.span.line, finding.span.end_column) == (2, len(line) + 1)
    assert reading.corpus.segments.height == 1


def test_sentences_that_are_no_text_are_told() -> None:
    (reading,) = load("seedev-sentences").read(single(b"d1\t0\t3\nd\xff\n"))
    assert [finding.code for finding in reading.findings] == ["SRC201"]
    assert reading.corpus.segments.is_empty()


def test_the_place_of_a_sentence_is_its_line() -> None:
    (located,) = load("seedev-sentences").locate(
        single(b"d1\t0\t3\nd2\t0\t44\n").members[0], [FieldRef(2)]
    )
    assert located is not None
    assert (located.span.line, located.span.end_column) == (2, 8)
    assert located.excerpt.text == "d2\t0\t44"


def test_a_corpus_as_lines_comes_back() -> None:
    corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "é\u2028\n"}])
    stream = io.BytesIO()
    write_jsonl(corpus, stream)
    (reading,) = load("jsonl").read(single(stream.getvalue()))
    assert (reading.corpus, reading.findings) == (corpus, ())


@pytest.mark.parametrize(
    ("data", "line", "code"),
    [
        (b'{"format":"hlteval-corpus","version":1}\n{"table":"documents"}\n', 2, "COR103"),
        (b'{"format":"hlteval-corpus","version":1}\nrubbish\n', 2, "COR103"),
        (b'{"format":"hlteval-corpus","version":2}\n', 1, "COR101"),
        (b'{"format":"hlteval-corpus"}\n', 1, "COR101"),
    ],
)
def test_a_corpus_that_cannot_be_read_is_told_with_its_line(
    data: bytes, line: int, code: str
) -> None:
    (reading,) = load("jsonl").read(single(data, "kept.jsonl"))
    (finding,) = reading.findings
    assert (finding.code, finding.file) == (code, "kept.jsonl")
    assert finding.span is not None
    assert finding.span.line == line
    assert reading.corpus.documents.is_empty()
    assert [*reading.corpus.rejected_records["code"]] == ([code] if code == "COR103" else [])


def test_a_table_that_is_no_parquet_is_told(tmp_path: Path) -> None:
    form = load("corpus")
    assert form.write is not None
    form.write([Corpus()], tmp_path / "kept")
    (tmp_path / "kept" / "frames.parquet").write_bytes(b"rubbish")
    (reading,) = form.read(open_source(str(tmp_path / "kept")))
    (finding,) = reading.findings
    assert finding.code == "COR101"
    assert finding.file == str(tmp_path / "kept" / "frames.parquet")


@pytest.mark.parametrize("name", [n for n in BUILTIN if load(n).reads and not load(n).carries_all])
def test_a_format_has_words_for_all_that_it_carries(name: str) -> None:
    form = load(name)
    needed = {*form.carries} - {"sources", "documents", "documents.text"}
    assert needed <= form.words.keys()
    tables = {key.partition(":")[0].partition(".")[0] for key in form.words}
    assert tables <= {*form.tables, "rejected_records"}
    assert all(form.words.values())


def test_frames_of_kinds_that_begin_alike_are_counted_together() -> None:
    documents = [{"row": 0, "origin": 0, "name": "d"}]
    names = ["x" * 40 + end for end in ("a", "b", "b")]
    frames = [
        {"row": row, "document": 0, "origin": 0, "record": row, "kind": kind, "label": "l"}
        for row, kind in enumerate(names)
    ]
    losses = derived_losses(load("brat"), Corpus(documents=documents, frames=frames))
    assert losses[f"frames of the kind {'x' * 40}"] == len(names)
