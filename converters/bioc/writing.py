"""A corpus as BioC, and what of it BioC has no place for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.converters.bioc.documents import HEADER
from hlteval.converters.bioc.layout import LARGEST
from hlteval.converters.bioc.lines import annotation_lines, relation_lines, writable
from hlteval.converters.bioc.passages import Passage, passages
from hlteval.converters.toolkit.frame_kinds import situations
from hlteval.converters.toolkit.spans import odd_parts
from hlteval.representation import Corpus
from hlteval.syntax.xml_text import (
    ABSENT,
    attribute,
    content,
    escaped,
    start_tag,
)

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
_KEY = ("document", "origin", "record")
_INFONS = ("collection", "document", "passage", "sentence", "annotation", "relation")
_Key = tuple[int, int, int]


def written(corpora: Iterable[Corpus]) -> Iterator[str]:
    """The collection, piece by piece."""
    yield f"{DECLARATION}<collection>\n"
    begun = False
    for corpus in corpora:
        for head, document in _documents(corpus):
            if not begun:
                yield head
                begun = True
            yield document
    yield f"{'' if begun else _header({}, '')}</collection>\n"


def _header(said: Mapping[str, str], infons: str) -> str:
    parts = (
        f"<{name}>{escaped(said.get(name, ''))}</{name}>\n"
        for name in HEADER
        if name != "version" or name in said
    )
    return "".join(parts) + infons


class _Said(NamedTuple):
    """The infons of a batch, as they are written."""

    header: Mapping[int, Mapping[str, str]]
    documents: Mapping[tuple[int, str], str]
    elements: Mapping[tuple[str, _Key], str]


def _documents(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Every document that can be written, and what would be said of its collection."""
    without = _unwritable(corpus)
    said = _said(corpus)
    segments = passages(corpus)
    mentions = _by_document(annotation_lines(corpus))
    related = _by_document(relation_lines(corpus))
    columns = ("row", "name", "text", "language")
    for row, name, text, language in corpus.documents.select(columns).iter_rows():
        if row in without:
            continue
        listed = segments.get(row) or [_sole(row, text, said)]
        body = "".join(_Filled(listed, mentions.get(row, ()), said).written())
        tail = "".join(line for _, _, line in related.get(row, ()))
        infons = "" if language is None else _infon("language", language)
        infons += said.documents.get((row, "document"), "")
        head = _header(said.header.get(row, {}), said.documents.get((row, "collection"), ""))
        yield head, f"<document>\n<id>{escaped(name)}</id>\n{infons}{body}{tail}</document>\n"


def _infon(key: str, value: str) -> str:
    return f'<infon key="{key}">{escaped(value)}</infon>\n'


def _sole(row: int, text: str | None, said: _Said) -> Passage:
    """The passage of a document that is not divided."""
    infons = said.documents.get((row, "passage"), "")
    return Passage(None, 0, LARGEST if text is None else len(text), text, None, infons)


class _Filled:
    """The passages of a document with their annotations, and those that stand in none."""

    def __init__(
        self, listed: Sequence[Passage], lines: Iterable[tuple[int, int, str]], said: _Said
    ) -> None:
        self.listed, self.said = listed, said
        self.inner: dict[int | None, list[int]] = {}
        for at, one in enumerate(listed):
            self.inner.setdefault(one.holder, []).append(at)
        self.held: dict[int | None, list[str]] = {}
        for start, end, line in lines:
            outer = self.holding(None, start, end)
            sentence = None if outer is None else self.holding(outer, start, end)
            self.held.setdefault(outer if sentence is None else sentence, []).append(line)

    def holding(self, holder: int | None, start: int, end: int) -> int | None:
        """The passage, or the sentence of one, that holds a stretch."""
        among = self.inner.get(holder, [])
        at = bisect_right(among, start, key=lambda at: self.listed[at].start) - 1
        return among[at] if at >= 0 and end <= self.listed[among[at]].end else None

    def written(self) -> Iterator[str]:
        """Everything, in order."""
        for at in self.inner.get(None, ()):
            yield from self.passage(at, "passage")
        yield from self.held.get(None, ())

    def passage(self, at: int, tag: str) -> Iterator[str]:
        """A passage, or a sentence, with what is in it."""
        one, sentences = self.listed[at], self.inner.get(at, ())
        infons = one.infons if one.key is None else self.said.elements.get((tag, one.key), "")
        yield f"<{tag}>\n{infons}<offset>{one.start}</offset>\n"
        if one.text is not None and not sentences:
            yield f"<text>{escaped(one.text)}</text>\n"
        for inner in sentences:
            yield from self.passage(inner, "sentence")
        yield from self.held.get(at, ())
        yield f"</{tag}>\n"


