"""A corpus as a collection of BioC, and what of it BioC cannot represent."""

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
from hlteval.converters.toolkit.spans import odd_fragments
from hlteval.representation import Corpus
from hlteval.syntax.xml_places import ABSENT, attributes, escape

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
_KEY = ("document", "origin", "record")
_INFONS = ("collection", "document", "passage", "sentence", "annotation", "relation")
_PART = re.compile("passage ([1-9][0-9]{0,8})")
_Nodes = Iterable[tuple[str, str]]
_Pairs = Iterable[tuple[str, str | None]]
#: An annotation as a line, with where it starts and ends.
_Line = tuple[int, int, str]


def collection(corpora: Iterable[Corpus]) -> Iterator[str]:
    """A collection, piece by piece; its header is that of the first document."""
    yield f"{_DECLARATION}<collection>\n"
    begun = False
    for corpus in corpora:
        infons = _Infons(corpus)
        for row, document in _documents(corpus, infons):
            yield document if begun else infons.head(row) + document
            begun = True
    yield f"{'' if begun else _Infons(Corpus()).head(0)}</collection>\n"


def _infon(key: str, value: str) -> str:
    return f"<infon{attributes([('key', key)])}>{escape(value)}</infon>"


class _Infons:
    """The attributes of a batch as infons of documents and of records."""

    def __init__(self, corpus: Corpus) -> None:
        self.header: dict[int, dict[str, str]] = defaultdict(dict)
        self.lines: dict[tuple[object, ...], list[str]] = defaultdict(list)
        columns = (*_KEY, "element", "name", "value")
        for *key, element, name, value in corpus.attributes.select(columns).iter_rows():
            if element == "collection":
                self.header[key[0]][name] = value
            elif element.endswith("/infon"):
                of, line = element.removesuffix("/infon"), _infon(name, value)
                self.lines[of, key[0]].append(line)
                self.lines[of, *key].append(line)

    def of(self, *key: object, end: str = "\n") -> str:
        """The infons of an element of a document, or of the record of one, each with an end."""
        return "".join(line + end for line in self.lines.get(key, ()))

    def head(self, document: int) -> str:
        """The header of the collection, as far as a document has one."""
        values = self.header.get(document, {})
        names = [name for name in HEADER if name != "version" or name in values]
        lines = (f"<{name}>{escape(values.get(name, ''))}</{name}>\n" for name in names)
        return "".join(lines) + self.of("collection", document)


def _documents(corpus: Corpus, infons: _Infons) -> Iterator[tuple[int, str]]:
    """The documents that can be written, each with its row."""
    without, segments = _unwritable(corpus), passages(corpus)
    annotations, relations = _annotations(corpus, infons), _relations(corpus, infons)
    columns = ("row", "name", "text", "language")
    for row, name, text, language in corpus.documents.select(columns).iter_rows():
        if row in without:
            continue
        end = LARGEST if text is None else len(text)
        body, others = segments.get(row) or [Passage(("passage", row), 0, end, text)], list[str]()
        for start, stop, line in annotations.get(row, ()):
            outer = _holder(body, start, stop)
            sentence = _holder(outer.sentences, start, stop) if outer else None
            lines = (sentence or outer).lines if outer else others
            lines.append(line)
        more = "" if language is None else _infon("language", language) + "\n"
        more += infons.of("document", row)
        content = "".join([passage.written(infons) for passage in body])
        content += "".join([*others, *relations.get(row, ())])
        yield row, f"<document>\n<id>{escape(name)}</id>\n{more}{content}</document>\n"


@dataclass
class Passage:
    """A passage or sentence.

    Attributes:
        key: what has its infons: `passage` or `sentence`, and the record, or only the document.
        start: first code point in the document.
        end: one past the last.
        text: its text; None where it has none.
        sentences: its sentences.
        lines: its annotations as lines.
    """

    key: tuple[Any, ...]
    start: int
    end: int
    text: str | None
    sentences: list[Passage] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def written(self, infons: _Infons, tag: str = "passage") -> str:
        """Itself with its sentences and annotations."""
        content = "".join(sentence.written(infons, "sentence") for sentence in self.sentences)
        if self.text is not None and not self.sentences:
            content = f"<text>{escape(self.text)}</text>\n"
        head = f"<{tag}>\n{infons.of(*self.key)}<offset>{self.start}</offset>\n"
        return f"{head}{content}{''.join(self.lines)}</{tag}>\n"


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
    covered = all(
        _cover(passage.sentences, text, passage.start, passage.end)
        for passage in found
        if passage.sentences
    )
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


