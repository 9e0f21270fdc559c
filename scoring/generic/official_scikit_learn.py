"""The numbers of scikit-learn: averages over the labels of either side, MCC 0 where undefined."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hlteval.scoring.generic.averages import Floats, LabelCounts, mean
from hlteval.scoring.generic.labels import Labels
from hlteval.scoring.generic.spans import Whole
from hlteval.scoring.ratios import Rates


@dataclass(frozen=True)
class OfficialLabels(Labels):
    """How scikit-learn averages."""

    def weighted_mean(
        self, rates: Rates[Floats], weights: Floats, counted: LabelCounts
    ) -> Rates[Floats]:
        """Without a label in the reference, all labels weigh alike."""
        means = super().weighted_mean(rates, weights, counted)
        alike = (mean(rate, np.ones_like(weights)) for rate in rates)
        return Rates(
            *(np.where(np.isnan(own), other, own) for own, other in zip(means, alike, strict=True))
        )

    def agreement(self, counted: LabelCounts, extras: Mapping[str, Whole]) -> tuple[Floats, Floats]:
        """The correlation coefficient is 0 where it is undefined."""
        kappa, correlation = super().agreement(counted, extras)
        return kappa, np.nan_to_num(correlation)
