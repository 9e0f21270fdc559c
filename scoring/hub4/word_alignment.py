"""Word alignment: which word of one text stands where which word of another does.

The specification's "Extent Normalization by Alignment of Text Corpora": dynamic programming over
words, as `sclite` does it. The path of least cost leads from the beginnings to the ends of both
texts, where a step matches two words, inserts one, or deletes one. Of steps that cost the same, the
path traced back from the end takes a pair of words first, then an insertion, then a deletion; so
gaps stand as far to the left as they can.

Costs are integers in units of 1/`UNIT`. Short texts of like length share one array, so that a row
of all of them is computed at once. Of a long text only a band around the diagonal is computed,
which is doubled until no path that leaves it could be as cheap: the result is that of the whole
table. Texts of many thousand words are first divided where they surely go together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Steps = npt.NDArray[np.uint8]

UNIT = 1_000_000
#: The most cells of a table of texts that are aligned whole.
WHOLE = 25_000_000
#: How far from the diagonal a band reaches at first.
NARROWEST = 128
#: The most cells of the tables of a stack, and the most texts: a row of all stays in the cache.
STACK_CELLS, STACK_TEXTS = 2_000_000, 64
#: Words of an anchor.
STRETCH = 6
#: Least words of a part of the reference.
PART = 1000
#: Most words of a share, where there are no anchors.
SHARE = 5000
#: What spelling adds at most: not even that of all words of a part comes to one unit of cost.
_LIKENESS = 40
#: The most pairs of different words whose costs are kept.
_KNOWN = 4_000_000
PAIR, INSERTION, DELETION = 0, 1, 2
FAR = 2**60

#: The words of the reference and of the system, in small letters.
Texts = tuple[list[str], list[str]]


class Alignment(NamedTuple):
    """Two texts in columns: the column of each word of either, and how many there are."""

    reference: Integers
    system: Integers
    columns: int


@dataclass(frozen=True)
class Costs:
    """Costs of the steps, in units of 1/`UNIT`.

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

    def of_deletions(self, words: Sequence[str]) -> list[int]:
        """The cost of deleting each word of the reference."""
        return [self.fragment if is_fragment(word) else self.deletion for word in words]

    def of_pairs(self, words: Sequence[str], others: Sequence[str]) -> Integers:
        """The cost of each word of the reference beside each of others.

        Examples:
            >>> SCLITE.of_pairs(["a", "b"], ["b"]) // UNIT
            array([[4],
                   [0]])
        """
        if self.distance is not None:
            return self.distance(words, others)
        rates = _rates(words, others)
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


def alignments(
    texts: Sequence[tuple[Sequence[str], Sequence[str]]], costs: Costs = DOCUMENT
) -> list[Alignment]:
    """The columns of pairs of texts, case ignored; two words in one column stand for each other.

    Args:
        texts: the words of a reference text, and of the text that the system worked on.
        costs: what the steps cost.

    Examples:
        >>> alignments([("The h- heart of General".split(), "A part of General".split())])
        [Alignment(reference=array([0, 1, 2, 3, 4]), system=array([0, 2, 3, 4]), columns=5)]
    """
    pieces: list[tuple[int, Texts]] = []
    for number, words in enumerate(texts):
        ours, theirs = ([word.lower() for word in side] for side in words)
        divided = [(slice(None), slice(None))]
        if ours != theirs and len(ours) * len(theirs) > WHOLE:
            divided = list(parts(ours, theirs))
        pieces += [(number, (ours[left], theirs[right])) for left, right in divided]
    steps = {
        place: np.full(len(ours), PAIR, dtype=np.uint8)
        for place, (_, (ours, theirs)) in enumerate(pieces)
        if ours == theirs
    }
    left = [(place, piece) for place, (_, piece) in enumerate(pieces) if place not in steps]
    for stack in _stacks(left):
        found = _paths([piece for _, piece in stack], costs)
        steps |= {place: path for (place, _), path in zip(stack, found, strict=True)}
    paths: list[list[Steps]] = [[] for _ in texts]
    for place, (number, _) in enumerate(pieces):
        paths[number].append(steps[place])
    result: list[Alignment] = []
    for path in paths:
        whole = np.concatenate(path)
        places = np.arange(len(whole))
        result.append(Alignment(places[whole != INSERTION], places[whole != DELETION], len(whole)))
    return result


def _stacks(texts: list[tuple[int, Texts]]) -> Iterator[list[tuple[int, Texts]]]:
    """The texts in stacks of like length; where a band is less than the table, each alone."""
    stack: list[tuple[int, Texts]] = []
    rows = width = 0
    for number, (ours, theirs) in sorted(texts, key=lambda item: [*map(len, item[1])]):
        size, most = len(ours), len(theirs)
        if abs(most - size) + 2 * NARROWEST < most or size * most > STACK_CELLS:
            yield [(number, (ours, theirs))]
            continue
        rows, width = max(rows, size), max(width, most)
        if stack and (
            len(stack) == STACK_TEXTS or (len(stack) + 1) * rows * (width + 1) > STACK_CELLS
        ):
            yield stack
            stack, rows, width = [], size, most
        stack.append((number, (ours, theirs)))
    if stack:
        yield stack


