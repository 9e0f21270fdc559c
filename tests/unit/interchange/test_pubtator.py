"""PubTator: what is read of its lines, where problems are found, and what is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.findings import FieldRef
from hlteval.representation import Corpus
from hlteval.sources import open_source
from hlteval.workflows.convert.inputs import detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures" / "pubtator"
VALID = FIXTURES / "valid" / "milk.pubtator"
#: File, line, column, end column, and severity.
PLACES = """
PBT101-blanks.pubtator       3  1 32 error
PBT102-no-number.pubtator    3  6  7 error
PBT102-reversed.pubtator     3  8  9 error
PBT103-two-titles.pubtator   5  1  5 error
PBT104-two-files             3  1  5 error
PBT201-end.pubtator          3 10 15 error
PBT201-one-off.pubtator      3 10 15 error
PBT202-utf16.pubtator        3 12 16 error
PBT301-no-such.pubtator      4 23 25 warning
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


def written(tmp_path: Path, content: str) -> str:
    path = tmp_path / "d.pubtator"
    path.write_text(content, "utf-8", newline="")
    return str(path)


@pytest.mark.parametrize(("name", "line", "column", "end", "severity"), ROWS)
def test_a_file_raises_its_code_at_its_place(name, line, column, end, severity):
    (only,) = read(str(FIXTURES / "invalid" / name))[1]
    assert (only.code, only.severity.value) == (name[:6], severity)
    assert only.span is not None
    place = (only.span.line, only.span.column, only.span.end_column)
    assert place == (int(line), int(column), int(end))
    assert only.help


def test_every_invalid_file_has_its_place():
    assert {path.name for path in (FIXTURES / "invalid").iterdir()} == {row[0] for row in ROWS}


def test_what_is_valid_comes_back_byte_by_byte(tmp_path):
    assert detect_format(open_source(str(VALID))).name == "pubtator"
    assert convert(str(VALID), str(tmp_path / "again.pubtator")) == []
    assert (tmp_path / "again.pubtator").read_bytes() == VALID.read_bytes()


def test_values_by_hand():
    corpus, findings = read(str(VALID))
    assert findings == ()
    assert corpus.documents["name"].to_list() == ["3101", "3102", "milk-3"]
    assert corpus.documents["text"].to_list()[1:] == ["No abstract of kefir", "\nOnly an abstract."]
    rows = corpus.mentions.select("record", "start", "end", "label", "entity").rows()
    assert rows[1] == (4, 10, 25, "Chemical", "D009113")
    assert rows[3] == (6, 32, 40, "Species", "1637")
    assert rows[5] == (8, 74, 81, "Mutation", "p|SUB|V|600|E")
    assert corpus.mentions["text"].to_list()[6] == "raw or pasteurized milk"
    assert corpus.links.select("mention_row", "rank", "entity").rows() == [(3, 2, "1639")]
    targets = corpus.arguments.select("frame_row", "role", "target").rows()
    assert targets[:2] == [(0, "Arg1", "D009537"), (0, "Arg2", "1637")]


@pytest.mark.parametrize(("unit", "start", "end"), [("utf-16", 12, 16), ("bytes", 14, 18)])
def test_offsets_may_count_another_unit(tmp_path, unit, start, end):
    content = f"1|t|Nisin \U0001f95b in milk\n1\t{start}\t{end}\tmilk\tFood\tD1\n"
    (result,) = (
        load("pubtator")
        .with_settings({"offsets": unit})
        .read(open_source(written(tmp_path, content)))
    )
    assert result.findings == ()
    assert result.corpus.mentions.select("start", "end").rows() == [(11, 15)]


def test_lines_that_are_not_read_are_kept_as_they_are(tmp_path):
    content = "1|t|Nisin\r\n1|a|\r\nrubbish\r\n1\t9\t8\tx\tGene\t1\r\n1\t0\t5\tNisin\tGene\r\n"
    corpus, findings = read(written(tmp_path, content))
    assert [finding.code for finding in findings] == ["PBT101", "PBT102"]
    assert corpus.rejected_records.select("record", "code", "text").rows() == [
        (3, "PBT101", "rubbish"),
        (4, "PBT102", "1\t9\t8\tx\tGene\t1"),
    ]
    assert corpus.documents["text"].to_list() == ["Nisin\n"]
    assert corpus.mentions.select("text", "entity").rows() == [("Nisin", None)]


def test_annotations_alone_are_documents_without_texts(tmp_path):
    path = written(tmp_path, "7\t0\t5\tNisin\tGene\t1\n7\tBind\t1\t2\tNovel\n")
    corpus, findings = read(path, "pubtator")
    assert [finding.code for finding in findings] == ["PBT301"]
    assert corpus.documents.select("name", "text").rows() == [("7", None)]
    assert corpus.frames.select("label").rows() == [("Bind",)]


