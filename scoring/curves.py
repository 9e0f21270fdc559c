"""Curves of precision and recall: cuts through a ranked list, and the area below."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from hlteval.scoring.similarity import UNIT

PERCENTILES = 100
#: What is reported of the last cut, by the names of the table `scorings`.
LAST = {
    "Precision": "precision",
    "Recall": "recall",
    "True Positives": "tp",
    "False Positives": "fp",
    "False Negatives": "fn",
}


def cuts(size: int) -> list[int]:
    """How many of a ranked list the cuts take: percentiles at exponentially growing intervals.

    Args:
        size: the length of the list.

    Returns:
        0, the different `size ** (j / 100)` below `size`, rounded, and `size`.

    Examples:
        >>> cuts(5)
        [0, 1, 2, 3, 4, 5]
        >>> len(cuts(123_173))
        91
    """
    if size == 0:
        return [0]
    step = size ** (1 / PERCENTILES)
    inner = {round(step**number) for number in range(1, PERCENTILES + 1)}
    return sorted({0, *(cut for cut in inner if cut < size), size})


@dataclass(frozen=True, slots=True)
class Point:
    """The counts at one cut: `matched` in units of 1/`UNIT`, `frames` after merging."""

    cut: int
    threshold: float | None
    matched: int
    frames: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of a layer, by rising cut.

    Attributes:
        points: the counts at each cut.
        references: the number of reference frames.
        by_rank: whether the cuts are those of the official script; it takes the precision of a cut
            without a true positive for 1.
        split_ties: the number of cuts that divide frames of equal confidence.
    """

    points: tuple[Point, ...]
    references: int
    by_rank: bool
    split_ties: int = 0

    def recall(self, point: Point) -> float | None:
        """True positives among the reference frames; undefined without any."""
        return point.matched / (self.references * UNIT) if self.references else None

    def precision(self, point: Point) -> float | None:
        """True positives among the system's frames; undefined without any."""
        if self.by_rank and not point.matched:
            return 1.0
        return point.matched / (point.frames * UNIT) if point.frames else None

    @property
    def beyond_zero(self) -> list[tuple[float, float]]:
        """Recall and precision of the points with true positives, by rising recall.

        Points of equal recall are in the order of their cuts, so precision falls: the curve drops
        where frames are added in vain. The official script sorts them by rising precision.
        """
        if not self.references:
            return []
        some = (point for point in self.points if point.matched)
        found = [(self.recall(point) or 0.0, self.precision(point) or 0.0) for point in some]
        return sorted(found) if self.by_rank else found

    @property
    def anchor(self) -> float | None:
        """The precision of the first cut that holds a frame of the layer."""
        first = next((point for point in self.points if point.frames), None)
        return first.matched / (first.frames * UNIT) if first else None

    def area(self, *, anchored: bool) -> float | None:
        """The area below the curve, by trapezoids.

        Args:
            anchored: whether the curve begins at recall 0, at the height of its first point.

        Returns:
            The area; undefined where recall is, and unanchored for fewer than two points. It is 0
            if the system has no frames.
        """
        points = self.beyond_zero
        if anchored:
            if not self.references:
                return None
            return trapezoid([(0.0, self.anchor or 0.0), *points])
        return trapezoid(points) if len(points) > 1 else None

    def best_f1(self) -> float | None:
        """The largest F1 of a point; undefined where neither side has frames."""
        sizes = ((2 * point.matched, point.frames + self.references) for point in self.points)
        return max((hits / (size * UNIT) for hits, size in sizes if size), default=None)

    def rows(self) -> Iterator[dict[str, float | int | None]]:
        """The points as rows of a table."""
        for point in self.points:
            yield {
                "cut": point.cut,
                "threshold": point.threshold,
                "tp": point.matched / UNIT,
                "fp": (point.frames * UNIT - point.matched) / UNIT,
                "fn": (self.references * UNIT - point.matched) / UNIT,
                "precision": self.precision(point),
                "recall": self.recall(point),
            }

    def last(self) -> dict[str, float | None]:
        """The counts when all frames are taken."""
        row = list(self.rows())[-1]
        return {name: row[column] for name, column in LAST.items()}


def trapezoid(points: Sequence[tuple[float, float]]) -> float:
    """The area below points that are sorted by their first coordinate.

    Examples:
        >>> trapezoid([(0.0, 1.0), (0.5, 1.0), (1.0, 0.5)])
        0.875
    """
    steps = pairwise(points)
    return sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in steps)


def curve(submitted: pl.DataFrame, changes: pl.DataFrame, *, by_rank: bool) -> Curve:
    """The curve of a layer.

    Args:
        submitted: `document`, `record` and `confidence` of every frame that was submitted.
        changes: what frames add to the layer: `document`, `record`, `confidence`, `matched`,
            `frames`; and the `references`.
        by_rank: whether a cut takes just so many frames, equal confidences in the order of the
            file; else it takes all frames that are as confident as the last it takes.
    """
    ranked = submitted.select("document", "confidence", "record").sort(
        "confidence", "record", descending=[True, False], maintain_order=True
    )
    added = changes.filter(pl.col("confidence").is_not_null())
    frame = ["document", "record", "confidence"]
    added = added.group_by(frame).agg(pl.col("matched", "frames").sum())
    ranked = ranked.join(added, on=frame, how="left", maintain_order="left")
    # Several frames of a saved corpus can be one record: what they add counts once.
    once = ranked.select(
        pl.col("matched", "frames").fill_null(0) * pl.struct(frame).is_first_distinct()
    )
    matched = np.cumsum(once["matched"].to_numpy())
    frames = np.cumsum(once["frames"].to_numpy())
    confidences = ranked["confidence"].to_numpy()
    wanted, split = cuts(ranked.height), 0
    if wanted[-1]:
        falling = -confidences
        ends = {
            cut: int(np.searchsorted(falling, falling[cut - 1], "right")) for cut in wanted if cut
        }
        split = sum(cut != end for cut, end in ends.items())
        wanted = wanted if by_rank else [0, *sorted(set(ends.values()))]
    points = tuple(
        Point(cut, float(confidences[cut - 1]), int(matched[cut - 1]), int(frames[cut - 1]))
        if cut
        else Point(0, None, 0, 0)
        for cut in wanted
    )
    return Curve(points, int(changes["references"].sum()), by_rank, split)
