"""The sums from which concordance (C.4.5) and kappa of points (C.4.6) of levels are computed.

Conventions:
    Levels are taken from `CENTRE`, so that sums of squares lose no digits. Sums of documents add.
"""

from __future__ import annotations

import polars as pl

#: The middle of the levels of the plan.
CENTRE = 500
#: The number of units, and sums of levels (x: reference, y: system), squares and products.
MOMENTS = ("units", "x", "y", "xx", "yy", "xy")
#: The least levels of the second and the third point of the scales of three points.
POINTS = (300, 700)
#: Units by the point of the reference and that of the system.
CELLS = tuple(f"cell_{row}{column}" for row in range(3) for column in range(3))


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
