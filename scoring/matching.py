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

# Assignment of few items by shortest augmenting paths, one row after the other.
#
# The method is that of Kuhn and Munkres in the form of Jonker and Volgenant. After each row the
# assignment is optimal for the rows so far, so a sweep over prefixes of rows costs no more than one
# assignment. Costs are Python integers: sums are exact, whatever their size.


_FREE = -1


class AugmentingPaths:
    """A table of costs that grows by rows, and its assignment of least total cost.

    Equal costs are decided as by `scipy.optimize.linear_sum_assignment`, so that either of the two
    can solve a table.

    Args:
        columns: number of columns.
        optional: whether a row may stay without a column, at cost 0; otherwise there are at least
            as many columns as rows.

    Examples:
        >>> paths = AugmentingPaths(2)
        >>> paths.add([-6, -5]), paths.add([-5, 0])
        (-6, -4)
        >>> paths.columns
        [1, 0]
    """

    def __init__(self, columns: int, *, optional: bool = False) -> None:
        self.columns: list[int] = []
        """The column of each row; -1 for none."""
        self._optional = optional
        self._costs: list[Sequence[int]] = []
        self._row_prices: list[int] = []
        self._column_prices = [0] * columns
        self._rows = [_FREE] * columns

    def add(self, costs: Sequence[int]) -> int:
        """Add a row with its cost for each column; the change of the total cost."""
        self._costs.append(costs)
        self._row_prices.append(0)
        self.columns.append(_FREE)
        path = self._path()
        self._update_prices(path)
        self._augment(path)
        return path.cost

    def _path(self) -> _Path:
        """The shortest path from the last row to a free column, or to a row without column."""
        size = len(self._rows)
        row, cost, unassigned = len(self._costs) - 1, 0, None
        left = list(range(size - 1, -1, -1))
        distances: list[float] = [_FAR] * size
        previous, visited = [_FREE] * size, list[int]()
        while True:
            base = cost - self._row_prices[row]
            if self._optional and (unassigned is None or base < unassigned[0]):
                unassigned = (base, row)
            at, lowest = self._nearest(row, base, left, distances, previous)
            if unassigned and unassigned[0] <= lowest:
                return _Path(unassigned[0], _FREE, unassigned[1], visited, distances, previous)
            cost, column = int(lowest), left[at]
            if self._rows[column] == _FREE:
                return _Path(cost, column, previous[column], visited, distances, previous)
            visited.append(column)
            row = self._rows[column]
            last = left.pop()
            if at < len(left):
                left[at] = last

    def _nearest(
        self, row: int, base: int, left: list[int], distances: list[float], previous: list[int]
    ) -> tuple[int, float]:
        """The place in `left` of the nearest column, a free one among equals; its distance."""
        costs, prices, rows = self._costs[row], self._column_prices, self._rows
        nearest, lowest = _FREE, _FAR
        for at, column in enumerate(left):
            distance = distances[column]
            if (new := base + costs[column] - prices[column]) < distance:
                distances[column] = distance = new
                previous[column] = row
            if distance < lowest or (distance == lowest and rows[column] == _FREE):
                nearest, lowest = at, distance
        return nearest, lowest

    def _update_prices(self, path: _Path) -> None:
        """Keep reduced costs at least 0, and 0 where rows and columns are assigned."""
        self._row_prices[-1] += path.cost
        for column in path.visited:
            change = path.cost - int(path.distances[column])
            self._row_prices[self._rows[column]] += change
            self._column_prices[column] -= change

    def _augment(self, path: _Path) -> None:
        """Reassign the columns along a path, from its end to its start."""
        column, row = path.column, path.row
        while True:
            next_column, self.columns[row] = self.columns[row], column
            if column != _FREE:
                self._rows[column] = row
            if row == len(self._costs) - 1:
                return
            column, row = next_column, path.previous[next_column]


_FAR = float("inf")


class _Path(NamedTuple):
    """A shortest augmenting path.

    Attributes:
        cost: its length.
        column: the free column at its end, or -1 where its last row stays without a column.
        row: its last row.
        visited: the columns that are nearer than its end.
        distances: the distance of each column.
        previous: the row before each column.
    """

    cost: int
    column: int
    row: int
    visited: list[int]
    distances: list[float]
    previous: list[int]


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


# Assignment: who goes with whom so that the total is greatest, where few pairs share anything.
#
# The candidates are a sparse table, however many items there are: nothing dense is ever made, and
# no size is too large to be exact. Pairs that no better choice can stand in the way of are taken
# in columns, round by round; a sparse shortest-path solver does what is left.


Integers = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
#: One of so many candidates has to be sure for another round to be worth it.
_FEW = 50


