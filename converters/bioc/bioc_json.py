r"""BioC JSON: collections of documents in passages, with annotations and relations.

Format:
    A collection is an object with `documents` (grammars/bioc-json.schema.json), which have an `id`
    and `passages` with `offset` and `text`, or `sentences` with their own; `annotations` with
    `locations` and `text`; `relations` with `nodes`. A file is a collection, an array of them or of
    documents, or has a document per line. Exports of PubTator 3 name the documents `PubTator3`.

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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, cast
from xml.etree.ElementTree import Element

from hlteval.converters.bioc import writing
from hlteval.converters.bioc.parts import Part
from hlteval.converters.bioc.reading import HEADER, OF_PASSAGES, Documents, mismatch_problem
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
from hlteval.converters.toolkit.source_files import read_members, with_suffix
from hlteval.converters.toolkit.span_texts import Mismatch, Mismatches
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, decode
from hlteval.syntax.places import Path

_SUFFIX = ".json"
_MEMBERS = re.compile(r'"passages"[ \t\r\n]*:')
#: Elements, and rejected documents, that complete a part of a file.
_MOST, _REJECTED = 50_000, 50_000
_FURTHER = re.compile("identifier_(?:[2-9]|[1-9][0-9]+)")
#: The members of a collection that have its documents: that of BioC, and of the service PubTator 3.
_LISTED = ("documents", "PubTator3")
#: The lists of each object, with the objects that are in them.
_ITEMS = {"annotations": "annotation", "relations": "relation"}
_LISTS: Mapping[str, Mapping[str, str]] = {
    "collection": dict.fromkeys(_LISTED, "document"),
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
#: The members that BioC defines, by the object that has them.
_KNOWN: Mapping[str, frozenset[str]] = {
    tag: frozenset((*_ELEMENTS.get(tag, ()), *_ATTRIBUTES.get(tag, ()), *_LISTS.get(tag, ())))
    | {"infons", "bioctype"}
    for tag in ("collection", *_NAMES.values())
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

    __slots__ = ()

    def iter(self, *tags: str) -> Iterator[Any]:  # type: ignore[override]
        """This and all elements below, or those with some tags."""
        return (each for each in super().iter() if not tags or each.tag in tags)


class Tree:
    """The elements of an object, a document at a time, with where each is in it.

    Attributes:
        begin: what paths begin with.
        paths: the elements of a document, or of the collection before its documents, each with its
            path; None is a part that is not an object, and rejected by the schema.
        unknown: the members that BioC does not define, with the first place of each.
        counts: how many of these there are.
    """

    def __init__(self, begin: Path = ()) -> None:
        self.begin = begin
        self.paths: list[tuple[Node | None, Path]] = []
        self.unknown: dict[str, Path] = {}
        self.counts = Counter[str]()

    def read(self, value: Mapping[str, Any]) -> Iterator[list[Node]]:
        """The header of a collection, then each document; `paths` has the elements of that."""
        listed = next((name for name in _LISTED if name in value), None)
        if listed is None:
            yield [self.add("document", value, self.begin)]
            return
        documents = value[listed]
        header = {name: part for name, part in value.items() if name != listed}
        yield [*self.add("collection", header, self.begin)]
        for at, document in enumerate(documents if isinstance(documents, list) else ()):
            self.paths.clear()
            yield [self.add("document", document, (*self.begin, listed, at))]

    def add(self, tag: str, value: Any, path: Path) -> Node:
        """Make the element of an object, with all that is in it."""
        node = Node(tag)
        self.paths.append((node, path))
        if not isinstance(value, dict) or not value:
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
                if isinstance(part, dict):
                    node.append(self.add(inner, part, (*path, name, at)))
                else:
                    self.paths.append((None, (*path, name, at)))
        for name in value.keys() - _KNOWN[tag]:
            self.counts[name] += 1
            self.unknown.setdefault(name, (*path, name))
        return node

    def leaf(self, parent: Node, tag: str, value: Any, path: Path) -> Node:
        """Add an element with a text."""
        node = Node(tag)
        node.text = value if isinstance(value, str) else compact(value)
        self.paths.append((node, path))
        parent.append(node)
        return node


def sniff(source: Source) -> bool:
    """Whether a file has passages."""
    return is_like(source, _SUFFIX, _MEMBERS)


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return with_suffix(source, _SUFFIX)


def read(source: Source, offsets: str = CHARACTERS) -> Iterator[ReadResult]:
    """The documents of each file, some thousand elements at a time.

    Args:
        source: the files.
        offsets: the unit that offsets count.
    """
    names: dict[str, int] = {}

    def parts(
        member: Member, data: bytes, origin: dict[str, object]
    ) -> Iterator[tuple[Corpus, Sequence[Finding]]]:
        decoded = decode(data, display=member.display, encoding=member.encoding)
        if decoded.text is None:
            yield Corpus(), decoded.findings
            return
        reporter = Reporter(file_content(decoded.text), member, STRUCTURE)
        findings = decoded.findings
        for tables in _File(reporter, names, offsets).parts():
            yield Corpus(sources=[origin], **tables), (*findings, *reporter.bounded.take())
            findings = ()
        if rest := reporter.bounded.findings:
            yield Corpus(), rest

    return read_members(source.only(members(source)), FORMAT.name, parts)


class _File:
    """A file, with some of its elements below one.

    Attributes:
        where: of each of these elements, the index of the object and the path in it.
        before: the ordinal of the last element before them.
        count: the ordinal of the last element.
        documents: the ordinal of the last document.
    """

    def __init__(self, reporter: Reporter, names: dict[str, int], offsets: str) -> None:
        self.reporter, self.names, self.offsets = reporter, names, offsets
        self.mismatches = Mismatches(self.report_mismatch)
        self.count = self.documents = 0
        self.begin()

    def begin(self) -> None:
        """Begin a part of the file."""
        self.root, self.ordinals, self.passed = Node("collection"), dict[Any, int](), set[int]()
        self.where: list[Path] = []
        self.before = self.count
        self.rejected: list[Mapping[str, object]] = []

    def parts(self) -> Iterator[Item]:
        """The rows of the tables, part by part; all problems are reported."""
        reporter, content = self.reporter, self.reporter.content
        for index, value in enumerate(content.values):
            if index in content.unreadable or not isinstance(value, dict):
                self.count += 1
                self.where.append((index,))
                self.rejected.append(reporter.reject(index, len(self.rejected), 0, self.count))
                if len(self.rejected) >= _REJECTED:
                    yield self.tables()
                continue
            bad, tree = reporter.schema_errors(index), Tree((index,))
            for nodes in tree.read(value):
                self.add(nodes, tree.paths, bad)
                tree.paths.clear()
                if len(self.where) >= _MOST and nodes and nodes[-1].tag == "document":
                    yield self.tables()
            for name, path in tree.unknown.items():
                reporter.report(index, "BIO106", path[1:], name=name[:40], count=tree.counts[name])
            reporter.settle()
            content.values[index] = None
        yield self.tables(last=True)

    def add(
        self,
        nodes: Sequence[Node],
        paths: Iterable[tuple[Node | None, Path]],
        bad: Collection[Path],
    ) -> None:
        """Add elements of an object, with the paths of all that is in them."""
        for node, path in paths:
            self.count += 1
            self.where.append(path)
            if node is None:
                continue
            self.ordinals[node] = self.count
            if bad and path[1:] in bad:
                self.passed.add(self.count)
        self.root.extend(nodes)
        if () in bad:
            self.passed |= {self.ordinals[node] for node in nodes}

    def place(self, ordinal: int) -> Path:
        """The path of an element, which begins with the index of its object."""
        return self.where[ordinal - self.before - 1]

    def tables(self, *, last: bool = False) -> Item:
        """The rows of the elements so far; with the last ones, mismatches are decided on."""
        passed = frozenset(self.passed)
        part = Part(cast("Any", self.root), self.ordinals, (), passed, cast("Any", None))
        documents = Documents(
            part,
            self.names,
            self.documents,
            self.offsets,
            lambda problem, member: self.report(problem, self.place(problem.record), member),
        )
        self.documents = documents.ordinal
        for mismatch in documents.mismatches:
            self.mismatches.add(mismatch._replace(place=self.place(mismatch.place[0])))
        if last:
            self.mismatches.decide()
        self.reporter.settle()
        for node in self.root:  # rows have all of them; tables take the memory again
            node.clear()
        self.ordinals.clear()

        def place(record: int) -> tuple[int, int]:
            index, *path = self.place(record)
            start = self.reporter.place(int(index), tuple(path))[0]
            span = self.reporter.places.span(start, start)
            return span.line, span.column

        tables: Item = documents.tables(place, self.rejected)
        self.begin()
        return tables

    def report_mismatch(self, mismatch: Mismatch, unit: str) -> None:
        """Report an annotation whose text is not there, or the unit of offsets that explains it."""
        self.report(mismatch_problem(mismatch, unit), mismatch.place)

    def report(self, problem: Problem, path: Path, member: str = "") -> None:
        """Report a problem of an element, or of a member of it."""
        if problem.code == OF_PASSAGES:
            whole = problem.finding(self.reporter.display, None, None)
            self.reporter.bounded.add(problem.code, "$", lambda *_: whole, problem)
            return
        inner = path[1:] if member in {"", "text"} else (*path[1:], member)
        self.reporter.report(int(path[0]), problem.code, inner, lambda: problem.values)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The places of elements and of their members."""

    def records(value: Mapping[str, Any]) -> Iterator[Path]:
        tree = Tree()
        return (path for _ in tree.read(value) for _, path in tree.paths)

    return locate_records(member, places, records)


