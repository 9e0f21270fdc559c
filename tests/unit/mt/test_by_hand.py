"""Every measure of translations but METEOR on one example, with the computation."""

from __future__ import annotations

from math import prod
from statistics import mean

import pytest

from tests.unit.mt.test_metric import scored

# The words a b c d e, and a b c d x in the system.
WORDS = (4 / 5, 3 / 4, 2 / 3, 1 / 2)
"""Which shares of 1 to 4 words in a row are right."""
CHARACTERS = (4 / 5, 3 / 4, 2 / 3, 1 / 2, 0 / 1)
"""The same of 1 to 5 characters without the spaces; there are no 6. Precision is recall, thus F."""
EXPECTED = {
    "bleu": 100 * prod(WORDS) ** (1 / 4),  # the lengths are equal: no penalty
    "chrf": 100 * mean(CHARACTERS),
    "chrf_pp": 100 * mean((*CHARACTERS, *WORDS[:2])),
    "ter": 100 * 1 / 5,
    "segments": 1,
}


def test_every_measure_by_hand():
    reference, system = ([("D1", "segment-0", text)] for text in ("a b c d e", "a b c d x"))
    values = scored(reference, system=system)[0]
    assert {name: value for name, value in values.items() if value is not None} == pytest.approx(
        EXPECTED, abs=1e-9
    )


def test_a_short_translation_is_penalized_by_hand():
    """BLEU: exp(1 - 5/4) for four words of five, all in a row; TER: one insertion."""
    reference, system = ([("D1", "segment-0", text)] for text in ("a b c d e", "a b c d"))
    values = scored(reference, system=system)[0]
    assert values["bleu"] == pytest.approx(77.8800783, abs=1e-6)
    assert values["ter"] == pytest.approx(20)


def test_a_segment_by_itself_has_the_orders_of_its_length():
    """Two right words: BLEU of one and two in a row is 100, of a text without four in a row 0."""
    segments = [("D1", "segment-0", "a b")]
    values, tables, *_ = scored(segments, system=segments)
    assert tables["segments"]["bleu"].to_list() == pytest.approx([100], abs=1e-9)
    assert values["bleu"] == 0


EXAMPLES = {"lorehlt-mt": EXPECTED}