def _paths(texts: Sequence[Texts], costs: Costs) -> Iterator[Steps]:
    """The steps of the best path of each text of a stack."""
    table = _Table(texts, costs)
    shift, extra = table.last - table.size, NARROWEST
    while True:
        width = abs(shift) + 2 * extra + 1
        if len(texts) > 1 or width > table.last:
            slope, low = 0, 0
            steps, _ = table.fill(0, 0, table.last + 1)
            break
        slope, low = 1, min(0, shift) - extra
        steps, values = table.fill(1, low, width)
        # A path that leaves the band has at least so many insertions and deletions.
        if values[0, table.last - table.size - low] < (extra + 1) * table.detour:
            break
        extra *= 2
    for number, (ours, theirs) in enumerate(texts):
        cells, path = steps[:, number].data, list[int]()
        row, column = len(ours), len(theirs)
        while row:
            step = cells[row - 1, column - slope * row - low]
            path.append(step)
            row -= step != INSERTION
            column -= step != DELETION
        path += [INSERTION] * column
        yield np.array(path[::-1], dtype=np.uint8)


class _Table:
    """The table of least costs of each text of a stack.

    What is right of the end of a shorter text, or below it, is computed and never looked at: costs
    depend on cells above and to the left.

    Args:
        texts: the texts.
        costs: what the steps cost.
    """

    def __init__(self, texts: Sequence[Texts], costs: Costs) -> None:
        self.texts, self.costs = texts, costs
        self.size = max(len(ours) for ours, _ in texts)
        self.last = max(len(theirs) for _, theirs in texts)
        self.deletions = np.zeros((self.size, len(texts), 1), dtype=np.int64)
        # Where what a word costs beside each other word begins among `known`, and the other words.
        self.rows = np.zeros((self.size, len(texts), 1), dtype=np.int64)
        self.columns = np.zeros((len(texts), self.last), dtype=np.int64)
        known = [np.zeros(0, dtype=np.int64)]
        begin = 0
        for number, (ours, theirs) in enumerate(texts):
            self.deletions[: len(ours), number, 0] = costs.of_deletions(ours)
            own, other = (
                {word: place for place, word in enumerate(dict.fromkeys(words))}
                for words in (ours, theirs)
            )
            self.rows[: len(ours), number, 0] = [begin + own[word] * len(other) for word in ours]
            self.columns[number, : len(theirs)] = [other[word] for word in theirs]
            if (size := len(own) * len(other)) <= _KNOWN:
                known.append(costs.of_pairs([*own], [*other]).ravel())
            begin += size
        self.known = np.concatenate([*known, np.zeros(self.last + 1, dtype=np.int64)])
        self.is_known = len(known) > len(texts)

    @property
    def detour(self) -> int:
        """Return the least cost of an insertion and a deletion."""
        least = self.deletions.min(initial=self.costs.deletion)
        return self.costs.insertion + int(least)

    def fill(self, slope: int, low: int, width: int) -> tuple[Steps, Integers]:
        """The step into each cell of all rows but the first, and the costs of the last row.

        Args:
            slope: by how many columns a band moves from row to row.
            low: the column with which it begins in the first row.
            width: how many columns it has.
        """
        insertion, last = self.costs.insertion, self.last
        columns = np.arange(width) + low
        values = np.where((columns >= 0) & (columns <= last), columns * insertion, FAR)
        values = np.repeat(values[None, :], len(self.texts), axis=0)
        ramp, pairs = np.arange(width) * insertion, np.empty_like(values)
        steps = np.empty((self.size, *values.shape), dtype=np.uint8)
        for row, step in enumerate(steps, start=1):
            first = slope * row + low
            left, right = max(first, 1), min(first + width - 1, last)
            pairs.fill(FAR)
            if left <= right:
                begin, end = left - first, right - first + 1
                above = values[:, begin + slope - 1 : end + slope - 1]
                np.add(above, self._row_costs(row - 1, left - 1, right), out=pairs[:, begin:end])
            values += self.deletions[row - 1]
            if slope:
                values[:, :-1] = values[:, 1:]
                values[:, -1] = FAR
            np.minimum(values, pairs, out=values)
            # Inserting along the row: the least of all cells to the left, and 1 insertion a step.
            values -= ramp
            np.minimum.accumulate(values, axis=1, out=values)
            values += ramp
            values[:, : max(-first, 0)] = FAR
            values[:, max(last + 1 - first, 0) :] = FAR
            step[:, 0] = DELETION
            inserted = values[:, 1:] == values[:, :-1] + insertion
            step[:, 1:] = np.where(inserted, INSERTION, DELETION)
            step[values == pairs] = PAIR
        return steps, values

    def _row_costs(self, place: int, left: int, right: int) -> Integers:
        """Costs of the words at a place of each reference beside a stretch of the system's."""
        if self.is_known:
            row: Integers = self.known.take(self.rows[place] + self.columns[:, left:right])
            return row
        ours, theirs = self.texts[0]
        return self.costs.of_pairs([ours[place]], theirs[left:right])


