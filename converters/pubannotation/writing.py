"""A corpus as annotations of PubAnnotation, and what of it they have no place for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.pubannotation.items import BLOCK, CANDIDATE, ROLES, SAID
from hlteval.converters.pubannotation.scopes import SECTIONS, compact
from hlteval.converters.toolkit import per_document
from hlteval.representation import Corpus

_LARGEST = 10**15 - 1
_ELEMENT = re.compile(rf"\$(?:\.tracks\[([1-9][0-9]{{0,8}})\]|\.(?:{'|'.join(SECTIONS)}))?")
_Key = tuple[int, int, int]
Item = dict[str, Any]


def written(corpora: Iterable[Corpus], *, lines: bool) -> Iterator[str]:
    """The documents as lines, or as an array."""
    if not lines:
        yield "["
    first = True
    for corpus in corpora:
        for _, document in documents(corpus):
            if lines:
                yield f"{compact(document)}\n"
            else:
                yield f"{'' if first else ','}\n{_spread(document)}"
            first = False
    if not lines:
        yield "\n]\n"


def write_files(corpora: Iterable[Corpus], folder: Path) -> None:
    """A file for each document, or for those that were in one."""
    per_document.write((file for corpus in corpora for file in _files(corpus)), folder)


def _files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    output_paths = per_document.output_paths(corpus, "pubannotation", ".json")
    files: dict[str, list[Item]] = {}
    for row, document in documents(corpus):
        files.setdefault(output_paths.get(row, f"document-{row + 1}.json"), []).append(document)
    for name, listed in files.items():
        if len(listed) == 1:
            yield name, f"{_spread(listed[0])}\n"
        else:
            yield name, "[\n" + ",\n".join(map(_spread, listed)) + "\n]\n"


def _spread(document: Item) -> str:
    """A document as JSON, with a line for each of its items."""
    parts = []
    for name, value in document.items():
        if name in SECTIONS and isinstance(value, list):
            listed = ",\n  ".join(map(compact, value))
            parts.append(f"{compact(name)}: [\n  {listed}]")
        else:
            parts.append(f"{compact(name)}: {compact(value)}")
    return "{" + ",\n ".join(parts) + "}"


class _Said(NamedTuple):
    """What only this format says: of documents and tracks, and of items."""

    around: Mapping[int, Mapping[str, Item]]
    items: Mapping[tuple[str, _Key], Item]


def _said(corpus: Corpus) -> _Said:
    around: dict[int, dict[str, Item]] = {}
    of_items: dict[tuple[str, _Key], Item] = {}
    columns = ("document", "origin", "record", "element", "name", "value")
    for document, origin, record, element, name, value in corpus.attributes.select(
        columns
    ).iter_rows():
        if not is_ours(element, value):
            continue
        if element == "$" or "[" in element:
            said = around.setdefault(document, {}).setdefault(element, {})
        else:
            said = of_items.setdefault((element[2:], (document, origin, record)), {})
        said[name] = json.loads(value)
    return _Said(around, of_items)


def is_ours(element: str, value: str) -> bool:
    """Whether an attribute is a member of this format, as JSON."""
    if not _ELEMENT.fullmatch(element):
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


class _Annotations:
    """The annotations of a document, in its sections and tracks."""

    def __init__(self, around: Mapping[str, Item], text: str | None) -> None:
        self.around, self.text = around, text
        numbers = [_ELEMENT.fullmatch(element) for element in around]
        self.tracks = sorted(int(one[1]) for one in numbers if one and one[1])
        self.sections: dict[tuple[int, str], list[tuple[Any, Item]]] = {}
        self.spans: dict[str, Any] = {}

    def at(self, span: Any) -> str | None:
        """What stands at a span; None where there is no text."""
        if self.text is None:
            return None
        parts = span if isinstance(span, list) else [span]
        return " ".join(self.text[one["begin"] : one["end"]] for one in parts)

    def track(self, name: str | None) -> int:
        """The track that an identifier is of; 0 for none."""
        number, colon, _ = (name or "").partition(":")
        known = colon and number.isascii() and number.isdigit() and len(number) < 10
        return int(number) if known and int(number) in self.tracks else 0

    def add(self, section: str, key: tuple[int, ...], named: str | None, item: Item) -> None:
        """Add an item; `named` tells its track, `key` its place among the others."""
        track = self.track(named)
        if track:
            prefix = f"{track}:"
            item = {name: _without(prefix, name, value) for name, value in item.items()}
        kept = {name: value for name, value in item.items() if (name, value) != ("id", "")}
        self.sections.setdefault((track, section), []).append((key, kept))

    def document(self, name: str, language: str | None) -> Item:
        """The whole document."""
        own = dict(self.around.get("$", {}))
        head = {} if "sourceid" in own else {"sourceid": name}
        pronunciations = {} if language is None else {"lang": language}
        text = {} if self.text is None else {"text": self.text}
        found = {**head, **pronunciations, **own, **text, **self.listed(0)}
        if self.tracks:
            found["tracks"] = [
                {**_members(self.around[f"$.tracks[{one}]"]), **self.listed(one)}
                for one in range(1, max(self.tracks) + 1)
                if one in self.tracks
            ]
        return found

    def listed(self, track: int) -> Item:
        """The sections of a document or track that are not empty."""
        return {
            section: [item for _, item in sorted(self.sections[track, section], key=_first)]
            for section in SECTIONS
            if (track, section) in self.sections
        }


def _first(pair: tuple[Any, Item]) -> Any:
    return pair[0]


def _members(said: Item) -> Item:
    return {name: value for name, value in said.items() if name}


def _without(prefix: str, name: str, value: Any) -> Any:
    """A member of an item of a track, with identifiers as they are there."""
    if name in {"id", *ROLES, "group"} and isinstance(value, str):
        return value.removeprefix(prefix)
    if name == "frame" and isinstance(value, dict) and isinstance(value.get("trigger"), str):
        return {**value, "trigger": value["trigger"].removeprefix(prefix)}
    return value


def documents(corpus: Corpus) -> Iterator[tuple[int, Item]]:
    """Every document, with its row."""
    said = _said(corpus)
    found: dict[int, _Annotations] = {}
    columns = corpus.documents.select("row", "text")
    for row, text in columns.iter_rows():
        found[row] = _Annotations(said.around.get(row, {}), text)
    for fill in (_mentions, _blocks, _frames, _groups, _columns, _modifiers):
        fill(corpus, found, said)
    listed = corpus.documents.select("row", "name", "language")
    for row, name, language in listed.iter_rows():
        yield row, found[row].document(name, language)


def _span(start: int, end: int) -> Item:
    return {"begin": start, "end": end}


_Found = Mapping[int, _Annotations]
_COLUMNS = ("row", "document", "origin", "record")


def _mentions(corpus: Corpus, found: _Found, said: _Said) -> None:
    columns = (*_COLUMNS, "mention", "label", "start", "end", "fragments", "text")
    rows = corpus.mentions.filter(writable()).select(columns).iter_rows()
    for row, document, origin, record, name, label, start, end, fragments, text in rows:
        parts = [_span(one["start"], one["end"]) for one in fragments or ()]
        span = parts or _span(start, end)
        found[document].spans.setdefault(name, span)
        more = said.items.get(("denotations", (document, origin, record)), {})
        own = {} if text in {None, found[document].at(span)} else {"text": text}
        item = {"id": name, "span": span, "obj": label, **own, **more}
        found[document].add("denotations", (origin, record, 0, row), name, item)


def _blocks(corpus: Corpus, found: _Found, said: _Said) -> None:
    rows = corpus.segments.filter(placed()).select(*_COLUMNS, "name", "start", "end")
    for row, document, origin, record, name, start, end in rows.iter_rows():
        more = said.items.get(("blocks", (document, origin, record)), {})
        item = {"id": name or "", "span": _span(start, end), "obj": BLOCK, **more}
        found[document].add("blocks", (origin, record, row), name, item)


def _frames(corpus: Corpus, found: _Found, said: _Said) -> None:
    """Relations, and events as denotations with their arguments as relations."""
    arguments: dict[int, list[tuple[Any, ...]]] = {}
    ordered = corpus.arguments.sort("frame_row", "position")
    columns = ("frame_row", "document", "origin", "record", "position", "role", "target")
    for frame, *rest in ordered.select(columns).iter_rows():
        arguments.setdefault(frame, []).append(tuple(rest))
    known = own_names(corpus)
    frames = corpus.frames.select(*_COLUMNS, "frame", "kind", "label", "trigger").iter_rows()
    for row, document, origin, record, name, kind, label, trigger in frames:
        held, place = arguments.get(row, []), (document, origin, record)
        if kind == "relation" and trigger is None and len(held) == 2:
            more = said.items.get(("relations", place), {})
            key = (origin, record, 0, row, 0)
            found[document].add(
                "relations", key, name or held[0][5], _relation(name, label, held, more)
            )
        elif (document, name) in known:
            more = said.items.get(("denotations", place), {})
            span = _standing(found[document], trigger, held)
            marked = {"kind": kind, "trigger": trigger}
            item = {"id": name, "span": span, "obj": label, "frame": marked, **more}
            found[document].add("denotations", (origin, record, 1, row), name, item)
            for _, at, line, position, role, target in held:
                more = said.items.get(("relations", (document, at, line)), {})
                told = {"subj": name, "pred": role, "obj": target, "argument": position, **more}
                found[document].add("relations", (at, line, 0, row, position), name, told)


def _relation(name: str | None, label: str, held: list[tuple[Any, ...]], more: Item) -> Item:
    (*_, one, subj), (*_, two, obj) = held
    roles = {} if (one, two) == ROLES else {"roles": [one, two]}
    return {"id": name or "", "subj": subj, "pred": label, "obj": obj, **roles, **more}


def _standing(annotations: _Annotations, trigger: str | None, held: list[tuple[Any, ...]]) -> Any:
    """Where an event is shown: at its trigger, over its arguments, or over all of the text."""
    if trigger in annotations.spans:
        return annotations.spans[str(trigger)]
    spans = [annotations.spans[one[-1]] for one in held if one[-1] in annotations.spans]
    parts = [part for span in spans for part in (span if isinstance(span, list) else [span])]
    if not parts:
        return _span(0, max(1, len(annotations.text or "")))
    return _span(min(one["begin"] for one in parts), max(one["end"] for one in parts))


def _groups(corpus: Corpus, found: _Found, said: _Said) -> None:
    """Equivalences as chains of relations."""
    groups = corpus.groups.group_by("document", "group", "kind", maintain_order=True)
    columns = [pl.col("row", "origin", "record").first(), pl.col("member")]
    for document, group, kind, row, origin, record, members in groups.agg(columns).iter_rows():
        more = said.items.get(("relations", (document, origin, record)), {})
        for at, (one, two) in enumerate(pairwise(members)):
            item = {"subj": one, "pred": kind, "obj": two, "group": group, **({} if at else more)}
            found[document].add("relations", (origin, record, 1, row, at), group, item)


def _columns(corpus: Corpus, found: _Found, said: _Said) -> None:
    """What is said of mentions in columns, as attributes of them."""
    del said
    own = own_names(corpus)
    mentions = corpus.mentions.select("row", "document", "mention", *SAID)
    links: dict[int, list[str]] = {}
    candidates = corpus.links.drop_nulls("entity").sort("mention_row", "rank")
    for row, entity in candidates.select("mention_row", "entity").iter_rows():
        links.setdefault(row, []).append(entity)
    for row, document, name, *values in mentions.iter_rows():
        said_of = list(zip(SAID, values, strict=True))
        said_of += [(CANDIDATE, entity) for entity in links.get(row, ())]
        for at, (column, value) in enumerate(said_of):
            if value is not None and (document, name) in own:
                item = {"subj": name, "pred": column, "obj": value, "column": column}
                found[document].add("attributes", (-1, 0, row, at), name, item)


def _modifiers(corpus: Corpus, found: _Found, said: _Said) -> None:
    columns = (*_COLUMNS, "modifier", "label", "target", "value", "text")
    rows = corpus.modifiers.select(columns).iter_rows()
    for row, document, origin, record, name, label, target, value, text in rows:
        more = dict(said.items.get(("attributes", (document, origin, record)), {}))
        more |= said.items.get(("modifications", (document, origin, record)), {})
        noted = {} if text is None else {"text": text}
        told = True if value is None else value
        item = {"id": name, "subj": target, "pred": label, "obj": told, **noted, **more}
        found[document].add("attributes", (origin, record, row, 0), name or target, item)


def own_names(corpus: Corpus) -> set[tuple[int, str]]:
    """The identifiers that only one mention or frame of a document has."""
    names = pl.concat(
        [
            corpus.mentions.select("document", name="mention"),
            corpus.frames.select("document", name="frame"),
        ]
    )
    own = names.filter(names.is_unique(), pl.col("name") != "")
    return {(document, name) for document, name in own.iter_rows()}


def placed() -> pl.Expr:
    """Whether a stretch has offsets that can be written."""
    return pl.min_horizontal("start", "end").is_between(0, _LARGEST) & (
        pl.max_horizontal("start", "end") <= _LARGEST
    )


def writable() -> pl.Expr:
    """Whether a mention has offsets that can be written."""
    parts = pl.col("fragments").list.eval(
        pl.min_horizontal(pl.element().struct.field("start"), pl.element().struct.field("end"))
    )
    return placed() & (parts.list.min().fill_null(0) >= 0)
