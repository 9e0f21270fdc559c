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

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path as FilePath

from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.pubannotation.faults import Faults, file_documents
from hlteval.converters.pubannotation.items import Items
from hlteval.converters.pubannotation.losses import lost
from hlteval.converters.pubannotation.scopes import records, title
from hlteval.converters.pubannotation.writing import write_files, written
from hlteval.converters.toolkit import per_document
from hlteval.converters.toolkit.per_document import Files
from hlteval.converters.toolkit.single_file import beginning, own_name
from hlteval.findings import FieldRef, Finding, Location
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, decode
from hlteval.syntax.json_parser import Path, parse
from hlteval.syntax.json_places import Places, place_of

_SUFFIX = ".json"
_MEMBERS = re.compile(r'"(?:denotations|sourceid|sourcedb)"[ \t\r\n]*:')


def sniff(source: Source) -> bool:
    """Whether the file, or the first of a folder that ends in .json, has members of this format."""
    members = source.members
    if source.kind not in {"file", "stdin"}:
        members = tuple(one for one in members if one.basename.endswith(_SUFFIX))[:1]
    begin = beginning(members[0]) if members else ""
    return begin.lstrip()[:1] in {"[", "{"} and bool(_MEMBERS.search(begin))


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source, some hundred at a time."""
    names: dict[str, int] = {}
    for files in per_document.batches(source, FORMAT.name, _SUFFIX):
        batch = _Batch(files, names)
        for origin, stem, text in files.texts:
            yield from batch.taken(origin, stem, text)
        yield batch.reading()


class _Batch:
    """What is collected over the documents of some files."""

    def __init__(self, files: Files, names: dict[str, int]) -> None:
        self.files, self.names = files, names
        self.items = Items()
        self.findings: list[Finding] = list(files.findings)

    def reading(self) -> ReadResult:
        """What is collected by now, which is forgotten here."""
        corpus = Corpus(sources=self.files.sources, **self.items.tables())
        findings, members = tuple(self.findings), tuple(self.files.members)
        self.items, self.findings = Items(), []
        return ReadResult(corpus, findings, members)

    def taken(self, origin: int, stem: str, text: str) -> Iterator[ReadResult]:
        """Add the documents of a file; readings of a large one come out."""
        found = file_documents(text)
        faults = Faults(found, self.files.members[origin].display)
        record = 1
        for index in range(len(found.values)):
            given = stem if found.single else f"{stem}-{index + 1}"
            record += self.take(faults, index, given, (origin, record))
            found.values[index] = None
            if self.items.count >= per_document.BATCH:
                self.findings += faults.findings
                faults.findings = []
                yield self.reading()
        self.findings += faults.findings

    def take(self, faults: Faults, index: int, stem: str, place: tuple[int, int]) -> int:
        """Add a document, with what is wrong with it; its number of records."""
        document = faults.found.values[index]
        if index in faults.found.refused or not isinstance(document, dict):
            self.items.refuse(*place, *faults.refusal(index))
            return 1
        bad = faults.broken(index)
        given = title(document, stem)
        name = own_name(given, self.names)
        records = self.items.take(document, name, *place, bad)
        if name != given:
            faults.tell(index, "PUB106", ("sourceid",), name=given, other=name)
        for told in self.items.told:
            faults.tell(index, told.code, told.path, **told.values)
        faults.settle()
        return records


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Where records stand; a field is a member of theirs. A document is shown where it begins."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    found, wanted = file_documents(text), {place.record for place in places}
    ways: dict[int, tuple[int, Path]] = {}
    record = 1
    for index, document in enumerate(found.values):
        whole = isinstance(document, dict) and index not in found.refused
        for way in records(document) if whole else [()]:
            if record in wanted:
                ways[record] = (index, way)
            record += 1
    lines = Places(text)
    return [_located(text, found.starts, lines, ways.get(place.record), place) for place in places]


def _located(
    text: str,
    starts: Sequence[int],
    lines: Places,
    way: tuple[int, Path] | None,
    place: FieldRef,
) -> Location | None:
    if way is None:
        return None
    one = parse(text, starts[way[0]])
    field = (*way[1], place.field)
    span = lines.span(*place_of(text, one, field if field in one.values else way[1]))
    return Location(span, lines.excerpt(span))


def write(corpora: Iterable[Corpus], path: FilePath, layout: str = "array") -> None:
    """All documents.

    Args:
        corpora: the batches.
        path: the file, or the folder.
        layout: `array` is one file with an array; `lines` one with a document a line; `files` a
            folder with a file each, where it was in a folder or archive of this format.
    """
    if layout == "files":
        write_files(corpora, path)
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        for text in written(corpora, lines=layout == "lines"):
            stream.write(text)


FORMAT = Format(
    name="pubannotation",
    title="PubAnnotation JSON: annotations of one document or several",
    suffixes=(".pubannotation.json", ".pubannotation.jsonl"),
    layout="single_file",
    carries=(
        *("sources", "documents", "segments", "attributes", "mentions", "links", "groups"),
        *("frames", "arguments", "modifiers", "documents.text", "documents.language"),
        *(
            "segments.name",
            "segments.text",
            "mentions.fragments",
            "mentions.text",
            "mentions.entity",
        ),
        *("mentions.mention_type", "mentions.confidence", "mentions.annotator"),
        *("links.entity", "frames.frame", "frames.trigger", "modifiers.value", "modifiers.text"),
    ),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    frame_kinds=("event", "relation"),
    count_losses=lost,
    known_losses="layout; the relative order of events and relations; that an attribute was a "
    "modification; argument identifiers",
    settings=(
        Setting(
            "layout",
            "One file with an array, one with a document per line, or a folder with a "
            "file per document.",
            "array",
            of="write",
            choices=("array", "lines", "files"),
        ),
    ),
)
