"""The check of a saved corpus, or of one in memory, once on loading.

Rows that cannot be kept are rejected: those with a value that is missing, with the key of an
earlier row, or with a reference that leads to no row, or to one of another document. What refers
to a rejected row is rejected with it, without a problem of its own. What is only odd is kept and
reported: offsets outside of a text, names that no file can have, and records that could not be read
when the corpus was made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.toolkit.source_files import unique_name
from hlteval.representation import FRAGMENTS, TABLES, Corpus, Table
from hlteval.representation.corpus import complete, inside_documents, of_other_document
from hlteval.sources import is_file_path
from hlteval.sources.names import printable

# Problems of the rows of a corpus, in groups of one kind, which are described when they are shown.
#
# Any number of rows may have a problem, and only some of them are explained.


_SHOWN = 60


@dataclass(frozen=True)
class DefectGroup:
    """Rows of a table with the same problem.

    Attributes:
        code: of the catalogue.
        table: the table of the rows.
        column: the column with the problem.
        ordinals: 0-based ordinals of the rows in the table as it was read.
        facts: a row of values for each, of which its description is made.
        describe: the values of the templates of the code, from a row of facts.
    """

    code: str
    table: str
    column: str
    ordinals: pl.Series
    facts: pl.DataFrame
    describe: Callable[..., Mapping[str, object]]

    def values(self, at: int) -> Mapping[str, object]:
        """The values of the templates of the code, for a row of the group."""
        described = self.describe(*self.facts.row(at))
        return {"table": self.table, "column": self.column, **described}


class Defect(NamedTuple):
    """A problem of a row.

    Attributes:
        group: what problem it is, and of which rows.
        at: 0-based index in the group.
        ordinal: 0-based ordinal of the row in the table as it was read.
    """

    group: DefectGroup
    at: int
    ordinal: int

    @property
    def code(self) -> str:
        """The code of the catalogue."""
        return self.group.code

    @property
    def table(self) -> str:
        """The table of the row."""
        return self.group.table

    @property
    def column(self) -> str:
        """The column with the problem."""
        return self.group.column

    @property
    def values(self) -> Mapping[str, object]:
        """The values of the templates of the code."""
        return self.group.values(self.at)


def in_order(groups: Sequence[DefectGroup], tables: Sequence[str]) -> Iterator[Defect]:
    """The problems of all groups by table, row and code.

    Args:
        groups: the groups.
        tables: the tables in order.
    """
    parts = [
        pl.select(
            group=pl.lit(number, pl.UInt32),
            at=pl.int_range(len(group.ordinals), dtype=pl.UInt32),
            ordinal=group.ordinals.cast(pl.UInt32),
            table=pl.lit(tables.index(group.table), pl.UInt32),
            code=pl.lit(group.code),
        )
        for number, group in enumerate(groups)
    ]
    if not parts:
        return iter(())
    rows = pl.concat(parts).sort("table", "ordinal", "code", maintain_order=True)

    def defect(group: int, at: int, ordinal: int) -> Defect:
        return Defect(groups[group], at, ordinal)

    return starmap(defect, _rows(rows.select("group", "at", "ordinal")))


def _rows(rows: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    return rows.iter_rows(buffer_size=10_000)


def bad_value(table: str, column: str, value: object) -> dict[str, object]:
    """The value that a row cannot have."""
    what = "incomplete or out of range"
    if value is None or isinstance(value, float | int):
        what = "missing" if value is None else f"{value}"
    limits = ", out of range" if isinstance(value, int) else ""
    return {"reason": f"{table}.{column} is {what}{limits}"}


def bad_reference(target: str, key: int) -> dict[str, object]:
    """The row that a reference does not lead to."""
    return {"key": key, "target": target}


def renaming(name: str, first: int | None, new: str) -> dict[str, object]:
    """The name that a document cannot have, why, and its new one."""
    problem = " is empty" if first is None else f" is already in row {first}"
    return {"name": _shown(name), "problem": problem, "new": new}


def odd_name(name: str) -> dict[str, object]:
    """The name that no file can have."""
    return {"name": _shown(name)}


def outside_text(
    item: str, start: float, end: float, document: str, length: int | None
) -> dict[str, object]:
    """The offsets of an item outside of the text of its document."""
    limit = "" if length is None else f", which has {length:,} characters"
    place = {"start": start, "end": end, "document": _shown(document), "limit": limit}
    return {"item": item, **place}


def unread_record(kind: str, name: str | None, code: str, text: str) -> dict[str, object]:
    """The record that could not be read when the corpus was made."""
    return {"kind": _shown(kind), "id": _shown(name or text), "original": _shown(code)}


def _shown(text: str) -> str:
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\u2026")


ROW, REPEATED, DANGLING, NAME = "COR103", "COR104", "COR105", "COR106"
OFFSETS, FILE_NAME, UNREAD, FOREIGN = "COR107", "COR108", "COR109", "COR110"
#: The codes of the problems for which a row is rejected.
REJECTING = (ROW, REPEATED, DANGLING, FOREIGN)

_AT = "_at"
_TABLE = re.compile(r'"table"\s*:\s*"(\w{1,40})"')
_ROW = re.compile(r'"row"\s*:\s*(-?[0-9]{1,18})\b')
_SPANS = ("segments", "tokens", "mentions")
_SPAN = (_AT, "document", "start", "end", "fragments")
_OFFSETS = ("start", "end", "at", "length")
#: Spans that are compared with their texts at once.
_SLICE = 100_000


class BadLines(NamedTuple):
    r"""Lines that are not rows.

    Attributes:
        numbers: their numbers.
        texts: the beginning of each.

    Examples:
        >>> BadLines([7], ['{"table":"documents","row":3}']).rows("documents")
        [3]
    """

    numbers: Sequence[int] = ()
    texts: Sequence[str] = ()

    def rows(self, table: str) -> list[int]:
        """The keys of the rows of a table that the lines were to be, as far as they are known."""
        found = ((_TABLE.search(text), _ROW.search(text)) for text in dict.fromkeys(self.texts))
        return [int(row[1]) for name, row in found if name and row and name[1] == table]


class Checked(NamedTuple):
    """What is kept of a corpus.

    Attributes:
        corpus: its keys are unique, its references lead to rows, its documents have different
            names; `rejected_records` has the rows that were rejected.
        groups: what is wrong.
    """

    corpus: Corpus
    groups: tuple[DefectGroup, ...]

    @property
    def defects(self) -> Iterator[Defect]:
        """What is wrong, in the order of tables and rows."""
        return in_order(self.groups, [*TABLES])


def checked(
    tables: Mapping[str, pl.DataFrame], display: str = "", lines: BadLines | None = None
) -> Checked:
    """What can be kept of tables, and what is wrong with them.

    Args:
        tables: some tables of a corpus, with columns of the declared types.
        display: the file, for rejected rows where the corpus names no source.
        lines: the lines that are not rows, which are rejected too.

    Examples:
        >>> documents = pl.DataFrame({"row": [0, 0], "name": ["d1", "d2"]})
        >>> found = checked({"documents": documents})
        >>> found.corpus.documents["name"].to_list(), [defect.code for defect in found.defects]
        (['d1'], ['COR104'])
    """
    return _Check(tables, lines or BadLines()).result(display)


class _Check:
    """The tables that are kept, with the index of each row as it was read."""

    def __init__(self, tables: Mapping[str, pl.DataFrame], lines: BadLines) -> None:
        self.lines = lines
        self.given = {
            name: complete(table, tables.get(name, table.empty())).with_row_index(_AT)
            for name, table in TABLES.items()
        }
        self.kept: dict[str, pl.DataFrame] = {}
        self.groups: list[DefectGroup] = []
        self.rejected: list[tuple[str, str, pl.DataFrame]] = []
        """The rejected rows: table, code and rows."""

    def result(self, display: str) -> Checked:
        for name, table in TABLES.items():
            self.take(table, self.given[name])
        self.kept["documents"] = self.named(self.kept["documents"])
        for name in _SPANS:
            self.offsets(name)
        self.unread()
        tables = {name: rows.drop(_AT) for name, rows in self.kept.items()}
        if self.rejected or self.lines.numbers:
            tables |= self.with_rejected(tables, display)
        return Checked(Corpus(**tables), tuple(self.groups))

    def take(self, table: Table, rows: pl.DataFrame) -> None:
        """Keep the rows of a table that can be kept."""
        if rows.is_empty():
            self.kept[table.name] = rows
            return
        rows = self.valid(table, rows)
        rows = self.unrepeated(table.name, rows)
        optional = {column.name for column in table.columns if column.nullable}
        for column, target in table.references:
            rows = self.referring(table.name, rows, column, target, optional=column in optional)
        for column, target in inside_documents(table):
            rows = self.inside(table.name, rows, column, target, optional=column in optional)
        self.kept[table.name] = rows

    def valid(self, table: Table, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows whose values are all there and are numbers where they have to be."""
        for column in table.columns:
            values = rows[column.name]
            if _is_sound(values, nullable=column.nullable):
                continue
            wrong = _invalid(values, nullable=column.nullable)
            if wrong.any():
                bad, reason = rows.filter(wrong), partial(bad_value, table.name, column.name)
                self.report(ROW, table.name, column.name, bad, [column.name], reason)
                self.reject(table.name, ROW, bad)
                rows = rows.filter(~wrong)
        return rows

    def unrepeated(self, name: str, rows: pl.DataFrame) -> pl.DataFrame:
        """The first row of each key."""
        if _is_increasing(rows["row"]):
            return rows
        first = rows["row"].is_first_distinct()
        repeated = rows.filter(~first)
        self.report(REPEATED, name, "row", repeated, ["row"], lambda key: {"key": key})
        self.reject(name, REPEATED, repeated)
        return rows.filter(first)

    def referring(
        self, name: str, rows: pl.DataFrame, column: str, target: str, *, optional: bool
    ) -> pl.DataFrame:
        """The rows of which a column refers to rows that are kept."""
        known, given = self.kept[target]["row"], self.given[target]["row"]
        leads = rows[column].is_in(known.implode()) | rows[column].is_null()
        if leads.all():
            return rows
        unread = self.lines.rows(target)
        rejected = pl.concat([given.drop_nulls(), pl.Series("row", unread, dtype=pl.Int64)])
        follows = rows[column].is_in(rejected.implode())  # its row is rejected itself
        dangling, refers = rows.filter(~leads & ~follows), partial(bad_reference, target)
        self.report(DANGLING, name, column, dangling, [column], refers)
        if optional:
            return rows.with_columns(pl.when(leads).then(pl.col(column)).alias(column))
        self.reject(name, DANGLING, rows.filter(~leads))
        return rows.filter(leads)

    def inside(
        self, name: str, rows: pl.DataFrame, column: str, target: str, *, optional: bool
    ) -> pl.DataFrame:
        """The rows of which a column refers to rows of their own document."""
        foreign = of_other_document(rows, column, self.kept[target])
        if not foreign.any():
            return rows
        refers = partial(bad_reference, target)
        self.report(FOREIGN, name, column, rows.filter(foreign), [column], refers)
        if optional:
            return rows.with_columns(pl.when(~foreign).then(pl.col(column)).alias(column))
        self.reject(name, FOREIGN, rows.filter(foreign))
        return rows.filter(~foreign)

    def named(self, documents: pl.DataFrame) -> pl.DataFrame:
        """The documents under names that are not empty, and no earlier document has."""
        names: dict[str, int] = {}
        first: dict[str, int] = {}
        new: list[str] = []
        odd: list[tuple[int, str, int | None, str | None]] = []
        for index, row, name in documents.select(_AT, "row", "name").iter_rows():
            unique = unique_name((name.strip() and name) or "unnamed", names)
            new.append(unique)
            if unique != name:
                odd.append((index, name, first.get(name), unique))
            elif not is_file_path(name) or printable(name) != name:
                odd.append((index, name, None, None))
            first.setdefault(unique, row)
        columns = {_AT: pl.Int64, "name": pl.String, "first": pl.Int64, "new": pl.String}
        rows = pl.DataFrame(odd, schema=columns, orient="row")
        renamed = pl.col("new").is_not_null()
        given = ["name", "first", "new"]
        self.report(NAME, "documents", "name", rows.filter(renamed), given, renaming)
        self.report(FILE_NAME, "documents", "name", rows.filter(~renamed), ["name"], odd_name)
        return documents.with_columns(name=pl.Series(new, dtype=pl.String))

    def offsets(self, name: str) -> None:
        """Report the spans that are not inside the text of their document."""
        if self.kept[name].is_empty():
            return
        length = pl.col("text").str.len_chars().cast(pl.Int64)
        texts = self.kept["documents"].select(document="row", _name="name", _length=length)
        rows = self.kept[name]
        spans = rows.select(column for column in _SPAN if column in rows.columns)
        outside = pl.concat(_outside(part, texts) for part in spans.iter_slices(_SLICE))
        facts = ["start", "end", "_name", "_length"]
        describe = partial(outside_text, name.removesuffix("s"))
        self.report(OFFSETS, name, "start", outside, facts, describe)

    def unread(self) -> None:
        """Report the records that could not be read when the corpus was made."""
        rows, columns = self.kept["rejected_records"], ["kind", "id", "code", "text"]
        self.report(UNREAD, "rejected_records", "text", rows, columns, unread_record)

    def report(
        self,
        code: str,
        table: str,
        column: str,
        rows: pl.DataFrame,
        facts: list[str],
        describe: Callable[..., Mapping[str, object]],
    ) -> None:
        """Add the problem of some rows.

        Args:
            code: of the catalogue.
            table: the table of the rows.
            column: the column with the problem.
            rows: the rows, with their ordinals.
            facts: the columns of which the values of a description are made.
            describe: makes them.
        """
        if rows.height:
            known = rows.select(facts)
            self.groups.append(DefectGroup(code, table, column, rows[_AT], known, describe))

    def reject(self, name: str, code: str, rows: pl.DataFrame) -> None:
        """Note rows that are not kept."""
        if rows.height:
            self.rejected.append((name, code, rows))

    def with_rejected(
        self, tables: Mapping[str, pl.DataFrame], display: str
    ) -> dict[str, pl.DataFrame]:
        """The rejected rows among `rejected_records`, and the source that they need."""
        records, sources = tables["rejected_records"], tables["sources"]
        if sources.is_empty():
            own = {"row": 0, "path": display, "member": display, "format": "", "sha256": ""}
            sources = Corpus(sources=[own]).sources
        last = records["row"].max()
        first = int(last) + 1 if isinstance(last, int) and last < _HIGHEST else 0
        if not records.is_empty() and first == 0:
            records = records.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
            first = records.height
        lines = self.bad_lines(sources["row"][0], first)
        found = self.records(sources["row"], tables["documents"]["row"], first + lines.height)
        files = {"sources": sources, "documents": tables["documents"]}
        made = (Corpus(**files, rejected_records=rows).rejected_records for rows in (lines, *found))
        return {"sources": sources, "rejected_records": pl.concat([records, *made])}

    def bad_lines(self, origin: int, first: int) -> pl.DataFrame:
        """The lines that are not rows as rows of `rejected_records`, with keys from a first one."""
        columns = {"record": self.lines.numbers, "text": self.lines.texts}
        schema = {name: TABLES["rejected_records"].schema[name] for name in columns}
        return pl.DataFrame(columns, schema=schema).with_columns(
            row=pl.int_range(first, first + pl.len(), dtype=pl.Int64),
            origin=pl.lit(origin, pl.Int64),
            end_column=pl.col("text").str.len_chars().cast(pl.Int64) + 1,
            code=pl.lit(ROW),
            kind=pl.lit("row"),
            column=pl.lit(1, pl.Int64),
            expected=pl.lit("a row of a table"),
        )

    def records(
        self, origins: pl.Series, documents: pl.Series, first: int
    ) -> Iterator[pl.DataFrame]:
        """The rejected rows of tables as rows of `rejected_records`, with keys from a first one."""
        document, origin = pl.col("document"), pl.col("origin")
        for name, code, rows in self.rejected:
            own = rows.drop(_AT)
            text = own.select(pl.struct(pl.all()).struct.json_encode()).to_series()
            absent = [column for column in _PLACED if column not in own.columns]
            placed = own.with_columns(pl.lit(None, pl.Int64).alias(column) for column in absent)
            yield placed.select(
                row=pl.int_range(first, first + pl.len(), dtype=pl.Int64),
                document=pl.when(document.is_in(documents.implode())).then(document),
                origin=pl.when(origin.is_in(origins.implode())).then(origin).otherwise(origins[0]),
                record=pl.col("record").fill_null(0),
                code=pl.lit(code),
                kind=pl.lit(name),
                text=text,
                column=pl.lit(1, pl.Int64),
                end_column=text.str.len_chars().cast(pl.Int64) + 1,
                expected=pl.lit("a row of a table"),
            )
            first += rows.height


