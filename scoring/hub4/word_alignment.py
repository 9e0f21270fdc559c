"""Word alignment: which word of one text stands where which word of another does.

Dynamic programming over words, as `sclite` does it: the path of least cost from the beginnings to
the ends of both texts, where a step matches two words, inserts one, or deletes one. Of steps that
cost the same, the path traced back from the end takes a pair of words first, then an insertion,
then a deletion; so gaps stand as far to the left as they can.

Conventions:
    Costs are integers in units of 1/`UNIT`. Rows are computed as arrays, within a band around the
    diagonal. The band is doubled until no path that leaves it could be as cheap, so the result is
    that of the whole table. Where the table is long, only some rows are kept and the rest computed
    again. Texts of many thousand words are first divided where they surely go together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# Anchors: where two long texts surely go together, so that each part can be aligned alone.
#
# A stretch of words that occurs once in either text is an anchor. Texts are divided at anchors
# that come in the same order in both. Parts are long enough that their own alignments are seldom
# other than that of the whole. What has no anchors and is still too long is divided into equal
# shares: such texts have little in common.


#: Words of an anchor.
STRETCH = 6
#: Least words of a part of the reference.
PART = 1000
#: Most words of a share, where there are no anchors.
SHARE = 5000


def parts(reference: Sequence[str], system: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Two texts in parts that go together.

    Args:
        reference: the words of the reference text.
        system: the words of the other.

    Yields:
        Slices of either, in order; together they are all of both.

    Examples:
        >>> words = [str(number) for number in range(2500)]
        >>> [ours.stop for ours, _ in parts(words, words[1:])]
        [1000, 2000, 2500]
    """
    ours, theirs = 0, 0
    for place, other in [*_rising(reference, system), (len(reference), len(system))]:
        last = place == len(reference)
        # In the middle of an anchor words of both texts are the same on either side.
        end, other_end = (place, other) if last else (place + STRETCH // 2, other + STRETCH // 2)
        if last or end - ours >= PART:
            yield from _shares(range(ours, end), range(theirs, other_end))
            ours, theirs = end, other_end


def _shares(ours: range, theirs: range) -> Iterator[tuple[slice, slice]]:
    """A part whole, or in equal shares where it is very long on both sides."""
    count = 1
    if len(ours) * len(theirs) > 16 * SHARE**2:
        count = -(-max(len(ours), len(theirs)) // SHARE)
    for number in range(count):
        yield _share(ours, number, count), _share(theirs, number, count)


def _share(places: range, number: int, count: int) -> slice:
    size = len(places)
    return slice(places.start + size * number // count, places.start + size * (number + 1) // count)


def _rising(reference: Sequence[str], system: Sequence[str]) -> list[tuple[int, int]]:
    """The most anchors whose places rise in both texts."""
    others = _once(system)
    found = [
        (place, others[stretch]) for stretch, place in _once(reference).items() if stretch in others
    ]
    found.sort()
    ends: list[int] = []  # the least place in the other text that a row of so many ends at
    last: list[int] = []
    before: list[int] = []
    for number, (_, other) in enumerate(found):
        size = bisect_left(ends, other)
        before.append(last[size - 1] if size else -1)
        ends[size : size + 1] = [other]
        last[size : size + 1] = [number]
    chain = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(found[number])
        number = before[number]
    return chain[::-1]


def _once(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The stretches that occur once, with their places."""
    places: dict[tuple[str, ...], int] = {}
    for place in range(len(words) - STRETCH + 1):
        stretch = tuple(words[place : place + STRETCH])
        places[stretch] = -1 if stretch in places else place
    return {stretch: place for stretch, place in places.items() if place >= 0}


Integers = npt.NDArray[np.int64]
Steps = npt.NDArray[np.uint8]

UNIT = 1_000_000
#: The most cells of the table whose steps are kept at a time.
CELLS = 64_000_000
#: The most cells of a table of texts that are aligned whole.
WHOLE = 25_000_000
NARROWEST = 128
#: What spelling adds at most: not even that of all words of a part comes to one unit of cost.
_LIKENESS = 40
#: The most pairs of different words whose costs are kept.
_KNOWN = 4_000_000
PAIR, INSERTION, DELETION = 0, 1, 2
FAR = 2**60


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
        substitution: of two different words.
        spelling_tie_break: whether the spelling of words decides between equal costs.
        distance: the cost of two words, in place of that: of each of some reference words to each
            of some others.
    """

    insertion: int = 3 * UNIT
    deletion: int = 3 * UNIT
    fragment: int = 3 * UNIT
    substitution: int = 4 * UNIT
    spelling_tie_break: bool = False
    distance: Callable[[Sequence[str], Sequence[str]], Integers] | None = None

    def deleting(self, words: Sequence[str]) -> list[int]:
        """The cost of deleting each word of the reference."""
        return [self.fragment if is_fragment(word) else self.deletion for word in words]

    def pairing(self, words: Sequence[str], others: Sequence[str]) -> Integers:
        """The cost of each word of the reference beside each of others.

        Examples:
            >>> SCLITE.pairing(["a", "b"], ["b"]) // UNIT
            array([[4],
                   [0]])
        """
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        if self.distance is not None:
            return self.distance(words, others)
        rates = cdist(words, others, scorer=Levenshtein.normalized_distance)
        more = np.rint(rates * _LIKENESS).astype(np.int64) if self.spelling_tie_break else 0
        return np.where(rates > 0, self.substitution + more, 0)


#: The costs of sclite: 3 for an insertion or a deletion, 4 for a substitution.
SCLITE = Costs()
#: The same, but words that break off are cheap to delete: this is the specification's example. Of
#: what costs the same, words that are spelt alike go together, as they would by their sounds.
DOCUMENT = Costs(fragment=UNIT, spelling_tie_break=True)


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
    if len(ours) * len(theirs) <= WHOLE:
        return columns(_Table(ours, theirs, costs).steps())
    steps = [
        _Table(ours[left], theirs[right], costs).steps() for left, right in parts(ours, theirs)
    ]
    return columns(np.concatenate(steps))


def columns(steps: Steps) -> Alignment:
    """The columns of the words, given the steps from the beginning to the end."""
    places = np.arange(len(steps))
    return Alignment(places[steps != INSERTION], places[steps != DELETION], len(steps))


class _Band(NamedTuple):
    """The part of the table that is computed: so many columns of each row.

    Attributes:
        low: of row i they begin with column i + low; or with 0, if the band is the whole table.
        width: how many there are.
        ramp: what insertions cost from the first of them on.
        whole: whether all columns are in the band.
    """

    low: int
    width: int
    ramp: Integers
    whole: bool

    def first(self, row: int) -> int:
        """The first column of a row."""
        return 0 if self.whole else row + self.low


class _Table:
    """The table of least costs of two texts."""

    def __init__(self, reference: list[str], system: list[str], costs: Costs) -> None:
        self.reference, self.system, self.costs = reference, system, costs
        self.deletions = costs.deleting(reference)
        self.kinds = list(dict.fromkeys(system))
        numbers = {word: number for number, word in enumerate(self.kinds)}
        self.codes = np.array([numbers[word] for word in system], dtype=np.int64)
        self.seen: dict[str, Integers] = {}
        own = list(dict.fromkeys(reference))
        if len(own) * len(self.kinds) <= _KNOWN:
            self.seen = dict(zip(own, costs.pairing(own, self.kinds), strict=True))

    def steps(self) -> Steps:
        """The steps of the best path, in a band that is as wide as it must be."""
        size, least = len(self.reference), min([self.costs.deletion, *self.deletions])
        shift = len(self.system) - size
        extra = NARROWEST
        while True:
            width, most = abs(shift) + 2 * extra + 1, len(self.system) + 1
            whole, width = width >= most, min(width, most)
            ramp = np.arange(width) * self.costs.insertion
            found = self._within(_Band(min(0, shift) - extra, width, ramp, whole))
            if whole or found.cost < (extra + 1) * (self.costs.insertion + least):
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
                cost = int(last[column - band.first(row)])
            part, column = _traced(rows, start, row, column, band)
            steps.append(part)
            row = start
        rest = np.full(column, INSERTION, dtype=np.uint8)
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
            values, pairs = self._row(band, row, values)
            step = np.full(band.width, DELETION, dtype=np.uint8)
            step[1:][values[1:] == values[:-1] + self.costs.insertion] = INSERTION
            step[values == pairs] = PAIR
            rows.append(step)
        return rows, values

    def _first(self, band: _Band) -> Integers:
        columns = np.arange(band.width) + band.first(0)
        inside = (columns >= 0) & (columns <= len(self.system))
        return np.where(inside, columns * self.costs.insertion, FAR)

    def _row(self, band: _Band, row: int, before: Integers) -> tuple[Integers, Integers]:
        """The costs of a row, and those of coming to each cell by a pair of words."""
        first, last = band.first(row), len(self.system)  # the column at place 0, and the last
        moved = first - band.first(row - 1)
        pairs = np.full(band.width, FAR)
        left, right = max(first, 1), min(first + band.width - 1, last)
        if left <= right:
            there = slice(left - first, right - first + 1)
            above = before[there.start + moved - 1 : there.stop + moved - 1]
            np.add(above, self._pairing(row - 1, left - 1, right), out=pairs[there])
        values = np.add(before, self.deletions[row - 1])
        if moved:
            values[:-1] = values[1:]
            values[-1] = FAR
        np.minimum(values, pairs, out=values)
        # Inserting along the row: the least of all cells to the left, and 1 insertion a step.
        values -= band.ramp
        np.minimum.accumulate(values, out=values)
        values += band.ramp
        if first < 0:
            values[:-first] = FAR
        if first + band.width > last + 1:
            values[max(last + 1 - first, 0) :] = FAR
        return values, pairs

    def _pairing(self, place: int, left: int, right: int) -> Integers:
        """What a word of the reference costs beside each word of a stretch of the system's."""
        word = self.reference[place]
        if word in self.seen:
            return self.seen[word][self.codes[left:right]]
        row: Integers = self.costs.pairing([word], self.system[left:right])[0]
        return row


class _Path(NamedTuple):
    """A path through the table: its cost, and its steps from the beginning."""

    cost: int
    steps: Steps


def _traced(rows: list[Steps], start: int, row: int, column: int, band: _Band) -> tuple[Steps, int]:
    """The steps back from a cell to the row `start`, in reading order, and the column there."""
    steps = list(_back(rows, start, row, column, band))
    gone = sum(step != DELETION for step in steps)
    return np.array(steps[::-1], dtype=np.uint8), column - gone


def _back(rows: list[Steps], start: int, row: int, column: int, band: _Band) -> Iterator[int]:
    while row > start:
        step = int(rows[row - start - 1][column - band.first(row)])
        yield step
        row -= step != INSERTION
        column -= step != DELETION


# Word alignment of many texts at a time: documents of like length share one array.
#
# The path of each document is that of `word_alignment`, with the same costs and the same order
# among steps that cost the same; only one row of the tables of all documents of a stack is
# computed at once. Documents that are so long that a band saves work are aligned alone.
#
# Conventions:
#     A row has a cell for each word of the longest system text of the stack and one before them.
#     What is right of the end of a shorter text, or below it, is computed and never looked at:
#     costs depend on cells above and to the left.


#: The most cells of the tables of a stack, and the most costs of words that are known at a time.
STACK_CELLS = 2_000_000
#: The most documents of a stack: a row of all of them stays in the cache.
DOCUMENTS = 64
#: The words of a document of the reference and of the system, in small letters.
Texts = tuple[list[str], list[str]]


def all_aligned(
    texts: Sequence[tuple[Sequence[str], Sequence[str]]], costs: Costs = DOCUMENT
) -> list[Alignment]:
    """The alignment of each document, as `aligned` gives it.

    Args:
        texts: the words of the reference and of the system of each document.
        costs: what the steps cost.

    Examples:
        >>> [found.columns for found in all_aligned([(["a", "b"], ["b"]), (["a"], ["a"])])]
        [2, 1]
    """
    found: dict[int, Alignment] = {}
    short: list[tuple[int, Texts]] = []
    for number, (reference, system) in enumerate(texts):
        ours, theirs = [word.lower() for word in reference], [word.lower() for word in system]
        if ours == theirs or not _short(ours, theirs):
            found[number] = aligned(ours, theirs, costs)
        else:
            short.append((number, (ours, theirs)))
    for stack in _stacks(short):
        steps = _steps([pair for _, pair in stack], costs)
        found |= {number: columns(path) for (number, _), path in zip(stack, steps, strict=True)}
    return [found[number] for number in range(len(texts))]


def _short(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether the narrowest band around the diagonal is the whole table."""
    return abs(len(theirs) - len(ours)) + 2 * NARROWEST >= len(theirs) and (
        len(ours) * len(theirs) <= STACK_CELLS
    )


def _stacks(texts: list[tuple[int, Texts]]) -> Iterator[list[tuple[int, Texts]]]:
    """The documents in stacks of like length."""
    stack: list[tuple[int, Texts]] = []
    rows = width = 0
    for number, (ours, theirs) in sorted(texts, key=lambda item: [*map(len, item[1])]):
        rows, width = max(rows, len(ours)), max(width, len(theirs))
        if stack and (
            len(stack) == DOCUMENTS or (len(stack) + 1) * rows * (width + 1) > STACK_CELLS
        ):
            yield stack
            stack, rows, width = [], len(ours), len(theirs)
        stack.append((number, (ours, theirs)))
    if stack:
        yield stack


def _steps(texts: Sequence[Texts], costs: Costs) -> Iterator[Steps]:
    """The steps of the best path of each document of a stack."""
    width = 1 + max(len(theirs) for _, theirs in texts)
    table = _table(texts, width, costs)
    for number, (ours, theirs) in enumerate(texts):
        cells = table[: len(ours) + 1, number].tobytes()
        path = list(_stacked_alignment_back(cells, width, len(ours), len(theirs)))
        yield np.array(path[::-1], dtype=np.uint8)


def _table(texts: Sequence[Texts], width: int, costs: Costs) -> Steps:
    """The step into each cell: rows, documents, columns."""
    pairing = _Pairing(texts, width - 1, costs)
    size = max(len(ours) for ours, _ in texts)
    deletions = np.zeros((size, len(texts), 1), dtype=np.int64)
    for number, (ours, _) in enumerate(texts):
        deletions[: len(ours), number, 0] = costs.deleting(ours)
    ramp = np.arange(width) * costs.insertion
    values = np.repeat(ramp[None, :], len(texts), axis=0)
    pairs = np.full_like(values, FAR)
    steps = np.full((size + 1, *values.shape), INSERTION, dtype=np.uint8)
    for row in range(1, size + 1):
        np.add(values[:, :-1], pairing.row(row - 1), out=pairs[:, 1:])
        values += deletions[row - 1]
        np.minimum(values, pairs, out=values)
        # Inserting along the row: the least of all cells to the left, and 1 insertion a step.
        values -= ramp
        np.minimum.accumulate(values, axis=1, out=values)
        values += ramp
        step = steps[row]
        step[:, 0] = DELETION
        inserted = values[:, 1:] == values[:, :-1] + costs.insertion
        step[:, 1:] = np.where(inserted, INSERTION, DELETION)
        step[values == pairs] = PAIR
    return steps


def _stacked_alignment_back(cells: bytes, width: int, row: int, column: int) -> Iterator[int]:
    """The steps from the end of both texts to their beginnings."""
    while row or column:
        step = cells[row * width + column]
        yield step
        row -= step != INSERTION
        column -= step != DELETION


class _Pairing:
    """What the words of the reference cost beside those of the system, in all documents."""

    def __init__(self, texts: Sequence[Texts], width: int, costs: Costs) -> None:
        vocabularies = [(_numbers(ours), _numbers(theirs)) for ours, theirs in texts]
        shared = tuple(_numbers([word for pair in texts for word in pair[side]]) for side in (0, 1))
        apart = sum(len(ours) * len(theirs) for ours, theirs in vocabularies)
        if len(shared[0]) * len(shared[1]) <= apart:
            vocabularies = [(shared[0], shared[1])] * len(texts)
        size = max(len(ours) for ours, _ in texts)
        self._rows = np.zeros((size, len(texts), 1), dtype=np.int64)
        self._columns = np.zeros((len(texts), width), dtype=np.int64)
        parts: list[Integers] = []
        begin, before = 0, None
        for number, ((ours, theirs), known) in enumerate(zip(texts, vocabularies, strict=True)):
            if known is not before:
                begin, before = sum(map(len, parts)), known
                parts.append(costs.pairing(list(known[0]), list(known[1])).ravel())
            rows = np.array([known[0][word] for word in ours], dtype=np.int64)
            self._rows[: len(ours), number, 0] = begin + rows * len(known[1])
            self._columns[number, : len(theirs)] = [known[1][word] for word in theirs]
        self._costs = np.concatenate([*parts, np.zeros(width + 1, dtype=np.int64)])

    def row(self, place: int) -> Integers:
        """The costs of the word at a place of each reference beside all words of the system."""
        found: Integers = self._costs.take(self._rows[place] + self._columns)
        return found


def _numbers(words: Sequence[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(dict.fromkeys(words))}
