"""The passages and sentences that the segments of a document make, where they make some."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from hlteval.converters.bioc.reading import GAP
from hlteval.representation import Corpus

_PART = re.compile("passage ([1-9][0-9]{0,8})")


class Passage(NamedTuple):
    """A passage or sentence.

    Attributes:
        key: document, origin and record of its segment; None where there is no segment.
        start: first code point in the document.
        end: one past the last.
        text: its text; None where it has none.
        holder: of a sentence, the place of its passage among those of the document.
        infons: its infons, where it has no key.
    """

    key: tuple[int, ...] | None
    start: int
    end: int
    text: str | None
    holder: int | None
    infons: str = ""


def passages(corpus: Corpus) -> dict[int, list[Passage]]:
    """The segments of each document as passages and sentences, each passage before its sentences.

    Left out are documents whose text is not what such passages give: passages in order with
    nothing but line feeds between and after them, and likewise sentences in a passage. An empty
    passage marks where the text ends; one is added to a passage that is all of a text.
    """
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    rows: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    columns = ("document", "origin", "record", "start", "end", "text", "part")
    for row in corpus.segments.select(columns).iter_rows():
        rows[row[0]].append(row)
    found = {row: _divided(listed, texts[row]) for row, listed in rows.items() if row in texts}
    return {document: listed for document, listed in found.items() if listed}


def _divided(rows: Sequence[tuple[Any, ...]], text: str) -> list[Passage]:
    """The segments of a document as passages; none if they are not such."""
    listed: list[Passage] = []
    inner: dict[int | None, list[Passage]] = {None: []}
    holder = None
    for *key, start, end, own, part in rows:
        named = _PART.fullmatch(part) if part is not None else None
        if part is not None and (named is None or int(named[1]) != len(inner[None])):
            return []
        if part is None:
            holder = len(listed)
        written = text[start:end] if own is None and 0 <= start < end else own
        passage = Passage(tuple(key), start, end, written, holder if named else None)
        listed.append(passage)
        inner.setdefault(passage.holder, []).append(passage)
    outer = inner[None]
    if outer[-1].text == "":
        return []
    if outer[-1].end != len(text) or (len(listed) == 1 and listed[0].start == 0):
        end = Passage(None, len(text), len(text), "", None)
        listed.append(end)
        outer.append(end)
    for holder, among in inner.items():
        start, end = (0, len(text)) if holder is None else listed[holder][1:3]
        if not _tiled(among, text, start, end):
            return []
    return listed


def _tiled(listed: Sequence[Passage], text: str, start: int, end: int) -> bool:
    """Whether passages and the line feeds between them are all of a stretch of a text."""
    for passage in listed:
        if text[start : passage.start].strip("\n"):
            return False
        if not start <= passage.start <= min(passage.end, start + GAP) or passage.end > end:
            return False
        if text[passage.start : passage.end] != (passage.text or ""):
            return False
        start = passage.end
    return start == end
