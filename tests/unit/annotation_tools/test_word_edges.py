"""Spans without texts: the unit of their offsets by the words that they cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.sources import open_source

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
Texts = Sequence[tuple[str, Sequence[tuple[int, int]]]]


def reported(path: Path, texts: Texts, offsets: str = "characters") -> list[str]:
    """The messages about a file of Doccano with some texts and spans."""
    rows = ({"text": text, "label": [[*span, "PER"] for span in spans]} for text, spans in texts)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    results = load("doccano").read(open_source(str(path)), offsets=offsets)
    return [item.message for read in results for item in read.findings]


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        ([("\U0001f600 Ann met Bo now", [(3, 6), (11, 13)])], "UTF-16 code units"),
        ([(f"{FAMILY} Ann met Bo now", [(2, 5), (10, 12)])], "grapheme clusters"),
        ([("e\u0301 Ann met Bo now", [(2, 5), (10, 12)])], "grapheme clusters"),
        ([("\u00e9\u00e9 Ann met Bo now", [(5, 8), (13, 15)])], "bytes of UTF-8"),
        ([("Hi.\r\nAnn met Bo.\r\nOsh now", [(4, 7), (16, 19)])], "grapheme clusters"),
    ],
)
def test_spans_that_cut_words_show_another_unit(tmp_path: Path, texts: Texts, unit: str) -> None:
    (message,) = reported(tmp_path / "a.jsonl", texts)
    assert message.startswith("2 of 2 spans cut words")
    assert message.endswith(f"; 0 do if offsets count {unit}")


@pytest.mark.parametrize(
    "texts",
    [
        [("\U0001f600 Ann met Bo now", [(2, 5), (10, 12)])],  # as read
        [("\U0001f600 Ann met Bo now", [(3, 6)])],  # a single span
        [("\U0001f600 Ann met Bo now", [(3, 5), (3, 4)])],  # parts of words in each unit
        [("Ann met Bo now", [(1, 3), (9, 10)])],  # offsets of all units are equal
        [("Ann met Bo now \U0001f600", [(1, 3), (9, 10)])],
        [("\U0001f600 Ann met Bo now", [(2, 5), (10, 12), (6, 9), (3, 6), (11, 13)])],  # most fit
        [("\U0001f600 \u5317\u4eac\u5927\u5b78\u751f\u6d3b", [(3, 5), (4, 6)])],  # no spaces
    ],
)
def test_other_spans_do_not(tmp_path: Path, texts: Texts) -> None:
    assert reported(tmp_path / "a.jsonl", texts) == []


def test_the_setting_may_be_the_wrong_one(tmp_path: Path) -> None:
    texts = [("\U0001f600 Ann met Bo now", [(2, 5), (10, 12)])]
    (message,) = reported(tmp_path / "a.jsonl", texts, offsets="utf-16")
    assert message.endswith("if offsets count characters")
    assert reported(tmp_path / "a.jsonl", texts, offsets="graphemes") == []


@pytest.mark.parametrize(
    ("label", "read"), [("Fine, thanks.", 0), ("pos.", 1), ("very good", 1), ("U.S. news", 1)]
)
def test_labels_that_end_as_sentences_are_texts(tmp_path: Path, label: str, read: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": 1, "text": "Wie geht es?", "label": [label]}) + "\n", "utf-8")
    (result,) = load("doccano").read(open_source(str(path)))
    assert result.corpus.instances.height == read
    assert [item.code for item in result.findings] == [] if read else ["JAN106"]
