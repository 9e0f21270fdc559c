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

import polars as pl

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.ltf.laf_files import SUFFIX, as_files, lost
from hlteval.converters.toolkit import per_document
from hlteval.converters.toolkit.per_document import Files
from hlteval.converters.toolkit.single_file import head
from hlteval.findings import FieldRef, Finding, Location
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import (
    Element,
    Fault,
    Lines,
    Malformed,
    located,
    other_encoding,
    parse,
)
from hlteval.syntax.xml_structure import conforms, explain

_NUMBER = re.compile("[0-9]{1,9}")
_PLACE = ("document", "origin", "record")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "documents": ("origin", "name", "language"),
    "mentions": (*_PLACE, "mention", "label", "start", "end", "text"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "rejected_records": (
        *_PLACE,
        "code",
        "kind",
        "id",
        "label",
        "text",
        "column",
        "end_column",
        "expected",
    ),
}


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document, by their name without `.laf.xml`."""
    return per_document.documents(source, SUFFIX)


def sniff(source: Source) -> bool:
    """Whether a file is named so, or the only one has the root element of LAF."""
    return per_document.named(source, SUFFIX) or "<LCTL_ANNOTATIONS" in head(source)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    for files in per_document.batches(source, FORMAT.name, SUFFIX):
        batch = _Batch(files)
        for file in files.texts:
            batch.take(*file)
        yield ReadResult(batch.corpus(), (*files.findings, *batch.findings), tuple(files.members))


class _Batch:
    """What is collected over the files of a batch: rows of each table, and findings."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _COLUMNS}
        self.known: dict[str, int] = {}
        self.findings: list[Finding] = []
        self.place = (0, 0, 0)

    def corpus(self) -> Corpus:
        tables = {name: _keyed(name, rows) for name, rows in self.rows.items()}
        return Corpus(sources=self.files.sources, **tables)

    def take(self, origin: int, stem: str, text: str) -> None:
        """Add what a file says."""
        member = self.files.members[origin]
        faults: list[tuple[Fault, str | None]] = []
        try:
            parsed = parse(text)
        except Malformed as reason:
            self.tell(text, member, [(reason.fault, None)])
            return
        if other_encoding(parsed.encoding, member.encoding):
            given = {"given": parsed.encoding or "UTF-8", "encoding": member.encoding}
            faults.append((Fault("XML103", 1, 1, given), None))
        passed: set[int] = set()
        if not conforms(text, "laf"):
            found, passed = explain(parsed.elements, "laf")
            faults += [(fault, None) for fault in found]
        taken = [one for one in parsed.elements if one.ordinal not in passed]
        tags = {one.parent.ordinal: one.text for one in taken if one.tag == "TAG" and one.parent}
        for element in taken:
            if element.tag == "DOC":
                self.document(element, origin, stem)
            elif element.tag == "EXTENT" and element.parent:
                faults += self.mention(element, element.parent, tags)
        self.tell(text, member, faults)

    def tell(self, text: str, member: Member, faults: Sequence[tuple[Fault, str | None]]) -> None:
        if faults:
            lines = Lines(text)
            self.findings += [lines.finding(fault, member.display, name) for fault, name in faults]

    def document(self, element: Element, origin: int, stem: str) -> None:
        """A document; one that another file holds too goes on there."""
        name = element.attributes.get("id", stem)
        root = element.parent.attributes if element.parent else {}
        self.known.setdefault(name, len(self.known))
        self.place = (self.known[name], origin, element.ordinal)
        if self.known[name] == len(self.rows["documents"]):
            language = element.attributes.get("lang", root.get("lang"))
            self.rows["documents"].append((origin, name, language))
            self.attributes(element, "DOC", ("lang",))
            if element.parent:
                self.attributes(element.parent, "LCTL_ANNOTATIONS", ("lang",))

    def attributes(self, element: Element, said_of: str, names: Sequence[str]) -> None:
        document, origin, _ = self.place
        self.rows["attributes"] += [
            (document, origin, element.ordinal, said_of, name, element.attributes[name])
            for name in names
            if name in element.attributes
        ]

    def mention(
        self, extent: Element, annotation: Element, tags: Mapping[int, str]
    ) -> Iterator[tuple[Fault, str | None]]:
        """Add an annotation; what is wrong with it comes out."""
        document, origin, _ = self.place
        name = annotation.attributes.get("id", "")
        label = annotation.attributes.get("type", tags.get(annotation.ordinal, "").strip())
        key = (document, origin, annotation.ordinal)
        self.attributes(annotation, "ANNOTATION", ("task",))
        if not label:
            yield annotation.fault("LAF102"), name
        offsets = []
        for field in ("start_char", "end_char"):
            given = extent.attributes.get(field, "")
            if not _NUMBER.fullmatch(given):
                fault = extent.fault(
                    "LAF101", field, attribute=field, given=given[:40] or "(empty)"
                )
                column = (fault.column, fault.column + len("<EXTENT"))
                why = ("LAF101", "mention", name, label, extent.text, *column, "offsets")
                self.rows["rejected_records"].append((*key, *why))
                if field in extent.attributes:
                    yield fault, name
                return
            offsets.append(int(given))
        self.rows["mentions"].append((*key, name, label, offsets[0], offsets[1] + 1, extent.text))


def _keyed(name: str, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {column: TABLES[name].schema[column] for column in _COLUMNS[name]}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *schema)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Where elements stand; a field is an attribute, or `text` for what follows the tag.

    The offsets and the text of an annotation are those of its EXTENT.
    """
    shown = {"start_char", "end_char", "text"}
    moved = [FieldRef(place.record + (place.field in shown), place.field) for place in places]
    return located(member, moved)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The annotations as a folder of files, each where it was in one of this format."""
    per_document.write((file for corpus in corpora for file in as_files(corpus)), path)


FORMAT = Format(
    name="laf",
    title="LAF: typed spans, one XML file per document",
    suffixes=(SUFFIX,),
    layout="per_document",
    carries=(
        *("sources", "documents", "mentions", "attributes"),
        *("documents.language", "mentions.text"),
    ),
    sniff=sniff,
    documents=documents,
    read=read,
    locate=locate,
    write=write,
    count_losses=lost,
    known_losses="file layout; TAG elements, which become attributes",
)
