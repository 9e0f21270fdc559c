"""The annotation of one annotator as the output of a system, with what only systems have."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus

_NO_INSTANCE = ("none", "noann", "EMPTY_NA")


def detections(corpus: Corpus) -> Corpus:
    """Norms, emotions and change points with equal detection scores, without segments of none."""
    instances = corpus.instances.filter(~pl.col("label").is_in(_NO_INSTANCE))
    return corpus.replace(
        instances=instances.with_columns(llr=pl.lit(1.0)),
        changes=corpus.changes.with_columns(llr=pl.lit(1.0)),
    )


def translations(corpus: Corpus) -> Corpus:
    """The translations of a person in the place of those of a system."""
    role = pl.when(pl.col("role") == "reference").then(pl.lit("system")).otherwise("role")
    return corpus.replace(translations=corpus.translations.with_columns(role=role))


def situations(corpus: Corpus) -> Corpus:
    """Frames of equal confidence, each a record of its own, as a system writes them."""
    frames = corpus.frames
    record = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return corpus.replace(frames=frames.with_columns(record=record, confidence=pl.lit(1.0)))


def templettes(corpus: Corpus) -> Corpus:
    """The fills that an annotator requires of a system, in its notation.

    Optional instances and slots are left out, and so are alternatives but the first, and minimal
    strings.
    """
    frames = corpus.frames.filter(~pl.col("optional").fill_null(False))
    dropped = corpus.frames.join(frames, on="row", how="anti").select("document", target="frame")
    fills = corpus.fills.filter(
        pl.col("alternative") == 1,
        ~pl.col("optional"),
        pl.col("frame_row").is_in(frames["row"].implode()),
    )
    fills = fills.join(dropped, on=["document", "target"], how="anti", maintain_order="left")
    brackets = pl.lit(None, corpus.fills.schema["brackets"])
    return corpus.replace(
        frames=frames,
        fills=fills.with_columns(extents=pl.col("extents").list.head(1), brackets=brackets),
    )
