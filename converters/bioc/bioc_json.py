r"""BioC JSON: collections of documents in passages, with annotations and relations.

Format:
    A collection is an object with `documents` (grammars/bioc-json.schema.json), which have an `id`
    and `passages` with `offset` and `text`, or `sentences` with their own; `annotations` with
    `locations` and `text`; `relations` with `nodes`. A file is a collection, an array of them or of
    documents, or has a document per line.

Conventions:
    All is read as in BioC XML: offsets are code points from the beginning of the document. Infons
    are an object, so that a further `identifier` is written as `identifier_2` and so on. Infons
    that are not texts are read as JSON. Members that BioC does not define are counted.

Example lines:
    {"documents": [{"id": "1", "passages": [{"offset": 0, "text": "Ann at Acme", "annotations": [
      {"id": "T1", "infons": {"type": "PER"}, "text": "Ann", "locations": [{"offset": 0,
        "length": 3}]}]}]}]}

Codes raised: JSNxxx, for invalid JSON; JAN1xx, for other structures; BIOxxx.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, cast
from xml.etree.ElementTree import Element

from hlteval.converters.bioc import writing
from hlteval.converters.bioc.bioc_xml import count_characters
from hlteval.converters.bioc.parts import Part
from hlteval.converters.bioc.reading import HEADER, Documents, Mismatches
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.json_annotations import is_like
from hlteval.converters.toolkit.json_documents import (
    Item,
    Reporter,
    Structure,
    compact,
    explain,
    file_content,
    locate_records,
)
from hlteval.converters.toolkit.offsets import CHARACTERS
from hlteval.converters.toolkit.source_files import File, read_files, with_suffix
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.json_text import Layout
from hlteval.syntax.places import Path

_SUFFIX = ".json"
_MEMBERS = re.compile(r'"passages"[ \t\r\n]*:')
_FURTHER = re.compile("identifier_(?:[2-9]|[1-9][0-9]+)")
#: The lists of each object, with the objects that are in them.
_ITEMS = {"annotations": "annotation", "relations": "relation"}
_LISTS: Mapping[str, Mapping[str, str]] = {
    "collection": {"documents": "document"},
    "document": {"passages": "passage", **_ITEMS},
    "passage": {"sentences": "sentence", **_ITEMS},
    "sentence": _ITEMS,
    "annotation": {"locations": "location", "location": "location"},
    "relation": {"nodes": "node"},
}
_NAMES = {name: item for lists in _LISTS.values() for name, item in lists.items()}
#: The members that are elements in XML, and those that are attributes.
_ELEMENTS: Mapping[str, Sequence[str]] = {
    "collection": HEADER,
    "document": ("id",),
    "passage": ("offset", "text"),
    "sentence": ("offset", "text"),
    "annotation": ("text",),
}
_ATTRIBUTES: Mapping[str, Sequence[str]] = {
    "annotation": ("id",),
    "relation": ("id",),
    "location": ("offset", "length"),
    "node": ("refid", "role"),
}


def part_of(path: Path) -> tuple[Path, str]:
    """The innermost item of a list that a path leads into, and its definition."""
    for at in range(len(path) - 1, 0, -1):
        if isinstance(path[at], int) and path[at - 1] in _NAMES:
            return path[: at + 1], _NAMES[str(path[at - 1])]
    return (), "document"


STRUCTURE = Structure(
    "bioc-json", tuple(_NAMES), part_of, {"required": "JAN103", "": "JAN104"}, "JAN101", explain
)


class Node(Element):
    """A part of a document as the element that it is in XML."""

    def iter(self, *tags: str) -> Iterator[Any]:  # type: ignore[override]
        """This and all elements below, or those with some tags."""
        return (each for each in super().iter() if not tags or each.tag in tags)


class Tree:
    """The elements of an object, with where each is in it.

    Attributes:
        paths: the path of each element, the object itself first.
        unknown: the members that BioC does not define, with the first place of each.
        counts: how many of these there are.
    """

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.paths: dict[Node, Path] = {}
        self.unknown: dict[str, Path] = {}
        self.counts = Counter[str]()
        self.root = self.add("collection" if "documents" in value else "document", value, ())

    def add(self, tag: str, value: Any, path: Path) -> Node:
        """Make the element of an object, with all that is in it."""
        node = Node(tag)
        self.paths[node] = path
        if not isinstance(value, dict):
            return node
        elements, lists = _ELEMENTS.get(tag, ()), _LISTS.get(tag, {})
        attributes = _ATTRIBUTES.get(tag, ())
        for name in elements:
            if value.get(name) is not None:
                self.leaf(node, name, value[name], (*path, name))
        infons = value.get("infons")
        for key, infon in infons.items() if isinstance(infons, dict) else ():
            if infon is not None:
                own = "identifier" if tag == "annotation" and _FURTHER.fullmatch(key) else key
                self.leaf(node, "infon", infon, (*path, "infons", key)).set("key", own)
        for name in attributes:
            if value.get(name) is not None:
                node.set(name, str(value[name]))
        for name, inner in lists.items():
            parts = value.get(name) or []
            for at, part in enumerate(parts if isinstance(parts, list) else ()):
                node.append(self.add(inner, part, (*path, name, at)))
        for name in value.keys() - {*elements, *attributes, *lists, "infons", "bioctype"}:
            self.counts[name] += 1
            self.unknown.setdefault(name, (*path, name))
        return node

    def leaf(self, parent: Node, tag: str, value: Any, path: Path) -> Node:
        """Add an element with a text."""
        node = Node(tag)
        node.text = value if isinstance(value, str) else compact(value)
        self.paths[node] = path
        parent.append(node)
        return node


def sniff(source: Source) -> bool:
    """Whether a file has passages."""
    return is_like(source, _SUFFIX, _MEMBERS)


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return with_suffix(source, _SUFFIX)


def read(source: Source, offsets: str = CHARACTERS) -> Iterator[ReadResult]:
    """The documents of each file; offsets may count another unit."""
    names: dict[str, int] = {}

    def take(file: File) -> tuple[Corpus, list[Finding]]:
        if file.text is None:
            return Corpus(), []
        own = _File(Reporter(file_content(file.text), file.member, STRUCTURE))
        tables = own.tables(names, offsets)
        return Corpus(sources=[file.origin], **tables), own.reporter.bounded.findings

    return read_files(source.only(members(source)), FORMAT.name, take)


class _File:
    """A file, with the elements of all its objects below one.

    Attributes:
        where: the index of the object and the path in it of each element, by its ordinal.
    """

    def __init__(self, reporter: Reporter) -> None:
        self.reporter, content = reporter, reporter.content
        self.root, self.ordinals = Node("collection"), dict[Any, int]()
        self.where: list[tuple[int, Path]] = [(0, ())]
        self.rejected: list[Mapping[str, object]] = []
        passed = set[int]()
        for index, value in enumerate(content.values):
            first = len(self.where)
            if index in content.unreadable or not isinstance(value, dict):
                self.rejected.append(reporter.reject(index, len(self.rejected), 0, first))
                self.where.append((index, ()))
                continue
            bad, tree = reporter.schema_errors(index), Tree(value)
            for name, path in tree.unknown.items():
                reporter.report(index, "BIO106", path, name=name[:40], count=tree.counts[name])
            for ordinal, (node, path) in enumerate(tree.paths.items(), start=first):
                self.ordinals[node] = ordinal
                self.where.append((index, path))
                if path in bad:
                    passed.add(ordinal)
            self.root.extend([*tree.root] if tree.root.tag == "collection" else [tree.root])
            if first in passed:
                passed |= {self.ordinals[node] for node in tree.root}
            reporter.settle()
        self.ordinals[self.root], self.passed = 0, frozenset(passed)

    def tables(self, names: dict[str, int], offsets: str) -> Item:
        """The rows of the tables; all problems are reported."""
        if offsets != CHARACTERS:
            count_characters(cast("Any", self.root), offsets)
        part = Part(cast("Any", self.root), self.ordinals, (), self.passed, cast("Any", None))
        documents, places = Documents(part, names, 0), dict[int, tuple[int, int]]()
        for problem, member, _ in documents.problems:
            self.report(problem, member)
        mismatches = Mismatches(lambda problem, *_: self.report(problem))
        for mismatch in mismatches.relevant(documents.mismatches):
            mismatches.add(mismatch, (0, 0))
        mismatches.decide()
        for _, problem, *_ in documents.rejected:
            index, path = self.where[problem.record]
            content = self.reporter.content
            start = Layout(content.text, content.extents[index][0]).place(path)[0]
            span = self.reporter.places.span(start, start)
            places[problem.record] = (span.line, span.column)
        self.reporter.settle()
        tables: Item = documents.tables(places)
        others = tables["rejected_records"]
        rejected = [{**row, "row": at} for at, row in enumerate([*self.rejected, *others])]
        return {**tables, "rejected_records": rejected}

    def report(self, problem: Problem, member: str = "") -> None:
        """Report a problem of an element, or of a member of it."""
        index, path = self.where[problem.record]
        path = (*path, member) if member not in {"", "text"} else path
        self.reporter.report(index, problem.code, path, lambda: problem.values)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The places of elements and of their members."""
    return locate_records(member, places, lambda value: iter(Tree(value).paths.values()))


