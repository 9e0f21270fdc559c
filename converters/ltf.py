r"""LTF: documents as segments and tokens with their offsets, as in LDC's language packs.

Format:
    XML by grammars/ltf.rng, a file `<document>.ltf.xml` per document: DOC, TEXT, SEG with its
    ORIGINAL_TEXT and TOKENs. Written in LDC's layout, an element a line, with only `&`, `<` and `>`
    escaped. DOC tells length and MD5 digest of the text that was annotated.

Conventions:
    `start_char` and `end_char` are 0-based code points of the document's text, the end included; in
    the representation it is excluded. The text is rebuilt from the segments: what lies between them
    is filled with line feeds. A record is an element, counted by start tags from 1.

Example lines:
    <SEG id="segment-0" start_char="1" end_char="5">
    <ORIGINAL_TEXT>AT&amp;T?</ORIGINAL_TEXT>
    <TOKEN id="token-0-0" pos="unknown" morph="none" start_char="1" end_char="4">AT&amp;T</TOKEN>
    <TOKEN id="token-0-1" pos="punct" morph="none" start_char="5" end_char="5">?</TOKEN>
    </SEG>

Codes raised: XML1xx, LTF1xx.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import polars as pl

from hlteval.converters.format import Format, Located, Place, Reading
from hlteval.converters.ltf_bulk import bulk
from hlteval.converters.ltf_elements import read_elements
from hlteval.converters.ltf_tables import Said, corpus
from hlteval.converters.xml_elements import Lines, starts
from hlteval.findings import Finding, finding
from hlteval.representation import TABLES
from hlteval.sources import Member, Source, Unreadable, decode, sha256

SUFFIX = ".ltf.xml"
BATCH = 500
"""Most documents in a batch."""
_BYTES = 8_000_000
"""Bytes at which a batch is complete: more cost memory and gain no time."""


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document, by their name without `.ltf.xml`."""
    members = [member for member in source.members if member.basename.endswith(SUFFIX)]
    if source.kind in {"file", "stdin"}:
        members = list(source.members)
    found: dict[str, list[Member]] = {}
    for member in members:
        found.setdefault(stem(member), []).append(member)
    return {name: tuple(found[name]) for name in sorted(found)}


def stem(member: Member) -> str:
    """The name of a document's file without its suffixes."""
    name = member.basename.removesuffix(".xml")
    return name.removesuffix(".ltf")


def sniff(source: Source) -> bool:
    """Whether a file is named so, or the first one has the root element of LTF."""
    if source.kind not in {"file", "stdin"}:
        return any(member.basename.endswith(SUFFIX) for member in source.members)
    for member in islice(source.members, 1):
        try:
            return b"<LCTL_TEXT" in member.fetch()[:4000]
        except Unreadable:
            return member.basename.endswith(SUFFIX)
    return False


def read(source: Source) -> Iterator[Reading]:
    """The documents of a source in batches, in the order of their names."""
    batch, size, count = _Batch(source.path), 0, 0
    for members in documents(source).values():
        for member in members:
            size += batch.take(member)
        count += 1
        if count >= BATCH or size >= _BYTES:
            yield batch.reading()
            batch, size, count = _Batch(source.path), 0, 0
    if count:
        yield batch.reading()


class _Batch:
    """What is collected over the files of a batch."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.sources: list[tuple[object, ...]] = []
        self.texts: list[tuple[int, str]] = []
        self.members: list[Member] = []
        self.findings: list[Finding] = []

    def take(self, member: Member) -> int:
        """Add a file; its size in bytes."""
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return 0
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings += decoded.findings
        origin = len(self.sources)
        name = member.name or member.basename
        self.sources.append((origin, self.path, name, FORMAT.name, sha256(data)))
        self.members.append(member)
        if decoded.text is not None:
            self.texts.append((origin, decoded.text))
        return len(data)

    def reading(self) -> Reading:
        """What the files say, and what is wrong with them."""
        said, accepted = bulk(self.texts)
        others = [self.elements(*file) for file in self.texts if file[0] not in accepted]
        said = Said.joined([said, *others])
        sources = pl.DataFrame(self.sources, schema=TABLES["sources"].schema, orient="row")
        repeated = list(self.repeated(said.documents))
        made = corpus(sources, said)
        return Reading(made, (*self.findings, *repeated), tuple(self.members))

    def elements(self, origin: int, text: str) -> Said:
        """A file that is not in the usual layout; its faults become findings."""
        member = self.members[origin]
        said, told = read_elements(text, origin, stem(member), member.encoding)
        if told:
            lines = Lines(text)
            self.findings += [
                lines.finding(fault, member.display, record) for fault, record in told
            ]
        return said

    def repeated(self, named: pl.DataFrame) -> Iterator[Finding]:
        """Documents whose name another has."""
        first = pl.col("origin").first().over("name")
        again = named.with_columns(first=first).filter(~pl.col("name").is_first_distinct())
        for origin, name, other in again.select("origin", "name", "first").iter_rows():
            yield finding(
                "LTF105",
                file=self.members[origin].display,
                record=name,
                name=name,
                other=self.members[other].display,
            )


def locate(member: Member, places: Sequence[Place]) -> list[Located | None]:
    """Where elements stand; a field is an attribute, or `text` for what follows the tag."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    found = starts(text, {place.record for place in places})
    lines = Lines(text)
    return [
        lines.located(*found[place.record], place.field) if place.record in found else None
        for place in places
    ]


FORMAT = Format(
    name="ltf",
    title="LTF: documents as segments and tokens, an XML file each",
    suffixes=(SUFFIX,),
    carries=(
        *("sources", "documents", "segments", "tokens", "attributes"),
        *("documents.text", "documents.language", "segments.name", "segments.text"),
        *("segments.part", "tokens.name", "tokens.pos", "tokens.morph"),
    ),
    sniff=sniff,
    documents=documents,
    read=read,
    locate=locate,
)
