"""Decision units (Appendix B, step 1): characters of text, windows of audio and video.

Units of equal levels are one row. A stretch in which no level changes has as many windows as lie
inside it; only windows with a breakpoint inside are averaged.

Conventions:
    Rows of `document`, `start`, `end`, `units` (how many units lie between both), `reference` and
    `system` (levels; not-a-number in a no-score region, null where the side has none), and
    `reference_length` and `system_length` (how much of the units each side covers).
"""

from __future__ import annotations

import polars as pl

from hlteval.scoring.ccu.level_spans import SIDES

UNITS = ("document", "start", "end", "units", *SIDES, "reference_length", "system_length")


def characters(stretches: pl.DataFrame) -> pl.DataFrame:
    """The characters of stretches of text: a level is that of each of them."""
    length = pl.col("end") - pl.col("start")
    units = stretches.with_columns(units=length.cast(pl.Int64), **_lengths(length))
    return units.select(UNITS)


def windows(stretches: pl.DataFrame, size: float) -> pl.DataFrame:
    """The windows of stretches of audio and video; the last of a document may be shorter.

    AverageLevel(S, t1, t2) is the sum of Level(s) * TimeOverlap(s, t1, t2) over the segments,
    divided by the time that is covered. A window that touches a no-score region has no level.

    Args:
        stretches: of documents whose windows begin at 0.
        size: of a window, in the unit of the stretches.

    Examples:
        >>> row = {"document": 0, "reference": 1.0, "system": 5.0}
        >>> parts = [row | {"start": 0, "end": 5}, row | {"start": 5, "end": 7, "system": 8.0}]
        >>> windows(pl.DataFrame(parts), 2).select("start", "units", "system").rows()
        [(0.0, 2, 5.0), (4.0, 1, 6.5), (6.0, 1, 8.0)]
    """
    own = stretches.with_columns(
        _first=(pl.col("start") / size).floor(), _last=(pl.col("end") / size).floor()
    )
    begins_inside = pl.col("start") > pl.col("_first") * size
    full = own.with_columns(_first=pl.col("_first") + begins_inside.cast(pl.Int64))
    pieces = [_full(full.filter(pl.col("_last") > pl.col("_first")), size)]
    head = own.filter(begins_inside).with_columns(
        _window="_first", end=pl.min_horizontal("end", (pl.col("_first") + 1) * size)
    )
    ends_inside = pl.col("end") > pl.col("_last") * size
    # A stretch inside a single window is its head only.
    tail = own.filter(ends_inside & ~(begins_inside & (pl.col("_first") == pl.col("_last"))))
    tail = tail.with_columns(
        _window="_last", start=pl.max_horizontal("start", pl.col("_last") * size)
    )
    columns = ("document", "_window", "start", "end", *SIDES)
    parts = pl.concat([part.select(columns) for part in (head, tail)], how="vertical_relaxed")
    pieces.append(_averaged(parts))
    return pl.concat(pieces, how="vertical_relaxed").sort("document", "start")


def _full(stretches: pl.DataFrame, size: float) -> pl.DataFrame:
    """The windows that lie inside of a stretch."""
    begin, end = pl.col("_first") * size, pl.col("_last") * size
    units = (pl.col("_last") - pl.col("_first")).cast(pl.Int64)
    rows = stretches.with_columns(start=begin, end=end, units=units)
    return rows.with_columns(**_lengths(pl.col("end") - pl.col("start"))).select(UNITS)


def _averaged(parts: pl.DataFrame) -> pl.DataFrame:
    """Windows of several parts: levels averaged over time."""
    length = pl.col("end") - pl.col("start")
    own = parts.with_columns(_length=length, **_lengths(length))
    # In order, so that sums do not depend on what else is in the batch.
    ordered = own.sort("document", "_window", "start")
    windows = ordered.group_by("document", "_window", maintain_order=True).agg(
        pl.col("start").min(),
        pl.col("end").max(),
        *(_average(side) for side in SIDES),
        pl.col("reference_length", "system_length").sum(),
    )
    return windows.with_columns(units=pl.lit(1, pl.Int64)).select(UNITS)


def _average(side: str) -> pl.Expr:
    """The level of a side over the parts of a window that it covers."""
    level = pl.col(side)
    total = (level * pl.col("_length")).sum() / pl.col(f"{side}_length").sum()
    # Of equal levels the mean is that level, whatever is rounded.
    same = (level.min() == level.max()) & total.is_not_nan()
    absent = level.null_count() == level.len()
    return pl.when(absent).then(None).when(same).then(level.min()).otherwise(total).alias(side)


def _lengths(length: pl.Expr) -> dict[str, pl.Expr]:
    """How much of some units each side covers."""
    return {
        f"{side}_length": pl.when(pl.col(side).is_not_null()).then(length).otherwise(0)
        for side in SIDES
    }
