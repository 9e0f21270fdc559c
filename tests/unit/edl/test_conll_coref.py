"""CoNLL coreference: what is read, written, and told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import convert, read, score
from hlteval.converters import load
from hlteval.converters.edl.conll_coref import name_in
from hlteval.findings import FieldRef, Span, catalogue
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, open_source
from tests.effort import tries

FIXTURES = Path(__file__).parents[3] / "fixtures" / "conll-coref"
TWO = FIXTURES / "valid" / "two.conll"

# Line, column, end column, level.
PLACES = """
CRF101-behind-the-end.conll  5   1  14  E!
CRF103-word-alone.conll      3   1   5  E!
CRF103-two-brackets.conll    2  12  16  E!
CRF104-no-beginning.conll    2  12  14  E
CRF105-no-end.conll          2  12  14  E
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


def spans(corpus: Corpus) -> list[tuple[object, ...]]:
    rows = corpus.mentions.sort("document", "start", "end")
    return rows.select("document", "start", "end", "entity").rows()


def opened(**settings: str) -> Corpus:
    (reading,) = load("conll-coref").with_settings(settings).read(open_source(str(TWO)))
    assert reading.findings == ()
    reading.corpus.check_keys()
    return reading.corpus


def test_offsets_are_numbers_of_tokens_from_one() -> None:
    corpus = opened()
    assert spans(corpus) == [
        (0, 1, 3, "NIL7:D1"),
        (0, 1, 5, "NIL8:D1"),
        (0, 4, 5, "NIL9:D1"),
        (0, 5, 6, "NIL7:D1"),
        (1, 1, 2, "m.05q"),
    ]
    assert corpus.documents["text"].to_list() == [None, None]
    assert corpus.segments.select("start", "end").rows() == [(1, 5), (5, 7), (1, 2)]


def test_offsets_are_characters_of_a_text_that_is_made() -> None:
    corpus = opened(offsets="characters", entities="corpus")
    text = corpus.documents["text"][0]
    assert text == "Daniel Ortega of Nicaragua\nHe spoke\n"
    found = [(text[start:end], entity) for document, start, end, entity in spans(corpus)[:4]]
    assert found == [
        ("Daniel Ortega", "NIL7"),
        ("Daniel Ortega of Nicaragua", "NIL8"),
        ("Nicaragua", "NIL9"),
        ("He", "NIL7"),
    ]
    said = [(text[start:end], word) for start, end, word in tokens(corpus)]
    assert all(there == word for there, word in said)


def tokens(corpus: Corpus) -> list[tuple[int, int, str]]:
    rows = corpus.tokens.filter(corpus.tokens["document"] == 0)
    return rows.select("start", "end", "text").rows()


def test_entities_can_be_left_as_they_are_written() -> None:
    assert [row[3] for row in spans(opened(entities="written"))] == ["7", "8", "9", "7", "m.05q"]


@pytest.mark.parametrize("offsets", ["tokens", "characters"])
def test_what_was_read_is_written_again(tmp_path: Path, offsets: str) -> None:
    path = tmp_path / "again.conll"
    lost = [finding.code for finding in convert(str(TWO), str(path), settings={"offsets": offsets})]
    assert lost == ([] if offsets == "tokens" else ["CNV103"])  # the text that was made
    assert path.read_bytes() == TWO.read_bytes()


def test_neleval_has_the_numbers_of_tokens_on_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "two.neleval"
    convert(str(TWO), str(path))
    written = {tuple(line.split("\t")[:4]) for line in lines(path)}
    assert ("D1", "1", "2", "NIL7:D1") in written
    assert ("D1", "4", "4", "NIL9:D1") in written


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_columns_may_be_divided_by_blanks_and_few() -> None:
    text = "#begin document (a b)\nNew (x\nYork x)\n#end document\n"
    member = Member("", "f", len(text), text.encode)
    (reading,) = load("conll-coref").read(Source("f", "file", (member,)))
    assert reading.corpus.documents["name"].to_list() == ["a b"]
    assert reading.corpus.tokens["text"].to_list() == ["New", "York"]
    assert spans(reading.corpus) == [(0, 1, 3, "x")]


def test_a_single_column_is_that_of_marks(tmp_path: Path) -> None:
    path = tmp_path / "one.conll"
    path.write_text("#begin document (D)\n(x)\n-\n#end document\n")
    corpus, findings = read(str(path), "conll-coref")
    assert findings == []
    assert corpus.tokens["text"].to_list() == ["(x)", "-"]
    assert spans(corpus) == [(0, 1, 2, "x")]


