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


def linked(read: ReadResult) -> list[tuple[str, str | None]]:
    texts = read.corpus.documents["text"].to_list()
    rows = read.corpus.mentions.select("document", "entity", "start", "end").rows()
    return [(texts[row][start:end], entity) for row, entity, start, end in rows]


def test_hipe_has_candidates_and_the_text_of_its_notes() -> None:
    read = result("hipe", FIXTURES / "hipe/valid/two.tsv")
    assert read.findings == ()
    assert read.corpus.documents.select("name", "text").rows() == [
        ("news-1790-a1", "Aida Lee quitte Osh.\n# \U0001f600!"),
        ("news-1790-a2", "Kara"),
    ]
    wanted = [("Aida Lee", "Q7"), ("Osh", "Q206"), ("\U0001f600", "NIL"), ("Kara", None)]
    assert linked(read) == wanted
    assert read.corpus.links.select("mention_row", "rank", "entity").rows() == [(0, 2, "NIL")]
    metonymic = result("hipe", FIXTURES / "hipe/valid/two.tsv", column="NE-COARSE-METO")
    assert linked(metonymic) == [("Osh", "Q9")]


def test_hipe_is_written_as_it_is_read(tmp_path: Path) -> None:
    read = result("hipe", FIXTURES / "hipe/valid/two.tsv")
    form = load("hipe")
    assert form.write is not None
    assert not any(form.count_losses(read.corpus).values())
    form.write([read.corpus], tmp_path / "x.tsv")
    lines = (tmp_path / "x.tsv").read_text("utf-8").split("\n")
    assert lines[:5] == [
        "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP"
        "\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC",
        "# hipe2022:document_id = news-1790-a1",
        "Aida\tB-pers\t_\t_\t_\t_\t_\tQ7|NIL\t_\t_",
        "Lee\tI-pers\t_\t_\t_\t_\t_\tQ7|NIL\t_\t_",
        "quitte\tO\t_\t_\t_\t_\t_\t_\t_\t_",
    ]
    assert lines[5].endswith("\tNoSpaceAfter")
    assert lines[6].endswith("\tEndOfSentence")
    again = result("hipe", tmp_path / "x.tsv").corpus
    assert again.documents["text"].to_list() == read.corpus.documents["text"].to_list()
    assert again.mentions.equals(read.corpus.mentions.with_columns(again.mentions["record"]))
    assert again.links["entity"].to_list() == ["NIL"]


def test_aida_has_names_with_entities() -> None:
    path = FIXTURES / "aida/valid/two.tsv"
    read = result("aida", path)
    assert read.findings == ()
    assert read.corpus.documents.select("name", "text").rows() == [
        ("947testa", "EU rejects German call .\nOsh Kara Darya"),
        ("948testa", "\U0001f600 Osh"),
    ]
    assert linked(read) == [
        *[("EU", "NIL"), ("German", "Germany"), ("Osh", "Osh"), ("Kara Darya", "Kara_Darya")],
        ("Osh", "Osh"),
    ]
    pages = result("aida", path, entity="freebase")
    assert [entity for _, entity in linked(pages)] == ["NIL", "/m/0345h", "NIL", "/m/01", "/m/02"]


def test_lines_without_a_word_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.conllup"
    path.write_text(
        "# global.columns = ID FORM NER\n_\tA\tB-X\n2-3\tab\tB-X\n2.1\t\tO\n3\t\tI-X\n", "utf-8"
    )
    read = result("conllu-plus", path)
    assert spans(read) == [("X", "A")]
    (only,) = read.findings
    assert (only.code, only.span and only.span.line) == ("COL101", 5)
    assert only.help.endswith("the word is empty")
    assert read.corpus.rejected_records["text"].to_list() == ["3\t\tI-X"]


def test_words_that_begin_like_a_comment_are_words(tmp_path: Path) -> None:
    path = tmp_path / "a.conllup"
    path.write_text("# global.columns = FORM NER\n# a\tb\n#tag\tB-X\n#\tO\n", "utf-8")
    assert spans(result("conllu-plus", path)) == [("X", "#tag")]
    assert result("conllu-plus", path).corpus.tokens["text"].to_list() == ["#tag", "#"]
