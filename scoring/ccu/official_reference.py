"""The reference of norms and emotions as the public scorer prepares it.

It differs from Appendix D of the plan (`representation.judgments`) in this: nothing is merged
unless an option asks for it, and what lies between merged segments is not looked at; annotators are
counted by rows; `noann` has votes; only what lies before the first and after the last segment is
not scored, and each segment that nobody annotated, as a region of its own.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.judgments import NONE, SEGMENT, UNANNOTATED, Constants, is_text
from hlteval.scoring.ccu import detections, spans
from hlteval.scoring.ccu.detections import DetectionOptions

_COLUMNS = ("document", "genre", "text", "label", "status", "start", "end")


class OfficialReference(NamedTuple):
    """What the public scorer compares with; places as written.

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
    silent = decided.filter(pl.col("label") == UNANNOTATED)
    if options.file_merge:
        segments = merge_segments(decided.filter(pl.col("label") != UNANNOTATED), constants)
        return _parts(corpus, pl.concat([segments, silent]), options.file_merge)
    instances = decided.filter(~pl.col("label").is_in([NONE, UNANNOTATED]))
    unscored = pl.concat([silent.select(_COLUMNS), outside(decided, corpus)])
    # Rows by place, each once: two annotators can give a segment the same norm and status.
    instances, unscored = (
        _with_order(rows, decided)
        .unique(maintain_order=True)
        .sort("document", "start", "end", maintain_order=True)
        for rows in (merge_segments(instances, constants), unscored)
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
    names = corpus.documents.select(key="row", document="name")
    segments = corpus.regions.select("start", "end", key="document").join(names, on="key")
    own = segments.join(decided, on="document", how="semi").select("document", "start", "end")
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
        document="row", name="name", genre="modality", text=is_text(), length="length"
    )
    own = corpus.instances.filter(pl.col("kind") == kind).drop_nulls(["start", "end"])
    own = own.select("document", "record", "region", "annotator", "label", "status", "start", "end")
    own = own.join(names, on="document", maintain_order="left").drop("document")
    own = own.rename({"name": "document"})
    return own.filter(pl.col("text") | (pl.col("start") != pl.col("end")))


def single(rows: pl.DataFrame, *, conflicts_unscored: bool) -> pl.DataFrame:
    """Norms: each row by itself; possibly no segment where a norm has several statuses."""
    if conflicts_unscored:
        several = pl.col("status").n_unique().over("annotator", *SEGMENT, "label") > 1
        conflict = pl.col("several").any().over("annotator", *SEGMENT)
        label = pl.when(conflict).then(pl.lit(UNANNOTATED)).otherwise("label")
        rows = rows.with_columns(several=several)
        rows = rows.with_columns(label=label, status=pl.when(~conflict).then("status"))
    key = ["annotator", "region", *_COLUMNS]
    return rows.unique(key, maintain_order=True).select(_COLUMNS)


def by_majority(rows: pl.DataFrame, votes: int) -> pl.DataFrame:
    """Emotions: what enough rows of a segment have; `none` if there is nothing of this kind."""
    records = rows.group_by("record", *SEGMENT, "genre", "text", "annotator", maintain_order=True)
    listed = records.agg("label").unique([*SEGMENT, "annotator", "label"], maintain_order=True)
    # In two steps: a window inside of another one takes quadratic time.
    every = listed.with_columns(first=pl.col("annotator").first().over(SEGMENT))
    others = (pl.col("annotator") != pl.col("first")).sum().over(SEGMENT)
    every = every.with_columns(judges=1 + others).drop("first").explode("label")
    key = [*SEGMENT, "genre", "text", "judges"]
    counted = every.group_by(*key, "label", maintain_order=True).agg(votes=pl.len())
    agreed = pl.col("votes") >= votes
    label = (
        pl.when(pl.col("judges") < votes)
        .then(pl.lit(UNANNOTATED))
        .when(~agreed.any().over(SEGMENT))
        .then(pl.lit(NONE))
        .when(agreed)
        .then("label")
    )
    decided = counted.with_columns(label=label, status=pl.lit(None, dtype=pl.String))
    return decided.drop_nulls("label").select(_COLUMNS).unique(maintain_order=True)


