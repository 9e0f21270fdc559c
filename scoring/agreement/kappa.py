"""Cohen's and Fleiss' kappa: agreement beyond chance, from counts of judgments."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hlteval.scoring.agreement.ratings import Ratings, Values
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


def cohen_sums(ratings: Ratings) -> Values:
    """What Cohen's kappa of two annotators is computed from, by document.

    Returns:
        Of shape (documents, 3, categories): units that both put into the category, units that the
        first did, and units that the second did; of the units that both judged.
    """
    both = ratings.complete()
    first, second = both.values[:, 0], both.values[:, 1]
    same = both.where(first == second)
    tallies = (same.tally(same.values[:, 0]), both.tally(first), both.tally(second))
    return np.stack(tallies, axis=1)


def cohen(sums: Values) -> Values:
    """Cohen's kappa from `cohen_sums`: (p_o - p_e) / (1 - p_e).

    Cohen (1960), A coefficient of agreement for nominal scales. Not-a-number where both annotators
    use one and the same category only, and without units.

    Examples:
        >>> cohen(np.array([[[20.0, 15], [25, 25], [30, 20]]])).round(3).tolist()
        [0.4]
    """
    same, first, second = (sums[..., at, :] for at in range(3))
    units = first.sum(axis=-1)
    chance = (first * second).sum(axis=-1)
    return ratio(same.sum(axis=-1) * units - chance, units * units - chance)


def cohen_of_categories(sums: Values) -> Values:
    """Cohen's kappa of each category against all others.

    Returns:
        Of shape (…, categories).
    """
    same, first, second = (sums[..., at, :] for at in range(3))
    units = first.sum(axis=-1, keepdims=True)
    others = units - first - second + same
    chance = first * second + (units - first) * (units - second)
    return ratio((same + others) * units - chance, units * units - chance)


def observed(sums: Values) -> Values:
    """The share of units that both annotators put into the same category, from `cohen_sums`."""
    return ratio(sums[..., 0, :].sum(axis=-1), sums[..., 1, :].sum(axis=-1))


def weighted(sums: Mapping[str, Values]) -> Values:
    """Cohen's kappa with quadratic weights, from the sums of concordance over category indices.

    1 - mean of (x - y)² / its expectation where x and y are independent: Cohen (1968), Weighted
    kappa.
    """
    units, x, y, xx, yy, xy = (sums[name] for name in ("units", "x", "y", "xx", "yy", "xy"))
    distance = (xx + yy - 2 * xy) * units
    expected = (xx + yy) * units - 2 * x * y
    return 1 - ratio(distance, expected)


def fleiss_sums(ratings: Ratings) -> Values:
    """What Fleiss' kappa is computed from, by document.

    Returns:
        Of shape (documents, 2, categories): judgments of the category, and pairs of judgments of a
        unit that both are of it, each counted twice; of the units that all annotators judged.
    """
    whole = ratings.complete()
    judgments = sum(whole.tally(column) for column in whole.values.T)
    return np.stack([np.asarray(judgments), _pairs(whole)], axis=1)


def _pairs(ratings: Ratings) -> Values:
    """Ordered pairs of judgments of one unit that agree, by document and category."""
    pairs = np.zeros((ratings.size, len(ratings.categories)))
    for first, one in enumerate(ratings.values.T):
        for second, other in enumerate(ratings.values.T):
            if first != second:
                same = ratings.where(one == other)
                pairs += same.tally(same.values[:, first])
    return pairs


def fleiss(sums: Values, raters: int) -> Values:
    """Fleiss' kappa from `fleiss_sums`: (P - P_e) / (1 - P_e).

    Fleiss (1971), Measuring nominal scale agreement among many raters. Not-a-number where only one
    category is used, and without units.

    Args:
        sums: of shape (…, 2, categories).
        raters: the number of annotators.
    """
    judgments, pairs = sums[..., 0, :], sums[..., 1, :]
    whole = judgments.sum(axis=-1)
    chance = (judgments * judgments).sum(axis=-1)
    agreement = ratio(pairs.sum(axis=-1) * whole, np.asarray(raters - 1.0))
    return ratio(agreement - chance, whole * whole - chance)


def fleiss_of_categories(sums: Values, raters: int) -> Values:
    """Fleiss' kappa of each category.

    Returns:
        Of shape (…, categories).
    """
    judgments, pairs = sums[..., 0, :], sums[..., 1, :]
    whole = judgments.sum(axis=-1, keepdims=True)
    apart = ratio((raters - 1.0) * judgments - pairs, np.asarray(raters - 1.0))
    return 1 - ratio(apart * whole, judgments * (whole - judgments))
