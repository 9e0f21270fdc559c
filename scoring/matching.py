"""Pairing: who goes with whom, given how alike any two are.

Items and similarities come as candidate pairs (reference, system, weight), so that nothing is ever
spent on pairs that are not alike at all. Weights are integers: sums are exact, whatever the order.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

# Assignment of few items by shortest augmenting paths, one row after the other.
#
# The method is that of Kuhn and Munkres in the form of Jonker and Volgenant. After each row the
# assignment is optimal for the rows so far, so a sweep over prefixes of rows costs no more than one
# assignment. Costs are Python integers: sums are exact, whatever their size.


_FREE = -1
_FAR = float("inf")


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
        new, size, rows = len(self._costs), len(self._rows), self._rows
        self._costs.append(costs)
        self._row_prices.append(0)
        self.columns.append(_FREE)
        # The shortest path from the new row to a free column, or to a row that stays without one.
        left = list(range(size - 1, -1, -1))
        distances: list[float] = [_FAR] * size
        previous, visited = [_FREE] * size, list[int]()
        row, cost, unassigned, prices = new, 0, None, self._column_prices
        while True:
            base, row_costs = cost - self._row_prices[row], self._costs[row]
            if self._optional and (unassigned is None or base < unassigned[0]):
                unassigned = (base, row)
            nearest, lowest = _FREE, _FAR
            for place, column in enumerate(left):
                distance = distances[column]
                if (shorter := base + row_costs[column] - prices[column]) < distance:
                    distances[column] = distance = shorter
                    previous[column] = row
                if distance < lowest or (distance == lowest and rows[column] == _FREE):
                    nearest, lowest = place, distance
            if unassigned and unassigned[0] <= lowest:
                cost, row = unassigned
                column = _FREE
                break
            cost, column = int(lowest), left[nearest]
            if rows[column] == _FREE:
                row = previous[column]
                break
            visited.append(column)
            row = rows[column]
            last = left.pop()
            if nearest < len(left):
                left[nearest] = last
        # Reduced costs stay at least 0, and 0 where rows and columns are assigned.
        self._row_prices[new] += cost
        for seen in visited:
            change = cost - int(distances[seen])
            self._row_prices[rows[seen]] += change
            prices[seen] -= change
        # Columns change their rows along the path, from its end to its start.
        while True:
            before, self.columns[row] = self.columns[row], column
            if column != _FREE:
                rows[column] = row
            if row == new:
                return cost
            column, row = before, previous[before]


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


def equivalence_classes(groups: pl.DataFrame) -> pl.DataFrame:
    """The representative of each member of an equivalence: `document`, `target`, `representative`.

    Equivalences that share a member are one.

    Examples:
        >>> rows = {"document": 0, "group": ["1", "1", "2", "2"], "member": ["A", "B", "B", "C"]}
        >>> equivalence_classes(pl.DataFrame(rows))["representative"].to_list()
        ['A', 'A', 'A']
    """
    equivalences: dict[tuple[int, str], int] = {}
    members: dict[tuple[int, str], int] = {}
    pairs = [
        Pair(
            equivalences.setdefault((document, group), len(equivalences)),
            members.setdefault((document, member), len(members)),
            weight=1,
        )
        for document, group, member in groups.select("document", "group", "member").iter_rows()
    ]
    targets = list(members)
    rows = {
        (*targets[pair.system], targets[connected[0].system][1])
        for connected in components(pairs)
        for pair in connected
    }
    schema = {"document": pl.Int64, "target": pl.String, "representative": pl.String}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def optimal(pairs: Sequence[Pair]) -> list[Pair]:
    """The one-to-one pairing of greatest total weight; among equals, one with most pairs.

    Args:
        pairs: candidates of positive weight; those left out are never paired.

    Examples:
        >>> optimal([Pair(1, 1, 6), Pair(1, 2, 5), Pair(2, 1, 5)])
        [Pair(reference=1, system=2, weight=5), Pair(reference=2, system=1, weight=5)]
    """
    found: list[Pair] = []
    for group in components(pairs):
        if len(group) == 1:
            found += group
            continue
        rows = {item: at for at, item in enumerate(sorted({pair.reference for pair in group}))}
        columns = {item: at for at, item in enumerate(sorted({pair.system for pair in group}))}
        size = min(len(rows), len(columns))
        # Weights are integers: each pair's bonus of one, below a unit of weight even if all have
        # it, decides between pairings of equal weight in favour of the one with more pairs.
        table = [[0] * len(columns) for _ in rows]
        for pair in group:
            table[rows[pair.reference]][columns[pair.system]] = pair.weight * (size + 1) + 1
        chosen = set(best_places(table, compiled=len(rows) * len(columns) > _LARGE))
        found += [pair for pair in group if (rows[pair.reference], columns[pair.system]) in chosen]
    return sorted(found)


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
    """The share of each system item in the greatest total weight, added in ascending order.

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


Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
#: One of so many candidates has to be sure for another round to be worth it.
_FEW = 50


