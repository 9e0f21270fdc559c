"""What the readers of language packs do with files that are odd, and where things stand in them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import hlteval
from hlteval.converters import ReadResult, load
from hlteval.converters.ltf.ltf import read_elements
from hlteval.converters.ltf.tables import bulk, frames
from hlteval.findings import FieldRef, Finding, finding
from hlteval.sources import Member, Source, Unreadable, open_source
from hlteval.validators.ltf.causes import digest, text_problem

FIXTURES = Path(__file__).parents[3] / "fixtures"
LAF = (FIXTURES / "laf/valid/water-1.laf.xml").read_text("utf-8")
LTF = (FIXTURES / "ltf/valid/water-1.ltf.xml").read_text("utf-8")


def single(text: str, name: str) -> Source:
    data = text.encode()
    return Source(name, "file", (Member("", name, len(data), lambda: data),))


def unreadable(name: str) -> Source:
    def fetch() -> bytes:
        raise Unreadable(finding("SRC108", file=name, reason="not today"))

    return Source(name, "file", (Member("", name, 1, fetch),))


def read(form: str, source: Source) -> ReadResult:
    (reading,) = load(form).read(source)
    return reading


@pytest.mark.parametrize("form", ["ltf", "rsd", "laf", "text", "conllu"])
def test_a_file_that_cannot_be_read_is_a_finding(form: str) -> None:
    source = unreadable("x.xml")
    assert not load(form).sniff(source)
    reading = read(form, source)
    assert [finding.code for finding in reading.findings] == ["SRC108"]
    assert reading.corpus.documents.is_empty()


@pytest.mark.parametrize(
    ("old", "new", "code", "mentions"),
    [
        ("</DOC>", "", "XML101", 0),
        ("UTF-8", "UTF-16", "XML103", 2),
        ("<DOC ", "<DOCUMENT ", "XML101", 0),
        ('type="LOC"', 'kind="LOC"', "LAF102 XML107", 2),
        (' end_char="5"', "", "XML108", 1),
        ('<ANNOTATION id="ann-0" ', "<ANNOTATION ", "XML108", 2),
        (">Water</EXTENT>", ">Water</EXTENT><TAG>LOC</TAG><X/>", "XML105", 2),
    ],
)
def test_faults_of_annotations(old: str, new: str, code: str, mentions: int) -> None:
    assert old in LAF
    reading = read("laf", single(LAF.replace(old, new, 1), "water-1.laf.xml"))
    assert " ".join(sorted(finding.code for finding in reading.findings)) == code
    assert reading.corpus.mentions.height == mentions
    reading.corpus.check_keys()


def test_an_older_annotation_has_its_type_as_a_tag() -> None:
    older = LAF.replace(' type="LOC"', "").replace("</EXTENT>", "</EXTENT>\n<TAG>LOC</TAG>", 1)
    reading = read("laf", single(older, "water-1.laf.xml"))
    assert reading.findings == ()
    assert reading.corpus.mentions["label"].to_list() == ["LOC", "PER"]


def test_two_files_of_annotations_are_of_one_document() -> None:
    data = LAF.encode()
    names = ("a/water-1.laf.xml", "b/water-1.laf.xml")
    members = tuple(Member(name, name, None, lambda: data) for name in names)
    reading = read("laf", Source("pack", "folder", members))
    assert reading.corpus.documents["name"].to_list() == ["water-1"]
    assert reading.corpus.mentions["origin"].to_list() == [0, 0, 1, 1]


def test_plain_text_is_read_as_it_is() -> None:
    reading = read("text", single("a\n\nb", "water-1.txt"))
    assert reading.corpus.documents.select("name", "text").rows() == [("water-1", "a\n\nb")]


@pytest.mark.parametrize("form", ["rsd", "conllu"])
def test_lines_of_texts_are_found(form: str) -> None:
    (member,) = single("a\nbcd\n", "x.rsd.txt").members
    found = load(form).locate(member, [FieldRef(2)])[0]
    assert found is not None
    assert (found.span.line, found.span.end_column, found.excerpt.text) == (2, 4, "bcd")


def test_the_first_of_two_texts_of_a_name_is_taken() -> None:
    members = tuple(Member(f"{n}/d.rsd.txt", f"{n}/d.rsd.txt", None, n.encode) for n in "ab")
    assert read("rsd", Source("p", "folder", members)).corpus.documents["text"].to_list() == ["a"]


@pytest.mark.parametrize(
    "written", ["<A x='1' x='2'/>", "<A", "<A/><B/>", "<A>\x0c</A>", "<A><</A>"]
)
def test_what_is_not_well_formed_is_told_at_its_place(written: str) -> None:
    said, told = read_elements(written, 0, "d", "utf-8")
    assert [fault.code for fault, _ in told] == ["XML101"]
    assert told[0][0].values["hint"]
    assert said["documents"] == []


def test_an_attribute_given_twice_is_left_to_the_authority() -> None:
    twice = LTF.replace('lang="eng">', 'lang="eng" lang="eng">', 1)
    assert bulk([(0, LTF), (1, twice)])[1] == {0}
    assert [fault.code for fault, _ in read_elements(twice, 1, "d", "utf-8")[1]] == ["XML101"]


@pytest.mark.parametrize(
    "written", ["&quot;s&quot;", "&#104;elp", "<![CDATA[help]]>", "h<!-- -->elp"]
)
def test_other_ways_to_write_text_are_left_to_the_authority(written: str) -> None:
    other = LTF.replace(">help<", f">{written}<")
    assert bulk([(0, other)])[1] == set()
    said, told = read_elements(other, 0, "d", "utf-8")
    assert told == []
    assert frames(said)["tokens"]["text"][-1] == ('"s"' if "quot" in written else "help")


def test_a_place_in_a_tag_of_many_lines_is_found() -> None:
    member = single(LTF.replace(' start_char="22"', '\n\n start_char="22"'), "x").members[0]
    start, whole, text = load("ltf").locate(
        member, [FieldRef(13, "start_char"), FieldRef(13), FieldRef(13, "text")]
    )
    assert start is not None
    assert whole is not None
    assert text is not None
    assert (start.span.line, start.span.column, start.excerpt.text[:5]) == (18, 14, " star")
    assert (whole.span.line, text.span.line) == (16, 18)
    assert load("ltf").locate(member, [FieldRef(99)]) == [None]


def test_a_carriage_return_alone_ends_a_line_of_xml_too() -> None:
    """So expat counts; the last of three ends is where the third line begins."""
    strange = LTF.replace(' start_char="22"', ' strt="22"', 1)
    (plain,) = find(strange)
    (returns,) = find(strange.replace("\n", "\r"))
    (mixed,) = find(strange.replace("\n", "\r\n"))
    assert plain.span == returns.span == mixed.span
    assert plain.excerpt == returns.excerpt == mixed.excerpt


def find(written: str) -> list[Finding]:
    (reading,) = load("ltf").read(single(written, "x"))
    return [finding for finding in reading.findings if finding.code == "XML107"]


@pytest.mark.parametrize(
    ("md5", "hint"),
    [
        (digest("a\nb\n").upper(), "lower case"),
        ("xyz", "32 hexadecimal digits"),
        (digest("a b\n"), "a space"),
        (digest("c"), "a character, in or between"),
    ],
)
def test_what_may_be_behind_another_digest_is_told(md5: str, hint: str) -> None:
    problem = text_problem("a\nb\n", [1, 3], "4", md5)
    assert problem is not None
    code, values = problem
    assert (code, hint in str(values["hint"])) == ("LTF504", True)


def test_lines_that_end_in_cr_lf_are_told() -> None:
    text = "a\n\nb\n\n"
    found = text_problem(text, [1, 4], "6", digest("a\r\nb\r\n"))
    assert found is not None
    assert "CR LF" in str(found[1]["hint"])


def test_without_a_length_the_end_may_be_any_line_feeds() -> None:
    assert text_problem("a", [1], None, digest("a\n\n\n")) is None
    assert text_problem("a", [1], None, None) is None


def test_offsets_at_the_end_of_the_integers_fill_no_memory(tmp_path: Path) -> None:
    """The gaps between such segments run over, and their sum looks small."""
    file = tmp_path / "far.conllu"
    sentences = [
        f"# newdoc id = d\n# range = {2**63 - 1}:6\n# text = a\n",
        "# range = 7:8\n# text = b\n",
    ]
    file.write_text("\n".join(sentences), "utf-8")
    (reading,) = load("conllu").read(open_source(str(file)))
    assert reading.corpus.documents["text"].to_list() in ([], [None])


LAYOUTS = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "one line": lambda text: text.replace(">\n<", "><"),
    "empty lines": lambda text: text.replace("\n", "\n\n\n"),
    "indented": lambda text: text.replace("\n", "\n\t "),
}


def test_files_of_several_layouts_in_a_batch_are_read_as_they_are_alone():
    texts = [LTF, *(change(LTF) for change in LAYOUTS.values()), LTF]
    together, accepted = bulk(list(enumerate(texts)))
    assert accepted == {*range(len(texts))}
    alone = [bulk([(0, text)])[0] for text in texts]
    for name, table in together.items():
        for at, tables in enumerate(alone):
            rows = table.filter(pl.col("origin") == at).drop("origin")
            assert rows.equals(tables[name].drop("origin")), (name, at)
            assert rows.equals(alone[0][name].drop("origin")), (name, at)


def test_a_folder_of_plain_texts_is_texts_of_documents(tmp_path: Path) -> None:
    for name in ("D1.txt", "D2.txt"):
        (tmp_path / name).write_text(f"In {name}.\n", "utf-8")
    corpus, findings = hlteval.read(str(tmp_path))
    assert not findings
    assert set(corpus.sources["format"]) == {"rsd"}
    assert corpus.documents.select("name", "text").rows() == [
        ("D1", "In D1.txt.\n"),
        ("D2", "In D2.txt.\n"),
    ]
    mention = "R\tm1\tD1.txt\tD1:3-8\t17\tGPE\tNAM\t0.5\n"
    path = tmp_path.with_name("run.tab")
    path.write_text(mention, "utf-8")
    assert hlteval.validate("lorehlt-edl", str(path), against=str(tmp_path)).findings == ()
    path.write_text(mention.replace("3-8", "2-7"), "utf-8")
    found = hlteval.validate("lorehlt-edl", str(path), against=str(tmp_path)).findings
    assert [each.code for each in found] == ["EDL503"]


def test_plain_texts_beside_other_files_are_none(tmp_path: Path) -> None:
    (tmp_path / "D1.txt").write_text("In D1.\n", "utf-8")
    (tmp_path / "notes.md").write_text("# Notes\n", "utf-8")
    with pytest.raises(ValueError, match="matches no known format"):
        hlteval.read(str(tmp_path))
