"""Assignment: who goes with whom so that the total is greatest, where few pairs share anything.

The candidates are a sparse table, however many items there are: nothing dense is ever made, and no
size is too large to be exact. Pairs that no better choice can stand in the way of are taken in
columns, round by round; a sparse shortest-path solver does what is left.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
