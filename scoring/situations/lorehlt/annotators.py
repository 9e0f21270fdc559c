"""Several annotators: which one is drawn for each document, and how often each frame was annotated.

Section 16.2.1 scores against the annotation of one annotator, drawn at random and the same for all
submissions; section 16.2 weighs frames by their occurrences in the annotations of all of them.
"""

from __future__ import annotations

import random

import polars as pl

#: The annotator of the needs and of the issues of a document.
CHOSEN = {"docid": pl.String, "issue": pl.Boolean, "chosen": pl.String}


def chosen_annotators(frames: pl.DataFrame, given: pl.DataFrame | None, seed: int) -> pl.DataFrame:
    """The annotator whose frames count, for needs and issues of each document (`CHOSEN`).

    Args:
        frames: of the reference, with `docid`, `issue` and `annotator`.
        given: annotators that are given, as `CHOSEN`; others are drawn.
        seed: of the draw.

    Examples:
        >>> row = {"docid": "d", "issue": False, "annotator": "7"}
        >>> chosen_annotators(pl.DataFrame([row]), None, 0).rows()
        [('d', False, '7')]
    """
    own = frames.select("docid", "issue", pl.col("annotator").fill_null("").alias("annotator"))
    drawn = _draw(own, seed)
    kinds = own.select("docid", "issue").unique(maintain_order=True)
    if given is None:
        return drawn
    both = kinds.join(given, on=["docid", "issue"], how="left").join(
        drawn, on=["docid", "issue"], how="left", suffix="_drawn"
    )
    return both.select("docid", "issue", pl.coalesce("chosen", "chosen_drawn").alias("chosen"))


def _draw(frames: pl.DataFrame, seed: int) -> pl.DataFrame:
    """One annotator per document; what is drawn for a document does not depend on others.

    Rows without an annotator, as in speech, are of all of them, and none is drawn for them.
    """
    names = frames.group_by("docid").agg(pl.col("annotator").unique().sort())
    named = pl.col("annotator").list.filter(pl.element() != "")
    names = names.with_columns(pl.when(named.list.len() > 0).then(named).otherwise("annotator"))
    several = names.filter(pl.col("annotator").list.len() > 1)
    chosen = [
        random.Random(f"{seed}:{docid}").choice(annotators)  # noqa: S311
        for docid, annotators in several.iter_rows()
    ]
    drawn = several.select("docid").with_columns(chosen=pl.Series(chosen, dtype=pl.String))
    alone = names.join(several, on="docid", how="anti")
    drawn = pl.concat([drawn, alone.select("docid", chosen=pl.col("annotator").list.first())])
    kinds = frames.select("docid", "issue").unique()
    return kinds.join(drawn, on="docid").select(*CHOSEN).sort("docid", "issue")


def single(frames: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    """The frames of the chosen annotators, and those without an annotator, as in speech."""
    frames = frames.drop("chosen", strict=False)
    joined = frames.join(chosen, on=["docid", "issue"], how="left", maintain_order="left")
    own = (pl.col("annotator") == pl.col("chosen")).fill_null(value=True)
    return joined.filter(own).drop("chosen")


def several(frames: pl.DataFrame) -> int:
    """How many documents have several annotators."""
    names = frames.group_by("docid").agg(pl.col("annotator").drop_nulls().n_unique())
    return names.filter(pl.col("annotator") > 1).height
