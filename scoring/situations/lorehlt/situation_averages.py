"""Mean average precision and macro-averaged recall over the situations of the reference.

LoReHLT 2019, section 16.2.4; appendix 18.2.1 and 18.2.2 have examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import polars as pl

from hlteval.scoring.situations.lorehlt.equivalence import GRAVE, of_class
from hlteval.scoring.situations.lorehlt.precision_recall import points

SITUATION = ["type", "place"]

#: The flags that the public scorer compares: any two frames that are not current are equal.
_FLAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "type,place": (),
        "type,place,status": ("current",),
        "type,place,status,urgent": ("current", "urgent"),
        "type,place,status,resolution": ("current", "unresolved"),
        "type,place,status,urgent,resolution": ("current", "urgent", "unresolved"),
        GRAVE: ("current", "urgent", "unresolved"),
    }
)


def averages(frames: pl.DataFrame) -> pl.DataFrame:
    """Average precision and recall of each situation of the reference.

    Args:
        frames: the frames of both sides in a class of situations, as `equivalence.compared` gives
            them.

    Returns:
        `type`, `place`, `average_precision` and `recall`, sorted by type and place.
    """
    relevant = frames.group_by(SITUATION).agg(pl.col("weight").sum())
    relevant = relevant.filter(pl.col("weight") > 0).sort(SITUATION)
    situations = relevant.with_columns(group=pl.int_range(pl.len(), dtype=pl.Int64))
    own = frames.filter(pl.col("confidence").is_not_null()).with_columns(
        pl.col("weight").fill_null(0)
    )
    swept = own.join(situations.drop("weight"), on=SITUATION).select(
        "group", "confidence", "weight"
    )
    weights = relevant["weight"].to_numpy()
    found = np.bincount(swept["group"].to_numpy(), swept["weight"].to_numpy(), len(weights))
    return relevant.select(
        *SITUATION,
        average_precision=pl.Series(points(swept, weights).average_precision(), dtype=pl.Float64),
        recall=pl.Series(found / weights, dtype=pl.Float64),
    )


def official_averages(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """The same as the public scorer has it.

    Of a system, the first frame of each document counts; the frames of a reference count one by
    one, and two frames of a document are the same if their flags are.

    Args:
        reference: its frames, of one annotator.
        system: the system's, with places as the reference has them.
        name: of the class.
    """
    document = ["docid", *SITUATION]
    gold, own = of_class(reference, name), of_class(system, name)
    situations = gold.select(SITUATION).unique().sort(SITUATION).with_row_index("group")
    groups = situations.cast({"group": pl.Int64})
    gold = gold.join(groups, on=SITUATION, maintain_order="left")
    first = own.unique(document, keep="first", maintain_order=True)
    flags = [pl.col(flag).alias(f"gold_{flag}") for flag in _FLAGS[name]]
    beside = gold.select(*document, *flags, annotated=pl.lit(value=True))
    both = first.join(groups, on=SITUATION).join(beside, on=document, how="left")
    same = [pl.col(flag) == pl.col(f"gold_{flag}") for flag in _FLAGS[name]]
    right = pl.all_horizontal("annotated", *same).fill_null(value=False)
    both = both.with_columns(weight=right.cast(pl.Int64))
    size = situations.height
    ranked = points(both.select("group", "confidence", "weight"), np.zeros(size, dtype=np.int64))
    counts = gold.group_by("group").agg(frames=pl.len()).sort("group")["frames"].to_numpy()
    found = np.bincount(both["group"].to_numpy(), both["weight"].to_numpy(), minlength=size)
    return situations.drop("group").with_columns(
        average_precision=pl.Series(ranked.retrieved_average_precision(), dtype=pl.Float64),
        recall=pl.Series(found / counts, dtype=pl.Float64),
    )


def mean(values: pl.Series) -> float | None:
    """The mean over all situations; undefined without any."""
    return float(np.mean(values.to_numpy())) if len(values) else None
