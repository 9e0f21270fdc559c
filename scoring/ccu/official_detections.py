"""Norms and emotions as the public scorer prepares and aligns them, as rows of `detections`.

Its reference differs from Appendix D of the plan (`representation.judgments`) in this: nothing is
merged unless an option asks for it, and what lies between merged segments is not looked at;
annotators are counted by rows; `noann` has votes; only what lies before the first and after the
last segment is not scored, and each segment that nobody annotated, as a region of its own.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import Corpus, judgments
from hlteval.representation.judgments import NONE, SEGMENT, UNANNOTATED
from hlteval.scoring.ccu import detections, spans
from hlteval.scoring.ccu.detections import AGAIN, CORRECT, FALSE, MISSED, DetectionOptions, to_rows
from hlteval.scoring.ccu.spans import Criterion, half_open
from hlteval.scoring.instance_detection import overlap_pairs

_COLUMNS = ("document", "genre", "text", "label", "status", "start", "end")
#: Separates statuses in no cell: the scorer joins lists of statuses as they are.
_NOWHERE = "\n"


class OfficialReference(NamedTuple):
    """A reference as the public scorer compares with it; places as written.

    Attributes:
        instances: `document` by name, `genre`, `text`, `label`, `status`, `start`, `end`; and
            `order`, the number of the label in its document.
        unscored: no-score regions, with the same columns.
        parts: the parts of documents, if these are compared.
        unlabelled: whether a part has segments, but no label.
    """

    instances: pl.DataFrame
    unscored: pl.DataFrame
    parts: pl.DataFrame | None = None
    unlabelled: bool = False


def official_reference(corpus: Corpus, kind: str, options: DetectionOptions) -> OfficialReference:
    """The instances and the no-score regions of a reference.

    Args:
        corpus: a reference.
        kind: `norm` or `emotion`.
        options: what was chosen.
    """
    constants = options.constants(None, None)
    rows = _rows(corpus, kind)
    if kind == "emotion":
        decided = by_majority(rows, constants.votes)
    else:
        decided = single(rows, conflicts_unscored=constants.conflicts_unscored)
    gaps = constants.seconds, constants.characters
    silent = pl.col("label") == UNANNOTATED
    if options.file_merge:
        segments = chain_segments(decided.filter(~silent), gaps, by_status=constants.by_status)
        return _parts(corpus, pl.concat([segments, decided.filter(silent)]), options.file_merge)
    instances = decided.filter(~silent, pl.col("label") != NONE)
    limits = outside(decided, detections.documents(corpus)).with_columns(
        label=pl.lit(UNANNOTATED), status=pl.lit(None, dtype=pl.String)
    )
    chains = chain_segments(instances, gaps, by_status=constants.by_status)
    regions = pl.concat([part.select(_COLUMNS) for part in (decided.filter(silent), limits)])
    # Rows by place, each once: two annotators can give a segment the same norm and status.
    instances, unscored = (
        _with_order(rows, decided)
        .unique(maintain_order=True)
        .sort("document", "start", "end", maintain_order=True)
        for rows in (chains, regions)
    )
    return OfficialReference(instances, unscored)


def _with_order(rows: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    """Rows with the number of their label in its document, by the first segment that has it.

    The scorer goes through segments by place and keeps labels in the order in which it meets them:
    of a reference and a no-score region at one place, that of the first label comes first.

    Args:
        rows: instances or regions.
        decided: segments with labels, in the order of the files.
    """
    ordered = decided.sort("document", "start", "end", maintain_order=True)
    labels = ordered.select("document", "label").unique(maintain_order=True)
    order = labels.with_row_index("order")
    return rows.join(order, on=["document", "label"], how="left", maintain_order="left")


def _parts(corpus: Corpus, decided: pl.DataFrame, number: int) -> OfficialReference:
    """The labels of parts of documents; what is outside of them does not count at all.

    Labels of segments are found by their places, so that merged ones have no part. The length of a
    part is a whole number where a binary fraction of the span leaves a rest.
    """
    own = detections.segments(corpus).join(decided, on="document", how="semi").drop("region")
    lengths = partial(_part_lengths, number=number)
    placed = detections.in_parts(
        own, number, lambda span: span.map_batches(lengths, return_dtype=pl.Float64)
    )
    some = placed.join(decided, on=["document", "start", "end"], how="semi")
    empty = placed.join(some, on=["document", "part"], how="anti")
    parts = _with_order(detections.parts_of_reference(decided, placed), decided)
    silent = pl.col("label") == UNANNOTATED
    instances = parts.filter(~silent, pl.col("label") != NONE)
    return OfficialReference(instances, parts.filter(silent), parts, empty.height > 0)


def _part_lengths(spans: pl.Series, number: int) -> pl.Series:
    """The lengths of the parts of spans; the rest is that of C, which polars does not compute.

    Examples:
        >>> _part_lengths(pl.Series([65.108, 60.0]), 3).to_list()
        [21.0, 20.0]
    """
    whole = spans.to_numpy()
    length = whole * (1 / number)
    with np.errstate(invalid="ignore"):
        divisible = np.fmod(whole, length) == 0
    return pl.Series(np.where(divisible, length, np.floor(length)))


def _rows(corpus: Corpus, kind: str) -> pl.DataFrame:
    """The judgments of a kind, without those of empty segments of audio or video."""
    names = corpus.documents.select(
        document="row", name="name", genre="modality", text=judgments.is_text(), length="length"
    )
    own = corpus.instances.filter(pl.col("kind") == kind).drop_nulls(["start", "end"])
    said = ("region", "annotator", "label", "status", "several", "start", "end")
    own = own.select("document", "record", *said)
    own = own.join(names, on="document", maintain_order="left").drop("document")
    own = own.rename({"name": "document"})
    return own.filter(pl.col("text") | (pl.col("start") != pl.col("end")))


def single(rows: pl.DataFrame, *, conflicts_unscored: bool) -> pl.DataFrame:
    """Norms: each row by itself; possibly no segment where a norm has several statuses."""
    if conflicts_unscored:
        rows = judgments.without_conflicts(rows, ["annotator", *SEGMENT])
    key = ["annotator", "region", *_COLUMNS]
    return rows.unique(key, maintain_order=True).select(_COLUMNS)


def by_majority(rows: pl.DataFrame, votes: int) -> pl.DataFrame:
    """Emotions: what enough rows of a segment have; `none` if there is nothing of this kind."""
    said = ("annotator", "several")  # a row that is repeated counts once
    records = rows.group_by("record", *SEGMENT, "genre", "text", *said, maintain_order=True)
    listed = records.agg("label").unique([*SEGMENT, *said, "label"], maintain_order=True)
    # In two steps: a window inside of another one takes quadratic time.
    every = listed.with_columns(first=pl.col("annotator").first().over(SEGMENT))
    others = (pl.col("annotator") != pl.col("first")).sum().over(SEGMENT)
    every = every.with_columns(judges=1 + others).drop("first").explode("label")
    key = [*SEGMENT, "genre", "text", "judges"]
    counted = every.group_by(*key, "label", maintain_order=True).agg(votes=pl.len())
    return judgments.decide(counted, pl.col("votes") >= votes, votes, _COLUMNS)


def chain_segments(
    rows: pl.DataFrame, gaps: tuple[float | None, float | None], *, by_status: bool, llr: str = ""
) -> pl.DataFrame:
    """Rows of a class of which each starts less than a gap after the end of the one before.

    Args:
        rows: instances, places as written.
        gaps: in seconds and in characters; None merges none.
        by_status: whether each has the status of the one before, too.
        llr: `min_llr` or `max_llr`, for instances that have a score.
    """
    key = ["document", "label"]
    ordered = rows.sort(*key, "start", "end", maintain_order=True)
    most = pl.when("text").then(gaps[1]).otherwise(gaps[0]).cast(pl.Float64)
    before = pl.col("end").shift().over(key)
    begins = before.is_null() | most.is_null() | ~(pl.col("start") - before < most)
    if by_status:
        status = pl.col("status").fill_null("")
        begins |= status != status.shift().over(key)
    numbered = ordered.with_columns(number=begins.cum_sum())
    scores = pl.col("llr")
    place = scores.arg_min() if llr == "min_llr" else scores.arg_max()
    score = pl.when(scores.first().is_not_null()).then(scores.get(place))
    one = numbered.group_by("number", maintain_order=True).agg(
        pl.col("document", "genre", "text", "label", "start").first(),
        pl.col("end").last(),
        *([score, pl.col("truncated").any()] if llr else []),
    )
    return judgments.with_statuses(one, numbered, _NOWHERE).select(rows.columns)


def outside(segments: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """The regions before the first and after the last segment of each document.

    Args:
        segments: with places as written.
        documents: with `text`, whether both places are inside, and `length`.
    """
    limits = segments.group_by("document", maintain_order=True).agg(
        pl.col("start").min(), pl.col("end").max()
    )
    limits = limits.join(documents, on="document", maintain_order="left")
    step = pl.col("text").cast(pl.Float64)
    before = limits.with_columns(start=0.0, end=pl.col("start") - step)
    after = limits.with_columns(start=pl.col("end") + step, end="length")
    # of text, a region of one character starts where it ends
    return pl.concat([before, after]).filter(pl.col("start") < pl.col("end") + step)


# Numbers as the public scorer reads them: digit by digit, so that the last one can differ.
#
# pandas multiplies by ten and adds for each of 17 digits, a leading zero among them, and then
# divides by a power of ten once. Numbers of at most 15 digits are read exactly.


_MOST = 17
_EXACT = 15


def as_read(values: pl.Series) -> pl.Series:
    """Values as pandas reads them, where they were written with as few digits as needed.

    Examples:
        >>> as_read(pl.Series([0.30000000000000004, -3.9219625675946164, 0.1])).to_list()
        [0.3, -3.921962567594616, 0.1]
    """
    known = values.drop_nulls().unique()
    known = known.filter(known.is_finite())
    long = {value: read for value in known if (read := _read(repr(value))) != value}
    return values.replace(list(long), list(long.values())) if long else values


def _read(written: str) -> float:
    """A number as written by Python, read as pandas does."""
    mantissa, _, exponent = written.lstrip("-").partition("e")
    whole, _, decimals = mantissa.partition(".")
    digits = whole + decimals
    if len(digits) <= _EXACT:
        return float(written)
    number = 0.0
    for digit in digits[:_MOST]:
        number = number * 10.0 + int(digit)
    power = int(exponent or 0) + len(whole) - min(len(digits), _MOST)
    number = number * 10.0**power if power > 0 else number / 10.0**-power
    return -number if written.startswith("-") else number


# The instances of a system as the public scorer prepares them: cut at no-score regions.


def official_system(
    reference: Corpus,
    system: Corpus,
    kind: str,
    prepared: OfficialReference,
    options: DetectionOptions,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The instances of a system outside of no-score regions, and those without a place.

    Args:
        reference: the reference.
        system: the submission.
        kind: `norm` or `emotion`.
        prepared: the same, as it is scored.
        options: what was chosen.
    """
    every = detections.system_instances(reference, system, kind, options)
    every = every.with_columns(as_read(every["llr"]))
    rows, lost = detections.split_placed(
        detections.above_least(every, options.llr_filter, "after_read")
    )
    rows = rows.sort("start", "end", maintain_order=True).unique(maintain_order=True)
    order = system.documents.select(document="name", _order="row")
    rows = rows.join(order, on="document", maintain_order="left")
    rows = rows.sort("_order", maintain_order=True).drop("_order")
    if prepared.parts is not None:
        whole = detections.parts_of_system(rows, prepared.parts)
        return whole.with_columns(truncated=pl.lit(value=False)), lost
    rows = truncate(rows, prepared.unscored)
    gaps = (options.merge_system, options.merge_system_text)
    if gaps != (None, None):
        by_status = options.merge_system_by == "class-status"
        rows = chain_segments(rows, gaps, by_status=by_status, llr=options.merge_system_llr)
    return rows, lost


