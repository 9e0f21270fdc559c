"""Documents of a corpus as BioC has them, whether they are written as XML or as JSON."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from hlteval.converters.bioc.reading import (
    EQUIVALENCE,
    EVENT,
    GAP,
    HEADER,
    LARGEST,
    MODIFIER,
    RELATION,
)
from hlteval.converters.toolkit.rows import to_text
from hlteval.converters.toolkit.spans import (
    UNRESOLVED,
    Quotes,
    candidates,
    count_unresolved,
    equivalences,
    odd_fragments,
)
from hlteval.representation import FACT, Corpus

_KEY = ("document", "origin", "record")
_INFONS = ("collection", "document", "passage", "sentence", "annotation", "relation")
_PART = re.compile("passage ([1-9][0-9]{0,8})")
Pairs = list[tuple[str, str]]


@dataclass(slots=True)
class Item:
    """An annotation or relation.

    Attributes:
        name: its identifier.
        infons: its infons, keys of which may be repeated.
        locations: the start and end of each part of an annotation.
        text: the text of an annotation; None if spans repeat the document too often.
        nodes: the target and role of each node of a relation.
    """

    name: str | None
    infons: Pairs
    locations: Sequence[tuple[int, int]] = ()
    text: str | None = ""
    nodes: Sequence[tuple[str, str]] = ()


@dataclass(slots=True)
class Passage:
    """A passage or sentence.

    Attributes:
        key: what has its infons: `passage` or `sentence`, and the record, or only the document.
        start: first code point in the document.
        end: one past the last.
        text: its text; None where it has none.
        sentences: its sentences.
        annotations: its annotations.
        infons: its infons.
    """

    key: tuple[Any, ...]
    start: int
    end: int
    text: str | None
    sentences: list[Passage] = field(default_factory=list)
    annotations: list[Item] = field(default_factory=list)
    infons: Pairs = field(default_factory=list)


@dataclass(slots=True)
class Document:
    """A document, with the annotations that are in no passage."""

    row: int
    name: str
    infons: Pairs
    passages: list[Passage]
    annotations: list[Item]
    relations: list[Item]


class Infons:
    """The attributes of a batch as infons of documents and of records."""

    def __init__(self, corpus: Corpus) -> None:
        self.headers: dict[int, dict[str, str]] = defaultdict(dict)
        self.pairs: dict[tuple[object, ...], Pairs] = defaultdict(list)
        columns = (*_KEY, "element", "name", "value")
        for *key, element, name, value in corpus.attributes.select(columns).iter_rows():
            if element == "collection":
                self.headers[key[0]][name] = value
            elif element.endswith("/infon"):
                of = element.removesuffix("/infon")
                self.pairs[of, key[0]].append((name, value))
                self.pairs[of, *key].append((name, value))

    def of(self, *key: object) -> Pairs:
        """The infons of an element of a document, or of the record of one."""
        return self.pairs.get(key, [])

    def header(self, document: int) -> Pairs:
        """The header of the collection, as far as a document has one."""
        values = self.headers.get(document, {})
        names = (name for name in HEADER if name != "version" or name in values)
        return [(name, values.get(name, "")) for name in names]


def documents(corpus: Corpus, infons: Infons) -> Iterator[Document]:
    """All documents.

    An annotation is in the passage or sentence that holds it, a relation in its document.
    """
    segments = passages(corpus)
    annotations, relations = _annotations(corpus, infons), _relations(corpus, infons)
    columns = ("row", "name", "text", "language")
    for row, name, text, language in corpus.documents.select(columns).iter_rows():
        end = LARGEST if text is None else len(text)
        others: list[Item] = []
        body = segments.get(row) or [Passage(("passage", row), 0, end, text)]
        for outer in body if infons.pairs else ():
            for passage in (outer, *outer.sentences):
                passage.infons = infons.of(*passage.key)
        for start, stop, item in annotations.get(row, ()):
            holder = _holder(body, start, stop)
            sentence = _holder(holder.sentences, start, stop) if holder else None
            ((sentence or holder).annotations if holder else others).append(item)
        own = infons.of("document", row)
        if language is not None:
            own = [("language", language), *own]
        yield Document(row, name, own, body, others, relations.get(row, []))


def _holder(siblings: Sequence[Passage], start: int, end: int) -> Passage | None:
    """The passage or sentence that holds a span."""
    at = bisect_right(siblings, start, key=lambda passage: passage.start) - 1
    return siblings[at] if at >= 0 and end <= siblings[at].end else None


def passages(corpus: Corpus) -> dict[int, list[Passage]]:
    """The segments of each document as passages with their sentences.

    Left out are documents whose text is not what such passages give: passages in order with
    nothing but line feeds between and after them, and likewise sentences in a passage. An empty
    passage marks where the text ends; one is added to a passage that is all of a text.
    """
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    rows: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    columns = (*_KEY, "start", "end", "text", "part")
    for row in corpus.segments.select(columns).iter_rows():
        rows[row[0]].append(row)
    found = {row: _as_passages(own, texts[row]) for row, own in rows.items() if row in texts}
    return {row: body for row, body in found.items() if body}


def _as_passages(rows: Sequence[tuple[Any, ...]], text: str) -> list[Passage]:
    """The segments of a document as passages; none if they are not such."""
    found: list[Passage] = []
    for *key, start, end, own, part in rows:
        written = text[start:end] if own is None and 0 <= start < end else own
        if part is None:
            found.append(Passage(("passage", *key), start, end, written))
            continue
        named = _PART.fullmatch(part)
        if named is None or int(named[1]) != len(found):
            return []
        found[-1].sentences.append(Passage(("sentence", *key), start, end, written))
    if found[-1].text == "":
        return []
    if found[-1].end != len(text) or (len(rows) == 1 and found[0].start == 0):
        found.append(Passage(("end",), len(text), len(text), ""))
    divided = (passage for passage in found if passage.sentences)
    covered = all(_cover(each.sentences, text, each.start, each.end) for each in divided)
    return found if covered and _cover(found, text, 0, len(text)) else []


def _cover(siblings: Sequence[Passage], text: str, start: int, end: int) -> bool:
    """Whether passages and the line feeds between them are all of a stretch of a text."""
    for passage in siblings:
        if text[start : passage.start].strip("\n"):
            return False
        if not start <= passage.start <= min(passage.end, start + GAP) or passage.end > end:
            return False
        if text[passage.start : passage.end] != (passage.text or ""):
            return False
        start = passage.end
    return start == end


def _annotations(corpus: Corpus, infons: Infons) -> dict[int, list[tuple[int, int, Item]]]:
    """The mentions of each document as annotations, with where each starts and ends."""
    texts = corpus.documents.drop_nulls("text").select("row", "text").iter_rows()
    quotes = {row: Quotes(text) for row, text in texts}
    others = candidates(corpus)
    rows = corpus.mentions.filter(writable())
    some = pl.col("confidence").is_not_null() | pl.col("confidence_text").is_not_null()
    rows = rows.with_columns(confidence_text=pl.when(some).then(to_text(rows)))
    columns = ("row", *_KEY, "mention", "label", "start", "end", "fragments", "text", "entity")
    more = ("mention_type", "confidence_text", "annotator")
    found: dict[int, list[tuple[int, int, Item]]] = defaultdict(list)
    for (
        row, *key, name, label, start, end, fragments, text, entity, mention_type, confidence, by
    ) in rows.select(*columns, *more).iter_rows():  # fmt: skip
        spans = [(part["start"], part["end"]) for part in fragments or ()] or [(start, end)]
        written = text
        if text is None:
            written = quotes[key[0]].at(*spans) if key[0] in quotes else ""
        pairs = [
            *(("type", label or None), ("identifier", entity)),
            *(("identifier", other) for other in others.get(row, ())),
            *(("mention_type", mention_type), ("confidence", confidence), ("annotator", by)),
        ]
        own = [(key, value) for key, value in pairs if value is not None]
        own += infons.of("annotation", *key)
        found[key[0]].append((start, end, Item(name or None, own, spans, written)))
    return found


def _relations(corpus: Corpus, infons: Infons) -> dict[int, list[Item]]:
    """The events, relations, modifiers and equivalences of each document, as relations."""
    found: dict[int, list[tuple[tuple[int, ...], Item]]] = defaultdict(list)

    def add(
        kind: int,
        row: int,
        key: Sequence[int],
        name: str | None,
        pairs: Iterable[tuple[str, str | None]],
        nodes: Sequence[tuple[str, str]],
    ) -> None:
        own = [(name, value) for name, value in pairs if value is not None]
        item = Item(name, [*own, *infons.of("relation", *key)], nodes=nodes)
        found[key[0]].append(((*key[1:], kind, row), item))

    arguments: dict[int, list[tuple[str, str]]] = defaultdict(list)
    ordered = corpus.arguments.sort("frame_row", "position").select("frame_row", "target", "role")
    for row, target, role in ordered.iter_rows():
        arguments[row].append((target, role))
    frames = corpus.frames.select("row", *_KEY, "frame", "kind", "label", "trigger")
    for row, *key, name, kind, label, trigger in frames.iter_rows():
        if kind == FACT:
            ends = [(role, target) for target, role in arguments[row]]
            add(0, row, key, name, [("type", label or None), *ends], [])
            continue
        nodes = [*([] if trigger is None else [(trigger, label)]), *arguments[row]]
        shape = RELATION if trigger is None else EVENT
        equal = shape == RELATION and label == "Equiv" and {"Arg"} == {role for _, role in nodes}
        written = kind if kind != shape or equal else None
        pairs = [("type", label or None), ("kind", written), ("trigger_id", trigger)]
        add(0, row, key, name, pairs, nodes)
    columns = ("modifier", "label", "target", "value", "text")
    modifiers = corpus.modifiers.select("row", *_KEY, *columns)
    for row, *key, name, label, target, value, text in modifiers.iter_rows():
        pairs = [("type", label or None), ("kind", MODIFIER), ("value", value), ("text", text)]
        add(1, row, key, name or None, pairs, [(target, "Target")])
    for row, *key, name, kind, members in equivalences(corpus.groups).iter_rows():
        pairs = [("type", kind or None), ("kind", EQUIVALENCE)]
        add(2, row, key, name, pairs, [(member, "Arg") for member in members])
    listed = found.items()
    return {
        document: [item for _, item in sorted(items, key=lambda pair: pair[0])]
        for document, items in listed
    }


def writable() -> pl.Expr:
    """Whether a mention, and each of its parts, starts in a text and does not end before that."""
    start, end = (pl.element().struct.field(name) for name in ("start", "end"))
    wrong = pl.col("fragments").list.eval((end < start) | (start < 0) | (end > LARGEST)).list.any()
    ordered = (pl.col("start") >= 0) & (pl.col("end") >= pl.col("start"))
    return ordered & (pl.col("end") <= LARGEST) & ~wrong.fill_null(value=False)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what BioC cannot represent of the tables that it supports, by name."""
    attributes, names = corpus.attributes, corpus.documents["name"]
    odd_names = sum(not name or name != name.strip() for name in names)
    odd = corpus.mentions.filter(odd_fragments())
    infons = pl.col("element").is_in([f"{name}/infon" for name in _INFONS])
    header = (pl.col("element") == "collection") & pl.col("name").is_in(HEADER)
    own = corpus.mentions.select("entity", mention_row="row")
    links = corpus.links.sort("mention_row", "rank").join(own, on="mention_row", suffix="_own")
    missing = pl.col("entity").is_null() | pl.col("entity_own").is_null()
    rank = pl.int_range(2, pl.len() + 2).over("mention_row")
    incomplete = links.filter(missing | (pl.col("rank") != rank))
    undivided = ~pl.col("document").is_in(list(passages(corpus)))
    return {
        "documents whose name is empty or has surrounding spaces": odd_names,
        "segments of documents without passage structure": corpus.segments.filter(undivided).height,
        "mentions outside of texts": corpus.mentions.filter(~writable()).height,
        "mentions whose fragments do not match their extent": odd.height,
        "candidates without an entity, or with gaps in their ranks": incomplete.height,
        "attributes of other formats": attributes.filter(~(infons | header)).height,
        UNRESOLVED: count_unresolved(corpus, "bioc-xml", "bioc-json"),
    }
