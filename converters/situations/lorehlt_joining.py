"""Situation frames and the entity mentions of one submission as one corpus."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus, align


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
    tables = {
        name: table.with_columns(pl.col("origin") + shift)
        for name, table in entities.tables()
        if table.height and "origin" in table.columns
    }
    documents = pl.concat([frames.documents, tables.get("documents", entities.documents)])
    rejected = [frames.rejected_records, tables.get("rejected_records", entities.rejected_records)]
    return frames.replace(
        sources=pl.concat([frames.sources, entities.sources.with_columns(pl.col("row") + shift)]),
        documents=documents.unique("row", keep="first", maintain_order=True).sort("row"),
        mentions=tables.get("mentions", entities.mentions),
        links=tables.get("links", entities.links),
        rejected_records=pl.concat(rejected).with_columns(row=pl.int_range(pl.len())),
    )
