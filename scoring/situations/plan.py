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
    LAYERS,
    Schema,
    align_frames,
    candidate_places,
    match_frames,
    near_misses,
    outcome_rows,
    project,
    situations,
    with_names,
)

#: A row per layer and cut: how many frames it takes, the least confidence of them, and counts.
CURVE: Schema = {
    "layer": pl.String,
    "cut": pl.Int64,
    **dict.fromkeys(("threshold", "tp", "fp", "fn", "precision", "recall"), pl.Float64),
}
#: The parts of the frames of each layer (section 2.1).
_KEYS = {
    "relevance": ("document",),
    "type": ("document", "label"),
    "type+place": ("document", "label", "place"),
}
#: The metrics of each layer by their names in tables; the first is one of the next two, as the
#: profile has it.
_AREAS = {
    "AUC": "auc",
    "AUC anchored": "auc_anchored",
    "AUC unanchored": "auc_unanchored",
    "Max F1": "max_f1",
}
_COUNTS = {
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "True Positives": "tp",
    "False Positives": "fp",
    "False Negatives": "fn",
}
#: Segments that intervals of areas of relevance need; docs/intervals.md has their coverage.
_MANY = 50
#: The layer of frames at which nothing can be scored.
CRASH = "crash"


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
        """Count what the frames of a batch of segments add to each layer, and pair them.

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
        # the most confident frames first, equal ones in the order of the file
        annotated, submitted = (
            side.sort(
                *("confidence", "record"),
                descending=[True, False],
                nulls_last=True,
                maintain_order=True,
            )
            for side in (self.reference_frames(reference), self.system_frames(system, reference))
        )
        frame = ("document", "label", "confidence", "record")
        once = pl.lit(1, pl.Int64).alias("frames")
        counts = [submitted.select(*frame, once, layer=pl.lit("submitted"))]
        counts += [stops.select(*frame, layer=pl.lit(CRASH)) for stops in self.crashes_at(system)]
        exact, pairs = self.options.place_match == "exact", []
        for layer, keys in _KEYS.items():
            left = project(annotated, keys)
            right = project(self.frames_of_layer(submitted, layer), keys)
            if layer == "type+place":
                ambiguous = self.ambiguous(reference)
                for place, side in (("reference_place", left), ("system_place", right)):
                    skipped = side.join(ambiguous, on="document", how="semi", maintain_order="left")
                    pairs.append(outcome_rows(skipped.rename({"place": place}), layer, "left out"))
                left, right = (
                    side.join(ambiguous, on="document", how="anti") for side in (left, right)
                )
            changes, paired = match_frames(left, right, keys, exact=exact)
            annotations = left.group_by("document", "label", maintain_order=True)
            counts += [
                changes.select(*frame, once, "matched", layer=pl.lit(layer)),
                annotations.agg(references=pl.len().cast(pl.Int64), layer=pl.lit(layer)),
            ]
            if alignment:
                pairs.append(align_frames(layer, left, right, paired))
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
        frames = situations(corpus)
        return self.with_places(frames.with_columns(pl.col("confidence").fill_null(1.0)))

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
        return candidate_places(reference).select("document").unique()

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
            values |= {f"{layer}.{figure}": value for figure, value in figures.items()}
            of_layer = {measure: figures[figure] for measure, figure in _AREAS.items()}
            of_layer |= points.last() if points else dict.fromkeys(LAST)
            measures += _score_rows("Curves", name, of_layer)
            rows += [{"layer": name, **row} for row in points.rows()] if points else []
        tables = {"curve": pl.DataFrame(rows, schema=dict(CURVE))}
        if self.options.threshold is not None:
            layers = [layer for layer, points in curves.items() if points]
            measures += _add_threshold(tables, total, self.options.threshold, layers)
        return values, {"scorings": scorings(measures), **tables}

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
            return dict.fromkeys(_AREAS.values())
        anchored = points.area(anchored=True)
        values = (anchored, anchored, points.area(anchored=False), points.best_f1())
        return dict(zip(_AREAS.values(), values, strict=True))

    def fewest_documents(self, name: str) -> int:
        """Areas of relevance, near 1 and with few frames, need more segments than others."""
        return _MANY if name.startswith("relevance.auc") else 0

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Sentences about the numbers."""
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


def _score_rows(
    evaluation: str, scoring: str, values: Mapping[str, object]
) -> Iterator[Mapping[str, object]]:
    """Rows of the table `scorings`."""
    for measure, value in values.items():
        row = {"evaluation": evaluation, "scoring": scoring, "measure": measure}
        yield row | {"value": value}


def _add_threshold(
    tables: Tables, total: pl.DataFrame, threshold: float, layers: Sequence[str]
) -> Iterator[Mapping[str, object]]:
    """Add the tables `by_type` and `by_segment`: counts and rates at a threshold.

    Args:
        tables: the tables that are there.
        total: the statistics of all segments.
        threshold: the least confidence of a frame that counts.
        layers: the names of the layers that apply.

    Returns:
        The rows of the table `scorings`: of each layer, and of its types. What is undefined is
        null.
    """
    taken = total.filter(
        pl.col("layer").is_in(layers),
        pl.col("confidence").is_null() | (pl.col("confidence") >= threshold),
    )
    tp, frames, references = pl.col("matched") / UNIT, pl.col("frames"), pl.col("references")
    order = pl.col("layer").replace_strict({name: number for number, name in enumerate(LAYERS)})
    by_layer, by_type, by_segment = (
        taken.group_by("layer", *keys)
        .agg(pl.col("matched", "frames", "references").sum())
        .sort(order, *keys)
        .select(
            pl.col("layer").replace(LAYERS),
            *keys,
            tp=tp,
            fp=frames - tp,
            fn=references - tp,
            **rates(tp, frames, references)._asdict(),
        )
        for keys in ((), ("label",), ("document",))
    )
    by_type = by_type.filter(pl.col("layer") != LAYERS["relevance"])
    tables["by_type"] = by_type.rename({"label": "type"})
    tables["by_segment"] = by_segment.rename({"document": "segment"})
    for row in (*by_layer.iter_rows(named=True), *by_type.iter_rows(named=True)):
        scoring = f"{row['layer']}: {row['label']}" if "label" in row else row["layer"]
        values = {measure: row[column] for measure, column in _COUNTS.items()}
        yield from _score_rows(f"Confidence ≥ {threshold:g}", scoring, values)