def write(corpora: Iterable[Corpus], path: FilePath) -> None:
    """All documents as one collection, a document a line."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        begun = False
        for corpus in corpora:
            infons = writing.Infons(corpus)
            for document in writing.documents(corpus, infons):
                head = _head(infons, document.row) if not begun else ","
                item: Item = {"id": document.name, "infons": dict(_pairs(document.infons))}
                item["passages"] = [_passage(passage) for passage in document.passages]
                item |= _items(document.annotations, document.relations)
                stream.write(f"{head}\n{compact(item)}")
                begun = True
        stream.write(f"{'' if begun else _head(writing.Infons(Corpus()), 0)}\n]}}\n")


def _head(infons: writing.Infons, row: int) -> str:
    """The beginning of a collection, up to its documents."""
    head = {**dict(infons.header(row)), "infons": dict(_pairs(infons.of("collection", row)))}
    return f'{compact(head)[:-1]}, "documents": ['


def _pairs(infons: writing.Pairs) -> Iterator[tuple[str, str]]:
    """Infons with keys that are not repeated; of repeated ones, further identifiers are kept."""
    seen = Counter[str]()
    for key, value in infons:
        seen[key] += 1
        if seen[key] == 1 or key == "identifier":
            yield key if seen[key] == 1 else f"{key}_{seen[key]}", value


def _passage(passage: writing.Passage) -> Item:
    """A passage or sentence as an object."""
    item: Item = {"offset": passage.start, "infons": dict(_pairs(passage.infons))}
    if passage.key[0] == "sentence" or (passage.text is not None and not passage.sentences):
        item["text"] = passage.text
    if passage.key[0] != "sentence":
        item["sentences"] = [_passage(sentence) for sentence in passage.sentences]
    return {**item, **_items(passage.annotations, ())}


def _items(
    annotations: Iterable[writing.Item], relations: Iterable[writing.Item]
) -> dict[str, list[Item]]:
    """Annotations and relations as objects."""
    return {
        "annotations": [
            {
                "id": item.name,
                "infons": dict(_pairs(item.infons)),
                "text": item.text,
                "locations": [{"offset": a, "length": b - a} for a, b in item.locations],
            }
            for item in annotations
        ],
        "relations": [
            {
                "id": item.name,
                "infons": dict(_pairs(item.infons)),
                "nodes": [{"refid": target, "role": role} for target, role in item.nodes],
            }
            for item in relations
        ],
    }


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what BioC cannot represent of the tables that it carries, by name."""
    infons = corpus.attributes.select("document", "origin", "record", "element", "name")
    repeated = infons.height - infons.unique().height
    return {**writing.count_losses(corpus), "repeated infons": repeated}


FORMAT = declaration(__name__)
