"""Strings of spaCy as the numbers that stand for them in its files.

The number of a string is that of the symbol of this name, if spaCy has one (grammars/spacy.toml),
or else the 64-bit hash MurmurHash64A of its UTF-8, with the seed 1. The empty string is 0.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from hlteval.grammars import vocabulary

_SEED, _FACTOR, _SHIFT = 1, 0xC6A4A7935BD1E995, np.uint64(47)


@cache
def symbols() -> Mapping[str, int]:
    """The numbers of symbols by their names.

    Examples:
        >>> [symbols()[name] for name in ("", "FLAG63", "NOUN", "DEPRECATED276", "ENT_ID")]
        [0, 63, 92, 379, 454]
    """
    names = [""]
    for entry in vocabulary("spacy")["symbols"].split():
        name, several, last = entry.partition("..")
        stem = name.rstrip("0123456789")
        first = name.removeprefix(stem)
        numbers = range(int(first), int(last) + 1) if several else ()
        names += [f"{stem}{number:0{len(first)}}" for number in numbers] or [name]
    return {name: number for number, name in enumerate(names)}


def numbers(strings: Sequence[str]) -> dict[str, int]:
    """The number of each string.

    Args:
        strings: the strings; a long one takes a microsecond for each byte.

    Examples:
        >>> numbers(["Ann", "PERSON", ""])
        {'Ann': 13706867504515737279, 'PERSON': 380, '': 0}
    """
    known, hashed = symbols(), hashes(strings).tolist()
    return {name: known.get(name, value) for name, value in zip(strings, hashed, strict=True)}


def hashes(strings: Sequence[str]) -> npt.NDArray[np.uint64]:
    """The hash of each string: blocks of eight bytes are mixed in for all strings at once.

    Examples:
        >>> hashes(["12345678", "x" * 9]).tolist()
        [9871996032675327904, 10524653150034420752]
    """
    encoded = [string.encode() for string in strings]
    lengths = np.array([len(data) for data in encoded], np.uint64)
    order = np.argsort(lengths)[::-1]  # the strings that have a block are the first ones
    padded = [encoded[at] + bytes(-len(encoded[at]) % 8) for at in order]
    blocks = np.frombuffer(b"".join(padded), "<u8")
    ends = np.cumsum([len(data) // 8 for data in padded], dtype=np.int64)
    sizes = np.diff(ends, prepend=0)
    factor, whole = np.uint64(_FACTOR), lengths[order] // np.uint64(8)
    mixed = np.uint64(_SEED) ^ (lengths[order] * factor)
    for at in range(int(sizes[0]) if len(sizes) else 0):
        count = int(np.searchsorted(-sizes, -at))
        block = blocks[(ends - sizes)[:count] + at]
        is_whole = whole[:count] > at
        scrambled = block * factor
        scrambled = (scrambled ^ (scrambled >> _SHIFT)) * factor
        mixed[:count] = (mixed[:count] ^ np.where(is_whole, scrambled, block)) * factor
    mixed = (mixed ^ (mixed >> _SHIFT)) * factor
    result = np.empty_like(mixed)
    result[order] = mixed ^ (mixed >> _SHIFT)
    return result
