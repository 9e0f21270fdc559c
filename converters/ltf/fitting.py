"""A corpus as LTF and LAF can represent it: offsets, parts and attributes of their schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl

from hlteval.converters.ltf.tables import LENGTH, MD5
from hlteval.representation import Corpus

#: The largest offset: nine digits.
LARGEST = 999_999_999
_PART = re.compile("(HEADLINE|TEXT) ([1-9][0-9]{0,8})(?: P ([1-9][0-9]{0,8}))?")
_OTHER = "^(DATELINE|AUTHORLINE) [1-9][0-9]{0,8}$"
#: The attributes of the schema that no column of a table has.
_NAMES = {
    "LCTL_TEXT": ("lang", "source_file", "source_type", "author", "encoding"),
    "DOC": ("id", "lang", "tokenization", "grammar", LENGTH, MD5),
    "SEG": ("start_token", "end_token"),
    "TOKEN": ("attach", "gloss"),
}
_ATTACHED = ("LEFT", "RIGHT", "BOTH")
_KEY = ("document", "origin", "record", "element", "name")


class Fitted(NamedTuple):
    """The corpus that is written, and the counts of what is lost, by description."""

    corpus: Corpus
    lost: Mapping[str, int]


def fitted(corpus: Corpus) -> Fitted:
    """The corpus without what no LTF file can hold.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1, "start": 0, "end": 10**10}
        >>> dict(fitted(Corpus(segments=[place])).lost)["segments and tokens with invalid offsets"]
        1
    """
    return corpus.cached(_fitted)


def _fitted(corpus: Corpus) -> Fitted:
    segments = corpus.segments.filter(writable_offsets())
    held = pl.col("segment_row").is_null() | pl.col("segment_row").is_in(segments["row"].implode())
    tokens = corpus.tokens.filter(writable_offsets() & held)
    gone = corpus.segments.height + corpus.tokens.height - segments.height - tokens.height
    attributes = corpus.attributes.filter(_known())
    attributes = attributes.unique(_KEY, keep="first", maintain_order=True)
    irregular = pl.col("document").is_in(list(_irregular(segments, attributes)))
    lost = segments.filter(irregular, pl.col("part").is_not_null()).height
    part = pl.when(~irregular).then(pl.col("part"))
    attributes = attributes.filter(~(irregular & pl.col("element").str.contains(_OTHER)))
    kept = corpus.replace(
        segments=segments.with_columns(part=part), tokens=tokens, attributes=attributes
    )
    return Fitted(
        kept,
        {
            "segments and tokens with invalid offsets": gone,
            "parts of documents that LTF does not have": lost,
            "attributes of other formats": corpus.attributes.height - attributes.height,
        },
    )


def writable_offsets() -> pl.Expr:
    """Whether both offsets of a span can be written; the end is inclusive there."""
    end = pl.col("end").is_between(1, LARGEST + 1)
    return pl.col("start").is_between(0, LARGEST) & end


def _known() -> pl.Expr:
    """Whether an attribute is one of the schema."""
    element, name = pl.col("element"), pl.col("name")
    own = [(element == tag) & name.is_in(list(names)) for tag, names in _NAMES.items()]
    attached = (name != "attach") | pl.col("value").is_in(list(_ATTACHED))
    return pl.any_horizontal(*own, element.str.contains(_OTHER) & (name == "text")) & attached


def _irregular(segments: pl.DataFrame, attributes: pl.DataFrame) -> set[int]:
    """The documents whose parts do not follow each other as in a file of LTF."""
    others: dict[int, list[str]] = {}
    lines = attributes.filter(pl.col("element").str.contains(_OTHER))
    for document, element in lines.select("document", "element").iter_rows():
        others.setdefault(document, []).append(element)
    named = segments.filter(pl.col("part").is_not_null())["document"]
    divided = segments.filter(pl.col("document").is_in([*others, *named]))
    parts: dict[int, list[str]] = {document: [] for document in others}
    for document, part in divided.select("document", "part").iter_rows():
        parts.setdefault(document, []).append(part or "TEXT 1")
    return {
        document for document, own in parts.items() if not _regular(own, others.get(document, ()))
    }


def _regular(parts: Iterable[str], others: Iterable[str]) -> bool:
    """Whether parts are numbered from 1, each number once.

    Examples:
        >>> _regular(["HEADLINE 1", "TEXT 2 P 1"], []), _regular(["TEXT 1"], ["DATELINE 1"])
        (True, False)
    """
    tags: dict[int, str] = {}
    for part in parts:
        match = _PART.fullmatch(part)
        if not match or (match[3] and match[1] == "HEADLINE"):
            return False
        if tags.setdefault(int(match[2]), match[1]) != match[1]:
            return False
    for element in others:
        tag, number = element.split(" ")
        if int(number) in tags:
            return False
        tags[int(number)] = tag
    return sorted(tags) == [*range(1, len(tags) + 1)]
