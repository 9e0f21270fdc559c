"""The measures of the public scorer: those of the plan, rounded on the way and defined elsewhere.

Measures of classes are rounded to three decimals, and means are means of these, rounded again. A
class of which the system has nothing is 0 in everything; one without a correct instance has no F1.
Average precision is interpolated.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from hlteval.scoring.ccu import detection_measures
from hlteval.scoring.ccu.detection_measures import MEASURES

DECIMALS = 3
COUNTS = ("tp", "fp", "md", "scaled_tp", "scaled_fp", "llr")


def rounded(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """A frame with some of its values rounded, as NumPy does it."""
    values = frame.select(pl.col(names).cast(pl.Float64))
    return frame.with_columns(
        pl.Series(name, np.round(values[name].to_numpy(), DECIMALS)).fill_nan(None)
        for name in names
    )


def classes(instances: pl.DataFrame, swept: pl.DataFrame) -> pl.DataFrame:
    """The measures of each class that has references, rounded.

    Args:
        instances: as from `detection_measures.by_genre`.
        swept: the points of the curves.
    """
    measured = detection_measures.classes(instances, swept)
    nothing = pl.col("llr").is_null()
    measured = measured.with_columns(
        ap=pl.col("ap_interpolated"),
        f1=_harmonic("precision", "recall"),
        scaled_f1=_harmonic("scaled_precision", "scaled_recall"),
    ).with_columns(pl.when(nothing).then(0.0).otherwise(pl.col(MEASURES)).name.keep())
    return rounded(measured, *MEASURES, "scaled_tp", "scaled_fp", "llr")


def _harmonic(one: str, other: str) -> pl.Expr:
    both = pl.col(one) + pl.col(other)
    return pl.when(both > 0).then(2 * pl.col(one) * pl.col(other) / both)


def means(measured: pl.DataFrame) -> pl.DataFrame:
    """The means over classes, rounded, and the rates of all instances, by criterion and genre.

    Args:
        measured: the classes, as from `classes`.
    """
    averaged = detection_measures.means(measured)
    own = measured.group_by("criterion", "genre", maintain_order=True).agg(
        pl.col(COUNTS).mean().name.prefix("mean_")
    )
    averaged = averaged.join(own, on=["criterion", "genre"], maintain_order="left")
    names = [f"mean_{name}" for name in (*MEASURES, *COUNTS)] + ["map_known", "map_hidden"]
    return rounded(averaged, *names).with_columns(f1=_harmonic("precision", "recall"))
