"""The numbers of jiwer, from files that the reader of transcripts reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.scoring.generic.edits import EDITS
from hlteval.scoring.generic.official_jiwer import OfficialTranscripts
from hlteval.scoring.generic.transcripts import RATES, Options
from hlteval.sources import open_source

CASES = [
    *("01-basic", "02-perfect", "03-empty-hyp", "04-empty-ref-line", "05-empty-ref-only"),
    *("06-both-empty", "07-case-punctuation", "08-spaces", "09-tab-and-nbsp", "10-unicode-forms"),
    *("11-cjk", "12-emoji", "13-line-counts-differ", "14-alignment-not-unique"),
    *("15-alignment-not-unique-long", "16-wer-above-one", "17-standardize", "18-arabic"),
    *("r1-random", "r2-random", "r3-random", "r4-random"),
]
#: The transformations that the cases were run with, as options.
TRANSFORMS = {
    "words": Options(),
    "words_standardized": Options(standardize=True),
    "words_contiguous": Options(contiguous=True),
    "characters": Options(),
}


def corpus(path: Path, documents: str) -> Corpus:
    """The transcript of a file, whose lines or which itself are documents."""
    form = load("transcript").with_settings({"identifiers": "none", "documents": documents})
    (result,) = form.read(open_source(str(path)))
    assert result.findings == ()
    return result.corpus


def values(reference: Corpus, system: Corpus, options: Options) -> dict[str, Any]:
    metric = OfficialTranscripts("official", options)
    counts, _ = metric.statistics(reference, system)
    return metric.score(metric.total([counts]))[0]


def test_every_case_is_held(shared: Path) -> None:
    folder = shared / "cases/generic/jiwer"
    assert {path.name for path in folder.iterdir()} == {*CASES}


@pytest.mark.parametrize("case", CASES)
def test_official_gives_the_numbers_of_the_tool(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/jiwer" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    for transform, options in TRANSFORMS.items():
        documents = "files" if options.contiguous else "lines"
        sides = [corpus(folder / name, documents) for name in ("ref.txt", "hyp.txt")]
        numbers = expected[transform]
        found = values(*sides, options)
        if "error" in numbers:  # of different numbers of lines nothing is scored
            assert {*found.values()} == {None}
            continue
        unit = transform.partition("_")[0]
        rates = {rate: numbers[rate] for rate in RATES[unit]}
        counts = {f"{unit}.{edit}": numbers[edit] for edit in EDITS}
        assert {name: found[name] for name in rates} == pytest.approx(rates, abs=1e-9)
        assert {name: found[name] for name in counts} == counts
