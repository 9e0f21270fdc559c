"""Emotions of parts of documents instead of instances: an option of the public scorer.

The annotated span of a document is divided into equal parts. A segment belongs to the part in which
more of it lies, and a part lasts from the first to the last of its segments. It has the labels of
these, unless half of them are `noann`; it then is not scored. The system has a label there if it
has an instance of it that overlaps the part, with the highest score of these.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation.judgments import UNANNOTATED
from hlteval.scoring.ccu.spans import half_open, overlapping

_DOCUMENT = ("document", "genre", "text")
_HALF = 0.5


def parts_of_reference(
    decided: pl.DataFrame, segments: pl.DataFrame, number: int, *, official: bool
) -> pl.DataFrame:
    """The labels of each part, `noann` among them; places as written.

    Args:
        decided: what is in each segment: `document`, `genre`, `text`, `label`, `start`, `end`.
        segments: all segments of these documents: `document`, `start`, `end`.
        number: of parts.
        official: whether parts have whole lengths where the span cannot be divided.
    """
    placed = _placed(
        segments.with_columns(pl.col("start", "end").round(3)), number, official=official
    )
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


def _placed(segments: pl.DataFrame, number: int, *, official: bool) -> pl.DataFrame:
    """Segments with the number of their `part`."""
    first, last = (pl.col("start").min().over("document"), pl.col("end").max().over("document"))
    rows = segments.with_columns(first=first, span=last - first)
    step = pl.col("span") / number
    if official:
        # the public scorer multiplies with a binary fraction, and takes the rest for a remainder
        step = pl.col("span") * (1 / number)
        whole = pl.col("span") % step == 0
        step = pl.when(whole).then(step).otherwise(step.floor())
    rows = rows.with_columns(step=step)
    index = ((pl.col("start") - pl.col("first")) / pl.col("step")).floor()
    rows = rows.with_columns(part=index.clip(0, number - 1))
    limit = pl.col("first") + (pl.col("part") + 1) * pl.col("step")
    later = (pl.col("end") - limit > limit - pl.col("start")) & (pl.col("part") < number - 1)
    return rows.with_columns(part=pl.col("part") + later).drop("first", "span", "step")


def parts_of_system(rows: pl.DataFrame, parts: pl.DataFrame) -> pl.DataFrame:
    """What a system has in each part, as instances with the places of the parts.

    Args:
        rows: instances of a system, places as written.
        parts: those of the reference, as from `parts_of_reference`.
    """
    own = half_open(parts.select(*_DOCUMENT, "start", "end").unique(maintain_order=True))
    left, right, _ = overlapping(half_open(rows), own, ("document",))
    found = pl.concat(
        [
            rows.select("label", "llr")[left],
            own.select(*_DOCUMENT, start="from", end="to")[right],
        ],
        how="horizontal",
    )
    key = [*_DOCUMENT, "label", "start", "end"]
    best = found.group_by(key, maintain_order=True).agg(pl.col("llr").max())
    return best.with_columns(status=pl.lit(None, dtype=pl.String)).select(rows.columns)
