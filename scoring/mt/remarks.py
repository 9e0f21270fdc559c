"""What a reader of the scores of translations must know: what was not scored, and signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.scoring.mt.measures import Measure
from hlteval.scoring.mt.options import TranslationOptions


def notes(
    total: pl.DataFrame, options: TranslationOptions, measures: Mapping[str, Measure]
) -> Iterator[str]:
    """The notes, in order.

    Args:
        total: the counts of all segments.
        options: what was chosen.
        measures: the metrics, for their signatures.
    """
    scored = total.filter("scored")
    yield from _subset(total, options)
    yield from _justifications(options)
    empty = int((total["references"] == 0).sum())
    if empty:
        yield f"{_segments(empty)} with empty references: not scored"
    missing = scored.filter(~pl.col("present")).height
    if missing:
        yield f"{_segments(missing)} without a translation: scored as empty"
    if more := int(scored["more"].sum()):
        yield f"{more:,} further translations of segments: only the first of a segment is scored"
    if not scored.height:
        yield "no segment is scored"
        return
    numbers = scored["references"].unique().to_list()
    references = numbers[0] if len(numbers) == 1 else -1
    for name, one in measures.items():
        yield f"signature of {name}: {one.signature(references)}"


def _subset(total: pl.DataFrame, options: TranslationOptions) -> Iterator[str]:
    only = options.only
    if only is None:
        return
    found = len(only & {*total.select("document", "segment").iter_rows()})
    yield f"only a subset is scored: {found:,} of its {len(only):,} segments are in the reference"


def _justifications(options: TranslationOptions) -> Iterator[str]:
    found = options.justifications
    if found is None:
        return
    right, all_frames = found.correct.height, found.submitted.height
    yield f"justifications: {right:,} of {all_frames:,} situation frames are correct"
    if bare := right - found.frames.height:
        yield f"{bare:,} correct situation frames name no segment"


def _segments(number: int) -> str:
    return "1 segment" if number == 1 else f"{number:,} segments"
