"""The numbers of seqeval 1.2: macro over the labels of either side, 0 / 0 is 0.

The spans are those of the reader, with `repair = "seqeval"` for its default mode and
`"seqeval-strict"` for its strict mode.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from hlteval.scoring.generic.averages import Floats, LabelCounts
from hlteval.scoring.generic.mentions import Mentions
from hlteval.scoring.generic.spans import Whole
from hlteval.scoring.metric import Replicates
from hlteval.scoring.ratios import Rates

#: The options that the preset sets, where a declaration does not.
PRESET: Mapping[str, object] = MappingProxyType({"macro_over": "seen", "undefined": 0})


@dataclass(frozen=True)
class OfficialSeqeval(Mentions):
    """How seqeval averages."""

    def weighted(
        self, rates: Rates[Floats], weights: Floats, counted: LabelCounts
    ) -> Rates[Floats]:
        """Without an entity in the reference, precision and F1 depend on the system."""
        means = super().weighted(rates, weights, counted)
        zero = 1.0 if self.options.undefined == 1 else 0.0
        nothing = weights.sum(1) == 0
        silent = np.where(counted.counts[:, :, 1].sum(1) == 0, zero, 0.0)
        values = (silent, np.full(len(silent), zero), silent)
        pairs = zip(values, means, strict=True)
        return Rates(*(np.where(nothing, value, mean) for value, mean in pairs))

    def values(self, counted: LabelCounts, extras: Mapping[str, Whole]) -> Replicates:
        """The averages and the accuracy of tokens; seqeval knows no counts of SemEval."""
        known = super().values(counted, extras)
        return {name: known[name] for name in known if _is_known(name)}


def _is_known(name: str) -> bool:
    """Whether seqeval has a value."""
    return name == "token_accuracy" or name.partition(".")[0] in {"micro", "macro", "weighted"}
