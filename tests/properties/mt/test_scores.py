"""Properties of the scores of translations; the oracle is sacrebleu on the reduced data."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from hlteval.scoring.mt.measures import field_text
from hlteval.scoring.mt.metric import Translation
from hlteval.scoring.mt.segments import TranslationOptions, with_placeholders
from tests.effort import tries
from tests.unit.mt.translations import corpus

ORACLES = {"bleu": BLEU(force=True), "chrf": CHRF(), "chrf_pp": CHRF(word_order=2), "ter": TER()}
WORDS = st.lists(
    st.sampled_from(["water", "food", "teams", "need", "a", "the", "Now", ".", "|||", "", "no\t"]),
    max_size=6,
)
TEXT = WORDS.map(" ".join)
SEGMENTS = st.lists(st.tuples(st.sampled_from("ABC"), TEXT, TEXT, st.booleans()), max_size=8)


@given(SEGMENTS, st.integers(1, 3))
@settings(max_examples=tries(25))
def test_a_subset_is_scored_as_sacrebleu_scores_the_reduced_files(segments, size):
    gold = [(name, str(at), text) for at, (name, text, _, _) in enumerate(segments)]
    said = [(name, str(at), text) for at, (name, _, text, _) in enumerate(segments)]
    subset = frozenset(row[:2] for row, (*_, kept) in zip(gold, segments, strict=True) if kept)
    metric = Translation(options=TranslationOptions(subset=subset))
    parts = [(gold[at : at + size], said[at : at + size]) for at in range(0, len(gold), size)]
    counts = [metric.statistics(corpus("reference", g), corpus("system", s))[0] for g, s in parts]
    values, _ = metric.score(metric.total(counts))
    pairs = [
        (" ".join(own[2].split()), " ".join(row[2].split()))
        for row, own in zip(gold, said, strict=True)
        if row[:2] in subset and row[2].split()
    ]
    assert values["segments"] == len(pairs)
    for name, oracle in ORACLES.items():
        if pairs:
            texts, references = map(list, zip(*pairs, strict=True))
            expected = oracle.corpus_score(texts, [references]).score
            assert values[name] == pytest.approx(expected, abs=1e-9)
        else:
            assert values[name] is None


@given(st.text())
@settings(max_examples=tries(30))
def test_a_field_has_no_separator_and_no_line_break(text):
    sent = field_text(text)
    assert "|||" not in sent
    assert sent == " ".join(sent.split())
    assert len(sent.splitlines()) <= 1


@given(st.text(st.sampled_from("ab@#:/. (),w\u00e9\u0915\u094d")))
@settings(max_examples=tries(30))
def test_protection_is_stable_and_keeps_the_rest(text):
    once = with_placeholders(text)
    assert with_placeholders(once) == once
    assert once.count(" ") == text.count(" ")