def in_reference_classes(rows: pl.DataFrame, mapping: pl.DataFrame | None) -> pl.DataFrame:
    """Instances with the `class` of the reference in which each is scored.

    In each class, those that are mapped to it come first, in the order of the mapping; then those
    that the system calls so.

    Args:
        rows: instances of the system.
        mapping: `sys_norm` and `ref_norm`; None if nothing is mapped.

    Examples:
        >>> rows = pl.DataFrame({"label": ["A1", "101"], "llr": [1.0, 2.0]})
        >>> mapping = pl.DataFrame({"sys_norm": ["A1", "101"], "ref_norm": ["005", "005"]})
        >>> in_reference_classes(rows, mapping)["class"].to_list()
        ['005', '005', 'A1', '101']
    """
    own = rows.with_columns(pl.col("label").alias("class"))
    if mapping is None:
        return own
    pairs = mapping.select("ref_norm", label="sys_norm").unique(maintain_order=True)
    others = pairs.filter(pl.col("label") != pl.col("ref_norm"))
    moved = others.join(rows, on="label", maintain_order="left_right")
    return pl.concat([moved.rename({"ref_norm": "class"}).select(own.columns), own])


def truncate(rows: pl.DataFrame, unscored: pl.DataFrame) -> pl.DataFrame:
    """Instances without those inside no-score regions; others are cut at their limits.

    An instance that begins before a region and ends after it stays as it is. Regions are taken in
    the order of their starts, one of each document at a time; what is inside one only after a cut
    stays too.
    """
    rows = rows.filter(~spans.inside(rows, unscored))
    step = rows["text"].to_numpy().astype(np.float64)
    start, end = rows["start"].to_numpy().copy(), rows["end"].to_numpy().copy()
    cut = np.zeros(len(start), dtype=bool)
    sides = half_open(rows), half_open(unscored)
    overlaps, others, _ = overlap_pairs(*sides, ("document",))
    begins, untils = (unscored[name].to_numpy()[others] for name in ("start", "end"))
    order = np.lexsort((others, begins, overlaps))
    overlaps, begins, untils = overlaps[order], begins[order], untils[order]
    # the first region that each instance overlaps, then the second, and so on
    number = np.arange(len(overlaps)) - np.searchsorted(overlaps, overlaps)
    for turn in range(int(number.max(initial=-1)) + 1):
        own, begin, until = (values[number == turn] for values in (overlaps, begins, untils))
        late = (begin <= start[own]) & (start[own] < until) & (until < end[own])
        early = (start[own] < begin) & (begin < end[own]) & (end[own] <= until)
        start[own[late]] = until[late] + step[own[late]]
        end[own[early]] = begin[early] - step[own[early]]
        cut[own[late | early]] = True
    places = {"start": start, "end": end, "truncated": cut}
    return rows.with_columns(pl.Series(name, values) for name, values in places.items())


