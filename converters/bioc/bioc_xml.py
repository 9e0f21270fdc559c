r"""BioC: collections of documents in passages, with annotations and relations, in one XML file.

Format:
    XML as defined in grammars/bioc.rng: a `collection` of `document`s, which have an `id` and
    `passage`s with `offset` and `text`, or `sentence`s with their own; `annotation`s with
    `location`s and `text`; `relation`s with `node`s. All elements may have `infon`s, key-value
    pairs. A document type declaration, usually of BioC.dtd, is allowed; the DTD is never loaded.

Conventions:
    Offsets are 0-based code points from the beginning of the document. Gaps between passages are
    filled with line feeds. A single passage is not a segment, nor is an empty last one, which marks
    the end of the text. A record is an element, counted by start tags.

    The infon `type` is the type, `identifier` the entity (further ones are other candidates), and
    `language` the language of a document; `mention_type`, `confidence` and `annotator` are read as
    such. A relation with a `trigger_id` is an event, whose first node is that trigger with the type
    as its role. A relation with the `kind` modifier or equivalence is read as such (a modifier with
    its `value` and `text`), and so is a relation of type Equiv whose nodes all have the role Arg.
    All other infons are kept as attributes.

Example lines:
    <annotation id="T1"><infon key="type">Protein</infon><location offset="0" length="5"/><text>IRF-4</text></annotation>
    <relation id="R1"><infon key="type">Binds</infon><node refid="T1" role="Agent"/><node refid="T2" role="Theme"/></relation>

Codes raised: XML1xx, BIOxxx.
"""  # noqa: E501

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from hlteval.converters.bioc.parts import declared_encoding, parts
from hlteval.converters.bioc.reading import (
    EQUIVALENCE,
    EVENT,
    GAP,
    HEADER,
    LARGEST,
    MODIFIER,
    RELATION,
    Documents,
    Mismatches,
)
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.offsets import CHARACTERS, UnitText
from hlteval.converters.toolkit.rows import to_text
from hlteval.converters.toolkit.source_files import has_suffix, head_of_first, with_suffix
from hlteval.converters.toolkit.spans import candidates, equivalences, odd_fragments
from hlteval.findings import Bounded, Finding, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.xml_elements import Malformed, encoding_problem
from hlteval.syntax.xml_places import ABSENT, Lines, Written, attributes, escape

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
_KEY = ("document", "origin", "record")
_INFONS = ("collection", "document", "passage", "sentence", "annotation", "relation")
_PART = re.compile("passage ([1-9][0-9]{0,8})")
_Nodes = Iterable[tuple[str, str]]
_Pairs = Iterable[tuple[str, str | None]]
#: An annotation as a line, with where it starts and ends.
_Line = tuple[int, int, str]


def count_characters(root: Element, unit: str) -> None:
    """Change the offsets and lengths below a collection from another unit to characters.

    Passages are moved too, unless they overlap in that unit: then they count characters already.
    Values that are not numbers stay, and are reported by the reader.
    """
    for document in root.iter("document"):
        blocks: list[tuple[int, int, UnitText]] = []  # with offsets as written and in characters
        written_end = end = 0
        for element in document.iter("passage", "sentence"):
            offset, text = element.find("offset"), element.find("text")
            start = None if offset is None else _number(offset.text)
            if offset is None or start is None:
                continue
            moved = end + start - written_end if start >= written_end else start
            offset.text = str(moved)
            if text is not None:
                own = UnitText(text.text or "", unit)
                blocks.append((start, moved, own))
                written_end, end = start + own.length, moved + own.size
        for location in document.iter("location"):
            start, length = (_number(location.get(name)) for name in ("offset", "length"))
            if start is None or length is None:
                continue
            characters = [start, start + length]
            for at, place in enumerate(characters if blocks else ()):
                # in the last text that begins at or before it
                before = [block for block in blocks if block[0] <= place] or blocks[:1]
                begin, moved, own = before[-1]
                characters[at] = moved + own.character(place - begin)
            location.set("offset", str(characters[0]))
            location.set("length", str(characters[1] - characters[0]))


def _number(value: str | None) -> int | None:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


_SUFFIX = ".bioc.xml"


def sniff(source: Source) -> bool:
    """Whether files are named so, or the first has the root element of BioC."""
    return has_suffix(source, _SUFFIX) or "<collection" in head_of_first(members(source))


