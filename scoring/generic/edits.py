"""Edits between two sequences: hits, substitutions, insertions and deletions.

Only the sum of the edits is unique: where several alignments have the fewest edits, the counts are
those of the one that RapidFuzz chooses. It aligns the common beginning and the common end first,
and prefers, from the end, deletions to insertions and these to substitutions.

Sequences are compared as strings, a character for each item, since these are compared fastest:
words are numbered, and each number is a character.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

#: The counts of a pair, in order.
EDITS = ("hits", "substitutions", "insertions", "deletions")
#: Characters that no text can have begin here, and how many there are.
_SURROGATES, _SURROGATE_COUNT = 0xD800, 0x800
_CHARACTERS = 0x110000 - _SURROGATE_COUNT

#: A sequence whose items are compared.
Items = str | Sequence[int]


def count_edits(reference: Items, system: Items) -> tuple[int, int, int, int]:
    """The counts of a pair of sequences, as `EDITS`.

    Examples:
        >>> count_edits("abcd", "xbc")
        (2, 1, 0, 1)
    """
    ours, theirs = len(reference), len(system)
    if not ours or not theirs:
        return 0, 0, theirs, ours
    if reference == system:
        return ours, 0, 0, 0
    edits = Levenshtein.editops(reference, system)
    # insertions less deletions is known, and so one count gives the others
    changed = len(edits)
    if changed == abs(ours - theirs):
        substitutions = 0
    elif changed == 1:
        substitutions = 1
    else:
        substitutions = sum(kind == "replace" for kind, _, _ in edits.as_list())
    deletions = (changed - substitutions + ours - theirs) // 2
    insertions = changed - substitutions - deletions
    return ours - substitutions - deletions, substitutions, insertions, deletions


def edit_matrix(reference: Sequence[Items], system: Sequence[Items]) -> NDArray[np.int64]:
    """The counts of pairs of sequences: a row per pair, a column per count of `EDITS`."""
    rows = map(count_edits, reference, system)
    return np.array([*rows], dtype=np.int64).reshape(-1, len(EDITS))


def as_items(reference: pl.Series, system: pl.Series) -> tuple[list[Items], list[Items]]:
    """Lists of words as sequences that are compared fast: equal items for equal words only.

    Args:
        reference: the words of each text.
        system: those of the system.

    Examples:
        >>> lists = pl.Series([["a", "b"], []], dtype=pl.List(pl.String)), pl.Series([["b"], ["a"]])
        >>> ours, theirs = as_items(*lists)
        >>> ours[0] == theirs[1] + theirs[0], ours[1]
        (True, '')
    """
    sides = (reference, system)
    words = pl.concat([side.explode(empty_as_null=False) for side in sides])
    vocabulary = words.unique()
    codes = words.cast(pl.Enum(vocabulary)).to_physical().to_numpy().astype(np.uint32)
    all_items: Items = codes.tolist()
    if vocabulary.len() <= _CHARACTERS:
        skipped = np.where(codes >= _SURROGATES, _SURROGATE_COUNT, 0).astype(np.uint32)
        all_items = (codes + skipped).astype("<u4").tobytes().decode("utf-32-le")
    ends = np.cumsum(np.r_[0, pl.concat([side.list.len() for side in sides]).to_numpy()]).tolist()
    items = [all_items[start:end] for start, end in itertools.pairwise(ends)]
    return items[: reference.len()], items[reference.len() :]
