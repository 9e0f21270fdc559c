"""CoNLL columns and label tables: what is read of them, and where problems are found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import validate
from hlteval.converters import WrongSetting, load
from hlteval.converters.format import ReadResult
from hlteval.representation.tag_schemes import (
    ALLOWED,
    Scheme,
    TagSequence,
    find_broken,
    read_spans,
    repair,
    strict,
)
from hlteval.sources import open_source
from tests.effort import tries

FIXTURES = Path(__file__).parents[3] / "fixtures"
#: File, line, column, end column (zeros for the file), and the settings that it is read with.
PLACES = """
conll-columns COL101-more-columns.conll   4  1 10
conll-columns COL102-small-letter.conll   2  5 10 scheme=IOB2
conll-columns COL103-no-beginning.conll   2  5 10 scheme=IOB2
conll-columns COL104-older-scheme.conll   0  0  0 scheme=IOB2
conll-columns COL105-two-columns.conll    0  0  0 column=7
conll-columns COL106-broken.conll         2  5 10 scheme=IOB2 repair=error
conll-columns COL107-other-letters.conll  0  0  0 scheme=IOB2
conllu-plus   COL101-blank.conllup        3  1 15
conllu-plus   COL102-no-prefix.conllup    3 10 13
conllu-plus   COL103-no-beginning.conllup 3 10 15
conllu-plus   COL105-no-form.conllup      0  0  0
hipe          COL101-nine-columns.tsv     4  1 21
hipe          COL103-no-beginning.tsv     4  6 11
hipe          COL105-no-such-column.tsv   0  0  0
aida          COL101-eight-columns.tsv    2  1 59
aida          COL102-other-letter.tsv     3  6  7
label-table   LBT101-other-column.tsv     1  1 10 label=label
label-table   LBT101-one-column.tsv       1  1  7
label-table   LBT102-third-cell.tsv       2  1 14
label-table   LBT103-no-document.tsv      3  1  9
label-table   LBT104-comma.tsv            2  1 14 score=score
label-table   LBT105-no-header.tsv        1  1 10
label-table   LBT105-cola.tsv             1  1 28
label-table   LBT106-quoted.csv           3  1 21 quoting=minimal
label-table   LBT107-a-header.tsv         1  1 17 glue=cola
label-table   LBT108-other-names.tsv      1  1 13
label-table   LBT109-regions.tsv          2  1 47
label-table   LBT110-no-consensus.tsv     3  1  5
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


def result(form: str, path: Path, **values: str) -> ReadResult:
    (read,) = load(form).with_settings(values).read(open_source(str(path)))
    read.corpus.check_keys()
    return read


def test_other_cells_in_quotes_are_read_beside_wrong_ones() -> None:
    path = FIXTURES / "label-table" / "invalid" / "LBT106-quoted.csv"
    read = result("label-table", path, quoting="minimal")
    assert read.corpus.instances["label"].to_list() == ['a "b", c', "x\ny"]
    assert [item.span and item.span.line for item in read.findings] == [3, 6]


