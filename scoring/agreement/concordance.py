"""Lin's concordance correlation coefficient of two series, from sums.

Conventions:
    Values are taken from a centre near their mean, so that sums of squares lose no digits. Sums of
    documents add.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hlteval.scoring.ratios import Numbers, ratio

#: A variance below this share of the mean square is what rounding leaves of 0.
_NOISE = 1e-12

Values = NDArray[np.float64]


def concordance(sums: Mapping[str, Numbers], *, population: bool = False) -> Values:
    """Lin's concordance correlation coefficient, r_c; not-a-number where it is undefined.

    r_c = 2 s_xy / ((mean of x - mean of y)² + s_x² + s_y²), where s_xy = r s_x s_y.

    Args:
        sums: arrays of equal shapes: `units`, how many pairs there are, and the sums `x`, `y`,
            `xx`, `yy` and `xy`.
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