def merge_segments(rows: pl.DataFrame, constants: Constants) -> pl.DataFrame:
    """Segments of a class that follow each other closely, whatever lies between them."""
    gaps = (constants.seconds, constants.characters)
    return chained(rows, gaps, by_status=constants.by_status)


def chained(
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
    statuses = numbered.select("number", "status").drop_nulls().unique().sort("number", "status")
    joined = statuses.group_by("number").agg(pl.col("status").str.join(","))
    found = one.join(joined, on="number", how="left", maintain_order="left")
    return found.select(rows.columns)


def outside(decided: pl.DataFrame, corpus: Corpus) -> pl.DataFrame:
    """The regions before the first and after the last segment of each document."""
    lengths = corpus.documents.select(document="name", length="length")
    limits = decided.group_by("document", "genre", "text", maintain_order=True).agg(
        pl.col("start").min(), pl.col("end").max()
    )
    limits = limits.join(lengths, on="document", maintain_order="left")
    limits = limits.with_columns(label=pl.lit(UNANNOTATED), status=pl.lit(None, dtype=pl.String))
    step = pl.col("text").cast(pl.Float64)
    before = limits.with_columns(start=0.0, end=pl.col("start") - step)
    after = limits.with_columns(start=pl.col("end") + step, end="length")
    # of text, both places are inside, so that a region of one character starts where it ends
    real = pl.col("start") < pl.col("end") + step
    return pl.concat([before, after]).filter(real).select(_COLUMNS)


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
    """What a system found, outside of no-score regions, and what has no place; as written.

    Args:
        reference: the reference.
        system: the submission.
        kind: `norm` or `emotion`.
        prepared: the same, as it is scored.
        options: what was chosen.
    """
    every = detections.system_instances(reference, system, kind, options)
    every = every.with_columns(as_read(every["llr"]))
    rows, lost = detections.placed(detections.filtered(every, options.llr_filter, "after_read"))
    rows = rows.sort("start", "end", maintain_order=True).unique(maintain_order=True)
    order = system.documents.select(document="name", _order="row")
    rows = rows.join(order, on="document", maintain_order="left")
    rows = rows.sort("_order", maintain_order=True).drop("_order")
    if prepared.parts is not None:
        whole = detections.parts_of_system(rows, prepared.parts)
        return whole.with_columns(truncated=pl.lit(value=False)), lost
    rows = truncated(rows, prepared.unscored)
    gaps = (options.merge_system, options.merge_system_text)
    if gaps != (None, None):
        by_status = options.merge_system_by == "class-status"
        rows = chained(rows, gaps, by_status=by_status, llr=options.merge_system_llr)
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


def truncated(rows: pl.DataFrame, unscored: pl.DataFrame) -> pl.DataFrame:
    """Instances without those inside no-score regions; others are cut at their limits.

    An instance that begins before a region and ends after it stays as it is. Regions are taken in
    the order of their starts, one of each document at a time; what is inside one only after a cut
    stays too.
    """
    rows = rows.filter(~spans.inside(rows, unscored))
    step = rows["text"].to_numpy().astype(np.float64)
    start, end = rows["start"].to_numpy().copy(), rows["end"].to_numpy().copy()
    cut = np.zeros(len(start), dtype=bool)
    sides = spans.half_open(rows), spans.half_open(unscored)
    overlaps, others, _ = spans.overlapping(*sides, ("document",))
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
    return rows.with_columns(
        start=pl.Series(start, dtype=pl.Float64),
        end=pl.Series(end, dtype=pl.Float64),
        truncated=pl.Series(cut, dtype=pl.Boolean),
    )
