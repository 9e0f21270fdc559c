"""The thirty Appen cases: exact frames, and each finding at its line with its cause."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval.converters import ReadResult, load
from hlteval.converters.situations.appen_blocks import parse
from hlteval.representation import Corpus
from hlteval.sources import open_source

CODES = {
    "UNEXPECTED_LINE": "APN101",
    "UNKNOWN_FIELD": "APN102",
    "FIELD_OUTSIDE_BLOCK": "APN103",
    "MISSING_LINE": "APN104",
    "REPEATED_FIELD": "APN105",
    "FIELD_ORDER": "APN106",
    "UNKNOWN_TYPE": "APN201",
    "BAD_TIME": "APN202",
    "BAD_RESOLUTION": "APN203",
    "OUT_OF_DOMAIN_MIXED": "APN205",
    "STATUS_INCOMPLETE": "APN206",
    "EMPTY_PLACE": "APN301",
    "NA_MIXED": "APN302",
    "SUSPECT_SEPARATOR": "APN303",
    "CONTROL_OR_LINE_SEPARATOR": "APN304",
    "PLACE_NOT_NFC": "APN305",
    "AMBIGUOUS_TYPE_PLACE": "APN306",
    "DUPLICATE_FRAME": "APN307",
    "EMPTY_FILE": "APN401",
    "SUSPECT_FILE_NAME": "APN402",
    "NOT_UTF8": "SRC201",
    "BOM": "SRC202",
}
WHOLE_FILE = {"SRC202"}
"""Told of the file: the cases name line 1."""

GOOD = ["CHN_EVAL_001_001", "CHN_EVAL_001_002", "ENG_EVAL_005_001", "ENG_EVAL_005_002"]
GOOD += ["ENG_EVAL_005_003", "ETH_EVAL_003_001", "ETH_EVAL_003_002", "ETH_EVAL_003_003"]
GOOD += ["ETH_EVAL_003_004", "RUS_EVAL_004_001", "UZB_EVAL_002_001", "UZB_EVAL_002_002"]
GOOD += ["UZB_EVAL_002_003", "UZB_EVAL_002_004", "VIE_EVAL_006_001"]
BAD = [f"BAD_{number:03}" for number in range(1, 15)] + ["BAD 015.v2"]
CASES = [f"good/{name}" for name in GOOD] + [f"bad/{name}" for name in BAD]


def read(path: Path, **settings: str) -> ReadResult:
    (reading,) = load("appen").with_settings(settings).read(open_source(str(path)))
    return reading


def frames(corpus: Corpus) -> list[dict[str, Any]]:
    """The frames as the cases write them; a place or status that there is not is left out."""
    named = corpus.frames.join(
        corpus.documents.select("name", document="row"), on="document", maintain_order="left"
    )
    listed = []
    for row in named.iter_rows(named=True):
        status = {"Need": row["status"], "Relief": row["resolution"]}
        frame = {
            "DocumentID": row["name"],
            "Type": row["label"],
            "PlaceMention": row["place"],
            "Status": {key: value for key, value in status.items() if value} or None,
        }
        frame = {key: value for key, value in frame.items() if value is not None}
        if frame not in listed:  # duplicates are merged
            listed.append(frame)
    return listed


def test_these_are_all_cases(shared):
    files = sorted((shared / "cases/appen").glob("*/*.txt"))
    assert len(files) == 30
    assert {f"{file.parent.name}/{file.name.removesuffix('.txt')}" for file in files} == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_frames_and_findings_are_as_expected(shared, case):
    path = shared / "cases/appen" / f"{case}.txt"
    expected = json.loads((path.parent / f"{path.stem}.expected.json").read_text("utf-8"))
    reading = read(path)
    assert reading.corpus.documents["name"].to_list() == [expected["document_id"]]
    assert frames(reading.corpus) == expected.get("frames", expected.get("recovered_frames"))
    candidates = reading.corpus.arguments.filter(pl.col("role") == "Place")
    assert bool(candidates.height) == expected["ignore_at_type_place"]
    found = [
        (finding.code, None if finding.code in WHOLE_FILE else finding.span and finding.span.line)
        for finding in reading.findings
    ]
    wanted = [
        (code, None if code in WHOLE_FILE else item.get("line"))
        for item in expected["diagnostics"]
        if (code := CODES[item["code"]])
    ]
    assert sorted(found, key=str) == sorted(wanted, key=str)
    for one in expected["diagnostics"]:
        code = CODES[one["code"]]
        texts = [f.message + str(f.help) for f in reading.findings if f.code == code]
        for cause in ("field", "value", "char"):
            assert cause not in one or any(one[cause] in text for text in texts)
        severities = {f.severity for f in reading.findings if f.code == code}
        assert severities == {one["severity"]}


def test_the_comma_of_a_type_is_suggested(shared):
    reading = read(shared / "cases/appen/bad/BAD_004.txt")
    assert "Utilities, Energy, or Sanitation" in str(reading.findings[0].help)


def test_a_separator_can_be_set(shared):
    reading = read(shared / "cases/appen/bad/BAD_013.txt", **{"place-separators": ",،"})
    assert reading.corpus.frames["place"].to_list() == ["دمشق", "حلب"]
    assert [finding.code for finding in reading.findings] == ["APN101"]


def test_a_line_separator_ends_no_line(shared):
    text = (shared / "cases/appen/bad/BAD_014.txt").read_text("utf-8")
    assert [frame.place for frame in parse(text)[0]] == ["Osh\u2028city"]


def test_a_folder_of_cases_is_read_as_a_whole_and_an_archive_too(shared, tmp_path):
    import shutil

    pack = tmp_path / "root" / "SET1" / "ANNOTATION"
    pack.mkdir(parents=True)
    for name in GOOD:
        shutil.copy(shared / "cases/appen/good" / f"{name}.txt", pack)
    (tmp_path / "root" / "SET1" / "readme.txt").write_text("not an annotation")
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "root")
    for path in (tmp_path / "root", Path(archive), pack):
        assert read(path).corpus.documents["name"].to_list() == sorted(GOOD)