def assigned(rows: Integers, columns: Integers, weights: Weights) -> Mask:
    """The one-to-one pairs whose weights have the greatest total.

    Args:
        rows: an item of one side for each candidate pair.
        columns: an item of the other side for each candidate pair.
        weights: what each pair is worth, above 0. Whole numbers are compared exactly, others to the
            precision of a float.

    Returns:
        Which of the candidates are chosen.

    Examples:
        >>> rows, columns = np.array([1, 1, 2]), np.array([1, 2, 1])
        >>> assigned(rows, columns, np.array([6, 5, 5])).tolist()
        [False, True, True]
    """
    chosen = np.zeros(len(rows), dtype=np.bool_)
    left = np.arange(len(rows))
    while len(left):
        left = left[_useful(rows[left], columns[left], weights[left])]
        sure = left[_dominant(rows[left], columns[left], weights[left])]
        if len(sure) * _FEW < len(left):  # a chain would be taken one pair a round
            chosen[left[_solved(rows[left], columns[left], weights[left])]] = True
            break
        chosen[sure] = True
        taken = np.isin(rows[left], rows[sure]) | np.isin(columns[left], columns[sure])
        left = left[~taken]
    return chosen


def _useful(rows: Integers, columns: Integers, weights: Weights) -> Mask:
    """All candidates but those of items without another choice that another such item outbids."""
    return _outbidding(rows, columns, weights) & _outbidding(columns, rows, weights)


def _outbidding(items: Integers, partners: Integers, weights: Weights) -> Mask:
    """Of the partners of an item that have no other candidate, only the best."""
    _, inverse, degrees = np.unique(partners, return_inverse=True, return_counts=True)
    alone = degrees[inverse] == 1
    order = np.lexsort((-weights, ~alone, items))
    first = np.ones(len(items), dtype=np.bool_)
    first[order[1:]] = items[order[1:]] != items[order[:-1]]
    useful: Mask = ~alone | first
    return useful


def _dominant(rows: Integers, columns: Integers, weights: Weights) -> Mask:
    """Candidates worth no less than the best two that would have to give way to them.

    Taking such a pair is never wrong: exchange it for the (at most two) pairs that hold its items
    in any assignment, and the total does not fall. No two of the result share an item.
    """
    sure = weights >= _rival(rows, weights) + _rival(columns, weights)
    at = np.flatnonzero(sure)
    at = at[_firsts(rows[at])]
    at = at[_firsts(columns[at])]
    sure[:] = False
    sure[at] = True
    return sure


def _firsts(values: Integers) -> Integers:
    """Where each value stands first."""
    return np.sort(np.unique(values, return_index=True)[1])


def _rival(items: Integers, weights: Weights) -> Weights:
    """For each candidate, the best weight among the others of its item; 0 where there is none."""
    order = np.lexsort((-weights, items))
    sorted_items, sorted_weights = items[order], weights[order]
    starts = np.flatnonzero(np.r_[True, sorted_items[1:] != sorted_items[:-1]])
    sizes = np.diff(np.r_[starts, len(items)])
    second = np.where(sizes > 1, sorted_weights[np.minimum(starts + 1, len(items) - 1)], 0)
    best = np.repeat(sorted_weights[starts], sizes)
    best[starts] = second
    rival = np.empty_like(weights)
    rival[order] = best
    return rival


def _solved(rows: Integers, columns: Integers, weights: Weights) -> Integers:
    """Where the pairs of an optimal assignment stand.

    Where all pairs that hang together are worth the same, as many as possible are taken (Hopcroft
    and Karp); elsewhere shortest augmenting paths are found, which ties make slow.
    """
    row, column = (np.unique(items, return_inverse=True)[1] for items in (rows, columns))
    even = _even(row, column, weights)
    found = [
        at[solve(row[at], column[at], weights[at])]
        for solve, part in ((_most, even), (_heaviest, ~even))
        if (at := np.flatnonzero(part)).size
    ]
    return np.concatenate(found)


def _even(row: Integers, column: Integers, weights: Weights) -> Mask:
    """The pairs that hang together with none of another weight."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    height = int(row.max()) + 1
    size = height + int(column.max()) + 1
    edges = csr_array((np.ones(len(row)), (row, height + column)), shape=(size, size))
    part = connected_components(edges, directed=False)[1][row]
    least, most = np.full(part.max() + 1, weights.max()), np.zeros(part.max() + 1, weights.dtype)
    np.minimum.at(least, part, weights)
    np.maximum.at(most, part, weights)
    even: Mask = (least == most)[part]
    return even


def _most(rows: Integers, columns: Integers, _: Weights) -> Integers:
    """Where the pairs of an assignment stand that has as many pairs as possible."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    pairs = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    partner = np.asarray(maximum_bipartite_matching(pairs, perm_type="column"))
    return np.flatnonzero(partner[rows] == columns)


def _heaviest(rows: Integers, columns: Integers, weights: Weights) -> Integers:
    """Where the pairs of an optimal assignment stand, by shortest augmenting paths.

    Each row may also go with a partner of its own that is worth nothing, so that the solver, which
    wants a partner for each row, always finds one. Weights are raised by one: it takes a zero for
    no pair at all, and every row has exactly one partner.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    _, row = np.unique(rows, return_inverse=True)
    _, column = np.unique(columns, return_inverse=True)
    height, width = int(row.max()) + 1, int(column.max()) + 1
    own = np.arange(height)
    entries = (np.r_[weights + 1, np.ones(height)], (np.r_[row, own], np.r_[column, width + own]))
    matrix = csr_array(entries, shape=(height, width + height))
    partner = np.asarray(min_weight_full_bipartite_matching(matrix, maximize=True)[1])
    return np.flatnonzero(partner[row] == column)
