"""`hlteval agreement`: what is printed, written and refused."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval
from hlteval.cli.app import TASKED
from hlteval.reports.agreement import FORMATS
from hlteval.reports.html import make_page

Run = Callable[..., Any]
FIXTURES = Path(__file__).parents[2] / "fixtures"
VALID = FIXTURES / "agreement" / "valid"
THREE = [VALID / name for name in ("ada.tab", "bo.tab", "eve.tab")]
NONE = ("--bootstrap", 0)
HOSTILE = "</script><img src=x onerror=alert(1)>"


def test_text_has_measures_coefficients_and_differences(invoke: Run) -> None:
    result = invoke("agreement", "lorehlt-edl", *THREE, "--max-differences", 1, *NONE)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "lorehlt-edl: agreement of 3 annotators, 3 documents"
    assert any(re.match(r"strong_mention_match.fscore +ada +bo +0.8000", line) for line in lines)
    assert any(re.match(r"type +alpha +all +0.1951 +- +4", line) for line in lines)
    assert "6 differences" in lines
    assert "… and 5 more" in lines
    assert not any("interval" in line for line in lines if line.startswith("note"))


@pytest.mark.parametrize("per", ["label", "document"])
def test_values_per_label_or_document(invoke: Run, per: str) -> None:
    result = invoke("agreement", "lorehlt-edl", *THREE[:2], "--per", per, *NONE)
    assert f"by {per}" in result.stdout.splitlines()
    name = {"label": "GPE", "document": "d1"}[per]
    assert re.search(rf"type +{name} +kappa +ada, bo ", result.stdout)


def test_json_is_what_python_gives(invoke: Run) -> None:
    result = invoke("agreement", "lorehlt-edl", *THREE, *NONE, "--format", "json")
    names = dict(zip(("ada", "bo", "eve"), THREE, strict=True))
    found = hlteval.agreement("lorehlt-edl", names, bootstrap=0)
    assert json.loads(result.stdout) == json.loads(json.dumps(found.to_dict()))


def test_findings_are_in_the_order_of_their_files(invoke: Run, tmp_path: Path) -> None:
    text = next(FIXTURES.glob("lorehlt-edl/invalid/EDL318-*")).read_text("utf-8")
    paths = [tmp_path / "b.tab", tmp_path / "a.tab"]
    for path in paths:
        path.write_text(text, "utf-8")
    result = invoke("agreement", "lorehlt-edl", *paths, *NONE, "--lenient", "--format", "json")
    files = [Path(item["file"]).name for item in json.loads(result.stdout)["findings"]]
    assert {*files} == {"a.tab", "b.tab"}
    assert files == sorted(files)


@pytest.mark.parametrize("form", FORMATS)
def test_formats_are_written(invoke: Run, tmp_path: Path, form: str) -> None:
    path = tmp_path / "out"
    result = invoke(
        "agreement", "lorehlt-edl", *THREE, *NONE, "--output-file", f"{form}={path}"
    )  # fmt: skip
    assert result.exit_code == 0
    value = {"json": "0.888888", "tsv": "0.888888", "sentence": ".422"}.get(form, "0.8889")
    assert value in path.read_text("utf-8")


def test_tsv_has_three_tables(invoke: Run) -> None:
    result = invoke("agreement", "lorehlt-edl", *THREE, *NONE, "--format", "tsv")
    tables = [table.splitlines() for table in result.stdout.strip("\n").split("\n\n")]
    assert [table[0].partition("\t")[0] for table in tables] == ["measure", "judged", "judged"]
    assert all(line.count("\t") == table[0].count("\t") for table in tables for line in table)


def test_annotations_that_cannot_be_compared(invoke: Run, tmp_path: Path) -> None:
    """Findings with exit code 1; errors of usage with exit code 2; nothing is written."""
    report = tmp_path / "report.html"
    refused = invoke("agreement", "lorehlt-edl", THREE[0], THREE[0], "--report", report)
    assert refused.exit_code == 1
    assert "AGR102" in refused.stderr
    assert refused.stdout == ""
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"PK\x03\x04 damaged")
    assert invoke("agreement", "lorehlt-edl", THREE[0], bad).exit_code == 1
    absent = invoke("agreement", "lorehlt-edl", THREE[0], tmp_path / "absent")
    assert (absent.exit_code, "no such file" in absent.stderr) == (2, True)
    for task in ("ltf", "ccu-ndmap", "ccu-ta2"):
        unfit = invoke("agreement", task, *THREE[:2])
        assert (unfit.exit_code, "nothing that annotators judge" in unfit.stderr) == (2, True)
    idle = invoke("agreement", "lorehlt-edl", *THREE, *NONE, "--seed", 3)
    assert (idle.exit_code, "no effect" in idle.stderr) == (2, True)


def test_options_have_the_defaults_of_the_function() -> None:
    ours = TASKED["agreement"].parameters
    theirs = inspect.signature(hlteval.agreement).parameters
    for name in ("bootstrap", "confidence", "seed", "lenient", "encoding", "against"):
        assert ours[name].default == theirs[name].default


def test_a_report_escapes_what_annotators_write(invoke: Run, tmp_path: Path) -> None:
    """Names and categories reach the page as text only."""
    paths = []
    for name, label in (("ada", "GPE"), ("bo", "LOC")):
        path = tmp_path / f"{name}.tab"
        path.write_text(f"{name}\tm1\tOsh\t{HOSTILE}:3-5\tNIL1\t{label}\tNAM\t1.0\n", "utf-8")
        paths.append(path)
    report = tmp_path / "report.html"
    result = invoke("agreement", "lorehlt-edl", *paths, "--report", report)
    assert result.exit_code == 0
    text = report.read_text("utf-8")
    assert HOSTILE not in text
    assert "onerror" in text
    found = hlteval.agreement("lorehlt-edl", {HOSTILE: paths[0], "bo": paths[1]}, bootstrap=0)
    assert HOSTILE not in make_page(found).html()
