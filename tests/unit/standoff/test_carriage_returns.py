"""Carriage returns in standoff that are not part of CR LF."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters.standoff.bionlp import read
from hlteval.sources import open_source

EVENTS = ("E1\tBinding A:T1 B:T2", "E2\tBinding A:T3 B:T4", "M1\tNegation Annotation:E2")
SPANS = ("T1\tTissue 0 4\tseed", "T2\tTissue 5 9\troot")


def result(folder: Path, name: str, content: str):
    (folder / name).write_bytes(content.encode())
    (only,) = read(open_source(str(folder)))
    return only


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        pytest.param("d.a2", EVENTS, id="events"),
        pytest.param("d.a2", EVENTS[::-1], id="modifier-first"),
        pytest.param("d.a1", SPANS, id="spans"),
        pytest.param("d.a2", (*SPANS, *EVENTS), id="all"),
    ],
)
def test_line_ends_of_old_macs_are_one_finding_that_names_them(
    name: str, lines: tuple[str, ...], tmp_path: Path
) -> None:
    found = result(tmp_path, name, "".join(f"{line}\r" for line in lines))
    (only,) = found.findings
    assert (only.code, only.severity, only.span.line) == ("STD110", "error", 1)
    assert only.span.column == len(lines[0]) + 1
    assert only.message == "a carriage return (CR) alone does not end a line"
    assert "end lines with LF" in only.help
    assert found.corpus.rejected_records["code"].to_list() == ["STD110"]
    assert found.corpus.frames.is_empty()
    assert found.corpus.mentions.is_empty()


@pytest.mark.parametrize(
    "line",
    ["E1\tBinding A:T1\rB:T2", "*\tEquiv T1\rT2", "E1\tBinding A:T1 B:T2\r\rC:T3"],
    ids=["event", "equivalence", "two"],
)
def test_a_carriage_return_inside_a_record_is_no_space(line: str, tmp_path: Path) -> None:
    found = result(tmp_path, "d.a2", f"{EVENTS[1]}\n{line}\n")
    (only,) = found.findings
    assert (only.code, only.span.line, only.span.column) == ("STD110", 2, line.index("\r") + 1)
    assert only.message == "carriage return (CR) inside a record"
    assert found.corpus.frames["frame"].to_list() == ["E2"]
    assert found.corpus.rejected_records["text"].to_list() == [line]


def test_carriage_returns_at_ends_of_lines_and_in_texts_are_right(tmp_path: Path) -> None:
    for end in ("\r\n", "\r\r\n"):
        found = result(tmp_path, "d.a2", "".join(f"{line}{end}" for line in EVENTS))
        assert found.findings == ()
        assert found.corpus.frames.height == 2
    found = result(tmp_path, "d.a2", "T1\tTissue 0 9\tseed\r root\n")
    assert found.findings == ()
    assert found.corpus.mentions["text"].to_list() == ["seed\r root"]