# One system instance for several references, as the public scorer divides it (`ManyRef`).
#
# An instance is divided between all references of its class that it overlaps, in the middle of the
# gap between each two that follow each other. One that overlaps none is compared with the first
# no-score region of its document, wherever that is; without any region the scorer crashes.


_KEY = ("class", "document")
_SPAN = (*_KEY, "reference_start", "reference_end")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64)


def pieces(system: pl.DataFrame, others: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The pieces of system instances, each with its reference, and whether the scorer crashes.

    Args:
        system: instances, half-open, with `class`, `text`, `truncated` and `_system`.
        others: what they are compared with, as from `places`.

    Returns:
        `_system`, `_reference`, `_place`, and the half-open `start` and `end` of each piece; what
        is not scored is left out.
    """
    references = others.drop_nulls("_reference")
    rows, matches, _ = overlap_pairs(system, references, _KEY)
    own = system.select("_system", "text", "start", "end")[rows]
    right = references.select("_reference", "_place", begin="start", until="end")[matches]
    pairs = pl.concat([own, right], how="horizontal").sort("_system", "_place")
    step = pl.col("text").cast(pl.Float64)
    # between the last character of one reference and the first of the next
    cut = (pl.col("until") - step + pl.col("begin").shift(-1).over("_system")) / 2
    cut = pl.when("text").then(cut.floor() + 1).otherwise(cut)
    divided = spans.cut_pieces(pairs, cut, "_system")
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
    """The references and no-score regions with which the instances of a class are compared.

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
    rows, matches, common = overlap_pairs(system, others, _KEY)
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
    if options.classes is not None:
        chosen = pl.col("label").is_in(list(options.classes))
        prepared = prepared._replace(instances=prepared.instances.filter(chosen))
    found, lost = official_system(reference, system, kind, prepared, options)
    kept = detections.above_least(found, options.llr_filter, "after_transforms")
    moved = in_reference_classes(kept, options.mapping)
    parts = [to_rows(detections.documents(reference)), detections.without_place(lost)]
    for criterion, side, instances in (
        (REFERENCE, "reference", prepared.instances),
        (UNSCORED, "reference", prepared.unscored),
        (SYSTEM, "system", found if kind == "norm" else kept),
    ):
        own = {"class": "label", f"{side}_start": "start", f"{side}_end": "end"}
        parts.append(to_rows(instances.select("document", "genre", **own), criterion=criterion))
    compared = moved.select("document", "genre", "class").unique(maintain_order=True)
    parts.append(to_rows(compared, criterion=COMPARED))
    parts += [labels(moved, prepared, criterion, options) for criterion in options.overlap]
    if prepared.unlabelled:
        parts.append(to_rows(pl.DataFrame({"criterion": [UNLABELLED]})))
    return detections.with_disclosure(pl.concat(parts), reference)


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
    named = half_open(reference.instances).with_columns(pl.col("label").alias("class"))
    expected = named.with_columns(*detections.REFERENCE, _reference=_ROW)
    own = half_open(system).with_columns(_system=_ROW)
    others = places(own, expected, half_open(reference.unscored))
    indivisible = False
    if options.align.startswith("ManyRef"):
        chosen, indivisible = pieces(own, others)
        own = own.drop("start", "end")
    else:
        chosen = candidates(own, others)
    chosen = chosen.join(own, on="_system", maintain_order="left")
    pairs = _compared_spans(chosen, expected, options)
    iou, common = pairs["iou"].to_numpy(), pairs["intersection"].to_numpy()
    similar = criterion.holds(iou=iou, intersection=common) & (common > 0)
    # of those with references of one place, the one with the highest score is correct
    ranked = pairs.select("llr", *_SPAN).with_row_index("_order").filter(similar)
    ranked = ranked.sort("llr", descending=True, nulls_last=True, maintain_order=True)
    first = ranked.unique(_SPAN, keep="first", maintain_order=True)["_order"]
    labelled = _label(pairs, np.isin(np.arange(pairs.height), first), options)
    rows = pl.concat([labelled, *_missed_references(expected, labelled)], how="diagonal")
    parts = [to_rows(rows, criterion=criterion.written)]
    if indivisible:
        parts.append(to_rows(pl.DataFrame({"criterion": [INDIVISIBLE]})))
    return pl.concat(parts)


def _compared_spans(
    chosen: pl.DataFrame, expected: pl.DataFrame, options: DetectionOptions
) -> pl.DataFrame:
    """Candidates with both spans, their overlap and scaled shares; by falling score."""
    others = expected.select("_reference", "^expected_.*$", "^reference_.*$")
    pairs = chosen.join(others, on="_reference", how="left", maintain_order="left")
    common = pl.min_horizontal("end", "expected_end") - pl.max_horizontal("start", "expected_start")
    pairs = pairs.with_columns(
        intersection=pl.when(pl.col("_reference").is_null()).then(0.0).otherwise(common.clip(0)),
        system_start="start",
        system_end=pl.col("end") - pl.col("text").cast(pl.Float64),
        system_status="status",
        system_class="label",
    )
    shared = spans.shares(pairs, options.collar, options.collar_text)
    point = pl.col("reference_start") == pl.col("reference_end")
    apart = pl.col("intersection") <= 0
    shared = shared.with_columns(
        iou=(pl.col("intersection") / pl.col("union")).fill_null(0.0),
        tp_share=pl.when(point).then(0.0).otherwise("tp_share"),
        fp_share=pl.when(apart).then(1.0).when(point).then(0.0).otherwise("fp_share"),
    )
    key, falling = ("class", "document", "llr"), [False, False, True]
    return shared.sort(key, descending=falling, nulls_last=True, maintain_order=True)


def _label(pairs: pl.DataFrame, correct: np.ndarray, options: DetectionOptions) -> pl.DataFrame:
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
    measures = pl.col("iou", "intersection", "union", "shifted_start", "shifted_end")
    places = pl.col("reference_start", "reference_end")
    return marked.with_columns(
        pl.when(lost).then(math.nan).otherwise(places).name.keep(),
        pl.when(~false & ~again).then(measures).name.keep(),
        tp_share=pl.when(false).then(0.0).otherwise("tp_share"),
        fp_share=pl.when(false).then(1.0).otherwise("fp_share"),
        reference_status=pl.when(lost).then(pl.lit(UNANNOTATED)).otherwise("reference_status"),
    )


def _missed_references(expected: pl.DataFrame, labelled: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """References without a correct instance.

    One that is not a candidate is written by itself, any other beside each of its false alarms; not
    beside those that are forgiven.
    """
    correct = labelled.filter(outcome=CORRECT)
    missed = expected.join(correct, on="_reference", how="anti", maintain_order="left")
    near = missed.join(labelled, on="_reference", how="semi", maintain_order="left")
    alone = missed.join(near, on="_reference", how="anti", maintain_order="left")
    yield alone.with_columns(outcome=pl.lit(MISSED))
    false = labelled.filter(outcome=FALSE).select("_reference", "llr", "system_start")
    beside = false.join(missed, on="_reference", maintain_order="left")
    first = pl.col("_reference").is_first_distinct()
    yield beside.with_columns(outcome=pl.when(first).then(pl.lit(MISSED)).otherwise(pl.lit(AGAIN)))
    rest = near.join(beside, on="_reference", how="anti", maintain_order="left")
    yield rest.with_columns(outcome=pl.lit(detections.UNWRITTEN))
