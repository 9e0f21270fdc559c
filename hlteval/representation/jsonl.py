"""Reading the corpus as JSON Lines, which `jsonl_writing` describes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import groupby
from operator import attrgetter, or_
from typing import Annotated, Any, BinaryIO

import msgspec
import polars as pl

from hlteval.representation.corpus import BrokenKey, Corpus
from hlteval.representation.json_problems import column_of, member_columns, problem
from hlteval.representation.jsonl_writing import FORMAT, Header
from hlteval.representation.line_chunks import LineNumbers, Lines
from hlteval.representation.schema import SCHEMA_VERSION, TABLES
from hlteval.representation.store import (
    StoreError,
    ignore,
    unknown_column,
    version_problem,
)
from hlteval.representation.table import Table

_ALIKE = 1000
"""Different lines with a problem that are not decoded again where they are repeated."""
_Run = tuple[int, Sequence[msgspec.Struct]]
"""Rows in lines that follow each other, with the number of the first line."""


def read_jsonl(
    source: BinaryIO | bytes,
    file: str | None = None,
    report: Callable[[StoreError], None] = ignore,
) -> Corpus:
    r"""Read a corpus that `write_jsonl` wrote, or another program in this format.

    The rows of a table keep their order; the tables may come in any order.

    Args:
        source: the bytes, or a binary stream of them.
        file: its name in errors.
        report: called for each column that is ignored because this version does not know it, with
            the first line that has it.

    Raises:
        StoreError: with line and column, for the first problem: no header, another schema version,
            malformed JSON, bytes that are not UTF-8, an unknown table, a missing column that may
            not be null, a wrong type, a key that is repeated or dangling.

    Examples:
        >>> header = b'{"format":"hlteval-corpus","version":1}\n'
        >>> read_jsonl(header + b'{"table":"documents","row":0,"name":"d1"}\n')
        <Corpus: 1 documents>
    """
    content = source if isinstance(source, bytes) else source.read()
    rows = read_rows(content, file, report)
    corpus = Corpus(**rows.tables)
    try:
        corpus.check_keys()
    except BrokenKey as error:
        raise rows.error(str(error), error.table, error.index, error.column) from error
    return corpus


@dataclass(frozen=True, slots=True)
class JsonRows:
    """The rows of a file, which may have keys that are repeated or dangling.

    Attributes:
        tables: the rows by table, where there are any.
        numbers: the line of each row, by table.
        lines: the lines of the file, which is read again for them.
        file: its name in errors.
    """

    tables: Mapping[str, pl.DataFrame]
    numbers: Mapping[str, LineNumbers]
    lines: Lines
    file: str | None

    def error(self, message: str, table: str, index: int, column: str) -> StoreError:
        """A problem with the value of a column in a row, by its index in its table."""
        number = self.numbers[table][index]
        return StoreError(message, self.file, number, _column(self.lines[number], column))


def _refuse(error: StoreError, _: bytes) -> None:
    """Raise an error."""
    raise error


def read_rows(
    content: bytes | Lines,
    file: str | None = None,
    report: Callable[[StoreError], None] = ignore,
    reject: Callable[[StoreError, bytes], None] = _refuse,
    again: Callable[[int, StoreError, bytes], None] | None = None,
) -> JsonRows:
    r"""Read the rows of a corpus without a check of their keys.

    Args:
        content: the bytes, or lines that are read in chunks.
        file: their name in errors.
        report: called for each column that is ignored.
        reject: called for each line that is not a row, with its error; by default, it raises that.
        again: called instead for a line that equals an earlier one, with its number, the error of
            the earlier one, and the line.

    Raises:
        StoreError: if the first line is not the header of this schema version.

    Examples:
        >>> header = b'{"format":"hlteval-corpus","version":1}\n'
        >>> rejected = []
        >>> reject = lambda error, line: rejected.append(error.line)
        >>> rows = read_rows(header + b'{"table":"documents","row":0}\n', reject=reject)
        >>> rows.tables, rejected
        ({}, [2])
    """
    lines = Lines(content) if isinstance(content, bytes) else content
    frames: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
    numbers = {name: LineNumbers() for name in TABLES}
    for chunk in _Decoder(lines, file, report, reject, again).chunks():
        groups: dict[str, list[msgspec.Struct]] = {}
        for first, rows in chunk:
            number = first
            for kind, run in groupby(rows, type):
                group = groups.setdefault(kind.__name__, [])
                before = len(group)
                group += run
                numbers[kind.__name__].add(number, len(group) - before)
                number += len(group) - before
        for name, group in groups.items():
            frames[name].append(_frame(TABLES[name], group))
    tables = {name: pl.concat(parts) for name, parts in frames.items() if parts}
    return JsonRows(tables, numbers, lines, file)


def _column(line: bytes, key: str) -> int:
    """The 1-based column of the value of a key in a line; 1 where it is not there any more."""
    try:
        return column_of(line.decode(), (key,))
    except (ValueError, LookupError):  # the file was changed after it was read
        return 1


def _frame(table: Table, rows: list[msgspec.Struct]) -> pl.DataFrame:
    columns: dict[str, Any] = {name: list(map(attrgetter(name), rows)) for name in table.schema}
    nested = [name for name, dtype in table.schema.items() if isinstance(dtype, pl.List)]
    columns |= {name: msgspec.to_builtins(columns[name]) for name in nested}
    return pl.DataFrame(columns, schema=table.schema)


@cache
def _decoder(*, strict: bool) -> msgspec.json.Decoder[Any]:
    """Reads a line as a value of the type of its table; if strict, without undeclared columns."""
    types = (_row_type(table, strict=strict) for table in TABLES.values())
    return msgspec.json.Decoder(reduce(or_, types))


def _row_type(table: Table, *, strict: bool) -> Any:
    fields = []
    for column in table.columns:
        kind = _python_type(column.dtype)
        fields.append((column.name, kind | None, None) if column.nullable else (column.name, kind))
    return msgspec.defstruct(
        table.name,
        fields,
        tag_field="table",
        tag=table.name,
        forbid_unknown_fields=strict,
        kw_only=True,
        gc=False,
    )


def _python_type(dtype: object) -> Any:
    """The type that the JSON of a column of a Polars type is held to."""
    if dtype == pl.Int64:
        return Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    if dtype == pl.String:
        return str
    if dtype == pl.Float64:
        return float
    if dtype == pl.Boolean:
        return bool
    if isinstance(dtype, pl.List):
        return list[_python_type(dtype.inner)]  # type: ignore[misc]
    if isinstance(dtype, pl.Struct):
        fields = [(field.name, _python_type(field.dtype)) for field in dtype.fields]
        return msgspec.defstruct("item", fields, forbid_unknown_fields=True, gc=False)
    raise TypeError(f"no JSON is declared for {dtype} yet")


@dataclass(frozen=True, slots=True)
class _Decoder:
    """Decodes the lines of a file, and finds the places of its problems."""

    lines: Lines
    file: str | None
    report: Callable[[StoreError], None]
    reject: Callable[[StoreError, bytes], None]
    again: Callable[[int, StoreError, bytes], None] | None
    unknown: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def chunks(self) -> Iterator[Iterable[_Run]]:
        """The rows of some megabytes of whole lines at a time."""
        chunks = self.lines.chunks()
        _, first = next(chunks, (1, b""))
        self.header(first)
        for number, chunk in chunks:
            yield self.rows(number, chunk)

    def header(self, first: bytes) -> None:
        """Check the first line."""
        try:
            header = msgspec.json.decode(first, type=Header)
        except (ValueError, RecursionError):
            header = None
        if header is None or header.format != FORMAT:
            line = msgspec.json.encode(Header(FORMAT, SCHEMA_VERSION)).decode()
            raise StoreError(f"the first line must be {line}", self.file, 1, 1)
        if message := version_problem(header.version):
            raise StoreError(message, self.file, 1, _column(first.removesuffix(b"\n"), "version"))

    def rows(self, number: int, chunk: bytes) -> Iterable[_Run]:
        """The rows of a chunk of lines from a number on.

        The decoder takes these lines together. They are decoded one by one if that fails, or if a
        line may have another number of rows than one: the decoder takes any space for a line break.
        """
        count = chunk.count(b"\n") + (not chunk.endswith(b"\n"))
        try:
            rows = _decoder(strict=True).decode_lines(chunk)
        except (ValueError, RecursionError):
            rows = []
        # Between } and { there is no value, so this line break is in none.
        breaks = chunk.count(b"}\n{") + chunk.count(b"}\r\n{")
        alike = len(rows) == count == breaks + 1
        return [(number, rows)] if alike else self.one_by_one(chunk, number)

    def one_by_one(self, chunk: bytes, number: int) -> Iterator[_Run]:
        """The row of each line from a number on, without the columns that are not known."""
        decoder = _decoder(strict=False)
        known: dict[bytes, StoreError] = {}  # many lines may be the same
        for at, line in enumerate(chunk.removesuffix(b"\n").split(b"\n"), number):
            if self.again is not None and line in known:
                self.again(at, known[line], line)
                continue
            try:
                row, names = decoder.decode(line), msgspec.json.decode(line)
            except (ValueError, RecursionError) as error:
                message, column = problem(line, error)
                rejected = StoreError(message, self.file, at, column)
                if len(known) < _ALIKE:
                    known[line] = rejected
                self.reject(rejected, line)
                continue
            table = type(row).__name__
            declared, reported = {"table", *TABLES[table].schema}, self.unknown[table]
            unknown = [name for name in names if name not in declared and name not in reported]
            columns = member_columns(line.decode(), unknown) if unknown else {}
            for name in unknown:
                place = (self.file, at, columns[name])
                self.report(StoreError(unknown_column(table, name), *place))
            reported.update(unknown)
            yield at, (row,)
