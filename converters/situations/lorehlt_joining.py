"""Situation frames and the entity mentions of one submission as one corpus."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus, align

#: The tables that a table of entity mentions makes.
_OF_ENTITIES = ("documents", "mentions", "links", "rejected_records")


def joined(frames: Corpus, entities: Corpus) -> Corpus:
    """The frames and the mentions of the same documents, in one numbering.

    Args:
        frames: of a file of frames.
        entities: of tables of entity mentions; their sources follow those of the frames.

    Examples:
        >>> first = Corpus(documents=[{"row": 0, "name": "b"}])
        >>> second = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> joined(first, second).documents["name"].to_list()
        ['a', 'b']
    """
    frames, entities = align(frames, entities)
    shift = frames.sources.height
    every = dict(entities.tables())
    tables = {name: every[name].with_columns(pl.col("origin") + shift) for name in _OF_ENTITIES}
    documents = pl.concat([frames.documents, tables["documents"]])
    rejected = [frames.rejected_records, tables["rejected_records"]]
    return frames.replace(
        sources=pl.concat([frames.sources, entities.sources.with_columns(pl.col("row") + shift)]),
        documents=documents.unique("row", keep="first", maintain_order=True).sort("row"),
        mentions=tables["mentions"],
        links=tables["links"],
        rejected_records=pl.concat(rejected).with_columns(row=pl.int_range(pl.len())),
    )
