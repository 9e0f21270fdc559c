"""Every code of BioC and PubAnnotation has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read, validate
from hlteval.converters import load
from hlteval.converters.bioc import bioc_json
from hlteval.findings import catalogue
from hlteval.representation import TABLES, Corpus
from hlteval.sources import open_source
from hlteval.workflows.convert.inputs import detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures"

# What each fixture raises, and where: line, column, end column; then E for an error, W for a
# warning, and ! where it blocks.
BIOC = """
BIO101-no-id.bioc.xml                   7   1  11  E
BIO102-passage.bioc.xml                10   9  14  E
BIO102-sign.bioc.xml                   12  72  74  E
BIO103-no-offset.bioc.xml               9   1  10  E
BIO104-no-location.bioc.xml            12   1  21  W
BIO105-same-id.bioc.xml                16   5   6  E
BIO201-both-from-0.bioc.xml            14   1  10  E
BIO201-sentences.bioc.xml              15   1  11  E
BIO202-nine-digits.bioc.xml            14   1  10  E
BIO203-bytes-once.bioc.xml             12   1  21  E
BIO203-one-off.bioc.xml                12   1  21  E
BIO203-other-document.bioc.xml         12   1  21  E
BIO204-bytes.bioc.xml                  12   1  21  E
BIO301-no-such-annotation.bioc.xml     13  94  96  E
BIO302-from-0-again.bioc.xml           17  17  19  W
"""
PUBANNOTATION = """
PUB101-empty.pubannotation.json         1   1   1  E!
PUB102-no-text.json                     1   1   2  W
PUB103-flat-span.json                   5   3   4  E
PUB103-no-type.json                     5   3   4  E
PUB104-no-object.json                   6   1   2  E
PUB104-number-for-id.json               5  10  11  E
PUB104-text-in-lines.json               2  10  11  E
PUB105-pair.json                        5  24  25  E
PUB105-sign.json                        5  24  25  E
PUB106-same-source.json                 6  14  19  E
PUB201-another-text.json                5  24  25  E
PUB202-reversed.json                    5  24  25  E
PUB301-no-such-denotation.json          7  54  58  E
PUB301-other-track.json                 4  40  44  E
PUB302-copied.json                      5  10  14  E
PUB303-sentence.json                    8   3   4  E
"""
BIOC_JSON = """
BIO101-no-id.bioc.json                  2   1   2  E
BIO102-sign.bioc.json                   3  84  86  E
BIO106-pmid.bioc.json                   2  21  22  I
BIO203-one-off.bioc.jsonl               2  74  75  E
BIO204-utf-16.bioc.json                 3   3   4  E
BIO301-no-such-annotation.bioc.json     4 105 109  E
"""
ROOMS = {"bioc-xml": BIOC, "bioc-json": BIOC_JSON, "pubannotation": PUBANNOTATION}
CASES = [
    (FIXTURES / room / "invalid" / name, room, fields)
    for room, table in ROOMS.items()
    for name, *fields in map(str.split, table.strip().splitlines())
]
#: What is wrong in a whole file, which is right with a setting.
WHOLE = [
    FIXTURES / "bioc-xml/invalid/BIO205-passages.bioc.xml",
    FIXTURES / "bioc-json/invalid/BIO205-passages.bioc.json",
]
VALID = [path for room in ROOMS for path in sorted(FIXTURES.glob(f"{room}/valid/*"))]


@pytest.mark.parametrize(
    ("path", "form", "fields"), CASES, ids=lambda one: getattr(one, "name", "")
)
def test_a_file_raises_its_code_and_nothing_else(path: Path, form: str, fields: list[str]) -> None:
    line, column, end_column, level = fields
    (only,) = read(str(path), form)[1]
    assert only.code == path.name.partition("-")[0]
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    assert only.file == str(path)
    assert only.span is not None
    span = (only.span.line, only.span.column, only.span.end_column)
    assert span == (int(line), int(column), int(end_column))
    written = path.read_text("utf-8").split("\n")[only.span.line - 1]
    assert only.excerpt is not None
    assert written[only.excerpt.offset :].startswith(only.excerpt.text)
    assert only.help
    assert only.clause
    assert not {"{}", "{hint}"} & set((only.message + only.help).split())


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.name)
def test_offsets_of_passages_are_one_finding_and_read_with_the_setting(path: Path) -> None:
    """Three of four annotations are in the second passage, which begins at 15."""
    form = path.parts[-3]
    (only,) = read(str(path), form)[1]
    assert (only.code, only.file, only.span, only.blocking) == ("BIO205", str(path), None, True)
    assert [item.code for item in validate("mentions", str(path)).findings] == ["BIO205"]
    (result,) = load(form).with_settings({"offsets": "passages"}).read(open_source(str(path)))
    assert result.findings == ()
    spans = result.corpus.mentions.select("start", "end", "text").rows()
    assert spans == [(0, 5, "IRF-4"), (20, 25, "IRF-4"), (32, 35, "p53"), (40, 44, "TP63")]


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code[:3] in {"BIO", "PUB"}}
    paths = [*(path for path, *_ in CASES), *WHOLE]
    assert {path.name.partition("-")[0] for path in paths} == codes
    listed = {path for room in ROOMS for path in FIXTURES.glob(f"{room}/invalid/*")}
    assert listed == {*paths}


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_what_is_valid_comes_back_byte_by_byte(path: Path, tmp_path: Path) -> None:
    again = tmp_path / path.name
    assert convert(str(path), str(again)) == []
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", [*VALID, CASES[0][0], CASES[-1][0]], ids=lambda path: path.name)
def test_a_file_is_told_from_those_of_other_formats(path: Path) -> None:
    assert detect_format(open_source(str(path))).name == path.parts[-3]


@pytest.mark.parametrize(
    ("path", "form"), [case[:2] for case in CASES], ids=lambda one: str(one)[-30:]
)
def test_what_is_at_fault_can_be_written_and_read_again(
    path: Path, form: str, tmp_path: Path
) -> None:
    first, _ = read(str(path), form)
    write = load(form).write
    assert write is not None
    write([first], tmp_path / "again")
    second, _ = read(str(tmp_path / "again"), form)
    assert second.mentions.height == first.mentions.height
    assert second.documents["name"].to_list() == first.documents["name"].to_list()


@pytest.mark.parametrize("most", [1, 20])
@pytest.mark.parametrize("path", sorted(FIXTURES.glob("bioc-json/*/*")), ids=lambda path: path.name)
def test_bioc_json_is_read_alike_in_parts_of_any_size(
    path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, findings = read(str(path), "bioc-json")
    monkeypatch.setattr(bioc_json, "_MOST", most)
    results = list(bioc_json.read(open_source(str(path))))
    assert {item for result in results for item in result.findings} == set(findings)
    corpus = Corpus.concat(result.corpus for result in results)
    for name in (*TABLES.keys() - {"sources"},):
        frames = [getattr(each, name).drop("origin", strict=False) for each in (whole, corpus)]
        assert frames[0].equals(frames[1]), name


def test_bioc_json_of_several_documents_has_several_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bioc_json, "_MOST", 1)
    path = FIXTURES / "bioc-json/valid/water.bioc.json"
    results = list(bioc_json.read(open_source(str(path))))
    names = [result.corpus.documents["name"].to_list() for result in results]
    assert names == [["101"], ["102"], []]
