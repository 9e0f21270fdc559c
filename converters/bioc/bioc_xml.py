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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.bioc.documents import Documents
from hlteval.converters.bioc.layout import COLUMNS, Told
from hlteval.converters.bioc.misfits import Misfits, Placed
from hlteval.converters.bioc.writing import lost, written
from hlteval.converters.format import Format, ReadResult
from hlteval.converters.toolkit.single_file import beginning
from hlteval.findings import FieldRef, Finding, Location
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_bytes import Written, declared_encoding, utf8
from hlteval.syntax.xml_elements import Fault, Lines, Malformed, located, other_encoding
from hlteval.syntax.xml_stream import parts

_SUFFIX = ".bioc.xml"


def sniff(source: Source) -> bool:
    """Whether files are named so, or the first has the root element of BioC."""
    members = _members(source)
    if any(member.basename.endswith(_SUFFIX) for member in members):
        return True
    return bool(members) and "<collection" in beginning(members[0])


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of each file, some megabytes at a time."""
    names: dict[str, int] = {}
    for member in _members(source):
        data, digest, findings = utf8(member)
        if data is None:
            yield ReadResult(Corpus(), findings, (member,))
            continue
        file = _File(source.path, member, data, digest, names, list(findings))
        try:
            yield from file.readings()
        except Malformed as reason:
            file.tell([(reason.fault, None)])
        if file.findings:
            yield ReadResult(Corpus(), tuple(file.findings), (member,))


def _members(source: Source) -> Sequence[Member]:
    if source.kind in {"file", "stdin"}:
        return source.members
    return [member for member in source.members if member.basename.endswith(".xml")]


@dataclass
class _File:
    """A file, and what is wrong with it that was not told yet."""

    path: str
    member: Member
    data: bytes
    digest: str
    names: dict[str, int]
    findings: list[Finding]
    ordinal: int = 0
    misfits: Misfits = field(default_factory=Misfits)
    _lines: Lines | None = None

    def readings(self) -> Iterator[ReadResult]:
        """The parts of the file."""
        declared = declared_encoding(self.data)
        if other_encoding(declared, self.member.encoding):
            values = {"given": declared or "UTF-8", "encoding": self.member.encoding}
            self.tell([(Fault("XML103", 1, 1, values), None)])
        row = {"path": self.path, "member": self.member.name or self.member.basename}
        origin = {"row": 0, **row, "format": FORMAT.name, "sha256": self.digest}
        for part in parts(self.data, "bioc", "collection", "document"):
            documents = Documents(part, self.names, self.ordinal)
            self.ordinal = documents.ordinal
            self.tell((fault, None) for fault in part.faults)
            refused = documents.rows["rejected_records"]
            misfits = self.misfits.open(documents.misfits)
            wanted = {one.ordinal for one in documents.told} | {row[2] for row in refused}
            wanted.update(one.ordinal for one in misfits)
            places = part.places(wanted) if wanted else {}
            self.tell(_fault(one, places) for one in documents.told)
            self.tell(self.misfits.settled(misfits, places))
            documents.rows["rejected_records"] = [
                _with_column(row, places[row[2]][1]) for row in refused
            ]
            tables = {name: _keyed(name, rows) for name, rows in documents.rows.items()}
            found, self.findings = tuple(self.findings), []
            yield ReadResult(Corpus(sources=[origin], **tables), found, (self.member,))
        self.tell(self.misfits.rest())

    def tell(self, told: Iterable[Placed]) -> None:
        """Add findings."""
        for fault, record in told:
            self._lines = self._lines or Lines(Written(self.data))
            self.findings.append(self._lines.finding(fault, self.member.display, record))


def _fault(told: Told, places: Mapping[int, tuple[int, int]]) -> Placed:
    return Fault(told.code, *places[told.ordinal], told.values, told.field), told.record


def _with_column(row: tuple[Any, ...], column: int) -> tuple[Any, ...]:
    """A refused record with its columns, which are the last before what was expected."""
    return (*row[:-3], column, column + len("<annotation"), row[-1])


def _keyed(name: str, rows: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    schema = {column: TABLES[name].schema[column] for column in COLUMNS[name]}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *schema)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Where elements stand; a field is an attribute, or `text` for what follows the tag."""
    return located(member, places)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All documents as one collection, an element of theirs a line.

    An annotation stands in the passage or sentence that holds it, a relation with its document.
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        for text in written(corpora):
            stream.write(text)


FORMAT = Format(
    name="bioc-xml",
    title="BioC: documents in passages, with annotations and relations, in one XML file",
    suffixes=(_SUFFIX,),
    layout="single_file",
    carries=(
        *("sources", "documents", "segments", "attributes", "mentions", "groups", "frames"),
        *(
            "arguments",
            "modifiers",
            "links",
            "links.entity",
            "documents.text",
            "documents.language",
            "segments.text",
        ),
        *("segments.part", "mentions.fragments", "mentions.text", "mentions.entity"),
        *("mentions.mention_type", "mentions.confidence", "mentions.confidence_text"),
        *("mentions.annotator", "frames.frame", "frames.trigger", "modifiers.value"),
        "modifiers.text",
    ),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    frame_kinds=("event", "relation"),
    count_losses=lost,
    known_losses="layout; the passage of an annotation that could be in several, and the order "
    "of annotations across passages; the position of relations; all collection "
    "headers except the first; comments and anything outside the schema",
)
