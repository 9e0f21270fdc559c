"""Counts at one threshold: precision, recall and F1 of a layer, by type and by segment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from hlteval.scoring.ratios import rates
from hlteval.scoring.similarity import UNIT
from hlteval.scoring.situations.situations import LAYERS

_MEASURES = {
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "True Positives": "tp",
    "False Positives": "fp",
    "False Negatives": "fn",
}


def counts_at(
    total: pl.DataFrame, threshold: float, layers: Iterable[str], keys: Sequence[str] = ()
) -> pl.DataFrame:
    """Counts, precision, recall and F1 of the frames with at least some confidence.

    Args:
        total: the statistics of all segments.
        threshold: the least confidence of a frame that counts.
        layers: the names of the layers that apply.
        keys: `label` and `document`, where each type or segment has a row of its own.

    Returns:
        A row for each layer and key: the keys, `tp`, `fp`, `fn`, `precision`, `recall` and `f1`.
        What is undefined is null.
    """
    taken = total.filter(
        pl.col("layer").is_in(list(layers)),
        pl.col("confidence").is_null() | (pl.col("confidence") >= threshold),
    )
    sums = taken.group_by("layer", *keys).agg(pl.col("matched", "frames", "references").sum())
    tp = pl.col("matched") / UNIT
    rows = sums.with_columns(
        tp=tp,
        fp=pl.col("frames") - tp,
        fn=pl.col("references") - tp,
        **rates(tp, pl.col("frames"), pl.col("references"))._asdict(),
    )
    order = pl.col("layer").replace_strict({name: at for at, name in enumerate(LAYERS)})
    rows = rows.sort(order, *keys).with_columns(pl.col("layer").replace(dict(LAYERS)))
    return rows.select("layer", *keys, "tp", "fp", "fn", "precision", "recall", "f1")


def rows_at(
    total: pl.DataFrame, threshold: float, layers: Sequence[str]
) -> Iterator[Mapping[str, object]]:
    """The rows of the table `scorings` at a threshold: of each layer, and of its types."""
    evaluation = f"Confidence ≥ {threshold:g}"
    for keys, some in (([], layers), (["label"], [name for name in layers if "type" in name])):
        for row in counts_at(total, threshold, some, keys).iter_rows(named=True):
            scoring = row["layer"] + (f": {row['label']}" if keys else "")
            for measure, column in _MEASURES.items():
                yield {
                    "evaluation": evaluation,
                    "scoring": scoring,
                    "measure": measure,
                    "value": row[column],
                }


def tables_at(
    total: pl.DataFrame, threshold: float, layers: Sequence[str]
) -> dict[str, pl.DataFrame]:
    """The tables `by_type` and `by_segment` at a threshold."""
    typed = [name for name in layers if "type" in name]
    by_type = counts_at(total, threshold, typed, ["label"])
    by_segment = counts_at(total, threshold, layers, ["document"])
    return {
        "by_type": by_type.rename({"label": "type"}),
        "by_segment": by_segment.rename({"document": "segment"}),
    }
