"""The measures of the public scorer: those of the plan, rounded on the way and defined elsewhere.

Measures of classes are rounded to three decimals, and means are means of these, rounded again. A
class of which the system has nothing is 0 in everything; one without a correct instance has no F1.
Average precision is interpolated.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.ccu import detection_measures
from hlteval.scoring.ccu.detection_measures import GROUP, MEASURES
from hlteval.scoring.ccu.detections import CORRECT, FALSE
from hlteval.scoring.ratios import harmonic

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
    measured = detection_measures.classes(instances, swept).drop("llr", "ap", *_SCALED)
    own = areas(swept).join(_shares(instances), on=GROUP, maintain_order="left")
    measured = measured.join(own, on=GROUP, how="left", maintain_order="left")
    sums = pl.col(*_SCALED, "ap").fill_null(0.0)
    measured = detection_measures.with_rates(measured.with_columns(sums))
    nothing = pl.col("tp") + pl.col("fp") == 0
    measured = measured.with_columns(
        ap_interpolated=pl.col("ap"),
        f1=harmonic(pl.col("precision"), pl.col("recall")),
        scaled_f1=harmonic(pl.col("scaled_precision"), pl.col("scaled_recall")),
    ).with_columns(pl.when(nothing).then(0.0).otherwise(pl.col(MEASURES)).name.keep())
    return rounded(measured, *MEASURES, *_SCALED, "llr")


_SCALED = ("scaled_tp", "scaled_fp")


def areas(swept: pl.DataFrame) -> pl.DataFrame:
    """The area below each curve, and the lowest score; null if some instance has none."""
    rows = [
        (*key, interpolated_area(own["precision"].to_numpy(), own["recall"].to_numpy()),
         own["llr"][-1])
        for key, own in swept.group_by(GROUP, maintain_order=True)
    ]  # fmt: skip
    schema = {**dict.fromkeys(GROUP, pl.String), "ap": pl.Float64, "llr": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def interpolated_area(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> float:
    """Interpolated average precision, its terms added as NumPy adds those of the scorer.

    Examples:
        >>> round(interpolated_area(np.array([1.0, 0.5, 2 / 3]), np.array([0.25, 0.25, 0.5])), 4)
        0.4167
    """
    best = np.maximum.accumulate(np.hstack([[0.0], precision, [0.0]])[::-1])[::-1]
    reached = np.hstack([[0.0], recall, [1.0]])
    steps = np.flatnonzero(reached[1:] != reached[:-1]) + 1
    return float(np.sum((reached[steps] - reached[steps - 1]) * best[steps]))


def _shares(instances: pl.DataFrame) -> pl.DataFrame:
    """The scaled counts of each class, added in the order of the scores, as NumPy adds them."""
    counted = instances.filter(pl.col("outcome").is_in([CORRECT, FALSE])).sort(
        "llr", "document", descending=[True, False], nulls_last=True, maintain_order=True
    )
    rows = []
    for key, own in counted.group_by(GROUP, maintain_order=True):
        correct = own.filter(outcome=CORRECT)
        inside, beside = (np.sum(correct[name].to_numpy()) for name in ("tp_share", "fp_share"))
        rows.append((*key, inside, own.height - correct.height + beside))
    schema = {**dict.fromkeys(GROUP, pl.String), **dict.fromkeys(_SCALED, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def means(measured: pl.DataFrame) -> pl.DataFrame:
    """The means over classes, rounded, and the rates of all instances, by criterion and genre.

    The scorer adds values of classes one by one, in their order.

    Args:
        measured: the classes, as from `classes`.
    """
    names = (*MEASURES, *COUNTS)
    ordered = measured.sort("class", maintain_order=True)
    own = ordered.group_by("criterion", "genre", maintain_order=True).agg(
        pl.col(names).cast(pl.Float64).drop_nulls().cum_sum().last() / pl.col(names).count()
    )
    own = own.rename({name: f"mean_{name}" for name in names})
    averaged = detection_measures.means(measured).drop(f"mean_{name}" for name in MEASURES)
    averaged = averaged.join(own, on=["criterion", "genre"], maintain_order="left")
    f1 = harmonic(pl.col("precision"), pl.col("recall"))
    kept = [f"mean_{name}" for name in names] + ["map_known", "map_hidden"]
    return rounded(averaged, *kept).with_columns(f1=f1)
