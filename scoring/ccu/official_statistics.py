"""What the public scorer says of the amounts of data that it compared.

It counts the files that both indexes list; here they are the documents that are scored, since no
others reach a metric.
"""

from __future__ import annotations

import polars as pl

from hlteval.scoring.ccu.official_detections import REFERENCE, SYSTEM, UNSCORED
from hlteval.scoring.ccu.official_files import table, whole

_DATA = {REFERENCE: "ref", SYSTEM: "sys"}


def by_class(total: pl.DataFrame) -> str:
    """The file `statistics_by_class.tab`."""
    rows = []
    for part, data in _DATA.items():
        own = total.filter(pl.col("outcome").is_null(), pl.col("criterion") == part)
        counts = own.group_by("class", "genre").len().sort("class", "genre")
        rows += [(data, name, genre, "instance_counts", str(n)) for name, genre, n in counts.rows()]
    return table(("data", "class", "genre", "metric", "value"), rows)


def aggregated(total: pl.DataFrame) -> str:
    """The file `statistics_aggregated.tab`."""
    counted = total.filter(pl.col("outcome").is_null())
    rows = [row for part in _DATA for row in _lengths(counted, part)]
    files = total["document"].n_unique()
    for part, data in _DATA.items():
        own = counted.filter(pl.col("criterion") == part)
        rows.append((data, "all", "file_counts", str(files)))
        rows.append((data, "all", "file_scoring_counts", str(own["document"].n_unique())))
        if part == REFERENCE:
            silent = counted.filter(pl.col("criterion") == UNSCORED).height
            rows.append((data, "all", "noann_segment_scoring_counts", str(silent)))
    return table(("data", "genre", "metric", "value"), rows)


def _lengths(counted: pl.DataFrame, part: str) -> list[tuple[str, ...]]:
    """How long the instances of a side are together, by genre."""
    side = "system" if part == SYSTEM else "reference"
    own = counted.filter(pl.col("criterion") == part)
    length = pl.col(f"{side}_end") - pl.col(f"{side}_start") + (pl.col("genre") == "text")
    sums = own.group_by("genre").agg(length.sum()).sort("genre")
    units = {"text": "characters"}
    return [
        (_DATA[part], genre, f"total_instance_{units.get(genre, 'seconds')}", _amount(value))
        for genre, value in sums.rows()
    ]


def _amount(value: float) -> str:
    """A sum: without decimals if it has none, not if it is rounded to that."""
    return whole(value) if value.is_integer() else str(round(value, 2))
