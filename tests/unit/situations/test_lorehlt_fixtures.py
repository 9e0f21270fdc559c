"""Every code of LoReHLT situation frames has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.findings import Finding, catalogue
from hlteval.sources import open_source
from hlteval.workflows.run.verdicts import Refused
from tests.runs import opened_run, score, validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID = FIXTURES / "lorehlt-sf/valid"
FORMATS = ("lorehlt-sf-json", "lorehlt-sf-tables", "lorehlt-sf-reference")
READ = [(form, path) for form in FORMATS for path in sorted(FIXTURES.glob(f"{form}/invalid/*"))]
RULES = sorted(FIXTURES.glob("lorehlt-sf/invalid/*"))
OF_OPTIONS = sorted(FIXTURES.glob("lorehlt-sf-options/invalid/*"))
"""Files of options; only a reference shows what is wrong with them."""
SETTINGS = {"LSF212": {"schema": "2019-v1"}, "LSF213": {"document-ids": "stripped"}}
"""What only these settings raise."""
OPTIONS = {
    "documents": str(VALID / "documents.list"),
    "kb": str(FIXTURES / "lorehlt-edl/valid/kb.tab"),
    "system_edl": str(VALID / "submission/edl.tab"),
    "cutoff": "0.3",
}
WITHOUT = {"LSF302": "documents", "LSF310": "cutoff", "LSF311": "documents", "LSF403": "system_edl"}
"""The option that hides a finding."""
ALSO = {"LSF311": ("LSF303",), "LSF312": ("LSF303",)}
"""Without frames, all documents are silent."""
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
    assert set(verdict.by_code) == {code, *ALSO.get(code, ())}
    assert verdict.passed == (catalogue()[code].severity != "error")
    whole = {"LSF303", "LSF310", "LSF311", "LSF312", "LSF403"}
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
    paths = [*(path for _, path in READ), *RULES, *OF_OPTIONS]
    assert {code_of(path) for path in paths} == codes


PLACES = {
    "LSF701": (":2:1", "did you mean D1? the reference has D1, D2"),
    "LSF702": (":1:9", "D1 has 7, 8"),
    "LSF703": ("", "did you mean D1? the reference has D1, D2"),
    "LSF704": ("", "list the test set with --documents, so that the names are checked"),
}
"""Line and column of what is wrong in the file of an option, and the fix."""


@pytest.mark.parametrize("profile", ["plan", "official"])
@pytest.mark.parametrize("path", OF_OPTIONS, ids=lambda path: path.name)
def test_a_file_of_an_option_has_names_of_its_reference(path: Path, profile: str) -> None:
    sides = (
        str(FIXTURES / "scores/lorehlt-sf/reference"),
        str(FIXTURES / "scores/lorehlt-sf/system"),
    )
    option = path.suffix[1:]
    run = opened_run("lorehlt-sf", *sides, profile=profile, options={option: str(path)})
    for batch in run.results(None):
        for counted in batch:
            run.add(counted)
    (found,) = run.metric.judge(run.counts)
    assert (found.code, found.side) == (code_of(path), f"--{option}")
    assert (found.position, found.help) == PLACES[found.code]
    assert found.blocking is (found.severity == "error")


@pytest.mark.parametrize("path", OF_OPTIONS[:3], ids=lambda path: path.name)
@pytest.mark.parametrize("profile", ["plan", "official"])
def test_an_unknown_name_blocks(path: Path, profile: str) -> None:
    sides = (
        str(FIXTURES / "scores/lorehlt-sf/reference"),
        str(FIXTURES / "scores/lorehlt-sf/system"),
    )
    with pytest.raises(Refused) as refused:
        score("lorehlt-sf", *sides, profile=profile, options={path.suffix[1:]: str(path)})
    assert [item.code for item in refused.value.blocking] == [code_of(path)]


NO_FRAMES = {"LSF212", "LSF213"}
"""The good examples of these codes are words, since only a setting raises them."""
OF_FRAMES = [code for code in catalogue() if code.startswith("LSF2") and code not in NO_FRAMES]


@pytest.mark.parametrize("code", OF_FRAMES)
def test_the_good_example_is_good(code: str, tmp_path: Path) -> None:
    good, bad = catalogue()[code].good, catalogue()[code].bad
    path = tmp_path / f"{code}-example.json"
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


EMPTY = [({}, ["LSF311"], True), ({"documents": OPTIONS["documents"]}, ["LSF303", "LSF312"], False)]


@pytest.mark.parametrize("profile", ["plan", "official"])
@pytest.mark.parametrize(("options", "codes", "passed"), EMPTY)
def test_a_submission_without_frames_is_reported(
    tmp_path: Path, options: dict[str, str], codes: list[str], passed: bool, profile: str
) -> None:
    """Also with an EDL output beside it; the official validator looks at no documents."""
    (tmp_path / "system_output.json").write_text("[]\n")
    (tmp_path / "edl.tab").write_bytes((VALID / "submission/edl.tab").read_bytes())
    verdict = validate("lorehlt-sf", str(tmp_path), options=options, profile=profile)
    assert sorted(verdict.by_code) == codes
    assert verdict.passed == (passed or profile == "official")
    assert any("the official scorer stops at" in str(item.help) for item in verdict.findings)


def test_a_document_of_two_lists_counts_once(tmp_path: Path) -> None:
    """A submission lacks as many documents as there are, also where both lists name them."""
    (tmp_path / "system_output.json").write_text("[]\n")
    (tmp_path / "edl.tab").write_bytes((VALID / "submission/edl.tab").read_bytes())
    options = dict.fromkeys(("documents", "scored"), OPTIONS["documents"])
    verdict = validate("lorehlt-sf", str(tmp_path), options=options)
    (message,) = (item.message for item in verdict.findings if item.code == "LSF312")
    assert message == "the submission has no frames for the 2 listed documents"


def test_a_justification_that_the_official_validator_refuses_is_an_info(tmp_path: Path) -> None:
    """One finding for each kind, with the number of frames, and what to write."""
    frame = '{"DocumentID": "D", "Type": "terrorism", "Place_KB_ID": "", "Status": "current", '
    frame += '"Confidence": 0.5, "Urgent": true, "SEC": []'
    path = tmp_path / "system_output.json"
    path.write_text(f'[{frame}, "Justification": "s"}}, {frame}}}, {frame}}}]')
    (first, second) = found("lorehlt-sf-json", path)
    assert {first.code, second.code} == {"LSF215"}
    assert first.severity == "info"
    assert first.message.startswith("Justification in place of Justification_ID (frames: 1)")
    assert first.help == "rename it to Justification_ID"
    assert second.message.startswith("no Justification_ID (frames: 2)")
    assert not validate("lorehlt-sf", str(path), profile="official").passed


def test_spaces_around_a_place_are_shown(tmp_path: Path) -> None:
    text = (FIXTURES / "lorehlt-sf/invalid/LSF306-name.json").read_text()
    path = tmp_path / "system_output.json"
    path.write_text(text.replace('"Place_KB_ID": "', '"Place_KB_ID": " ', 1))
    verdict = validate("lorehlt-sf", str(path), options={"cutoff": "0"})
    messages = [item.message for item in verdict.findings if item.code == "LSF306"]
    assert '" 2988507"' in messages[0]


def test_the_opposite_of_a_status_is_not_suggested(tmp_path: Path) -> None:
    """A need that is not current is past or future, but not current."""
    text = (FIXTURES / "lorehlt-sf-json/valid/frames.json").read_text()
    path = tmp_path / "system_output.json"
    path.write_text(text.replace('"Status": "current"', '"Status": "not_current"', 1))
    (finding,) = [item for item in found("lorehlt-sf-json", path) if item.code == "LSF207"]
    assert finding.help == "use one of: past, current, future"
