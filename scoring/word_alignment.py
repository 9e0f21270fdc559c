"""Word alignment: which word of one text stands where which word of another does.

Dynamic programming over words, as `sclite` does it: the path of least cost from the beginnings to
the ends of both texts, where a step matches two words, inserts one, or deletes one. Of steps that
cost the same, the path traced back from the end takes a pair of words first, then an insertion,
then a deletion; so gaps stand as far to the left as they can.

Conventions:
    Costs are integers in units of 1/`UNIT`. Rows are computed as arrays, within a band around the
    diagonal. The band is doubled until no path that leaves it could be as cheap, so the result is
    that of the whole table. Of long texts only some rows are kept and the rest computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Costing = npt.NDArray[np.int32]
Steps = npt.NDArray[np.uint8]

UNIT = 1000
CELLS = 64_000_000
"""The most cells of the table whose steps are kept at a time."""
NARROWEST = 128
_PAIR, _INSERTION, _DELETION = 0, 1, 2
_FAR = 2**30


class Alignment(NamedTuple):
    """Two texts in columns: the column of each word of either, and how many there are."""

    reference: Integers
    system: Integers
    columns: int


@dataclass(frozen=True)
class Costs:
    """What the steps cost, in units of 1/`UNIT`.

    Attributes:
        insertion: of a word of the system.
        deletion: of a word of the reference.
        fragment: of deleting a word of the reference that breaks off (`h-`).
        substitution: of two different words, where `distance` is not given.
        distance: the cost of two different words: of one reference word to each of several.
    """

    insertion: int = 3 * UNIT
    deletion: int = 3 * UNIT
    fragment: int = 3 * UNIT
    substitution: int = 4 * UNIT
    distance: Callable[[str, Sequence[str]], Integers] | None = None

    def deleting(self, words: Sequence[str]) -> list[int]:
        """The cost of deleting each word of the reference."""
        return [self.fragment if is_fragment(word) else self.deletion for word in words]


SCLITE = Costs()
"""The costs of sclite: 3 for an insertion or a deletion, 4 for a substitution."""
DOCUMENT = Costs(fragment=UNIT)
"""The same, but words that break off are cheap to delete: this is the specification's example."""


def is_fragment(word: str) -> bool:
    """Whether a word breaks off.

    Examples:
        >>> is_fragment("h-"), is_fragment("heart"), is_fragment("-")
        (True, False, False)
    """
    return len(word) > 1 and word.endswith("-")


def aligned(reference: Sequence[str], system: Sequence[str], costs: Costs = DOCUMENT) -> Alignment:
    """The columns of two texts, case ignored.

    Args:
        reference: the words of the reference text.
        system: the words of the text that the system worked on.
        costs: what the steps cost.

    Returns:
        The column of each word from 0; two words in one column stand for each other.

    Examples:
        >>> aligned("The h- heart of General Motors".split(), "A part of General Motors".split())
        Alignment(reference=array([0, 1, 2, 3, 4, 5]), system=array([0, 2, 3, 4, 5]), columns=6)
    """
    ours, theirs = [word.lower() for word in reference], [word.lower() for word in system]
    if ours == theirs:
        return Alignment(np.arange(len(ours)), np.arange(len(ours)), len(ours))
    return _columns(_Table(ours, theirs, costs).steps())


def _columns(steps: Steps) -> Alignment:
    """The columns of the words, given the steps from the beginning to the end."""
    places = np.arange(len(steps))
    return Alignment(places[steps != _INSERTION], places[steps != _DELETION], len(steps))


class _Band(NamedTuple):
    """The part of the table that is computed: of row i the columns i + low to i + low + width."""

    low: int
    width: int