def write(corpora: Iterable[Corpus], path: FilePath) -> None:
    """All documents as one collection, a document a line."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        begun = False
        for corpus in corpora:
            infons = writing.Infons(corpus)
            for document in writing.documents(corpus, infons):
                head = _head(infons, document.row) if not begun else ","
                item: Item = {"id": document.name, "infons": _by_key(document.infons)}
                item["passages"] = [_passage(passage) for passage in document.passages]
                item["annotations"] = [_item(each) for each in document.annotations]
                item["relations"] = [_item(each) for each in document.relations]
                stream.write(f"{head}\n{compact(item)}")
                begun = True
        stream.write(f"{'' if begun else _head(writing.Infons(Corpus()), 0)}\n]}}\n")


def _head(infons: writing.Infons, row: int) -> str:
    """The beginning of a collection, up to its documents."""
    head = {**dict(infons.header(row)), "infons": _by_key(infons.of("collection", row))}
    return f'{compact(head)[:-1]}, "documents": ['


def _by_key(infons: writing.Pairs) -> dict[str, str]:
    """Infons by their keys; of repeated keys, the first, and further identifiers."""
    found: dict[str, str] = {}
    count = 1
    for key, value in infons:
        if key not in found:
            found[key] = value
        elif key == "identifier":
            count += 1
            found[f"identifier_{count}"] = value
    return found


def _passage(passage: writing.Passage) -> Item:
    """A passage or sentence as an object."""
    item: Item = {"offset": passage.start, "infons": _by_key(passage.infons)}
    is_sentence = passage.key[0] == "sentence"
    if is_sentence or (passage.text is not None and not passage.sentences):
        item["text"] = passage.text
    if not is_sentence:
        item["sentences"] = [_passage(sentence) for sentence in passage.sentences]
    item["annotations"] = [_item(each) for each in passage.annotations]
    item["relations"] = []
    return item


def _item(item: writing.Item) -> Item:
    """An annotation or relation as an object."""
    own: Item = {"id": item.name, "infons": _by_key(item.infons)}
    if item.locations:
        places = [{"offset": start, "length": end - start} for start, end in item.locations]
        text = {} if item.text is None else {"text": item.text}
        return {**own, **text, "locations": places}
    return {**own, "nodes": [{"refid": target, "role": role} for target, role in item.nodes]}


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what BioC cannot represent of the tables that it supports, by name."""
    infons = corpus.attributes.select("document", "origin", "record", "element", "name")
    repeated = infons.height - infons.unique().height
    return {**writing.count_losses(corpus), "repeated infons": repeated}


FORMAT = declaration(__name__)
