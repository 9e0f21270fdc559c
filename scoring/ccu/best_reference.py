"""How the public scorer aligns: each system instance with the reference that it fits best.

Other than in Appendix A of the plan, a second-best reference is never tried, and a no-score region
can be the best. An instance whose best is such a region is not scored, nor is one that was cut at a
region and overlaps nothing. Of several instances with the same best, the one with the highest
score is correct.

Conventions:
    Spans are half-open. A candidate has `_system` and `_place`, the rows of an instance and of what
    it is compared with, null if its document has nothing; its `_reference` is null for a region.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from hlteval.scoring.ccu.spans import overlapping

_KEY = ("class", "document")


def places(system: pl.DataFrame, references: pl.DataFrame, unscored: pl.DataFrame) -> pl.DataFrame:
    """What the instances of a class are compared with: its references, and all no-score regions.

    Args:
        system: instances, with `class`.
        references: instances, with `class`, `_reference`, their rows, and `order`, which of two
            at one place comes first.
        unscored: no-score regions, with `order`.

    Returns:
        `class`, `document`, `start`, `end`, `_reference` and `_place`, by document and place.
    """
    classes = pl.concat([rows.select(_KEY) for rows in (system, references)]).unique()
    regions = unscored.join(classes, on="document").with_columns(
        _reference=pl.lit(None, dtype=pl.Int64)
    )
    columns = (*_KEY, "start", "end", "_reference")
    sides = (references, regions)
    every = pl.concat([rows.select(*columns, "order") for rows in sides])
    keys = ("class", "document", "start", "end", "order")
    ordered = every.sort(keys, nulls_last=True, maintain_order=True).drop("order")
    return ordered.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("_place"))


def candidates(system: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """The best reference of each system instance, or several that start and fit alike.

    Args:
        system: instances, with `class`, `truncated`, and `_system`, their rows.
        others: what they are compared with, as from `places`.

    Returns:
        `_system`, `_reference` and `_place`, sorted; what is not scored is left out.
    """
    overlaps = _overlaps(system, others)
    best = overlaps.filter(pl.col("iou") == pl.col("iou").max().over("_system"))
    region = pl.col("_reference").is_null()
    several = overlaps.filter(pl.len().over("_system") > 1)
    shadowed = best.filter(region).join(several, on="_system", how="semi").select("_system")
    first = best.join(shadowed, on="_system", how="anti").filter(
        pl.col("start") == pl.col("start").min().over("_system")
    )
    second = overlaps.join(shadowed, on="_system", how="semi").filter(~region)
    second = second.filter(pl.col("iou") == pl.col("iou").max().over("_system"))
    lost = system.join(shadowed, on="_system", how="semi").join(second, on="_system", how="anti")
    apart = _apart(lost, others, overlaps)
    elsewhere = system.join(overlaps, on="_system", how="anti")
    hits = [rows.filter(~region).select(_CANDIDATE) for rows in (first, second)]
    return pl.concat([*hits, apart, _nearest(elsewhere, others)]).sort("_system", "_place")


_CANDIDATE = ("_system", "_reference", "_place")


def _overlaps(system: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """All pairs of instances with what they overlap, and their `iou`."""
    rows, matches, common = overlapping(system, others, _KEY)
    left = system.select("_system", own_start="start", own_end="end")[rows]
    pairs = pl.concat([left, others.drop(_KEY)[matches]], how="horizontal")
    hull = pl.max_horizontal("own_end", "end") - pl.min_horizontal("own_start", "start")
    return pairs.with_columns(iou=pl.Series(common, dtype=pl.Float64) / hull)


def _apart(system: pl.DataFrame, others: pl.DataFrame, overlaps: pl.DataFrame) -> pl.DataFrame:
    """What instances do not overlap that overlap several regions only.

    The scorer then takes all with the IoU of the best reference, which is 0.
    """
    every = system.select("_system", "truncated", *_KEY).join(others, on=_KEY)
    real = pl.col("_reference").is_not_null()
    every = every.filter(real.any().over("_system"), real | ~pl.col("truncated"))
    return every.join(overlaps, on=["_system", "_place"], how="anti").select(_CANDIDATE)


def _nearest(system: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """What overlaps nothing, with what starts first in its document, if anything does.

    What was cut, and would belong to a region, is left out.
    """
    first = others.filter(pl.col("start") == pl.col("start").min().over(_KEY)).drop("start", "end")
    found = system.select("_system", "truncated", *_KEY).join(first, on=_KEY, how="left")
    region = pl.col("_place").is_not_null() & pl.col("_reference").is_null()
    return found.filter(~(pl.col("truncated") & region)).select(_CANDIDATE)


def first_of_each(pairs: pl.DataFrame, similar: np.ndarray) -> np.ndarray:
    """Which pairs are correct: of those with references of one place, that of the highest score.

    Args:
        pairs: `_span`, the place of the reference, and `llr`, in the order of the files.
        similar: whether each is similar enough.
    """
    found = pairs.select("_span", "llr", _similar=pl.Series(similar)).with_row_index("_order")
    ranked = found.filter("_similar").sort(
        "llr", descending=True, nulls_last=True, maintain_order=True
    )
    first = ranked.unique("_span", keep="first", maintain_order=True)["_order"]
    chosen = np.zeros(len(similar), dtype=bool)
    chosen[first.to_numpy()] = True
    return chosen
