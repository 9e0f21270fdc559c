"""Fixtures of conversions: each raises its code and, where there is an error, writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hlteval import convert
from hlteval.findings import Finding
from hlteval.workflows.convert.conversion import NotConverted

INVALID = Path(__file__).parents[3] / "fixtures" / "inputs" / "invalid"


@dataclass(frozen=True)
class Case:
    """How a fixture is converted, and what that raises.

    Attributes:
        inputs: its files and folders that are converted; itself by default.
        output: the path of the output, whose suffix determines the format.
        codes: what is raised.
        place: the file of the finding, in the fixture; and the line, if it has one.
        written: whether anything is written.
        options: of `convert`.
    """

    codes: str
    place: tuple[str, int] | None = ("", 0)
    inputs: tuple[str, ...] = ("",)
    output: str = "out.bioc.xml"
    written: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)


TWO = ("texts", "annotations")
CASES = {
    "CNV104-read-me": Case("CNV104"),
    "CNV105-other-files": Case(
        "CNV104 CNV105", None, written=False, options={"from_format": "brat"}
    ),
    "CNV106-no-situations": Case(
        "CNV103 CNV106",
        None,
        output="out.json",
        written=False,
        options={"to_format": "speech-sf-json"},
    ),
    "CNV107-one-bad-line": Case("BRT101 CNV101 CNV107", None),
    "CNV108-folder-in-use": Case(
        "CNV108", None, output="used", options={"to_format": "brat", "force": True}
    ),
    "CNV109-one-folder.jsonl": Case("CNV109", None, output="out", options={"to_format": "rsd"}),
    "CNV110-token-numbers.conll": Case(
        "CNV101 CNV101 CNV103 CNV110", None, output="out", options={"to_format": "brat"}
    ),
    "CNV201-two-files": Case(
        "CNV201", ("b.sgml", 0), options={"from_format": "sgml-corpus", "to_format": "jsonl"}
    ),
    "CNV202-text-beside": Case("CNV202", ("d1.ann", 0), ("d1.ann",)),
    "CNV203-no-text": Case("CNV203", ("d1.ann", 0), ("d1.ann",)),
    "CNV204-two-annotators": Case("CNV204", ("two", 0), ("one", "two"), output="out.jsonl"),
    "CNV205-other-names": Case("CNV205 CNV205", ("texts", 0), TWO),
    "CNV206-one-text-missing": Case("CNV206", None, TWO),
    "CNV207-from-one": Case("CNV207", ("annotations/d1.ann", 1), TWO, output="out.jsonl"),
    "CNV208-utf-16": Case("CNV208", None),
}


def run(name: str, case: Case, folder: Path) -> list[Finding]:
    (folder / "used").mkdir()
    (folder / "used" / "other.txt").write_text("mine")
    inputs = [str(INVALID / name / each) if each else str(INVALID / name) for each in case.inputs]
    output = str(folder / case.output)
    try:
        return convert(inputs, output, **case.options)
    except NotConverted as reason:
        return reason.findings


@pytest.mark.parametrize("name", CASES)
def test_a_fixture_raises_its_code(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    findings = run(name, case, tmp_path)
    ignored = {"CNV107", "CNV102"} if "CNV107" not in case.codes else {"CNV102"}
    codes = [finding.code for finding in findings if finding.code not in ignored]
    assert sorted(codes) == case.codes.split()
    found = [finding for finding in findings if finding.code == name.partition("-")[0]]
    if case.place is not None:
        file, line = case.place
        assert str(INVALID / name / file) in {finding.file for finding in found}
        assert (found[0].span.line if found[0].span else 0) == line
    assert (tmp_path / case.output).exists() == case.written
    assert (tmp_path / "used" / "other.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] == ".") == []


def test_every_fixture_is_converted() -> None:
    assert {path.name for path in INVALID.iterdir()} == CASES.keys()
