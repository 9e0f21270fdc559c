"""Rules of machine translation: what a submission lacks, and what is not a mistake."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlteval import convert, validate
from hlteval.findings import Finding
from tests import runs as validation

FIXTURES = Path(__file__).parents[3] / "fixtures"
TEXTS, VALID = FIXTURES / "mt/valid/ltf", FIXTURES / "lorehlt-mt/valid"
SHELL = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE mteval SYSTEM "lorehlt-mt-v1.2.dtd">\n'


def translated(folder: Path, name: str, *segments: tuple[str, str], file: str = "") -> None:
    """Write the translation of a document."""
    body = "".join(f'<seg id="{key}">{text}</seg>\n' for key, text in segments)
    text = f'<mteval><tstset><doc docid="{name}">\n{body}</doc></tstset></mteval>\n'
    (folder / f"{file or name}.ltf.xml").write_text(SHELL + text, "utf-8")


def original(folder: Path, name: str, *segments: tuple[str, str], language: str = "epo") -> None:
    """Write the input of a document."""
    body, start = "", 0
    for key, text in segments:
        end = start + len(text) - 1
        body += f'<SEG id="{key}" start_char="{start}" end_char="{end}">\n'
        body += f"<ORIGINAL_TEXT>{text}</ORIGINAL_TEXT>\n</SEG>\n"
        start = end + 2
    text = (
        f'<LCTL_TEXT lang="{language}"><DOC id="{name}"><TEXT>\n{body}</TEXT></DOC></LCTL_TEXT>\n'
    )
    (folder / f"{name}.ltf.xml").write_text(text, "utf-8")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Empty folders for the input and for its translations."""
    for name in ("ltf", "run"):
        (tmp_path / name).mkdir()
    return tmp_path / "ltf", tmp_path / "run"


def found(folders: tuple[Path, Path], batch: int = 500) -> list[Finding]:
    texts, run = map(str, folders)
    verdict = validation.validate("lorehlt-mt", run, against=texts, batch=batch)
    return [finding for finding in verdict.findings if finding.side == "submission"]


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def test_documents_are_missing_also_in_batches_without_a_translation(
    folders: tuple[Path, Path],
) -> None:
    for number in range(4):
        original(folders[0], f"D{number}", ("s", "Akvo."))
    translated(folders[1], "D3", ("s", "Water."))
    for size in (1, 500):
        messages = [finding.message for finding in found(folders, batch=size)]
        assert messages == [f"document D{number} is not translated" for number in range(3)]


@pytest.mark.parametrize("form", ["mteval", "mt-text", "tmx", "sacrebleu-tsv", "jsonl"])
def test_documents_are_missing_beside_a_reference_in_one_file(tmp_path: Path, form: str) -> None:
    reference, run = tmp_path / "reference", tmp_path / "run"
    convert(str(VALID), str(reference), to_format=form)
    run.mkdir()
    shutil.copy(VALID / "EPO_NW_1.ltf.xml", run)
    verdict = validate("lorehlt-mt", str(run), against=str(reference))
    assert codes(list(verdict.findings)) == ["MTV201"]
    assert validate("lorehlt-mt", str(VALID), against=str(reference)).findings == ()


def test_a_file_alone_misses_no_other_documents() -> None:
    path = str(VALID / "EPO_NW_1.ltf.xml")
    assert validate("lorehlt-mt", path, against=str(TEXTS)).findings == ()


def test_a_file_that_cannot_be_read_is_no_missing_document(folders: tuple[Path, Path]) -> None:
    for name in ("D1", "D2"):
        original(folders[0], name, ("s", "Akvo."))
    translated(folders[1], "D1", ("s", "Water & ice."))
    translated(folders[1], "D2", ("s", "Water."))
    assert codes(found(folders)) == ["XML101"]


def test_exchanged_documents_are_in_files_of_other_names(folders: tuple[Path, Path]) -> None:
    for name in ("D1", "D2"):
        original(folders[0], name, ("s", "Akvo."))
    translated(folders[1], "D2", ("s", "Water."), file="D1")
    translated(folders[1], "D1", ("s", "Water."), file="D2")
    assert codes(found(folders)) == ["MTV203", "MTV203"]


def test_a_document_whose_file_has_another_one_is_missing(folders: tuple[Path, Path]) -> None:
    for name in ("D1", "D2"):
        original(folders[0], name, ("s", "Akvo."))
    translated(folders[1], "D2", ("s", "Water."), file="D1")
    assert sorted(codes(found(folders))) == ["MTV201", "MTV203"]


