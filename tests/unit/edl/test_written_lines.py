"""What a table of mentions contains of formats that have fewer fields."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlteval
from hlteval.workflows.convert.conversion import convert

SPANS = "D1\t3\t5\t17\t0.5\tGPE\nD1\t7\t10\tNIL1\t0.9\tPER\n"


@pytest.fixture
def spans(tmp_path: Path) -> Path:
    path = tmp_path / "in.neleval"
    path.write_text(SPANS, "utf-8")
    return path


def codes(path: Path) -> list[str]:
    return sorted(hlteval.validate("lorehlt-edl", path).by_code)


def losses(*paths: Path, **settings: str) -> list[str]:
    output = paths[0].with_name("out.tab")
    found = convert([str(path) for path in paths], str(output), settings=settings)
    return [finding.message for finding in found if finding.code == "CNV103"]


def test_fields_that_spans_do_not_have_are_filled_and_listed(spans: Path) -> None:
    texts = spans.with_name("texts")
    texts.mkdir()
    (texts / "D1.rsd.txt").write_text("in Osh Emma\n", "utf-8")
    assert losses(spans, texts) == [
        "edl-tab cannot represent 1 text",
        "edl-tab cannot represent 2 missing identifiers of mentions, written as m1, m2, …",
        "edl-tab cannot represent 2 missing mention types, written as NAM",
        "edl-tab cannot represent 2 missing runs, written as run1 or as --set run=NAME",
    ]
    output = spans.with_name("out.tab")
    assert output.read_text("utf-8").splitlines() == [
        "run1\tm1\tOsh\tD1:3-5\t17\tGPE\tNAM\t0.5",
        "run1\tm2\tEmma\tD1:7-10\tNIL1\tPER\tNAM\t0.9",
    ]
    assert codes(output) == []


def test_mention_strings_are_never_made_up(spans: Path) -> None:
    listed = losses(spans, run="Team_1")
    assert "edl-tab cannot represent 2 missing mention strings; add the texts as an input" in listed
    output = spans.with_name("out.tab")
    assert codes(output) == ["EDL305"]
    assert output.read_text("utf-8").startswith("Team_1\tm1\t\tD1:3-5\t17\tGPE\tNAM\t0.5\n")


@pytest.mark.parametrize(
    ("lines", "listed", "found"),
    [
        (
            "D1\t3\t5\nD1\t7\t10\tNIL1\n",
            [
                "1 missing entity, which a submission must have",
                "2 missing entity types, which a submission must have",
            ],
            ["EDL305", "EDL306", "EDL309"],
        ),
        (
            "D1\t3\t5\tE1\t0.5\tGPE\nD1\t7\t10\tNIL1\t0.9\tCity\n",
            [
                "1 entity that a submission cannot have (it has numbers, or NIL and digits)",
                "1 entity type that a submission cannot have (it has GPE, LOC, ORG, PER)",
            ],
            ["EDL305", "EDL307", "EDL309"],
        ),
    ],
    ids=["missing", "not of a submission"],
)
def test_entities_and_types_that_no_submission_has_are_listed(
    tmp_path: Path, lines: str, listed: list[str], found: list[str]
) -> None:
    path = tmp_path / "in.neleval"
    path.write_text(lines, "utf-8")
    assert {f"edl-tab cannot represent {loss}" for loss in listed} <= {*losses(path)}
    assert codes(tmp_path / "out.tab") == found


def test_empty_fields_of_a_table_stay_empty(tmp_path: Path) -> None:
    path = tmp_path / "in.tab"
    path.write_text("\t\t\tD1:3-5\t17\t\t\t0.5\n", "utf-8")
    assert losses(path) == []
    assert (tmp_path / "out.tab").read_bytes() == path.read_bytes()
