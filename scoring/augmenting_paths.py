"""Assignment of few items by shortest augmenting paths, one row after the other.

The method is that of Kuhn and Munkres in the form of Jonker and Volgenant. After each row the
assignment is optimal for the rows so far, so a sweep over prefixes of rows costs no more than one
assignment. Costs are Python integers: sums are exact, whatever their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
