r"""PubAnnotation: annotated texts in JSON, as used by PubAnnotation and TextAE.

Format:
    One object per document (grammars/pubannotation.schema.json): alone in a file, in an array, or
    one per line (JSON Lines). It has a `text`; `denotations`, which assign a type (`obj`) to a
    `span`; `blocks`, the same for longer spans; `relations` between two of these; `attributes` of
    any of these (formerly `modifications`); or `tracks`, the annotations of several projects.

Conventions:
    Offsets are 0-based, half-open code points; a discontinuous span is an array of spans. The
    document name consists of `sourcedb`, `sourceid` and `divid`. Identifiers in a track are
    prefixed with its number in the tables (`2:T1`). A record is a document, a track, or an item of
    these, in order. An attribute whose `obj` is true has no value. Unknown members are kept as they
    are.

    Additional members represent what PubAnnotation does not define: events are denotations with a
    member `frame` (kind and trigger), and each argument is a relation with a member `argument` (its
    position); relations with roles other than subj and obj have a member `roles`; an equivalence is
    a chain of relations with a member `group`; the entity of a mention is an attribute with a
    member `column`; the text of a mention that differs from the document is a member `text`. Other
    programs ignore them.

Example lines:
    {"sourcedb": "PubMed", "sourceid": "101", "text": "IRF-4 binds PU.1.", "denotations": [
      {"id": "T1", "span": {"begin": 0, "end": 5}, "obj": "Protein"},
      {"id": "T2", "span": {"begin": 12, "end": 16}, "obj": "Protein"}],
     "relations": [{"id": "R1", "subj": "T1", "pred": "binds", "obj": "T2"}]}

Codes raised: JSNxxx, for invalid JSON; PUBxxx.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path as FilePath
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.pubannotation.reading import (
    BLOCK,
    CANDIDATE,
    MENTION_COLUMNS,
    ROLES,
    SECTIONS,
    STRUCTURE,
    Annotations,
    records,
)
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.json_annotations import is_like
from hlteval.converters.toolkit.json_documents import Item, compact, locate_records
from hlteval.converters.toolkit.json_writing import has_place, write_objects
from hlteval.converters.toolkit.offsets import CHARACTERS
from hlteval.converters.toolkit.spans import (
    UNRESOLVED,
    candidates,
    count_unresolved,
    equivalences,
    odd_fragments,
)
from hlteval.findings import FieldRef, Location
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.json_text import strict

_SUFFIX = ".json"
_ELEMENT = re.compile(rf"\$(?:\.tracks\[([1-9][0-9]{{0,8}})\]|\.(?:{'|'.join(SECTIONS)}))?")
_KEY = ("row", "document", "origin", "record")
_MEMBERS = re.compile(r'"(?:denotations|sourceid|sourcedb)"[ \t\r\n]*:')


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read, in the order of their names."""
    return tuple(chain.from_iterable(source_files.documents(source, _SUFFIX).values()))


def sniff(source: Source) -> bool:
    """Whether the file, or the first of a folder that ends in .json, has members of this format."""
    return is_like(source, _SUFFIX, _MEMBERS)


def read(source: Source, offsets: str = CHARACTERS) -> Iterator[ReadResult]:
    """The documents of a source, some hundred at a time, however many are in a file."""
    every = source_files.batches(source, FORMAT.name, _SUFFIX)
    return Annotations(offsets).read(every, STRUCTURE)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The places of records, and of their members as fields; of a document, only its start."""
    return locate_records(member, places, records)


def write(corpora: Iterable[Corpus], path: FilePath, layout: str = "array") -> None:
    """All documents.

    Args:
        corpora: the batches.
        path: the file, or the folder.
        layout: `array` is one file with an array; `lines` one with a document a line; `files` a
            folder with a file each, where it was in a folder or archive of this format.
    """
    if layout == "files":
        source_files.write_files((file for corpus in corpora for file in files(corpus)), path)
        return
    write_objects(corpora, path, layout, _objects, spread)


def files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The files of the documents by name; documents that were in one file are again."""
    output_paths = source_files.output_paths(corpus, "pubannotation", ".json", shared=True)
    members: dict[str, list[Item]] = defaultdict(list)
    for row, document in _objects(corpus):
        members[output_paths.get(row, f"document-{row + 1}.json")].append(document)
    for name, own in members.items():
        content = ",\n".join(map(spread, own))
        yield name, f"{content}\n" if len(own) == 1 else f"[\n{content}\n]\n"


