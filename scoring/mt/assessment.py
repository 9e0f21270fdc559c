"""What assessors see (section 15.2.3): justification segments, and the segments around them."""

from __future__ import annotations

import polars as pl

from hlteval.scoring.mt.options import Justifications


def table(aligned: pl.DataFrame, found: Justifications, neighbours: int) -> pl.DataFrame:
    """A row per frame and segment: the justification (`distance` 0) and its neighbours.

    Args:
        aligned: all segments, as `segments.paired` gives them.
        found: the frames that were judged correct, with their justifications.
        neighbours: how many segments before and after are shown.

    Returns:
        `document`, `justification`, `type` and `place` of the frame, `distance` (negative before
        the justification), `segment`, `source`, `references` (one per line) and `translation`.
    """
    frames = found.frames.unique(maintain_order=True).rename({"segment": "justification"})
    order = aligned.select("document", justification="segment", middle="order")
    placed = frames.join(order, on=["document", "justification"], maintain_order="left")
    texts = aligned.select(
        "document",
        "order",
        "segment",
        "source",
        pl.col("references").list.join("\n"),
        "translation",
    )
    rows = placed.join(texts, on="document", maintain_order="left_right")
    rows = rows.with_columns(distance=pl.col("order") - pl.col("middle"))
    shown = rows.filter(pl.col("distance").abs() <= neighbours)
    return shown.select(
        "document",
        "justification",
        "type",
        "place",
        "distance",
        "segment",
        "source",
        "references",
        "translation",
    )
