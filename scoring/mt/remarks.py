"""What a reader of the scores of translations must know: what was not scored, and signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.findings.counts import count_of, fill
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
        yield f"{count_of(empty, 'segment')} with empty references: not scored"
    missing = scored.filter(~pl.col("present")).height
    if missing:
        yield f"{count_of(missing, 'segment')} without a translation: scored as empty"
    if more := int(scored["more"].sum()):
        further = count_of(more, "further translation")
        yield f"{further} of segments: only the first of a segment is scored"
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
    of_all = fill(
        "{found:,} of its {count:,} {count|segment|segments} {found|is|are} in the reference",
        {"found": found, "count": len(only)},
    )
    yield f"only a subset is scored: {of_all}"


def _justifications(options: TranslationOptions) -> Iterator[str]:
    found = options.justifications
    if found is None:
        return
    right, all_frames = found.correct.height, found.submitted.height
    yield fill(
        "justifications: {right:,} of {count:,} situation {count|frame|frames} "
        "{right|is|are} correct",
        {"right": right, "count": all_frames},
    )
    if bare := right - found.frames.height:
        yield fill(
            "{bare:,} correct situation {bare|frame names|frames name} no segment", {"bare": bare}
        )
