"""What a program has in place of a path becomes a name that every part of hlteval takes."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import polars as pl
import pytest

from hlteval.representation import Corpus
from hlteval.sources import open_source
from hlteval.sources.inputs import CORPUS, FRAME, STREAM, WrongArgument, as_path

TEXT = "T1\tPER 0 2\tñé\n"
MENTION = {"document": "d1", "mention": "T1", "label": "PER", "start": 0, "end": 2}


class Arrow:
    """A frame of another library: only the interface of Arrow."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__()


class LikePandas:
    """A frame of pandas without pyarrow: it has the interface, which cannot be used."""

    def __init__(self, columns):
        self.data, self.columns = columns, list(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        raise ImportError("no pyarrow")

    def __getitem__(self, name):
        return Values(self.data[name])


class Values(list):
    """A column of pandas."""

    def tolist(self):
        return list(self)


class NAType:
    """The missing value of pandas."""


def content(value):
    (member,) = open_source(as_path("x", value)).members
    return member.fetch().decode()


def corpus_of(value, table=""):
    return open_source(as_path("x", value, table=table)).corpus


def test_a_path_stays_a_path(tmp_path):
    assert as_path("x", tmp_path) == str(tmp_path)
    assert as_path("x", "-") == "-"


def test_open_files_are_read_whatever_they_are(tmp_path):
    file = tmp_path / "d1.a1"
    file.write_text(TEXT, encoding="utf-8")
    with file.open("rb") as binary, file.open(encoding="utf-8") as text:
        name = as_path("x", binary)
        assert (name, content(text)) == (str(file), TEXT)
    (member,) = open_source(name).members  # it was read while it was open
    assert (member.basename, member.fetch().decode()) == ("d1.a1", TEXT)
    assert content(io.BytesIO(TEXT.encode())) == content(io.StringIO(TEXT)) == TEXT
    assert as_path("x", io.StringIO("")) == STREAM


def test_text_keeps_its_characters_in_any_encoding(tmp_path):
    file = tmp_path / "d1.a1"
    file.write_text(TEXT, encoding="latin-1")
    with file.open(encoding="latin-1") as text:
        (member,) = open_source(as_path("x", text), encoding="latin-1").members
    assert member.fetch().decode(member.encoding) == TEXT
    with file.open("rb") as binary:
        (member,) = open_source(as_path("x", binary), encoding="latin-1").members
    assert member.fetch().decode(member.encoding) == TEXT


def test_the_content_of_an_open_file_decides_whether_it_is_an_archive(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("d1.a1", TEXT)
    packed.seek(0)
    assert [m.name for m in open_source(as_path("x", packed)).members] == ["d1.a1"]
    path = tmp_path / "d1.a1.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(TEXT)
    with gzip.open(path) as file:
        assert content(file) == TEXT


def test_a_corpus_is_its_own_source():
    corpus = Corpus(documents=[{"row": 0, "name": "d1"}])
    name = as_path("x", corpus)
    source = open_source(name, encoding="latin-1")
    assert (name, source.kind, source.corpus is corpus) == (CORPUS, "memory", True)
    assert not source.has_name


@pytest.mark.parametrize("library", [pl.DataFrame, pl.LazyFrame, lambda r: Arrow(pl.DataFrame(r))])
def test_frames_of_any_library_are_tables(library):
    corpus = corpus_of({"mentions": library([MENTION])})
    assert corpus.documents["name"].to_list() == ["d1"]
    row = corpus.mentions.row(0, named=True)
    assert {name: row[name] for name in ("row", "document", "origin", "record", "mention")} == {
        "row": 0,
        "document": 0,
        "origin": 0,
        "record": 1,
        "mention": "T1",
    }
    assert corpus.sources["path"].to_list() == [FRAME]
    corpus.check_keys()


def test_a_frame_of_pandas_needs_no_pyarrow():
    nan = float("nan")
    columns = {"document": ["d1", "d1"], "mention": ["T1", "T2"], "label": ["PER", "PER"]}
    columns |= {"start": [0, 1], "end": [2.0, 3.0], "entity": ["E1", NAType()]}
    columns |= {"confidence": [0.5, nan], "text": [nan, "ab"]}
    frame = LikePandas(columns)
    mentions = corpus_of(frame, "mentions").mentions
    assert mentions["end"].to_list() == [2, 3]
    assert mentions["entity"].to_list() == ["E1", None]
    assert mentions["text"].to_list() == [None, "ab"]
    assert mentions["confidence"].to_list() == [0.5, None]


def test_the_table_of_one_frame_follows_from_its_columns():
    assert corpus_of(pl.DataFrame([MENTION])).mentions.height == 1
    assert corpus_of(pl.DataFrame([MENTION]), "mentions").mentions.height == 1


def test_types_that_hold_the_same_values_are_cast():
    frame = pl.DataFrame([MENTION]).cast({"start": pl.UInt8, "end": pl.Float32})
    frame = frame.with_columns(pl.col("label").cast(pl.Categorical), pl.lit(None).alias("text"))
    assert corpus_of(frame).mentions.select("start", "end", "label").rows() == [(0, 2, "PER")]


@pytest.mark.parametrize(
    "library", [pl.DataFrame, lambda rows: LikePandas(pl.DataFrame(rows).to_dict(as_series=False))]
)
@pytest.mark.parametrize(
    ("labels", "texts"),
    [([1, 2], ["1", "2"]), ([1.0, 2.5], ["1", "2.5"]), ([0.1, -3.0], ["0.1", "-3"])],
)
def test_numbers_are_labels_as_tables_have_them(library, labels, texts):
    rows = [{**MENTION, "label": label} for label in labels]
    assert corpus_of(library(rows), "mentions").mentions["label"].to_list() == texts


def test_a_number_that_is_missing_is_no_label():
    frame = pl.DataFrame([{**MENTION, "label": float("nan")}])
    with pytest.raises(WrongArgument, match=r"mentions\.label must not be null"):
        as_path("x", frame)


def test_a_single_column_of_pandas_is_no_table():
    column = LikePandas({})
    del column.columns
    with pytest.raises(WrongArgument, match="it has no columns with names"):
        as_path("x", column, table="mentions")


def test_documents_of_a_frame_are_those_of_its_table():
    documents = pl.DataFrame({"row": [7, 9], "name": ["d0", "d1"], "text": ["", "ab"]})
    corpus = corpus_of({"documents": documents, "mentions": pl.DataFrame([MENTION])})
    assert corpus.mentions["document"].to_list() == [9]


WITHOUT = pl.DataFrame([MENTION]).drop("label")


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ({}, "x: no tables; a corpus has sources, documents"),
        ({"mention": WITHOUT}, "x: unknown table mention; did you mean mentions?"),
        ({3: WITHOUT}, "x: unknown table 3; use one of"),
        ({"mentions": 3}, "x: mentions is int, expected a data frame"),
        ({"mentions": WITHOUT}, "x: mentions.label is missing (String)"),
        (
            {"mentions": pl.DataFrame([{**MENTION, "start": "0"}])},
            "x: mentions.start is String, expected Int64",
        ),
        (
            {"mentions": pl.DataFrame([{**MENTION, "start": 0.5}])},
            "x: mentions.start is Float64, expected Int64",
        ),
        (
            {"mentions": pl.DataFrame([{**MENTION, "start": 1e30}])},
            "x: mentions.start is not Int64",
        ),
        (
            {"mentions": pl.DataFrame([{**MENTION, "label": None}])},
            "x: mentions.label must not be null",
        ),
        (
            {"mentions": pl.DataFrame([{**MENTION, "lable": "PER"}])},
            "x: mentions has no column lable; did you mean label?",
        ),
        (
            {"mentions": pl.DataFrame([MENTION]), "documents": pl.DataFrame({"name": ["d2"]})},
            "x: mentions.document: unknown document d1; add it to the table documents",
        ),
        (
            {
                "mentions": pl.DataFrame([MENTION]),
                "documents": pl.DataFrame({"name": ["d1", "d1"]}),
            },
            "x: documents.name must be unique",
        ),
        (pl.DataFrame({"a": [1]}), "x: a data frame of a fits no table of a corpus"),
    ],
)
def test_frames_that_are_no_tables_say_what_is_expected(frames, message):
    with pytest.raises(WrongArgument) as caught:
        as_path("x", frames)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("value", [None, 3, 1.5, b"x", [], object(), Path, Corpus, pl.DataFrame])
