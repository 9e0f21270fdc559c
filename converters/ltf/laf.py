r"""LAF: typed spans of documents, such as names, as standoff annotation of LTF.

Format:
    XML as defined in grammars/laf.rng, one file `<document>.laf.xml` per document: ANNOTATIONs with
    an EXTENT. The type is an attribute, or in older files an element TAG; it is written as an
    attribute.

Conventions:
    `start_char` and `end_char` are 0-based code points of the document's text; the end is inclusive
    (exclusive in the tables). A record is an element, counted by start tags from 1.

Example lines:
    <ANNOTATION id="ann-0" task="NE" type="GPE">
    <EXTENT start_char="9" end_char="16">Toshkent</EXTENT>
    </ANNOTATION>

Codes raised: XML1xx, LAF1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.ltf.laf_files import SUFFIX, as_files, lost
from hlteval.converters.toolkit import per_document
from hlteval.converters.toolkit.keyed import keyed
from hlteval.converters.toolkit.per_document import FileBatch
from hlteval.converters.toolkit.single_file import head
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Element, Malformed, structure
from hlteval.syntax.xml_places import locate_elements, located_findings

_NUMBER = re.compile("[0-9]{1,9}")
_PLACE = ("document", "origin", "record")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "documents": ("origin", "name", "language"),
    "mentions": (*_PLACE, "mention", "label", "start", "end", "text"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "rejected_records": (
        *_PLACE,
        *("code", "kind", "id", "label", "text", "column", "end_column", "expected"),
    ),
}


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document, by their name without `.laf.xml`."""
    return per_document.documents(source, SUFFIX)


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of LAF."""
    return per_document.has_suffix(source, SUFFIX) or "<LCTL_ANNOTATIONS" in head(source)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    for files in per_document.batches(source, FORMAT.name, SUFFIX):
        batch = _Batch(files)
        for file in files.texts:
            batch.take(*file)
        yield ReadResult(batch.corpus(), (*files.findings, *batch.findings), tuple(files.members))


class _Batch:
    """The rows of each table, and the findings, of the files of a batch."""

    def __init__(self, files: FileBatch) -> None:
        self.files = files
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _COLUMNS}
        self.known: dict[str, int] = {}
        self.findings: list[Finding] = []
        self.place = (0, 0, 0)

    def corpus(self) -> Corpus:
        tables = {name: keyed(name, rows, _COLUMNS[name]) for name, rows in self.rows.items()}
        return Corpus(sources=self.files.sources, **tables)

    def take(self, origin: int, stem: str, text: str) -> None:
        """Add the rows and findings of a file."""
        member = self.files.members[origin]
        problems: list[tuple[Problem, str | None]] = []
        try:
            found = structure(text, "laf", member.encoding)
        except Malformed as reason:
            problems.append((reason.problem, None))
        else:
            problems += [(problem, None) for problem in found.problems]
            tags = {
                element.parent.ordinal: element.text
                for element in found.elements
                if element.tag == "TAG" and element.parent
            }
            for element in found.elements:
                if element.tag == "DOC":
                    self.document(element, origin, stem)
                elif element.tag == "EXTENT" and element.parent:
                    problems += self.mention(element, element.parent, tags)
        self.findings += located_findings(text, problems, member)

    def document(self, element: Element, origin: int, stem: str) -> None:
        """Add a document, or continue one that an earlier file began."""
        own = element.attributes.get("id")
        name = stem if own is None else self.files.members[origin].document(own)
        root = element.parent.attributes if element.parent else {}
        self.known.setdefault(name, len(self.known))
        self.place = (self.known[name], origin, element.ordinal)
        if self.known[name] == len(self.rows["documents"]):
            language = element.attributes.get("lang", root.get("lang"))
            self.rows["documents"].append((origin, name, language))
            self.attributes(element, "DOC", ("lang",))
            if element.parent:
                self.attributes(element.parent, "LCTL_ANNOTATIONS", ("lang",))

    def attributes(self, element: Element, of: str, names: Sequence[str]) -> None:
        document, origin, _ = self.place
        self.rows["attributes"] += [
            (document, origin, element.ordinal, of, name, element.attributes[name])
            for name in names
            if name in element.attributes
        ]

    def mention(
        self, extent: Element, annotation: Element, tags: Mapping[int, str]
    ) -> Iterator[tuple[Problem, str | None]]:
        """Add an annotation; yield the problems with it."""
        document, origin, _ = self.place
        name = annotation.attributes.get("id", "")
        label = annotation.attributes.get("type", tags.get(annotation.ordinal, "").strip())
        key = (document, origin, annotation.ordinal)
        self.attributes(annotation, "ANNOTATION", ("task",))
        if not label:
            yield annotation.problem("LAF102"), name
        offsets = []
        for field in ("start_char", "end_char"):
            given = extent.attributes.get(field, "")
            if not _NUMBER.fullmatch(given):
                shown = given[:40] or "(empty)"
                problem = extent.problem("LAF101", field, attribute=field, given=shown)
                columns = (problem.start + 1, problem.end + 1)
                reason = ("LAF101", "mention", name, label, extent.text, *columns, "offsets")
                self.rows["rejected_records"].append((*key, *reason))
                if field in extent.attributes:
                    yield problem, name
                return
            offsets.append(int(given))
        self.rows["mentions"].append((*key, name, label, offsets[0], offsets[1] + 1, extent.text))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of elements; a field is an attribute, or `text` for the text after the tag.

    The offsets and the text of an annotation are those of its EXTENT.
    """
    shown = {"start_char", "end_char", "text"}
    moved = [FieldRef(place.record + (place.field in shown), place.field) for place in places]
    return locate_elements(member, moved)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The annotations as a folder of files, with the names of the original files of this format."""
    per_document.write_files((file for corpus in corpora for file in as_files(corpus)), path)


FORMAT = Format(
    name="laf",
    title="LAF: typed spans, one XML file per document",
    suffixes=(SUFFIX,),
    layout="per_document",
    separable=True,
    words={
        "mentions": "ANNOTATION element",
        "attributes": "XML attribute",
        "documents.language": "lang attribute",
        "mentions.text": "EXTENT text",
        "rejected_records": "unreadable element",
    },
    carries=(
        *("sources", "documents", "mentions", "attributes"),
        *("documents.language", "mentions.text"),
    ),
    sniff=sniff,
    documents=documents,
    read=read,
    codes=("LAF101", "LAF102", "XML"),
    locate=locate,
    write=write,
    count_losses=lost,
    known_losses="file layout; TAG elements, which become attributes",
)
