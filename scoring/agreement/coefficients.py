"""Which coefficients fit which scale, each as sums that add over documents and a value of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hlteval.scoring.ratios import Numbers, ratio

# Ratings: what annotators judge of units, as a matrix, and its sums by document.


Codes = NDArray[np.int64]
Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Ratings:
    """The judgments of annotators.

    Attributes:
        values: a row per unit, a column per annotator: a number, or the index of a category;
            not-a-number where the annotator did not judge the unit.
        documents: the index of the document of each unit.
        size: how many documents there are.
        categories: their names, in order; empty where values are numbers.
    """

    values: Values
    documents: Codes
    size: int
    categories: tuple[str, ...] = ()

    @property
    def raters(self) -> int:
        """The number of annotators."""
        return int(self.values.shape[1])

    @property
    def is_judged(self) -> Chosen:
        """Which units each annotator judged."""
        return ~np.isnan(self.values)

    @property
    def judges(self) -> Codes:
        """How many annotators judged each unit."""
        judges: Codes = self.is_judged.sum(axis=1)
        return judges

    def pair(self, first: int, second: int) -> Ratings:
        """The ratings of two annotators of the units that either of them judged."""
        pair = replace(self, values=self.values[:, [first, second]])
        return pair.where(pair.judges > 0)

    def where(self, chosen: Chosen) -> Ratings:
        """The ratings of some units."""
        return replace(self, values=self.values[chosen], documents=self.documents[chosen])

    def complete(self) -> Ratings:
        """The ratings of the units that all annotators judged.

        Examples:
            >>> values = np.array([[1.0, 0.0], [1.0, np.nan]])
            >>> Ratings(values, np.array([0, 0]), 1).complete().values.tolist()
            [[1.0, 0.0]]
        """
        return self.where(self.judges == self.raters)

    def tally(self, values: Values, weights: Values | None = None) -> Values:
        """How often the units of each document have each category.

        Args:
            values: the category of each unit.
            weights: how much each unit counts; 1 if not given.

        Returns:
            A row per document, a column per category.

        Examples:
            >>> two = Ratings(np.array([[0.0], [1.0]]), np.array([0, 2]), 3, ("a", "b"))
            >>> two.tally(two.values[:, 0]).tolist()
            [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
        """
        size = len(self.categories)
        cells = self.documents * size + values.astype(np.int64)
        counts = np.bincount(cells, weights, minlength=self.size * size)
        return counts.reshape(self.size, size).astype(np.float64)

    def sums(self, columns: Sequence[Values]) -> Values:
        """The sums of columns over the units of each document.

        Returns:
            A row per document, a column per column.
        """
        sums = [np.bincount(self.documents, column, minlength=self.size) for column in columns]
        return np.stack(sums, axis=-1)


# Krippendorff's alpha: agreement of any number of annotators, who need not judge every unit.
#
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: alpha = 1 - D_o / D_e, where D_o
# is the observed and D_e the expected disagreement. Both are sums over coincidences: each ordered
# pair of judgments of one unit by different annotators, divided by the judgments of the unit less
# 1. A unit that only one annotator judged has none.
#
# Conventions:
#     Sums add over documents. Alpha is not-a-number where there is one value only, or nothing.


#: An expected disagreement below this share of the squares is what rounding leaves of 0.
_NOISE = 1e-12


def nominal_sums(ratings: Ratings) -> Values:
    """Sums for alpha of nominal categories, by document.

    Returns:
        Of shape (documents, 2, categories): values of the category in pairable units, and
        coincidences of it with itself.
    """
    several, counts = _pairable(ratings)
    values = np.zeros((several.size, len(several.categories)))
    same = np.zeros_like(values)
    for column in range(several.raters):
        own = several.where(several.is_judged[:, column])
        values += own.tally(own.values[:, column])
    for first, second in permutations(range(several.raters), 2):
        agree = several.values[:, first] == several.values[:, second]
        own = several.where(agree)
        same += own.tally(own.values[:, first], 1 / (counts[agree] - 1))
    return np.stack([values, same], axis=1)


def nominal(sums: Values) -> Values:
    """Alpha of nominal categories, from `nominal_sums`.

    Examples:
        >>> nominal(np.array([[[10.0, 6], [8, 4]]])).round(3).tolist()
        [0.5]
    """
    values, same = sums[..., 0, :], sums[..., 1, :]
    whole = values.sum(axis=-1)
    apart = whole - same.sum(axis=-1)
    expected = whole * whole - (values * values).sum(axis=-1)
    return 1 - ratio((whole - 1) * apart, expected)


def nominal_of_categories(sums: Values) -> Values:
    """Alpha of each category against all others.

    Returns:
        Of shape (…, categories).
    """
    values, same = sums[..., 0, :], sums[..., 1, :]
    whole = values.sum(axis=-1, keepdims=True)
    return 1 - ratio((whole - 1) * (values - same), values * (whole - values))


def ordinal_sums(ratings: Ratings) -> Values:
    """The coincidences of each category with each, by document.

    Returns:
        Of shape (documents, categories, categories).
    """
    several, counts = _pairable(ratings)
    size = len(several.categories)
    cells = np.zeros(several.size * size * size)
    for first, second in permutations(range(several.raters), 2):
        both = several.is_judged[:, first] & several.is_judged[:, second]
        own = several.where(both)
        codes = own.values[:, [first, second]].astype(np.int64)
        cell = (own.documents * size + codes[:, 0]) * size + codes[:, 1]
        cells += np.bincount(cell, 1 / (counts[both] - 1), minlength=cells.size)
    return cells.reshape(several.size, size, size)


def ordinal(sums: Values) -> Values:
    """Alpha of ordered categories, from `ordinal_sums`.

    The distance of c and k is the number of values from c to k, both ends counted half, squared.
    """
    values = sums.sum(axis=-1)
    upto = np.cumsum(values, axis=-1) - values / 2
    distance = (upto[..., :, np.newaxis] - upto[..., np.newaxis, :]) ** 2
    observed = (sums * distance).sum(axis=(-2, -1))
    products = values[..., :, np.newaxis] * values[..., np.newaxis, :]
    expected = (products * distance).sum(axis=(-2, -1))
    return 1 - ratio((values.sum(axis=-1) - 1) * observed, expected)


def interval_sums(ratings: Ratings) -> Values:
    """Sums for alpha of numbers, by document.

    Returns:
        Of shape (documents, 4): pairable values, their sum, the sum of their squares, and the sum
        of squared differences of coincidences. Values are taken from their mean.
    """
    several, counts = _pairable(ratings)
    centred = several.values - (np.nanmean(several.values) if several.values.size else 0.0)
    total, squares = np.nansum(centred, axis=1), np.nansum(centred**2, axis=1)
    apart = 2 * (counts * squares - total**2) / (counts - 1)
    return several.sums([counts, total, squares, apart])


def interval(sums: Values) -> Values:
    """Alpha of numbers, from `interval_sums`.

    The distance of two numbers is their difference, squared.
    """
    values, total, squares, apart = (sums[..., at] for at in range(4))
    expected = 2 * (values * squares - total * total)
    expected = np.where(expected <= _NOISE * values * squares, 0.0, expected)
    return 1 - ratio((values - 1) * apart, expected)


def _pairable(ratings: Ratings) -> tuple[Ratings, Values]:
    """The units that several annotators judged, and how many judged each."""
    counts = ratings.judges
    several = counts > 1
    return ratings.where(several), counts[several].astype(np.float64)


# Cohen's and Fleiss' kappa: agreement beyond chance, from counts of judgments.


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


def cohen_sums(ratings: Ratings) -> Values:
    """Sums for Cohen's kappa of two annotators, by document.

    Returns:
        Of shape (documents, 3, categories): units that both put into the category, units that the
        first did, and units that the second did; of the units that both judged.
    """
    both = ratings.complete()
    first, second = both.values[:, 0], both.values[:, 1]
    same = both.where(first == second)
    tallies = (same.tally(same.values[:, 0]), both.tally(first), both.tally(second))
    return np.stack(tallies, axis=1)


def cohen_kappa(sums: Values) -> Values:
    """Cohen's kappa from `cohen_sums`: (p_o - p_e) / (1 - p_e).

    Cohen (1960), A coefficient of agreement for nominal scales. Not-a-number where both annotators
    use one and the same category only, and without units.

    Examples:
        >>> cohen_kappa(np.array([[[20.0, 15], [25, 25], [30, 20]]])).round(3).tolist()
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


def agreement_rate(sums: Values) -> Values:
    """The share of units that both annotators put into the same category, from `cohen_sums`."""
    return ratio(sums[..., 0, :].sum(axis=-1), sums[..., 1, :].sum(axis=-1))


def fleiss_sums(ratings: Ratings) -> Values:
    """Sums for Fleiss' kappa, by document.

    Returns:
        Of shape (documents, 2, categories): judgments of the category, and pairs of judgments of a
        unit that both are of it, each counted twice; of the units that all annotators judged.
    """
    whole = ratings.complete()
    judgments = np.zeros((whole.size, len(whole.categories)))
    pairs = np.zeros_like(judgments)
    for column in whole.values.T:
        judgments += whole.tally(column)
    for first, second in permutations(whole.values.T, 2):
        same = first == second
        pairs += whole.where(same).tally(first[same])
    return np.stack([judgments, pairs], axis=1)


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


# Lin's concordance correlation coefficient of two series, from sums.
#
# Conventions:
#     Values are taken from a centre near their mean, so that sums of squares lose no digits. Sums
#     of documents add.


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
    variance_x, variance_y = (
        # Of a constant, rounding would leave a variance.
        ratio(np.where(deviations <= _NOISE * squares, 0.0 * deviations, deviations), freedom)
        for squares, deviations in (
            (sums["xx"], sums["xx"] - sums["x"] * mean_x),
            (sums["yy"], sums["yy"] - sums["y"] * mean_y),
        )
    )
    covariance = ratio(sums["xy"] - sums["x"] * mean_y, freedom)
    # Where one side is constant, rounding would leave a covariance.
    covariance = np.where((variance_x == 0) | (variance_y == 0), 0.0, covariance)
    return ratio(2 * covariance, (mean_x - mean_y) ** 2 + variance_x + variance_y)


Scale = Literal["nominal", "ordinal", "interval"]
#: The number of units that two annotators judged, and sums of values, squares and products.
MOMENTS = ("units", "x", "y", "xx", "yy", "xy")


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        name: of the coefficient.
        meaning: what it says, in one line.
        of: whether it is of each pair of annotators, or of all of them.
        sums: what it is computed from, of shape (documents, …).
        value: of sums of any shape (…, …) and of a number of annotators.
        of_categories: the same for each category against all others, in the last axis; None where
            the coefficient has no such value.
    """

    name: str
    meaning: str
    of: Literal["pair", "all"]
    sums: Callable[[Ratings], Values]
    value: Callable[[Values, int], Values]
    of_categories: Callable[[Values, int], Values] | None = None


def _of(function: Callable[[Values], Values]) -> Callable[[Values, int], Values]:
    """A function of sums for which the number of annotators makes no difference."""
    return lambda sums, _: function(sums)


def moments(ratings: Ratings) -> Values:
    """The sums of `MOMENTS` of two annotators, by document; values are taken from their mean."""
    both = ratings.complete()
    centre = both.values.mean() if both.values.size else 0.0
    x, y = (both.values[:, at] - centre for at in range(2))
    return both.sums([np.ones_like(x), x, y, x * x, y * y, x * y])


def concordance_of_moments(sums: Values) -> Values:
    """Lin's concordance correlation coefficient, of the moments of a population."""
    named = {name: sums[..., at] for at, name in enumerate(MOMENTS)}
    return concordance(named, population=True)


def quadratic_kappa(sums: Values) -> Values:
    """Cohen's kappa with quadratic weights, from `moments` of category indices.

    1 - mean of (x - y)² / its expectation where x and y are independent: Cohen (1968), Weighted
    kappa.
    """
    units, x, y, xx, yy, xy = (sums[..., at] for at in range(len(MOMENTS)))
    distance = (xx + yy - 2 * xy) * units
    expected = (xx + yy) * units - 2 * x * y
    return 1 - ratio(distance, expected)


def unit_sums(ratings: Ratings) -> Values:
    """Units that both of two annotators marked, that the first did, and that the second did."""
    judged = ratings.is_judged.astype(np.float64)
    return ratings.sums([judged[:, 0] * judged[:, 1], judged[:, 0], judged[:, 1]])


def unit_f1(sums: Values) -> Values:
    """F1 of the units of one annotator against those of the other, whatever their category.

    Where annotators find the units themselves, the units that none of them marked are without
    number, and kappa approaches this F1: Hripcsak and Rothschild (2005), Agreement, the F-measure,
    and reliability in information retrieval.

    Examples:
        >>> unit_f1(np.array([3.0, 4, 6])).tolist()
        0.6
    """
    return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


_BOTH_MARKED = "F1 of the units that both marked, whatever category"
#: Of units that annotators find themselves.
FOUND = Coefficient("unit_f1", _BOTH_MARKED, "pair", unit_sums, _of(unit_f1))
_AGREEMENT = Coefficient(
    "agreement", "share of units in the same category", "pair", cohen_sums, _of(agreement_rate)
)
_KAPPA = Coefficient(
    "kappa", "Cohen's kappa", "pair", cohen_sums, _of(cohen_kappa), _of(cohen_of_categories)
)
_QUADRATIC_KAPPA = Coefficient(
    "weighted_kappa", "Cohen's kappa, quadratic weights", "pair", moments, _of(quadratic_kappa)
)
_ALL_JUDGED = "Fleiss' kappa of the units that all judged"
_FLEISS = Coefficient("fleiss_kappa", _ALL_JUDGED, "all", fleiss_sums, fleiss, fleiss_of_categories)
_CCC = Coefficient(
    "ccc", "Lin's concordance correlation coefficient", "pair", moments, _of(concordance_of_moments)
)
_NOMINAL, _ORDINAL, _INTERVAL = (
    Coefficient("alpha", f"Krippendorff's alpha, {scale}", "all", sums, _of(value), of_categories)
    for scale, sums, value, of_categories in (
        ("nominal", nominal_sums, nominal, _of(nominal_of_categories)),
        ("ordinal", ordinal_sums, ordinal, None),
        ("interval", interval_sums, interval, None),
    )
)
#: The coefficients of each scale, in the order in which they are shown.
COEFFICIENTS: Mapping[Scale, tuple[Coefficient, ...]] = MappingProxyType(
    {
        "nominal": (_AGREEMENT, _KAPPA, _FLEISS, _NOMINAL),
        "ordinal": (_AGREEMENT, _KAPPA, _QUADRATIC_KAPPA, _FLEISS, _ORDINAL),
        "interval": (_CCC, _INTERVAL),
    }
)
