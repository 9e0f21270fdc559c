"""Columns that files name: CoNLL-U Plus and the tables of HIPE and AIDA."""

from __future__ import annotations

from pathlib import Path

from hlteval.converters import load
from hlteval.converters.format import ReadResult
from hlteval.sources import open_source
from tests.unit.columns.test_tag_writing import corpus_of

FIXTURES = Path(__file__).parents[3] / "fixtures"


def result(form: str, path: Path, **values: str) -> ReadResult:
    (read,) = load(form).with_settings(values).read(open_source(str(path)))
    read.corpus.check_keys()
    return read


def spans(read: ReadResult) -> list[tuple[str, str]]:
    texts = read.corpus.documents["text"].to_list()
    rows = read.corpus.mentions.select("document", "label", "start", "end").rows()
    return [(label, texts[row][start:end]) for row, label, start, end in rows]


def test_columns_are_chosen_by_their_names() -> None:
    read = result("conllu-plus", FIXTURES / "conllu-plus/valid/two.conllup")
    assert read.findings == ()
    assert read.corpus.documents.select("name", "text").rows() == [
        ("a-1", "Ann-Lee joins Acme.\n#1 \U0001f600"),
        ("2", "Osh Batken"),
    ]
    assert spans(read) == [
        *[("PER", "Ann-Lee"), ("ORG", "Acme"), ("MISC", "\U0001f600")],
        *[("LOC", "Osh"), ("LOC", "Batken")],
    ]
    assert read.corpus.mentions["record"].to_list() == [6, 10, 15, 18, 19]


def test_other_columns_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text("1\tOsh\tosh\tB-LOC\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n", "utf-8")
    assert spans(result("conllu-plus", path, column="UPOS", word="LEMMA")) == [("LOC", "osh")]


def test_texts_come_back_where_no_space_is_between_words(tmp_path: Path) -> None:
    corpus = corpus_of("Ann-Lee (Osh).\nNo", [(0, 7, "PER"), (9, 12, "LOC")])
    form = load("conllu-plus")
    assert form.write is not None
    assert not any(form.count_losses(corpus).values())
    form.write([corpus], tmp_path / "x.conllup")
    read = result("conllu-plus", tmp_path / "x.conllup")
    assert read.corpus.documents["text"].to_list() == corpus.documents["text"].to_list()
    assert spans(read) == [("PER", "Ann-Lee"), ("LOC", "Osh")]
