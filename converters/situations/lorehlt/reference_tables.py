"""The tables of LoReHLT annotation of situation frames: their columns and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from operator import attrgetter
from typing import Literal

import polars as pl

from hlteval.converters.situations.lorehlt.items import statuses, type_hint, types
from hlteval.converters.toolkit.source_files import JoinedTables, beginning
from hlteval.findings import Finding, Problem, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.tsv import Column, Table

NEEDS, ISSUES, SENTIMENTS = "needs", "issues", "sentiments"
MENTIONS, SPEECH = "mentions", "speech"
#: The type of a row of speech without a situation.
OUT_OF_DOMAIN = "out-of-domain"
NONE = "none"
EMOTIONS = ("fear", "anger", "joyhappiness")
#: The sources of sentiments that are not entities.
HOLDERS = ("author", "other")
SCOPES = ("1_smallgroup", "2_largegroup", "3_municipality", "4_region")
SEVERITIES = ("1_discomfort", "2_injury", "3_possibledeath", "4_certaindeath")
_DEGREES = ("0", "1", "2", "3", "4")
_SPEECH_STATUSES = ("Current", "Past Only", "Future", "not_current")
#: The values of resolution in speech, with the spelling of LDC's own example.
_RELIEFS = ("Insufficient/Unknown", "Insufficent", "Insufficient", "Sufficient")
_ENTRY = "(?:[0-9]+|NIL[0-9]*)"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of table: a folder of the annotation.

    Attributes:
        name: of the folder.
        suffix: of its files.
        columns: its columns.
        own_column: the heading of a column that only this kind has.
    """

    name: str
    suffix: str
    columns: tuple[Column, ...]
    own_column: str

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that a header must have."""
        return tuple(column.title for column in self.columns if not column.optional)

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns of a new table, in their usual order."""
        unusual = {"urgency_status", *(["user_id"] if self.name == SPEECH else [])}
        return tuple(column.title for column in self.columns if column.title not in unusual)

    def missing(self, header: str) -> list[str]:
        """The required columns that a header lacks."""
        titles = header.split("\t")
        return [name for name in self.required if name not in titles]

    def repeated(self, header: str) -> str:
        """The first of its columns that a header has twice; empty if none."""
        titles = header.split("\t")
        return next((c.title for c in self.columns if titles.count(c.title) > 1), "")

    @property
    def declared(self) -> Table:
        """The table with its header, whose mistakes in all rows can be found."""
        return Table(self.columns, header="required", any_order=True, ragged=True)

    def table(self, header: str) -> Table:
        """The declaration of the lines after a header; unknown columns are texts."""
        known = {column.title: column for column in self.columns}
        found = (
            known.get(title) or Column(f"\t{number}")
            for number, title in enumerate(header.split("\t"))
        )
        # A line must have all cells of its header.
        return Table(tuple(replace(column, optional=False) for column in found), code="LSF503")


def _text(name: str, heading: str = "", *, optional: bool = False) -> Column:
    return Column(name, heading=heading, nullable=True, optional=optional)


def _hint(values: Sequence[str], cell: str) -> Mapping[str, object]:
    return {"hint": did_you_mean(cell, values, f"use one of: {', '.join(values)}")}


def _chosen(
    name: str, heading: str, values: Sequence[str], also: str = "", *, optional: bool = False
) -> Column:
    """A column with a closed vocabulary; `also` is a pattern of further values."""
    pattern = "|".join([*map(re.escape, values), *([also] if also else [])])
    return Column(
        name, pattern=pattern, code="LSF505", nullable=True, optional=optional, tolerated=True,
        heading=heading, describe=partial(_hint, values),
    )  # fmt: skip


def _type(heading: str, kind: Callable[[], Sequence[str]], also: str = "") -> Column:
    def pattern() -> str:
        return "|".join([*kind(), *([also] if also else [])])

    def describe(cell: str) -> Mapping[str, object]:
        return {"hint": type_hint(cell)}

    return Column(
        "label", heading=heading, pattern=pattern, code="LSF504", tolerated=True, describe=describe
    )


def _entry(heading: str, also: Sequence[str] = (), name: str = "entry") -> Column:
    """An entry of the knowledge base, several if the annotator could not decide."""
    pattern = "|".join([rf"{_ENTRY}(?:\|{_ENTRY})*", *also])
    return Column(
        name, heading=heading, pattern=pattern, code="LSF506", nullable=True, tolerated=True
    )


