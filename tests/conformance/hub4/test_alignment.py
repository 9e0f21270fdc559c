"""Word alignment and global maps against what sclite and csrfilt give."""

from __future__ import annotations

import re

import pytest

from hlteval.converters.hub4.global_map import read_map
from hlteval.scoring.hub4.normalizer import SpellingFilter
from hlteval.scoring.hub4.word_alignment import DOCUMENT, SCLITE, alignments
from hlteval.sources import open_source

PAIRS = [
    "01_hub4_example",
    "02_optional",
    "03_insertion",
    "04_compound",
    "05_asr_names",
    "06_empty_and_case",
]
GAP = re.compile(r"\*+")


def shown(reference: list[str], system: list[str], costs) -> list[tuple[str, str]]:
    """The columns of an alignment, empty where there is no word."""
    (found,) = alignments([(reference, system)], costs)
    columns = [["", ""] for _ in range(found.columns)]
    for side, words, places in ((0, reference, found.reference), (1, system, found.system)):
        for word, place in zip(words, places, strict=True):
            columns[place][side] = word.lower()
    return [(ours, theirs) for ours, theirs in columns]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_costs_of_sclite_give_its_alignment(shared, pair):
    text = (shared / f"cases/hub4/align/{pair}.sclite.txt").read_text("utf-8")
    lines = [re.search(f"^{side}: (.*)$", text, re.M).group(1).split() for side in ("REF", "HYP")]
    columns = [
        tuple("" if GAP.fullmatch(word) else word.lower() for word in column)
        for column in zip(*lines, strict=True)
    ]
    words = [[word for word in line if not GAP.fullmatch(word)] for line in lines]
    assert shown(*words, SCLITE) == columns


def test_the_costs_of_the_document_give_its_example(shared):
    words = [
        (shared / f"cases/hub4/align/01_hub4_example.{side}.trn").read_text("utf-8").split()[:-1]
        for side in ("ref", "hyp")
    ]
    assert shown(*words, DOCUMENT)[:3] == [("the", "a"), ("h-", ""), ("heart", "part")]


def test_a_global_map_rewrites_as_the_filter_does(shared):
    folder = shared / "cases/hub4/align"
    rules, findings = read_map(open_source(str(folder / "demo.glm")).members[0])
    assert not findings
    spelling = SpellingFilter(rules)
    utterance = re.compile(r"(.*) \((\w+)\)")
    for given, wanted in zip(
        (folder / "glm.in.trn").read_text("utf-8").splitlines(),
        (folder / "glm.out.trn").read_text("utf-8").splitlines(),
        strict=True,
    ):
        text, expected = utterance.match(given), utterance.match(wanted)
        assert spelling.text(text.group(1)) == expected.group(1)
