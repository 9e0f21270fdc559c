"""BioC: what the reader takes, what it refuses, and how large files are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.converters.bioc import bioc_xml
from hlteval.converters.bioc.parts import parts
from hlteval.findings import FieldRef, Finding
from hlteval.representation import Corpus
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID = FIXTURES / "bioc-xml/valid/water.bioc.xml"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
Taken = Callable[[str | bytes], tuple[Corpus, list[Finding]]]


@pytest.fixture
def taken(tmp_path: Path) -> Taken:
    """Reads what stands in a file."""

    def take(content: str | bytes) -> tuple[Corpus, list[Finding]]:
        file = tmp_path / "file.bioc.xml"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return read(str(file), "bioc-xml")

    return take


def collection(*documents: str) -> str:
    return f"{HEAD}<collection><source/><date/><key/>{''.join(documents)}</collection>"


def document(*passages: str, name: str = "1", more: str = "") -> str:
    return f"<document><id>{name}</id>{''.join(passages)}{more}</document>"


def passage(offset: int, text: str, more: str = "") -> str:
    return f"<passage><offset>{offset}</offset><text>{text}</text>{more}</passage>"


def annotation(name: str, text: str, *places: tuple[int, int], infons: str = "") -> str:
    located = "".join(f'<location offset="{one}" length="{two}"/>' for one, two in places)
    return f'<annotation id="{name}">{infons}{located}<text>{text}</text></annotation>'


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (HEAD + '<collection><document><id>a</id>', "XML101"),
        ('<!DOCTYPE c [<!ENTITY a "aaaa">]><collection>&a;</collection>', "XML102"),
        ('<!DOCTYPE c [<!ENTITY a SYSTEM "/etc/passwd">]><collection>&a;</collection>', "XML102"),
        (HEAD + "<collection><source>&nbsp;</source></collection>", "XML111"),
        ("<collection>" + "<a>" * 200, "XML104"),
        ("<collection>" + "<a>" * 200 + "</a>" * 200 + "</collection>", "XML104"),
        ("<corpus/>", "XML110"),
        ("", "XML101"),
        ("no XML", "XML101"),
        (b"<collection>\xff</collection>", "SRC201"),
        (b"<\0c\0>\0", "SRC203"),
        (b"PK\x03\x04" + bytes(range(256)), "SRC205"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><collection/>', "XML103"),
        ("<collection><a:b/></collection>", "XML105"),
        ('<collection xmlns="urn:x"/>', "XML107"),
    ],
)  # fmt: skip
def test_what_is_no_bioc_is_told_once(taken: Taken, content: str | bytes, code: str) -> None:
    corpus, findings = taken(content)
    assert [finding.code for finding in findings] == [code]
    assert corpus.documents.is_empty()


def test_a_document_type_is_not_looked_for(taken: Taken) -> None:
    text = collection(document(passage(0, "IRF-4")))
    for system in ("http://127.0.0.1:9/BioC.dtd", "/no/such/BioC.dtd"):
        corpus, findings = taken(text.replace("BioC.dtd", system))
        assert findings == []
        assert corpus.documents["text"].to_list() == ["IRF-4"]


def test_what_the_schema_does_not_have_is_passed_over_and_the_rest_is_read(taken: Taken) -> None:
    text = passage(0, "IRF-4 binds", annotation("T1", "IRF-4", (0, 5)))
    odd = text.replace("<annotation", "<mark><text>x</text></mark><annotation", 1)
    corpus, findings = taken(collection(document(odd, passage(12, "PU.1"), more="<note/>")))
    assert [finding.code for finding in findings] == ["XML105", "XML105"]
    assert corpus.documents["text"].to_list() == ["IRF-4 binds\nPU.1"]
    assert corpus.mentions["mention"].to_list() == ["T1"]


def test_the_text_of_a_document_is_that_of_its_passages_at_their_offsets(taken: Taken) -> None:
    sentences = "".join(
        f"<sentence><offset>{at}</offset><text>{text}</text></sentence>"
        for at, text in ((20, "One."), (26, "Two."))
    )
    divided = f"<passage><offset>20</offset>{sentences}</passage>"
    corpus, findings = taken(collection(document(passage(2, "Title"), divided)))
    assert findings == []
    assert corpus.documents["text"].to_list() == [f"\n\nTitle{chr(10) * 13}One.\n\nTwo."]
    spans = corpus.segments.select("start", "end", "part").rows()
    assert spans == [(2, 7, None), (20, 30, None), (20, 24, "passage 2"), (26, 30, "passage 2")]


def test_a_passage_without_a_text_has_none(taken: Taken) -> None:
    corpus, findings = taken(collection(document("<passage><offset>0</offset></passage>")))
    assert findings == []
    assert corpus.documents["text"].to_list() == [None]


@pytest.mark.parametrize("joined", ["Root water", "Rootwater", "Root ... water", "Root and water"])
def test_parts_of_a_discontinuous_annotation_may_be_joined(taken: Taken, joined: str) -> None:
    held = annotation("T1", joined, (0, 4), (9, 5))
    corpus, findings = taken(collection(document(passage(0, "Root and water", held))))
    assert findings == []
    broken = corpus.mentions["fragments"].to_list()
    assert broken == [[{"start": 0, "end": 4}, {"start": 9, "end": 14}]]


def test_a_line_break_may_be_a_blank(taken: Taken) -> None:
    held = annotation("T1", "a b", (0, 3))
    assert taken(collection(document(passage(0, "a\nb", held))))[1] == []


@pytest.mark.parametrize(("unit", "what"), [("utf-8", "bytes"), ("utf-16-le", "UTF-16 code units")])
def test_offsets_in_other_units_are_told_once_a_file(
    taken: Taken, unit: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\U0001f600 one two six"
    width = 2 if unit == "utf-16-le" else 1
    starts = [len(text[: text.index(word)].encode(unit)) // width for word in text.split()[1:]]
    words = zip(text.split()[1:], starts, strict=True)
    held = "".join(annotation(word, word, (start, 3)) for word, start in words)
    listed = [document(passage(0, text, held), name=str(number)) for number in range(3)]
    (only,) = taken(collection(*listed))[1]
    assert only.code == "BIO204"
    assert what in only.message
    monkeypatch.setattr(bioc_xml, "parts", partial(parts, size=1))
    assert taken(collection(*listed))[1] == [only]


def test_a_mention_that_does_not_fit_is_told_where_it_would(taken: Taken) -> None:
    held = annotation("T1", "IRF-4", (30, 5))
    _, (only,) = taken(collection(document(passage(0, "Title"), passage(20, "By IRF-4 it", held))))
    assert only.help == "use offset 23"


def test_a_relation_is_read_as_what_it_is(taken: Taken) -> None:
    def relation(name: str, infons: dict[str, str], *nodes: tuple[str, str]) -> str:
        said = "".join(f'<infon key="{key}">{value}</infon>' for key, value in infons.items())
        held = "".join(f'<node refid="{refid}" role="{role}"/>' for role, refid in nodes)
        return f'<relation id="{name}">{said}{held}</relation>'

    listed = (
        relation("R1", {"type": "binds", "note": "n"}, ("a", "T1"), ("b", "T2")),
        relation("E1", {"type": "Bind", "trigger_id": "T1"}, ("Bind", "T1"), ("Theme", "T2")),
        relation("E2", {"type": "Bind", "kind": "event"}, ("Theme", "T2")),
        relation("E3", {"type": "Bind", "trigger_id": "T2"}, ("Theme", "T1")),
        relation("X1", {"type": "Equiv"}, ("Arg", "T1"), ("Arg", "T2")),
        relation("M1", {"type": "Negation", "kind": "modifier"}, ("Target", "E1")),
        relation("M2", {"type": "Negation", "kind": "modifier"}, ("a", "E1"), ("b", "E2")),
    )
    held = annotation("T1", "a", (0, 1)) + annotation("T2", "b", (1, 1))
    corpus, findings = taken(collection(document(passage(0, "ab", held), more="".join(listed))))
    assert findings == []
    assert corpus.frames.select("frame", "kind", "trigger").rows() == [
        ("R1", "relation", None),
        ("E1", "event", "T1"),
        ("E2", "event", None),
        ("E3", "event", "T2"),
        ("M2", "relation", None),
    ]
    sizes = corpus.arguments.group_by("frame_row", maintain_order=True).len()["len"]
    assert sizes.to_list() == [2, 1, 1, 1, 2]
    assert corpus.groups.select("group", "member").rows() == [("X1", "T1"), ("X1", "T2")]
    assert corpus.modifiers["modifier"].to_list() == ["M1"]
    kept = corpus.attributes.select("element", "name", "value").rows()
    assert kept == [("relation/infon", "note", "n"), ("relation/infon", "kind", "modifier")]


@pytest.mark.parametrize("path", [VALID, *sorted(FIXTURES.glob("bioc-xml/invalid/*"))], ids=str)
def test_large_files_are_read_alike_in_parts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, findings = read(str(path))
    monkeypatch.setattr(bioc_xml, "parts", partial(parts, size=1))
    split, again = read(str(path))
    assert again == findings
    for name, frame in whole.tables():
        if name != "sources":
            assert frame.drop("row", "origin", strict=False).equals(
                getattr(split, name).drop("row", "origin", strict=False)
            ), name


def test_places_do_not_depend_on_the_parts(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = passage(0, "\u03b1b", annotation("T1", "c", (0, 1)))
    listed = [document(odd, name=str(number), more="<x/>") for number in range(4)]
    text = collection(listed[0], "\r\n", listed[1], listed[2], "\r<!-- </document> -->", listed[3])
    whole = taken(text)[1]
    assert {finding.code for finding in whole} == {"XML105", "BIO203"}
    monkeypatch.setattr(bioc_xml, "parts", partial(parts, size=1))
    assert taken(text)[1] == whole


def test_elements_are_found_by_their_records(tmp_path: Path) -> None:
    source = open_source(str(VALID))
    corpus = Corpus.concat(reading.corpus for reading in load("bioc-xml").read(source))
    records = corpus.mentions["record"].to_list()
    located = load("bioc-xml").locate(
        source.members[0], [FieldRef(item, "id") for item in [*records, 9999]]
    )
    assert located.pop() is None
    lines = VALID.read_text("utf-8").split("\n")
    names = [
        lines[item.span.line - 1][item.span.column - 1 : item.span.end_column - 1]
        for item in located
        if item
    ]
    assert names == corpus.mentions["mention"].to_list()


def test_documents_that_xml_cannot_hold_are_listed(tmp_path: Path) -> None:
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    named = [{"row": 0, "name": "a", "text": "a\x01"}, {"row": 1, "name": "b", "text": "b\r\n"}]
    corpus = Corpus(sources=[source], documents=named)
    lost = {what: count for what, count in load("bioc-xml").count_losses(corpus).items() if count}
    assert lost == {"documents with characters not allowed in XML": 1}
    bioc_xml.write([corpus], tmp_path / "b.bioc.xml")
    again, findings = read(str(tmp_path / "b.bioc.xml"))
    assert findings == []
    assert again.documents["text"].to_list() == ["b\r\n"]


def test_segments_of_other_formats_become_passages(tmp_path: Path) -> None:
    path = FIXTURES / "ltf/valid/water-1.ltf.xml"
    convert(str(path), str(tmp_path / "water.bioc.xml"))
    before, _ = read(str(path))
    after, _ = read(str(tmp_path / "water.bioc.xml"))
    columns = ("start", "end", "text")
    assert after.segments.select(columns).equals(before.segments.select(columns))
    assert after.documents["text"].equals(before.documents["text"])
    assert after.segments.select(pl.col("part").is_null().all()).item()


@pytest.mark.parametrize("text", ["Osh", " Osh", "Osh ", "Osh\n"])
def test_spaces_at_the_ends_of_a_text_may_be_lost(taken: Taken, text: str) -> None:
    made = passage(0, "to Osh by", annotation("T1", text, (2, 5)))  # " Osh "
    _, findings = taken(collection(document(made)))
    assert findings == []


@pytest.mark.parametrize(
    ("places", "hint"),
    [
        ([(3, 5)], "use length 3"),
        ([(3, 1), (7, 2)], "use a single location at 3 with length 3"),
        ([(4, 3)], "use offset 3"),
    ],
)
def test_a_hint_does_not_repeat_the_offset(
    taken: Taken, places: list[tuple[int, int]], hint: str
) -> None:
    made = passage(0, "to Osh by bus", annotation("T1", "Osh", *places))
    _, (found,) = taken(collection(document(made)))
    assert (found.code, found.help) == ("BIO203", hint)


def test_what_cannot_be_read_of_json_is_numbered_in_its_order(tmp_path: Path) -> None:
    empty = '{"offset": 0, "text": "Osh", "annotations": [{"id": "T1"}, {}]}'
    file = tmp_path / "d.json"
    file.write_text(f'[7, {{"id": "d", "passages": [{empty}]}}, 8]', "utf-8")
    rejected = read(file, "bioc-json")[0].rejected_records
    assert rejected.select("row", "id", "code").rows() == [
        (0, None, "JAN104"),
        (1, None, "JAN104"),
        (2, "T1", "BIO104"),
        (3, None, "BIO104"),
    ]


def test_an_export_of_pubtator_3_is_a_collection(tmp_path: Path) -> None:
    mention = {"id": "T1", "text": "Ann", "locations": [{"offset": 0, "length": 3}]}
    passage = {"offset": 0, "text": "Ann ran", "annotations": [mention]}
    found = []
    for name in ("documents", "PubTator3"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({name: [{"id": "7", "passages": [passage]}, 5]}), "utf-8")
        (result,) = load("bioc-json").read(open_source(str(path)))
        names, texts = result.corpus.documents["name"], result.corpus.mentions["text"]
        found.append(([*names], [*texts], [(item.code, item.span) for item in result.findings]))
    assert found[0] == found[1]
    assert found[0][:2] == (["7"], ["Ann"])
    assert [code for code, _ in found[0][2]] == ["JAN104"]
