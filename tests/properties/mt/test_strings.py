"""BLEU, chrF, chrF++ and TER of many segments are those of sacrebleu, called segment by segment."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER, lib_ter

from hlteval.scoring.mt import strings
from hlteval.scoring.mt.segments import TranslationOptions
from hlteval.scoring.mt.strings import Segments, StringMeasure
from tests.effort import tries

OPTIONS = [
    *(
        ("bleu", tokenize, lower)
        for tokenize in ("13a", "intl", "char", "none")
        for lower in (0, 1)
    ),
    *((name, "13a", lower) for name in ("chrf", "chrf_pp") for lower in (0, 1)),
    ("ter", "13a", 0),
]
WORDS = (
    *("the", "The", "THE", "a", "need", "water", ".", ",", "-", "5.5", "1,000", "(hi)", "U.S."),
    *("don't", '"x"', "end.", "3-4", "-5", ".5", "5.", "...", ",,", "e.g.,", "&quot;&amp;lt;"),
    *("<skipped>", "A<skipped>b.", "\u03a3\u03b1\u03a3", "\u0130stanbul", "\u6211\u4eec\u3002"),
    *("e\u0301.", "\u2460\u00bd,\u0663.", "\ud800", "\U0001f600!", "\u00ad-", "$5%", "\u01c5"),
)
WORD = st.one_of(
    st.sampled_from(WORDS),
    st.text("aA.,-5&;'\u03a3\u0915\u094d\u3002", min_size=1, max_size=5),
    st.text(max_size=6),
)
TEXT = st.lists(WORD, max_size=9).map(lambda words: " ".join(" ".join(words).split()))
REFERENCES = st.lists(TEXT.filter(bool), min_size=1, max_size=3)
SEGMENTS = st.lists(st.tuples(TEXT, REFERENCES), min_size=1, max_size=6)


def oracle(name, tokenize, lower, *, alone=False):
    if name == "bleu":
        return BLEU(bool(lower), force=True, tokenize=tokenize, effective_order=alone)
    return TER() if name == "ter" else CHRF(lowercase=bool(lower), word_order=2 * (name != "chrf"))


def assert_equal_to_sacrebleu(segments, *options):
    """Counts of segments, and values of segments and of their sums, to the last digit."""
    name, tokenize, lower = options
    measure = StringMeasure(name, TranslationOptions(tokenize=tokenize, lowercase=bool(lower)))
    texts, references = [list(each) for each in zip(*segments, strict=True)]
    blocks = Segments(texts, references, bool(lower)).blocks()
    counts = np.vstack([measure.counts(block) for block in blocks])
    whole, single = oracle(*options), oracle(*options, alone=True)
    rows = [
        whole._extract_corpus_statistics([text], [[other] for other in others])[0]
        for text, others in segments
    ]
    assert counts.tolist() == rows
    sums = np.add.accumulate(counts)
    for expected, found in (
        ([single._compute_score_from_stats(row) for row in counts.tolist()],
         measure.values(counts, alone=True)),
        ([whole._compute_score_from_stats(row) for row in sums.tolist()], measure.values(sums)),
    ):  # fmt: skip
        assert found[""].tolist() == [each.score for each in expected]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda option: "-".join(map(str, option)))
@given(segments=SEGMENTS)
@settings(max_examples=tries(25))
def test_counts_and_values_are_those_of_sacrebleu(options, segments):
    assert_equal_to_sacrebleu(segments, *options)


def changed(random_: random.Random, words: list[str], moves: int) -> str:
    """Words of which some are lost, replaced and doubled, and parts moved."""
    found = [
        word if random_.random() < 0.8 else random_.choice(WORDS)
        for word in words
        for _ in range(random_.choice((1, 1, 1, 1, 0, 2)))
    ]
    for _ in range(moves):
        begin, end, to = (random_.randrange(len(found) + 1) for _ in range(3))
        part, rest = found[begin:end], found[:begin] + found[max(begin, end) :]
        found = rest[:to] + part + rest[to:]
    return " ".join(found)


@pytest.mark.parametrize("size", [3, 12, 30, 60])
@pytest.mark.parametrize("options", OPTIONS[-3:], ids=lambda option: option[0])
def test_long_segments_with_moved_words(options, size):
    random_ = random.Random(size)
    segments = []
    for number in range(90 // size):
        words = random_.choices(WORDS[: 14 if number % 2 else None], k=size)
        other = changed(random_, words, 1)
        segments.append((changed(random_, words, number % 4), [" ".join(words), other]))
    assert_equal_to_sacrebleu(segments, *options)


@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[8], OPTIONS[10], OPTIONS[-1]], ids=str)
def test_many_letters_words_and_blocks(options, monkeypatch):
    """More than fit in 64 bits, so that n-grams are numbered anew; several blocks."""
    random_ = random.Random(3)
    monkeypatch.setattr(strings, "BLOCK", 4_000)
    texts = [" ".join("".join(chr(random_.randrange(0x4E00, 0x9000)) for _ in range(3))
                      for _ in range(25)) for _ in range(60)]  # fmt: skip
    segments = [(text.replace(text[at], "", 1).strip(), [text, texts[at - 1], text[20:]])
                for at, text in enumerate(texts)]  # fmt: skip
    segments.append(("", ["a"]))
    assert_equal_to_sacrebleu(segments, *options)
    monkeypatch.setattr(strings, "BITS", 24)
    assert_equal_to_sacrebleu(segments[:4], *options)


def test_the_beam_is_that_of_sacrebleu():
    assert lib_ter._BEAM_WIDTH == strings.BEAM
    words = [chr(number) for number in range(60)]
    pairs = [(words[40:] + words[:40], words), (words[:3], words), (words, words[50:])]
    segments = [(" ".join(f"w{ord(w)}" for w in own), [" ".join(f"w{ord(w)}" for w in other)])
                for own, other in pairs]  # fmt: skip
    assert_equal_to_sacrebleu(segments, *OPTIONS[-1])


def test_more_words_than_there_are_characters(monkeypatch):
    monkeypatch.setattr(strings, "MOST", 3)
    segments = [("a b c d e f", ["d e f a b c", "a b"]), ("a", ["a"]), ("", ["b c"])]
    assert_equal_to_sacrebleu(segments, *OPTIONS[-1])
