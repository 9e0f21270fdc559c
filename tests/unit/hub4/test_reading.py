"""Template sets, corpora and maps as the specification tells of them: small files, read by eye."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval import convert, read, validate
from hlteval.converters import ReadResult, load
from hlteval.converters.hub4.global_map import read_map
from hlteval.findings import FieldRef
from hlteval.representation import Corpus
from hlteval.representation.global_map import Rule
from hlteval.sources import Member, Source, open_source
from hlteval.workflows.convert.conversion import NotConverted

FIXTURES = Path(__file__).parents[3] / "fixtures"


def source(text: str | bytes, name: str = "set.tpl", encoding: str = "utf-8") -> Source:
    data = text if isinstance(text, bytes) else text.encode()
    return Source(name, "file", (Member("", name, len(data), lambda: data, encoding),))


def reading(text: str | bytes, form: str = "hub4", **settings: str) -> ReadResult:
    named = {name.replace("_", "-"): value for name, value in settings.items()}
    (only,) = load(form).with_settings(named).read(source(text))
    return only


def fills(text: str, *columns: str, **settings: str) -> list[Any]:
    found = reading(f"<TEMPLATE-D1-1> :=\n{text}", **settings)
    assert found.findings == ()
    rows = found.corpus.fills.select(columns)
    return rows.to_series().to_list() if len(columns) == 1 else rows.rows()


def test_instances_of_a_document_are_its_set_wherever_they_stand() -> None:
    text = "<TEMPLATE-D1-1> :=\n<TEMPLATE-D-2-1> :=\n<BREAD-D1-12> :=\n"
    corpus = reading(text).corpus
    assert corpus.documents["name"].to_list() == ["D1", "D-2"]
    assert corpus.frames.select("document", "label", "frame", "record").rows() == [
        (0, "TEMPLATE", "TEMPLATE-D1-1", 1),
        (1, "TEMPLATE", "TEMPLATE-D-2-1", 2),
        (0, "BREAD", "BREAD-D1-12", 3),
    ]
    assert set(corpus.frames["kind"]) == {"templette"}


def test_a_type_with_a_hyphen_is_declared() -> None:
    text = "<RYE-BREAD-D1-1> :=\n"
    plain = reading(text).corpus
    assert (plain.frames["label"][0], plain.documents["name"][0]) == ("RYE", "BREAD-D1")
    declared = reading(text, types="CIRCUS,RYE-BREAD").corpus
    assert (declared.frames["label"][0], declared.documents["name"][0]) == ("RYE-BREAD", "D1")


def test_alternatives_and_fills_are_counted() -> None:
    text = 'KIND: "a"\n  "b"\n / "c"\nDATE:\n / "d"\n / \n"e"\nWHO:\nAGE: /\n'
    columns = ("slot", "slot_number", "optional", "alternative", "position", "kind", "text")
    assert fills(text, *columns) == [
        ("KIND", 1, False, 1, 1, "text", "a"),
        ("KIND", 1, False, 1, 2, "text", "b"),
        ("KIND", 1, False, 2, 1, "text", "c"),
        ("DATE", 2, True, 1, 1, "text", "d"),
        ("DATE", 2, True, 2, 1, "text", "e"),
        ("WHO", 3, False, 1, 1, "empty", None),
        ("AGE", 4, True, 1, 1, "empty", None),
    ]


def test_brackets_are_minimal_strings_in_a_reference_and_text_in_a_system() -> None:
    text = 'LOSER: "bakers of [old [Cairo]]" ##295#314#305#314#309#314#'
    (reference,) = fills(text, "text", "brackets", "extents")
    assert reference[:2] == (
        "bakers of old Cairo",
        [{"start": 10, "end": 19}, {"start": 14, "end": 19}],
    )
    assert reference[2][1] == {"start": 305, "end": 314}
    assert fills(text, "text", "brackets", side="system") == [("bakers of [old [Cairo]]", None)]


@pytest.mark.parametrize(
    ("written", "text", "quoted"),
    [
        ('"the "bread" prize" ##1#2#', 'the "bread" prize', True),
        ("the bread prize  ##1#2#", "the bread prize", False),
        ("USE # 4 OF ##1#2#", "USE # 4 OF", False),
        ('"## 4" ##1#2#', "## 4", True),
        ('" kept "##1#2#', " kept ", True),
        ("any: thing / here ##1#2#", "any: thing / here", False),
    ],
)
def test_the_content_is_told_from_its_quotes_and_extents(
    written: str, text: str, quoted: bool
) -> None:
    assert fills(f"NOTE: {written}", "text", "quoted", "extents") == [
        (text, quoted, [{"start": 1, "end": 2}])
    ]


@pytest.mark.parametrize(
    ("status", "optional"),
    [("OPTIONAL", True), ("OPT", True), ('"optional"', True), ("MAYBE", False), ("", False)],
)
def test_a_status_marks_an_instance(status: str, optional: bool) -> None:
    corpus = reading(f"<BREAD-D1-1> :=\nOBJ_STATUS: {status}\n<BREAD-D1-2> :=\n").corpus
    assert corpus.frames["optional"].to_list() == [optional, False]


def test_line_ends_blank_lines_and_margins_say_nothing() -> None:
    plain = (FIXTURES / "hub4/valid/reference.tpl").read_text("utf-8")
    laid_out = plain.replace("    ", "").replace("\n", " \r\n\r\n\t")
    before, after = (reading(text).corpus for text in (plain, laid_out))
    assert before.fills.drop("record").equals(after.fills.drop("record"))
    assert before.frames.drop("record").equals(after.frames.drop("record"))


def test_what_follows_a_damaged_header_or_slot_is_left_out_without_a_word() -> None:
    text = "<BREAD-D1> :=\nKIND: rye\n / x\n<BREAD-D1-1> :=\nKIND: <rye>\n / x\nDATE: y\n"
    found = reading(text)
    assert [finding.code for finding in found.findings] == ["HUB102", "HUB103"]
    assert found.corpus.fills["text"].to_list() == ["y"]
    assert found.corpus.rejected_records.select("code", "record", "kind").rows() == [
        ("HUB102", 1, "header"),
        ("HUB103", 5, "slot"),
    ]


def test_a_place_is_a_part_of_a_line() -> None:
    text = 'x\n\t LOSER: / "a [b]" ##1#5#3#4#\n <A-D-1> :=\n'
    wanted = {"slot": "LOSER", "fill": '"a [b]"', "extents": "##1#5#3#4#", "extent 2": "3#4"}
    places = [FieldRef(2, name) for name in wanted]
    (member,) = source(text).members
    for located, stretch in zip(load("hub4").locate(member, places), wanted.values(), strict=True):
        assert located is not None
        line = text.split("\n")[1]
        assert line[located.span.column - 1 : located.span.end_column - 1] == stretch
    header, outside = load("hub4").locate(member, [FieldRef(3, "pointer"), FieldRef(9, "")])
    assert header is not None
    assert (header.span.column, header.span.end_column) == (2, 9)
    assert outside is None


def test_a_file_that_is_no_text_is_told_by_its_bytes_only() -> None:
    for data, code in ((b"\xff\xfe<\x00", "SRC201"), (b"<A-D-1> :=\n\x00", "SRC203")):
        found = reading(data)
        assert [finding.code for finding in found.findings] == [code]
        assert found.corpus.documents.is_empty()
        assert found.corpus.rejected_records.is_empty()


def test_a_system_in_another_encoding_has_the_same_offsets(tmp_path: Path) -> None:
    from hlteval import validate

    corpus = tmp_path / "corpus.sgml"
    text = (FIXTURES / "hub4/valid/corpus.sgml").read_text("utf-8")
    corpus.write_bytes(text.encode("latin-1"))
    path = tmp_path / "system.tpl"
    path.write_bytes('<TEMPLATE-B-2-1> :=\n    WHO: "Åsa Ek" ##88#94#\n'.encode("latin-1"))
    given = {"options": {"corpus": str(corpus)}, "encoding": "latin-1"}
    assert validate("hub4", str(path), **given).findings == ()


# SGML


def documents(text: str, **settings: str) -> list[tuple[str, str, int]]:
    rows = reading(text, "sgml-corpus", **settings).corpus.documents
    return rows.select("name", "text", "start").rows()


def test_documents_have_any_tag_in_capitals_or_small_letters() -> None:
    (found,) = load("sgml-corpus").read(
        open_source(str(FIXTURES / "sgml-corpus/valid/stories.sgml"))
    )
    assert found.findings == ()
    assert found.corpus.documents["name"].to_list() == ["S1", "S2"]
    text = (FIXTURES / "sgml-corpus/valid/stories.sgml").read_text("utf-8")
    for content, start in found.corpus.documents.select("text", "start").iter_rows():
        assert text[start:].startswith(content)
        assert content.startswith("<")
        assert content.endswith(">")


def test_tags_can_be_named() -> None:
    text = "<SET>\n<DOC><ID>a</ID><NR> 1 </NR></DOC>\n<DOC><ID>b</ID><NR>2</NR></DOC>\n</SET>\n"
    assert [name for name, *_ in documents(text, document_tag="doc")] == ["a", "b"]
    assert [name for name, *_ in documents(text, document_tag="DOC", id_tag="nr")] == ["1", "2"]


def test_a_line_end_is_one_character_unless_it_is_said_otherwise() -> None:
    text = "<DOC>\r\n<DOCNO> a </DOCNO>\r\n</DOC>\r\n<DOC>\r\n<DOCNO> b </DOCNO>\r\n</DOC>\r\n"
    one, written = documents(text), documents(text, line_ends="as-written")
    assert one[0][1].count("\r") == 0
    assert written[0][1].count("\r") == 2
    assert (one[1][2], written[1][2]) == (32, 35)


def test_a_file_without_documents_can_be_one() -> None:
    assert documents("<time 1> egypt won\n", unsegmented="yes") == [
        ("set.tpl", "<time 1> egypt won\n", 0)
    ]


def test_documents_keep_their_places_when_they_are_written(tmp_path: Path) -> None:
    text = "\n\n<DOC><DOCNO> a </DOCNO></DOC>\n\n\n<DOC><DOCNO> b </DOCNO></DOC>\n"
    path, again = tmp_path / "a.sgml", tmp_path / "b.sgml"
    path.write_text(text, "utf-8")
    assert convert(str(path), str(again)) == []
    assert again.read_text("utf-8") == text


def test_a_text_without_tags_cannot_be_written(tmp_path: Path) -> None:
    corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "no tags", "start": 10**12}])
    form = load("sgml-corpus")
    assert form.write is not None
    form.write([corpus], tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b""
    assert form.count_losses(corpus) == {"documents whose text is not valid SGML": 1}


# Writing


def templette(**changes: object) -> Corpus:
    frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "frame": "A-d-1",
             "kind": "templette", "label": "A"}  # fmt: skip
    fill = {"row": 0, "document": 0, "origin": 0, "record": 2, "frame_row": 0, "slot": "S",
            "slot_number": 1, "optional": False, "alternative": 1, "position": 1, "kind": "text",
            "text": "x", **changes}  # fmt: skip
    return Corpus(documents=[{"row": 0, "name": "d"}], frames=[frame], fills=[fill])


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "two\nlines"},
        {"text": None},
        {"slot": "no slot"},
        {"kind": "pointer", "target": "no pointer"},
        {"kind": "pointer", "target": None},
        {"kind": "other"},
        {"extents": [{"start": -1, "end": 3}]},
        {"extents": [{"start": 1, "end": 10**9}]},
        {"brackets": [{"start": 0, "end": 9}]},
        {"text": "a[b", "brackets": [{"start": 0, "end": 1}]},
    ],
)
def test_what_no_line_can_say_is_counted_and_left_out(
    changes: dict[str, object], tmp_path: Path
) -> None:
    form, corpus = load("hub4"), templette(**changes)
    assert form.write is not None
    form.write([corpus], tmp_path / "out.tpl")
    assert (tmp_path / "out.tpl").read_text("utf-8") == "<A-d-1> :=\n"
    assert form.count_losses(corpus)["fills with unsupported content"] == 1


@pytest.mark.parametrize("text", ["A: b", "/x", "<y", '"', "x #", " x", "x ", "", "## 1", "é"])
def test_a_text_gets_quotes_where_it_needs_them(text: str, tmp_path: Path) -> None:
    for position in (1, 2):
        corpus = templette(text=text, quoted=False, position=position)
        form = load("hub4")
        assert form.write is not None
        form.write([corpus], tmp_path / "out.tpl")
        found = reading((tmp_path / "out.tpl").read_bytes(), side="system")
        assert found.findings == ()
        assert found.corpus.fills["text"].to_list() == [text]


def test_a_listing_has_no_places(tmp_path: Path) -> None:
    path = tmp_path / "out.muc"
    findings = convert(str(FIXTURES / "hub4/valid/reference.tpl"), str(path))
    assert {finding.code for finding in findings} == {"CNV103"}
    written = path.read_text("utf-8")
    assert "##" not in written
    assert "[" not in written
    assert '    NAME: "bread contest"\n        / "contest in Lyon"\n' in written
    assert "\n\n<CONTEST-B1-1> :=\n" in written
    assert load("muc-listing").sniff(open_source(str(path))) is False


def test_standoff_has_no_place_for_template_instances(tmp_path: Path) -> None:
    path = str(FIXTURES / "hub4/valid/system.tpl")
    with pytest.raises(NotConverted) as nothing:
        convert(path, str(tmp_path / "out"), to_format="standoff")
    helps = [finding.help or "" for finding in nothing.value.findings]
    assert any("3 template instances" in text for text in helps)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", ["kept.jsonl", "kept.corpus"])
def test_a_set_comes_back_from_other_formats(kept: str, tmp_path: Path) -> None:
    path = FIXTURES / "hub4/valid/reference.tpl"
    form = "jsonl" if kept.endswith("jsonl") else "corpus"
    assert convert(str(path), str(tmp_path / kept), to_format=form) == []
    assert convert(str(tmp_path / kept), str(tmp_path / "again.tpl"), from_format=form) == []
    assert (tmp_path / "again.tpl").read_bytes() == path.read_bytes()
    first, again = read(str(path))[0], read(str(tmp_path / "again.tpl"))[0]
    assert first.fills.equals(again.fills)


# Global maps


def test_a_map_is_read_with_its_contexts() -> None:
    path = FIXTURES / "glm/valid/map.glm"
    found, findings = read_map(open_source(str(path)).members[0], "ref")
    assert findings == []
    assert found.case_sensitive
    assert found.rules == (
        Rule("THEATRE", "THEATER", " ", " "),
        Rule("CEASEFIRE", "CEASE FIRE"),
        Rule("CAN'T", "{[CAN NOT] / [CAN'T]}", " ", " "),
        Rule("UH", "", "", " "),
        Rule("A/B", "A B", "AND", ""),
        Rule("HM", "UH"),
        Rule("ER", "UH"),
    )


def test_rules_for_another_side_are_left_out() -> None:
    path = FIXTURES / "glm/valid/map.glm"
    found, _ = read_map(open_source(str(path)).members[0], "hyp")
    assert [rule.source for rule in found.rules][-2:] == ["A/B", "ER"]


def test_a_map_that_is_no_text_is_told() -> None:
    member = source(b"\xff\xff", "x.glm").members[0]
    found, findings = read_map(member)
    assert found.rules == ()
    assert [finding.code for finding in findings] == ["SRC201"]


def test_extents_and_brackets_of_many_fills_are_not_mixed_up() -> None:
    lines = [
        f'S{n}: "{"[a]" * (n % 3)}b" ##{n}#{n + 9}#{f"{n}#{n + 1}#" * (n % 3)}' for n in range(50)
    ]
    rows = fills("\n".join(lines), "extents", "brackets", "text")
    for n, (extents, brackets, text) in enumerate(rows):
        assert extents == [{"start": n, "end": n + 9}] + [{"start": n, "end": n + 1}] * (n % 3)
        assert brackets == ([{"start": i, "end": i + 1} for i in range(n % 3)] or None)
        assert text == "a" * (n % 3) + "b"
    assert pl.Series([len(row[0]) for row in rows]).max() == 3


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("<B-D1-1> <B-D1-2>", "HUB103"),
        ('<B-D1-1> "a" ##0#1#', "HUB103"),
        ('"a" ##0#1# <B-D1-1>', "HUB105"),
        ("a ##0#1# b ##3#4#", "HUB105"),
        ('"a" ##0#1# "b" ##2#3#', "HUB226"),
    ],
)
def test_two_fills_in_a_line_are_told(line: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "set.tpl"
    path.write_text(f"<TEMPLATE-D1-1> :=\nWHO: {line}\n", "utf-8")
    assert [finding.code for finding in validate("hub4", str(path)).findings] == [code]
