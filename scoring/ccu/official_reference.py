"""The reference of norms and emotions as the public scorer prepares it.

It differs from Appendix D of the plan (`representation.judgments`) in this: nothing is merged
unless an option asks for it, and what lies between merged segments is not looked at; annotators are
counted by rows; `noann` has votes; only what lies before the first and after the last segment is
not scored, and each segment that nobody annotated, as a region of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus
from hlteval.representation.judgments import NONE, SEGMENT, UNANNOTATED, Constants, is_text
from hlteval.scoring.ccu.detections import (
    DetectionOptions,
    filtered,
    in_parts,
    parts_of_reference,
    parts_of_system,
    placed,
    system_instances,
)
from hlteval.scoring.ccu.spans import Whole, half_open, overlapping

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
    constants = options.constants(official=True)
    rows = _rows(corpus, kind)
    if kind == "emotion":
        decided = by_majority(rows, constants.votes)
    else:
        decided = single(rows, conflicts_unscored=constants.conflicts_unscored)
    silent = decided.filter(pl.col("label") == UNANNOTATED)
    if options.file_merge:
        labels = _chained(decided.filter(pl.col("label") != UNANNOTATED), constants)
        return _of_parts(corpus, pl.concat([labels, silent]), options.file_merge)
    instances = merged(decided, constants)
    unscored = pl.concat([silent.select(_COLUMNS), outside(decided, corpus)])
    order = label_order(decided)
    return OfficialReference(
        _distinct(_ordered(instances, order)), _distinct(_ordered(unscored, order))
    )


def label_order(decided: pl.DataFrame) -> pl.DataFrame:
    """The number of each label in its document, by the first segment that has it.

    The scorer goes through segments by place and keeps labels in the order in which it meets them:
    of a reference and a no-score region at one place, that of the first label comes first.

    Args:
        decided: segments with labels, in the order of the files.
    """
    ordered = decided.sort("document", "start", "end", maintain_order=True)
    labels = ordered.select("document", "label").unique(maintain_order=True)
    return labels.with_row_index("order")


def _ordered(rows: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    return rows.join(order, on=["document", "label"], how="left", maintain_order="left")


def _distinct(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows by place, each once: two annotators can give a segment the same norm and status."""
    return rows.unique(maintain_order=True).sort("document", "start", "end", maintain_order=True)


def _of_parts(corpus: Corpus, decided: pl.DataFrame, number: int) -> OfficialReference:
    """The labels of parts of documents; what is outside of them does not count at all.

    Labels of segments are found by their places, so that merged ones have no part.
    """
    names = corpus.documents.select(key="row", document="name")
    segments = corpus.regions.select("start", "end", key="document").join(names, on="key")
    own = segments.join(decided, on="document", how="semi").select("document", "start", "end")
    placed = in_parts(own, number, partial(_step, number=number))
    named = ["document", "start", "end"]
    empty = placed.join(
        placed.join(decided, on=named, how="semi"), on=["document", "part"], how="anti"
    )
    parts = parts_of_reference(decided, placed)
    parts = _ordered(parts, label_order(decided))
    silent = pl.col("label") == UNANNOTATED
    return OfficialReference(
        parts.filter(~silent, pl.col("label") != NONE),
        parts.filter(silent),
        parts,
        empty.height > 0,
    )


def _step(span: pl.Expr, number: int) -> pl.Expr:
    """The length of a part: a whole number where a binary fraction of the span leaves a rest."""
    return span.map_batches(partial(_part_lengths, number=number), return_dtype=pl.Float64)


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


def merged(decided: pl.DataFrame, constants: Constants) -> pl.DataFrame:
    """Segments of a class that follow each other closely, whatever lies between them."""
    return _chained(decided.filter(~pl.col("label").is_in([NONE, UNANNOTATED])), constants)


def _chained(rows: pl.DataFrame, constants: Constants) -> pl.DataFrame:
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
    score = {
        name: pl.when(scores.first().is_not_null()).then(scores.get(place))
        for name, place in (("min_llr", scores.arg_min()), ("max_llr", scores.arg_max()))
    }
    one = numbered.group_by("number", maintain_order=True).agg(
        pl.col("document", "genre", "text", "label", "start").first(),
        pl.col("end").last(),
        *([score[llr], pl.col("truncated").any()] if llr else []),
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
    step = pl.col("text").cast(pl.Float64)
    shared = ["document", "genre", "text"]
    label, status = (
        pl.lit(UNANNOTATED).alias("label"),
        pl.lit(None, dtype=pl.String).alias("status"),
    )
    before = limits.select(*shared, label, status, start=pl.lit(0.0), end=pl.col("start") - step)
    after = limits.select(*shared, label, status, start=pl.col("end") + step, end="length")
    # of text, both places are inside, so that a region of one character starts where it ends
    real = pl.col("start") < pl.col("end") + pl.col("text").cast(pl.Float64)
    return pl.concat([before, after]).filter(real)


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
    every = system_instances(reference, system, kind, options)
    every = every.with_columns(as_read(every["llr"]))
    rows, lost = placed(filtered(every, options.llr_filter, "after_read"))
    rows = rows.sort("start", "end", maintain_order=True).unique(maintain_order=True)
    order = system.documents.select(document="name", _order="row")
    rows = rows.join(order, on="document", maintain_order="left").sort(
        "_order", maintain_order=True
    )
    if prepared.parts is not None:
        whole = parts_of_system(rows.drop("_order"), prepared.parts)
        return whole.with_columns(truncated=pl.lit(value=False)), lost
    rows = truncated(rows.drop("_order"), prepared.unscored)
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
    rows = rows.filter(~_inside(rows, unscored))
    step = rows["text"].to_numpy().astype(np.float64)
    start, end = rows["start"].to_numpy().copy(), rows["end"].to_numpy().copy()
    cut = np.zeros(len(start), dtype=bool)
    for own, begin, until in _each(rows, unscored):
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


def _inside(rows: pl.DataFrame, unscored: pl.DataFrame) -> pl.Series:
    """Whether each instance lies in one region: the one that ends last of those before it does."""
    regions = unscored.select("document", begin="start", until="end").sort("document", "begin")
    longest = regions.with_columns(pl.col("until").cum_max().over("document")).sort("begin")
    numbered = rows.select("document", "start", "end").with_row_index("_order").sort("start")
    found = numbered.join_asof(
        longest,
        left_on="start",
        right_on="begin",
        by="document",
        strategy="backward",
        check_sortedness=False,
    )
    inside = (pl.col("end") <= pl.col("until")).fill_null(value=False)
    return found.sort("_order").select(inside).to_series()


def _each(
    rows: pl.DataFrame, unscored: pl.DataFrame
) -> Iterator[tuple[Whole, NDArray[np.float64], NDArray[np.float64]]]:
    """Instances and the first region that each overlaps, then the second, and so on.

    Yields:
        Rows of instances, and the start and end of the region of each.
    """
    own, others, _ = overlapping(half_open(rows), half_open(unscored), ("document",))
    begin, until = (unscored[name].to_numpy()[others] for name in ("start", "end"))
    order = np.lexsort((others, begin, own))
    own, begin, until = own[order], begin[order], until[order]
    number = np.arange(len(own)) - np.searchsorted(own, own)
    for turn in range(int(number.max(initial=-1)) + 1):
        now = number == turn
        yield own[now], begin[now], until[now]
