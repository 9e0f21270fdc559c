"""Every code of this family has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.findings import Finding, catalogue
from hlteval.sources import open_source
from tests.runs import validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
FORMATS = ("appen", "speech-sf-json", "speech-sf-tsv", "document-list")
READ = [(form, path) for form in FORMATS for path in sorted(FIXTURES.glob(f"{form}/invalid/*"))]
RULES = sorted(FIXTURES.glob("speech-sf/invalid/*"))
SEGMENTS = FIXTURES / "speech-sf/valid/segments.list"
AGAINST = {"SSF107": FIXTURES / "speech-sf/valid/reference.json"}
"""What is checked beside the frames of a reference, and not beside a list of segments."""

OPTIONS = {"SSF108": {"types": str(FIXTURES / "speech-sf/valid/evaluated.types")}}
"""The options without which nothing is raised."""
SETTINGS = {"APN108": {"blocks": "position"}, "APN406": {"blocks": "position"}}
"""What only the reading of the official script raises."""
FOLLOWS = {"APN108": {"APN104"}}
"""What is reported of the same place whatever the reading."""


def code_of(path: Path) -> str:
    return path.name.partition("-")[0]


def found(form: str, path: Path) -> list[Finding]:
    source = open_source(str(path))
    settings = SETTINGS.get(code_of(path), {})
    readings = list(load(form).with_settings(settings).read(source))
    return [*source.findings, *(finding for reading in readings for finding in reading.findings)]


@pytest.mark.parametrize(("form", "path"), READ, ids=lambda value: getattr(value, "name", value))
def test_a_fixture_raises_its_code_and_nothing_else(form: str, path: Path) -> None:
    findings = found(form, path)
    codes = {finding.code for finding in findings}
    assert codes - FOLLOWS.get(code_of(path), set()) == {code_of(path)}
    assert all(finding.clause and finding.help for finding in findings)


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_a_fixture_breaks_its_rule_and_no_other(path: Path) -> None:
    against = AGAINST.get(code_of(path), SEGMENTS)
    options = OPTIONS.get(code_of(path), {})
    verdict = validate("speech-sf", str(path), against=str(against), options=options)
    assert set(verdict.by_code) == {code_of(path)}
    severity = catalogue()[code_of(path)].severity
    assert verdict.passed == (severity != "error")


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code[:3] in {"APN", "DOC", "JSN", "SFJ", "SFT", "SSF"}}
    assert {code_of(path) for _, path in READ} | {code_of(path) for path in RULES} == codes


NO_FRAMES = {"SFJ101"}
"""The good example of this code is the name of a file."""
NO_ANNOTATIONS = {"APN102", "APN402", "APN403", "APN404", "APN405", "APN406"}
"""The good examples of these codes are a line, or names of files."""


def codes_of(prefixes: set[str], without: set[str]) -> list[str]:
    return sorted(code for code in catalogue() if code[:3] in prefixes and code not in without)


@pytest.mark.parametrize("code", codes_of({"JSN", "SFJ"}, NO_FRAMES))
def test_the_good_example_is_good(code: str, tmp_path: Path) -> None:
    path = tmp_path / "good.json"
    path.write_text(catalogue()[code].good, "utf-8")
    assert found("speech-sf-json", path) == []


@pytest.mark.parametrize("code", codes_of({"APN"}, NO_ANNOTATIONS))
def test_the_good_annotation_is_good(code: str, tmp_path: Path) -> None:
    path = tmp_path / "D1.txt"
    path.write_text(catalogue()[code].good, "utf-8")
    assert found("appen", path) == []


def test_what_is_valid_has_no_finding_but_an_ambiguous_block() -> None:
    assert found("speech-sf-json", FIXTURES / "speech-sf-json/valid/frames.json") == []
    ambiguous = found("appen", FIXTURES / "appen/valid")
    assert [(frame.code, Path(frame.file or "").name) for frame in ambiguous] == [
        ("APN306", "D3.txt")
    ]
    submission = FIXTURES / "speech-sf/valid/submission.json"
    assert validate("speech-sf", str(submission), against=str(SEGMENTS)).findings == ()


def test_a_script_is_told_once_and_needs_a_reference_with_places() -> None:
    path = str(FIXTURES / "speech-sf/invalid/SSF107-in-latin.json")
    (finding,) = validate("speech-sf", path, against=str(AGAINST["SSF107"])).findings
    assert finding.message == "Jiangsu is in Latin script, the reference in Cjk (such frames: 1)"
    assert finding.span is not None
    assert finding.span.line == 14
    for reference in (SEGMENTS, None):
        assert (
            "SSF107"
            not in validate("speech-sf", path, against=reference and str(reference)).by_code
        )


def test_a_number_beyond_all_floats_is_judged_alike_where_other_things_are_wrong(
    tmp_path: Path,
) -> None:
    """A file with faults is read by another parser, which tells them all."""
    given = FIXTURES / "speech-sf-json/invalid/SFJ205-four-hundred-digits.json"
    faulty = tmp_path / "faulty.json"
    faulty.write_text(given.read_text("utf-8").replace("}]", "},]"), "utf-8")
    (only,) = found("speech-sf-json", given)
    among = {item.code: item.span for item in found("speech-sf-json", faulty)}
    assert among.keys() == {"SFJ205", "JSN104"}
    assert among["SFJ205"] == only.span
