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
from hlteval.scoring.ccu.detection_options import DetectionOptions
from hlteval.scoring.ccu.file_merge import in_parts, parts_of_reference

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
