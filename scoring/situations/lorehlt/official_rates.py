"""Rates of frames as the public scorer of LoReHLT 2019 has them, from scikit-learn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hlteval.scoring import ratios
from hlteval.scoring.ratios import Rates, Whole, harmonic


def official_rates(right: Whole, predicted: Whole, expected: Whole) -> Rates[NDArray[np.float64]]:
    """Precision, recall and F1 of both; 0 where nothing can be divided.

    Examples:
        >>> [float(rate) for rate in official_rates(np.array(0), np.array(0), np.array(4))]
        [0.0, 0.0, 0.0]
    """
    precision, recall, _ = map(np.nan_to_num, ratios.rates(right, predicted, expected))
    return Rates(precision, recall, np.nan_to_num(harmonic(precision, recall)))
