"""Emotions of parts of documents instead of instances: an option of the public scorer.

The annotated span of a document is divided into equal parts. A segment belongs to the part in which
more of it lies, and a part lasts from the first to the last of its segments. It has the labels of
these, unless half of them are `noann`; it then is not scored. The system has a label there if it
has an instance of it that overlaps the part, with the highest score of these.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from hlteval.representation.judgments import UNANNOTATED
from hlteval.scoring.ccu.spans import half_open, overlapping

_DOCUMENT = ("document", "genre", "text")
_HALF = 0.5


def parts_of_reference(decided: pl.DataFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """The labels of each part, `noann` among them; places as written.

    Args:
        decided: what is in each segment: `document`, `genre`, `text`, `label`, `start`, `end`.
        placed: all segments of these documents with their parts, as from `in_parts`.
    """
    extents = placed.group_by("document", "part").agg(
        first=pl.col("start").min(), last=pl.col("end").max()
    )
    key = [*_DOCUMENT, "part"]
    silent = pl.col("label") == UNANNOTATED
    labels = placed.join(decided, on=["document", "start", "end"], maintain_order="left")
    labels = labels.with_columns(most=silent.mean().over(key) >= _HALF)
    found = labels.filter(silent == pl.col("most")).unique([*key, "label"], maintain_order=True)
    found = found.join(extents, on=["document", "part"], maintain_order="left")
    return found.select(
        *_DOCUMENT, "label", status=pl.lit(None, dtype=pl.String), start="first", end="last"
    ).sort("document", "start", "label")


def in_parts(
    segments: pl.DataFrame, number: int, step: Callable[[pl.Expr], pl.Expr]
) -> pl.DataFrame:
    """Segments with the number of their `part`, from 0; places with three decimals.

    Args:
        segments: of whole documents: `document`, `start`, `end`.
        number: of parts.
        step: the length of a part but for the last one, from that of the annotated span.

    Examples:
        >>> rows = {"document": ["d"] * 3, "start": [0.0, 6.0, 9.0], "end": [6.0, 9.0, 20.0]}
        >>> in_parts(pl.DataFrame(rows), 2, lambda span: span / 2)["part"].to_list()
        [0, 0, 1]
    """
    rows = segments.with_columns(pl.col("start", "end").round(3))
    first, last = pl.col("start").min().over("document"), pl.col("end").max().over("document")
    bounds = [(first + part * step(last - first)).round(3) for part in range(1, number)]
    names = [f"bound_{part}" for part in range(len(bounds) + 1)]
    rows = rows.with_columns(*map(pl.Expr.alias, [*bounds, last], names))
    part = pl.sum_horizontal(pl.lit(0), *(pl.col(name) <= pl.col("start") for name in names[:-1]))
    rows = rows.with_columns(part=part)
    limit = pl.coalesce(
        *(pl.when(pl.col("part") == at).then(name) for at, name in enumerate(names))
    )
    later = (pl.col("end") - limit > limit - pl.col("start")) & (pl.col("part") < number - 1)
    return rows.with_columns(part=pl.col("part") + later).drop(names)


def parts_of_system(rows: pl.DataFrame, parts: pl.DataFrame) -> pl.DataFrame:
    """What a system has in each part, as instances with the places of the parts.

    Args:
        rows: instances of a system, places as written.
        parts: those of the reference, as from `parts_of_reference`.
    """
    own = half_open(parts.select(*_DOCUMENT, "start", "end").unique(maintain_order=True))
    left, right, _ = overlapping(half_open(rows), own, ("document",))
    found = pl.concat(
        [rows.select("label", "llr")[left], own.select(*_DOCUMENT, start="from", end="to")[right]],
        how="horizontal",
    )
    key = [*_DOCUMENT, "label", "start", "end"]
    best = found.group_by(key, maintain_order=True).agg(pl.col("llr").max())
    return best.with_columns(status=pl.lit(None, dtype=pl.String)).select(rows.columns)
