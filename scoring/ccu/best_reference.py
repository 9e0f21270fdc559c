"""How the public scorer aligns: each system instance with the reference that it fits best.

Other than in Appendix A of the plan, a second-best reference is never tried, and a no-score region
can be the best. An instance whose best is such a region is not scored, nor is one that was cut at a
region and overlaps nothing. Of several instances with the same best, the one with the highest
score is correct.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from hlteval.scoring.ccu.spans import overlapping

_OWN = ("class", "document")
_BEST = {"iou": pl.Float64, "intersection": pl.Float64, "union": pl.Float64}


def candidates(
    system: pl.DataFrame,
    references: pl.DataFrame,
    unscored: pl.DataFrame,
    *,
    regions: bool = True,
) -> pl.DataFrame:
    """The best reference of each system instance, or several that start and fit alike.

    Args:
        system: instances, half-open, with `class`, `truncated`, and `_system`, their rows.
        references: instances, half-open, with `class` and `_reference`, their rows.
        unscored: no-score regions, half-open.
        regions: whether such a region can be the best.

    Returns:
        `_system`, `_reference` (null if there is none), and the `iou`, `intersection` and `union`
        of both; those that are not scored are left out.
    """
    every = _overlaps(system, references, unscored if regions else unscored.clear())
    best = _best(every)
    hit = best.filter(pl.col("_reference").is_not_null())
    elsewhere = system.join(every, on="_system", how="anti")
    missed = _nearest(elsewhere, references, unscored)
    return pl.concat([hit, missed], how="diagonal").select("_system", "_reference", *_BEST)


def _overlaps(
    system: pl.DataFrame, references: pl.DataFrame, unscored: pl.DataFrame
) -> pl.DataFrame:
    """All pairs of instances with references of their class, and with no-score regions."""
    parts = []
    for others, by in ((references, _OWN), (unscored, ("document",))):
        rows, matches, common = overlapping(system, others, by)
        left = system.select("_system", own_start="start", own_end="end")[rows]
        number = pl.col("_reference") if "_reference" in others.columns else pl.lit(None)
        right = others.select("start", "end", _reference=number.cast(pl.Int64))[matches]
        pairs = pl.concat([left, right], how="horizontal")
        parts.append(pairs.with_columns(intersection=pl.Series(common, dtype=pl.Float64)))
    every = pl.concat(parts)
    hull = pl.max_horizontal("own_end", "end") - pl.min_horizontal("own_start", "start")
    return every.with_columns(union=hull).with_columns(iou=pl.col("intersection") / pl.col("union"))


def _best(every: pl.DataFrame) -> pl.DataFrame:
    """The pairs with the greatest IoU of each instance, of these with the smallest start.

    Where it is that of a no-score region, but a reference overlaps too, it is that of references.
    """
    real = pl.col("_reference").is_not_null()
    top = _greatest(every)
    silent = top.filter(~real.any().over("_system")).select("_system").unique()
    second = _greatest(every.join(silent, on="_system", how="semi").filter(real))
    replaced = top.join(second, on="_system", how="anti")
    return pl.concat([replaced, second])


def _greatest(every: pl.DataFrame) -> pl.DataFrame:
    top = every.filter(pl.col("iou") == pl.col("iou").max().over("_system"))
    return top.filter(pl.col("start") == pl.col("start").min().over("_system"))


def _nearest(
    system: pl.DataFrame, references: pl.DataFrame, unscored: pl.DataFrame
) -> pl.DataFrame:
    """What overlaps nothing, with the first reference or region of its document, if any.

    What was cut, and would belong to a region, is left out.
    """
    regions = unscored.join(system.select("document", "class").unique(), on="document")
    every = pl.concat(
        [
            references.select("document", "class", "start", "_reference"),
            regions.select("document", "class", "start", _reference=pl.lit(None, dtype=pl.Int64)),
        ]
    )
    first = every.filter(pl.col("start") == pl.col("start").min().over("document", "class"))
    found = system.select("_system", "document", "class", "truncated").join(
        first.drop("start").with_columns(any=pl.lit(value=True)),
        on=["document", "class"],
        how="left",
    )
    region = pl.col("any").fill_null(value=False) & pl.col("_reference").is_null()
    kept = found.filter(~(pl.col("truncated") & region))
    nothing = {name: pl.lit(0.0) for name in _BEST}
    return kept.select("_system", "_reference", **nothing).unique(maintain_order=True)


def first_of_each(pairs: pl.DataFrame, correct: np.ndarray) -> np.ndarray:
    """Which pairs remain correct: of those with the same reference, the one of the highest score.

    Args:
        pairs: `_reference` and `llr`, in the order of the files.
        correct: whether each is similar enough.
    """
    found = pairs.with_columns(correct=pl.Series(correct)).with_row_index("_order")
    ranked = found.filter("correct").sort("llr", descending=True, maintain_order=True)
    first = ranked.unique("_place", keep="first", maintain_order=True)["_order"]
    chosen = np.zeros(len(correct), dtype=bool)
    chosen[first.to_numpy()] = True
    return chosen
