"""How much is tried: a share of all there is, everything of what is named or with `--thorough`.

`make test` is for every change and must be quick: of matrices it takes one of two to fifteen cells
(`step`), or of as many as the mark `sampled` says, of random examples a tenth, and what is long for
what it finds is left out (the mark `thorough`). `make test-thorough` is
for a release.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")
THOROUGH = "HLTEVAL_THOROUGH"
"""The variable that conftest.py sets for `--thorough`, before any test is imported."""


def thorough() -> bool:
    """Whether everything is tried."""
    return bool(os.environ.get(THOROUGH))


def tries(number: int) -> int:
    """The number of random examples."""
    return number if thorough() else max(number // 10, min(number, 4))


@cache
def codes_by_family() -> Mapping[str, Sequence[str]]:
    """All codes by their first three letters; a test per code takes longer than what it tests."""
    from hlteval.findings import catalogue

    groups = groupby(sorted(catalogue()), key=lambda code: code[:3])
    return {family: [*codes] for family, codes in groups}


def share(items: Iterable[T], step: int = 3) -> Sequence[T]:
    """Each third of the cells of a matrix, the first one included."""
    return [*items] if thorough() else [*items][::step]


def step(cells: int) -> int:
    """Of a matrix without a mark, one of how many cells is tried."""
    sizes = {4: 2, 12: 6, 36: 10}
    return next((of for most, of in sizes.items() if cells <= most), 15)


@cache
def cells_tried(name: str, cells: int, of: int) -> frozenset[int]:
    """The numbers of the cells of a matrix that are tried, one of some.

    Of few cells, the name of the test decides which one. Others are spread evenly, but never in
    step with an inner parameter: of two profiles that take turns, each second cell would always be
    the same.
    """
    if cells <= of:
        return frozenset({crc32(name.encode()) % cells})
    return frozenset(n for n in range(cells) if n * _GOLDEN_RATIO % 1 < 1 / of)


_GOLDEN_RATIO = (5**0.5 - 1) / 2
