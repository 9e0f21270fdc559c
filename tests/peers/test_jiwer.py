"""jiwer beside ours, on random transcripts; skipped where it is not installed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.generic.edits import EDITS
from hlteval.scoring.generic.official_jiwer import OfficialTranscripts
from hlteval.scoring.generic.transcripts import Options
from tests.effort import tries

jiwer = pytest.importorskip("jiwer")
TRANSFORMS = {
    "default": (Options(), jiwer.transformations.wer_default),
    "standardize": (Options(standardize=True), jiwer.transformations.wer_standardize),
    "contiguous": (Options(contiguous=True), jiwer.transformations.wer_contiguous),
}
WORDS = st.sampled_from(
    [
        *("a", "b", "c", "the", "won't", "can't", "it's", "[noise]", "<unk>", "I'M", "don't", "x"),
        *("y", "St.", "<", "]", "été", "e\u0301", "ÀB", "日本", "\U0001f600", "ß", "İ", "Σ"),
    ]
)
SPACES = st.sampled_from(
    [" ", " ", " ", " ", "  ", "\t", "\u00a0", " \t", "\u2003\u2003", "\x1c", "\x85"]
)


@st.composite
def lines(draw):
    parts = [draw(SPACES)] * draw(st.booleans())
    for word in draw(st.lists(WORDS, max_size=8)):
        parts += [word, draw(SPACES)]
    return "".join(parts)


def corpus(texts: list[str]) -> Corpus:
    rows = [
        {"row": at, "document": 0, "origin": 0, "record": at + 1, "name": str(at), "text": text}
        | {"start": 0, "end": len(text)}
        for at, text in enumerate(texts)
    ]
    return Corpus(documents=[{"row": 0, "name": "d"}], segments=rows)


@pytest.mark.parametrize("name", TRANSFORMS)
@settings(max_examples=tries(400), deadline=None)
@given(st.lists(st.tuples(lines(), lines()), min_size=1, max_size=6))
def test_words_and_characters_are_those_of_jiwer(name, pairs):
    options, transform = TRANSFORMS[name]
    reference, system = (list(side) for side in zip(*pairs, strict=True))
    metric = OfficialTranscripts("official", options)
    counts, _ = metric.statistics(corpus(reference), corpus(system))
    found, _ = metric.score(metric.total([counts]))
    words = jiwer.process_words(reference, system, transform, transform)
    expected = {name: getattr(words, name) for name in ("wer", "mer", "wil")}
    expected |= {f"words.{edit}": getattr(words, edit) for edit in EDITS}
    if name == "default":
        characters = jiwer.process_characters(reference, system)
        expected |= {"cer": characters.cer}
        expected |= {f"characters.{edit}": getattr(characters, edit) for edit in EDITS}
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)