_NAMES = (
    _text("annotator", "user_id", optional=True),
    Column("name", heading="doc_id", pattern=r"[^\t ]+", code="LSF507"),
    Column("frame", heading="frame_id", pattern=r"[^\t ]+", code="LSF507"),
)


def _situations(kind: Literal["need", "issue"]) -> tuple[Column, ...]:
    """The columns that needs and issues begin with."""
    return (
        *_NAMES,
        _text("frame_type", optional=True),
        _type(f"{kind}_type", partial(types, kind)),
        _text("place", "place_id"),
        _text("proxy_status", optional=True),
        _chosen("status", f"{kind}_status", statuses(kind)),
        _chosen("scope", "scope", SCOPES, f"[0-4]|{NONE}", optional=True),
        _chosen("severity", "severity", SEVERITIES, f"[0-4]|{NONE}", optional=True),
        _text("urgency_status", optional=True),
    )


def _needs() -> Kind:
    columns = (
        *_situations("need"),
        _chosen("resolution", "resolution_status", ("sufficient", "insufficient"), NONE),
        _text("reported_by", optional=True),
        _text("resolved_by", optional=True),
        _text("description", optional=True),
        _entry("kb_id"),
    )
    return Kind(NEEDS, ".needs.tab", columns, "need_type")


def _issues() -> Kind:
    columns = (*_situations("issue"), _text("description", optional=True), _entry("kb_id"))
    return Kind(ISSUES, ".issues.tab", columns, "issue_type")


def _sentiments() -> Kind:
    columns = (
        *_NAMES[:2],
        Column(
            "value",
            "number",
            pattern=r"[+-]?[0-9]{1,3}(?:\.[0-9]{1,9})?",
            heading="sentiment_value",
            code="LSF508",
        ),
        _chosen("polarity", "polarity", ("positive", "negative"), NONE, optional=True),
        _emotions(),
        _text("holder", "source"),
        _text("target"),
        _entry("kb_id", HOLDERS),
    )
    return Kind(SENTIMENTS, ".sentiment.tab", columns, "sentiment_value")


def _mentions() -> Kind:
    columns = (
        _NAMES[1],
        _text("entity", "entity_id"),
        _text("mention", "mention_id"),
        _text("label", "entity_type"),
        _text("mention_status", optional=True),
        Column("start", "integer", heading="start_char", code="LSF508"),
        Column("last", "integer", heading="end_char", code="LSF508"),
        _text("text", "mention_text"),
    )
    return Kind(MENTIONS, ".entity.tab", columns, "mention_id")


def _speech() -> Kind:
    columns = (
        _text("annotator", "user_id", optional=True),
        Column("frame", heading="file_id", pattern=r"[^\t ]+", code="LSF507"),
        Column("name", heading="situation_id", pattern=r"[^\t ]+", code="LSF507"),
        _type("situation_type", types, OUT_OF_DOMAIN),
        _chosen("status", "situation_status", _SPEECH_STATUSES, NONE),
        _chosen("scope", "scope", SCOPES, f"[0-4]|{NONE}|Scope_Not_Required"),
        _chosen("severity", "severity", SEVERITIES, f"[0-4]|{NONE}|Severity_Not_Required"),
        _chosen("resolution", "resolution_status", _RELIEFS, NONE),
        _entry("place_id", (NONE,)),
    )
    return Kind(SPEECH, ".speech.tab", columns, "situation_id")


def _emotions() -> Column:
    one = "|".join(EMOTIONS)
    return Column(
        "emotions", pattern=f"{NONE}|(?:{one})(?:, ?(?:{one}))*", code="LSF505", nullable=True,
        tolerated=True, heading="emotion_value", describe=partial(_hint, (*EMOTIONS, NONE)),
    )  # fmt: skip


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of tables by the names of their folders."""
    listed = (_needs(), _issues(), _sentiments(), _mentions(), _speech())
    return {kind.name: kind for kind in listed}


def kind_of_header(header: str) -> Kind | None:
    r"""The kind of table that has a header; None for other lines.

    Examples:
        >>> kind_of_header("user_id\tdoc_id\tneed_type").name
        'needs'
        >>> kind_of_header("LDC\tm1\tOsh") is None
        True
    """
    titles = set(header.split("\t"))
    return next((kind for kind in kinds().values() if kind.own_column in titles), None)


# Which files of a source are tables of LoReHLT annotation, and their lines read in bulk.


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
