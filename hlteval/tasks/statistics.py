"""What the metrics of a task mean: its figures, and what it measures where that is several.

A metric is named by what is measured and by a figure, `type.auc`; or by the figure alone. Tasks
declare both; docs/metrics.md is made from it, and which metrics are better where they are less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["more", "less", "neither"]


@dataclass(frozen=True, slots=True)
class StatisticInfo:
    """A figure of a task: the last part of the names of its metrics.

    Attributes:
        name: of the figure.
        meaning: what it says, for people.
        formula: how it is reckoned, in plain text, from other figures or from counts that
            `meaning` names.
        values: what it can be: its range, and its unit where it has one.
        better: which way is better, if either is.
        clause: of the specification that defines it.
    """

    name: str
    meaning: str
    formula: str = ""
    values: str = "0 to 1"
    better: Better = "more"
    clause: str = ""


@dataclass(frozen=True, slots=True)
class MeasureInfo:
    """Something that a task measures, all figures of it: the first part of the names of metrics.

    Attributes:
        name: of what is measured.
        meaning: what is compared, for people.
        formula: how its counts are made, in plain text.
        clause: of the specification that defines it.
    """

    name: str
    meaning: str
    formula: str = ""
    clause: str = ""


COUNT = "an integer ≥ 0"
"""The values of a figure that counts."""
