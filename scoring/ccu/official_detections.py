"""What the public scorer counts of norms and emotions, as rows of `detections`."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu import best_reference, scaled, split
from hlteval.scoring.ccu.criteria import Criterion
from hlteval.scoring.ccu.detection_options import DetectionOptions
from hlteval.scoring.ccu.detections import (
    AGAIN,
    CORRECT,
    FALSE,
    FORGIVEN,
    MISSED,
    conformed,
    unplaced,
    with_disclosure,
)
from hlteval.scoring.ccu.official_reference import OfficialReference, official_reference
from hlteval.scoring.ccu.official_system import official_system
from hlteval.scoring.ccu.spans import half_open
from hlteval.scoring.ccu.system_instances import documents, filtered, in_reference_classes

REFERENCE, UNSCORED, SYSTEM, COMPARED = "reference", "unscored", "system", "compared"
"""Instances and regions without an evaluation label, for the statistics, and one of each class of
the system that is compared; by their criterion."""


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
    """The evaluation label of each instance, by a criterion."""
    expected = half_open(reference.instances).with_columns(pl.col("label").alias("class"))
    own = half_open(system)
    several = options.align.startswith("ManyRef")
    if several:
        own = split.divided(own, expected)
    expected, own = _numbered(expected, "_reference"), _numbered(own, "_system")
    regions = half_open(reference.unscored)
    pairs = _pairs(own, expected, regions, between=not several)
    iou, common = pairs["iou"].to_numpy(), pairs["intersection"].to_numpy()
    similar = criterion.holds(iou=iou, intersection=common) & (common > 0)
    correct = best_reference.first_of_each(pairs, similar)
    extra = similar & ~correct & options.align.endswith("ManyHyp")
    hits = pairs.filter(pl.Series(correct))
    rest = pairs.filter(~pl.Series(correct | extra))
    parts = [
        _paired(hits, CORRECT, options),
        _paired(pairs.filter(pl.Series(extra)), FORGIVEN, options),
        _false(rest),
        _missed(expected, hits, rest),
    ]
    named = [conformed(part.with_columns(criterion=pl.lit(criterion.written))) for part in parts]
    return pl.concat(named)


def _numbered(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    return rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(name))


def _pairs(
    own: pl.DataFrame, expected: pl.DataFrame, unscored: pl.DataFrame, *, between: bool
) -> pl.DataFrame:
    """Each system instance with its best reference, if any, in the order of the files.

    Where instances are divided between references (not `between`), no region is the best.
    """
    best = best_reference.candidates(own, expected, unscored, regions=between)
    others = expected.select(
        "_reference",
        expected_start="start",
        expected_end="end",
        reference_start="from",
        reference_end="to",
        reference_status="status",
    )
    pairs = best.join(own, on="_system").join(others, on="_reference", how="left")
    return pairs.sort("_system", "_reference").with_columns(
        system_start="from",
        system_end="to",
        system_status="status",
        system_class="label",
        _place=pl.struct("class", "document", "reference_start", "reference_end"),
    )


def _paired(pairs: pl.DataFrame, outcome: str, options: DetectionOptions) -> pl.DataFrame:
    """Pairs of a system instance and a reference that are similar enough."""
    shared = scaled.shares(pairs.drop("union"), options.collar, options.collar_text)
    return shared.with_columns(outcome=pl.lit(outcome))


def _false(rest: pl.DataFrame) -> pl.DataFrame:
    """System instances without a reference; one that has several candidates counts once."""
    of_reference = [name for name in rest.columns if name.startswith("reference_")]
    alone = rest.unique("_system", keep="first", maintain_order=True)
    alone = alone.drop("iou", "intersection", "union", *of_reference)
    return alone.with_columns(outcome=pl.lit(FALSE), tp_share=pl.lit(0.0), fp_share=pl.lit(1.0))


def _missed(expected: pl.DataFrame, hits: pl.DataFrame, rest: pl.DataFrame) -> pl.DataFrame:
    """References without a system instance, once for each false alarm that is near."""
    near = rest.drop_nulls("_reference").select("_reference", "llr", "system_start")
    missed = expected.join(hits, on="_reference", how="anti", maintain_order="left").join(
        near, on="_reference", how="left", maintain_order="left"
    )
    again = ~pl.col("_reference").is_first_distinct()
    return missed.with_columns(
        outcome=pl.when(again).then(pl.lit(AGAIN)).otherwise(pl.lit(MISSED)),
        reference_start="from",
        reference_end="to",
        reference_status="status",
    )
