"""CoNLL columns as written: the tags of each scheme, what is lost, and layouts of other tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.effort import tries

SCHEMES = ("IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU")
Span = tuple[int, int, str]
FORM = load("conll-columns")


def corpus_of(text: str, spans: Sequence[Span], name: str = "d1", **more: object) -> Corpus:
    """A text with the mentions of some of its characters."""
    place = {"document": 0, "origin": 0}
    mentions = [
        {**place, "row": at, "record": at, "start": a, "end": b, "label": label, "mention": ""}
        for at, (a, b, label) in enumerate(spans)
    ]
    documents = [{"row": 0, "name": name, "text": text, "origin": 0}]
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    return Corpus(sources=[source], documents=documents, mentions=mentions)


def written(corpus: Corpus, path: Path, **values: str) -> str:
    write = FORM.with_settings(values).write
    assert write is not None
    write([corpus], path)
    return path.read_text("utf-8")


def result(path: Path, **values: str) -> ReadResult:
    (read,) = FORM.with_settings(values).read(open_source(str(path)))
    return read


ADJACENT = "a bc de f", [(0, 1, "X"), (2, 7, "X"), (8, 9, "Y")]


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("IOB1", "I-X B-X I-X I-Y"),
        ("IOB2", "B-X B-X I-X B-Y"),
        ("IOE1", "E-X I-X I-X I-Y"),
        ("IOE2", "E-X I-X E-X E-Y"),
        ("IOBES", "S-X B-X E-X S-Y"),
        ("BILOU", "U-X B-X L-X U-Y"),
    ],
)
def test_the_tags_of_each_scheme(scheme: str, tags: str, tmp_path: Path) -> None:
    lines = written(corpus_of(*ADJACENT), tmp_path / "x", **{"to-scheme": scheme}).splitlines()
    assert [line.split("\t")[1] for line in lines if "\t" in line] == tags.split()


@st.composite
def tagged(draw: st.DrawFn) -> tuple[str, list[Span]]:
    """Sentences of words, and spans of words that do not overlap."""
    text, spans = "", []
    for number in range(draw(st.integers(1, 3))):
        text += "\n" * (number > 0)
        ahead = draw(st.integers(1, 6))
        first = True
        while ahead > 0:
            size = draw(st.integers(1, min(3, ahead)))
            ahead -= size
            words = " ".join(
                draw(st.sampled_from(["Osh", "\U0001f600", "\xf6", "x1"])) for _ in range(size)
            )
            text += " " * (not first)
            if draw(st.booleans()):
                label = draw(st.sampled_from(["X", "Y-Z", "-W-"]))
                spans.append((len(text), len(text) + len(words), label))
            text += words
            first = False
    return text, spans


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_written_is_read_in_each_scheme(
    scheme: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("schemes") / "x.conll"

    @given(tagged())
    @settings(max_examples=tries(20), deadline=None)
    def hold(drawn: tuple[str, list[Span]]) -> None:
        corpus = corpus_of(*drawn)
        assert not any(FORM.losses(corpus).values())
        written(corpus, path, **{"to-scheme": scheme})
        read = result(path, scheme=scheme)
        assert read.findings == ()
        assert read.corpus.documents.select("name", "text").rows() == [("d1", drawn[0])]
        assert read.corpus.mentions.select("start", "end", "label").rows() == drawn[1]

    hold()


def test_what_tags_cannot_represent_is_counted(tmp_path: Path) -> None:
    spans = [(0, 7, "A"), (4, 7, "B"), (4, 11, "A"), (5, 7, "A"), (8, 8, "A"), (0, 3, "a b")]
    corpus = corpus_of("one two six.\nten", [*spans, (8, 16, "A"), (13, 16, "C")])
    broken = corpus.mentions.to_dicts()
    broken[-1]["fragments"] = [{"start": 0, "end": 3}, {"start": 13, "end": 16}]
    corpus = corpus.replace(mentions=broken)
    assert FORM.count_losses(corpus) | {} == {
        "spans that overlap another one": 2,  # of 4-7 in 0-7, and of 4-11 beside it
        "spans that do not begin and end with words": 2,
        "mentions whose label is empty or has spaces": 1,
        "spans over several sentences": 1,
        "texts that are not their words with single spaces": 1,
        **dict.fromkeys(
            (
                "documents whose name no line can have",
                "names of documents",
                "documents that are joined to the first",
                "sentences with other offsets in the text of words",
                "tokens with other offsets in the text of words",
                "tokens outside of sentences",
            ),
            0,
        ),
    }
    named = corpus.mentions.filter(corpus.mentions["mention"] != "").height
    assert FORM.losses(corpus).get("identifiers of mentions", 0) == named
    # one that is discontinuous is counted by its fragments, as in all formats
    assert FORM.losses(corpus)["discontinuous span"] == 1
    lines = written(corpus, tmp_path / "x").splitlines()
    assert lines == [
        *("-DOCSTART- (d1)", "", "one\tB-A", "two\tI-A", "six\tO", ".\tO", "", "ten\tO", "")
    ]


@pytest.mark.parametrize(
    ("line", "first", "names", "lost"),
    [
        ("named", "-DOCSTART- (d1)", ["d1", "d2"], {}),
        ("begin", "#begin document (d1); part 000", ["d1", "d2"], {}),
        ("plain", "-DOCSTART- -X- O", ["1", "2"], {"names of documents": 2}),
        (
            "none",
            "Osh _ B-X",
            ["1"],
            {
                "names of documents": 2,
                "documents that are joined to the first": 1,
                "texts that are not their words with single spaces": 2,
            },
        ),
    ],
)
def test_lines_of_documents_and_other_columns(
    line: str, first: str, names: list[str], lost: dict[str, int], tmp_path: Path
) -> None:
    corpus = Corpus.concat([corpus_of("Osh", [(0, 3, "X")]), corpus_of("b", [(0, 1, "Y")], "d2")])
    layout = {"separator": "space", "columns": "word,pos,tag", "document-line": line}
    assert written(corpus, tmp_path / "x.conll", **layout).startswith(f"{first}\n")
    read = result(tmp_path / "x.conll")
    assert read.findings == ()
    assert read.corpus.documents["name"].to_list() == names
    assert read.corpus.mentions["label"].to_list() == ["X", "Y"]
    counted = FORM.with_settings({"document-line": line}).count_losses(corpus)
    assert {what: count for what, count in counted.items() if count} == lost


def test_a_scheme_stays_where_nothing_else_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("A\tU-X\nB\tB-X\nC\tL-X\n", "utf-8")
    corpus = result(tmp_path / "a.conll").corpus
    assert "A\tU-X\nB\tB-X\nC\tL-X\n" in written(corpus, tmp_path / "b.conll")


def test_of_two_tags_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("Ann NNP B-PER O\nsaw VBD O O\nOsh NNP O B-LOC\n\n", "utf-8")
    labels = [
        result(path, conlleval=side).corpus.mentions["label"].to_list()
        for side in ("gold", "prediction")
    ]
    assert labels == [["PER"], ["LOC"]]


def test_a_word_with_blanks_is_said_and_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("-DOCSTART- (1 EU) x y z\n\n1 000 CD O\nEU NNP B-ORG\nx CD O\n", "utf-8")
    (problem,) = result(path).findings
    assert (problem.code, problem.span and problem.span.line) == ("COL101", 3)
    assert problem.help.endswith("if '1 000' is one word, set blanks to word")
    read = result(path, blanks="word")
    assert read.findings == ()
    assert read.corpus.tokens["text"].to_list() == ["1 000", "EU", "x"]


def test_names_of_documents_that_are_repeated_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("-DOCSTART- (7 A)\n\na O\n\n-DOCSTART- (7 A)\n\nb B-X\n", "utf-8")
    assert result(path).corpus.documents["name"].to_list() == ["7 A", "7 A (2)"]


@pytest.mark.parametrize(
    ("scheme", "text", "reading"),
    [
        (
            "IOB2",
            "a O\nb I-P\nc I-P\n",
            "write B-P; conlleval, spaCy and seqeval read P of 2 tokens, "
            "seqeval strict reads nothing",
        ),
        (
            "IOE1",
            "a E-P\nb O\nc I-P\nd E-P\ne I-P\n",
            "write I-P; conlleval and seqeval read P of 1 token, seqeval strict reads nothing",
        ),
        (
            "IOBES",
            "a O\nb B-P\nc O\n",
            "write S-P; seqeval reads P of 1 token, seqeval strict reads nothing",
        ),
        (
            "BILOU",
            "a O\nb I-P\nc L-P\n",
            "write B-P; seqeval reads P of 2 tokens, seqeval strict reads nothing, "
            "spaCy refuses the sentence",
        ),
        (
            "BILOU",
            "a B-P\nb O\nc O\n",
            "write U-P; seqeval reads P of 1 token, seqeval strict reads nothing, "
            "spaCy reads on to the next L",
        ),
    ],
)
def test_help_says_how_tools_read_a_broken_sequence(
    scheme: str, text: str, reading: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.conll"
    valid = {"IOB2": "z B-Q", "IOE1": "z I-Q", "IOBES": "z S-Q", "BILOU": "z U-Q"}[scheme]
    path.write_text(f"{text}\n{valid}\n", "utf-8")
    found = result(path, scheme=scheme).findings
    assert (found[0].code, found[0].help) == ("COL103", reading)


@pytest.mark.parametrize(
    "columns", ["", "word", "pos,tag", "word,Tag", "word,,tag", "word,a b,tag"]
)
def test_columns_without_words_or_tags_are_refused(columns: str, tmp_path: Path) -> None:
    with pytest.raises(WrongSetting):
        written(corpus_of("Osh", [(0, 3, "X")]), tmp_path / "x", columns=columns)
    assert not (tmp_path / "x").exists()


def test_spaces_around_names_of_columns_do_not_count(tmp_path: Path) -> None:
    text = written(corpus_of("Osh", [(0, 3, "X")]), tmp_path / "x", columns="word, -X- ,tag")
    assert text.endswith("Osh\t-X-\tB-X\n\n")


def test_a_sentence_that_begins_with_an_empty_token_begins(tmp_path: Path) -> None:
    place = {"document": 0, "origin": 0, "record": 1}
    tokens = [
        {**place, "row": at, "start": start, "end": start + len(text), "text": text, **more}
        for at, (start, text, more) in enumerate(
            [(0, "Osh", {"segment_row": 0}), (4, "", {"segment_row": 1}),
             (4, "No", {"segment_row": 1})]
        )
    ]  # fmt: skip
    segments = [
        {**place, "row": at, "start": a, "end": b} for at, (a, b) in enumerate([(0, 3), (4, 6)])
    ]
    corpus = corpus_of("Osh\nNo", []).replace(tokens=tokens, segments=segments)
    form = load("conllu-plus")
    assert form.write is not None
    form.write([corpus], tmp_path / "x.conllup")
    (read,) = form.read(open_source(str(tmp_path / "x.conllup")))
    assert read.corpus.documents["text"].to_list() == ["Osh\nNo"]


@pytest.mark.parametrize("form", ["conll-columns", "conllu-plus", "hipe", "hf-tokens"])
@pytest.mark.parametrize(("text", "lost"), [("Osh", 0), ("Oslo", 1), (None, 0)])
def test_texts_of_spans_that_tokens_have_are_not_lost(
    form: str, text: str | None, lost: int
) -> None:
    mention = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "T1", "text": text}
    corpus = Corpus(
        documents=[{"row": 0, "name": "d", "text": "in Osh"}],
        mentions=[{**mention, "label": "City", "start": 3, "end": 6}],
    )
    assert load(form).losses(corpus).get("value of mentions.text", 0) == lost
