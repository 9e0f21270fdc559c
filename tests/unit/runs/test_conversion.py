"""Conversion runs: which format is meant, and what is never lost in silence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.runs import conversion
from hlteval.runs.conversion import Lossy, UnknownFormat, detected, target
from hlteval.sources import Member, Source

FIXTURES = Path(__file__).parents[3] / "fixtures"
CORPUS = str(FIXTURES / "standoff" / "valid" / "full")


@pytest.mark.parametrize(
    ("path", "name"),
    [("out.jsonl", "jsonl"), ("o.corpus", "corpus"), ("a.txt", "standoff"), ("a.rsd.txt", "rsd")],
)
def test_the_suffix_tells_the_format(path: str, name: str) -> None:
    assert target(path).name == name


@pytest.mark.parametrize(
    ("path", "form", "reason"),
    [
        ("out", None, "does not tell the format"),
        ("-", None, "does not tell the format"),
        ("out.xml", None, "does not tell the format"),
        ("out", "seedev-sentences", "cannot be written"),
        ("out", "xml", "there is no format xml"),
    ],
)
def test_a_format_that_cannot_be_told_is_asked_for(
    path: str, form: str | None, reason: str
) -> None:
    with pytest.raises(UnknownFormat, match=reason):
        target(path, form)


def test_what_could_be_two_formats_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = replace(load("jsonl"), sniff=lambda _: True)
    monkeypatch.setattr(conversion, "load", lambda name: greedy if name == "jsonl" else load(name))
    source = Source("run", "folder", (Member("d.a2", "d.a2", 0, bytes),))
    with pytest.raises(UnknownFormat, match="could be standoff or jsonl"):
        detected(source)
    assert detected(source, "standoff").name == "standoff"


def test_strict_loss_holds_for_standard_output_too(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """No format of one file loses anything as yet; this one is made to."""
    narrow = replace(load("jsonl"), carries=("documents", "documents.text"))
    monkeypatch.setattr(conversion, "load", lambda name: narrow if name == "jsonl" else load(name))
    with pytest.raises(Lossy) as lossy:
        convert(CORPUS, "-", from_format="standoff", to_format="jsonl", strict_loss=True)
    assert {finding.code for finding in lossy.value.findings} == {"CNV101"}
    assert capsysbinary.readouterr().out == b""
    findings = convert(CORPUS, "-", from_format="standoff", to_format="jsonl")
    assert {finding.code for finding in findings} == {"CNV101"}
    assert capsysbinary.readouterr().out != b""


def test_reading_gives_what_was_wrong_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.a2").write_text("no tab\n")
    (tmp_path / "a.a2").write_text("E1\tX A:T1\nnone here\n")
    corpus, findings = read(str(tmp_path))
    assert corpus.frames.height == 1
    assert [(f.file or "")[-4:] for f in findings] == ["a.a2", "b.a2"]


def test_a_mistaken_end_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    broken = replace(load("jsonl"), write=fail)
    monkeypatch.setattr(conversion, "load", lambda name: broken if name == "jsonl" else load(name))
    with pytest.raises(OSError, match="No space"):
        convert(CORPUS, str(tmp_path / "out.jsonl"), from_format="standoff")
    assert list(tmp_path.iterdir()) == []