def spread(document: Item) -> str:
    """A document as JSON, with a line for each of its items."""
    parts = []
    for name, value in document.items():
        if name in SECTIONS and isinstance(value, list):
            items = ",\n  ".join(map(compact, value))
            parts.append(f"{compact(name)}: [\n  {items}]")
        else:
            parts.append(f"{compact(name)}: {compact(value)}")
    return "{" + ",\n ".join(parts) + "}"


def _objects(corpus: Corpus) -> Iterator[tuple[int, Item]]:
    """Every document, with its row."""
    written = _Documents(corpus)
    for row, name, language in corpus.documents.select("row", "name", "language").iter_rows():
        yield row, written.document(row, name, language)


def _is_own(element: str, value: str) -> bool:
    """Whether an attribute is a member of this format, as JSON."""
    return bool(_ELEMENT.fullmatch(element)) and strict(value.encode())[0]


class _Documents:
    """The documents of a batch, as they are put together.

    Attributes:
        members: the members that only this format has, by what they belong to: a document or
            track by its row and element, an item by its section and record.
        tracks: the numbers of the tracks of each document.
        spans: the span of each mention.
        sections: the items of each section of each track of each document, by their order.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.own_names = corpus, own_names(corpus)
        self.texts = dict(corpus.documents.select("row", "text").iter_rows())
        self.members: dict[tuple[Any, ...], Item] = defaultdict(dict)
        self.tracks: dict[int, set[int]] = defaultdict(set)
        self.spans: dict[tuple[int, str | None], Any] = {}
        self.sections: dict[tuple[int, int, str], list[tuple[Any, Item]]] = defaultdict(list)
        attributes = corpus.attributes.select(*_KEY[1:], "element", "name", "value")
        for *place, element, name, value in attributes.iter_rows():
            if not _is_own(element, value):
                continue
            key: tuple[Any, ...] = (element[2:], *place)
            if element == "$" or "[" in element:
                key = (place[0], element)
                if "[" in element:
                    self.tracks[place[0]].add(int(element.partition("[")[2][:-1]))
            self.members[key][name] = json.loads(value)
        self.mentions()
        self.blocks()
        self.frames()
        self.groups()
        self.modifiers()

    def add(
        self,
        section: str,
        place: Sequence[int],
        order: Sequence[int],
        named: str | None,
        item: Item,
        members: Item | None = None,
    ) -> None:
        """Add an item with the members that its record has.

        Args:
            section: the section.
            place: document, origin and record.
            order: the order among the items of its record.
            named: an identifier that shows the track.
            item: the item.
            members: the members of its record, where these are not those of the section.
        """
        document, *record = place
        if members is None:
            members = self.members.get((section, *place), {})
        item = {**item, **members}
        number, colon, _ = (named or "").partition(":")
        known = colon and number.isascii() and number.isdigit() and len(number) < 10
        track = int(number) if known and int(number) in self.tracks[document] else 0
        if track:
            item = {name: _without(f"{track}:", name, value) for name, value in item.items()}
        if item.get("id") == "":
            del item["id"]
        self.sections[document, track, section].append(((*record, *order), item))

    def document(self, row: int, name: str, language: str | None) -> Item:
        """A whole document."""
        own, text = self.members.get((row, "$"), {}), self.texts[row]
        found: Item = {} if "sourceid" in own else {"sourceid": name}
        found |= {} if language is None else {"lang": language}
        found |= own | ({} if text is None else {"text": text}) | self.items(row, 0)
        if tracks := sorted(self.tracks[row]):
            members = [self.members[row, f"$.tracks[{track}]"] for track in tracks]
            found["tracks"] = [
                {name: value for name, value in own.items() if name} | self.items(row, track)
                for track, own in zip(tracks, members, strict=True)
            ]
        return found

    def items(self, document: int, track: int) -> Item:
        """The sections of a document or track that are not empty."""
        return {
            section: [item for _, item in sorted(items, key=lambda entry: entry[0])]
            for section in SECTIONS
            if (items := self.sections.get((document, track, section)))
        }

    def mentions(self) -> None:
        """Mentions as denotations, and what is in their columns as attributes of these."""
        others = candidates(self.corpus)
        columns = ("mention", "label", "start", "end", "fragments", "text", *MENTION_COLUMNS)
        rows = self.corpus.mentions.filter(writable()).select(*_KEY, *columns).iter_rows()
        for row, document, *record, name, label, start, end, fragments, text, a, b, c, d in rows:
            parts = [_span(part["start"], part["end"]) for part in fragments or ()]
            span: Any = parts or _span(start, end)
            self.spans.setdefault((document, name), span)
            whole = self.texts[document] or ""
            known = text is None
            if text is not None and self.texts[document] is not None:
                known = text == " ".join(whole[a["begin"] : a["end"]] for a in parts or (span,))
            item = {"id": name, "span": span, "obj": label, **({} if known else {"text": text})}
            self.add("denotations", (document, *record), (0, row), name, item)
            if (document, name) not in self.own_names:
                continue
            values = [*zip(MENTION_COLUMNS, (a, b, c, d), strict=True)]
            values += [(CANDIDATE, entity) for entity in others.get(row, ())]
            for at, (column, value) in enumerate(values):
                if value is not None:
                    item = {"subj": name, "pred": column, "obj": value, "column": column}
                    self.add("attributes", (document, -1, 0), (row, at), name, item, {})

    def blocks(self) -> None:
        """Segments."""
        rows = self.corpus.segments.filter(has_place()).select(*_KEY, "name", "start", "end")
        for row, *place, name, start, end in rows.iter_rows():
            item = {"id": name or "", "span": _span(start, end), "obj": BLOCK}
            self.add("blocks", place, (row,), name, item)

    def frames(self) -> None:
        """Relations, and events as denotations with their arguments as relations."""
        arguments: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        columns = ("frame_row", *_KEY[1:], "position", "role", "target")
        ordered = self.corpus.arguments.sort("frame_row", "position").select(columns)
        for frame, *place, position, role, target in ordered.iter_rows():
            arguments[frame].append((place, position, role, target))
        rows = self.corpus.frames.select(*_KEY, "frame", "kind", "label", "trigger").iter_rows()
        for row, *place, name, kind, label, trigger in rows:
            held = arguments[row]
            if kind == "relation" and trigger is None and len(held) == 2:
                (*_, first, subj), (*_, second, obj) = held
                roles = {} if (first, second) == ROLES else {"roles": [first, second]}
                item = {"id": name or "", "subj": subj, "pred": label, "obj": obj, **roles}
                self.add("relations", place, (0, row, 0), name or subj, item)
            elif (place[0], name) in self.own_names:
                span = self.event_span(place[0], trigger, [target for *_, target in held])
                event = {"kind": kind, "trigger": trigger}
                item = {"id": name, "span": span, "obj": label, "frame": event}
                self.add("denotations", place, (1, row), name, item)
                for own, position, role, target in held:
                    item = {"subj": name, "pred": role, "obj": target, "argument": max(position, 1)}
                    self.add("relations", own, (0, row, position), name, item)

    def event_span(self, document: int, trigger: str | None, targets: Sequence[str]) -> Any:
        """The span of an event: its trigger, from its first to its last argument, or all text."""
        if (document, trigger) in self.spans:
            return self.spans[document, trigger]
        spans = [self.spans[document, name] for name in targets if (document, name) in self.spans]
        parts = [part for span in spans for part in (span if isinstance(span, list) else [span])]
        if not parts:
            return _span(0, max(1, len(self.texts[document] or "")))
        return _span(min(part["begin"] for part in parts), max(part["end"] for part in parts))

    def groups(self) -> None:
        """Equivalences as chains of relations."""
        for row, *place, group, kind, members in equivalences(self.corpus.groups).iter_rows():
            for at, (first, second) in enumerate(pairwise(members)):
                item = {"subj": first, "pred": kind, "obj": second, "group": group}
                self.add("relations", place, (1, row, at), group, item, {} if at else None)

    def modifiers(self) -> None:
        """Modifiers as attributes."""
        columns = (*_KEY, "modifier", "label", "target", "value", "text")
        rows = self.corpus.modifiers.select(columns).iter_rows()
        for row, *place, name, label, target, value, text in rows:
            members = self.members.get(("attributes", *place), {})
            members = members | self.members.get(("modifications", *place), {})
            written = {"obj": True if value is None else value}
            written |= {} if text is None else {"text": text}
            item = {"id": name, "subj": target, "pred": label, **written}
            self.add("attributes", place, (row, 0), name or target, item, members)


def _span(start: int, end: int) -> Item:
    return {"begin": start, "end": end}


def _without(prefix: str, name: str, value: Any) -> Any:
    """A member of an item of a track, with identifiers as they are there."""
    if name in {"id", *ROLES, "group"} and isinstance(value, str):
        return value.removeprefix(prefix)
    if name == "frame" and isinstance(value, dict) and isinstance(value.get("trigger"), str):
        return {**value, "trigger": value["trigger"].removeprefix(prefix)}
    return value


def own_names(corpus: Corpus) -> set[tuple[int, str]]:
    """The identifiers that only one mention or frame of a document has."""
    mentions = corpus.mentions.select("document", name="mention")
    names = pl.concat([mentions, corpus.frames.select("document", name="frame")])
    own = names.filter(names.is_unique(), pl.col("name") != "")
    return {(document, name) for document, name in own.iter_rows()}


def writable() -> pl.Expr:
    """Whether a mention and its parts have offsets that can be written."""
    start, end = (pl.element().struct.field(name) for name in ("start", "end"))
    parts = pl.col("fragments").list.eval(pl.min_horizontal(start, end))
    return has_place() & (parts.list.min().fill_null(0) >= 0)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what is not written, or not read as it was, by name.

    Examples:
        >>> sum(count_losses(Corpus()).values())
        0
    """
    mentions, own, odd = corpus.mentions, own_names(corpus), odd_fragments()
    texts = dict(corpus.documents.select("row", "text").iter_rows())
    segments = corpus.segments.drop_nulls("text").select("document", "start", "end", "text")
    counts = corpus.arguments.group_by(row="frame_row").agg(size=pl.len())
    frames = corpus.frames.join(counts, on="row", how="left")
    pair = (pl.col("kind") == "relation") & pl.col("trigger").is_null() & (pl.col("size") == 2)
    events = frames.filter(~pair.fill_null(value=False)).select("document", "frame")
    links = corpus.links.drop_nulls("entity").group_by(row="mention_row").agg(links=pl.len())
    filled = pl.sum_horizontal(pl.col(*MENTION_COLUMNS).is_not_null().cast(pl.Int64))
    linked = mentions.join(links, on="row", how="left").with_columns(pl.col("links").fill_null(0))
    values = linked.select("document", "mention", filled + pl.col("links"))
    sizes = corpus.groups.group_by("document", "group", "kind").len()
    attributes = corpus.attributes.select("element", "value").iter_rows()
    return {
        "mentions outside of texts": mentions.filter(~writable()).height,
        "mentions whose fragments do not match their extent": mentions.filter(odd).height,
        "segments outside of texts": corpus.segments.filter(~has_place()).height,
        "segment texts that differ from the document": sum(
            text != (texts[document] or "")[max(0, start) : max(0, end)]
            for document, start, end, text in segments.iter_rows()
        ),
        "events without a unique identifier": sum(event not in own for event in events.iter_rows()),
        "values of mentions without a unique identifier": sum(
            count for document, name, count in values.iter_rows() if (document, name) not in own
        ),
        "equivalences with a single member": sizes.filter(pl.col("len") == 1).height,
        "attributes of other formats": sum(not _is_own(*row) for row in attributes),
        UNRESOLVED: count_unresolved(corpus, FORMAT.name),
    }


FORMAT = declaration(__name__)
