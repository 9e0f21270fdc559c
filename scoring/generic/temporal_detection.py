"""Temporal detection: labelled stretches of time with scores, by mean average precision.

At each threshold, pairs of equal label in one document whose IoU reaches it are taken by falling
score of the system, each stretch once; what is not paired is a false alarm or missed. Average
precision of a label is Σ precision · Δrecall over the scores, all of one score together; their mean
over the labels of the reference is mAP, and the mean of that over thresholds is `map`.

Conventions:
    Counts are a row per stretch of the system, with the thresholds at which it is right, and a row
    per label and document with the number of stretches of the reference. They are collected, not
    added: ranks are those of all documents together. A stretch without a score has the score 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from hlteval.representation import Corpus, first_case
from hlteval.scoring.generic.segments import Options, SpeakerTurns
from hlteval.scoring.instance_detection import average_precision, greedy, pairs, points
from hlteval.scoring.metric import Metric, Tables, scorings

#: The name of mean average precision among the measures of segments.
MAP = "map"
_HEAD = {"document": pl.String, "label": pl.String, "score": pl.Float64, "expected": pl.Int64}


@dataclass(frozen=True)
class TemporalDetection(Metric):
    """How stretches of time with scores are scored.

    Attributes:
        options: with the thresholds of IoU.
    """

    options: Options = field(default_factory=Options)

    @property
    def _hits(self) -> list[str]:
        """The columns that say whether a stretch is right, by threshold."""
        return [f"hit@{threshold:g}" for threshold in self.options.threshold]

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The stretches of a batch, and which of both sides are pairs at the first threshold.

        Examples:
            >>> row = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "norm"}
            >>> sides = [
            ...     Corpus(
            ...         documents=[{"row": 0, "name": "d"}],
            ...         instances=[{**row, "label": "dog", "start": 0.0, "end": end, "llr": 0.9}],
            ...     )
            ...     for end in (4.0, 3.0)
            ... ]
            >>> metric = TemporalDetection(options=Options(threshold=(0.5, 0.8)))
            >>> counts, _ = metric.statistics(*sides)
            >>> metric.score(metric.total([counts]))[0]
            {'map': 0.5, 'map@0.5': 1.0, 'map@0.8': 0.0}
        """
        sides = []
        for corpus in (reference, system):
            names = corpus.documents.select("name", document="row")
            rows = corpus.instances.select("document", "label", "start", "end", "llr")
            rows = rows.join(names, on="document", how="left", maintain_order="left")
            score = pl.col("llr").fill_null(0.0)
            rows = rows.select("start", "end", document="name", score=score, **{"class": "label"})
            sides.append(rows.filter((pl.col("start") < pl.col("end")).fill_null(value=False)))
        ours, theirs = sides
        found = pairs(theirs, ours)
        hits, first = {}, found.clear()
        for name, threshold in zip(self._hits, self.options.threshold, strict=True):
            near = found.filter(pl.col("iou") >= threshold)
            own, expected = (near[side].to_numpy() for side in ("_system", "_reference"))
            correct = greedy(
                own,
                expected,
                theirs["score"].to_numpy()[own],
                theirs["start"].to_numpy()[own],
                ours["start"].to_numpy()[expected],
            )
            hit = np.zeros(theirs.height, dtype=np.bool_)
            hit[own[correct]] = True
            hits[name] = pl.Series(name, hit)
            first = first if first.height or hits.keys() - {name} else near.filter(correct)
        detections = theirs.select("document", "score", label="class").with_columns(hits.values())
        expected_rows = ours.group_by("document", label="class", maintain_order=True).agg(
            expected=pl.len().cast(pl.Int64)
        )
        counts = self.total([detections, expected_rows])
        return counts, align_stretches(ours, theirs, first) if alignment else None

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The rows of all documents."""
        schema = {**_HEAD, **dict.fromkeys(self._hits, pl.Boolean)}
        return pl.concat([pl.DataFrame(schema=schema), *counts], how="diagonal").select(*schema)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """Mean average precision, and that of each label as the table `labels`."""
        relevant = (
            total.drop_nulls("expected").group_by("label").agg(relevant=pl.col("expected").sum())
        )
        relevant = relevant.sort("label")
        labels, values = relevant.select("label", references="relevant"), dict[str, float | None]()
        instances = total.drop_nulls("score").join(relevant.select("label"), on="label", how="semi")
        found = instances.group_by("label").agg(detections=pl.len().cast(pl.Int64))
        labels = labels.join(found, on="label", how="left", maintain_order="left")
        labels = labels.with_columns(pl.col("detections").fill_null(0))
        for name, threshold in zip(self._hits, self.options.threshold, strict=True):
            own = instances.select("label", llr="score", hit=name)
            areas = average_precision(points(own, relevant, ["label"]), ["label"])
            column = f"ap@{threshold:g}"
            areas = areas.select("label", pl.col("ap").alias(column))
            labels = labels.join(areas, on="label", how="left", maintain_order="left")
            labels = labels.with_columns(pl.col(column).fill_null(0.0))
            values[f"{MAP}@{threshold:g}"] = _mean(labels[column].to_list())
        metrics = {MAP: _mean([value for value in values.values() if value is not None]), **values}
        rows = [
            {"evaluation": "Detection", "scoring": "all", "measure": name, "value": value}
            for name, value in metrics.items()
        ]
        return metrics, {"scorings": scorings(rows), "labels": labels}


def _mean(values: list[float]) -> float | None:
    """The mean; None without values."""
    return float(np.mean(values)) if values else None


def align_stretches(
    reference: pl.DataFrame, system: pl.DataFrame, paired: pl.DataFrame
) -> pl.DataFrame:
    """The stretches of both sides, pairs in one row.

    Args:
        reference: its stretches.
        system: those of the system.
        paired: the pairs by row, with their IoU.

    Returns:
        `document`, `reference` and `system` (labels; null where a side has none), `start`, `end`,
        `mapped`, the IoU as text, `outcome` and `genre`.
    """
    ours = reference.with_row_index("_reference").cast({"_reference": pl.Int64})
    theirs = system.with_row_index("_system").cast({"_system": pl.Int64})
    both = ours.join(paired.select("_system", "_reference", "iou"), on="_reference", how="left")
    theirs = theirs.rename({"class": "system", "start": "s", "end": "e", "document": "d"})
    rows = both.rename({"class": "reference"}).join(
        theirs.drop("score"), on="_system", how="full", coalesce=True
    )
    outcome = first_case(
        (pl.col("system").is_null(), "missing"),
        (pl.col("reference").is_null(), "extra"),
        otherwise="correct",
    )
    rows = rows.select(
        *("reference", "system"),
        document=pl.coalesce("document", "d"),
        start=pl.coalesce("start", "s"),
        end=pl.coalesce("end", "e"),
        mapped=pl.col("iou").round(4).cast(pl.String),
        outcome=outcome,
        genre=pl.lit("audio"),
    )
    return rows.sort("document", "start", "end", "reference", nulls_last=True)


def segment_metric(profile: str, options: Options) -> Metric:
    """The metric of the measures that are chosen: of turns, or of detections with scores.

    Raises:
        ValueError: for measures of both kinds.
    """
    if MAP not in options.measures:
        return SpeakerTurns(profile, options)
    if options.measures != (MAP,):
        raise ValueError(f"{MAP} compares stretches with scores: it is computed alone")
    return TemporalDetection(profile, options)
