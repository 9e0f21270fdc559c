"""The twenty-one JSON cases: one cause each, at its line and column, with the cure."""

from __future__ import annotations

import pytest

from hlteval.converters import ReadResult, load
from hlteval.sources import open_source
from tests.runs import validate

# name: code, column in line 1 (None: the file), a word of the cure
CASES = {
    "J01_python_literals": ("JSN102", 35, "true"),
    "J02_nan": ("JSN108", 110, "finite"),
    "J03_inf1e999": ("JSN108", 110, "finite"),
    "J04_dupkey": ("JSN109", 82, "keep one"),
    "J05_trailing_comma": ("JSN104", 129, "remove the comma"),
    "J06_lone_surrogate": ("JSN110", 57, "whole pair"),
    "J07_bom": ("SRC202", None, "byte order mark"),
    "J08_deep": ("JSN111", 101, "bracket"),
    "J09_hugeint": ("JSN112", 110, "digits"),
    "J10_conf_string": ("SFJ204", 110, "remove the quotes"),
    "J11_conf_range": ("SFJ205", 110, "rescale"),
    "J12_single_quotes": ("JSN113", 3, "json.dumps"),
    "J13_object_root": ("SFJ201", 1, "square brackets"),
    "J14_jsonl": ("JSN107", 1, "JSON Lines"),
    "J15_ellipsis": ("JSN105", 131, "write out the content"),
    "J16_nul_in_string": ("SFJ209", 50, "delete it"),
    "J17_bool_conf": ("SFJ204", 110, "not numbers"),
    "J18_utf16": ("SRC201", 1, "UTF-16"),
    "J19_latin1": ("SRC201", 51, "Latin-1"),
}
LINE_2 = {"J14_jsonl"}
WARNINGS = {"J07_bom", "J16_nul_in_string"}
"""What is told and does not fail: a byte order mark is information, a NUL is a warning."""


def read(path) -> ReadResult:
    (reading,) = load("speech-sf-json").read(open_source(str(path)))
    return reading


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_its_one_finding(shared, name):
    code, column, cure = CASES[name]
    path = shared / "cases/ltf-mt-packaging/json" / f"{name}.json"
    reading = read(path)
    assert [finding.code for finding in reading.findings] == [code]
    (finding,) = reading.findings
    assert (finding.span and finding.span.column) == column
    if finding.span:
        assert finding.span.line == (2 if name in LINE_2 else 1)
    assert cure in f"{finding.message} {finding.help}"
    verdict = validate("speech-sf", str(path))
    assert verdict.passed == (name in WARNINGS)
    assert finding.blocking == (name not in WARNINGS)
    if code.startswith(("JSN", "SFJ")):
        assert str(finding.record).startswith("$")


def test_native_script_and_escapes_read_alike(shared):
    folder = shared / "cases/ltf-mt-packaging/json"
    native, escaped = (read(folder / f"speech_ok_{kind}.json") for kind in ("native", "escaped"))
    assert native.findings == escaped.findings == ()
    assert native.corpus.frames.equals(escaped.corpus.frames)
    assert native.corpus.frames["place"].to_list() == ["江苏"]


def test_these_are_all_cases(shared):
    files = {path.stem for path in (shared / "cases/ltf-mt-packaging/json").iterdir()}
    assert files == {*CASES, "speech_ok_native", "speech_ok_escaped"}
    assert len(files) == 21
