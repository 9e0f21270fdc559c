"""Collects the texts of segments from files that speak of the same documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.keyed import keyed
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256

_PLACE = ("document", "origin", "record")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "sources": ("path", "member", "format", "sha256"),
    "documents": ("origin", "name"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "translations": (*_PLACE, "segment", "role", "set", "language", "part", "text"),
}


def with_suffix(source: Source, suffixes: str | tuple[str, ...]) -> tuple[Member, ...]:
    """A single file, whatever its name is; of several files, those with a suffix in any case."""
    if source.kind in {"file", "stdin"}:
        return source.members
    return tuple(m for m in source.members if m.basename.lower().endswith(suffixes))


class Text(NamedTuple):
    """The text of a segment.

    Attributes:
        segment: identifier of the segment.
        role: `source`, `reference` or `system`.
        text: as written.
        name: identifier of the reference or of the system.
        language: of the text.
        part: of the document.
    """

    segment: str
    role: str
    text: str
    name: str | None = None
    language: str | None = None
    part: str | None = None


class Collected:
    """The rows of each table, and the findings, of the files of a source.

    Args:
        source: the files.
        form: the name of their format.
    """

    def __init__(self, source: Source, form: str) -> None:
        self.path, self.form = source.path, form
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _COLUMNS}
        self.documents: dict[str, int] = {}
        self.attributes: set[tuple[int, str, str]] = set()
        self.members: list[Member] = []
        self.findings: list[Finding] = []

    @property
    def origin(self) -> int:
        """The row of the last file in `sources`."""
        return len(self.members) - 1

    def open(self, member: Member) -> str | None:
        """The text of a file, which is added; None if it cannot be read, with a finding."""
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return None
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings += decoded.findings
        own = (self.path, member.name or member.basename, self.form, sha256(data))
        self.rows["sources"].append(own)
        self.members.append(member)
        return decoded.text

    def document(self, name: str) -> int:
        """The row of a document, which is added if it is new."""
        if name not in self.documents:
            self.documents[name] = len(self.documents)
            self.rows["documents"].append((self.origin, name))
        return self.documents[name]

    def add(self, document: int, record: int, text: Text) -> None:
        """Add the text of a segment of a document, and its record in the last file."""
        cells = (text.segment, text.role, text.name, text.language, text.part, text.text)
        self.rows["translations"].append((document, self.origin, record, *cells))

    def attribute(self, document: int, record: int, element: str, name: str, value: str) -> None:
        """Add an attribute of a document; of several values the first counts."""
        if (document, element, name) not in self.attributes:
            self.attributes.add((document, element, name))
            own = (document, self.origin, record, element, name, value)
            self.rows["attributes"].append(own)

    def result(self, findings: Iterable[Finding] = ()) -> ReadResult:
        """All files as one batch."""
        tables = {name: keyed(name, rows, _COLUMNS[name]) for name, rows in self.rows.items()}
        return ReadResult(Corpus(**tables), (*self.findings, *findings), tuple(self.members))