def test_marks_of_a_line_without_tabs_are_at_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "bare.conll"
    path.write_text("#begin document (D)\nD 0 (7 -\n#end document\n")
    form = load("conll-coref").with_settings({"columns": "tabs"})
    (result,) = form.read(open_source(str(path)))
    (only,) = result.findings
    assert (only.code, only.span) == ("CRF105", Span(2, 8, 9))
    assert result.corpus.tokens["text"].to_list() == ["D"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fixture_raises_its_code_and_nothing_else(row: list[str]) -> None:
    name, *place, level = row
    (finding,) = read(str(FIXTURES / "invalid" / name))[1]
    assert finding.code == name[:6]
    assert finding.severity.value[0].upper() + "!" * finding.blocking == level
    assert finding.span is not None
    found = [finding.span.line, finding.span.column, finding.span.end_column]
    assert found == [int(number) for number in place]
    assert finding.help


def test_every_code_has_a_fixture() -> None:
    names = {row[0] for row in ROWS}
    assert names == {path.name for path in (FIXTURES / "invalid").iterdir()}
    assert {name[:6] for name in names} == {code for code in catalogue() if code[:3] == "CRF"}


def test_places_are_lines_and_last_columns() -> None:
    member = open_source(str(TWO)).members[0]
    whole, entity, none = load("conll-coref").locate(
        member, [FieldRef(2), FieldRef(2, "entity"), FieldRef(99)]
    )
    assert whole is not None
    assert (whole.span.column, whole.span.end_column) == (1, 20)
    assert entity is not None
    assert (entity.span.column, entity.span.end_column) == (15, 20)
    assert none is None


def test_what_no_line_can_say_is_told() -> None:
    corpus = Corpus(
        sources=[{"row": 0, "path": "p", "member": "m", "format": "x", "sha256": ""}],
        documents=[{"row": 0, "name": "d"}, {"row": 1, "name": "e"}],
        tokens=[
            {"row": n, "document": 0, "origin": 0, "record": 1, "start": 3 * n, "end": 3 * n + 2,
             "text": "ab"} for n in range(2)
        ],
        mentions=[
            {"row": row, "document": 0, "origin": 0, "record": 1, "mention": "", "label": label,
             "start": start, "end": end, "entity": entity}
            for row, (label, start, end, entity) in enumerate(
                [("", 0, 5, "NIL1:d"), ("GPE", 0, 2, "77"), ("", 1, 5, "NIL1:d"), ("", 0, 5, None)]
            )
        ],
    )  # fmt: skip
    assert load("conll-coref").losses(corpus) == {
        "documents without tokens": 1,
        "mentions without an entity, or without tokens": 2,
        "types of mentions": 1,
        "links to a knowledge base, read back as clusters": 1,
    }


WORDS = st.lists(st.sampled_from(["a", "bé", "😀", "-", "(1)", "#"]), min_size=1, max_size=4)


@settings(max_examples=tries(40))
@given(st.data())
def test_any_nested_mentions_come_back(tmp_path_factory, data: st.DataObject) -> None:
    sentences = data.draw(st.lists(WORDS, min_size=1, max_size=3))
    count = sum(map(len, sentences))
    bounds = st.tuples(st.integers(1, count), st.integers(1, count)).map(sorted)
    spans_of = st.lists(bounds.map(tuple), max_size=5, unique=True)
    wanted = {
        (first, last, f"NIL{number}:d") for number, (first, last) in enumerate(data.draw(spans_of))
    }
    places = iter(range(1, count + 1))
    rows = [(row, word, next(places)) for row, one in enumerate(sentences) for word in one]
    corpus = Corpus(
        sources=[{"row": 0, "path": "p", "member": "m", "format": "x", "sha256": ""}],
        documents=[{"row": 0, "name": "d"}],
        segments=[
            {"row": row, "document": 0, "origin": 0, "record": 1, "start": 0, "end": 1}
            for row in range(len(sentences))
        ],
        tokens=[
            {"row": at, "document": 0, "origin": 0, "record": 1, "segment_row": row, "start": at,
             "end": at + 1, "text": word} for row, word, at in rows
        ],
        mentions=[
            {"row": row, "document": 0, "origin": 0, "record": 1, "mention": "", "label": "",
             "start": first, "end": last + 1, "entity": entity}
            for row, (first, last, entity) in enumerate(wanted)
        ],
    )  # fmt: skip
    form = load("conll-coref")
    assert form.write is not None
    path = tmp_path_factory.mktemp("conll") / "d.conll"
    form.write([corpus], path)
    again, findings = read(str(path), "conll-coref")
    assert findings == []
    assert {(start, end - 1, entity) for _, start, end, entity in spans(again)} == wanted
    assert again.tokens["text"].to_list() == [word for _, word, _ in rows]


def test_a_part_may_have_a_number_of_any_length(tmp_path: Path) -> None:
    long = f"D1;{'9' * 5000}"
    assert name_in(f"#begin document (D1); part 0{'9' * 5000}") == long
    names = ["D1;2", "D1", "a); part 7", "", "b;0", "x)", long]
    corpus = Corpus(
        documents=[{"row": row, "origin": 0, "name": name} for row, name in enumerate(names)],
        tokens=[
            {
                "row": row,
                "document": row,
                "origin": 0,
                "record": 1,
                "start": 1,
                "end": 2,
                "text": "a",
            }
            for row, _ in enumerate(names)
        ],
    )
    form = load("conll-coref")
    assert form.write is not None
    form.write([corpus], tmp_path / "parts.conll")
    begun = [line for line in lines(tmp_path / "parts.conll") if line.startswith("#begin")]
    assert begun[:2] == ["#begin document (D1); part 002", "#begin document (D1); part 000"]
    assert [name_in(line) for line in begun] == names


def test_a_document_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "on.conll"
    part = "#begin document (D); part 000\nD 0 {} {} (1)\n#end document\n"
    path.write_text("".join(part.format(number, word) for number, word in enumerate(("a", "bc"))))
    for offsets, wanted in (
        ("tokens", [(0, 1, 2), (0, 2, 3)]),
        ("characters", [(0, 0, 1), (0, 2, 4)]),
    ):
        form = load("conll-coref").with_settings({"offsets": offsets})
        (reading,) = form.read(open_source(str(path)))
        assert [row[:3] for row in spans(reading.corpus)] == wanted


def test_a_folder_of_files_is_found(tmp_path: Path) -> None:
    for name in ("one", "two"):
        text = f"#begin document ({name}); part 000\nD 0 0 a (1)\n\n#end document\n"
        (tmp_path / f"{name}_gold.conll").write_text(text)
    assert read(tmp_path)[0].documents["name"].to_list() == ["one", "two"]
    assert score("coreference", tmp_path, tmp_path).metrics["b_cubed.f1"] == 1
