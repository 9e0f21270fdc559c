"""The judgments of several annotators as the output of a perfect system.

Norms and emotions are the instances that are scored (Appendix D of the plan), in segments as they
are or merged; of several statuses the first counts. A level is the mean of the judgments of a
segment. Rows without an annotator are output already, and stay as they are.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.judgments import Constants, scored_reference

#: Labels of what is not there, and of what nobody annotated.
ABSENT = ("none", "noann")
_PLACE = ["document", "region", "start", "end"]
_UNMERGED = Constants(seconds=None, characters=None)


def instances(corpus: Corpus, kind: str, *, merge: bool) -> pl.DataFrame:
    """The instances of a kind as those of a system; judgments have the score 1.

    Args:
        corpus: judgments, output, or both.
        kind: `norm` or `emotion`.
        merge: whether neighbouring segments are merged.
    """
    rows = corpus.instances.filter(pl.col("kind") == kind, ~pl.col("label").is_in(ABSENT))
    judged = corpus.instances.filter(pl.col("annotator").is_not_null())
    own = rows.filter(pl.col("annotator").is_null())
    if judged.is_empty():
        return own
    chosen = Constants() if merge else _UNMERGED
    made = scored_reference(corpus.replace(instances=judged), kind, chosen).instances
    status = pl.col("status").str.split(",").list.first()
    scored = made.with_columns(status, llr=pl.lit(1.0)).drop("text")
    return pl.concat([own, scored], how="diagonal")


def of_regions(corpus: Corpus) -> pl.DataFrame:
    """The norms of regions as those of a system; judgments have the score 1."""
    rows = corpus.instances.filter(pl.col("kind") == "norm", ~pl.col("label").is_in(ABSENT))
    judged = rows.filter(pl.col("annotator").is_not_null()).with_columns(llr=pl.lit(1.0))
    keys = ["document", "region", "label", "status"]
    one = judged.unique(keys, keep="first", maintain_order=True)
    own = rows.filter(pl.col("annotator").is_null())
    return pl.concat([own, one]).sort("row", maintain_order=True)


def changes(corpus: Corpus) -> pl.DataFrame:
    """The change points as those of a system; judgments have the score 1."""
    rows = corpus.changes.filter(pl.col("at").is_not_null())
    judged = rows.filter(pl.col("annotator").is_not_null())
    one = judged.unique(["document", "at"], keep="first", maintain_order=True)
    own = rows.filter(pl.col("annotator").is_null())
    joined = pl.concat([own, one.with_columns(llr=pl.lit(1.0))])
    return joined.sort("row", maintain_order=True)


def levels(corpus: Corpus, kind: str) -> pl.DataFrame:
    """The levels of a kind as those of a system, without gaps from the start to the end.

    The mean of the judgments of a segment is rounded. What nobody judged has the level before it,
    at the beginning the first one.
    """
    rows = corpus.ratings.filter(pl.col("kind") == kind)
    judged = rows.filter(pl.col("annotator").is_not_null())
    own = rows.filter(pl.col("annotator").is_null())
    places = judged.drop_nulls(["start", "end"]).group_by(_PLACE, maintain_order=True).agg(
        pl.col("level").mean().round(0, mode="half_away_from_zero"),
        pl.col("row", "origin", "record", "kind").first(),
    )  # fmt: skip
    return pl.concat([own, _covering(corpus, places)], how="diagonal")


def _covering(corpus: Corpus, places: pl.DataFrame) -> pl.DataFrame:
    """Levels whose ends are extended to the next start, and to both ends of their documents."""
    known = corpus.documents.select("length", "modality", document="row")
    ordered = places.sort("document", "start", maintain_order=True)
    placed = ordered.join(known, on="document", how="left", maintain_order="left")
    step = pl.when(pl.col("modality") == "text").then(1.0).otherwise(0.0)
    following = pl.col("start").shift(-1).over("document") - step
    last = pl.max_horizontal("end", pl.col("length") - step)
    filled = pl.col("level").forward_fill().backward_fill().over("document")
    return placed.with_columns(
        start=pl.when(pl.col("start").shift(1).over("document").is_null())
        .then(pl.min_horizontal(pl.col("start"), pl.lit(0.0)))
        .otherwise("start"),
        end=pl.coalesce(following, last),
        level=filled,
    ).drop("length", "modality").drop_nulls("level")  # fmt: skip