def test_anything_else_is_a_type_error_that_names_the_argument(value):
    with pytest.raises(TypeError, match=r"^x: expected a path, .* got "):
        as_path("x", value)


def test_only_files_are_taken_where_only_files_can_be():
    with pytest.raises(TypeError, match=r"^x: expected a path or an open file, got Corpus"):
        as_path("x", Corpus(), files_only=True)


class Numbers:
    """A stream of something else."""

    def read(self, size):
        return 3


def test_files_that_cannot_be_read_are_named(tmp_path):
    closed = io.BytesIO(b"")
    closed.close()
    with pytest.raises(WrongArgument, match=r"x: cannot read <stream>: .* closed file"):
        as_path("x", closed)
    with (tmp_path / "out").open("wb") as output, pytest.raises(WrongArgument, match="x: cannot"):
        as_path("x", output)
    with pytest.raises(TypeError, match=r"x: read.. of <stream> returns int, not bytes"):
        as_path("x", Numbers())


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_what_is_no_path_is_named(path):
    with pytest.raises(WrongArgument, match=r"^x: .* is not a path"):
        as_path("x", path)


def test_a_missing_path_is_named_with_its_argument(tmp_path):
    with pytest.raises(FileNotFoundError, match="x: no such file or folder") as caught:
        as_path("x", tmp_path / "none")
    assert caught.value.filename == str(tmp_path / "none")
