"""What the public scorer counts of norms and emotions, as rows of `detections`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.judgments import UNANNOTATED
from hlteval.scoring.ccu import best_reference, official_split, scaled
from hlteval.scoring.ccu.criteria import Criterion
from hlteval.scoring.ccu.detection_options import DetectionOptions
from hlteval.scoring.ccu.detections import (
    AGAIN,
    CORRECT,
    FALSE,
    FORGIVEN,
    MISSED,
    UNWRITTEN,
    conformed,
    unplaced,
    with_disclosure,
)
from hlteval.scoring.ccu.official_reference import OfficialReference, official_reference
from hlteval.scoring.ccu.official_system import in_reference_classes, official_system
from hlteval.scoring.ccu.spans import half_open
from hlteval.scoring.ccu.system_instances import documents, filtered

#: Instances and regions without an evaluation label, for the statistics, and one of each class of
#: the system that is compared; by their criterion.
REFERENCE, UNSCORED, SYSTEM, COMPARED = "reference", "unscored", "system", "compared"
#: The criteria of what makes the scorer crash: an instance that it cannot divide, and a part of a
#: document that has segments, but no label.
INDIVISIBLE, UNLABELLED = "indivisible", "unlabelled"


def rows(reference: Corpus, system: Corpus, kind: str, options: DetectionOptions) -> pl.DataFrame:
    """The rows of a batch of documents.

    Args:
        reference: whole documents.
        system: the submission.
        kind: `norm` or `emotion`.
        options: what was chosen.
    """
    prepared = official_reference(reference, kind, options)
    expected, unscored = prepared.instances, prepared.unscored
    if options.classes is not None:
        expected = expected.filter(pl.col("label").is_in(list(options.classes)))
        prepared = prepared._replace(instances=expected)
    found, lost = official_system(reference, system, kind, prepared, options)
    kept = filtered(found, options.llr_filter, "after_transforms")
    moved = in_reference_classes(kept, options.mapping)
    counted = {REFERENCE: expected, UNSCORED: unscored, SYSTEM: found if kind == "norm" else kept}
    parts = [
        conformed(documents(reference).select("document", "genre")),
        unplaced(lost),
        *(_counted(part, name) for name, part in counted.items()),
        _compared(moved),
        *(labels(moved, prepared, criterion, options) for criterion in options.overlap),
    ]
    if prepared.unlabelled:
        parts.append(conformed(pl.DataFrame({"criterion": [UNLABELLED]})))
    return with_disclosure(pl.concat(parts), reference)


def _compared(moved: pl.DataFrame) -> pl.DataFrame:
    """A row of each class of the system in each document."""
    classes = moved.select("document", "genre", "class").unique(maintain_order=True)
    return conformed(classes.with_columns(criterion=pl.lit(COMPARED)))


def _counted(rows: pl.DataFrame, what: str) -> pl.DataFrame:
    """Instances and regions, for the statistics."""
    side = "system" if what == SYSTEM else "reference"
    places = {f"{side}_start": pl.col("start"), f"{side}_end": pl.col("end")}
    own = rows.select("document", "genre", pl.col("label").alias("class"), **places)
    return conformed(own.with_columns(criterion=pl.lit(what)))


def labels(
    system: pl.DataFrame,
    reference: OfficialReference,
    criterion: Criterion,
    options: DetectionOptions,
) -> pl.DataFrame:
    """The evaluation label of each instance, by a criterion.

    In a document, rows of a class are in the order of the scorer: those of the system by falling
    score, then references without any, then what is written again.
    """
    expected = half_open(reference.instances).with_columns(pl.col("label").alias("class"))
    own = half_open(system)
    expected, own = _numbered(expected, "_reference"), _numbered(own, "_system")
    others = best_reference.places(own, expected, half_open(reference.unscored))
    indivisible = False
    if options.align.startswith("ManyRef"):
        chosen, indivisible = official_split.pieces(own, others)
    else:
        chosen = best_reference.candidates(own, others)
    pairs = _compared_spans(own, expected, chosen, options)
    iou, common = pairs["iou"].to_numpy(), pairs["intersection"].to_numpy()
    similar = criterion.holds(iou=iou, intersection=common) & (common > 0)
    labelled = _labelled(pairs, best_reference.first_of_each(pairs, similar), options)
    found = pl.concat([labelled, *_missed(expected, labelled)], how="diagonal")
    named = conformed(found.with_columns(criterion=pl.lit(criterion.written)))
    if indivisible:
        crash = pl.DataFrame({"criterion": [INDIVISIBLE]})
        named = pl.concat([named, conformed(crash)])
    return named


def _numbered(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    return rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(name))


def _compared_spans(
    own: pl.DataFrame, expected: pl.DataFrame, chosen: pl.DataFrame, options: DetectionOptions
) -> pl.DataFrame:
    """Candidates with both spans, their overlap and scaled shares; by falling score."""
    if "start" in chosen.columns:
        own = own.drop("start", "end")
    step = pl.col("text").cast(pl.Float64)
    pairs = chosen.join(own, on="_system", maintain_order="left").join(
        expected.select(
            "_reference",
            expected_start="start",
            expected_end="end",
            reference_start="from",
            reference_end="to",
            reference_status="status",
        ),
        on="_reference",
        how="left",
        maintain_order="left",
    )
    common = pl.min_horizontal("end", "expected_end") - pl.max_horizontal("start", "expected_start")
    pairs = pairs.with_columns(
        intersection=pl.when(pl.col("_reference").is_null()).then(0.0).otherwise(common.clip(0)),
        system_start="start",
        system_end=pl.col("end") - step,
        system_status="status",
        system_class="label",
        _span=pl.struct("class", "document", "reference_start", "reference_end"),
    )
    shared = scaled.shares(pairs, options.collar, options.collar_text)
    point = pl.col("reference_start") == pl.col("reference_end")
    apart = pl.col("intersection") <= 0
    shared = shared.with_columns(
        iou=(pl.col("intersection") / pl.col("union")).fill_null(0.0),
        tp_share=pl.when(point).then(0.0).otherwise("tp_share"),
        fp_share=pl.when(apart).then(1.0).when(point).then(0.0).otherwise("fp_share"),
    )
    return shared.sort(
        "class", "document", "llr", descending=[False, False, True], nulls_last=True,
        maintain_order=True,
    )  # fmt: skip


def _labelled(pairs: pl.DataFrame, correct: np.ndarray, options: DetectionOptions) -> pl.DataFrame:
    """Candidates with their labels.

    Of an instance with several, only the first can be a false alarm; others are written as if
    their references were missed.
    """
    hit = pl.col("_correct")
    place = pl.int_range(pl.len()).over("_system")
    alone = (~hit).sum().over("_system") <= 1
    label = (
        pl.when(hit)
        .then(pl.lit(CORRECT))
        .when((place > 0) & ~alone)
        .then(pl.lit(AGAIN))
        .otherwise(pl.lit(FALSE))
    )
    if options.align.endswith("ManyHyp"):
        assigned = (label == FALSE) & pl.col("_reference").is_not_null()
        label = pl.when(assigned).then(pl.lit(FORGIVEN)).otherwise(label)
    marked = pairs.with_columns(_correct=pl.Series(correct)).with_columns(outcome=label)
    false, again = pl.col("outcome") == FALSE, pl.col("outcome") == AGAIN
    region = pl.col("_reference").is_null()
    lost = pl.when(again & region).then(pl.lit(math.nan))
    measures = ("iou", "intersection", "union", "shifted_start", "shifted_end")
    return marked.with_columns(
        *(lost.otherwise(name).alias(name) for name in ("reference_start", "reference_end")),
        *(pl.when(~false & ~again).then(name).alias(name) for name in measures),
        tp_share=pl.when(~false).then("tp_share").otherwise(0.0),
        fp_share=pl.when(~false).then("fp_share").otherwise(1.0),
        reference_status=pl.when(again & region)
        .then(pl.lit(UNANNOTATED))
        .otherwise("reference_status"),
    )


def _missed(expected: pl.DataFrame, labelled: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """References without a correct instance.

    One that is not a candidate is written by itself, any other beside each of its false alarms; not
    beside those that are forgiven.
    """
    correct = labelled.filter(outcome=CORRECT)
    missed = expected.join(correct, on="_reference", how="anti", maintain_order="left")
    missed = missed.with_columns(
        reference_start="from", reference_end="to", reference_status="status"
    )
    near = missed.join(labelled, on="_reference", how="semi", maintain_order="left")
    yield missed.join(near, on="_reference", how="anti", maintain_order="left").with_columns(
        outcome=pl.lit(MISSED)
    )
    false = labelled.filter(outcome=FALSE).select("_reference", "llr", "system_start")
    beside = false.join(missed, on="_reference", maintain_order="left")
    first = pl.col("_reference").is_first_distinct()
    yield beside.with_columns(outcome=pl.when(first).then(pl.lit(MISSED)).otherwise(pl.lit(AGAIN)))
    yield near.join(beside, on="_reference", how="anti", maintain_order="left").with_columns(
        outcome=pl.lit(UNWRITTEN)
    )
