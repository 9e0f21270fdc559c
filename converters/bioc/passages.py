"""The passages and sentences that the segments of a document make, where they make some."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hlteval.converters.bioc.layout import GAP
from hlteval.representation import Corpus

_PART = re.compile("passage ([1-9][0-9]{0,8})")


class Passage(NamedTuple):
    """A passage or sentence.

    Attributes:
        key: document, origin and record of its segment; None of a document that is not divided.
        start: first code point in the document.
        end: one past the last.
        text: its text; None where it has none.
        holder: of a sentence, the place of its passage among those of the document.
        infons: what is said of it, where it has no key.
    """

    key: tuple[int, int, int] | None
    start: int
    end: int
    text: str | None
    holder: int | None
    infons: str = ""


def passages(corpus: Corpus) -> dict[int, list[Passage]]:
    """The segments of each document as passages and sentences, each passage before its sentences.

    Left out are documents whose text is not what such passages give: passages in order with
    nothing but line feeds between and behind, and likewise sentences in a passage. An empty one
    tells where the text ends, and that one from the beginning to the end is a passage by itself.
    """
    texts = dict(corpus.documents.select("row", "text").iter_rows())
    rows: dict[int, list[tuple[object, ...]]] = {}
    columns = ("document", "origin", "record", "start", "end", "text", "part")
    for row in corpus.segments.select(columns).iter_rows():
        rows.setdefault(row[0], []).append(row)
    found = {document: _divided(listed, texts[document]) for document, listed in rows.items()}
    return {document: listed for document, listed in found.items() if listed}


def _divided(rows: Sequence[tuple[object, ...]], text: str | None) -> list[Passage]:
    """The segments of a document as passages; none if they are not such."""
    listed: list[Passage] = []
    holders: list[int] = []
    inner: dict[int, list[Passage]] = {}
    for document, origin, record, start, end, said, part in rows:
        named = _PART.fullmatch(part) if isinstance(part, str) else None
        if part is not None and (named is None or int(named[1]) != len(holders)):
            return []
        holder = holders[-1] if named else None
        if holder is None:
            holders.append(len(listed))
        one = Passage((document, origin, record), start, end, said, holder)  # type: ignore[arg-type]
        listed.append(_filled(one, text or ""))
        if holder is not None:
            inner.setdefault(holder, []).append(listed[-1])
    outer = [listed[at] for at in holders]
    if text is None or not outer or outer[-1].text == "":
        return []
    if outer[-1].end != len(text) or (len(listed) == 1 and listed[0].start == 0):
        end = Passage(None, len(text), len(text), "", None)
        listed, outer = [*listed, end], [*outer, end]
    divided = [(listed[at].start, listed[at].end, among) for at, among in inner.items()]
    tiled = all(_tiled(among, text, start, end) for start, end, among in divided)
    return listed if tiled and _tiled(outer, text, 0, len(text)) else []


def _filled(one: Passage, text: str) -> Passage:
    """A segment with its text, if it is any."""
    if one.text is None and 0 <= one.start < one.end:
        return one._replace(text=text[one.start : one.end])
    return one


def _tiled(listed: Sequence[Passage], text: str, start: int, end: int) -> bool:
    """Whether segments and line feeds between them are all of a stretch of a text."""
    at = start
    for one in listed:
        gap = text[at : one.start]
        if not at <= one.start <= min(one.end, at + GAP) or gap.strip("\n"):
            return False
        if one.end > end or text[one.start : one.end] != (one.text or ""):
            return False
        at = one.end
    return at == end
