"""The check of a saved corpus, or of one in memory, once on loading.

Rows that cannot be kept are rejected: those with a value that is missing, with the key of an
earlier row, or with a reference that leads to no row, or to one of another document. What refers
to a rejected row is rejected with it, without a problem of its own. What is only odd is kept and
reported: offsets outside of a text, names that no file can have, and records that could not be read
when the corpus was made.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.converters.toolkit.source_files import unique_name
from hlteval.representation import FRAGMENTS, TABLES, Corpus, Table
from hlteval.representation.corpus import complete, inside_documents, of_other_document
from hlteval.sources import is_file_path
from hlteval.sources.names import printable

ROW, REPEATED, DANGLING, NAME = "COR103", "COR104", "COR105", "COR106"
OFFSETS, FILE_NAME, UNREAD, FOREIGN = "COR107", "COR108", "COR109", "COR110"
#: Characters of a text that a message has.
_SHOWN = 60
#: The ordinal of a row in the table as it was read.
_AT = "_at"
_TABLE = re.compile(r'"table"\s*:\s*"(\w{1,40})"')
_ROW = re.compile(r'"row"\s*:\s*(-?[0-9]{1,18})\b')
_SPANS = ("segments", "tokens", "mentions")
_SPAN = (_AT, "document", "start", "end", "fragments")
_OFFSETS = ("start", "end", "at", "length")
#: The columns of a row that say where it is from.
_PLACED = ("document", "origin", "record")
#: Spans that are compared with their texts at once.
_SLICE = 100_000
#: Keys beyond this are renumbered before others follow them; distances of offsets need as much.
_HIGHEST = 2**62
#: Seconds or characters: no stream is longer, and its units can be counted.
_LONGEST = 1e15


class Defects(NamedTuple):
    """Rows of a table with the same problem, of which only those that are shown are explained.

    Attributes:
        code: of the catalogue.
        table: the table of the rows.
        column: the column with the problem.
        ordinals: 0-based ordinals of the rows in the table as it was read.
        facts: a row of values for each, of which its message is made.
    """

    code: str
    table: str
    column: str
    ordinals: pl.Series
    facts: pl.DataFrame

    def values(self, index: int) -> Mapping[str, object]:
        """The values of the templates of the code, for one of the rows."""
        facts = self.facts.row(index)
        values: dict[str, object] = {"table": self.table, "column": self.column}
        match self.code:
            case "COR103":
                what = "incomplete or out of range"
                if facts[0] is None or isinstance(facts[0], float | int):
                    what = "missing" if facts[0] is None else f"{facts[0]}"
                limits = ", out of range" if isinstance(facts[0], int) else ""
                values["reason"] = f"{self.table}.{self.column} is {what}{limits}"
            case "COR106":
                name, first, new = facts
                problem = " is empty" if first is None else f" is already in row {first}"
                values |= {"name": _begin(name), "problem": problem, "new": new}
            case "COR107":
                start, end, name, length = facts
                limit = "" if length is None else f", which has {length:,} characters"
                place = {"start": start, "end": end, "document": _begin(name), "limit": limit}
                values |= {"item": self.table.removesuffix("s"), **place}
            case "COR108":
                values["name"] = _begin(facts[0])
            case "COR109":
                kind, name, code, text = facts
                identifier = _begin(name or text)
                values |= {"kind": _begin(kind), "id": identifier, "original": _begin(code)}
            case "COR104":
                values["key"] = facts[0]
            case _:
                target = dict(TABLES[self.table].references)[self.column]
                values |= {"key": facts[0], "target": target}
        return values


def _begin(text: str) -> str:
    """The beginning of a text as a message has it."""
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\u2026")


class Defect(NamedTuple):
    """A problem of a row: what it is, its index there, and the ordinal of the row as read."""

    group: Defects
    number: int
    ordinal: int

    @property
    def values(self) -> Mapping[str, object]:
        """The values of the templates of the code."""
        return self.group.values(self.number)


class Checked(NamedTuple):
    """A corpus as far as it is kept.

    Attributes:
        corpus: its keys are unique, its references lead to rows, its documents have different
            names; `rejected_records` has the rows that were rejected.
        groups: what is wrong.
    """

    corpus: Corpus
    groups: tuple[Defects, ...]

    @property
    def defects(self) -> Iterator[Defect]:
        """The problems, in the order of tables, rows and codes."""
        order = [*TABLES]
        parts = [
            pl.select(
                group=pl.lit(number, pl.UInt32),
                index=pl.int_range(len(group.ordinals), dtype=pl.UInt32),
                ordinal=group.ordinals.cast(pl.UInt32),
                table=pl.lit(order.index(group.table), pl.UInt32),
                code=pl.lit(group.code),
            )
            for number, group in enumerate(self.groups)
        ]
        if parts:
            rows = pl.concat(parts).sort("table", "ordinal", "code", maintain_order=True)
            for group, *place in rows.drop("table", "code").iter_rows(buffer_size=10_000):
                yield Defect(self.groups[group], *place)


def check(
    tables: Mapping[str, pl.DataFrame],
    display: str = "",
    numbers: Sequence[int] = (),
    texts: Sequence[str] = (),
) -> Checked:
    """Keep what can be kept of tables, and tell what is wrong with them.

    Args:
        tables: some tables of a corpus, with columns of the declared types.
        display: the file, for rejected rows where the corpus names no source.
        numbers: the lines that are not rows, which are rejected too.
        texts: the beginnings of these lines.

    Examples:
        >>> documents = pl.DataFrame({"row": [0, 0], "name": ["d1", "d2"]})
        >>> found = check({"documents": documents})
        >>> found.corpus.documents["name"].to_list(), [group.code for group in found.groups]
        (['d1'], ['COR104'])
    """
    state = _Check(tables, texts)
    for table in TABLES.values():
        state.take(table)
    state.name_documents()
    for name in _SPANS:
        state.compare_offsets(name)
    unread = state.kept["rejected_records"]
    state.report(UNREAD, "rejected_records", "text", unread, "kind", "id", "code", "text")
    kept = {name: rows.drop(_AT) for name, rows in state.kept.items()}
    if state.rejected or numbers:
        kept |= _with_rejected(kept, state.rejected, display, numbers, texts)
    return Checked(Corpus(**kept), tuple(state.groups))


class _Check:
    """The tables that are kept, with the index of each row as it was read.

    Attributes:
        kept: the tables that were taken.
        groups: what is wrong with them.
        rejected: the rows that are not kept, with their table and the code.
    """

    def __init__(self, tables: Mapping[str, pl.DataFrame], texts: Sequence[str]) -> None:
        self.read = {
            name: complete(table, tables.get(name, table.empty())).with_row_index(_AT)
            for name, table in TABLES.items()
        }
        self.texts = dict.fromkeys(texts)
        self.kept: dict[str, pl.DataFrame] = {}
        self.groups: list[Defects] = []
        self.rejected: list[tuple[str, str, pl.DataFrame]] = []

    def report(self, code: str, table: str, column: str, rows: pl.DataFrame, *facts: str) -> None:
        """Add the problem of rows, with the columns of which its message is made."""
        if rows.height:
            self.groups.append(Defects(code, table, column, rows[_AT], rows.select(facts)))

    def take(self, table: Table) -> None:
        """Keep the rows of a table that can be kept.

        A reference that leads nowhere, and may be missing, is left out; others reject their row. A
        reference to a row that was rejected, or to a line that is no row, is no problem of its own.
        """
        name, rows = table.name, self.read[table.name]
        optional = {column.name for column in table.columns if column.nullable}

        def keep(code: str, column: str, wrong: pl.Series, known: pl.Series | None = None) -> None:
            """Report what is wrong and not known, and leave it out."""
            nonlocal rows
            if not wrong.any():
                return
            bad = rows.filter(wrong)
            self.report(code, name, column, bad if known is None else rows.filter(known), column)
            if code in {DANGLING, FOREIGN} and column in optional:
                rows = rows.with_columns(pl.when(~wrong).then(pl.col(column)).alias(column))
                return
            self.rejected.append((name, code, bad))
            rows = rows.filter(~wrong)

        if rows.height:
            for declared in table.columns:
                values = rows[declared.name]
                keep(ROW, declared.name, _invalid(values, nullable=declared.nullable))
            keys = rows["row"]
            if not keys.is_sorted() or (keys.diff() == 0).any():
                keep(REPEATED, "row", ~keys.is_first_distinct())
            for column, target in table.references:
                values = rows[column]
                wrong = ~(values.is_in(self.kept[target]["row"].implode()) | values.is_null())
                if wrong.any():
                    keep(DANGLING, column, wrong, wrong & ~values.is_in(self.rows_of(target)))
            for column, target in inside_documents(table):
                keep(FOREIGN, column, of_other_document(rows, column, self.kept[target]))
        self.kept[name] = rows

    def rows_of(self, table: str) -> pl.Series:
        """The keys of a table, also those of lines that are not rows, as one list.

        Examples:
            >>> _Check({}, ['{"table":"documents","row":3']).rows_of("documents").to_list()
            [[3]]
        """
        places = ((_TABLE.search(text), _ROW.search(text)) for text in self.texts)
        unread = [int(row[1]) for name, row in places if name and row and name[1] == table]
        read = self.read[table]["row"].drop_nulls()
        return pl.concat([read, pl.Series("row", unread, dtype=pl.Int64)]).implode()

    def name_documents(self) -> None:
        """Give documents names that are not empty, and that no earlier document has."""
        documents = self.kept["documents"]
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
        self.report(NAME, "documents", "name", rows.filter(renamed), "name", "first", "new")
        self.report(FILE_NAME, "documents", "name", rows.filter(~renamed), "name")
        self.kept["documents"] = documents.with_columns(name=pl.Series(new, dtype=pl.String))

    def compare_offsets(self, name: str) -> None:
        """Report the spans of a table that are not inside the text of their document."""
        rows = self.kept[name]
        if rows.is_empty():
            return
        length = pl.col("text").str.len_chars().cast(pl.Int64)
        texts = self.kept["documents"].select(document="row", _name="name", _length=length)
        start, end, limit = pl.col("start"), pl.col("end"), pl.col("_length")
        fits = (start >= 0) & (start <= end) & (end <= limit.fill_null(end))
        if rows.schema.get("fragments") == FRAGMENTS:
            part = pl.element().struct
            low, high = part.field("start"), part.field("end")
            inside = pl.col("fragments").list.eval((low >= 0) & (low <= high)).list.all()
            last = pl.col("fragments").list.eval(high).list.max()
            inside &= (last <= limit.fill_null(last)).fill_null(value=True)
            fits &= inside.fill_null(value=True)
        spans = rows.select(column for column in _SPAN if column in rows.columns)
        outside = pl.concat(
            part.join(texts, on="document", how="left", maintain_order="left").filter(~fits)
            for part in spans.iter_slices(_SLICE)
        )
        self.report(OFFSETS, name, "start", outside, "start", "end", "_name", "_length")


def _invalid(values: pl.Series, *, nullable: bool) -> pl.Series:
    """Which values are missing, have a missing part, or are not numbers or out of range."""
    missing = pl.repeat(value=False, n=len(values), eager=True) if nullable else values.is_null()
    if values.null_count() == len(values):
        return missing
    if values.name in _OFFSETS:
        most = _LONGEST if values.dtype == pl.Float64 else _HIGHEST
        good = values.is_between(-most, most, closed="none")
    elif values.dtype == pl.Float64:
        good = values.is_finite()
    elif values.dtype == FRAGMENTS:
        both = pl.element().struct.field("start", "end")
        inside = pl.all_horizontal(both.is_between(-_HIGHEST, _HIGHEST, closed="none"))
        whole = inside.fill_null(value=False)
        good = values.to_frame("x").select(pl.col("x").list.eval(whole).list.all()).to_series()
    else:
        return missing
    return missing | ~good.fill_null(value=True)


def _with_rejected(
    tables: Mapping[str, pl.DataFrame],
    rejected: Sequence[tuple[str, str, pl.DataFrame]],
    display: str,
    numbers: Sequence[int],
    texts: Sequence[str],
) -> dict[str, pl.DataFrame]:
    """Put lines and rows that are not kept into `rejected_records`, with the source they need."""
    records, sources = tables["rejected_records"], tables["sources"]
    if sources.is_empty():
        own = {"row": 0, "path": display, "member": display, "format": "", "sha256": ""}
        sources = Corpus(sources=[own]).sources
    last = records["row"].max()
    first = int(last) + 1 if isinstance(last, int) and last < _HIGHEST else 0
    if not records.is_empty() and first == 0:
        records = records.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
        first = records.height
    lines = pl.DataFrame({"record": numbers}, {"record": pl.Int64})
    rows = [("row", ROW, lines, pl.Series(texts, dtype=pl.String))]
    for name, code, bad in rejected:
        cells = bad.drop(_AT)
        rows.append((name, code, cells, cells.to_struct().struct.json_encode()))
    document, origin = pl.col("document"), pl.col("origin")
    known, files = tables["documents"]["row"].implode(), sources["row"]
    parts = [
        cells.with_columns(
            pl.lit(None, pl.Int64).alias(name) for name in _PLACED if name not in cells.columns
        ).select(
            document=pl.when(document.is_in(known)).then(document),
            origin=pl.when(origin.is_in(files.implode())).then(origin).otherwise(files[0]),
            record=pl.col("record").fill_null(0),
            code=pl.lit(code),
            kind=pl.lit(kind),
            text=text,
        )
        for kind, code, cells, text in rows
    ]
    found = pl.concat(parts).with_columns(
        row=pl.int_range(first, first + pl.len(), dtype=pl.Int64),
        column=pl.lit(1, pl.Int64),
        end_column=pl.col("text").str.len_chars().cast(pl.Int64) + 1,
        expected=pl.lit("a row of a table"),
    )
    new = Corpus(rejected_records=found).rejected_records
    return {"sources": sources, "rejected_records": pl.concat([records, new])}
