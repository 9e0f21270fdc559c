"""GATE documents: what is read of them, where problems are found, and what is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import agreement, convert, read, validate
from hlteval.converters import load
from hlteval.findings import FieldRef
from hlteval.representation import Corpus
from hlteval.sources import open_source
from hlteval.syntax.xml_elements import conforms
from hlteval.workflows.convert.inputs import detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures" / "gate-xml"
VALID = FIXTURES / "valid" / "milk.xml"
#: File, line, column, end column, and severity.
PLACES = """
GAT101-no-node.xml      8 55 56 error
GAT102-exchanged.xml    8 55 56 error
GAT103-characters.xml   5 46 47 warning
GAT104-list.xml         9 75 94 info
GAT105-paragraph.xml   12  1 63 info
GAT201-no-member.xml   12 37 40 error
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]
PLACE = {"document": 0, "origin": 0, "record": 1}


def corpus_of(**tables: list[dict[str, object]]) -> Corpus:
    rows = {
        name: [{"row": at, **one} for at, one in enumerate(own)] for name, own in tables.items()
    }
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    return Corpus(sources=[source], **rows)


@pytest.mark.parametrize(("name", "line", "column", "end", "severity"), ROWS)
def test_a_file_raises_its_code_at_its_place(name, line, column, end, severity):
    (only,) = read(str(FIXTURES / "invalid" / name))[1]
    assert (only.code, only.severity.value) == (name[:6], severity)
    assert only.span is not None
    place = (only.span.line, only.span.column, only.span.end_column)
    assert place == (int(line), int(column), int(end))


def test_every_invalid_file_has_its_place():
    assert {path.name for path in (FIXTURES / "invalid").iterdir()} == {row[0] for row in ROWS}


def test_what_is_valid_comes_back_byte_by_byte(tmp_path):
    assert detect_format(open_source(str(VALID))).name == "gate-xml"
    assert conforms(VALID.read_text("utf-8"), "gate")
    assert convert(str(VALID.parent), str(tmp_path / "again"), to_format="gate-xml") == []
    assert (tmp_path / "again" / "milk.xml").read_bytes() == VALID.read_bytes()


def test_values_by_hand():
    corpus, findings = read(str(VALID))
    assert findings == ()
    assert corpus.documents["text"].to_list() == ["Nisin & \U0001f95b milk by Ann \xd6z\n"]
    columns = ("mention", "label", "start", "end", "text", "entity", "annotator")
    assert corpus.mentions.select(columns).rows() == [
        ("0", "Peptide", 0, 5, "Nisin", "D009537", None),
        ("1", "Food", 10, 14, "milk", None, None),
        ("2", "Gap", 14, 14, "", None, None),
        ("3", "Phrase", 0, 14, "Nisin & \U0001f95b milk", None, None),
        ("7", "Person", 18, 24, "Ann \xd6z", None, "Key"),
        ("8", "Food", 10, 14, "milk", None, "Key"),
    ]
    assert corpus.modifiers.select("label", "target", "value").rows() == [
        ("kind", "0", "a < b"),
        ("hedged", "1", None),
        ("mention_type", "7", "NAM"),
    ]
    assert corpus.frames.select("frame", "label").rows() == [("R1", "acts_on"), ("5", "seen")]
    assert corpus.arguments.select("frame_row", "role", "target").rows() == [
        (0, "Arg1", "0"), (0, "Arg2", "1"), (1, "Arg1", "3"), (1, "Arg2", "R1"), (1, "Arg3", "2")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"set": "Key"}, [("7", "Key"), ("8", "Key")]),
        ({"set": "Key", "annotators": "no"}, [("7", None), ("8", None)]),
        ({"set": "default"}, [("0", None), ("1", None), ("2", None), ("3", None)]),
    ],
)
def test_sets_are_chosen(settings, expected):
    (result,) = load("gate-xml").with_settings(settings).read(open_source(str(VALID)))
    assert result.corpus.mentions.select("mention", "annotator").rows() == expected


def test_rows_are_numbered_across_parts_of_tables(tmp_path):
    """Rows become tables in parts of 20,000."""
    count = 20_001
    relation = '<Relation Id="1" Type="R" Members="{}"/><Relation Id="2" Type="S" Members="0"/>'
    text = VALID.read_text("utf-8").replace(
        "</GateDocument>",
        f"<RelationSet>{relation.format(';'.join(['0'] * count))}</RelationSet></GateDocument>",
    )
    (tmp_path / "d.xml").write_text(text, "utf-8")
    corpus, _ = read(str(tmp_path / "d.xml"))
    before = len(read(str(VALID))[0].arguments)
    assert corpus.arguments["row"].to_list() == list(range(before + count + 1))
    assert corpus.arguments.filter(frame_row=2)["position"].to_list() == list(range(1, count + 1))
    assert corpus.arguments.filter(frame_row=3)["role"].to_list() == ["Arg1"]