def read(source: Source, offsets: str = CHARACTERS) -> Iterator[ReadResult]:
    """The documents of each file, some megabytes at a time; offsets may count another unit."""
    names: dict[str, int] = {}
    for member in members(source):
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,), (member,))
            continue
        decoded = decode(data, display=member.display, encoding=member.encoding)
        if decoded.text is None:
            yield ReadResult(Corpus(), decoded.findings, (member,))
            continue
        named = {"path": source.path, "member": member.name or member.basename}
        origin = {"row": 0, **named, "format": FORMAT.name, "sha256": sha256(data)}
        findings = list(decoded.findings)
        file = _File(member, decoded.text.encode(), origin, names, findings, offsets)
        del data, decoded
        try:
            yield from file.results()
        except Malformed as reason:
            file.explain(reason.problem)
        if rest := (*file.findings, *file.bounded.findings):
            yield ReadResult(Corpus(), rest, (member,))


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return with_suffix(source, ".xml")


@dataclass
class _File:
    """A file, with its findings that are not yielded yet."""

    member: Member
    data: bytes
    origin: dict[str, object]
    names: dict[str, int]
    findings: list[Finding]
    offsets: str

    @cached_property
    def bounded(self) -> Bounded:
        """The findings of elements."""
        return Bounded(self.member.max_per_code)

    @cached_property
    def lines(self) -> Lines:
        """The lines of the file, which are only found where something is wrong."""
        return Lines(Written(self.data))

    def results(self) -> Iterator[ReadResult]:
        """The documents of each part of the file."""
        declared = declared_encoding(self.data)
        if problem := encoding_problem(declared, self.member.encoding):
            self.explain(problem)
        mismatches, ordinal = Mismatches(self.report), 0
        for part in parts(self.data):
            if self.offsets != CHARACTERS:
                count_characters(part.root, self.offsets)
            documents = Documents(part, self.names, ordinal)
            ordinal = documents.ordinal
            for violation in part.problems:
                self.explain(violation)
            relevant = mismatches.relevant(documents.mismatches)
            wanted = {problem.record for problem, *_ in documents.problems}
            wanted |= {problem.record for _, problem, *_ in documents.rejected}
            wanted |= {mismatch.record for mismatch in relevant}
            places = part.places(wanted) if wanted else {}
            for problem, attribute, name in documents.problems:
                self.report(problem, places[problem.record], name, attribute)
            for mismatch in relevant:
                mismatches.add(mismatch, places[mismatch.record])
            found, self.findings = (*self.findings, *self.bounded.take()), []
            corpus = Corpus(sources=[self.origin], **documents.tables(places))
            yield ReadResult(corpus, found, (self.member,))
        mismatches.decide()

    def report(
        self, problem: Problem, place: tuple[int, int], name: str | None, attribute: str = ""
    ) -> None:
        """Add the finding of a problem of an element at its line and column."""

        def finding(_: int, problem: Problem) -> Finding:
            at = self.lines.location(*place, attribute)
            return problem.finding(self.member.display, at.span, at.excerpt, name)

        self.bounded.add(problem.code, place[0], finding, problem)

    def explain(self, problem: Problem) -> None:
        """Add the finding of something that is not XML, or not in the schema."""
        self.report(problem, (problem.record, problem.start + 1), None, problem.field)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All documents as one collection, an element of theirs a line.

    An annotation is in the passage or sentence that holds it, a relation in its document. The
    header of the collection is that of the first document.
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"{_DECLARATION}<collection>\n")
        begun = False
        for corpus in corpora:
            infons = _Infons(corpus)
            for row, document in _documents(corpus, infons):
                stream.write(document if begun else infons.head(row) + document)
                begun = True
        stream.write(f"{'' if begun else _Infons(Corpus()).head(0)}</collection>\n")


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
        content = "".join([passage.to_text(infons) for passage in body])
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

    def to_text(self, infons: _Infons, tag: str = "passage") -> str:
        """Itself with its sentences and annotations."""
        content = "".join(sentence.to_text(infons, "sentence") for sentence in self.sentences)
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


def _annotations(corpus: Corpus, infons: _Infons) -> dict[int, list[_Line]]:
    """The mentions of each document as annotations."""
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    others = candidates(corpus)
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
        known = spans if key[0] in texts else ()
        written = " ".join(texts[key[0]][a:b] for a, b in known) if text is None else text
        pairs = [
            *(("type", label or None), ("identifier", entity)),
            *(("identifier", other) for other in others.get(row, ())),
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
    for row, *key, name, kind, members in equivalences(corpus.groups).iter_rows():
        pairs = [("type", kind or None), ("kind", EQUIVALENCE)]
        add(2, row, key, name, pairs, [(member, "Arg") for member in members])
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
        "documents with characters not allowed in XML": len(_unwritable(corpus)),
        "documents whose name is empty or has surrounding spaces": odd_names,
        "segments of documents without passage structure": corpus.segments.filter(undivided).height,
        "mentions outside of texts": corpus.mentions.filter(~writable()).height,
        "mentions whose fragments do not match their extent": odd.height,
        "candidates without an entity, or with gaps in their ranks": incomplete.height,
        "attributes of other formats": attributes.filter(~(infons | header)).height,
    }


FORMAT = declaration(__name__)
