"""The tables of streams: stretches and points of audio, video or text, in seconds or characters."""

from __future__ import annotations

import polars as pl

from hlteval.representation.table import Column, declare

STREAM = "seconds; characters of text"
_FROM = Column("start", pl.Float64, "where it starts, as written", STREAM, True)
_TO = Column("end", pl.Float64, "where it ends, as written", STREAM, True)
_REGION = Column("region", pl.String, "identifier of the region, as written", nullable=True)
_LLR = Column("llr", pl.Float64, "log likelihood ratio of the system", nullable=True)
_ANNOTATOR = Column("annotator", pl.String, "annotator, as written", nullable=True)

STREAMS = (
    declare(
        "regions",
        "a part of a stream (of text, audio or video) that annotators judge",
        Column("region", pl.String, "identifier as written"),
        _FROM,
        _TO,
    ),
    declare(
        "instances",
        "a norm or an emotion in a stretch of a stream",
        Column("kind", pl.String, "`norm` or `emotion`"),
        Column("label", pl.String, "class as written; in a reference also `none` and `noann`"),
        _FROM,
        _TO,
        Column("status", pl.String, "`adhere` or `violate`, as written", nullable=True),
        _LLR,
        _REGION,
        Column("several", pl.Boolean, "whether several speakers show it", nullable=True),
        _ANNOTATOR,
    ),
    declare(
        "ratings",
        "the level of valence or arousal in a stretch of a stream",
        Column("kind", pl.String, "`valence` or `arousal`"),
        Column("level", pl.Float64, "level; null if not annotated", "1 to 1000", True),
        Column("bin", pl.String, "binned level as written", nullable=True),
        _FROM,
        _TO,
        _REGION,
        _ANNOTATOR,
    ),
    declare(
        "changes",
        "a change point of a stream",
        Column("at", pl.Float64, "where it is", STREAM, True),
        _LLR,
        Column("direction", pl.String, "direction of the impact, as written", nullable=True),
        Column("strength", pl.String, "strength of the impact, as written", nullable=True),
        Column("evidence", pl.String, "comment of the annotator", nullable=True),
        _ANNOTATOR,
    ),
    declare(
        "mappings",
        "a norm of a system that is mapped to a hidden norm",
        Column("label", pl.String, "norm of the system, as written"),
        Column("target", pl.String, "hidden norm of the reference, as written"),
        Column("submission", pl.String, "identifier of the submission, as written", nullable=True),
    ),
    declare(
        "responses",
        "the answer of a speaker to a question after an interaction (the document)",
        Column("condition", pl.String, "condition of the interaction, as written"),
        Column("speaker", pl.String, "speaker, as written"),
        Column("question", pl.Int64, "number of the question"),
        Column("response", pl.String, "answer as written"),
    ),
)
"""Regions, and what annotators and systems say of them."""
