"""The instances of a system as the public scorer prepares them: cut at no-score regions."""

from __future__ import annotations

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.detection_options import DetectionOptions
from hlteval.scoring.ccu.file_merge import parts_of_system
from hlteval.scoring.ccu.official_reference import OfficialReference, chained
from hlteval.scoring.ccu.spans import half_open
from hlteval.scoring.ccu.system_instances import system_instances


def official_system(
    reference: Corpus,
    system: Corpus,
    kind: str,
    prepared: OfficialReference,
    options: DetectionOptions,
) -> pl.DataFrame:
    """What a system found, outside of no-score regions; places as written.

    Args:
        reference: the reference.
        system: the submission.
        kind: `norm` or `emotion`.
        prepared: the same, as it is scored.
        options: what was chosen.
    """
    rows = system_instances(reference, system, kind, options)
    rows = rows.sort("start", "end", maintain_order=True).unique(maintain_order=True)
    order = system.documents.select(document="name", _order="row")
    rows = rows.join(order, on="document", maintain_order="left").sort("_order", maintain_order=True)
    if prepared.parts is not None:
        whole = parts_of_system(rows.drop("_order"), prepared.parts)
        return whole.with_columns(truncated=pl.lit(value=False))
    rows = truncated(rows.drop("_order"), prepared.unscored)
    gaps = (options.merge_system, options.merge_system_text)
    if gaps != (None, None):
        by_status = options.merge_system_by == "class-status"
        rows = chained(rows, gaps, by_status=by_status, llr=options.merge_system_llr)
    return rows


def truncated(rows: pl.DataFrame, unscored: pl.DataFrame) -> pl.DataFrame:
    """Instances without those inside no-score regions; others are cut at their limits.

    An instance that begins before a region and ends after it stays as it is. Regions are taken in
    the order of their starts, one of each document at a time.
    """
    own = half_open(rows)
    start, end = own["start"].to_numpy().copy(), own["end"].to_numpy().copy()
    cut, kept = np.zeros(len(start), dtype=bool), np.ones(len(start), dtype=bool)
    for begins, ends in _each(own, unscored):
        there = kept & ~np.isnan(begins)
        inside = there & (begins <= start) & (end <= ends)
        late = there & ~inside & (begins <= start) & (start < ends)
        early = there & ~inside & (begins < end) & (end <= ends) & (start < begins)
        kept &= ~inside
        start, end = np.where(late, ends, start), np.where(early, begins, end)
        cut |= late | early
    last = end - own["text"].to_numpy()
    placed = rows.with_columns(
        start=pl.Series(start), end=pl.Series(last), truncated=pl.Series(cut, dtype=pl.Boolean)
    )
    return placed.filter(pl.Series(kept, dtype=pl.Boolean))


def _each(rows: pl.DataFrame, unscored: pl.DataFrame):  # type: ignore[no-untyped-def]
    """For each instance, the first region of its document, then the second, and so on."""
    numbered = half_open(unscored).with_columns(number=pl.int_range(pl.len()).over("document"))
    for number in range((numbered["number"].max() or 0) + 1 if numbered.height else 0):
        own = numbered.filter(number=number).select("document", begin="start", until="end")
        found = rows.select("document").join(own, on="document", how="left", maintain_order="left")
        yield (found[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("begin", "until"))
