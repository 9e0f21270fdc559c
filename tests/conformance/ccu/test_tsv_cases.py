"""The 21 tables of the shared cases: valid, or refused for the reason that they are named for."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import open_source

CASES = {
    "T00_ok": "",
    "T01_headeronly": "",
    "T02_bom": "SRC202",
    "T03_crlf": "CCS111",
    "T04_noheader": "CCS129:1:1",
    "T05_extracol": "CCS105:2:1",
    "T06_trailingtab": "CCS103:1:35",
    "T07_comma_decimal": "CCS107:2:28",
    "T08_nan": "CCS107:2:28",
    "T09_inf": "CCS107:2:28",
    "T10_quote": "CCS108:2:11",
    "T11_nul": "SRC203:2:23",
    "T12_underscore_num": "CCS107:2:18",
    "T13_arabic_digits": "CCS112:2:18 CCS107:2:18",
    "T14_csv": "CCS102:1:1",
    "T15_spaces": "CCS102:1:1",
    "T16_no_final_newline": "",
    "T17_blank_line": "CCS106:2:1",
    "T18_header_case": "CCS102:1:1",
    "T19_cr_in_field": "CCS109:2:21",
    "T20_1e400": "CCS107:2:28",
}
HINTS = {
    "T06_trailingtab": "remove the tab after the last column",
    "T07_comma_decimal": "write a decimal point: 0.75",
    "T10_quote": "nothing is quoted in these tables: write 001",
    "T12_underscore_num": "write the digits without underscores: 40",
    "T14_csv": "separate the columns of all lines by tabs, not by commas",
    "T15_spaces": "separate the columns of all lines by tabs, not by spaces",
}
ACCEPTED = {"T00_ok", "T01_headeronly", "T02_bom", "T03_crlf", "T16_no_final_newline"}
READ = ACCEPTED - {"T01_headeronly"} | {"T06_trailingtab", "T17_blank_line"}
"""Those whose row is read."""


def read(path: Path, task: str) -> tuple[Corpus, list[Finding]]:
    form = load("ccu-submission").with_settings({"task": task})
    (result,) = form.read(open_source(str(path)))
    return result.corpus, list(result.findings)


@pytest.mark.parametrize("name", CASES)
def test_a_table_is_judged_as_its_case_says(name: str, shared: Path) -> None:
    path = shared / "cases/ltf-mt-packaging/tsv" / name / "M012345QD.tab"
    corpus, found = read(path, "auto")
    places = [f"{f.code}:{f.span.line}:{f.span.column}" if f.span else f.code for f in found]
    assert " ".join(places) == CASES[name]
    assert all(finding.severity != "error" for finding in found) == (name in ACCEPTED)
    assert corpus.instances.height == (name in READ)
    assert name not in HINTS or HINTS[name] in {finding.help for finding in found}


def test_a_task_that_is_set_knows_the_header_that_is_missing(shared: Path) -> None:
    path = shared / "cases/ltf-mt-packaging/tsv/T04_noheader/M012345QD.tab"
    _, (found,) = read(path, "nd")
    assert found.code == "CCS102"
    assert (
        found.help == "begin with the header, separated by tabs: file_id norm start end status llr"
    )