def test_english_documents_are_known_by_their_language_or_name(folders: tuple[Path, Path]) -> None:
    original(folders[0], "D1", ("s", "Akvo."))
    original(folders[0], "D2", ("s", "Water."), language="eng")
    original(folders[0], "ENG_3", ("s", "Water."), language="")
    translated(folders[1], "D1", ("s", "Water."))
    assert found(folders) == []
    translated(folders[1], "D2", ("s", "Water."))
    translated(folders[1], "ENG_3", ("s", "Water."))
    assert codes(found(folders)) == ["MTV204", "MTV204"]


SOURCES = ("https://example.org/a", "@osh_7 #flood", "2019", "", "a@example.org \U0001f600", "AT")


def test_what_is_the_same_in_any_language_is_no_copy(folders: tuple[Path, Path]) -> None:
    listed = [(f"s{number}", text) for number, text in enumerate(SOURCES)]
    original(folders[0], "D1", *listed)
    translated(folders[1], "D1", *listed)
    assert [finding.message for finding in found(folders)] == [
        "the translation of s5 equals its source"
    ]


def test_segments_are_in_order_but_for_the_one_that_is_late(folders: tuple[Path, Path]) -> None:
    names = ("s0", "s1", "s2", "s3")
    original(folders[0], "D1", *((name, "Akvo.") for name in names))
    for late in (("s3", "s0", "s1", "s2"), ("s0", "s3", "s1", "s2"), ("s3", "s2", "s1", "s0")):
        translated(folders[1], "D1", *((name, "Water.") for name in late))
        assert codes(found(folders)) == ["MTV304"]


def test_an_unknown_identifier_has_the_number_of_the_one_that_is_meant(
    folders: tuple[Path, Path],
) -> None:
    original(folders[0], "D1", ("segment-1", "Akvo."), ("segment-11", "Akvo."))
    translated(folders[1], "D1", ("11", "Water."), ("Segment-1", "Water."), ("x", "Water."))
    hints = {item.record: item.help for item in found(folders) if item.code == "MTV302"}
    assert hints == {
        "11": "did you mean segment-11?",
        "Segment-1": "did you mean segment-1?",
        "x": "remove it, or copy the id from the input file",
    }


@pytest.mark.parametrize("name", ["D1.xml", "d1.txt", "D1.LTF.XML"])
def test_a_translation_with_another_suffix_is_to_be_renamed_and_is_not_missing(
    folders: tuple[Path, Path], name: str
) -> None:
    """The one finding blocks, since the file is not read; D3 has no file at all."""
    for number in (1, 2, 3):
        original(folders[0], f"D{number}", ("s", "Akvo."))
    for number in (1, 2):
        translated(folders[1], f"D{number}", ("s", "Water."))
    (folders[1] / "D1.ltf.xml").rename(folders[1] / name)
    first, second = sorted(found(folders), key=lambda finding: finding.code)
    assert (first.code, first.blocking) == ("MTV102", True)
    assert first.help == "rename it to D1.ltf.xml, the name of the input file"
    assert (second.code, second.message) == ("MTV201", "document D3 is not translated")


def test_only_a_name_of_a_reference_translation_itself_is_meant(folders: tuple[Path, Path]) -> None:
    """References are of a part of the input: D2 may be another document, and D1 is missing."""
    translated(folders[0], "D1", ("s", "Water."))
    translated(folders[0], "E3", ("s", "Water."))
    translated(folders[1], "D2", ("s", "Water."))
    translated(folders[1], "E3", ("s", "Water."))
    (folders[1] / "D2.ltf.xml").rename(folders[1] / "D2.xml")
    helps = {finding.code: finding.help for finding in found(folders)}
    assert helps == {
        "MTV102": "rename it to D2.ltf.xml if it is a translation, or remove it",
        "MTV201": "add the file D1.ltf.xml",
    }


@pytest.mark.parametrize(
    ("names", "wanted"),
    [([], ["MTV101"]), (["NW_X.xml"], ["MTV102", "MTV201"]), (["EPO_NW_2.LTF.XML"], ["MTV102"])],
    ids=["nothing", "xml", "capitals"],
)
def test_a_submission_without_a_file_that_is_read_blocks(
    tmp_path: Path, names: list[str], wanted: list[str]
) -> None:
    texts, run = tmp_path / "ltf", tmp_path / "run"
    texts.mkdir()
    shutil.copy(TEXTS / "EPO_NW_2.ltf.xml", texts)
    run.mkdir()
    (run / "notes.txt").write_text("run 7\n")
    for name in names:
        shutil.copy(VALID / "EPO_NW_2.ltf.xml", run / name)
    findings = validate("lorehlt-mt", str(run), against=str(texts)).findings
    assert sorted({finding.code for finding in findings}) == wanted
    assert any(finding.blocking for finding in findings)
