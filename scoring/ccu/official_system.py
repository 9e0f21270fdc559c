"""The instances of a system as the public scorer prepares them: cut at no-score regions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus
from hlteval.scoring.ccu.detection_options import DetectionOptions
from hlteval.scoring.ccu.file_merge import parts_of_system
from hlteval.scoring.ccu.official_numbers import as_read
from hlteval.scoring.ccu.official_reference import OfficialReference, chained
from hlteval.scoring.ccu.spans import Whole, half_open, overlapping
from hlteval.scoring.ccu.system_instances import filtered, placed, system_instances


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
