"""Speech Situation Frames: three layers of precision and recall, swept over the confidences.

Specification v1.5, section 2. Frames are projected to a layer (Relevance: the segment; Type:
segment and type; Type+Place: those and the place), duplicates are merged, and what is left is
paired one to one so that the summed similarity is greatest. The sum of similarities is the number
of true positives.

Conventions:
    Similarities are integers in units of 1/`UNIT`, so that sums are exact and depend on no order.
    Statistics are what each frame adds at its layer when it comes below all more confident ones of
    its segment: sums over segments give the counts at any threshold, and similarities and pairings
    are worked out once, whatever the number of cuts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import polars as pl

from hlteval.representation import Corpus, align
from hlteval.scoring.curves import LAST, Curve, curve
from hlteval.scoring.metric import Metric, Tables, scorings
from hlteval.scoring.ratios import rates
from hlteval.scoring.similarity import UNIT
from hlteval.scoring.situations.situations import (
    ALIGNMENT,
    COUNTS,
    FIGURES,
    LAYERS,
    aligned,
    ambiguous_segments,
    by_confidence,
    equal,
    left_out,
    localized,
    near_misses,
    projected,
    situations,
    with_names,
)

#: A row per layer and cut: how many frames it takes, the least confidence of them, and counts.
CURVE: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "layer": pl.String,
    "cut": pl.Int64,
    "threshold": pl.Float64,
    "tp": pl.Float64,
    "fp": pl.Float64,
    "fn": pl.Float64,
    "precision": pl.Float64,
    "recall": pl.Float64,
}

_KEYS = {
    "relevance": ("document",),
    "type": ("document", "label"),
    "type+place": ("document", "label", "place"),
}
_MEASURES = {
    "AUC": "auc",
    "AUC anchored": "auc_anchored",
    "AUC unanchored": "auc_unanchored",
    "Max F1": "max_f1",
}


@dataclass(frozen=True)
class Options:
    """How places are compared.

    Attributes:
        place_match: `soft`, or `exact` where only equal names match.
        normalize: a Unicode normal form that both sides are brought to, or empty.
        place_dictionary: names of places by the names that are written for them, for both sides.
        threshold: a confidence at which precision, recall and F1 are also reported.
    """

    place_match: Literal["soft", "exact"] = "soft"
    normalize: Literal["", "NFC", "NFD", "NFKC", "NFKD"] = ""
    place_dictionary: Mapping[str, str] = field(default_factory=dict)
    threshold: float | None = None


@dataclass(frozen=True)
class FrameMatch(Metric):
    """How frames are compared.

    Attributes:
        options: how places are compared.
    """

    options: Options = field(default_factory=Options)

    #: The sentences that end notes about the curve of a layer.
    one_point: ClassVar[str] = "a curve with a single point has no area"
    no_point: ClassVar[str] = "no point of the curve has recall above 0"

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """What the frames of a batch of segments add to each layer, and how they are paired.

        Args:
            reference: the annotated frames.
            system: the system's, for the same segments and possibly others.
            alignment: whether the alignment is wanted.

        Returns:
            Statistics, as `COUNTS`; and the alignment, as `ALIGNMENT`, or None.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "situation"}
            >>> frame |= {"label": "Shelter", "confidence": 0.5}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}], frames=[frame])
            >>> counts, _ = FrameMatch().statistics(corpus, corpus)
            >>> counts.filter(layer="type", frames=1)["matched"].len() == 1
            True
        """
        reference, system = align(reference, system)
        annotated = by_confidence(self.reference_frames(reference))
        submitted = by_confidence(self.system_frames(system, reference))
        frame = ("document", "label", "confidence", "record")
        once = pl.lit(1, pl.Int64).alias("frames")
        counts = [submitted.select(*frame, once, layer=pl.lit("submitted"))]
        counts += [stops.select(*frame, layer=pl.lit(CRASH)) for stops in self.crashes_at(system)]
        pairs = []
        for layer, keys in _KEYS.items():
            left = projected(annotated, keys)
            right = projected(self.frames_of_layer(submitted, layer), keys)
            if layer == "type+place":
                ambiguous = self.ambiguous(reference)
                pairs += left_out(left, right, ambiguous)
                left, right = (
                    side.join(ambiguous, on="document", how="anti") for side in (left, right)
                )
                exact = self.options.place_match == "exact"
                changes, paired = localized(left, right, exact=exact)
            else:
                changes, paired = equal(left, right, keys)
            annotations = left.group_by("document", "label", maintain_order=True).agg(
                references=pl.len().cast(pl.Int64)
            )
            counts += [
                changes.select(*frame, once, "matched", layer=pl.lit(layer)),
                annotations.with_columns(layer=pl.lit(layer)),
            ]
            if alignment:
                pairs += aligned(layer, left, right, paired)
        names = pl.concat([reference.documents, system.documents]).select("row", "name").unique()
        zeros = pl.col("matched", "frames", "references").fill_null(0)
        named = with_names(pl.concat(counts, how="diagonal").with_columns(zeros), names, COUNTS)
        if not alignment:
            return named, None
        similarity = (pl.col("weight").fill_null(0) / UNIT).alias("similarity")
        rows = pl.concat(pairs, how="diagonal").with_columns(similarity, type="label")
        return named, with_names(rows, names, ALIGNMENT)

    def reference_frames(self, corpus: Corpus) -> pl.DataFrame:
        """The annotated frames, with the places that count."""
        return self.with_places(situations(corpus))

    def system_frames(self, corpus: Corpus, reference: Corpus) -> pl.DataFrame:  # noqa: ARG002
        """The submitted frames, with the places that count."""
        return self.with_places(
            situations(corpus).with_columns(pl.col("confidence").fill_null(1.0))
        )

    def with_places(self, frames: pl.DataFrame) -> pl.DataFrame:
        """Frames with the names of their places that are compared; white space is no place."""
        place = pl.col("place")
        frames = frames.with_columns(place=pl.when(place.str.strip_chars() != "").then(place))
        if self.options.normalize:
            frames = frames.with_columns(place.str.normalize(self.options.normalize))
        if self.options.place_dictionary:
            frames = frames.with_columns(place.replace(dict(self.options.place_dictionary)))
        return frames

    def frames_of_layer(self, submitted: pl.DataFrame, layer: str) -> pl.DataFrame:  # noqa: ARG002
        """The frames that are evaluated at a layer."""
        return submitted

    def ambiguous(self, reference: Corpus) -> pl.DataFrame:
        """The segments that are left out of Type+Place."""
        return ambiguous_segments(reference)

    def crashes_at(self, system: Corpus) -> Iterable[pl.DataFrame]:  # noqa: ARG002
        """The frames at which nothing can be scored."""
        return ()

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The statistics of several batches as one."""
        return pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The metrics of all layers, and the tables `scorings` and `curve`."""
        curves = self.curves(total)
        values: dict[str, float | None] = {}
        measures: list[Mapping[str, object]] = []
        rows: list[Mapping[str, object]] = []
        for layer, points in curves.items():
            name, figures = LAYERS[layer], self.figures(points)
            values |= {f"{layer}.{figure}": figures[figure] for figure in FIGURES}
            of_layer = {measure: figures[figure] for measure, figure in _MEASURES.items()}
            of_layer |= points.last() if points else dict.fromkeys(LAST)
            measures += [
                {"evaluation": "Curves", "scoring": name, "measure": measure, "value": value}
                for measure, value in of_layer.items()
            ]
            rows += [{"layer": name, **row} for row in points.rows()] if points else []
        threshold, tables = self.options.threshold, {}
        if threshold is not None:
            applying = [layer for layer, points in curves.items() if points]
            measures += rows_at(total, threshold, applying)
            tables = tables_at(total, threshold, applying)
        curve_table = pl.DataFrame(rows, schema=dict(CURVE))
        return values, {"scorings": scorings(measures), "curve": curve_table, **tables}

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The table `near_misses`: places that an option or a dictionary would make equal."""
        return {"near_misses": near_misses(aligned)}, {}

    def curves(self, total: pl.DataFrame) -> dict[str, Curve | None]:
        """The curve of each layer; None where a layer does not apply.

        A layer applies if the submission has frames of it (section 2.1). All layers of the
        reference apply to a submission without any frames.
        """
        empty = not (total["layer"] == "submitted").any()
        return curves_of(total, total if empty else submitted_rows(total), by_rank=False)

    def figures(self, points: Curve | None) -> dict[str, float | None]:
        """The metrics of one layer; all null where it does not apply."""
        if points is None:
            return dict.fromkeys(FIGURES)
        anchored = points.area(anchored=True)
        values = (anchored, anchored, points.area(anchored=False), points.best_f1())
        return dict(zip(FIGURES, values, strict=True))

    def fewest_documents(self, name: str) -> int:
        """Areas of relevance, near 1 and with few frames, need more segments than others."""
        return _MANY if name.startswith("relevance.auc") else 0

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the numbers must know."""
        lines = []
        for layer, points in self.curves(total).items():
            name = LAYERS[layer]
            if points is None:
                lines.append(f"{name} does not apply: the submission has no frames of this layer")
            elif not points.references:
                lines.append(f"{name}: the reference has no frames, so recall is undefined")
            elif len(points.beyond_zero) == 1:
                lines.append(f"{name}: {self.one_point}")
            elif not points.beyond_zero:
                lines.append(f"{name}: {self.no_point}")
        return tuple(lines)


#: Segments that intervals of areas of relevance need; docs/intervals.md has their coverage.
_MANY = 50
#: The layer of frames at which nothing can be scored.
CRASH = "crash"


def curves_of(
    total: pl.DataFrame, framed: pl.DataFrame, *, by_rank: bool
) -> dict[str, Curve | None]:
    """The curve of each layer: of Relevance, and of the layers of some rows of the statistics."""
    submitted = total.filter(pl.col("layer") == "submitted")
    applying = {"relevance", *framed["layer"].unique()}
    return {
        layer: curve(submitted, total.filter(pl.col("layer") == layer), by_rank=by_rank)
        if layer in applying
        else None
        for layer in LAYERS
    }


def submitted_rows(total: pl.DataFrame) -> pl.DataFrame:
    """The rows of frames of the system, at any layer."""
    return total.filter(pl.col("confidence").is_not_null())


# Counts at one threshold: precision, recall and F1 of a layer, by type and by segment.


_THRESHOLDS_MEASURES = {
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
            for measure, column in _THRESHOLDS_MEASURES.items():
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
