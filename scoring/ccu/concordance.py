"""How two series of levels agree, from sums: concordance (C.4.5) and kappa of points (C.4.6).

Conventions:
    Levels are taken from `CENTRE`, so that sums of squares lose no digits. Sums of documents add.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.ratios import Numbers, ratio

CENTRE = 500
"""The middle of the levels of the plan."""
MOMENTS = ("units", "x", "y", "xx", "yy", "xy")
"""The number of units, and sums of levels (x: reference, y: system), squares and products."""
POINTS = (300, 700)
"""The least levels of the second and the third point of the scales of three points."""
CELLS = tuple(f"cell_{row}{column}" for row in range(3) for column in range(3))
"""Units by the point of the reference and that of the system."""
_NOISE = 1e-12
"""A variance below this share of the mean square is what rounding leaves of 0."""

Values = NDArray[np.float64]


def moments(centre: float) -> list[pl.Expr]:
    """The sums of units of equal levels: `MOMENTS`, with levels taken from a centre."""
    units = pl.col("units")
    x, y = pl.col("reference") - centre, pl.col("system") - centre
    products = {"x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    sums = [(units * product).sum().alias(name) for name, product in products.items()]
    return [units.sum(), *sums]


def cells() -> list[pl.Expr]:
    """How many units are in each cell of the confusion matrix of points: `CELLS`.

    Negative, neutral and positive valence, or low, medium and high arousal: 1 to 299, 300 to 699
    and 700 to 1000. Averages between two points belong to the lower one.
    """
    cell = 3 * _point("reference") + _point("system")
    return [
        pl.col("units").filter(cell == number).sum().alias(name)
        for number, name in enumerate(CELLS)
    ]


def _point(side: str) -> pl.Expr:
    return sum((pl.col(side) >= least).cast(pl.Int8) for least in POINTS)  # type: ignore[return-value]


def concordance(sums: Mapping[str, Numbers], *, population: bool = False) -> Values:
    """Lin's concordance correlation coefficient, r_c; not-a-number where it is undefined.

    r_c = 2 s_xy / ((mean of x - mean of y)² + s_x² + s_y²), where s_xy = r s_x s_y.

    Args:
        sums: an array per name of `MOMENTS`, of equal shapes.
        population: whether moments are those of a population, divided by n and not by n - 1.

    Examples:
        >>> x, y = np.array([1.0, 2, 3]), np.array([2.0, 2, 5])
        >>> sums = {"units": 3, "x": x.sum(), "y": y.sum()}
        >>> sums |= {"xx": x @ x, "yy": y @ y, "xy": x @ y}
        >>> concordance({name: np.array([value]) for name, value in sums.items()}).tolist()
        [0.6]
    """
    units = sums["units"]
    mean_x, mean_y = ratio(sums["x"], units), ratio(sums["y"], units)
    freedom = units - (0 if population else 1)
    variance_x = ratio(_central(sums["xx"], sums["x"] * mean_x), freedom)
    variance_y = ratio(_central(sums["yy"], sums["y"] * mean_y), freedom)
    covariance = ratio(sums["xy"] - sums["x"] * mean_y, freedom)
    # Where one side is constant, rounding would leave a covariance.
    covariance = np.where((variance_x == 0) | (variance_y == 0), 0.0, covariance)
    return ratio(2 * covariance, (mean_x - mean_y) ** 2 + variance_x + variance_y)


def _central(squares: Numbers, of_means: Values) -> Values:
    """Sums of squared deviations."""
    central = squares - of_means
    return np.where(central <= _NOISE * squares, 0.0 * central, central)
