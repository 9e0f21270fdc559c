"""What the public scorer counts of norms and emotions, as rows of `detections`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.judgments import UNANNOTATED
from hlteval.scoring.ccu import detections, official_reference, spans
from hlteval.scoring.ccu.detections import (
    AGAIN,
    CORRECT,
    FALSE,
    MISSED,
    DetectionOptions,
    conformed,
)
from hlteval.scoring.ccu.spans import Criterion, half_open, overlapping

# One system instance for several references, as the public scorer divides it (`ManyRef`).
#
# An instance is divided between all references of its class that it overlaps, in the middle of the
# gap between each two that follow each other. One that overlaps none is compared with the first
# no-score region of its document, wherever that is; without any region the scorer crashes.


_KEY = ("class", "document")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64)


def pieces(system: pl.DataFrame, others: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The pieces of system instances, each with its reference, and whether the scorer crashes.

    Args:
        system: instances, half-open, with `class`, `text`, `truncated` and `_system`.
        others: what they are compared with, as from `best_reference.places`.

    Returns:
        `_system`, `_reference`, `_place`, and the half-open `start` and `end` of each piece; what
        is not scored is left out.
    """
    references = others.drop_nulls("_reference")
    rows, matches, _ = overlapping(system, references, _KEY)
    own = system.select("_system", "text", "start", "end")[rows]
    right = references.select("_reference", "_place", begin="start", until="end")[matches]
    pairs = pl.concat([own, right], how="horizontal").sort("_system", "_place")
    step = pl.col("text").cast(pl.Float64)
    # between the last character of one reference and the first of the next
    cut = (pl.col("until") - step + pl.col("begin").shift(-1).over("_system")) / 2
    cut = pl.when("text").then(cut.floor() + 1).otherwise(cut)
    divided = pairs.with_columns(_cut=cut).with_columns(
        start=pl.col("_cut").shift().over("_system").fill_null(pl.col("start")),
        end=pl.col("_cut").fill_null(pl.col("end")),
    )
    alone = system.join(pairs, on="_system", how="anti")
    regions = others.filter(pl.col("_reference").is_null())
    first = regions.unique(_KEY, keep="first", maintain_order=True)
    placed = alone.join(
        first.select(*_KEY, "_place", begin="start", until="end"), on=_KEY, how="left"
    )
    crashes = placed.filter(pl.col("_place").is_null()).join(references, on=_KEY, how="semi")
    overlaps = pl.min_horizontal("end", "until") > pl.max_horizontal("start", "begin")
    # of one that was cut, nothing is left; one in a document without anything is a false alarm
    scored = pl.col("_place").is_null() | ~(overlaps | pl.col("truncated"))
    kept = placed.filter(scored).with_columns(_reference=pl.lit(None, dtype=pl.Int64))
    columns = ("_system", "_reference", "_place", "start", "end")
    found = pl.concat([divided.select(columns), kept.select(columns)])
    return found.sort("_system", "_place"), not crashes.is_empty()


# How the public scorer aligns: each system instance with the reference that it fits best.
#
# Other than in Appendix A of the plan, a second-best reference is never tried, and a no-score
# region can be the best. An instance whose best is such a region is not scored, nor is one that
# was cut at a region and overlaps nothing. Of several instances with the same best, the one with
# the highest score is correct.
#
# Conventions:
#     Spans are half-open. A candidate has `_system` and `_place`, the rows of an instance and of
#     what it is compared with, null if its document has nothing; its `_reference` is null for a
#     region.


def places(system: pl.DataFrame, references: pl.DataFrame, unscored: pl.DataFrame) -> pl.DataFrame:
    """What the instances of a class are compared with: its references, and all no-score regions.

    Args:
        system: instances, with `class`.
        references: instances, with `class`, `_reference`, their rows, and `order`, which of two
            at one place comes first.
        unscored: no-score regions, with `order`.

    Returns:
        `class`, `document`, `start`, `end`, `_reference` and `_place`, by document and place.
    """
    classes = pl.concat([rows.select(_KEY) for rows in (system, references)]).unique()
    regions = unscored.join(classes, on="document")
    regions = regions.with_columns(_reference=pl.lit(None, dtype=pl.Int64))
    columns = (*_KEY, "start", "end", "_reference", "order")
    every = pl.concat([rows.select(columns) for rows in (references, regions)])
    keys = ("class", "document", "start", "end", "order")
    ordered = every.sort(keys, nulls_last=True, maintain_order=True).drop("order")
    return ordered.with_columns(_ROW.alias("_place"))


