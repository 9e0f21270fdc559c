"""The statistics of a task's metrics, and what it measures where that is several things.

A metric is named by what is measured and by a statistic, `type.auc`; or by the statistic alone.
Tasks declare both; docs/metrics.md, how values are shown, and which way is better follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Literal, NamedTuple

Better = Literal["more", "less", "neither"]


class Range(NamedTuple):
    """What a value can be.

    Attributes:
        text: its range, and its unit where it has one.
        kind: a `rate` is shown with four decimals; a `count` or another `number` without decimals
            where it is whole.
        least: the least that it can be.
        most: the most that it can be.
    """

    text: str
    kind: Literal["rate", "count", "number"] = "rate"
    least: float = -inf
    most: float = inf


RATE = Range("0 to 1", least=0.0, most=1.0)
SIGNED_RATE = Range("-1 to 1", least=-1.0, most=1.0)
RATIO = Range("≥ 0", least=0.0)
COUNT = Range("an integer ≥ 0", "count", least=0.0)
NUMBER = Range("a number ≥ 0", "number", least=0.0)

LOW, NORMAL, HIGH = 1, 2, 3
"""How important a statistic is to readers who cannot see all: details, most, the first to read."""
_IMPORTANCE = MappingProxyType({"rate": HIGH, "number": NORMAL, "count": LOW})


@dataclass(frozen=True, slots=True)
class StatisticInfo:
    """A statistic of a task: the last part of the names of its metrics.

    Attributes:
        name: of the statistic.
        meaning: what it says, for people.
        formula: how it is computed, in plain text, from other statistics or from counts that
            `meaning` names.
        values: what it can be, and with it how it is shown.
        better: which way is better, if either is.
        clause: of the specification that defines it.
        importance: `LOW`, `NORMAL` or `HIGH`: a terminal that is too narrow for all columns drops
            the least important. Where it is left out, rates are more important than numbers, and
            these than counts.
        grows: whether its mean grows with the number of documents, so that an interval is one for
            corpora of the same size (docs/intervals.md).
    """

    name: str
    meaning: str
    formula: str = ""
    values: Range = RATE
    better: Better = "more"
    clause: str = ""
    importance: int | None = None
    grows: bool = False

    @property
    def weight(self) -> int:
        """Its importance, declared or by what its values are.

        Examples:
            >>> StatisticInfo("f1", "").weight > StatisticInfo("cor", "", values=COUNT).weight
            True
        """
        return self.importance or _IMPORTANCE[self.values.kind]


@dataclass(frozen=True, slots=True)
class MeasureInfo:
    """Something that a task measures by all statistics: the first part of the names of metrics.

    Attributes:
        name: of what is measured.
        meaning: what is compared, for people.
        formula: how its counts are made, in plain text.
        clause: of the specification that defines it.
        statistics: the names of the statistics that it has; all of the task if empty.
    """

    name: str
    meaning: str
    formula: str = ""
    clause: str = ""
    statistics: tuple[str, ...] = ()