def _said(corpus: Corpus) -> _Said:
    """What is said of documents and of what is in them."""
    rows = corpus.attributes
    header: dict[int, dict[str, str]] = {}
    own = rows.filter(element="collection").select("document", "name", "value")
    for document, name, value in own.iter_rows():
        header.setdefault(document, {})[name] = value
    infons = rows.with_columns(
        of=pl.col("element").str.strip_suffix("/infon"),
        line=pl.concat_str(
            start_tag("infon", attribute("key", "name")), content("value"), pl.lit("</infon>\n")
        ),
    ).filter(pl.col("element").str.ends_with("/infon"))
    joined = pl.col("line").str.join()
    by_document = infons.group_by("document", "of", maintain_order=True).agg(joined)
    by_element = infons.group_by("of", *_KEY, maintain_order=True).agg(joined)
    return _Said(
        header,
        {(document, of): line for document, of, line in by_document.iter_rows()},
        {(of, (d, o, r)): line for of, d, o, r, line in by_element.iter_rows()},
    )


def _by_document(lines: pl.DataFrame) -> dict[int, list[tuple[int, int, str]]]:
    found: dict[int, list[tuple[int, int, str]]] = {}
    columns = lines.select("document", "start", "end", "line")
    for document, start, end, line in columns.iter_rows():
        found.setdefault(document, []).append((start, end, line))
    return found


def _unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters not allowed in XML."""
    found = set(
        corpus.documents.filter(
            pl.any_horizontal(pl.col("name", "text", "language").str.contains(ABSENT))
        )["row"]
    )
    for name in ("attributes", "mentions", "links", "frames", "arguments", "modifiers", "groups"):
        table: pl.DataFrame = getattr(corpus, name)
        odd = pl.any_horizontal(pl.col(pl.String).str.contains(ABSENT))
        found |= set(table.filter(odd)["document"])
    return found


def _stray(corpus: Corpus) -> int:
    """Candidates that are not read as they are written."""
    own = corpus.mentions.select("entity", mention_row="row")
    links = corpus.links.sort("mention_row", "rank").join(own, on="mention_row", suffix="_own")
    rank = pl.int_range(2, pl.len() + 2).over("mention_row")
    without = pl.col("entity").is_null() | pl.col("entity_own").is_null()
    return links.filter(without | (pl.col("rank") != rank)).height


def _places() -> pl.Expr:
    """The attributes that BioC has a place for."""
    infons = pl.col("element").is_in([f"{name}/infon" for name in _INFONS])
    header = (pl.col("element") == "collection") & pl.col("name").is_in(HEADER)
    return infons | header


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables BioC has no place for."""
    divided = list(passages(corpus))
    segments = corpus.segments.filter(~pl.col("document").is_in(divided))
    names = corpus.documents["name"]
    return {
        **situations(corpus),
        "documents with characters not allowed in XML": len(_unwritable(corpus)),
        "documents whose name is empty or has surrounding spaces": sum(
            not name or name != name.strip() for name in names
        ),
        "segments of documents without passage structure": segments.height,
        "mentions outside of texts": corpus.mentions.filter(~writable()).height,
        "mentions whose fragments do not match their extent": corpus.mentions.filter(
            odd_parts()
        ).height,
        "candidates without an entity, or with gaps in their ranks": _stray(corpus),
        "attributes of other formats": corpus.attributes.filter(~_places()).height,
    }
