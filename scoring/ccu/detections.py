"""What is counted of norms and emotions: the evaluation label of each instance.

CCU Phase 1 plan, Appendix A, Step 2: a system instance is a correct detection (`CD`) or a false
alarm (`FA`), a reference instance without one a missed detection (`MD`). What they are at a
detection threshold follows from the scores alone, so that these rows are all that is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.judgments import (
    NONE,
    UNANNOTATED,
    Constants,
    decisions_of,
    scored_reference,
)
from hlteval.scoring.ccu import alignment, scaled, system_instances
from hlteval.scoring.ccu.criteria import Criterion
from hlteval.scoring.ccu.detection_options import DetectionOptions
from hlteval.scoring.ccu.file_merge import in_parts, parts_of_reference, parts_of_system
from hlteval.scoring.ccu.hidden_norms import HIDDEN, KNOWN, hidden_norms, in_plan_classes, unlisted
from hlteval.scoring.ccu.spans import Whole, half_open, scored_places, union
from hlteval.scoring.ccu.split import divided

CORRECT, FALSE, MISSED, FORGIVEN = "CD", "FA", "MD", "F-FA"
#: In `official`: a row that the public scorer writes as a missed detection, but does not count; and
#: a missed detection that it counts, but does not write.
AGAIN, UNWRITTEN = "MD again", "MD unwritten"
#: Not scored: an instance of a hidden norm without a mapping, or one of a system that has the name
#: of a hidden norm and is not in the mapping.
UNMAPPED = "not mapped"
#: The criterion of system instances without a place.
UNPLACED = "unplaced"
#: The columns: an instance or a pair by criterion; without an outcome, a document, or what else is
#: counted of it. Places are as written, except that the official software cuts them. `disclosure`
#: is whether a norm is known or hidden; `shifted` places are those of a system instance with a
#: collar. Change points have a start only, and a `distance` from their reference.
ROWS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {
        "document": pl.String,
        "genre": pl.String,
        "criterion": pl.String,
        "class": pl.String,
        "disclosure": pl.String,
        "outcome": pl.String,
        "reference_start": pl.Float64,
        "reference_end": pl.Float64,
        "system_start": pl.Float64,
        "system_end": pl.Float64,
        "llr": pl.Float64,
        "iou": pl.Float64,
        "intersection": pl.Float64,
        "union": pl.Float64,
        "shifted_start": pl.Float64,
        "shifted_end": pl.Float64,
        "tp_share": pl.Float64,
        "fp_share": pl.Float64,
        "reference_status": pl.String,
        "system_status": pl.String,
        "system_class": pl.String,
        "distance": pl.Float64,
    }
)


def rows(reference: Corpus, system: Corpus, kind: str, options: DetectionOptions) -> pl.DataFrame:
    """The rows of a batch of documents (`ROWS`).

    Args:
        reference: whole documents.
        system: the submission.
        kind: `norm` or `emotion`.
        options: what was chosen.
    """
    expected, scored = _expected(reference, kind, options)
    every = system_instances.ranked(
        system_instances.system_instances(reference, system, kind, options)
    )
    found, lost = system_instances.placed(
        system_instances.filtered(every, options.llr_filter, "after_read")
    )
    if options.file_merge:
        found = parts_of_system(found, _as_written(scored))
    found = system_instances.merged(found, options)
    found = system_instances.filtered(found, options.llr_filter, "after_transforms")
    expected = _chosen(scored_places(expected, union(scored)), options)
    found = scored_places(half_open(found), union(scored))
    found = found.filter(pl.col("end") > pl.col("start"))
    hidden = hidden_norms(reference, system, options.mapping)
    can_be_found = ~pl.col("class").is_in(list(hidden)) | (options.mapping is not None)
    others = unlisted(found, hidden, options.mapping).with_columns(pl.col("label").alias("class"))
    aside = unmapped(_chosen(others, options), expected.filter(~can_be_found), options)
    expected = expected.filter(can_be_found)
    found = _chosen(in_plan_classes(found, hidden, options.mapping), options)
    if options.align.startswith("ManyRef"):
        found = divided(found, expected)
    found = found.sort("document", "class", "start", "end", "llr", descending=[False] * 4 + [True])
    labelled = [labels(found, expected, criterion, options) for criterion in options.overlap]
    names = system_instances.documents(reference)
    parts = [conformed(names.select("document", "genre")), unplaced(lost), aside, *labelled]
    return with_disclosure(pl.concat(parts), reference)


def unmapped(
    system: pl.DataFrame, reference: pl.DataFrame, options: DetectionOptions
) -> pl.DataFrame:
    """The rows of hidden norms that are not scored, by each criterion.

    Args:
        system: instances that have the name of a hidden norm, and that nothing maps.
        reference: instances of hidden norms, if there is no mapping.
        options: the criteria.
    """
    sides = (system.select(_SYSTEM), reference.select(_REFERENCE))
    own = pl.concat(conformed(side.with_columns(outcome=pl.lit(UNMAPPED))) for side in sides)
    return pl.concat(own.with_columns(criterion=pl.lit(each.written)) for each in options.overlap)


def unplaced(rows: pl.DataFrame) -> pl.DataFrame:
    """Instances of a system that have no place, to be counted."""
    own = rows.select("document", "genre", pl.col("label").alias("class"), "llr")
    return conformed(own.with_columns(criterion=pl.lit(UNPLACED)))


def _expected(
    reference: Corpus, kind: str, options: DetectionOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The instances of a reference, and the parts of documents that are scored; half-open.

    Regions that nobody annotated are not scored; what is merged has no gap in it.
    """
    constants = options.constants(official=False)
    names = system_instances.documents(reference).select("document", "genre", key="key")
    if options.file_merge:
        instances, annotated = _parts(reference, kind, constants, options.file_merge)
    else:
        instances, annotated = scored_reference(reference, kind, constants)
    instances, annotated = (
        half_open(part.rename({"document": "key"}).join(names, on="key", maintain_order="left"))
        for part in (instances, annotated)
    )
    covered = pl.concat([annotated, instances], how="diagonal")
    return instances.with_columns(pl.col("label").alias("class")), covered