def test_places_are_cells(tmp_path):
    source = open_source(str(VALID))
    fields = [("end", 4), ("label", 4), ("entity", 4), ("", 4), ("Arg2", 12), ("entity", 1)]
    refs = [FieldRef(record, field) for field, record in fields]
    found = load("pubtator").locate(source.members[0], refs)
    spans = [each.span for each in found if each]
    assert [(span.column, span.end_column) for span in spans] == [
        (9, 11), (28, 36), (37, 44), (1, 44), (23, 27), (1, 56)
    ]  # fmt: skip


def test_losses_are_counted(tmp_path):
    place = {"document": 0, "origin": 0, "record": 1, "label": "X"}
    names = ("d", "a|b", "e")
    mentions = [
        {**place, "mention": "T1", "start": 0, "end": 3, "entity": "A1|B2"},
        {**place, "mention": "", "start": 3, "end": 1},
        {**place, "mention": "", "start": 0, "end": 3, "text": "a\tc"},
        {**place, "mention": "", "start": 0, "end": 7, "text": "a c d",
         "fragments": [{"start": 0, "end": 1}, {"start": 2, "end": 3}, {"start": 6, "end": 7}]},
    ]  # fmt: skip
    frames = [{"row": row, **place, "kind": "relation"} for row in range(2)]
    arguments = [
        {**place, "frame_row": 0, "position": 1, "role": "Arg1", "target": "T1"},
        {**place, "frame_row": 0, "position": 2, "role": "Theme", "target": "A9"},
        {**place, "frame_row": 1, "position": 1, "role": "Arg1", "target": "A9"},
    ]
    corpus = Corpus(
        sources=[{"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}],
        documents=[
            {"row": row, "origin": 0, "name": name, "text": "a c\nd\nd" if not row else None}
            for row, name in enumerate(names)
        ],
        mentions=[{"row": row, **each} for row, each in enumerate(mentions)],
        frames=frames,
        arguments=[
            {"row": row, **{k: v for k, v in each.items() if k != "label"}}
            for row, each in enumerate(arguments)
        ],
    )
    form = load("pubtator")
    assert form.losses(corpus) == {
        "documents whose name no line can have": 1,
        "documents without text, mentions or frames": 1,
        "texts with more than one line break": 1,
        "identifiers of mentions": 1,
        "mentions outside of texts": 1,
        "mentions whose entities cannot be in one cell": 1,
        "discontinuous span": 1,
        "relations without exactly two arguments": 1,
        "roles other than Arg1 and Arg2": 1,
        "relations of mentions, written with their entities": 2,
        "cells with line breaks or tabs": 1,
    }
    assert form.write is not None
    form.write([form.supported(corpus)], tmp_path / "w.pubtator")
    assert (tmp_path / "w.pubtator").read_text("utf-8") == (
        "d|t|a c\nd|a|d d\nd\t0\t3\ta c\tX\tA1|B2\nd\t0\t3\ta c\tX\t\n"
        "d\t0\t7\ta c d d\tX\t\nd\tX\tA1|B2\tA9\n\n\n"
    )


@pytest.mark.parametrize("form", ["brat", "standoff", "pubannotation", "doccano", "cas-xmi"])
def test_relations_of_entities_are_a_loss_where_arguments_are_annotations(form, tmp_path):
    path = tmp_path / "a.pubtator"
    path.write_text("1|t|Ann ran\n1\t0\t3\tAnn\tPerson\tQ1\n1\tSelf\tQ1\tQ1\n\n", "utf-8")
    found = convert(str(path), str(tmp_path / "out"), to_format=form)
    lost = f"{form} cannot represent 1 relation of entities"
    assert lost in [finding.message for finding in found]
    assert "Self" not in "".join(
        each.read_text("utf-8") for each in tmp_path.glob("out/**/*") if each.is_file()
    )


@pytest.mark.parametrize("form", ["bioc-xml", "bioc-json"])
def test_relations_of_entities_are_infons_of_bioc(form, tmp_path):
    path, bioc, again = (str(tmp_path / name) for name in ("a.pubtator", "out", "b.pubtator"))
    text = "1|t|Ann ran\n1\t0\t3\tAnn\tPerson\tQ1\n1\tSelf\tQ1\tQ2\n\n"
    Path(path).write_text(text, "utf-8")
    assert [finding.code for finding in convert(path, bioc, to_format=form)] == ["PBT301"]
    convert(bioc, again, to_format="pubtator")
    assert Path(again).read_text("utf-8") == text


def test_mentions_without_identifiers_have_no_feature_for_them(tmp_path):
    path = tmp_path / "a.pubtator"
    path.write_text("1|t|Ann ran\n1\t0\t3\tAnn\tPerson\tQ1\n\n", "utf-8")
    found = convert(str(path), str(tmp_path / "out"), to_format="webanno-tsv")
    (lost,) = [finding.message for finding in found]
    assert lost.endswith("1 missing identifier of mentions, which are numbered")
    assert "|value|identifier\n" in (tmp_path / "out" / "1.webanno.tsv").read_text("utf-8")
