"""Mean average precision and macro-averaged recall over the situations of the reference.

LoReHLT 2019, section 16.2.4; appendix 18.2.1 and 18.2.2 have examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import polars as pl

from hlteval.scoring.situations.equivalence import GRAVE, key, most_confident, of_class, references
from hlteval.scoring.situations.precision_recall import points

SITUATION = ["type", "place"]

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
"""The flags that the public scorer compares: any two frames that are not current are equal."""


def averages(
    reference: pl.DataFrame, system: pl.DataFrame, name: str, *, official: bool
) -> pl.DataFrame:
    """Average precision and recall of each situation of the reference in a class.

    Args:
        reference: its frames.
        system: the system's, with places as the reference has them.
        name: of the class.
        official: as the public scorer has them.

    Returns:
        `type`, `place`, `average_precision` and `recall`, sorted by type and place.
    """
    if official:
        return _official(reference, system, name)
    gold = references(reference, name)
    situations = gold.select(SITUATION).unique().sort(SITUATION).with_row_index("group")
    groups = situations.cast({"group": pl.Int64})
    weights = gold.join(groups, on=SITUATION).group_by("group").agg(pl.col("weight").sum())
    relevant = weights.sort("group")["weight"].to_numpy()
    own = most_confident(system, name).join(groups, on=SITUATION)
    own = own.join(gold, on=key(name), how="left", nulls_equal=True)
    swept = own.select("group", "confidence", pl.col("weight").fill_null(0))
    ranked = points(swept, relevant)
    found = np.bincount(
        swept["group"].to_numpy(), swept["weight"].to_numpy(), minlength=len(relevant)
    )
    return situations.drop("group").with_columns(
        average_precision=pl.Series(ranked.average_precision(), dtype=pl.Float64),
        recall=pl.Series(found / relevant, dtype=pl.Float64),
    )


def _official(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """The public scorer: the first frame of a document, and all frames of the reference beside."""
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
