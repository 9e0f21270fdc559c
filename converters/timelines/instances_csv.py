r"""Instances, ratings and changes of all documents as comma-separated values.

Format:
    RFC 4180: a header, then a row per instance, rating or change. The columns `document` and `kind`
    must be there, and any of `label`, `start`, `end`, `status`, `llr`, `region`, `several`,
    `annotator`, `level`, `bin`, `direction`, `strength` and `evidence`, in any order.

Conventions:
    The kind is `norm` or `emotion` for an instance, `valence` or `arousal` for a rating, `change`
    for a change, which is at its start. Places are as in the tables: seconds, or characters of
    text. An empty cell has no value. A record is a row, at the line where it begins. `file_id` is
    another name of the column `document`; other columns are not read.

Example lines:
    document,kind,label,start,end,status,llr
    M01,norm,101,45.2,60.2,"adhere,violate",1.5

Codes raised: TLN101, TLN6xx.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines.notation import (
    CHANGE,
    INSTANCES,
    NUMBER,
    RATINGS,
    count_silent,
    is_number,
)
from hlteval.converters.toolkit.rows import keyed
from hlteval.converters.toolkit.source_files import File, head, locate_lines, read_files
from hlteval.findings import FieldRef, Finding, Location, Problem, line_findings
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, Table, shorten

COLUMNS = (
    *("document", "kind", "label", "start", "end", "status", "llr", "region", "several"),
    *("annotator", "level", "bin", "direction", "strength", "evidence"),
)
_NEEDED = ("document", "kind")
_ALSO = {"file_id": "document"}
_NUMBERS = ("start", "end", "llr", "level")
_TABLES = {
    **dict.fromkeys(INSTANCES, "instances"),
    **dict.fromkeys(RATINGS, "ratings"),
    CHANGE: "changes",
}
#: The columns of each table that are written.
_OF = {
    "instances": COLUMNS[1:10],
    "ratings": ("kind", "level", "bin", "start", "end", "region", "annotator"),
    "changes": ("at", "llr", "direction", "strength", "evidence", "annotator"),
}
#: What a rejected row does not say.
_UNKNOWN = {"document": None, "origin": 0, "id": None, "label": None}
_FILLED = {
    **{table: ("document", "origin", "record", *columns) for table, columns in _OF.items()},
    "rejected_records": (*_UNKNOWN, *Problem("", 0, 0, 0).rejection("", "")),
}
#: The columns of each table that are read, in its order.
_ORDER = {
    table: [column for column in TABLES[table].schema if column in columns]
    for table, columns in _FILLED.items()
}
#: The columns as a table, for mistakes in all rows.
_TABLE = Table(
    tuple(
        Column(
            name,
            "number" if name in _NUMBERS else "text",
            pattern={
                **dict.fromkeys(_NUMBERS, f" *{NUMBER} *"),
                "kind": "|".join(_TABLES),
                "document": "(?s).+",
                "several": "true|false",
            }.get(name, ""),
            nullable=name not in _NEEDED,
            optional=name not in _NEEDED,
        )
        for name in COLUMNS
    ),
    header="required",
    any_order=True,
    ragged=True,
    separator=",",
    ascending=("start", "end"),
)
_CELL = re.compile(r'"(?:[^"]|"")*"|[^,]*')


class Row(NamedTuple):
    """A row: the line where it begins, its cells, and its first line as written."""

    record: int
    cells: Sequence[str]
    line: str

    def problem(self, code: str, at: int | None = None, **values: object) -> Problem:
        """A problem with the row, or with one of its cells."""
        start, end = (0, len(self.line)) if at is None else _span(self.line, at)
        return Problem(code, self.record, start, end, values)


def _span(line: str, at: int) -> tuple[int, int]:
    """Where a cell is in the first line of a row; a cell on a later line is at its end.

    Examples:
        >>> _span('M01,"a,""b",3', 2)
        (12, 13)
    """
    start = 0
    for _ in range(at):
        start = min(_end(line, start) + 1, len(line))
    return start, _end(line, start)


def _end(line: str, start: int) -> int:
    found = _CELL.match(line, start)
    return found.end() if found else len(line)


def sniff(source: Source) -> bool:
    """Whether it is a single file whose header names a document, a kind and a start."""
    titles = {title.strip(' "\r') for title in head(source).partition("\n")[0].split(",")}
    named = bool(titles & {"document", "file_id"}) + ("kind" in titles)
    return named > 0 and named + bool(titles & {"start", "label", "level"}) > 1


def tabular(_: Member, first: str) -> Sequence[Table]:
    """The table, whose first column may be called `file_id`."""
    named, *others = _TABLE.columns
    own = replace(named, heading=next((title for title in _ALSO if title in first), ""))
    return (replace(_TABLE, columns=(own, *others)),)


def read(source: Source) -> Iterator[ReadResult]:
    """The instances, ratings and changes, a batch for each file."""
    return read_files(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    lines = (file.text or "").split("\n")
    rows = _Rows()
    # Problems are explained or counted at once: there may be one for each of a million lines.
    problems = rows.take(lines) if file.text is not None else ()
    findings = line_findings(problems, lines, file.member.display, file.member.max_per_code)
    return Corpus(sources=[file.origin], **rows.tables()), findings


class _Rows:
    """The rows of a file, by table."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        self.documents: dict[str, int] = {}

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables of the corpus."""
        names = [(0, name) for name in self.documents]
        found = {"documents": keyed("documents", names, ("origin", "name"))}
        for table, rows in self.rows.items():
            found[table] = keyed(table, rows, _ORDER[table])
        return found

    def keep(self, table: str, row: Mapping[str, Any]) -> None:
        """Add a row to a table: a tuple, since a dictionary takes several times the memory."""
        cells = tuple(row[column] for column in _ORDER[table])
        self.rows.setdefault(table, []).append(cells)

    def take(self, lines: Sequence[str]) -> Iterator[Problem]:
        """Add the rows of a file; what is wrong with them."""
        reader = csv.reader((f"{line}\n" for line in lines), strict=True)
        header: list[str] | None = None
        record = 1
        try:
            for cells in reader:
                row = Row(record, cells, lines[record - 1].removesuffix("\r"))
                record = reader.line_num + 1
                if header is None:
                    header = [_ALSO.get(cell.strip(), cell.strip()) for cell in cells]
                    yield from (wrong := list(_header(row, header)))
                    if any(problem.code == "TLN601" for problem in wrong):
                        return
                elif cells:
                    yield from self.add(row, header)
        except csv.Error as error:
            record = min(record, len(lines))
            row = Row(record, (), lines[record - 1].removesuffix("\r"))
            yield row.problem("TLN606", reason=str(error))
            return
        if header is None:
            yield Row(1, (), lines[0]).problem("TLN601", missing=", ".join(_NEEDED))

    def add(self, row: Row, header: Sequence[str]) -> Iterator[Problem]:
        """Add a row; what is wrong with it."""
        problems = list(_problems(row, header))
        yield from problems
        if problems:
            rejected = problems[0].rejection("instance", row.line)
            self.keep("rejected_records", {**_UNKNOWN, **rejected})
            return
        cells = dict(zip(header, row.cells, strict=True))
        values = {name: _value(name, cells.get(name, "")) for name in COLUMNS}
        values["at"] = values["start"]
        table = _TABLES[cells["kind"].strip()]
        document = self.documents.setdefault(cells["document"], len(self.documents))
        placed = {"document": document, "origin": 0, "record": row.record}
        self.keep(table, {**values, **placed})


def _header(row: Row, header: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with the header."""
    missing = [name for name in _NEEDED if name not in header]
    repeated = [name for name in COLUMNS if header.count(name) > 1]
    if missing or repeated:
        yield row.problem("TLN601", missing=", ".join(missing or repeated))
        return
    for at, name in enumerate(header):
        if name not in COLUMNS:
            yield row.problem("TLN603", at, column=shorten(name, 40) or "(empty)")


