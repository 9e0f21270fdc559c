"""Curves of a report: precision by recall of each layer or class, and nDCG by rank."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.reports.html.sections import Curves, Line
from hlteval.results.scores import Scores

MOST_POINTS = 1500
"""The most points of a curve that are drawn; of more, some between the first and the last are."""


def curve_sections(scores: Scores) -> Iterator[Curves]:
    """The diagrams that scores have: of the tables `curve`, `pr` and `ndcg`."""
    if "ndcg" in scores.tables:
        points = scores.tables["ndcg"].drop_nulls(["k", "standard"])
        ranked = points.rename({"standard": "nDCG"})
        yield from _curves("nDCG by rank", [Line("nDCG", ranked)], axes=("k", "nDCG"))
    for table, key in (("curve", "layer"), ("pr", "class")):
        if table in scores.tables:
            groups = scores.tables[table].group_by(key, maintain_order=True)
            lines = [Line(str(name), _points(rows, scores.profile)) for (name,), rows in groups]
            yield from _curves(f"Precision and recall by {key}", lines)


def _points(rows: pl.DataFrame, profile: str) -> pl.DataFrame:
    """The points of a curve: in `plan` from recall 0, in `official` those of the script."""
    kept = [name for name in ("recall", "precision", "threshold", "tp", "fp", "fn") if name in rows]
    points = rows.select(kept).drop_nulls(["recall", "precision"])
    if profile == "official" or points.is_empty():
        return points.filter(pl.col("recall") > 0).sort("recall", "precision")
    first = points.head(1).select(
        pl.lit(value).cast(dtype).alias(name)
        for name, dtype in points.schema.items()
        for value in [{"recall": 0.0, "precision": points["precision"][0]}.get(name)]
    )
    return pl.concat([first, points.filter(pl.col("recall") > 0)])


def _curves(
    title: str, lines: list[Line], axes: tuple[str, str] = ("recall", "precision")
) -> Iterator[Curves]:
    """A section of the curves that have points; none without any."""
    drawn = [_thinned(line, axes) for line in lines if line.points.height]
    if drawn:
        most = max(line.points.height for line in lines)
        intro = "The pointer shows the values of a point."
        if most > MOST_POINTS:
            intro += f" Of curves with more than {MOST_POINTS:,} points, as many are drawn."
        yield Curves(title, intro, axes=axes, lines=drawn, rates=axes[0] == "recall")


def _thinned(line: Line, axes: tuple[str, str]) -> Line:
    """A curve with its axes first, and not more points than people can see."""
    others = [name for name in line.points.columns if name not in axes]
    points = line.points.select(*axes, *others)
    size = points.height
    if size > MOST_POINTS:
        chosen = [at * (size - 1) // (MOST_POINTS - 1) for at in range(MOST_POINTS)]
        points = points[chosen]
    return Line(line.name, points)
