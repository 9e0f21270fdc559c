"""Formats of machine translation, read: notations, texts beside lists, and damaged files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.sources import open_source
from hlteval.workflows.convert.conversion import read as joined

FIXTURES = Path(__file__).parents[3] / "fixtures"


def single(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def texts(corpus: Corpus, *columns: str) -> list[tuple[object, ...]]:
    return corpus.translations.select(columns).rows()


def test_text_is_kept_as_it_is_in_any_notation() -> None:
    corpus, _ = read(str(FIXTURES / "lorehlt-mt/valid"))
    assert texts(corpus, "segment", "role", "text")[:4] == [
        ("segment-0", "system", " Water is lacking in the town."),
        ("segment-1", "system", "Send \U0001f600 help to AT&T!"),
        ("segment-2", "system", "See https://example.org/a?b=1&c=2 and answer."),
        ("segment-0", "system", "The river overflowed."),
    ]


def test_the_same_form_holds_references() -> None:
    source = open_source(str(FIXTURES / "lorehlt-mt/valid"))
    form = load("lorehlt-mt").with_settings({"role": "reference"})
    (result,) = form.read(source)
    assert set(result.corpus.translations["role"]) == {"reference"}


def test_the_older_form_is_read_as_scripts_read_it() -> None:
    corpus, _ = read(str(FIXTURES / "mteval/valid/older.sgm"))
    assert texts(corpus, "segment", "role", "set", "language", "part", "text") == [
        ("1", "reference", "ahd", "English", "hl 1", " Water is lacking in the town. "),
        ("2", "reference", "ahd", "English", "p 2", " R&D & AT&T: 1 < 2 <b>now</b> &eacute;\xe9"),
    ]


@pytest.mark.parametrize("text", ["", "\n", "<seg id=1>a", "<DOC docid=d></DOC>", "</tstset>"])
def test_a_file_without_a_set_has_its_findings_inside(tmp_path: Path, text: str) -> None:
    path = single(tmp_path, "x.sgm", text)
    findings = read(str(path), "mteval")[1]
    assert any(finding.severity == "error" for finding in findings)
    lines = text.split("\n")
    for finding in findings:
        assert finding.span is None or finding.span.end_column <= len(lines[0]) + 1


def test_sets_of_several_files_are_of_the_same_documents(tmp_path: Path) -> None:
    whole, _ = read(str(FIXTURES / "mteval/valid/sets.mteval.xml"))
    text = (FIXTURES / "mteval/valid/sets.mteval.xml").read_text("utf-8")
    head, _, rest = text.partition("  <refset")
    single(tmp_path, "1.xml", f"{head}</mteval>\n")
    single(tmp_path, "2.xml", f"<mteval>\n  <refset{rest}")
    corpus, findings = read(str(tmp_path))
    assert findings == []
    columns = ("document", "role", "set", "segment", "part", "text")
    assert texts(corpus, *columns) == texts(whole, *columns)
    assert corpus.documents["name"].to_list() == whole.documents["name"].to_list()


def test_a_memory_of_other_tools_is_read_by_language() -> None:
    corpus, _ = read(str(FIXTURES / "tmx/valid/memory.tmx"))
    assert texts(corpus, "segment", "role", "language", "text") == [
        ("7", "source", "eo", "Premu JES nun."),
        ("7", "reference", "en-GB", "Press YES now."),
        ("2", "source", "eo", "Dankon."),
        ("2", "reference", "en", "Thanks."),
    ]
    assert corpus.documents["name"].to_list() == ["memory"]


def test_a_text_beside_its_list_is_read_by_itself(tmp_path: Path) -> None:
    path = single(tmp_path, "run-7.txt", "a\u2028b\nc\r\n")
    single(tmp_path, "run-7.ids", "d1\ts1\nd1\ts2\n")
    corpus, findings = read(str(path), "mt-text")
    assert [finding.code for finding in findings] == ["CNV202"]
    assert texts(corpus, "segment", "role", "set", "text") == [
        ("s1", "system", "run-7", "a\u2028b"),
        ("s2", "system", "run-7", "c"),
    ]


@pytest.mark.parametrize("form", ["mteval", "mt-text", "tmx", "sacrebleu-tsv"])
def test_conversions_of_all_sets_come_back(tmp_path: Path, form: str) -> None:
    """But for spaces around texts and segments that a set lacks, in tables."""
    given = str(FIXTURES / "mteval/valid/sets.mteval.xml")
    there = tmp_path / f"there{load(form).suffixes[0]}"
    convert(given, str(there), to_format=form)
    before, after = (read(path)[0] for path in (given, str(there)))
    columns = ("role", "set", "segment", "text")
    wanted = {(*row[:3], str(row[3]).strip()) for row in texts(before, *columns)}
    found = {(*row[:3], str(row[3]).strip()) for row in texts(after, *columns)}
    assert wanted <= found
    assert {row[3] for row in found - wanted} <= {""}


def test_a_system_is_converted_to_mteval_and_back(tmp_path: Path) -> None:
    given, there, back = FIXTURES / "lorehlt-mt/valid", tmp_path / "x.mteval.xml", tmp_path / "back"
    convert(str(given), str(there))
    convert(str(there), str(back), to_format="lorehlt-mt")
    first, again = (given / "EPO_NW_1.ltf.xml", back / "EPO_NW_1.ltf.xml")
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("form", ["mteval", "mt-text", "tmx", "sacrebleu-tsv"])
def test_segments_are_the_sources_of_their_translations(tmp_path: Path, form: str) -> None:
    inputs = [str(FIXTURES / "mt/valid/ltf"), str(FIXTURES / "lorehlt-mt/valid")]
    there = str(tmp_path / f"there{load(form).suffixes[0]}")
    convert(inputs, there, to_format=form)
    corpus, _ = joined(there)
    sources = corpus.translations.filter(role="source")
    assert sources["text"].to_list() == [
        "Akvo mankas en la urbo.",
        "Sendu \U0001f600 helpon al AT&T!",
        "Vidu https://example.org/a?b=1&c=2 kaj respondu.",
        "La rivero superakvis.",
        "Neniu mortis.",
    ]
    assert corpus.translations.filter(role="system").height == 5


def test_inputs_with_other_sets_are_joined_by_document(tmp_path: Path) -> None:
    reference = tmp_path / "reference"
    reference.mkdir()
    for path in (FIXTURES / "lorehlt-mt/valid").iterdir():
        (reference / path.name).write_bytes(path.read_bytes())
    convert(str(reference), str(tmp_path / "reference.mteval.xml"), settings={"sysid": "first"})
    pair = [str(tmp_path / "reference.mteval.xml"), str(FIXTURES / "lorehlt-mt/valid")]
    corpus, findings = joined(pair)
    assert findings == []
    assert corpus.documents.height == 2
    assert set(corpus.translations["set"]) == {"first", None}
    again, findings = joined([pair[1], str(reference)])
    assert {finding.code for finding in findings} == {"CNV204"}
    assert again.documents.height == 4


@pytest.mark.parametrize(
    "piece", ["<!--", "<p>", "<seg id=1>", "</hl>", "<tstset>", "<seg a=", "&#"]
)
def test_the_older_form_is_read_whatever_is_repeated_in_it(tmp_path: Path, piece: str) -> None:
    path = single(tmp_path, "x.sgm", "<tstset><doc docid=d>" + piece * 8_000)
    corpus, findings = read(str(path), "mteval")
    assert corpus.documents.height == 1
    assert findings


def test_comments_are_no_text_and_an_open_one_is(tmp_path: Path) -> None:
    body = "a<!-- <seg id=2>b</seg> -->c</seg><seg id=3>d <!-- e</seg>"
    path = single(tmp_path, "x.sgm", f"<refset><doc docid=d><seg id=1>{body}</doc></refset>")
    corpus, _ = read(str(path), "mteval")
    assert texts(corpus, "segment", "text") == [("1", "ac"), ("3", "d <!-- e")]


HOSTILE = {
    "lorehlt-mt": ("x.ltf.xml", "<mteval><tstset><doc docid='d'><seg id='s'>{}</seg></doc>"),
    "mteval": ("x.mteval.xml", "<mteval><refset><doc docid='d'><seg id='s'>{}</seg></doc>"),
    "tmx": ("x.tmx", "<tmx version='1.4'><header/><body><tu><tuv><seg>{}</seg></tuv></tu>"),
}


@pytest.mark.parametrize("form", HOSTILE)
@pytest.mark.parametrize("entity", ['"AAAA"', 'SYSTEM "file:///etc/hostname"'], ids=["own", "file"])
def test_no_entity_is_ever_expanded(tmp_path: Path, form: str, entity: str) -> None:
    name, body = HOSTILE[form]
    ends = "</tstset></mteval>" if form == "lorehlt-mt" else "</refset></mteval>"
    ends = "</body></tmx>" if form == "tmx" else ends
    text = f"<!DOCTYPE x [<!ENTITY a {entity}>]>\n{body.format('&a;')}{ends}"
    corpus, findings = read(str(single(tmp_path, name, text)), form)
    assert [finding.code for finding in findings] == ["XML102"]
    assert corpus.translations.is_empty()


def test_entities_of_the_older_form_are_text(tmp_path: Path) -> None:
    head = '<!DOCTYPE tstset [<!ENTITY a "AAAA">]>\n'
    text = f"{head}<tstset><doc docid=d><seg id=1>&a;</seg></doc></tstset>"
    corpus, _ = read(str(single(tmp_path, "x.sgm", text)), "mteval")
    assert texts(corpus, "text") == [("&a;",)]