def test_places_are_attributes():
    (result,) = load("gate-xml").read(open_source(str(VALID)))
    record = result.corpus.mentions["record"][1]
    refs = [FieldRef(record, field) for field in ("start", "end", "label", "")]
    found = load("gate-xml").locate(open_source(str(VALID)).members[0], refs)
    lines = VALID.read_text("utf-8").split("\n")
    texts = [
        lines[each.span.line - 1][each.span.column - 1 : each.span.end_column - 1]
        for each in found
        if each
    ]
    assert texts[:3] == ["11", "15", "Food"]
    assert texts[3].startswith("<Annotation Id")


def test_identifiers_that_are_no_numbers_come_back(tmp_path):
    mentions = [
        {**PLACE, "mention": name, "label": "X", "start": 0, "end": 1, "text": "a"}
        for name in ("T1", "0", "0", "01")
    ]
    documents = [{"name": "d", "text": "a\r\t<b>", "origin": 0}]
    corpus = corpus_of(documents=documents, mentions=mentions)
    form = load("gate-xml")
    assert form.losses(corpus) == {}
    assert form.write is not None
    form.write([corpus], tmp_path / "o")
    again, findings = read(str(tmp_path / "o"))
    assert findings == ()
    assert again.documents["text"].to_list() == ["a\r\t<b>"]
    assert again.mentions["mention"].to_list() == ["T1", "0", "0", "01"]


def test_losses_are_counted():
    names = {"d": "a\x01b", "e": None}
    documents = [{"name": name, "text": text, "origin": 0} for name, text in names.items()]
    mention = {**PLACE, "label": "X", "start": 0, "end": 1, "text": "a"}
    mentions = [
        {**mention, "mention": "1"},
        {**mention, "mention": "", "text": "b"},
        {**mention, "mention": "2", "end": 9},
        {**mention, "mention": "3", "document": 1},
    ]
    frames = [{**PLACE, "frame": None, "kind": "relation", "label": "R"}]
    arguments = [
        {**PLACE, "frame_row": 0, "position": 1, "role": "Arg1", "target": "1"},
        {**PLACE, "frame_row": 0, "position": 2, "role": "Theme", "target": "2"},
    ]
    modifiers = [
        {**PLACE, "modifier": "A1", "label": "sure", "target": "1"},
        {**PLACE, "modifier": "", "label": "sure", "target": "1"},
        {**PLACE, "modifier": "", "label": "entity", "target": "7"},
    ]
    corpus = corpus_of(
        documents=documents,
        mentions=mentions,
        frames=frames,
        arguments=arguments,
        modifiers=modifiers,
    )
    assert load("gate-xml").losses(corpus) == {
        "documents without text": 1,
        "characters not allowed in XML": 1,
        "mentions outside of texts": 2,
        "texts of mentions that differ from the document": 1,
        "identifiers that are empty": 2,
        "identifiers of attributes": 1,
        "attributes of unknown items": 1,
        "attributes with a name that is taken": 2,
        "arguments of unknown items": 1,
        "roles other than Arg1, Arg2 and so on": 1,
    }


def test_annotations_of_the_default_set_are_those_of_another_annotator(tmp_path: Path) -> None:
    """The program marks Ann as the key does, and Osh: precision 1/2, recall 1."""
    text = '<Node id="0"/>Ann<Node id="3"/> in <Node id="7"/>Osh<Node id="10"/>'
    one = '<Annotation Id="{}" Type="Name" StartNode="{}" EndNode="{}"/>'
    sets = f"<AnnotationSet>{one.format(1, 0, 3)}{one.format(2, 7, 10)}</AnnotationSet>"
    key = f'<AnnotationSet Name="Key">{one.format(3, 0, 3)}</AnnotationSet>'
    body = f"<GateDocumentFeatures/><TextWithNodes>{text}</TextWithNodes>{sets}{key}"
    path = tmp_path / "d.xml"
    path.write_text(f'<GateDocument version="3">{body}</GateDocument>', "utf-8")
    (pair,) = agreement("mentions", [str(path)]).measures
    assert (pair.first, pair.second, pair.value) == ("Key", "nobody", pytest.approx(2 / 3))


def test_tags_of_the_original_document_are_read_where_they_are_chosen() -> None:
    path = str(FIXTURES / "invalid" / "GAT105-paragraph.xml")
    assert read(path)[0].mentions.select("label", "annotator").rows() == [("Food", None)]
    form = load("gate-xml").with_settings({"set": "Original markups"})
    (found,) = form.read(open_source(path))
    assert found.findings == ()
    assert found.corpus.mentions["label"].to_list() == ["paragraph"]
    assert validate("mentions", path).passed
