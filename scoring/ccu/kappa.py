"""Cohen's kappa of two raters (plan, C.4.6), from the counts of their pairs of judgments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hlteval.scoring.ratios import plain, ratio

Weights = NDArray[np.float64] | NDArray[np.int64]


def kappas(pairs: Weights) -> NDArray[np.float64]:
    r"""Cohen's kappa of several confusion matrices at once.

    - p_o, the rate of agreement: what is on the diagonal, by the whole.
    - p_e, the rate of agreement due to chance: the sum over classes of the product of both shares.
    - K = (p_o - p_e) / (1 - p_e)

    Args:
        pairs: of shape (…, classes, classes): counts, or weights such as seconds, of what the first
            rater puts into the class of the row and the second into that of the column.

    Returns:
        Kappa of each matrix, of shape (…); not-a-number where p_e = 1 (both raters use one and the
        same class only) and for a matrix without weight.

    Raises:
        ValueError: if the last two sides differ.

    Examples:
        >>> kappas(np.array([[[20, 5], [10, 15]], [[7, 0], [0, 0]]])).round(3).tolist()
        [0.4, nan]
    """
    if pairs.ndim < 2 or pairs.shape[-1] != pairs.shape[-2]:
        raise ValueError(f"a confusion matrix has equal sides, not {pairs.shape}")
    weights = pairs.astype(np.float64)
    whole = weights.sum(axis=(-2, -1))
    first, second = weights.sum(axis=-1), weights.sum(axis=-2)
    agreement = np.trace(weights, axis1=-2, axis2=-1) * whole
    chance = (first * second).sum(axis=-1)
    # Of fractional weights, rounding would leave a difference where p_e is exactly 1.
    used = np.count_nonzero((first > 0) | (second > 0), axis=-1)
    return ratio(agreement - chance, np.where(used > 1, whole * whole - chance, 0.0))


def kappa(pairs: Weights) -> float | None:
    r"""Cohen's kappa of a confusion matrix; None where it is undefined, see `kappas`.

    Examples:
        >>> kappa(np.array([[2.5, 0.0], [0.0, 1.5]])), kappa(np.array([[3, 0], [0, 0]]))
        (1.0, None)
        >>> kappa(np.array([[3, 0], [1, 0]]))
        0.0
    """
    return plain(kappas(pairs)[np.newaxis])[0]
