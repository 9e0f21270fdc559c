"""Pairing: who goes with whom, given how alike any two are.

Items and similarities come as candidate pairs (reference, system, weight), so that nothing is ever
spent on pairs that are not alike at all. Weights are integers: sums are exact, whatever the order.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hlteval.scoring.augmenting_paths import AugmentingPaths

Numbers = npt.NDArray[np.int64]
#: What each of the rows with each of the columns is worth.
Table = list[list[int]] | npt.NDArray[np.int64]


class Pair(NamedTuple):
    """A candidate pair: two items by number, and how alike they are."""

    reference: int
    system: int
    weight: int


def components(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """The candidate pairs in groups that share no item, each group in the order given.

    Examples:
        >>> [len(group) for group in components([Pair(1, 1, 5), Pair(2, 2, 5), Pair(2, 3, 4)])]
        [1, 2]
    """
    parent: dict[tuple[str, int], tuple[str, int]] = {}

    def root(item: tuple[str, int]) -> tuple[str, int]:
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    edges = list(pairs)
    for pair in edges:
        parent[root(("system", pair.system))] = root(("reference", pair.reference))
    groups: dict[tuple[str, int], list[Pair]] = {}
    for pair in edges:
        groups.setdefault(root(("reference", pair.reference)), []).append(pair)
    return list(groups.values())


def optimal(pairs: Sequence[Pair]) -> list[Pair]:
    """The one-to-one pairing of greatest total weight; among equals, one with most pairs.

    Args:
        pairs: candidates of positive weight; those left out are never paired.

    Examples:
        >>> optimal([Pair(1, 1, 6), Pair(1, 2, 5), Pair(2, 1, 5)])
        [Pair(reference=1, system=2, weight=5), Pair(reference=2, system=1, weight=5)]
    """
    return sorted(pair for group in components(pairs) for pair in _assigned(group))


def _assigned(group: list[Pair]) -> Iterable[Pair]:
    if len(group) == 1:
        return group
    rows = {item: number for number, item in enumerate(sorted({pair.reference for pair in group}))}
    columns = {item: number for number, item in enumerate(sorted({pair.system for pair in group}))}
    size = min(len(rows), len(columns))
    # Weights are integers: each pair's bonus of one, below a unit of weight even if all have it,
    # decides between pairings of equal weight in favour of the one with more pairs.
    table = [[0] * len(columns) for _ in rows]
    for pair in group:
        table[rows[pair.reference]][columns[pair.system]] = pair.weight * (size + 1) + 1
    chosen = set(best_places(table, compiled=len(table) * len(table[0]) > _LARGE))
    return [pair for pair in group if (rows[pair.reference], columns[pair.system]) in chosen]


#: Cells of a table whose assignment takes longer than loading SciPy.
_LARGE = 10_000


def best_places(table: Table, *, compiled: bool) -> Iterable[tuple[int, int]]:
    """The places of the one-to-one pairs of greatest total, of all rows or all columns.

    Args:
        table: the weight of each row with each column.
        compiled: whether SciPy finds them: it takes time to load, and less for large tables.

    Examples:
        >>> list(best_places([[6, 5], [5, 0]], compiled=False))
        [(0, 1), (1, 0)]
    """
    if compiled:
        from scipy.optimize import linear_sum_assignment

        places = linear_sum_assignment(np.asarray(table, dtype=np.float64), maximize=True)
        return zip(*map(np.ndarray.tolist, places), strict=True)
    table = table.tolist() if isinstance(table, np.ndarray) else table
    if len(table) > len(table[0]):
        turned = [*map(list, zip(*table, strict=True))]
        return ((row, column) for column, row in best_places(turned, compiled=False))
    paths = AugmentingPaths(len(table[0]))
    for row in table:
        paths.add([-weight for weight in row])
    return enumerate(paths.columns)


def gains(pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    """What each system item adds to the greatest total weight, if they come in ascending order.

    Args:
        pairs: candidates of positive weight.

    Returns:
        The system items in order, each with its gain: sums of the first are the greatest total
        weight of a one-to-one pairing of these items.

    Examples:
        >>> gains([Pair(1, 1, 6), Pair(1, 2, 5), Pair(2, 1, 5)])
        [(1, 6), (2, 4)]
    """
    references = {item: at for at, item in enumerate(sorted({pair.reference for pair in pairs}))}
    rows: dict[int, list[int]] = {
        system: [0] * len(references) for system in sorted({pair.system for pair in pairs})
    }
    for pair in pairs:
        rows[pair.system][references[pair.reference]] = -pair.weight
    paths = AugmentingPaths(len(references), optional=True)
    return [(system, -paths.add(costs)) for system, costs in rows.items()]


class Candidates:
    """Candidate pairs for a greedy pairing, in eight bytes each: there may be many millions.

    Pairs are taken by falling weight, ties in the order of the reference and then of the system:
    at its turn each is the best that is left for both of its items.

    Args:
        references: how many items there are on one side, numbered from 0.
        systems: how many there are on the other.
        most: the greatest weight.

    Examples:
        >>> found = Candidates(2, 2, 6)
        >>> found.add(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([6, 5, 5, 1]))
        >>> found.best_first()
        [Pair(reference=0, system=0, weight=6), Pair(reference=1, system=1, weight=1)]
    """

    def __init__(self, references: int, systems: int, most: int) -> None:
        self.references, self.systems, self.most = references, systems, most
        self._codes = array("q")

    def add(self, reference: Numbers, system: Numbers, weight: Numbers) -> None:
        """Add candidates with a weight above 0."""
        codes = ((self.most - weight) * self.references + reference) * self.systems + system
        self._codes.frombytes(codes.astype(np.int64).tobytes())

    def best_first(self) -> list[Pair]:
        """The pairing, in the order of the references."""
        codes = np.frombuffer(self._codes, np.int64)
        codes.sort()
        # Of most pairs an item is taken long before: only the others are looked at one by one.
        free = np.ones(self.references, np.bool_), np.ones(self.systems, np.bool_)
        taken: list[Pair] = []
        for begin in range(0, len(codes), _PART):
            rest, system = np.divmod(codes[begin : begin + _PART], self.systems)
            loss, reference = np.divmod(rest, self.references)
            still = free[0][reference] & free[1][system]
            columns = (values[still].tolist() for values in (reference, system, self.most - loss))
            for pair in zip(*columns, strict=True):
                if free[0][pair[0]] and free[1][pair[1]]:
                    free[0][pair[0]] = free[1][pair[1]] = False
                    taken.append(Pair(*pair))
        return sorted(taken)


#: Candidates that are looked at together.
_PART = 2_000
