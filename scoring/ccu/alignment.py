"""Step 1 of Streaming Instance Detection: the instances of a system that are correct.

CCU Phase 1 plan, Appendix A. For each norm, emotion or change point:

- build a list of potentially mappable pairs of system and reference instances;
- sort the pairs by decreasing detection score;
- while the list is not empty: the top pair is correct; remove the others of both instances.

Instances of different documents or classes are never a pair, so that all lists are one here.
Ties, which the plan leaves open, go to the system instance that starts first, then to the reference
instance that does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.ccu.criteria import Criterion
from hlteval.scoring.ccu.spans import DIGITS, Whole, overlapping

#: What the instances of a pair have in common.
KEY = ("document", "class")


@dataclass(frozen=True)
class Pairs:
    """Pairs of system and reference instances, by rows of both.

    Attributes:
        system: rows of system instances.
        reference: rows of reference instances.
        intersection: how much each pair has in common.
        iou: this over what either covers.
    """

    system: Whole
    reference: Whole
    intersection: NDArray[np.float64]
    iou: NDArray[np.float64]

    def mappable(self, criterion: Criterion) -> NDArray[np.bool_]:
        """Whether each pair is similar enough."""
        return criterion.holds(iou=self.iou, intersection=self.intersection)


def pairs(system: pl.DataFrame, reference: pl.DataFrame) -> Pairs:
    """All pairs of instances that overlap; no other could be correct.

    Examples:
        >>> one = {"document": ["d"], "class": ["101"], "start": [0.0], "end": [4.0]}
        >>> other = pl.DataFrame({**one, "start": [2.0], "end": [5.0]})
        >>> pairs(pl.DataFrame(one), other).iou.tolist()
        [0.4]
    """
    rows, matches, common = overlapping(system, reference, KEY)
    own = (system["end"] - system["start"]).to_numpy()[rows]
    expected = (reference["end"] - reference["start"]).to_numpy()[matches]
    return Pairs(
        rows, matches, common.round(DIGITS), (common / (own + expected - common)).round(DIGITS)
    )


def greedy(
    system: Whole,
    reference: Whole,
    scores: NDArray[np.float64],
    system_start: NDArray[np.float64],
    reference_start: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Which pairs are correct.

    Args:
        system: the row of the system instance of each pair.
        reference: the row of its reference instance.
        scores: its detection score.
        system_start: where its system instance starts.
        reference_start: where its reference instance starts.

    Examples:
        >>> rows, matches = np.array([0, 1, 1]), np.array([0, 0, 1])
        >>> scores, starts = np.array([2.0, 1.0, 1.0]), np.zeros(3)
        >>> greedy(rows, matches, scores, starts, np.array([20.0, 20.0, 35.5])).tolist()
        [True, False, True]
    """
    chosen = np.zeros(len(system), dtype=bool)
    # most instances are in one pair, which nothing can take away
    alone = (_times(system) == 1) & (_times(reference) == 1)
    chosen[alone] = True
    rest = np.flatnonzero(~alone)
    order = np.lexsort(
        (reference[rest], system[rest], reference_start[rest], system_start[rest], -scores[rest])
    )
    rest = rest[order]
    used, taken = set[int](), set[int]()
    for pair, own, expected in zip(
        rest.tolist(), system[rest].tolist(), reference[rest].tolist(), strict=True
    ):
        if own not in used and expected not in taken:
            used.add(own)
            taken.add(expected)
            chosen[pair] = True
    return chosen


def _times(rows: Whole) -> Whole:
    """How often the value of each element occurs."""
    return np.bincount(rows)[rows] if len(rows) else rows