def _parts(
    reference: Corpus, kind: str, constants: Constants, number: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The same for parts of documents instead of segments."""
    decisions = decisions_of(reference, kind, constants).with_columns(genre=pl.lit(""))
    own = reference.regions.join(decisions, on="document", how="semi")
    segments = own.select("document", "start", "end")
    placed = in_parts(segments, number, lambda span: span / number)
    parts = parts_of_reference(decisions, placed).drop("genre")
    annotated = parts.filter(pl.col("label") != UNANNOTATED)
    places = annotated.select("document", "text", "start", "end").unique(maintain_order=True)
    return annotated.filter(pl.col("label") != NONE), places


def _as_written(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select("document", "genre", "text", start="from", end="to")


def _chosen(rows: pl.DataFrame, options: DetectionOptions) -> pl.DataFrame:
    """The instances of the classes that are scored."""
    if options.classes is None:
        return rows
    return rows.filter(pl.col("class").is_in(list(options.classes)))


def labels(
    system: pl.DataFrame, reference: pl.DataFrame, criterion: Criterion, options: DetectionOptions
) -> pl.DataFrame:
    """The evaluation label of each instance, by a criterion.

    Args:
        system: instances in scored places, with `class`, `llr`, and places as written.
        reference: the same, without `llr`.
        criterion: what a correct pair is.
        options: the collars.
    """
    every = alignment.pairs(system, reference)
    mappable = every.mappable(criterion)
    own, expected = every.system[mappable], every.reference[mappable]
    correct = alignment.greedy(
        own,
        expected,
        system["llr"].to_numpy()[own],
        system["start"].to_numpy()[own],
        reference["start"].to_numpy()[expected],
    )
    own, expected = own[correct], expected[correct]
    pairs = pl.DataFrame(
        {
            "_system": own,
            "_reference": expected,
            "iou": every.iou[mappable][correct],
            "intersection": every.intersection[mappable][correct],
        }
    )
    numbered = (
        system.select(_SYSTEM)
        .with_row_index("_system")
        .with_columns(pl.col("_system").cast(pl.Int64))
    )
    others = (
        reference.select(_REFERENCE)
        .with_row_index("_reference")
        .with_columns(pl.col("_reference").cast(pl.Int64))
    )
    both = pairs.join(numbered, on="_system").join(
        others.drop("document", "genre", "class"), on="_reference"
    )
    both = scaled.shares(both, options.collar, options.collar_text)
    parts = [
        both.with_columns(outcome=pl.lit(CORRECT)),
        numbered.join(pairs, on="_system", how="anti").with_columns(
            outcome=_false(every.system[mappable], options),
            tp_share=pl.lit(0.0),
            fp_share=pl.lit(1.0),
        ),
        others.join(pairs, on="_reference", how="anti").with_columns(outcome=pl.lit(MISSED)),
    ]
    named = [conformed(part.with_columns(criterion=pl.lit(criterion.written))) for part in parts]
    return pl.concat(named)


def _false(extra: Whole, options: DetectionOptions) -> pl.Expr:
    """False alarms; without those for references that others have found, if these are forgiven."""
    forgiven = pl.col("_system").is_in(extra.tolist()) & options.align.endswith("ManyHyp")
    return pl.when(forgiven).then(pl.lit(FORGIVEN)).otherwise(pl.lit(FALSE))


_SYSTEM = (
    "document",
    "genre",
    "class",
    "text",
    "start",
    "end",
    "llr",
    pl.col("from").alias("system_start"),
    pl.col("to").alias("system_end"),
    pl.col("status").alias("system_status"),
    pl.col("label").alias("system_class"),
)
_REFERENCE = (
    "document",
    "genre",
    "class",
    pl.col("start").alias("expected_start"),
    pl.col("end").alias("expected_end"),
    pl.col("from").alias("reference_start"),
    pl.col("to").alias("reference_end"),
    pl.col("status").alias("reference_status"),
)


def conformed(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with all columns of `ROWS`, in order; what is absent is null."""
    given = set(rows.columns)
    return rows.select(
        (pl.col(name) if name in given else pl.lit(None)).cast(kind).alias(name)
        for name, kind in ROWS.items()
    )


def with_disclosure(rows: pl.DataFrame, reference: Corpus) -> pl.DataFrame:
    """Rows that say whether their norm is known or hidden, where the reference lists it."""
    listed = reference.entities.select(pl.col("entity").alias("class"), disclosure="label")
    known = listed.filter(pl.col("disclosure").is_in([KNOWN, HIDDEN])).unique("class", keep="first")
    joined = rows.drop("disclosure").join(known, on="class", how="left", maintain_order="left")
    return joined.select(*ROWS)


def total(batches: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The rows of all batches, sorted so that they do not depend on the batches."""
    every = pl.concat([pl.DataFrame(schema=dict(ROWS)), *batches])
    return every.sort("document", maintain_order=True)