def candidates(system: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """The best reference of each system instance, or several that start and fit alike.

    Args:
        system: instances, with `class`, `truncated`, and `_system`, their rows.
        others: what they are compared with, as from `places`.

    Returns:
        `_system`, `_reference` and `_place`, sorted; what is not scored is left out.
    """
    rows, matches, common = overlapping(system, others, _KEY)
    left = system.select("_system", own_start="start", own_end="end")[rows]
    overlaps = pl.concat([left, others.drop(_KEY)[matches]], how="horizontal")
    hull = pl.max_horizontal("own_end", "end") - pl.min_horizontal("own_start", "start")
    overlaps = overlaps.with_columns(iou=pl.Series(common, dtype=pl.Float64) / hull)
    best = overlaps.filter(pl.col("iou") == pl.col("iou").max().over("_system"))
    region = pl.col("_reference").is_null()
    several = overlaps.filter(pl.len().over("_system") > 1)
    shadowed = best.filter(region).join(several, on="_system", how="semi").select("_system")
    first = best.join(shadowed, on="_system", how="anti").filter(
        pl.col("start") == pl.col("start").min().over("_system")
    )
    second = overlaps.join(shadowed, on="_system", how="semi").filter(~region)
    second = second.filter(pl.col("iou") == pl.col("iou").max().over("_system"))

    # What overlaps several regions only: all else has the IoU of the best reference, which is 0.
    cut = pl.col("truncated")
    own = system.select("_system", "truncated", *_KEY)
    lost = own.join(shadowed, on="_system", how="semi").join(second, on="_system", how="anti")
    apart = lost.join(others, on=_KEY).filter((~region).any().over("_system"), ~region | ~cut)
    apart = apart.join(overlaps, on=["_system", "_place"], how="anti")

    # What overlaps nothing, with what starts first in its document, if anything does.
    elsewhere = own.join(overlaps, on="_system", how="anti")
    earliest = others.filter(pl.col("start") == pl.col("start").min().over(_KEY))
    nearest = elsewhere.join(earliest, on=_KEY, how="left")
    nearest = nearest.filter(~(cut & pl.col("_place").is_not_null() & region))

    kept = (first.filter(~region), second, apart, nearest)
    columns = ("_system", "_reference", "_place")
    return pl.concat([pairs.select(columns) for pairs in kept]).sort("_system", "_place")


def first_of_each(pairs: pl.DataFrame, similar: np.ndarray) -> np.ndarray:
    """Which pairs are correct: of those with references of one place, that of the highest score.

    Args:
        pairs: `_span`, the place of the reference, and `llr`, in the order of the files.
        similar: whether each is similar enough.
    """
    found = pairs.select("_span", "llr", _similar=pl.Series(similar)).with_row_index("_order")
    ranked = found.filter("_similar").sort(
        "llr", descending=True, nulls_last=True, maintain_order=True
    )
    first = ranked.unique("_span", keep="first", maintain_order=True)["_order"]
    chosen = np.zeros(len(similar), dtype=bool)
    chosen[first.to_numpy()] = True
    return chosen


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
    prepared = official_reference.official_reference(reference, kind, options)
    expected, unscored = prepared.instances, prepared.unscored
    if options.classes is not None:
        expected = expected.filter(pl.col("label").is_in(list(options.classes)))
        prepared = prepared._replace(instances=expected)
    found, lost = official_reference.official_system(reference, system, kind, prepared, options)
    kept = detections.filtered(found, options.llr_filter, "after_transforms")
    moved = official_reference.in_reference_classes(kept, options.mapping)
    parts = [
        conformed(detections.documents(reference).select("document", "genre")),
        detections.unplaced(lost),
    ]
    sides = ("reference", expected), ("reference", unscored), ("system", found)
    if kind != "norm":
        sides = (*sides[:2], ("system", kept))
    for criterion, (side, rows) in zip((REFERENCE, UNSCORED, SYSTEM), sides, strict=True):
        own = rows.rename({"label": "class", "start": f"{side}_start", "end": f"{side}_end"})
        own = own.select("document", "genre", "class", f"{side}_start", f"{side}_end")
        parts.append(conformed(own.with_columns(criterion=pl.lit(criterion))))
    classes = moved.select("document", "genre", "class").unique(maintain_order=True)
    parts.append(conformed(classes.with_columns(criterion=pl.lit(COMPARED))))
    parts += [labels(moved, prepared, criterion, options) for criterion in options.overlap]
    if prepared.unlabelled:
        parts.append(conformed(pl.DataFrame({"criterion": [UNLABELLED]})))
    return detections.with_disclosure(pl.concat(parts), reference)


def labels(
    system: pl.DataFrame,
    reference: official_reference.OfficialReference,
    criterion: Criterion,
    options: DetectionOptions,
) -> pl.DataFrame:
    """The evaluation label of each instance, by a criterion.

    In a document, rows of a class are in the order of the scorer: those of the system by falling
    score, then references without any, then what is written again.
    """
    expected = half_open(reference.instances)
    expected = expected.with_columns(pl.col("label").alias("class"), _reference=_ROW)
    own = half_open(system).with_columns(_system=_ROW)
    others = places(own, expected, half_open(reference.unscored))
    indivisible = False
    if options.align.startswith("ManyRef"):
        chosen, indivisible = pieces(own, others)
        own = own.drop("start", "end")
    else:
        chosen = candidates(own, others)
    pairs = _compared_spans(
        chosen.join(own, on="_system", maintain_order="left"), expected, options
    )
    iou, common = pairs["iou"].to_numpy(), pairs["intersection"].to_numpy()
    similar = criterion.holds(iou=iou, intersection=common) & (common > 0)
    labelled = _labelled(pairs, first_of_each(pairs, similar), options)
    found = pl.concat([labelled, *_missed(expected, labelled)], how="diagonal")
    named = conformed(found.with_columns(criterion=pl.lit(criterion.written)))
    if indivisible:
        named = pl.concat([named, conformed(pl.DataFrame({"criterion": [INDIVISIBLE]}))])
    return named


def _compared_spans(
    chosen: pl.DataFrame, expected: pl.DataFrame, options: DetectionOptions
) -> pl.DataFrame:
    """Candidates with both spans, their overlap and scaled shares; by falling score."""
    step = pl.col("text").cast(pl.Float64)
    others = expected.select(
        "_reference",
        expected_start="start",
        expected_end="end",
        reference_start="from",
        reference_end="to",
        reference_status="status",
    )
    pairs = chosen.join(others, on="_reference", how="left", maintain_order="left")
    common = pl.min_horizontal("end", "expected_end") - pl.max_horizontal("start", "expected_start")
    pairs = pairs.with_columns(
        intersection=pl.when(pl.col("_reference").is_null()).then(0.0).otherwise(common.clip(0)),
        system_start="start",
        system_end=pl.col("end") - step,
        system_status="status",
        system_class="label",
        _span=pl.struct("class", "document", "reference_start", "reference_end"),
    )
    shared = spans.shares(pairs, options.collar, options.collar_text)
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
    several = (~hit).sum().over("_system") > 1
    later = pl.when((place > 0) & several).then(pl.lit(AGAIN)).otherwise(pl.lit(FALSE))
    label = pl.when(hit).then(pl.lit(CORRECT)).otherwise(later)
    if options.align.endswith("ManyHyp"):
        assigned = (label == FALSE) & pl.col("_reference").is_not_null()
        label = pl.when(assigned).then(pl.lit(detections.FORGIVEN)).otherwise(label)
    marked = pairs.with_columns(_correct=pl.Series(correct)).with_columns(outcome=label)
    false, again = pl.col("outcome") == FALSE, pl.col("outcome") == AGAIN
    lost = again & pl.col("_reference").is_null()
    measures = ("iou", "intersection", "union", "shifted_start", "shifted_end")
    places = ("reference_start", "reference_end")
    status = pl.when(lost).then(pl.lit(UNANNOTATED)).otherwise("reference_status")
    return marked.with_columns(
        *(pl.when(lost).then(math.nan).otherwise(name).alias(name) for name in places),
        *(pl.when(~false & ~again).then(name).alias(name) for name in measures),
        tp_share=pl.when(~false).then("tp_share").otherwise(0.0),
        fp_share=pl.when(~false).then("fp_share").otherwise(1.0),
        reference_status=status,
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
        outcome=pl.lit(detections.UNWRITTEN)
    )
