"""METEOR 1.5 from its statistics (Denkowski and Lavie 2014, section 2), for English.

The jar aligns a translation with its reference, and gives 23 counts. Counts of segments add; the
score of a segment, of a document or of any set of segments follows from sums:

    P, R    weighted matches / weighted words, of the translation and of the reference
    Fmean   P * R / (alpha * P + (1 - alpha) * R)
    Pen     gamma * (chunks / matches) ** beta
    score   (1 - Pen) * Fmean

Matches weigh by their matcher (exact, stem, synonym, paraphrase); content words weigh delta,
function words 1 - delta. A segment that is equal to its reference adds no chunk.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hlteval.scoring.ratios import ratio

Numbers = NDArray[np.float64]

ALPHA: Final = 0.85
BETA: Final = 0.2
GAMMA: Final = 0.6
DELTA: Final = 0.75
#: The weights of exact, stem, synonym and paraphrase matches.
MATCHERS: Final = (1.0, 0.6, 0.8, 0.6)

#: The counts of the jar: words and function words of both sides, four counts of each matcher
#: (content words of the translation and of the reference, then function words), chunks, and matches
#: of both sides.
SIZE: Final = 23
_CHUNKS, _MATCHED, _COVERED = 20, 21, 22


class Meteor(NamedTuple):
    """The score and what it is made of."""

    score: Numbers
    precision: Numbers
    recall: Numbers
    penalty: Numbers


def addable(counts: Numbers) -> Numbers:
    """Counts of segments, a row each, whose sums give the score of any set of segments.

    Examples:
        >>> equal = np.array([[2.0, 2, 1, 1, 1, 1, 1, 1, *[0.0] * 12, 1, 2, 2]])
        >>> float(addable(equal)[0, 20]), float(meteor(addable(equal)).score[0])
        (0.0, 1.0)
    """
    added = counts.copy()
    equal = (
        (counts[:, _MATCHED] == counts[:, 0])
        & (counts[:, _COVERED] == counts[:, 1])
        & (counts[:, _CHUNKS] == 1)
    )
    added[equal, _CHUNKS] = 0.0
    return added


def meteor(counts: Numbers) -> Meteor:
    """The scores of rows of added counts.

    Args:
        counts: sums of `addable` counts, a row per set of segments.

    Returns:
        An element per row, from 0 to 1; 0 where nothing matches.
    """
    precision = _share(counts, words=0, function=2, content_matches=4, function_matches=6)
    recall = _share(counts, words=1, function=3, content_matches=5, function_matches=7)
    mean = np.nan_to_num(ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall))
    matches = (counts[:, _MATCHED] + counts[:, _COVERED]) / 2
    penalty = GAMMA * np.nan_to_num(ratio(counts[:, _CHUNKS], matches)) ** BETA
    return Meteor((1 - penalty) * mean, precision, recall, penalty)


def _share(
    counts: Numbers, *, words: int, function: int, content_matches: int, function_matches: int
) -> Numbers:
    """Weighted matches by weighted words of one side; 0 of no words."""
    content = counts[:, content_matches:_CHUNKS:4] @ np.array(MATCHERS)
    others = counts[:, function_matches:_CHUNKS:4] @ np.array(MATCHERS)
    matched = DELTA * content + (1 - DELTA) * others
    content_words = counts[:, words] - counts[:, function]
    return np.nan_to_num(ratio(matched, DELTA * content_words + (1 - DELTA) * counts[:, function]))