def _problems(row: Row, header: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with the cells of a row."""
    if len(row.cells) != len(header):
        yield row.problem("TLN602", given=len(row.cells), wanted=len(header))
        return
    cells = dict(zip(header, row.cells, strict=True))
    kind = cells["kind"].strip()
    for at, (name, cell) in enumerate(zip(header, row.cells, strict=True)):
        if name in _NUMBERS and cell and not re.fullmatch(f" *{NUMBER} *", cell):
            yield row.problem("TLN604", at, given=shorten(cell, 40), expected="a number")
        elif name == "several" and cell not in {"", "true", "false"}:
            yield row.problem("TLN604", at, given=shorten(cell, 40), expected="true or false")
        elif name == "document" and not cell:
            yield row.problem("TLN604", at, given="nothing", expected="the name of a document")
        elif name == "kind" and kind not in _TABLES:
            yield row.problem("TLN605", at, given=shorten(cell, 40) or "nothing")
    if kind in INSTANCES and not cells.get("label"):
        yield row.problem("TLN101", header.index("label") if "label" in header else None)


def _value(name: str, cell: str) -> str | float | bool | None:
    if not cell:
        return None
    if name in _NUMBERS:
        return float(cell)
    return cell.strip() if name == "kind" else cell == "true" if name == "several" else cell


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of a file; a record is a line."""
    titles = [_ALSO.get(title.strip(' "'), title.strip(' "')) for title in _first(member)]

    def stretch(line: str, field: str) -> tuple[int, int]:
        wanted = "start" if field == "at" else field
        return _span(line, titles.index(wanted)) if wanted in titles else (0, len(line))

    return locate_lines(member, places, stretch)


def _first(member: Member) -> Sequence[str]:
    begin = member.fetch()[:4000].decode("utf-8", "replace").removeprefix("\ufeff")
    return begin.partition("\n")[0].removesuffix("\r").split(",")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the rows of all documents: instances, ratings, then changes of a batch."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for corpus in corpora:
            for table in _OF:
                writer.writerows(_cells(corpus, table).iter_rows())


def _cells(corpus: Corpus, table: str) -> pl.DataFrame:
    """The rows of a table that cells can represent, as cells."""
    frame: pl.DataFrame = getattr(corpus, table)
    names = corpus.documents.select(document="row", _name="name")
    rows = frame.join(names, on="document", maintain_order="left").filter(_fits(table))
    if table == "changes":
        rows = rows.with_columns(kind=pl.lit(CHANGE), start="at")
    own = {*_OF[table], *(("kind", "start") if table == "changes" else ())} - {"at"}
    cells = (
        pl.col(name).cast(pl.String) if name in own else pl.lit(None, pl.String).alias(name)
        for name in COLUMNS[1:]
    )
    return rows.select(pl.col("_name").alias("document"), *cells)


def _fits(table: str) -> pl.Expr:
    """Whether cells can represent a row."""
    names = [name for name in _OF[table] if name not in {"several", "at"}]
    numbers = [name for name in names if name in _NUMBERS]
    texts = [name for name in names if name not in {*numbers, "kind"}]
    filled = ((pl.col(name) != "") & ~_broken(name) for name in (*texts, "_name"))
    conditions = [each.fill_null(value=True) for each in filled]
    conditions += [is_number(name) for name in (*numbers, *(["at"] if table == "changes" else []))]
    kinds = [kind for kind, of in _TABLES.items() if of == table]
    conditions += [] if table == "changes" else [pl.col("kind").is_in(kinds)]
    return pl.all_horizontal(conditions)


def _broken(column: str) -> pl.Expr:
    """Whether a text has a null character, or a carriage return, which not all readers keep."""
    return pl.col(column).str.contains("[\0\r]")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what rows cannot represent."""
    counts = {
        f"{table} that do not fit a row": getattr(corpus, table).height
        - _cells(corpus, table).height
        for table in _OF
    }
    return {**counts, **count_silent(corpus, *_OF)}


FORMAT = declaration(__name__)
