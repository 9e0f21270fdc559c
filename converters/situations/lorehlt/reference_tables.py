"""The tables of LoReHLT annotation of situation frames: their columns and files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Any

import polars as pl

from hlteval.converters.situations.lorehlt.items import SCHEMA, type_hint, types
from hlteval.converters.toolkit.source_files import FileBatch, JoinedTables, beginning
from hlteval.findings import Problem, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.grammars import vocabulary
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, Table

NEEDS, ISSUES, SENTIMENTS = "needs", "issues", "sentiments"
MENTIONS, SPEECH = "mentions", "speech"

# The columns of each kind of table, from grammars/lorehlt-sf.toml.


def _column(heading: str, forms: Mapping[str, Any]) -> Column:
    title = heading.removesuffix("?")
    form = forms.get(title, {})
    code = form.get("code", "LSF505" if "values" in form else "")
    values = types(form["types"]) if "types" in form else form.get("values", ())
    listed = f"use one of: {', '.join(values)}"

    def describe(cell: str) -> Mapping[str, object]:
        is_type = code == "LSF504"
        return {"hint": type_hint(cell) if is_type else did_you_mean(cell, values, listed)}

    return Column(
        form.get("name", title),
        form.get("kind", "text"),
        pattern="|".join([*map(re.escape, values), *filter(None, [form.get("pattern")])]),
        code=code,
        nullable=code in {"", "LSF505", "LSF506"},
        optional=heading.endswith("?"),
        tolerated=code in {"LSF504", "LSF505", "LSF506"},
        heading=title,
        describe=describe if values else None,
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of table: a folder of the annotation.

    Attributes:
        name: of the folder.
        suffix: of its files.
        own_column: the heading of a column that only this kind has.
        columns: its columns.
        unusual: the headings of columns that a new table does not have.
    """

    name: str
    suffix: str
    own_column: str
    columns: tuple[Column, ...]
    unusual: tuple[str, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns of a new table, in their usual order."""
        titles = (column.title for column in self.columns)
        return tuple(title for title in titles if title not in self.unusual)

    @property
    def declaration(self) -> Table:
        """The table with its header, whose mistakes in all rows can be found."""
        return Table(self.columns, header="required", any_order=True, ragged=True)

    def table(self, header: str) -> Table:
        """The declaration of the lines after a header; unknown columns are texts."""
        known = {column.title: column for column in self.columns}
        titles = enumerate(header.split("\t"))
        columns = (known.get(title) or Column(f"\t{number}") for number, title in titles)
        # A line must have all cells of its header.
        return Table(tuple(replace(column, optional=False) for column in columns), code="LSF503")

    def header_problem(self, header: str) -> Problem | None:
        """The problem with the columns of a header: one is missing, or there twice."""
        titles = header.split("\t")
        required = (column.title for column in self.columns if not column.optional)
        if missing := [title for title in required if title not in titles]:
            values = {"table": self.name, "missing": ", ".join(missing)}
            return Problem("LSF502", 1, 0, len(header), values)
        for column in self.columns:
            if titles.count(column.title) > 1:
                end = f"\t{header}\t".rindex(f"\t{column.title}\t") + len(column.title)
                start = end - len(column.title)
                return Problem("LSF514", 1, start, end, {"column": column.title})
        return None


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of tables by the names of their folders."""
    tables = vocabulary(SCHEMA)
    listed = {}
    for name, kind in tables["kinds"].items():
        forms = {**tables["columns"], **tables.get(name, {})}
        columns = tuple(_column(heading, forms) for heading in kind["columns"])
        unusual = tuple(kind["unusual"])
        listed[name] = Kind(name, kind["suffix"], kind["own_column"], columns, unusual)
    return listed


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
#: How the names of tables end in distributions of LDC.
_PATHS = (".needs.tab", ".issues.tab", ".sentiment.tab", ".entity.tab")


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The tables of each document by its name: the name of the file up to its first dot."""
    named: dict[str, list[Member]] = {}
    for member in tables(source):
        named.setdefault(qualify(member, member.basename.partition(".")[0]), []).append(member)
    return {name: tuple(named[name]) for name in sorted(named)}


def qualify(member: Member, name: str) -> str:
    """The name of a document of a file: its own, after the folder if the file is qualified.

    The folder is the one that holds those of the annotation.

    Examples:
        >>> qualify(Member("a/needs/d1.needs.tab", "", 0, bytes, qualified=True), "d1")
        'a/d1'
    """
    home = member.name.rpartition("/")[0]
    if folder_of(member) in kinds():
        home = home.rpartition("/")[0]
    if not member.qualified or not home or name.startswith(f"{home}/"):
        return name
    return f"{home}/{name}"


def tables(source: Source) -> tuple[Member, ...]:
    """The files in folders of the annotation; where there are none, all that end in .tab.

    In these folders, a table is one by its header too.
    """
    if source.kind in {"file", "stdin"}:
        return source.members
    inside = [member for member in source.members if folder_of(member) in kinds()]
    listed = [member for member in inside or source.members if member.basename.endswith(SUFFIX)]
    listed += [
        member
        for member in inside
        if not member.basename.endswith(SUFFIX)
        and member.basename.lower().endswith(_SIMILAR)
        and _has_header(member)
    ]
    return tuple(sorted(listed, key=attrgetter("name")))


def _has_header(member: Member) -> bool:
    """Whether a file begins with the header of a kind of table."""
    return kind_of_header(beginning(member).partition("\n")[0].rstrip("\r")) is not None


def folder_of(member: Member) -> str:
    """The name of the folder that a file is in; empty for a file in no folder."""
    return member.name.rpartition("/")[0].rpartition("/")[2]


def sniff(source: Source) -> bool:
    """Whether one of the first tables has the header of a kind, or the folder and suffix of one."""
    return any(member.name.endswith(_PATHS) or _has_header(member) for member in tables(source)[:3])


class Files(FileBatch):
    """The files of a batch of documents, in groups of one header.

    Attributes:
        groups: the groups by kind and header.
        header_only: row of `sources`, kind and document of each file without lines.
    """

    def __init__(self, path: str, form: str) -> None:
        super().__init__(path, form)
        self.groups: dict[tuple[str, str], JoinedTables] = {}
        self.header_only: list[tuple[int, str, str]] = []

    def take(self, name: str, member: Member) -> None:
        """Read a file of a document."""
        folder, display = folder_of(member), member.display
        if not member.basename.endswith(SUFFIX) and folder in kinds():
            proper = f"{member.basename[:-4]}{SUFFIX}"
            self.findings.append(finding("LSF513", file=display, table=folder, name=proper))
            return
        self.add(name, member)
        if not self.texts:
            return
        origin, _, text = self.texts.pop()
        header, _, body = text.partition("\n")
        header = header.rstrip("\r")
        kind = kind_of_header(header)
        if not text.strip() and folder in kinds():
            self.header_only.append((origin, folder, name))
        elif kind is None:
            titles = " ".join(kinds().get(folder, kinds()[NEEDS]).headings)
            table = folder if folder in kinds() else "annotation"
            problem = Problem("LSF501", 1, 0, len(header), {"table": table, "header": titles})
            empty = finding("LSF501", file=display, table=table, header=titles)
            self.findings.append(problem.in_line(display, header) if header else empty)
        elif (key := (kind.name, header)) not in self.groups and (
            odd := kind.header_problem(header)
        ):
            self.findings.append(odd.in_line(display, header))
        else:
            if key not in self.groups:
                self.groups[key] = JoinedTables(kind.table(header))
            self.groups[key].add(origin, member, body)
            if not body.strip():
                self.header_only.append((origin, kind.name, name))

    def qualify_names(self, documents: pl.DataFrame) -> pl.DataFrame:
        """Rows whose documents have their folder in their names where files are qualified by it."""
        if not any(member.qualified for member in self.members):
            return documents
        own = documents.select("origin", "name").iter_rows()
        names = [qualify(self.members[origin], name) for origin, name in own]
        return documents.with_columns(name=pl.Series(names, dtype=pl.String))

    def of_kind(self, name: str) -> Sequence[JoinedTables]:
        """The groups of a kind."""
        return [group for (kind, _), group in self.groups.items() if kind == name]
