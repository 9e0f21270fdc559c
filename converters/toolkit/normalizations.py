"""Entities that a corpus has twice: as normalizations of mentions, and as entities and links.

Readers of brat keep the lines of normalizations as modifiers, and take the entities of mentions
from them. A format that can represent one of the two loses nothing of the other but its text.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from hlteval.representation import Corpus

#: The knowledge base of entities whose identifiers do not name one.
KNOWLEDGE_BASE = "KB"
#: The label of a modifier that gives the entity of its mention.
LABEL = "Reference"


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
    if corpus.modifiers.is_empty():
        return corpus
    twice = corpus.cached(_twice)
    kept = [
        rows
        for rows, column in ((twice.own, "mentions.entity"), (twice.linked, "links"))
        if column in tables
    ]
    found = corpus
    if "modifiers" not in tables and kept:
        found = found.replace(modifiers=_without(corpus.modifiers, pl.concat(kept)))
    if "links" not in tables:
        found = found.replace(links=_without(corpus.links, twice.links))
    if "mentions.entity" not in tables:
        here = pl.col("row").is_in(twice.mentions.implode())
        entity = pl.when(~here).then(pl.col("entity"))
        found = found.replace(mentions=corpus.mentions.with_columns(entity=entity))
    return found


class _Twice(NamedTuple):
    """The keys of the rows that a corpus has in both forms.

    Attributes:
        own: of the modifiers that are the entity of their mention.
        mentions: of these mentions.
        linked: of the modifiers that are a link of their mention.
        links: of these links.
    """

    own: pl.Series
    mentions: pl.Series
    linked: pl.Series
    links: pl.Series


def _without(rows: pl.DataFrame, keys: pl.Series) -> pl.DataFrame:
    return rows.filter(~pl.col("row").is_in(keys.implode()))


def _twice(corpus: Corpus) -> _Twice:
    """What is in a corpus both as a modifier and as the entity or a link of its mention."""
    key = ["document", "target", "entity"]
    rows = corpus.modifiers.filter(is_normalization(), pl.col("label") == LABEL)
    named = rows.select("document", "target", "row", entity=entity_of("value"))
    mentions = corpus.mentions.select("document", "entity", "row", target="mention")
    mentions = mentions.unique(["document", "target"], keep="first", maintain_order=True)
    links = mentions.drop("entity").rename({"row": "mention_row"})
    links = links.join(corpus.links.select("entity", "mention_row", "row"), on="mention_row")
    # One may be repeated thousands of times on both sides: no row is joined to all of the others.
    return _Twice(
        own=named.join(mentions, on=key, how="semi")["row"],
        mentions=mentions.join(named, on=key, how="semi")["row"],
        linked=named.join(links, on=key, how="semi")["row"],
        links=links.join(named, on=key, how="semi")["row"],
    )
