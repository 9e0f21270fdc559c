"""The statistics files of the public scorer: amounts of data, and counts of labels."""

from __future__ import annotations

import polars as pl

from hlteval.scoring.ccu.official_detections import REFERENCE, SYSTEM, UNSCORED
from hlteval.scoring.ccu.official_files import table, whole
from hlteval.scoring.ccu.official_inventory import FILES, counted

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
    unlabelled = total.filter(pl.col("outcome").is_null())
    rows = [row for part in _DATA for row in _lengths(unlabelled, part)]
    for part, data in _DATA.items():
        own = unlabelled.filter(pl.col("criterion") == part)
        files = counted(total, FILES, "system" if part == SYSTEM else "reference")
        rows.append((data, "all", "file_counts", str(files)))
        rows.append((data, "all", "file_scoring_counts", str(own["document"].n_unique())))
        if part == REFERENCE:
            silent = unlabelled.filter(pl.col("criterion") == UNSCORED).height
            rows.append((data, "all", "noann_segment_scoring_counts", str(silent)))
    return table(("data", "genre", "metric", "value"), rows)


def _lengths(unlabelled: pl.DataFrame, part: str) -> list[tuple[str, ...]]:
    """How long the instances of a side are together, by genre."""
    side = "system" if part == SYSTEM else "reference"
    own = unlabelled.filter(pl.col("criterion") == part)
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


def of_outcomes(alignment: pl.DataFrame) -> str:
    """The file `instance_alignment_class_stats.tab`.

    What has no reference is a false alarm, what else is not mapped a missed detection: forgiven
    false alarms are among these.

    Args:
        alignment: the rows of `instance_alignment.tab`.
    """
    mapped, alone = pl.col("eval") == "mapped", pl.col("ref") == "{}"
    outcomes = {"cd": mapped, "fa": ~mapped & alone, "md": ~mapped & ~alone}
    sums = [which.sum().alias(name) for name, which in outcomes.items()]
    of_classes = alignment.group_by("class", maintain_order=True).agg(sums)
    every = alignment.select(pl.lit("all").alias("class"), *sums)
    rows = [
        (name, f"number_{outcome}", str(count))
        for name, *counts in pl.concat([every, of_classes]).rows()
        for outcome, count in zip(outcomes, counts, strict=True)
    ]
    return table(("class", "metric", "value"), rows)


def of_statuses(alignment: pl.DataFrame) -> dict[str, str]:
    """The file `instance_alignment_status_confusion.tab` of norms, by name; nothing of others.

    Args:
        alignment: the rows of `instance_alignment.tab`, in the order of the scorer.
    """
    if "ref_status" not in alignment.columns:
        return {}
    statuses = pl.col("ref_status", "hyp_status").replace("", "nan")
    every = pl.concat([alignment.with_columns(pl.lit("all").alias("class")), alignment])
    own = every.with_columns(statuses).with_row_index("_at")
    counts = own.group_by("class", "ref_status", "hyp_status", maintain_order=True).agg(
        count=pl.len(), first=pl.col("_at").first()
    )
    # classes, statuses of the reference and of the system, each in the order of their first rows
    outer = [pl.col("first").min().over(key) for key in ("class", ["class", "ref_status"])]
    rows = [
        (*statuses_of, "number_instance", str(count))
        for *statuses_of, count, _ in counts.sort(*outer, "first").rows()
    ]
    columns = ("class", "ref_status", "hyp_status", "metric", "value")
    return {"instance_alignment_status_confusion.tab": table(columns, rows)}
