"""Ratios of counts, many at a time; undefined where there is nothing to divide by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Numbers = NDArray[np.float64] | Whole


def ratio(part: Numbers, whole: Numbers) -> NDArray[np.float64]:
    """The ratios; not-a-number where the whole is 0.

    Examples:
        >>> ratio(np.array([1, 0]), np.array([4, 0])).tolist()
        [0.25, nan]
    """
    undefined = np.full(np.shape(part), np.nan)
    return np.divide(part, whole, out=undefined, where=np.asarray(whole) != 0)


def plain(values: Numbers) -> list[float | None]:
    """The values as Python's numbers; None where undefined.

    Examples:
        >>> plain(np.array([0.5, np.nan])), plain(np.array([2]))
        ([0.5, None], [2])
    """
    numbers: list[float] = values.tolist()
    return [None if value != value else value for value in numbers]  # noqa: PLR0124 - not-a-number
