"""Counts of SemEval 2013, task 9.1: pairs of spans that are right, or right in part.

A pair of spans with or without the same boundaries, and with or without the same label, is counted
by four measures. An unpaired span of the reference is missed, one of the system spurious.

| pair | strict | exact | partial | ent_type |
|---|---|---|---|---|
| same span, same label | correct | correct | correct | correct |
| same span, other label | incorrect | correct | correct | incorrect |
| overlap, same label | incorrect | incorrect | partial | correct |
| overlap, other label | incorrect | incorrect | partial | incorrect |

With possible = correct + incorrect + partial + missed, actual = correct + incorrect + partial +
spurious, a partial pair counts half: precision = (correct + partial / 2) / actual, and recall the
same over possible.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hlteval.scoring.metric import Replicates
from hlteval.scoring.ratios import ratio

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
MEASURES = ("strict", "exact", "partial", "ent_type")
OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")
#: The columns of counts.
ADDED = tuple(f"{measure}.{outcome}" for measure in MEASURES for outcome in OUTCOMES)
#: The metrics of a measure, in order.
FIGURES = (*OUTCOMES, "possible", "actual", "precision", "recall", "f1")


def outcomes(measure: str, *, same_span: Mask, same_label: Mask) -> Whole:
    """The index in `OUTCOMES` of pairs by a measure.

    Args:
        measure: its name.
        same_span: whether the spans of each pair are equal.
        same_label: whether its labels are.

    Examples:
        >>> yes = np.array([True, False])
        >>> outcomes("partial", same_span=~yes, same_label=yes).tolist()
        [2, 0]
    """
    correct = {
        "strict": same_span & same_label,
        "exact": same_span,
        "partial": same_span,
        "ent_type": same_label,
    }[measure]
    return np.where(correct, 0, 2 if measure == "partial" else 1)


def figures(counts: Mapping[str, Whole]) -> Replicates:
    """The metrics of all measures.

    Args:
        counts: the counts `ADDED` by name, an element per replicate.

    Examples:
        >>> counts = dict.fromkeys(ADDED, np.array([0])) | {"partial.partial": np.array([1])}
        >>> found = figures(counts | {"partial.spurious": np.array([1])})
        >>> float(found["partial.precision"][0]), float(found["partial.recall"][0])
        (0.25, 0.5)
    """
    found: Replicates = {}
    for measure in MEASURES:
        own = {outcome: counts[f"{measure}.{outcome}"] for outcome in OUTCOMES}
        paired = own["correct"] + own["incorrect"] + own["partial"]
        right = own["correct"] + own["partial"] / 2
        possible, actual = paired + own["missed"], paired + own["spurious"]
        rates = {
            "possible": possible,
            "actual": actual,
            "precision": ratio(right, actual),
            "recall": ratio(right, possible),
            "f1": ratio(2 * right, possible + actual),
        }
        every = (own | rates).items()
        found |= {f"{measure}.{name}": values.astype(np.float64) for name, values in every}
    return found