def parts(reference: Sequence[str], system: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Two texts in parts that go together, so that each can be aligned alone.

    A stretch of words that occurs once in either text is an anchor. Texts are divided at anchors
    that come in the same order in both. Parts are long enough that their own alignments are seldom
    other than that of the whole. What has no anchors and is still too long is divided into equal
    shares: such texts have little in common.

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
    for place, other in [*_chain_of_anchors(reference, system), (len(reference), len(system))]:
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
    bounds = [
        [places.start + len(places) * number // count for number in range(count + 1)]
        for places in (ours, theirs)
    ]
    yield from zip(*([slice(*pair) for pair in pairwise(side)] for side in bounds), strict=True)


def _chain_of_anchors(reference: Sequence[str], system: Sequence[str]) -> list[tuple[int, int]]:
    """The most anchors whose places rise in both texts."""
    ours, theirs = _unique_stretches(reference), _unique_stretches(system)
    found = sorted((place, theirs[stretch]) for stretch, place in ours.items() if stretch in theirs)
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


def _unique_stretches(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The stretches that occur once, with their places."""
    places: dict[tuple[str, ...], int] = {}
    for place in range(len(words) - STRETCH + 1):
        stretch = tuple(words[place : place + STRETCH])
        places[stretch] = -1 if stretch in places else place
    return {stretch: place for stretch, place in places.items() if place >= 0}


# Phones: how far two words sound apart, by a lexicon that the user supplies.


@dataclass(frozen=True)
class Lexicon:
    """The pronunciations of words: each a string with one character a phone.

    Attributes:
        phones: the pronunciations of each word, in small letters.
    """

    phones: Mapping[str, tuple[str, ...]]

    @staticmethod
    def of(entries: Iterable[tuple[str, Sequence[str]]]) -> Lexicon:
        """A lexicon of words with their phones; a word may come more than once.

        Examples:
            >>> lexicon = Lexicon.of([("heart", "HH AA1 R T".split()), ("part", ["P", "AA1"])])
            >>> len(lexicon.phones["heart"][0])
            4
        """
        signs: dict[str, str] = {}
        phones: dict[str, tuple[str, ...]] = {}
        for word, written in entries:
            # Stress is not part of a phone; each phone becomes a character of a private use area.
            plain = (phone.rstrip("0123456789") or phone for phone in written)
            form = "".join(signs.setdefault(phone, chr(0xE000 + len(signs))) for phone in plain)
            phones[word.lower()] = (*phones.get(word.lower(), ()), form)
        return Lexicon(phones)

    def pronunciations(self, word: str) -> tuple[str, ...]:
        """The pronunciations of a word, of a fragment without its `-`; or else its letters."""
        plain = word[:-1] if is_fragment(word) else word
        return self.phones.get(word) or self.phones.get(plain) or (plain,)

    def distance(self, words: Sequence[str], others: Sequence[str]) -> Integers:
        """The cost of words beside others: 4 times the share of phones that differ.

        Of words with several pronunciations the closest count; where one of two words has none,
        both are spelt.

        Examples:
            >>> Lexicon.of([]).distance(["heart"], ["heart", "part"]) / UNIT
            array([[0. , 1.6]])
        """
        if not words or not others:
            return np.zeros((len(words), len(others)), dtype=np.int64)
        rows, columns = ([self.pronunciations(word) for word in side] for side in (words, others))
        phones = _rates(*([form for forms in side for form in forms] for side in (rows, columns)))
        for axis, side in enumerate((rows, columns)):
            begins = np.cumsum([0, *map(len, side)])[:-1]
            phones = np.minimum.reduceat(phones, begins, axis=axis)
        known = [np.array([word in self.phones for word in side]) for side in (words, others)]
        rates = np.where(np.logical_and.outer(*known), phones, _rates(words, others))
        costs: Integers = np.rint(rates * 4 * UNIT).astype(np.int64)
        return costs

    def costs(self) -> Costs:
        """The costs of aligning words by how they sound."""
        return Costs(fragment=UNIT, distance=self.distance)


def _rates(words: Sequence[str], others: Sequence[str]) -> npt.NDArray[np.float32]:
    """The share of characters that differ."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    return cdist(words, others, scorer=Levenshtein.normalized_distance)
