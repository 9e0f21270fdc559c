"""Anchors: where two long texts surely go together, so that each part can be aligned alone.

A stretch of words that occurs once in either text is an anchor. Texts are divided at anchors that
come in the same order in both. Parts are long enough that their own alignments are seldom other
than that of the whole. What has no anchors and is still too long is divided into equal shares: such
texts have little in common.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

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
