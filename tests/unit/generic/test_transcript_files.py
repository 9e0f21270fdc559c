"""Transcripts, STM, CTM and UEM: what is read, and where problems are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import score, validate
from hlteval.converters import load
from hlteval.converters.format import ReadResult
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[3] / "fixtures"

# Line, column, end column, level.
PLACES = """
transcript  TRN101-again.txt           3  1   3  W
transcript  TRN102-no-identifier.txt   3  1  11  E
stm         TRN201-comma.stm           2  1  36  E
ctm         TRN301-no-duration.ctm     2  1  18  E
uem         TLN801-no-channel.uem      2  1  16  E
uem         TLN802-duration.uem        2  1  19  E
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


def read(form: str, path: Path, **settings: str) -> ReadResult:
    (result,) = load(form).with_settings(settings).read(open_source(str(path)))
    result.corpus.check_keys()
    return result


def texts(form: str, name: str, **settings: str) -> list[tuple[object, ...]]:
    result = read(form, FIXTURES / form / "valid" / name, **settings)
    assert result.findings == ()
    names = result.corpus.documents.select(document="row", of="name")
    rows = result.corpus.segments.join(names, on="document", maintain_order="left")
    return rows.select("of", "name", "text").rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_a_fixture_has_its_finding_at_its_place(row: list[str]) -> None:
    form, name, *place, level = row
    (found,) = read(form, FIXTURES / form / "invalid" / name).findings
    assert found.code == name[:6]
    assert found.span is not None
    assert [found.span.line, found.span.column, found.span.end_column] == list(map(int, place))
    assert {"W": "warning", "E": "error"}[level] == found.severity.value


def test_all_fixtures_are_listed() -> None:
    forms = {row[0] for row in ROWS}
    files = {path.name for form in forms for path in (FIXTURES / form / "invalid").iterdir()}
    assert files == {row[1] for row in ROWS}


def test_lines_with_identifiers_are_documents_of_that_name() -> None:
    assert texts("transcript", "identified.txt") == [
        ("u1", "u1", "good morning to all of you"),
        ("u2", "u2", "thank you"),
        ("u3", "u3", ""),
    ]


def test_other_lines_are_numbered_and_may_be_empty() -> None:
    rows = texts("transcript", "lines.txt")
    assert [row[:2] for row in rows] == [(str(n), str(n)) for n in range(1, 5)]
    assert [row[2] for row in rows][2:] == ["", "we begin  now"]


def test_a_file_can_be_one_document() -> None:
    rows = texts("transcript", "lines.txt", documents="files")
    assert [row[:2] for row in rows] == [("all", str(n)) for n in range(1, 5)]


def test_files_of_a_folder_are_documents(tmp_path: Path) -> None:
    for name, content in (("a", "one\ntwo\n"), ("b", "three\r\n")):
        (tmp_path / f"{name}.txt").write_bytes(content.encode())
    corpus = read("transcript", tmp_path).corpus
    assert corpus.documents.select("name", "text").rows() == [("a", "one\ntwo"), ("b", "three")]
    assert corpus.segments.select("document", "name", "start", "end").rows() == [
        (0, "1", 0, 3),
        (0, "2", 4, 7),
        (1, "1", 0, 5),
    ]


def test_an_identifier_can_end_at_a_space(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("u1 good morning\nu2\n", "utf-8")
    corpus = read("transcript", tmp_path / "t", identifiers="space").corpus
    assert corpus.segments.select("name", "text").rows() == [("u1", "good morning"), ("u2", "")]


def test_segments_of_stm_are_in_the_order_of_their_times() -> None:
    assert texts("stm", "meeting.stm") == [
        ("m1", None, "good morning to all of you"),
        ("m1", None, "thank you"),
        ("m2;2", None, "we begin now"),
    ]


def test_words_of_ctm_are_one_segment_in_the_order_of_their_times() -> None:
    assert texts("ctm", "meeting.ctm") == [("m1", None, "good morning you"), ("m2;2", None, "we")]


def test_stretches_of_uem_are_regions() -> None:
    corpus = read("uem", FIXTURES / "uem/valid/meeting.uem").corpus
    assert corpus.documents["name"].to_list() == ["m1", "m2"]
    assert corpus.regions.select("document", "start", "end").rows() == [
        (0, 0.0, 60.0),
        (0, 90.0, 120.5),
        (1, 0.0, 30.0),
    ]


@pytest.mark.parametrize(
    ("suffix", "lines"),
    [
        (".stm", ["m1 1 ann 0.50 2.10 good morning", "m1 1 bob 2.10 3.00 thank you"]),
        (".ctm", ["m1 1 0.50 0.10 good", "m1 1 0.70 0.30 morning"]),
    ],
)
def test_a_folder_is_read_by_its_suffix_also_if_its_lines_are_wrong(
    tmp_path: Path, suffix: str, lines: list[str]
) -> None:
    for name, own in (("m1", lines), ("m2", [line.replace("m1", "m2") for line in lines])):
        (tmp_path / f"{name}{suffix}").write_text("\n".join([*own, ""]), "utf-8")
    (tmp_path / "notes.txt").write_text("no segments\n", "utf-8")
    assert score("transcripts", str(tmp_path), str(tmp_path)).metrics["wer"] == 0
    verdict = validate("transcripts", str(tmp_path), against=str(tmp_path))
    assert (verdict.documents, [*verdict.findings]) == (2, [])
    wrong = tmp_path / f"wrong{suffix}"
    wrong.write_text("\n".join(line.replace(".", ",") for line in lines), "utf-8")
    findings = [*validate("transcripts", str(wrong), against=str(wrong)).findings]
    assert {each.code[:4] for each in findings} <= {"TRN2", "TRN3", "REF1", "GEN3"}
    assert len(findings) > 1
