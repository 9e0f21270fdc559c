"""Krippendorff's alpha: agreement of any number of annotators, who need not judge every unit.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: alpha = 1 - D_o / D_e, where D_o is
the observed and D_e the expected disagreement. Both are sums over coincidences: each ordered pair
of judgments of one unit by different annotators, divided by the judgments of the unit less 1. A
unit that only one annotator judged has none.

Conventions:
    Sums add over documents. Alpha is not-a-number where there is one value only, or nothing.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from hlteval.scoring.agreement.ratings import Ratings, Values
from hlteval.scoring.ratios import ratio

#: An expected disagreement below this share of the squares is what rounding leaves of 0.
_NOISE = 1e-12


def nominal_sums(ratings: Ratings) -> Values:
    """What alpha of nominal categories is computed from, by document.

    Returns:
        Of shape (documents, 2, categories): values of the category in pairable units, and
        coincidences of it with itself.
    """
    several, counts = _pairable(ratings)
    values = np.zeros((several.size, len(several.categories)))
    same = np.zeros_like(values)
    for column in range(several.raters):
        own = several.where(several.judged[:, column])
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
        both = several.judged[:, first] & several.judged[:, second]
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
    """What alpha of numbers is computed from, by document.

    Returns:
        Of shape (documents, 4): pairable values, their sum, the sum of their squares, and the sum
        of squared differences of coincidences. Values are taken from their mean.
    """
    several, counts = _pairable(ratings)
    centred = several.values - (np.nanmean(several.values) if several.values.size else 0.0)
    total, squares = np.nansum(centred, axis=1), np.nansum(centred**2, axis=1)
    apart = 2 * (counts * squares - total**2) / (counts - 1)
    return several.added([counts, total, squares, apart])


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
