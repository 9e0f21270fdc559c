"""Ratios of counts, many at a time; undefined where there is nothing to divide by.

Precision, recall and F1 are computed here for all tasks, for values and for their intervals, from
arrays of counts or from columns of a table. Undefined is not-a-number in arrays, null in columns.
What the public software prints instead is in the files of that name.
"""

from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Numbers = NDArray[np.float64] | Whole
Rate = TypeVar("Rate", NDArray[np.float64], pl.Expr)


class Rates(NamedTuple, Generic[Rate]):
    """Precision, recall and F1."""

    precision: Rate
    recall: Rate
    f1: Rate


def ratio(part: Numbers, whole: Numbers) -> NDArray[np.float64]:
    """The ratios; not-a-number where the whole is 0.

    Examples:
        >>> ratio(np.array([1, 0]), np.array([4, 0])).tolist()
        [0.25, nan]
    """
    undefined = np.full(np.shape(part), np.nan)
    return np.divide(part, whole, out=undefined, where=np.asarray(whole) != 0)


def quotient(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """The ratios of two columns; null where the whole is 0.

    Examples:
        >>> counts = pl.DataFrame({"right": [1, 0], "all": [4, 0]})
        >>> counts.select(quotient(pl.col("right"), pl.col("all"))).to_series().to_list()
        [0.25, None]
    """
    return pl.when(whole != 0).then(part / whole)


@overload
def rates(right: Numbers, predicted: Numbers, expected: Numbers) -> Rates[NDArray[np.float64]]: ...
@overload
def rates(right: pl.Expr, predicted: pl.Expr, expected: pl.Expr) -> Rates[pl.Expr]: ...
def rates(right: Any, predicted: Any, expected: Any) -> Rates[Any]:
    """Precision, recall and F1 where both sides have the same right items.

    F1 is 0 where nothing is right, and undefined only where neither side has anything.

    Args:
        right: how many items, or what weight of them, both sides have.
        predicted: how many the system has.
        expected: how many the reference has.

    Examples:
        >>> [float(rate) for rate in rates(np.array(1), np.array(2), np.array(4))]
        [0.5, 0.25, 0.3333333333333333]
        >>> [float(rate) for rate in rates(np.array(0), np.array(0), np.array(4))]
        [nan, 0.0, 0.0]
    """
    divide: Any = quotient if isinstance(right, pl.Expr) else ratio
    f1 = divide(2 * right, predicted + expected)
    return Rates(divide(right, predicted), divide(right, expected), f1)


@overload
def harmonic(one: Numbers, other: Numbers) -> NDArray[np.float64]: ...
@overload
def harmonic(one: pl.Expr, other: pl.Expr) -> pl.Expr: ...
def harmonic(one: Any, other: Any) -> Any:
    """The harmonic mean of two rates; undefined where both are 0.

    It is F1 where what is right is another number on each side.

    Examples:
        >>> harmonic(np.array([0.5, 0.0]), np.array([1.0, 0.0])).tolist()
        [0.6666666666666666, nan]
    """
    divide: Any = quotient if isinstance(one, pl.Expr) else ratio
    return divide(2 * one * other, one + other)


def side_rates(
    found: pl.Expr, predicted: pl.Expr, met: pl.Expr, expected: pl.Expr
) -> Rates[pl.Expr]:
    """Precision, recall and their harmonic mean where each side has its own right items.

    F1 is 0 where nothing is right, and undefined only where neither side has anything.

    Args:
        found: how much of what the system has is right.
        predicted: how much it has.
        met: how much of what the reference has is right.
        expected: how much it has.

    Examples:
        >>> one, two = pl.lit(1), pl.lit(2)
        >>> found = pl.select(**side_rates(one, two, two, two)._asdict())
        >>> found.row(0)
        (0.5, 1.0, 0.6666666666666666)
    """
    precision, recall = quotient(found, predicted), quotient(met, expected)
    some = predicted + expected > 0
    return Rates(precision, recall, pl.when(some).then(harmonic(precision, recall).fill_null(0.0)))


def plain(values: Numbers) -> list[float | None]:
    """The values as Python's numbers; None where undefined.

    Examples:
        >>> plain(np.array([0.5, np.nan])), plain(np.array([2]))
        ([0.5, None], [2])
    """
    numbers: list[float] = values.tolist()
    return [None if value != value else value for value in numbers]  # noqa: PLR0124 - not-a-number
