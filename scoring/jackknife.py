"""The delete-group jackknife: intervals of values that are computed from all documents at once.

Clusters run through documents and curves through ranks, so a document that a bootstrap draws twice
is not like two documents: its copy shares all of its clusters. The jackknife repeats nothing. It
leaves out one group of documents at a time; from how far the value moves follows its standard
error, and the interval is the value, plus and minus t standard errors with groups - 1 degrees of
freedom. It holds the value by construction. docs/intervals.md shows how often it covers the truth.

Conventions:
    Documents are taken by name and dealt into groups at random; the groups depend on the seed and
    on the number of documents only. Not-a-number is an undefined value.

References:
    Busing, Meijer and van der Leeden 1999 (groups of unequal sizes); Shao and Tu 1995.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hlteval.scoring.metric import Limits, Weights

#: How many groups there are at most; with fewer documents, each is a group.
GROUPS = 20

Values = NDArray[np.float64]
Sizes = NDArray[np.int64]


def groups(documents: int, seed: int, most: int = GROUPS) -> NDArray[np.int64]:
    """The group of each document.

    Args:
        documents: how many there are.
        seed: of the random numbers.
        most: how many groups there are at most.

    Examples:
        >>> sorted(groups(5, seed=0, most=2).tolist())
        [0, 0, 0, 1, 1]
    """
    dealt = np.arange(documents, dtype=np.int64) % max(1, min(documents, most))
    return np.random.default_rng(seed).permutation(dealt)


def deletions(group: NDArray[np.int64]) -> Weights:
    """The weights of the replicates: a row per group, which leaves its documents out.

    Examples:
        >>> deletions(np.array([0, 1, 1])).tolist()
        [[0, 1, 1], [1, 0, 0]]
    """
    numbers = np.arange(group.max(initial=-1) + 1)
    kept: Weights = (group[np.newaxis] != numbers[:, np.newaxis]).astype(np.int64)
    return kept


def standard_error(value: float, values: Values, sizes: Sizes) -> float:
    """The standard error of a value, from the values without each group.

    With h = documents / size of a group, the pseudo-value of a group is h · value - (h - 1) · value
    without it; the variance is the mean of (pseudo-value - their mean)² / (h - 1).

    Args:
        value: with all documents.
        values: without each group.
        sizes: how many documents each group has.

    Returns:
        The error; not-a-number where a value is undefined or there are fewer than two groups.

    Examples:
        >>> sample = np.array([1.0, 2.0, 6.0])  # of a mean, it is the well-known one
        >>> without = (sample.sum() - sample) / 2
        >>> error = standard_error(3.0, without, np.ones(3, int))
        >>> bool(np.isclose(error, sample.std(ddof=1) / 3**0.5))
        True
    """
    if len(values) < 2:
        return math.nan
    shares = sizes.sum() / sizes
    pseudo = shares * value - (shares - 1) * values
    return float(np.sqrt(np.mean((pseudo - pseudo.mean()) ** 2 / (shares - 1))))


def interval(
    value: float, values: Values, sizes: Sizes, confidence: float, within: Limits
) -> Limits | None:
    """The interval of a value; None where its error is undefined or 0.

    It is symmetric on the logit scale for a value between two limits, on the log scale for one with
    a lower limit only, and else as it is; and never leaves the limits.

    Args:
        value: with all documents.
        values: without each group.
        sizes: how many documents each group has.
        confidence: between 0 and 1.
        within: the limits of the value, infinite where it has none.

    Examples:
        >>> low, high = interval(0.5, np.array([0.4, 0.6]), np.array([1, 1]), 0.5, (0.0, 1.0))
        >>> 0 < low < 0.5 < high < 1
        True
        >>> interval(0.5, np.array([0.5, 0.5]), np.array([1, 1]), 0.5, (0.0, 1.0)) is None
        True
    """
    error = standard_error(value, values, sizes)
    if not error > 0:
        return None
    reach = float(_t((1 + confidence) / 2, len(values) - 1)) * error
    least, most = within
    if not least < value < most or math.isinf(least):
        return max(least, value - reach), min(most, value + reach)
    if math.isinf(most):
        factor = math.exp(min(reach / (value - least), _LARGEST))
        return least + (value - least) / factor, least + (value - least) * factor
    span = most - least
    share = (value - least) / span
    factor = math.exp(min(reach / span / (share * (1 - share)), _LARGEST))
    odds = share / (1 - share)
    low, high = odds / factor, odds * factor
    return least + span * low / (1 + low), least + span * high / (1 + high)


#: The largest exponent, so that nothing overflows.
_LARGEST = 500.0


def probability(difference: float, values: Values, sizes: Sizes) -> float:
    """How often chance alone gives a difference as large: Student's t over its standard error.

    Args:
        difference: with all documents.
        values: the difference without each group.
        sizes: how many documents each group has.

    Returns:
        Two-sided; 1 where there is no difference, not-a-number where it is undefined.
    """
    error = standard_error(difference, values, sizes)
    if difference == 0:
        return 1.0
    if not error > 0:
        return math.nan
    from scipy.special import stdtr

    return float(2 * stdtr(len(values) - 1, -abs(difference) / error))


def _t(share: float, freedom: int) -> float:
    """The quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))