#: The columns of a row that say where it is from.
_PLACED = ("document", "origin", "record")
#: Keys beyond this are renumbered before others follow them; distances of offsets need as much.
_HIGHEST = 2**62
#: Seconds or characters: no stream is longer, and its units can be counted.
_LONGEST = 1e15


def _is_increasing(keys: pl.Series) -> bool:
    """Whether each key is higher than the one before, so that none is repeated."""
    return keys.is_sorted() and not (keys.diff() == 0).any()


def _is_sound(values: pl.Series, *, nullable: bool) -> bool:
    """Whether nothing can be wrong with values: their number of nulls costs no query."""
    missing = values.null_count()
    if missing == len(values):
        return nullable
    if values.name in _OFFSETS:
        return not missing and not _is_far(values).any()
    return (nullable or not missing) and values.dtype not in {pl.Float64, FRAGMENTS}


def _outside(spans: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """The spans that are not inside the text of their document, with its name and length.

    Args:
        spans: with the columns `document`, `start`, `end`, and `fragments` if they have any.
        texts: `document`, `_name` and `_length` of each document.
    """
    rows = spans.join(texts, on="document", how="left", maintain_order="left")
    start, end = pl.col("start"), pl.col("end")
    fits = (start >= 0) & (start <= end) & (end <= pl.col("_length").fill_null(end))
    if "fragments" in rows.columns:
        part = pl.element().struct
        low, high = part.field("start"), part.field("end")
        inside = pl.col("fragments").list.eval((low >= 0) & (low <= high)).list.all()
        last = pl.col("fragments").list.eval(high).list.max()
        inside &= (last <= pl.col("_length").fill_null(last)).fill_null(value=True)
        fits &= inside.fill_null(value=True)
    return rows.filter(~fits)


def _is_far(values: pl.Series) -> pl.Series:
    """Which places are too far from any text or stream to be computed with."""
    most = _LONGEST if values.dtype == pl.Float64 else _HIGHEST
    return (values >= most) | (values <= -most)


def _invalid(values: pl.Series, *, nullable: bool) -> pl.Series:
    """Which values are missing, have a missing part, or are not numbers or out of range."""
    wrong = pl.repeat(value=False, n=len(values), eager=True) if nullable else values.is_null()
    if values.name in _OFFSETS:
        return wrong | _is_far(values).fill_null(value=False)
    if values.dtype == pl.Float64:
        return wrong | ~values.is_finite().fill_null(value=True)
    if values.dtype == FRAGMENTS:
        part = pl.element().struct
        low, high = part.field("start"), part.field("end")
        bad = low.is_null() | high.is_null() | (low <= -_HIGHEST) | (high >= _HIGHEST)
        bad |= (low >= _HIGHEST) | (high <= -_HIGHEST)
        found = values.to_frame("x").select(pl.col("x").list.eval(bad).list.any()).to_series()
        return wrong | found.fill_null(value=False)
    return wrong