class _Table:
    """The table of least costs of two texts."""

    def __init__(self, reference: list[str], system: list[str], costs: Costs) -> None:
        self.reference, self.system, self.costs = reference, system, costs
        self.deletions = costs.deleting(reference)
        self.kinds = list(dict.fromkeys(system))
        numbers = {word: number for number, word in enumerate(self.kinds)}
        self.numbers = numbers
        self.codes = np.array([numbers[word] for word in system], dtype=np.int64)
        self.seen: dict[str, Integers] = {}

    def steps(self) -> Steps:
        """The steps of the best path, in a band that is as wide as it must be."""
        size, least = len(self.reference), min([self.costs.deletion, *self.deletions])
        shift = len(self.system) - size
        extra = NARROWEST
        while True:
            band = _Band(min(0, shift) - extra, abs(shift) + 2 * extra + 1)
            found = self._within(band)
            outside = (extra + 1) * (self.costs.insertion + least)
            if found.cost < outside or extra > size + len(self.system):
                return found.steps
            extra *= 2

    def _within(self, band: _Band) -> _Path:
        """The best path within a band."""
        size = len(self.reference)
        block = size if size * band.width <= CELLS else max(isqrt(size), 1)
        starts = list(range(0, size, max(block, 1))) or [0]
        kept = self._kept(band, starts)
        row, column = size, len(self.system)
        steps: list[Steps] = []
        cost = 0
        for start, values in zip(reversed(starts), reversed(kept), strict=True):
            rows, last = self._block(band, start, row, values)
            if row == size:
                cost = int(last[column - row - band.low])
            part, column = _traced(rows, start, row, column, band.low)
            steps.append(part)
            row = start
        rest = np.full(column, _INSERTION, dtype=np.uint8)
        return _Path(cost, np.concatenate([rest, *reversed(steps)]))

    def _kept(self, band: _Band, starts: list[int]) -> list[Integers]:
        """The costs of the rows at which blocks start."""
        values = self._first(band)
        kept = [values]
        for start, end in pairwise(starts):
            for row in range(start + 1, end + 1):
                values = self._row(band, row, values)[0]
            kept.append(values)
        return kept

    def _block(
        self, band: _Band, start: int, end: int, values: Integers
    ) -> tuple[list[Steps], Integers]:
        """The steps into each cell of the rows after `start`, and the costs of the last."""
        rows = []
        for row in range(start + 1, end + 1):
            values, pairs, inserting = self._row(band, row, values)
            step = np.full(band.width, _DELETION, dtype=np.uint8)
            step[1:][values[1:] == values[:-1] + inserting] = _INSERTION
            step[values == pairs] = _PAIR
            rows.append(step)
        return rows, values

    def _first(self, band: _Band) -> Integers:
        columns = np.arange(band.width) + band.low
        inside = (columns >= 0) & (columns <= len(self.system))
        return np.where(inside, columns * self.costs.insertion, _FAR)

    def _row(self, band: _Band, row: int, before: Integers) -> tuple[Integers, Integers, int]:
        """The costs of a row, those of coming by a pair of words, and that of an insertion."""
        inserting = self.costs.insertion
        first = row + band.low  # the column of the text's end that stands at place 0
        pairs = np.full(band.width, _FAR)
        left, right = max(first, 1), min(first + band.width - 1, len(self.system))
        if left <= right:
            there = slice(left - first, right - first + 1)
            pairs[there] = before[there] + self._pairing(row - 1, left - 1, right)
        values = pairs.copy()
        np.minimum(values[:-1], before[1:] + self.deletions[row - 1], out=values[:-1])
        ramp = np.arange(band.width) * inserting
        values = np.minimum.accumulate(values - ramp) + ramp
        values[: max(-first, 0)] = _FAR
        values[max(len(self.system) - first + 1, 0) :] = _FAR
        return values, pairs, inserting

    def _pairing(self, place: int, left: int, right: int) -> Integers:
        """What a word of the reference costs beside each word of a stretch of the system's."""
        word = self.reference[place]
        if self.costs.distance is None:
            same = self.codes[left:right] == self.numbers.get(word, -1)
            return np.where(same, 0, self.costs.substitution)
        if word not in self.seen:
            self.seen[word] = self.costs.distance(word, self.kinds)
        return self.seen[word][self.codes[left:right]]


class _Path(NamedTuple):
    """A path through the table: its cost, and its steps from the beginning."""

    cost: int
    steps: Steps


def _traced(rows: list[Steps], start: int, row: int, column: int, low: int) -> tuple[Steps, int]:
    """The steps back from a cell to the row `start`, in reading order, and the column there."""
    steps = list(_back(rows, start, row, column, low))
    gone = sum(step != _DELETION for step in steps)
    return np.array(steps[::-1], dtype=np.uint8), column - gone


def _back(rows: list[Steps], start: int, row: int, column: int, low: int) -> Iterator[int]:
    while row > start:
        step = int(rows[row - start - 1][column - row - low])
        yield step
        row -= step != _INSERTION
        column -= step != _DELETION