def _annotations(corpus: Corpus, infons: _Infons) -> dict[int, list[_Line]]:
    """The mentions of each document as annotations."""
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    candidates: dict[int, list[tuple[str, str]]] = defaultdict(list)
    links = corpus.links.drop_nulls("entity").sort("mention_row", "rank")
    for row, entity in links.select("mention_row", "entity").iter_rows():
        candidates[row].append(("identifier", entity))
    rows = corpus.mentions.filter(writable())
    some = pl.col("confidence").is_not_null() | pl.col("confidence_text").is_not_null()
    rows = rows.with_columns(confidence_text=pl.when(some).then(to_text(rows)))
    columns = ("row", *_KEY, "mention", "label", "start", "end", "fragments", "text", "entity")
    more = ("mention_type", "confidence_text", "annotator")
    found: dict[int, list[_Line]] = defaultdict(list)
    for (
        row, *key, name, label, start, end, fragments, text, entity, mention_type, confidence, by
    ) in rows.select(*columns, *more).iter_rows():  # fmt: skip
        spans = [(part["start"], part["end"]) for part in fragments or ()] or [(start, end)]
        if text is None and key[0] in texts:
            written = " ".join(texts[key[0]][a:b] for a, b in spans)
        else:
            written = text or ""
        pairs = [
            *(("type", label or None), ("identifier", entity), *candidates.get(row, ())),
            *(("mention_type", mention_type), ("confidence", confidence), ("annotator", by)),
        ]
        own = "".join(_infon(key, value) for key, value in pairs if value is not None)
        places = "".join(f'<location offset="{a}" length="{b - a}"/>' for a, b in spans)
        found[key[0]].append((start, end,
            f"<annotation{attributes([('id', name or None)])}>{own}"
            f"{infons.of('annotation', *key, end='')}{places}<text>{escape(written)}</text>"
            "</annotation>\n"
        ))  # fmt: skip
    return found


def _relations(corpus: Corpus, infons: _Infons) -> dict[int, list[str]]:
    """The events, relations, modifiers and equivalences of each document, as relations."""
    found: dict[int, list[tuple[tuple[int, ...], str]]] = defaultdict(list)

    def add(
        kind: int, row: int, key: Sequence[int], name: str | None, pairs: _Pairs, nodes: _Nodes
    ) -> None:
        own = "".join(_infon(name, value) for name, value in pairs if value is not None)
        ends = "".join(f"<node{attributes([('refid', a), ('role', b)])}/>" for a, b in nodes)
        more = infons.of("relation", *key, end="")
        line = f"<relation{attributes([('id', name)])}>{own}{more}{ends}</relation>\n"
        found[key[0]].append(((*key[1:], kind, row), line))

    arguments: dict[int, list[tuple[str, str]]] = defaultdict(list)
    ordered = corpus.arguments.sort("frame_row", "position").select("frame_row", "target", "role")
    for row, target, role in ordered.iter_rows():
        arguments[row].append((target, role))
    frames = corpus.frames.select("row", *_KEY, "frame", "kind", "label", "trigger")
    for row, *key, name, kind, label, trigger in frames.iter_rows():
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
    groups = corpus.groups.group_by("document", "group", "kind", maintain_order=True)
    first = [pl.col("row", "origin", "record").first(), pl.col("member")]
    for document, name, kind, row, origin, record, members in groups.agg(first).iter_rows():
        pairs = [("type", kind or None), ("kind", EQUIVALENCE)]
        nodes = [(member, "Arg") for member in members]
        add(2, row, (document, origin, record), name, pairs, nodes)
    return {document: [line for _, line in sorted(lines)] for document, lines in found.items()}


def writable() -> pl.Expr:
    """Whether a mention, and each of its parts, starts in a text and does not end before that."""
    start, end = (pl.element().struct.field(name) for name in ("start", "end"))
    wrong = pl.col("fragments").list.eval((end < start) | (start < 0) | (end > LARGEST)).list.any()
    ordered = (pl.col("start") >= 0) & (pl.col("end") >= pl.col("start"))
    return ordered & (pl.col("end") <= LARGEST) & ~wrong.fill_null(value=False)


def _unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters not allowed in XML."""
    odd = pl.any_horizontal(pl.col(pl.String).str.contains(ABSENT))
    found = set(corpus.documents.filter(odd)["row"])
    for name in ("attributes", "mentions", "links", "frames", "arguments", "modifiers", "groups"):
        table: pl.DataFrame = getattr(corpus, name)
        found |= set(table.filter(odd)["document"])
    return found


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what BioC cannot represent of the tables that it carries, by name."""
    attributes, names = corpus.attributes, corpus.documents["name"]
    infons = pl.col("element").is_in([f"{name}/infon" for name in _INFONS])
    header = (pl.col("element") == "collection") & pl.col("name").is_in(HEADER)
    own = corpus.mentions.select("entity", mention_row="row")
    links = corpus.links.sort("mention_row", "rank").join(own, on="mention_row", suffix="_own")
    missing = pl.col("entity").is_null() | pl.col("entity_own").is_null()
    rank = pl.int_range(2, pl.len() + 2).over("mention_row")
    undivided = ~pl.col("document").is_in(list(passages(corpus)))
    return {
        "documents with characters not allowed in XML": len(_unwritable(corpus)),
        "documents whose name is empty or has surrounding spaces": sum(
            not name or name != name.strip() for name in names
        ),
        "segments of documents without passage structure": corpus.segments.filter(undivided).height,
        "mentions outside of texts": corpus.mentions.filter(~writable()).height,
        "mentions whose fragments do not match their extent": corpus.mentions.filter(
            odd_fragments()
        ).height,
        "candidates without an entity, or with gaps in their ranks": links.filter(
            missing | (pl.col("rank") != rank)
        ).height,
        "attributes of other formats": attributes.filter(~(infons | header)).height,
    }
