"""pyannote.metrics 4: error rates of turns as it computes them.

Turns of one speaker that overlap count twice. Where nothing is to divide by, a rate is 0 or 1.
Purity and coverage look at all turns, whatever is evaluated. Equal times in a mapping are decided
by the order of the speakers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from string import ascii_uppercase
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.generic.segments import SpeakerTurns
from hlteval.scoring.generic.turns import Moments, Turns
from hlteval.scoring.ratios import Numbers, ratio

#: Turns that are no longer than this are left out, in units.
_SHORTEST = 1


@dataclass(frozen=True)
class OfficialSpeakerTurns(SpeakerTurns):
    """How pyannote.metrics compares turns."""

    merges: ClassVar[bool] = False

    def prepare(self, sides: tuple[Turns, Turns]) -> tuple[Turns, Turns]:
        """All turns but those that are too short."""
        ours, theirs = (side.longer_than(_SHORTEST) for side in sides)
        return ours, theirs

    def for_purity(self, moments: Moments, sides: tuple[Turns, Turns]) -> Moments:
        """All turns, whether they are evaluated or not."""
        return Moments(moments.axis, sides)

    def map_speakers(self, moments: Moments) -> pl.DataFrame:
        """The mapping, with ties as the solver decides them."""
        if self.options.label == "equal" or self.options.pairing != "optimal":
            return super().map_speakers(moments)
        return _solve(moments, "system", "reference")

    def map_for_jaccard(
        self,
        moments: Moments,
        mapped: pl.DataFrame,  # noqa: ARG002
    ) -> pl.DataFrame:
        """The mapping of the table that is turned around, which matters where times are equal."""
        return _solve(moments, "reference", "system")

    def error_rate(self, errors: Numbers, total: Numbers) -> NDArray[np.float64]:
        """Errors by the total; without any, 1 if there are errors, else 0."""
        return np.where(total == 0, errors > 0, ratio(errors, total))

    def share(self, part: Numbers, whole: Numbers) -> NDArray[np.float64]:
        """A share of time, 1 without any."""
        return np.where(whole == 0, 1.0, ratio(part, whole))

    def mean(self, total: Numbers, count: Numbers) -> NDArray[np.float64]:
        """A mean over speakers, 1 without any."""
        return self.share(total, count)

    def detection_f1(self, right: Numbers, found: Numbers, speech: Numbers) -> NDArray[np.float64]:
        """The harmonic mean of precision and recall, which are 1 where they are undefined."""
        precision, recall = self.share(right, found), self.share(right, speech)
        both = precision + recall
        return np.where(both == 0, 0.0, ratio(2 * precision * recall, both))


def _solve(moments: Moments, rows: str, columns: str) -> pl.DataFrame:
    """The pairs of the mapping of the greatest total time, as the solver of SciPy finds them.

    Args:
        moments: of both sides.
        rows: the side whose speakers are the rows of its table, `reference` or `system`.
        columns: the other side.
    """
    from scipy.optimize import linear_sum_assignment

    pairs, kept = moments.pairs.with_row_index("at"), list[int]()
    places = {"reference": 0, "system": 1}
    for (document,), own in pairs.group_by("document", maintain_order=True):
        numbers = []
        for side in (rows, columns):
            at = places[side]
            present = moments.durations[at] > 0
            names = np.flatnonzero(present & (moments.axis.document_of == document))
            order = np.argsort(speaker_labels(len(names), letters=side == "reference"))
            numbers.append((names, np.argsort(order)))
        table = np.zeros([len(names) for names, _ in numbers])
        cells = [
            number[np.searchsorted(names, own[side].to_numpy())]
            for side, (names, number) in zip((rows, columns), numbers, strict=True)
        ]
        table[tuple(cells)] = own["weighted"].to_numpy()
        chosen = np.zeros(table.shape, dtype=np.bool_)
        chosen[linear_sum_assignment(-table)] = True
        kept += own["at"].filter(pl.Series(chosen[tuple(cells)])).to_list()
    return pairs[kept].drop("at")


def speaker_labels(count: int, *, letters: bool) -> NDArray[np.str_]:
    """The names that speakers get, in the order of their own names: they are sorted as text.

    Examples:
        >>> speaker_labels(3, letters=True).tolist(), speaker_labels(3, letters=False).tolist()
        (['A', 'B', 'C'], ['0', '1', '2'])
    """
    if not letters:
        return np.array([str(number) for number in range(count)], dtype=np.str_)
    sizes = range(1, 8)
    names = ("".join(name) for size in sizes for name in product(ascii_uppercase, repeat=size))
    return np.array([*islice(names, count)], dtype=np.str_)
