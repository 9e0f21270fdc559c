"""Every code of LoReHLT situation frames has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.findings import Finding, catalogue
from hlteval.sources import open_source
from hlteval.workflows.validation import validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID = FIXTURES / "lorehlt-sf/valid"
FORMATS = ("lorehlt-sf-json", "lorehlt-sf-tables", "lorehlt-sf-reference")
READ = [(form, path) for form in FORMATS for path in sorted(FIXTURES.glob(f"{form}/invalid/*"))]
RULES = sorted(FIXTURES.glob("lorehlt-sf/invalid/*"))
SETTINGS = {"LSF212": {"schema": "2019-v1"}, "LSF213": {"document-ids": "stripped"}}
"""What only these settings raise."""
OPTIONS = {
    "documents": str(VALID / "documents.list"),
    "kb": str(FIXTURES / "lorehlt-edl/valid/kb.tab"),
    "system_edl": str(VALID / "submission/edl.tab"),
    "cutoff": "0.3",
}
WITHOUT = {"LSF302": "documents", "LSF310": "cutoff", "LSF403": "system_edl"}
"""The option that hides a finding."""
OF_REFERENCES = {"LSF509", "LSF510", "LSF511", "LSF512"}


def code_of(path: Path) -> str:
    return path.name.partition("-")[0]


def found(form: str, path: Path) -> list[Finding]:
    source = open_source(str(path))
    readings = load(form).with_settings(SETTINGS.get(code_of(path), {})).read(source)
    return [*source.findings, *(finding for reading in readings for finding in reading.findings)]


@pytest.mark.parametrize(("form", "path"), READ, ids=lambda value: getattr(value, "name", value))
def test_a_fixture_raises_its_code_and_nothing_else(form: str, path: Path) -> None:
    findings = found(form, path)
    assert {finding.code for finding in findings} == {code_of(path)}
    assert all(finding.clause and finding.help for finding in findings)
    assert all(
        finding.span or code_of(path) in {"LSF101", "LSF513", "LSF605"} for finding in findings
    )


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_a_fixture_breaks_its_rule_and_no_other(path: Path) -> None:
    code = code_of(path)
    if code in OF_REFERENCES:
        verdict = validate("lorehlt-sf", str(path), role="reference")
    else:
        options = {name: value for name, value in OPTIONS.items() if name != WITHOUT.get(code)}
        against = str(VALID / "texts.jsonl")
        verdict = validate("lorehlt-sf", str(path), against=against, options=options)
    assert set(verdict.by_code) == {code}
    assert verdict.passed == (catalogue()[code].severity != "error")
    whole = {"LSF303", "LSF310", "LSF403"}
    in_line = not code.startswith("LSF1") and code not in whole
    assert all(bool(finding.span) == in_line for finding in verdict.findings)


OFFICIALLY = {"LSF102": False, "LSF103": False, "LSF104": True, "LSF105": False, "LSF106": True}
"""Whether the official validator passes a package: it lists the files of one folder."""


@pytest.mark.parametrize("code", OFFICIALLY)
def test_the_official_verdict_of_a_package(code: str) -> None:
    (path,) = (path for path in RULES if code_of(path) == code)
    verdict = validate("lorehlt-sf", str(path), profile="official")
    assert code in verdict.by_code
    assert verdict.passed == OFFICIALLY[code]


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code.startswith("LSF")}
    assert {code_of(path) for _, path in READ} | {code_of(path) for path in RULES} == codes


@pytest.mark.parametrize("code", [c for c in catalogue() if c.startswith("LSF2")])
def test_the_good_example_is_good(code: str, tmp_path: Path) -> None:
    good, bad = catalogue()[code].good, catalogue()[code].bad
    path = tmp_path / f"{code}-example.json"
    if good.startswith("["):
        path.write_text(good, "utf-8")
        assert found("lorehlt-sf-json", path) == []
        path.write_text(bad.replace("\0", "\\u0000"), "utf-8")
        assert {finding.code for finding in found("lorehlt-sf-json", path)} == {code}


def test_what_is_valid_has_no_finding() -> None:
    for form, path in (
        ("lorehlt-sf-json", "lorehlt-sf-json/valid/frames.json"),
        ("lorehlt-sf-tables", "lorehlt-sf-tables/valid/submission"),
        ("lorehlt-sf-reference", "lorehlt-sf-reference/valid/annotation"),
    ):
        assert found(form, FIXTURES / path) == []
    submission, against = str(VALID / "submission"), str(VALID / "texts.jsonl")
    options = {name: value for name, value in OPTIONS.items() if name != "system_edl"}
    for profile in ("plan", "official"):
        verdict = validate(
            "lorehlt-sf", submission, against=against, options=options, profile=profile
        )
        assert verdict.findings == ()
        assert verdict.passed
    gold = str(FIXTURES / "lorehlt-sf-reference/valid/annotation")
    assert validate("lorehlt-sf", gold, role="reference").findings == ()


def test_a_folder_of_texts_has_the_segments(tmp_path: Path) -> None:
    frame = (VALID / "submission/system_output.json").read_text("utf-8").split("\n")[1].rstrip(",")
    first = frame.replace("ENG_D1", "water-1").replace('"SEC": [{', '"SEC": [], "x": [{')
    second = first.replace("water-1", "water-2").replace("segment-0", "segment-7")
    speech = first.replace("water-1", "radio-9")
    path = tmp_path / "system_output.json"
    path.write_text(f"[{first},\n{second},\n{speech}]", "utf-8")
    against = str(FIXTURES / "ltf/valid")
    verdict = validate("lorehlt-sf", str(path), against=against, options={"cutoff": "0"})
    messages = [finding.message for finding in verdict.findings if finding.code != "LSF210"]
    assert messages == [
        "the document water-2 has no segment segment-7",
        "no text of the document radio-9 (frames: 1)",
    ]


def test_tables_are_checked_as_the_frames_that_they_hold(tmp_path: Path) -> None:
    """What is found in a file of frames is found in the tables of the same, in its cell."""
    codes = {"LSF304", "LSF305", "LSF306", "LSF307", "LSF308", "LSF401", "LSF402", "LSF404"}
    form, against = load("lorehlt-sf-json"), str(VALID / "texts.jsonl")
    write = load("lorehlt-sf-tables").write
    assert write is not None
    for path in [path for path in RULES if code_of(path) in codes]:
        (result,) = form.read(open_source(str(path)))
        write([result.corpus], tmp_path / path.stem)
        tables = validate("lorehlt-sf", str(tmp_path / path.stem), against=against, options=OPTIONS)
        frames = validate("lorehlt-sf", str(path), against=against, options=OPTIONS)
        (ours,), (theirs,) = tables.findings, frames.findings
        assert ours.code == theirs.code
        assert ours.message == theirs.message or ours.code == "LSF307"  # a line, and an item
        cell, place = marked(ours), marked(theirs)
        assert cell == place.strip('"') or place == "{"


def marked(finding: Finding) -> str:
    """The text that a finding marks."""
    assert finding.span is not None
    assert finding.excerpt is not None
    start = finding.span.column - 1 - finding.excerpt.offset
    return finding.excerpt.text[start : start + finding.span.end_column - finding.span.column]
