"""Pairing: who goes with whom, given how alike any two are.

Items and similarities come as candidate pairs (reference, system, weight), so that nothing is ever
spent on pairs that are not alike at all. Weights are integers: sums are exact, whatever the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np


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
    from scipy.optimize import linear_sum_assignment

    rows = {item: number for number, item in enumerate(sorted({pair.reference for pair in group}))}
    columns = {item: number for number, item in enumerate(sorted({pair.system for pair in group}))}
    size = min(len(rows), len(columns))
    # Weights are integers: each pair's bonus of one, below a unit of weight even if all have it,
    # decides between pairings of equal weight in favour of the one with more pairs.
    matrix = np.zeros((len(rows), len(columns)))
    for pair in group:
        matrix[rows[pair.reference], columns[pair.system]] = pair.weight * (size + 1) + 1
    chosen = set(
        zip(*map(np.ndarray.tolist, linear_sum_assignment(matrix, maximize=True)), strict=True)
    )
    return [pair for pair in group if (rows[pair.reference], columns[pair.system]) in chosen]


def greedy(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairing that takes reciprocal best pairs for as long as there are any.

    Pairs are taken by falling weight, ties in the order of the reference and then of the system:
    at its turn each is the best that is left for both of its items.

    Examples:
        >>> greedy([Pair(1, 1, 6), Pair(1, 2, 5), Pair(2, 1, 5)])
        [Pair(reference=1, system=1, weight=6)]
    """
    references: set[int] = set()
    systems: set[int] = set()
    taken = []
    for pair in sorted(pairs, key=lambda pair: (-pair.weight, pair.reference, pair.system)):
        if pair.reference not in references and pair.system not in systems:
            references.add(pair.reference)
            systems.add(pair.system)
            taken.append(pair)
    return sorted(taken)
