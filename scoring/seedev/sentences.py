"""Which events lie inside one sentence."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.seedev.events import Side


def inside(one: Side, given: Corpus) -> Side:
    """The events of a side whose entities lie in no more than one sentence.

    An entity that no sentence holds completely counts as being in none; a document without
    sentences counts as one sentence.

    Args:
        one: the side.
        given: the corpus with the given mentions, and with the sentences as its segments.
    """
    if given.segments.is_empty():
        return one
    sentences = given.segments.select("document", "start", sentence="row", sentence_end="end")
    spans = given.mentions.select("document", "start", "end", filler_row="row").sort(
        "document", "start"
    )
    placed = spans.join_asof(
        sentences.sort("document", "start"), on="start", by="document", check_sortedness=False
    )
    placed = placed.filter(pl.col("end") <= pl.col("sentence_end")).select("filler_row", "sentence")
    entities = _entities(one).join(placed, on="filler_row")
    sentences_of = entities.group_by("frame_row").agg(pl.col("sentence").n_unique())
    across = sentences_of.filter(pl.col("sentence") > 1)["frame_row"].implode()
    return Side(
        one.events.filter(~pl.col("row").is_in(across)),
        one.arguments.filter(~pl.col("frame_row").is_in(across)),
    )


def _entities(one: Side) -> pl.DataFrame:
    """The given mentions of each event, those of events that are its arguments included."""
    entities = (
        one.arguments.filter(pl.col("filler") == "given").select("frame_row", "filler_row").unique()
    )
    nested = one.arguments.filter(pl.col("filler") == "frame").select(
        "frame_row", inner="filler_row"
    )
    while True:
        reached = nested.join(entities, left_on="inner", right_on="frame_row").select(
            "frame_row", "filler_row"
        )
        both = pl.concat([entities, reached]).unique()
        if both.height == entities.height:
            return entities
        entities = both
