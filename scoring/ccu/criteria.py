"""When a pair of instances is correct: the distance functions of the CCU Phase 1 plan.

Table 13 says an agreement of 0.2: `>=` as in Appendix A, not `>` as in Tables 1 and 8.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

_WRITTEN = re.compile(r"(?:(iou|intersection):(gte?):)?((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))")


class Criterion(NamedTuple):
    """How similar a pair must be.

    Attributes:
        written: as the user wrote it.
        measure: what is compared: the ratio of intersection and union, or the intersection alone.
        strict: whether it must be greater than the limit.
        least: the limit: a ratio, or seconds or characters.
    """

    written: str = "0.2"
    measure: Literal["iou", "intersection"] = "iou"
    strict: bool = False
    least: float = 0.2

    def holds(
        self, *, iou: NDArray[np.float64], intersection: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Whether pairs are similar enough.

        Examples:
            >>> Criterion().holds(iou=np.array([0.2, 0.1]), intersection=np.array([1, 1])).tolist()
            [True, False]
        """
        values = iou if self.measure == "iou" else intersection
        return values > self.least if self.strict else values >= self.least


def criterion(written: str) -> Criterion:
    """A criterion from its notation: `0.2`, `iou:gt:0.5` or `intersection:gte:3`.

    Raises:
        ValueError: for anything else, or a ratio above 1.

    Examples:
        >>> criterion("intersection:gt:0")
        Criterion(written='intersection:gt:0', measure='intersection', strict=True, least=0.0)
    """
    found = _WRITTEN.fullmatch(written)
    if not found:
        raise ValueError(
            f"{written} is not a ratio such as 0.2, nor like iou:gt:0.5 or intersection:gte:3"
        )
    measure: Literal["iou", "intersection"] = (
        "intersection" if found[1] == "intersection" else "iou"
    )
    least = float(found[3])
    if measure == "iou" and least > 1:
        raise ValueError(f"an IoU is at most 1, not {found[3]}")
    return Criterion(written, measure, found[2] == "gt", least)
