"""Which coefficients fit which scale, each as sums that add over documents and a value of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np

from hlteval.scoring.agreement import alpha, kappa
from hlteval.scoring.agreement.concordance import concordance
from hlteval.scoring.agreement.ratings import Ratings, Values
from hlteval.scoring.ratios import ratio

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

    def value(sums: Values, raters: int) -> Values:  # noqa: ARG001
        return function(sums)

    return value


def moments(ratings: Ratings) -> Values:
    """The sums of `MOMENTS` of two annotators, by document; values are taken from their mean."""
    both = ratings.complete()
    centre = both.values.mean() if both.values.size else 0.0
    x, y = (both.values[:, at] - centre for at in range(2))
    return both.added([np.ones_like(x), x, y, x * x, y * y, x * y])


def _named(sums: Values) -> dict[str, Values]:
    return {name: sums[..., at] for at, name in enumerate(MOMENTS)}


def _concordance(sums: Values) -> Values:
    return concordance(_named(sums), population=True)


def _weighted(sums: Values) -> Values:
    return kappa.weighted(_named(sums))


def found_sums(ratings: Ratings) -> Values:
    """Units that both of two annotators marked, that the first did, and that the second did."""
    judged = ratings.judged.astype(np.float64)
    return ratings.added([judged[:, 0] * judged[:, 1], judged[:, 0], judged[:, 1]])


def found(sums: Values) -> Values:
    """F1 of the units of one annotator against those of the other, whatever their category.

    Where annotators find the units themselves, the units that none of them marked are without
    number, and kappa approaches this F1: Hripcsak and Rothschild (2005), Agreement, the F-measure,
    and reliability in information retrieval.

    Examples:
        >>> found(np.array([3.0, 4, 6])).tolist()
        0.6
    """
    return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


#: Of units that annotators find themselves.
FOUND = Coefficient(
    "unit_f1", "F1 of the units that both marked, whatever category", "pair", found_sums, _of(found)
)
_OBSERVED = Coefficient(
    "agreement", "share of units in the same category", "pair", kappa.cohen_sums,
    _of(kappa.observed),
)  # fmt: skip
_COHEN = Coefficient(
    "kappa", "Cohen's kappa", "pair", kappa.cohen_sums, _of(kappa.cohen),
    _of(kappa.cohen_of_categories),
)  # fmt: skip
_FLEISS = Coefficient(
    "fleiss_kappa", "Fleiss' kappa of the units that all judged", "all", kappa.fleiss_sums,
    kappa.fleiss, kappa.fleiss_of_categories,
)  # fmt: skip
_ALPHA = partial(Coefficient, "alpha")
#: The coefficients of each scale, in the order in which they are shown.
COEFFICIENTS: Mapping[Scale, tuple[Coefficient, ...]] = MappingProxyType(
    {
        "nominal": (
            _OBSERVED,
            _COHEN,
            _FLEISS,
            _ALPHA(
                "Krippendorff's alpha, nominal", "all", alpha.nominal_sums, _of(alpha.nominal),
                _of(alpha.nominal_of_categories),
            ),
        ),
        "ordinal": (
            _OBSERVED,
            _COHEN,
            Coefficient(
                "weighted_kappa", "Cohen's kappa, quadratic weights", "pair", moments,
                _of(_weighted),
            ),
            _FLEISS,
            _ALPHA("Krippendorff's alpha, ordinal", "all", alpha.ordinal_sums, _of(alpha.ordinal)),
        ),
        "interval": (
            Coefficient(
                "ccc", "Lin's concordance correlation coefficient", "pair", moments,
                _of(_concordance),
            ),
            _ALPHA(
                "Krippendorff's alpha, interval", "all", alpha.interval_sums, _of(alpha.interval)
            ),
        ),
    }
)  # fmt: skip
