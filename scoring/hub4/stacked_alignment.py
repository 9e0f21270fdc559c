"""Word alignment of many texts at a time: documents of like length share one array.

The path of each document is that of `word_alignment`, with the same costs and the same order among
steps that cost the same; only one row of the tables of all documents of a stack is computed at
once. Documents that are so long that a band saves work are aligned alone.

Conventions:
    A row has a cell for each word of the longest system text of the stack and one before them.
    What is right of the end of a shorter text, or below it, is computed and never looked at: costs
    depend on cells above and to the left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hlteval.scoring.hub4.word_alignment import (
    DELETION,
    DOCUMENT,
    FAR,
    INSERTION,
    NARROWEST,
    PAIR,
    Alignment,
    Costs,
    Integers,
    Steps,
    aligned,
    columns,
)

#: The most cells of the tables of a stack, and the most costs of words that are known at a time.
CELLS = 2_000_000
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
        len(ours) * len(theirs) <= CELLS
    )


def _stacks(texts: list[tuple[int, Texts]]) -> Iterator[list[tuple[int, Texts]]]:
    """The documents in stacks of like length."""
    stack: list[tuple[int, Texts]] = []
    rows = width = 0
    for number, (ours, theirs) in sorted(texts, key=lambda item: [*map(len, item[1])]):
        rows, width = max(rows, len(ours)), max(width, len(theirs))
        if stack and (len(stack) == DOCUMENTS or (len(stack) + 1) * rows * (width + 1) > CELLS):
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
        path = list(_back(cells, width, len(ours), len(theirs)))
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


def _back(cells: bytes, width: int, row: int, column: int) -> Iterator[int]:
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
