"""Line ends in texts: brat counts each as one character, whatever it is written as."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable

import polars as pl

from hlteval.representation import Corpus


def with_line_feeds(corpus: Corpus, counts: Counter[str]) -> Corpus:
    r"""The corpus with line feeds for all line ends of texts, and offsets that follow.

    Args:
        corpus: a corpus of documents with their mentions.
        counts: the counts of losses, which are updated.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1, "start": 4, "end": 7}
        >>> corpus = Corpus(
        ...     documents=[{"row": 0, "name": "d", "text": "in\r\nOsh"}],
        ...     mentions=[{**place, "mention": "T1", "label": "City"}],
        ... )
        >>> changed = with_line_feeds(corpus, Counter())
        >>> changed.documents["text"].to_list(), changed.mentions.select("start", "end").rows()
        (['in\nOsh'], [(3, 6)])
    """
    some = corpus.documents.filter(pl.col("text").str.contains("\r"))
    if some.is_empty():
        return corpus
    counts["texts with carriage returns, written as line feeds"] += some.height
    texts = dict(some.select("row", "text").iter_rows())
    written = pl.col("text").str.replace_all("\r\n?", "\n")
    return corpus.replace(
        documents=corpus.documents.with_columns(written),
        mentions=_moved(corpus.mentions, {row: _mapping(text) for row, text in texts.items()}),
    )


def _mapping(text: str) -> Callable[[int], int]:
    """The new offset of each offset of a text."""
    pairs = [match.start() + 1 for match in re.finditer("\r\n", text)]
    return lambda offset: offset - bisect_left(pairs, offset)


def _moved(mentions: pl.DataFrame, mappings: dict[int, Callable[[int], int]]) -> pl.DataFrame:
    moved: dict[str, list[object]] = {"start": [], "end": [], "fragments": [], "text": []}
    for document, start, end, fragments, text in mentions.select("document", *moved).iter_rows():
        at = mappings.get(document, int)
        parts = [{name: at(value) for name, value in part.items()} for part in fragments or ()]
        moved["start"].append(at(start))
        moved["end"].append(at(end))
        moved["fragments"].append(parts if fragments is not None else None)
        own = text.replace("\r\n", "\n") if text and document in mappings else text
        moved["text"].append(own)
    schema = mentions.schema
    return mentions.with_columns(
        pl.Series(name, values, dtype=schema[name]) for name, values in moved.items()
    )
