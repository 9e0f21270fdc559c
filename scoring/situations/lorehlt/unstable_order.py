"""The order in which the public scorer puts situations of equal gravity in standard nDCG.

It sorts with the quicksort of NumPy 1.17, its version at that time, which is not stable: medians of
three, segments of up to 16 sorted by insertion, and the smaller part of a segment first. Later
versions on newer processors give another order.
"""

from __future__ import annotations

from collections.abc import Sequence

#: The last index of a segment that is sorted by insertion, counted from its first.
_SMALL = 15


def falling(values: Sequence[float]) -> list[int]:
    """The indices of values from the greatest to the least, as the public scorer sorts them.

    It sorts the reversed values, and reverses what comes out.

    Examples:
        >>> falling([1.0, 2.0, 1.0])
        [1, 0, 2]
    """
    last = len(values) - 1
    rising = _Quicksort(values[::-1]).indices()
    return [last - index for index in reversed(rising)]


class _Quicksort:
    """Indices of values, which are sorted in place."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values
        self.order = list(range(len(values)))

    def indices(self) -> list[int]:
        """The indices of the values, from the least to the greatest."""
        waiting = [(0, len(self.order) - 1)]
        while waiting:
            left, right = waiting.pop()
            while right - left > _SMALL:
                middle = self._partition(left, right)
                parts = (left, middle - 1), (middle + 1, right)
                if middle - left < right - middle:
                    (left, right), larger = parts
                else:
                    larger, (left, right) = parts
                waiting.append(larger)
            self._insert(left, right)
        return self.order

    def _partition(self, left: int, right: int) -> int:
        """Put what is less than a pivot before it, and what is greater after it; where it is."""
        order, values = self.order, self.values
        middle = left + (right - left) // 2
        for lower, upper in ((left, middle), (middle, right), (left, middle)):
            if values[order[upper]] < values[order[lower]]:
                self._swap(lower, upper)
        pivot = values[order[middle]]
        low, high = left, right - 1
        self._swap(middle, high)
        while True:
            low, high = low + 1, high - 1
            while values[order[low]] < pivot:
                low += 1
            while pivot < values[order[high]]:
                high -= 1
            if low >= high:
                break
            self._swap(low, high)
        self._swap(low, right - 1)
        return low

    def _insert(self, left: int, right: int) -> None:
        """Sort a segment by insertion, which keeps the order of equal values."""
        self.order[left : right + 1] = sorted(
            self.order[left : right + 1], key=self.values.__getitem__
        )

    def _swap(self, one: int, other: int) -> None:
        order = self.order
        order[one], order[other] = order[other], order[one]