def assign(rows: Numbers, columns: Numbers, weights: Weights) -> Mask:
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
        >>> assign(rows, columns, np.array([6, 5, 5])).tolist()
        [False, True, True]
    """
    rows, columns = (np.unique(items, return_inverse=True)[1] for items in (rows, columns))
    free = tuple(np.ones(items.max(initial=-1) + 1, dtype=np.bool_) for items in (rows, columns))
    chosen = np.zeros(len(rows), dtype=np.bool_)
    left = np.arange(len(rows))
    while len(left):
        # Of items without another choice, only the best candidate of each partner counts.
        sides = (rows[left], columns[left])
        useful = [_outbid_others(*pair, weights[left]) for pair in (sides, sides[::-1])]
        left = left[useful[0] & useful[1]]
        sure = left[_dominant(rows[left], columns[left], weights[left])]
        if len(sure) * _FEW < len(left):  # a chain would be taken one pair a round
            chosen[left[_solve(rows[left], columns[left], weights[left])]] = True
            break
        chosen[sure] = True
        free[0][rows[sure]] = free[1][columns[sure]] = False
        left = left[free[0][rows[left]] & free[1][columns[left]]]
    return chosen


def first_free(rows: Numbers, columns: Numbers, *keys: Weights) -> Mask:
    """Which candidates a greedy pairing takes: those whose items are both free at their turn.

    Args:
        rows: an item of one side for each candidate pair.
        columns: an item of the other side for each candidate pair.
        keys: by which candidates have their turns, the last one first; in their order without keys.

    Examples:
        >>> rows, columns = np.array([0, 0, 1]), np.array([0, 1, 1])
        >>> first_free(rows, columns).tolist()
        [True, False, True]
        >>> first_free(rows, columns, np.array([2, 1, 3])).tolist()
        [False, True, False]
    """
    # most items are in one pair, which nothing can take away
    chosen: Mask = np.all([pl.Series(items).is_unique() for items in (rows, columns)], axis=0)
    taken, taken_columns = set[int](), set[int]()
    rest = np.flatnonzero(~chosen)
    rest = rest[np.lexsort([key[rest] for key in keys])] if keys else rest
    candidates = zip(rest.tolist(), rows[rest].tolist(), columns[rest].tolist(), strict=True)
    for at, row, column in candidates:
        if row not in taken and column not in taken_columns:
            taken.add(row)
            taken_columns.add(column)
            chosen[at] = True
    return chosen


def greedy(rows: Numbers, columns: Numbers, weights: Weights) -> Mask:
    """The pairs that are taken by falling weight, ties in the order of rows and then of columns.

    Args:
        rows: an item of one side for each candidate pair.
        columns: an item of the other side for each candidate pair.
        weights: what each pair is worth; not-a-number is before all others.

    Examples:
        >>> greedy(np.array([1, 1, 2]), np.array([1, 2, 1]), np.array([6, 5, 5])).tolist()
        [True, False, False]
        >>> greedy(np.array([1, 1]), np.array([1, 2]), np.array([6, np.nan])).tolist()
        [False, True]
    """
    falling = -np.where(np.isnan(weights), np.inf, weights)
    return first_free(rows, columns, columns, rows, falling)


def _outbid_others(items: Numbers, partners: Numbers, weights: Weights) -> Mask:
    """All candidates, but of the partners of an item that have no other one, only the best."""
    alone = np.bincount(partners)[partners] == 1
    order = np.lexsort((-weights, ~alone, items))
    first = np.ones(len(items), dtype=np.bool_)
    first[order[1:]] = items[order[1:]] != items[order[:-1]]
    useful: Mask = ~alone | first
    return useful


def _dominant(rows: Numbers, columns: Numbers, weights: Weights) -> Numbers:
    """Candidates worth no less than the best two that would have to give way to them.

    Taking such a pair is never wrong: exchange it for the (at most two) pairs that hold its items
    in any assignment, and the total does not fall. No two of the result share an item.
    """
    sure = np.flatnonzero(weights >= _rival(rows, weights) + _rival(columns, weights))
    for items in (rows, columns):
        sure = sure[np.sort(np.unique(items[sure], return_index=True)[1])]
    return sure


def _rival(items: Numbers, weights: Weights) -> Weights:
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


def _solve(rows: Numbers, columns: Numbers, weights: Weights) -> Numbers:
    """The places of the pairs of an optimal assignment.

    Where all pairs that hang together are worth the same, as many as possible are taken (Hopcroft
    and Karp); elsewhere shortest augmenting paths are found, which ties make slow. There each row
    may also go with a partner of its own that is worth nothing, so that the solver, which wants a
    partner for each row, always finds one. Weights are raised by one: it takes a zero for no pair
    at all, and every row has exactly one partner.
    """
    from scipy.sparse import csgraph, csr_array

    def partners(part: Mask) -> tuple[Numbers, Numbers, Numbers, tuple[int, int]]:
        """The places of some pairs, their rows and columns as numbers, and how many there are."""
        places = np.flatnonzero(part)
        row, column = (np.unique(side[places], return_inverse=True)[1] for side in (rows, columns))
        return places, row, column, (int(row.max(initial=-1)) + 1, int(column.max(initial=-1)) + 1)

    _, row, column, (height, width) = partners(np.ones(len(rows), dtype=np.bool_))
    edges = (np.ones(len(row)), (row, height + column))
    graph = csr_array(edges, shape=(height + width, height + width))
    part = csgraph.connected_components(graph, directed=False)[1][row]
    least, most = np.full(part.max() + 1, weights.max()), np.zeros(part.max() + 1, weights.dtype)
    np.minimum.at(least, part, weights)
    np.maximum.at(most, part, weights)
    even = (least == most)[part]

    found = []
    places, row, column, shape = partners(even)
    if places.size:
        pairs = csr_array((np.ones(len(row)), (row, column)), shape=shape)
        partner = np.asarray(csgraph.maximum_bipartite_matching(pairs, perm_type="column"))
        found.append(places[partner[row] == column])
    places, row, column, (height, width) = partners(~even)
    if places.size:
        own = np.arange(height)
        raised = np.r_[weights[places] + 1, np.ones(height)]
        entries = (raised, (np.r_[row, own], np.r_[column, width + own]))
        matrix = csr_array(entries, shape=(height, width + height))
        partner = csgraph.min_weight_full_bipartite_matching(matrix, maximize=True)[1]
        found.append(places[np.asarray(partner)[row] == column])
    return np.concatenate(found)
