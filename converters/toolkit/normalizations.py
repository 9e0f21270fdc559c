"""Entities that a corpus has twice: as normalizations of mentions, and as entities and links.

Readers of brat keep the lines of normalizations as modifiers, and take the entities of mentions
from them. A format that can represent one of the two loses nothing of the other but its text.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus

KNOWLEDGE_BASE = "KB"
"""The knowledge base of entities whose identifiers do not name one."""
LABEL = "Reference"
"""The label of a modifier that gives the entity of its mention."""


def is_normalization() -> pl.Expr:
    """Whether a modifier is the normalization of a mention: N and a number, with a value."""
    return pl.col("modifier").str.starts_with("N") & pl.col("value").is_not_null()


def entity_of(value: str) -> pl.Expr:
    """The entity that the values of a column refer to: `7` for `KB:7`."""
    return pl.col(value).str.strip_prefix(f"{KNOWLEDGE_BASE}:")


def without_repeated(corpus: Corpus, tables: frozenset[str]) -> Corpus:
    """A corpus without normalizations, entities and links that are kept in another form.

    Normalizations are left out whose entity is kept; entities and links that are normalizations,
    too, are left out if they are not kept themselves.

    Args:
        corpus: of which losses are counted.
        tables: the tables and columns that a format can represent.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1}
        >>> mention = {**place, "mention": "T1", "label": "City", "start": 0, "end": 3}
        >>> line = {**place, "modifier": "N1", "label": "Reference", "target": "T1"}
        >>> line["value"] = "KB:7"
        >>> corpus = Corpus(mentions=[{**mention, "entity": "7"}], modifiers=[line])
        >>> without_repeated(corpus, frozenset({"mentions", "mentions.entity"})).modifiers.height
        0
        >>> without_repeated(corpus, frozenset({"modifiers"})).mentions["entity"].to_list()
        [None]
    """
    twice = corpus.cached(_twice)
    if twice.is_empty():
        return corpus
    own, links = twice.filter(pl.col("link").is_null()), twice.filter(pl.col("link").is_not_null())
    kept = [
        rows["modifier_row"]
        for rows, column in ((own, "mentions.entity"), (links, "links"))
        if column in tables
    ]
    found = corpus
    if "modifiers" not in tables and kept:
        found = found.replace(modifiers=_without(corpus.modifiers, pl.concat(kept)))
    if "links" not in tables:
        found = found.replace(links=_without(corpus.links, links["link"]))
    if "mentions.entity" not in tables:
        here = pl.col("row").is_in(own["mention_row"].implode())
        entity = pl.when(~here).then(pl.col("entity"))
        found = found.replace(mentions=corpus.mentions.with_columns(entity=entity))
    return found


def _without(rows: pl.DataFrame, keys: pl.Series) -> pl.DataFrame:
    return rows.filter(~pl.col("row").is_in(keys.implode()))


def _twice(corpus: Corpus) -> pl.DataFrame:
    """The modifiers that are the entity of their mention, or one of its links, with its `link`."""
    rows = corpus.modifiers.filter(is_normalization(), pl.col("label") == LABEL)
    schema = {"modifier_row": pl.Int64, "mention_row": pl.Int64, "link": pl.Int64}
    if rows.is_empty():
        return pl.DataFrame(schema=schema)
    mentions = corpus.mentions.select("document", "entity", target="mention", mention_row="row")
    mentions = mentions.unique(["document", "target"], keep="first", maintain_order=True)
    entities = mentions.with_columns(link=pl.lit(None, dtype=pl.Int64))
    others = corpus.links.select("entity", "mention_row", link="row")
    others = mentions.drop("entity").join(others, on="mention_row")
    every = pl.concat([entities, others], how="diagonal")
    named = rows.select("document", "target", entity=entity_of("value"), modifier_row="row")
    return every.join(named, on=["document", "target", "entity"]).select(*schema)
