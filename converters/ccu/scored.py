"""A reference as it is scored: the judgments of annotators, collapsed and merged (Appendix D).

Each instance has a segment of its own, from its start to its end; segments with nothing in them
(`none`) and those that nobody annotated (`noann`) remain. What needs agreement is said by
two annotators, so that scoring the result again changes nothing but for levels, which are rounded.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.judgments import (
    NONE,
    UNANNOTATED,
    Constants,
    decisions_of,
    merge_instances,
)

#: The annotators who agree.
_TWO = ("scored-1", "scored-2")
_PLACE = ["document", "start", "end"]


def as_scored(corpus: Corpus) -> Corpus:
    """The reference with its judgments collapsed and merged, and segments for the result.

    Args:
        corpus: a reference.

    Examples:
        >>> place = {"document": 0, "origin": 0, "kind": "norm", "label": "101", "annotator": "7"}
        >>> rows = [place | {"row": n, "record": n + 2, "start": n, "end": n + 1} for n in (0, 1)]
        >>> document = {"row": 0, "origin": 0, "name": "D1", "modality": "audio"}
        >>> source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
        >>> corpus = Corpus(sources=[source], documents=[document], instances=rows)
        >>> as_scored(corpus).instances.select("label", "start", "end").rows()
        [('101', 0.0, 2.0)]
    """
    norms = _instances(corpus, "norm", _TWO[:1])
    emotions = _instances(corpus, "emotion", _TWO)
    ratings = _ratings(corpus)
    regions = _regions(corpus, [norms, emotions, ratings])
    names = regions.select(*_PLACE, "region")
    return corpus.replace(
        regions=regions,
        instances=_numbered(pl.concat([norms, emotions]), names),
        ratings=_numbered(ratings, names),
    )


def _instances(corpus: Corpus, kind: str, annotators: tuple[str, ...]) -> pl.DataFrame:
    """The instances of a kind, and the segments without any, said by each of some annotators."""
    constants = Constants()
    decisions = decisions_of(corpus, kind, constants)
    silent = decisions.filter(pl.col("label").is_in([NONE, UNANNOTATED]))
    columns = ["document", "label", "status", "start", "end"]
    found = pl.concat(
        [part.select(columns) for part in (merge_instances(decisions, constants), silent)]
    )
    said = pl.lit(list(annotators)).alias("annotator")
    return found.with_columns(said, kind=pl.lit(kind)).explode("annotator").sort(
        "document", "start", "end", maintain_order=True
    )  # fmt: skip


def _ratings(corpus: Corpus) -> pl.DataFrame:
    """The mean level of each segment; none where fewer than two annotators gave one."""
    rows = corpus.ratings.drop_nulls(["start", "end"])
    level = pl.col("level")
    own = rows.group_by(*_PLACE, "kind", "annotator", maintain_order=True).agg(level.mean())
    mean = pl.when(level.count() > 1).then(level.mean().round(0, mode="half_away_from_zero"))
    means = own.group_by(*_PLACE, "kind", maintain_order=True).agg(mean.alias("level"))
    judgments = means.with_columns(pl.lit([*_TWO]).alias("annotator")).explode("annotator")
    return judgments.sort("document", "start", "end", "annotator", maintain_order=True)


def _regions(corpus: Corpus, rows: list[pl.DataFrame]) -> pl.DataFrame:
    """A segment for each place of some rows."""
    places = pl.concat([part.select(_PLACE) for part in rows]).unique().sort(_PLACE)
    names = corpus.documents.select("name", "origin", document="row")
    named = places.join(names, on="document", how="left", maintain_order="left")
    number = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String).str.zfill(4)
    return named.select(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *_PLACE,
        pl.col("origin").fill_null(0), record=pl.int_range(2, pl.len() + 2, dtype=pl.Int64),
        region=pl.concat_str("name", pl.lit("_"), number),
    )  # fmt: skip


def _numbered(rows: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Rows with their segments, and keys; what one annotator says of one is of one record."""
    placed = rows.join(names, on=_PLACE, how="left", maintain_order="left")
    record = pl.struct("document", "region", "annotator").rank("dense").cast(pl.Int64)
    return placed.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64), origin=pl.lit(0, pl.Int64), record=record
    )
