"""Which files of a source are tables of LoReHLT annotation, and their lines read in bulk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import polars as pl

from hlteval.converters.situations.lorehlt_tables import SENTIMENTS, Kind, kind_of_header, kinds
from hlteval.converters.toolkit.joined_tables import JoinedTables
from hlteval.converters.toolkit.single_file import beginning
from hlteval.findings import Finding, Problem, finding
from hlteval.sources import Member, Source, Unreadable, decode, sha256

SUFFIX = ".tab"
#: Ends of the names of other tables.
_SIMILAR = (".tab", ".tsv", ".txt", ".csv")


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The tables of each document by its name: the name of the file up to its first dot."""
    named: dict[str, list[Member]] = {}
    for member in tables(source):
        named.setdefault(named_by(member, stem(member)), []).append(member)
    return {name: tuple(named[name]) for name in sorted(named)}


def stem(member: Member) -> str:
    """The document that the name of a file is about.

    Examples:
        >>> stem(Member("needs/ENG_D1.needs.tab", "", 0, bytes))
        'ENG_D1'
    """
    return member.basename.partition(".")[0]


def named_by(member: Member, name: str) -> str:
    """The name of a document of a file: its own, after the folder if the file is qualified.

    The folder is the one that holds those of the annotation.

    Examples:
        >>> named_by(Member("a/needs/d1.needs.tab", "", 0, bytes, qualified=True), "d1")
        'a/d1'
    """
    home = member.name.rpartition("/")[0]
    if folder_of(member) in kinds():
        home = home.rpartition("/")[0]
    if not member.qualified or not home or name.startswith(f"{home}/"):
        return name
    return f"{home}/{name}"


def tables(source: Source) -> tuple[Member, ...]:
    """The files in folders of the annotation; where there are none, all that end in .tab."""
    if source.kind in {"file", "stdin"}:
        return source.members
    inside = [member for member in source.members if folder_of(member) in kinds()]
    found = inside or source.members
    listed = [member for member in found if member.basename.endswith(SUFFIX)]
    lost = [member for member in inside if _is_lost(member)]
    return tuple(sorted([*listed, *lost], key=attrgetter("name")))


def _is_lost(member: Member) -> bool:
    """Whether a file in a folder of the annotation is a table, but not by its name."""
    name = member.basename
    if name.endswith(SUFFIX) or not name.lower().endswith(_SIMILAR):
        return False
    return kind_of_header(beginning(member).partition("\n")[0].rstrip("\r")) is not None


def folder_of(member: Member) -> str:
    """The name of the folder that a file is in; empty for a file in no folder."""
    return member.name.rpartition("/")[0].rpartition("/")[2]


def sniff(source: Source) -> bool:
    """Whether one of the first tables has the header of a kind, or the folder and suffix of one."""
    return any(
        member.name.endswith(_PATHS)
        or kind_of_header(beginning(member).partition("\n")[0].rstrip("\r")) is not None
        for member in tables(source)[:3]
    )


#: How the names of tables end in distributions of LDC.
_PATHS = (".needs.tab", ".issues.tab", ".sentiment.tab", ".entity.tab")


@dataclass
class Group(JoinedTables):
    """The files of one header, of which a kind of table has them.

    Attributes:
        kind: their kind.
    """

    kind: Kind = field(kw_only=True)

    def rejected(self, first: int) -> Iterator[dict[str, object]]:
        """The lines without a row, as rows of `rejected_records` from a key on."""
        kind = "sentiment" if self.kind.name == SENTIMENTS else "frame"
        return self.rejected_records(kind, first=first)


class Files:
    """The files of a source, in groups of one header.

    Attributes:
        sources: the rows of the table `sources`.
        members: the files by their row of `sources`.
        groups: the groups by kind and header.
        header_only: the kind and the document of each file without lines.
        findings: what is wrong with files and headers.
    """

    def __init__(self, path: str, form: str) -> None:
        self.path, self.form = path, form
        self.sources: list[dict[str, object]] = []
        self.members: list[Member] = []
        self.groups: dict[tuple[str, str], Group] = {}
        self.header_only: list[tuple[int, str, str]] = []
        self.findings: list[Finding] = []

    def add(self, member: Member) -> None:
        """Read a file."""
        if not member.basename.endswith(SUFFIX) and folder_of(member) in kinds():
            table, name = folder_of(member), f"{member.basename[:-4]}{SUFFIX}"
            self.findings.append(finding("LSF513", file=member.display, table=table, name=name))
            return
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings += decoded.findings
        origin = len(self.sources)
        names = {"path": self.path, "member": member.name or member.basename}
        own = {"row": origin, **names, "format": self.form, "sha256": sha256(data)}
        self.sources.append(own)
        self.members.append(member)
        if decoded.text is not None:
            self._take(member, origin, decoded.text)

    def _take(self, member: Member, origin: int, text: str) -> None:
        header, _, body = text.partition("\n")
        header = header.rstrip("\r")
        kind = kind_of_header(header)
        if not text.strip() and folder_of(member) in kinds():
            name = named_by(member, stem(member))
            self.header_only.append((origin, folder_of(member), name))
            return
        if kind is None:
            self.findings.append(_no_header(member, header))
            return
        if problem := _of_columns(kind, header):
            self.findings.append(problem.in_line(member.display, header))
            return
        group = self.groups.setdefault((kind.name, header), Group(kind.table(header), kind=kind))
        group.add(origin, member, body)
        if not body.strip():
            self.header_only.append((origin, kind.name, named_by(member, stem(member))))

    def named(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows whose documents have their folder in their names where files are qualified by it."""
        if not any(member.qualified for member in self.members):
            return rows
        own = rows.select("origin", "name").iter_rows()
        names = [named_by(self.members[origin], name) for origin, name in own]
        return rows.with_columns(name=pl.Series(names, dtype=pl.String))

    def of_kind(self, name: str) -> Sequence[Group]:
        """The groups of a kind."""
        return [group for (kind, _), group in self.groups.items() if kind == name]


def _of_columns(kind: Kind, header: str) -> Problem | None:
    """What is wrong with the columns of a header: one is missing, or there twice."""
    if missing := kind.missing(header):
        names = {"table": kind.name, "missing": ", ".join(missing)}
        return Problem("LSF502", 1, 0, len(header), names)
    if name := kind.repeated(header):
        end = f"\t{header}\t".rindex(f"\t{name}\t") + len(name)
        return Problem("LSF514", 1, end - len(name), end, {"column": name})
    return None


def _no_header(member: Member, header: str) -> Finding:
    """The finding of a file that does not begin with the header of any kind."""
    folder = folder_of(member)
    kind = kinds().get(folder)
    wanted = kind.headings if kind else kinds()["needs"].headings
    table, listed = folder if kind else "annotation", " ".join(wanted)
    if not header:
        return finding("LSF501", file=member.display, table=table, header=listed)
    values = {"table": table, "header": listed}
    return Problem("LSF501", 1, 0, len(header), values).in_line(member.display, header)
