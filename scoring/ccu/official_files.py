"""The files that the public scorer writes of norms and emotions, with its columns and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import polars as pl

from hlteval.scoring.ccu.criteria import Criterion
from hlteval.scoring.ccu.detection_options import DetectionOptions
from hlteval.scoring.ccu.detections import AGAIN, CORRECT, FALSE, MISSED, UNWRITTEN

#: The measures of a class, by their names in the files.
CLASS_METRICS: Mapping[str, str] = MappingProxyType(
    {
        "AP": "ap",
        "average_precision": "ap",
        "f1_at_MinLLR": "f1",
        "llr_at_MinLLR": "llr",
        "precision_at_MinLLR": "precision",
        "recall_at_MinLLR": "recall",
        "scaled_f1_at_MinLLR": "scaled_f1",
        "scaled_precision_at_MinLLR": "scaled_precision",
        "scaled_recall_at_MinLLR": "scaled_recall",
        "sum_fp_at_MinLLR": "fp",
        "sum_md_at_MinLLR": "md",
        "sum_scaled_fp_at_MinLLR": "scaled_fp",
        "sum_scaled_tp_at_MinLLR": "scaled_tp",
        "sum_tp_at_MinLLR": "tp",
    }
)
_COUNTS = frozenset({"fp", "md", "tp"})
_RATES = ("f1", "precision", "recall")
EMPTY = "EMPTY_NA"
_PLACES = ("reference_start", "reference_end", "system_start", "system_end")


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of tab-separated values; cells with quotation marks are quoted."""
    lines = ["\t".join(columns), *("\t".join(map(_quoted, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell


def number(value: float | None) -> str:
    """A number as Python shows it; empty where there is none."""
    return "" if value is None else str(value)


def whole(value: float) -> str:
    """A place, without decimals where it has none.

    Examples:
        >>> whole(45.0), whole(45.25)
        ('45', '45.25')
    """
    return str(int(value)) if float(value).is_integer() else str(value)


def named(criterion: Criterion) -> str:
    """A criterion as the files have it.

    Examples:
        >>> named(Criterion())
        '{iou=0.2}'
    """
    return f"{{{'' if ':' in criterion.written else 'iou='}{criterion.written}}}"


def by_class(measured: pl.DataFrame, swept: pl.DataFrame, criteria: Iterable[Criterion]) -> str:
    """The file `scores_by_class.tab`.

    Args:
        measured: the classes.
        swept: the points of their curves.
        criteria: in order.
    """
    columns = ("class", "genre", "metric", "value", "correctness_criteria")
    curves = dict(swept.partition_by("criterion", "class", "genre", as_dict=True))
    rows: list[tuple[str, ...]] = []
    for criterion in criteria:
        own = measured.filter(criterion=criterion.written).sort("class", "genre")
        nothing = (own["tp"] + own["fp"] == 0).all()
        for row in own.to_dicts():
            name, genre = row["class"], row["genre"]
            whole_counts = _whole(row, nothing=nothing)
            for metric, column in CLASS_METRICS.items():
                value = row[column] if column in whole_counts else _float(row[column])
                rows.append((name, genre, metric, number(value), named(criterion)))
            curve = curves.get((criterion.written, name, genre))
            if curve is not None:
                rows.append((name, genre, "PRCurve_json", _curve(curve), named(criterion)))
    return table(columns, rows)


def _whole(row: Mapping[str, object], *, nothing: bool) -> frozenset[str]:
    """The counts that are written without decimals: not those of what the system does not have."""
    if row["tp"] or row["fp"]:
        return _COUNTS
    return frozenset() if nothing else frozenset({"md"})


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _curve(points: pl.DataFrame) -> str:
    """The points of a curve as JSON."""
    numbers = points.select(pl.col("precision", "recall", "llr").fill_null(math.nan))
    return json.dumps(numbers.to_dict(as_series=False))


def aggregated(averaged: pl.DataFrame, task: str, criteria: Iterable[Criterion]) -> str:
    """The file `scores_aggregated.tab`.

    Args:
        averaged: the means over classes and the rates of all instances.
        task: `nd` or `ed`.
        criteria: in order.
    """
    columns = ("task", "genre", "metric", "value", "correctness_criteria")
    rows = []
    for criterion in criteria:
        for row in averaged.filter(criterion=criterion.written).sort("genre").to_dicts():
            values = sorted(_aggregates(row))
            rows += [
                (task, row["genre"], name, number(value), named(criterion))
                for name, value in values
            ]
    return table(columns, rows)


def _aggregates(row: Mapping[str, float | None]) -> Iterator[tuple[str, float | None]]:
    """The aggregated values by the names of the file."""
    yield "mAP", row["mean_ap"]
    for metric, column in CLASS_METRICS.items():
        if metric not in {"AP", "sum_md_at_MinLLR"}:
            yield f"mean_{metric}", row[f"mean_{column}"]
    for rate in _RATES:
        yield f"{rate}_at_MinLLR", row[rate]
    for count in ("fp", "md", "tp"):
        value = row[count]
        yield f"sum_{count}_at_MinLLR", None if value is None else float(value)


def in_order(instances: pl.DataFrame, compared: pl.Series) -> pl.DataFrame:
    """The rows that the scorer writes, as its table has them before it is sorted.

    Classes follow each other; in each are the rows by falling score and document, then missed
    instances that are near a false alarm. Where the system has nothing, references stay as listed.
    """
    if compared.is_empty():
        return instances.sort("document", "reference_start", "reference_end", maintain_order=True)
    again = pl.col("system_start").is_not_null() & pl.col("system_end").is_null()
    written = instances.filter(pl.col("outcome") != UNWRITTEN)
    return written.sort(
        "class", again, "llr", "document", descending=[False, False, True, False],
        nulls_last=True, maintain_order=True,
    )  # fmt: skip


def alignment(
    instances: pl.DataFrame, compared: pl.Series, options: DetectionOptions, kind: str
) -> pl.DataFrame:
    """The rows of `instance_alignment.tab`, in the order of `in_order`.

    Args:
        instances: with evaluation labels, of classes that have references.
        compared: the classes of the system.
        options: the collars.
        kind: `norm` or `emotion`; norms have the columns of statuses.
    """
    columns = ["class", "file_id", "eval", "ref", "sys", "llr", "parameters"]
    statuses = ["ref_status", "hyp_status"] if kind == "norm" else []
    silent = ~pl.col("class").is_in(compared.unique().implode())
    start = pl.coalesce("system_start", "reference_start")
    ranked = in_order(instances, compared).with_columns(_silent=silent, _start=start)
    rows = []
    for row in ranked.iter_rows(named=True):
        line = [
            row["class"],
            row["document"],
            _mapped(row),
            "{}" if row["outcome"] == FALSE else _span(row, "reference"),
            "{}" if row["outcome"] in _NOT_FOUND else _span(row, "system"),
            number(row["llr"]),
            _parameters(row, options),
        ]
        if statuses:
            line += _statuses(row)
        rows.append([*line, row["_start"]])
    schema = {**dict.fromkeys([*columns, *statuses], pl.String), "sort": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


_NOT_FOUND = frozenset({MISSED, AGAIN})


def _statuses(row: Mapping[str, object]) -> list[str]:
    """The statuses of both sides, `EMPTY_NA` for a side that is not there."""
    beside = row["outcome"] in _NOT_FOUND and row["system_end"] is None
    expected = EMPTY if row["outcome"] == FALSE else row["reference_status"] or EMPTY
    own = EMPTY if beside else row["system_status"] or ""
    return [str(expected), str(own)]


def sorted_alignment(rows: pl.DataFrame) -> str:
    """The file `instance_alignment.tab`, of rows as from `alignment`."""
    ordered = rows.sort("class", "file_id", "sort", maintain_order=True).drop("sort")
    return table(ordered.columns, ordered.iter_rows())


def _mapped(row: Mapping[str, object]) -> str:
    return "mapped" if row["outcome"] == CORRECT else "unmapped"


def _span(row: Mapping[str, float | None], side: str) -> str:
    start, end = row[f"{side}_start"], row[f"{side}_end"]
    if end is None or start is None:
        return "{}"
    return f"{{start={whole(start)},end={whole(end)}}}"


def _parameters(row: Mapping[str, object], options: DetectionOptions) -> str:
    """The parameters of an instance or pair."""
    if row["_silent"]:
        return "{}"
    outcome = row["outcome"]
    if outcome in _NOT_FOUND:
        return f"{{pct_temp_tp=0.0,pct_temp_fp=0.0,eval={MISSED}}}"
    if outcome == FALSE:
        return f"{{pct_temp_tp=0.0,pct_temp_fp=1.0,eval={FALSE}}}"
    text = row["genre"] == "text"
    values = {
        "iou": row["iou"],
        "intersection": row["intersection"],
        "union": row["union"],
        "shifted_start_hyp": row["shifted_start"],
        "shifted_end_hyp": row["shifted_end"],
        "pct_temp_tp": row["tp_share"],
        "pct_temp_fp": row["fp_share"],
        "collar": options.collar_text if text else options.collar,
    }
    shown = ",".join(f"{name}={value:.3f}" for name, value in values.items())
    return f"{{{shown},type={row['genre']},eval={outcome}}}"