def test_every_invalid_file_has_its_place() -> None:
    files = {
        path.name
        for form in ("conll-columns", "conllu-plus", "hipe", "aida", "label-table")
        for path in (FIXTURES / form / "invalid").iterdir()
    }
    assert files == {row[1] for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_the_first_finding_is_at_its_place(row: list[str]) -> None:
    form, name, line, column, end, *words = row
    values = dict(word.split("=") for word in words)
    first = result(form, FIXTURES / form / "invalid" / name, **values).findings[0]
    span = first.span
    place = (span.line, span.column, span.end_column) if span else (0, 0, 0)
    assert (first.code, *place) == (name[:6], int(line), int(column), int(end))


def test_documents_sentences_and_spans_of_columns() -> None:
    read = result("conll-columns", FIXTURES / "conll-columns/valid/two.conll")
    corpus = read.corpus
    assert read.findings == ()
    assert corpus.documents.select("name", "text").rows() == [
        ("1", "Ann Lee joins Acme .\nShe left"),
        ("2", "Osh Batken"),
    ]
    columns = ("document", "record", "label", "start", "end")
    assert corpus.mentions.select(columns).rows() == [
        (0, 3, "PER", 0, 7),
        (0, 6, "ORG", 14, 18),
        (1, 14, "LOC", 0, 3),
        (1, 15, "LOC", 4, 10),
    ]
    assert corpus.segments.select("document", "start", "end").rows() == [
        (0, 0, 20),
        (0, 21, 29),
        (1, 0, 10),
    ]


def test_a_line_of_a_sign_with_a_tag_is_not_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("A x B-P\n# O\n# no tag\nB x O\n", "utf-8")
    found = result("conll-columns", path).findings
    assert [(item.code, item.span and item.span.line) for item in found] == [("COL101", 2)]


def test_tags_without_a_prefix_do_not_hide_the_format(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("Ann PER\nsaw O\nBob B-PER\n\n")
    verdict = validate("mentions", str(path))
    assert [item.code for item in verdict.findings] == ["COL102"]


def test_several_files_give_documents_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("Ann B-PER\n", "utf-8")
    (tmp_path / "b.conll").write_text("-DOCSTART- O\n\nOsh B-LOC\n\n-DOCSTART- O\n\nx O\n", "utf-8")
    source = open_source(str(tmp_path))
    reads = load("conll-columns").read(source)
    assert [name for read in reads for name in read.corpus.documents["name"]] == ["a", "b-1", "b-2"]


@pytest.mark.parametrize(
    ("text", "values", "spans"),
    [
        ("A  x B-P \r\nB x I-P\r\n", {}, [("P", "A B")]),
        ("New York\tB-P\nis\tO\n", {}, [("P", "New York")]),
        ("B-P A\nO B\n", {"column": "0", "word": "1"}, [("P", "A")]),
        ("A PER-B\nB PER-I\n", {"affix": "suffix"}, [("PER", "A B")]),
        ("A O\nB I-P\n", {"repair": "drop", "scheme": "IOB2"}, []),
        ("#begin document (x); part 002\nA B-P\n#end document\n", {}, [("P", "A")]),
        (
            "# id 1\tdomain=en\nA _ _ B-P\nB _ _ I-P\n\n# id 2\tdomain=en\nC _ _ O\n",
            {},
            [("P", "A B")],
        ),
        ("# sent_id = 1\nA x x B-P\n\n#\nB x x O\n", {}, [("P", "A")]),
        ("# B-P\n1 I-P\nA O\n", {}, [("P", "# 1")]),
        ("1\tA\tB-P\n2\tB\tI-P\n\n#\thttp://a.b [2010-01-01]\n1\tC\tO\n", {}, [("P", "A B")]),
        ("7 A B-P\n8 B I-P\n", {}, [("P", "7 8")]),
        ("1 B-P\n", {}, [("P", "1")]),
        ("", {}, []),
    ],
)
def test_other_layouts(
    tmp_path: Path, text: str, values: dict[str, str], spans: list[tuple[str, str]]
) -> None:
    path = tmp_path / "a.conll"
    path.write_bytes(text.encode())
    corpus = result("conll-columns", path, **values).corpus
    texts = corpus.documents["text"].to_list()
    rows = corpus.mentions.select("document", "label", "start", "end").rows()
    assert [(label, texts[row][start:end]) for row, label, start, end in rows] == spans
    if "#begin" in text:
        assert corpus.documents["name"].to_list() == ["x;2"]


def test_each_sentence_can_be_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("A B-P\n\nB B-P\n", "utf-8")
    corpus = result("conll-columns", path, document="sentence").corpus
    assert corpus.mentions["document"].to_list() == [0, 1]
    with pytest.raises(WrongSetting):
        result("conll-columns", path, column="last")
    path.write_text("-DOCSTART- O\n\nthe O\nsentence B-X\nis O\n\nB B-P\n", "utf-8")
    corpus = result("conll-columns", path, document="sentence").corpus
    assert corpus.documents["text"].to_list() == ["the sentence is", "B"]


def test_the_word_is_not_read_as_a_tag(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("I B-P\nO B-P\n", "utf-8")
    read = result("conll-columns", path, conlleval="gold")
    assert [item.message for item in read.findings] == [
        "the file has no column -2: its lines have 2 columns"
    ]


def test_labels_scores_and_empty_cells_of_tables(tmp_path: Path) -> None:
    read = result("label-table", FIXTURES / "label-table/valid/single.tsv")
    assert read.corpus.documents["name"].to_list() == ["d1", "d2", "d3"]
    assert read.corpus.instances["label"].to_list() == ["favour", "against"]
    values = {"separator": ";", "score": "score"}
    read = result("label-table", FIXTURES / "label-table/valid/several.csv", **values)
    rows = read.corpus.instances.select("document", "label", "llr").rows()
    assert rows == [(0, "a", 0.5), (0, "b", 0.5), (1, "c", 0.001)]
    path = tmp_path / "wide.csv"
    path.write_text('"id","a","b"\n"x",0.5,1\n', "utf-8")
    read = result("label-table", path, wide="yes", quoting="minimal")
    assert read.corpus.instances.select("label", "llr").rows() == [("a", 0.5), ("b", 1.0)]
    path.write_text("x,a\ny,b\n", "utf-8")
    read = result("label-table", path, header="no")
    assert read.corpus.instances["label"].to_list() == ["a", "b"]


TAGS = st.lists(st.sampled_from(["O", *(f"{p}-{t}" for p in "BIESLU" for t in "XY")]), max_size=9)


@given(TAGS, st.sampled_from([*ALLOWED]))
@settings(max_examples=tries(60), deadline=None)
def test_a_valid_sequence_is_read_alike_by_all(tags: list[str], scheme: Scheme) -> None:
    """Repair and the strict mode only differ where the sequence is not valid."""
    kept = [tag for tag in tags if tag[0] in ALLOWED[scheme]]
    begins = np.array([at == 0 for at in range(len(kept))], dtype=np.bool_)
    sequence = TagSequence.parse(pl.Series(kept, dtype=pl.String), begins)
    spans, wrong = read_spans(sequence, scheme)
    valid = not wrong.either.any()
    assert valid == (not find_broken(sequence, scheme).either.any())
    if scheme not in {"IOB1", "IOE1"} and valid:  # of these two, the strict mode drops valid spans
        strictly = strict(sequence, scheme)
        assert [s.tolist() for s in spans[:2]] == [s.tolist() for s in strictly[:2]]
    if scheme != "BILOU":
        assert [s.tolist() for s in repair(sequence)[:2]] == [s.tolist() for s in spans[:2]]
    dropped, _ = read_spans(sequence, scheme, keep_broken=False)
    assert {*dropped.first.tolist()} <= {*spans.first.tolist()}


def test_cells_between_commas_may_be_in_quotes_those_between_tabs_are_data(tmp_path):
    (tmp_path / "a.csv").write_text('id,text,label\n1,"so, so","pos"\n', "utf-8")
    (tmp_path / "a.tsv").write_text('id\ttext\tlabel\n1\t"so\t"pos"\n', "utf-8")
    labels = [
        result("label-table", tmp_path / name).corpus.instances["label"].to_list()
        for name in ("a.csv", "a.tsv")
    ]
    assert labels == [["pos"], ['"pos"']]
    read = result("label-table", tmp_path / "a.csv", quoting="none")
    assert [finding.code for finding in read.findings] == ["LBT102"]


@pytest.mark.parametrize(
    ("content", "rows", "codes"),
    [
        # SNLI: its first column is the label, which was taken for the document, too
        ("gold_label\tsentence1\tpairID\nneutral\tA\tp1\n-\tB\tp2\n",
         [("p1", "neutral"), ("p2", "-")], ["LBT110"]),
        ("label\ttext\nspam\tWin!\nham\tHello\n", [("Win!", "spam"), ("Hello", "ham")], []),
        # Label Studio: choices alone, of which no column is named label; and regions
        ("annotation_id,id,lead_time,mood,text,updated_at\n1,7,2.5,glad,Hi,2024\n",
         [("7", "2024")], ["LBT108"]),
        ('id,lead_time,label,text\n7,1,"[{""start"": 0}]",Hi\n', [("7", '[{"start": 0}]')],
         ["LBT109"]),
        ("id\tsentence1\tsentence2\tscore\n1\tA\tB\t4.5\n", [("1", "4.5")], []),
        # Excel where commas are in decimal numbers
        ('id;text;label\n1;"a; b";pos\n2;c, d;neg\n', [("1", "pos"), ("2", "neg")], []),
    ],
    ids=["snli", "label-first", "choices", "regions", "sts-b", "semicolons"],
)  # fmt: skip
def test_the_columns_of_tables_that_tools_write(
    content: str, rows: list[tuple[str, str]], codes: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "x.tsv"
    path.write_text(content, "utf-8")
    read = result("label-table", path)
    names = dict(read.corpus.documents.select("row", "name").rows())
    found = read.corpus.instances.select("document", "label").rows()
    assert [(names[document], label) for document, label in found] == rows
    assert [item.code for item in read.findings] == codes


def test_a_line_with_an_empty_cell_says_so(tmp_path: Path) -> None:
    """It had "2 columns, the others have 2"."""
    path = tmp_path / "x.conll"
    path.write_text("Osh\tB-LOC\n\tO\n", "utf-8")
    (only,) = result("conll-columns", path).findings
    assert only.message == "this line has 1 column, the others have 2"
    assert only.help == "write 2 columns; one is empty"
