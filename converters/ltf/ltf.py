r"""LTF: documents as segments and tokens with offsets, as in LDC's language packs.

Format:
    XML as defined in grammars/ltf.rng, one file `<document>.ltf.xml` per document: DOC, TEXT, SEG
    with ORIGINAL_TEXT and TOKENs. Written in LDC's layout, one element per line, with only `&`, `<`
    and `>` escaped. DOC has the length and MD5 digest of the annotated text.

Conventions:
    `start_char` and `end_char` are 0-based code points of the document's text; the end is inclusive
    (exclusive in the tables). The text is rebuilt from the segments; gaps between them are filled
    with line feeds. A record is an element, counted by start tags from 1.

Example lines:
    <SEG id="segment-0" start_char="1" end_char="5">
    <ORIGINAL_TEXT>AT&amp;T?</ORIGINAL_TEXT>
    <TOKEN id="token-0-0" pos="unknown" morph="none" start_char="1" end_char="4">AT&amp;T</TOKEN>
    <TOKEN id="token-0-1" pos="punct" morph="none" start_char="5" end_char="5">?</TOKEN>
    </SEG>

Codes raised: XML1xx, LTF1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.ltf.files import SUFFIX, as_files
from hlteval.converters.ltf.tables import Tables, bulk, corpus
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.source_files import FileBatch, beginning, head
from hlteval.findings import Finding, Problem, finding, spot
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.xml_elements import Element, Malformed, Parsed, problem_at, structure
from hlteval.syntax.xml_places import located_findings

# LTF files of any layout, read element by element, and the problems with them.
#
# This is the reference reader; bulk.py gives the same tables for the usual layout.


_NUMBER = re.compile("[0-9]{1,9}")
_DTD = "ltf.v1.5.dtd"
#: Attributes without a column in any table.
_OWN = {"SEG": ("start_token", "end_token"), "TOKEN": ("attach", "gloss")}

#: The rows of each table, as in `SCHEMAS`.
Rows = dict[str, list[tuple[Any, ...]]]
#: A problem with the identifier of its element.
Named = tuple[Problem, str | None]


def read_elements(text: str, origin: int, stem: str, encoding: str) -> tuple[Tables, list[Named]]:
    """The tables of a file, and the problems with it.

    Args:
        text: the file.
        origin: its number.
        stem: its name without suffixes, for a document without an id.
        encoding: the encoding that it was read in.

    Examples:
        >>> file = "<LCTL_TEXT><DOC id='d'/></LCTL_TEXT>"
        >>> tables, problems = read_elements(file, 0, "d", "utf-8")
        >>> tables.documents["name"].to_list(), [problem.code for problem, _ in problems]
        (['d'], ['LTF101', 'XML106'])
    """
    rows, problems = element_rows(text, origin, stem, encoding)
    return Tables.of(**rows), problems


def element_rows(text: str, origin: int, stem: str, encoding: str) -> tuple[Rows, list[Named]]:
    """The same with the rows of tables instead of tables, which are slow to make of few rows."""
    file = _File(text, origin, stem)
    try:
        found = structure(text, "ltf", encoding)
    except Malformed as reason:
        return {}, [(reason.problem, None)]
    file.problems = [(problem, None) for problem in (*file.prolog(found.parsed), *found.problems)]
    file.parts = _parts(found.elements)
    for element in found.elements:
        file.take(element)
    return file.rows, file.problems


class _File:
    """The rows of each table, as in `SCHEMAS`, and the problems of a file."""

    def __init__(self, text: str, origin: int, stem: str) -> None:
        self.text, self.origin, self.stem = text, origin, stem
        self.rows: Rows = {name: [] for name in Tables._fields}
        self.problems: list[Named] = []
        self.parts: dict[int, str | None] = {}
        self.holder = self.segment = 0

    def prolog(self, parsed: Parsed) -> Iterator[Problem]:
        """Problems with the document type."""
        root = parsed.elements[0]
        if root.tag != "LCTL_TEXT":
            return
        if parsed.doctype is None:
            yield root.problem("LTF101")
        elif (parsed.doctype.root, parsed.doctype.system) != ("LCTL_TEXT", _DTD):
            place = spot(self.text, self.text.find("<!DOCTYPE"))
            given = f"{parsed.doctype.root} {parsed.doctype.system}"[:80]
            yield problem_at("LTF102", place.line, place.column, given=given)

    def take(self, element: Element) -> None:
        """Add the rows of an element."""
        if element.tag == "LCTL_TEXT":
            return  # its attributes are those of its first document
        if element.tag == "DOC":
            self.document(element)
        elif element.tag == "SEG":
            self.segment_of(element)
        elif element.tag == "TOKEN":
            self.token(element)
        elif element.tag in {"DATELINE", "AUTHORLINE"}:
            where = f"{element.tag} {self.parts[element.ordinal]}"
            self.attribute(element, where, "text", element.text)
        elif element.tag == "ORIGINAL_TEXT" and self.rows["segments"]:
            *head, text, part = self.rows["segments"][-1]
            if head[1] == self.segment == (element.parent or element).ordinal and text is None:
                self.rows["segments"][-1] = (*head, element.text, part)

    def document(self, element: Element) -> None:
        first = not self.rows["documents"]
        self.holder, self.segment = element.ordinal, 0
        name = element.attributes.get("id", self.stem)
        self.rows["documents"].append((self.origin, element.ordinal, element.ordinal, name))
        if first and element.parent is not None:
            for pair in element.parent.attributes.items():
                self.attribute(element.parent, "LCTL_TEXT", *pair)
        for pair in element.attributes.items():
            self.attribute(element, "DOC", *pair)

    def attribute(self, element: Element, where: str, name: str, value: str) -> None:
        self.rows["attributes"].append(
            (self.origin, element.ordinal, self.holder, where, name, value)
        )

    def segment_of(self, element: Element) -> None:
        self.segment = element.ordinal
        place = self.placed(element)
        if place:
            part = self.parts[element.ordinal]
            name = element.attributes.get("id")
            self.rows["segments"].append((*self.key(element), name, *place, None, part))

    def token(self, element: Element) -> None:
        place = self.placed(element)
        if place:
            get = element.attributes.get
            origin, record, holder = self.key(element)
            own = (get("id"), *place, element.text, get("pos"), get("morph"))
            self.rows["tokens"].append((origin, record, holder, self.segment, *own))

    def key(self, element: Element) -> tuple[int, int, int]:
        return self.origin, element.ordinal, self.holder

    def placed(self, element: Element) -> tuple[int, int] | None:
        """The offsets of a segment or token, half-open; None if it is rejected."""
        for name in _OWN[element.tag]:
            if name in element.attributes:
                self.attribute(element, element.tag, name, element.attributes[name])
        offsets = []
        for name in ("start_char", "end_char"):
            given = element.attributes.get(name)
            if given is None:
                self.reject(element, element.problem("LTF103", attribute=name))
                return None
            if not _NUMBER.fullmatch(given):
                shown = given[:40] or "(empty)"
                problem = element.problem("LTF104", name, attribute=name, given=shown)
                self.reject(element, problem)
                return None
            offsets.append(int(given))
        return offsets[0], offsets[1] + 1

    def reject(self, element: Element, problem: Problem) -> None:
        """Add an element without offsets to `rejected_records`."""
        identifier = element.attributes.get("id")
        self.problems.append((problem, identifier))
        kind = "segment" if element.tag == "SEG" else "token"
        row = (problem.code, kind, identifier, element.attributes.get("pos"), element.text)
        columns = (problem.start + 1, problem.end + 1)
        self.rows["rejected_records"].append((*self.key(element), *row, *columns, "offsets"))


def _parts(elements: list[Element]) -> dict[int, str | None]:
    """The part of the document that contains each element; for a part itself, its number.

    None means the usual part, a single TEXT with segments directly below.
    """
    children: dict[int, list[Element]] = {}
    for element in elements:
        if element.parent is not None:
            children.setdefault(element.parent.ordinal, []).append(element)
    named: dict[int, str | None] = {}
    for document in (element for element in elements if element.tag == "DOC"):
        own = children.get(document.ordinal, [])
        for number, part in enumerate(own, start=1):
            name = None if len(own) == 1 and part.tag == "TEXT" else f"{part.tag} {number}"
            named[part.ordinal] = str(number)
            inner = children.get(part.ordinal, [])
            paragraphs = [element for element in inner if element.tag == "P"]
            for count, paragraph in enumerate(paragraphs, start=1):
                inside = f"{part.tag} {number} P {count}"
                for segment in children.get(paragraph.ordinal, []):
                    named[segment.ordinal] = inside
            named.update({element.ordinal: name for element in inner if element.tag == "SEG"})
    return named


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of LTF.

    Translations have the names of the files that were translated, but another root element.
    """
    named = next((file for file in source.members if file.basename.endswith(SUFFIX)), None)
    return "<LCTL_TEXT" in head(source) if named is None else "<mteval" not in beginning(named)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    for files in source_files.batches(source, FORMAT.name, SUFFIX):
        bulk_tables, accepted = bulk([(origin, text) for origin, _, text in files.texts])
        others, findings = dict[str, list[tuple[object, ...]]](), list(files.findings)
        for origin, stem, text in files.texts:
            if origin not in accepted:
                member = files.members[origin]
                rows, problems = element_rows(text, origin, stem, member.encoding)
                for name, some in rows.items():
                    others.setdefault(name, []).extend(some)
                findings += located_findings(text, problems, member)
        parts = [bulk_tables]
        if len(accepted) < len(files.texts):
            parts.append(Tables.of(**others))
        tables = Tables.concat(parts)
        documents = files.named(tables.documents)
        first, repeated = _repeated(documents, files)
        tables = tables._replace(documents=documents.filter(first))
        findings += repeated
        yield ReadResult(corpus(files.sources, tables), tuple(findings), tuple(files.members))


def _repeated(documents: pl.DataFrame, files: FileBatch) -> tuple[pl.Series, list[Finding]]:
    """Whether each document is the first of its name, and the findings about the others.

    Args:
        documents: those of a batch.
        files: the files of the batch.
    """
    first, findings = list[bool](), list[Finding]()
    places: dict[str, tuple[str, int]] = {}
    for origin, record, name in documents.select("origin", "record", "name").iter_rows():
        file = files.members[origin].display
        earlier = places.setdefault(name, (file, record))
        first.append(earlier == (file, record))
        if not first[-1]:
            values = {"name": name, "other": earlier[0]}
            findings.append(finding("LTF105", file=file, record=name, **values))
    return pl.Series(first, dtype=pl.Boolean), findings


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The documents as a folder of files, with the names of the original files of this format.

    A text without segments is split into lines, and these into tokens (segmentation.py).
    """
    source_files.write_files((file for corpus in corpora for file in as_files(corpus)), path)


FORMAT = declaration(__name__)
