"""Whatever a corpus holds, both stores give it back, and the same bytes each time."""

from __future__ import annotations

from io import BytesIO

import msgspec
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hlteval.converters.corpus.jsonl import write_batches, write_jsonl
from hlteval.converters.corpus.parquet import StoreError, save
from hlteval.representation import Corpus
from tests.effort import tries
from tests.stored import load, read_jsonl

FEW = settings(
    max_examples=tries(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def lines_of(corpus: Corpus) -> bytes:
    stream = BytesIO()
    write_jsonl(corpus, stream)
    return stream.getvalue()


@FEW
@given(data=st.data())
def test_parquet_gives_the_corpus_back(data, corpora, tmp_path):
    corpus = data.draw(corpora)
    save(corpus, tmp_path / "corpus")
    loaded = load(tmp_path / "corpus")
    assert loaded == corpus
    assert [frame.schema for _, frame in loaded.tables()] == [f.schema for _, f in corpus.tables()]


@FEW
@given(data=st.data())
def test_json_lines_give_the_corpus_back(data, corpora):
    corpus = data.draw(corpora)
    content = lines_of(corpus)
    again = read_jsonl(content)
    assert again == corpus
    assert lines_of(again) == content


@FEW
@given(data=st.data())
def test_every_line_is_one_object_without_nulls(data, corpora):
    corpus = data.draw(corpora)
    header, *lines = lines_of(corpus).removesuffix(b"\n").split(b"\n")
    rows = [msgspec.json.decode(line) for line in lines]
    assert msgspec.json.decode(header) == {"format": "hlteval-corpus", "version": 1}
    expected = [
        {"table": name} | {key: value for key, value in row.items() if value is not None}
        for name, frame in corpus.tables()
        for row in frame.rows(named=True)
    ]
    assert rows == expected
    assert [list(row) for row in rows] == [list(row) for row in expected]


@FEW
@given(data=st.data())
def test_bytes_do_not_depend_on_how_the_frames_were_put_together(data, corpora, tmp_path):
    corpus = data.draw(corpora)
    pieced = corpus.replace(
        **{
            name: pl.concat(frame.iter_slices(1), rechunk=False)
            for name, frame in corpus.tables()
            if frame.height
        }
    )
    for name, stored in [("whole", corpus), ("pieced", pieced)]:
        save(stored, tmp_path / name)
    for file in (tmp_path / "whole").iterdir():
        assert file.read_bytes() == (tmp_path / "pieced" / file.name).read_bytes()
    assert lines_of(pieced) == lines_of(corpus)


@FEW
@given(data=st.data())
def test_damaged_json_lines_are_refused_at_a_place_or_still_a_corpus(data, corpora):
    content = lines_of(data.draw(corpora))
    at = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.sampled_from(b'{}[]",:0x\\\n \xff\x00\xe9'))
    content = content[:at] + bytes([byte]) + content[at + data.draw(st.integers(0, 1)) :]
    try:
        found = read_jsonl(content, "c.jsonl")
    except StoreError as error:
        lines = content.split(b"\n")
        assert error.file == "c.jsonl"
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1].decode("utf-8", "replace")) + 1
    else:
        assert read_jsonl(lines_of(found)) == found


@settings(max_examples=tries(15), deadline=None)
@given(data=st.data())
def test_damaged_parquet_is_refused_or_still_a_corpus(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    save(
        Corpus(documents=[{"row": row, "name": f"d{row}", "text": "aba"} for row in range(9)]),
        folder,
    )
    file = folder / "documents.parquet"
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) // 2]))])
    try:
        found = load(folder)
    except StoreError as error:
        assert error.file.startswith(str(folder))
    else:
        assert found.documents.columns == Corpus().documents.columns


@FEW
@given(data=st.data())
def test_batches_are_written_as_the_corpus_that_they_make(data, corpora, tmp_path):
    each = [data.draw(corpora) for _ in range(data.draw(st.integers(0, 3)))]
    stream = BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hlteval.converters.corpus.jsonl._IN_MEMORY", 100)
        write_batches(iter(each), stream, tmp_path)
    assert stream.getvalue() == lines_of(Corpus.concat(each))
    assert list(tmp_path.iterdir()) == []
