r"""The tables of a corpus as JSON Lines: human-readable, and for tools that do not read Parquet.

Format:
    A header, then one line per row: the name of its table and its columns, without nulls.

Conventions:
    Those of the representation: nothing is lost. Columns that a row lacks are null where that is
    allowed; unknown columns are ignored.

Example lines:
    {"format":"hlteval-corpus","version":1}
    {"table":"documents","row":0,"name":"d1","text":"aba"}

Codes raised: CORxxx.
"""

import re
import shutil
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache, reduce
from io import BytesIO
from itertools import accumulate, groupby
from operator import attrgetter, or_
from pathlib import Path
from sys import intern
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Any, BinaryIO, NamedTuple

import msgspec
import polars as pl

from hlteval.converters.corpus import parquet
from hlteval.converters.corpus.checks import Defect, check
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import head
from hlteval.findings import Bounded, Finding, Problem, finding
from hlteval.representation import SCHEMA_VERSION, TABLES, Corpus, Table
from hlteval.sources import Member, Source, Unreadable
from hlteval.sources.archives import kind_of_file
from hlteval.syntax.json_parser import skip_space
from hlteval.syntax.json_text import parts
from hlteval.syntax.places import Path as JsonPath

_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_UNKNOWN = re.compile("Object contains unknown field `(.*)`", re.DOTALL)
_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
#: Levels of a line that is called too deep; no row has more than five.
DEPTH = 100
_LONE_SURROGATE = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F])"
)


def problem(line: bytes, error: ValueError | RecursionError) -> tuple[str, int]:
    """The message and the column of a problem for which msgspec rejects a line.

    Args:
        line: the bytes of the line.
        error: the exception of msgspec.

    Returns:
        A message, and a column: 1-based, in code points.

    Examples:
        >>> try:
        ...     msgspec.json.decode(b'["a", 2]', type=list[str])
        ... except ValueError as error:
        ...     problem(b'["a", 2]', error)
        ('Expected `str`, got `int`', 7)
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        return f"byte {line[bad.start]:#04x} is not UTF-8", len(line[: bad.start].decode()) + 1
    if isinstance(error, RecursionError):
        return f"nested deeper than {DEPTH} levels", _depth_column(text)
    if isinstance(error, msgspec.ValidationError):
        what, _, way = str(error).partition(" - at `$")
        path: JsonPath = tuple(name or int(index) for name, index in _STEP.findall(way))
        if unknown := _UNKNOWN.fullmatch(what):
            return f"unknown column {unknown[1]!r}", column_of(text, (*path, unknown[1]))
        return "unknown table" if path == ("table",) else what, column_of(text, path)
    return _syntax_problem(line, text, str(error))


def _syntax_problem(line: bytes, text: str, message: str) -> tuple[str, int]:
    """A line that is not JSON: msgspec counts bytes, and does not name a surrogate as the cause."""
    if not text.strip():
        return "line is empty", 1
    if (match := _MALFORMED.fullmatch(message)) and "surrogate" not in match[1]:
        index = int(match[2]) - (match[1] == "trailing characters")  # msgspec is one past these
        before = line[:index].decode(errors="ignore")  # it may stop inside a character
        return f"invalid JSON: {match[1]}", len(before) + 1
    for match in _LONE_SURROGATE.finditer(text):
        if match[1]:
            return "unpaired surrogate", match.start() + 1
    return "invalid JSON: unexpected end of line", len(text.rstrip()) + 1


def _depth_column(text: str) -> int:
    """The column of the first array or object that is nested too deeply; 1 if there is none."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > DEPTH:
            return token.start() + 1
    return 1


def column_of(text: str, path: JsonPath) -> int:
    """The column of a value in a line of JSON that is well formed up to there.

    If a value before it is nested too deeply, the column of that nesting.

    Examples:
        >>> column_of('{"a": [1, {"b": 2}]}', ("a", 1, "b"))
        17
    """
    index = skip_space(text, 0)
    try:
        for step in path:
            index = next((value for name, value in parts(text, index) if name == step), index)
    except RecursionError:
        return _depth_column(text)
    return index + 1


def member_columns(text: str, names: Collection[str]) -> dict[str, int]:
    """The column of the value of some members of an object in a line, found in one pass.

    Args:
        text: the line.
        names: of members that the object has. Where one is nested too deeply, those that are not
            before it have the column of that nesting.

    Examples:
        >>> member_columns('{"a": 1, "b": 2, "c": 3}', ["b", "c"])
        {'b': 15, 'c': 23}
    """
    columns: dict[str | int, int] = {}
    with suppress(RecursionError):
        for name, index in parts(text, skip_space(text, 0)):
            columns.setdefault(name, index + 1)
    return {name: columns.get(name) or _depth_column(text) for name in names}


#: The name of the format in the header.
NAME = "hlteval-corpus"
#: Rows that are encoded at once.
_SLICE = 50_000
#: What JSON has to escape in a text.
_ESCAPED = r'["\\\x00-\x1f]'
#: Bytes of a table that wait in memory, not in a file, for the tables before it.
_IN_MEMORY = 1_000_000


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    format: str
    version: int


#: The first line of a file.
HEADER = msgspec.json.encode(Header(NAME, SCHEMA_VERSION)) + b"\n"


def write_jsonl(corpus: Corpus, stream: BinaryIO) -> None:
    r"""Write a corpus as JSON Lines in UTF-8.

    Examples:
        >>> stream = BytesIO()
        >>> write_jsonl(Corpus(documents=[{"row": 0, "name": "d1"}]), stream)
        >>> stream.getvalue().splitlines()[1]
        b'{"table":"documents","row":0,"name":"d1"}'
    """
    stream.write(HEADER)
    for name, frame in corpus.tables():
        _write_rows(TABLES[name], frame, stream)


def write_batches(corpora: Iterable[Corpus], stream: BinaryIO, folder: Path) -> None:
    r"""Write what `write_jsonl` writes of several corpora as one, without having all in memory.

    Args:
        corpora: the corpora, of which one at a time is needed.
        stream: where they are written to.
        folder: for the tables of all corpora while they are read, in files without a name.

    Examples:
        >>> corpora = [Corpus(documents=[{"row": 7, "name": name}]) for name in ("d1", "d2")]
        >>> stream, whole = BytesIO(), BytesIO()
        >>> write_batches(iter(corpora), stream, Path())
        >>> write_jsonl(Corpus.concat(corpora), whole)
        >>> stream.getvalue() == whole.getvalue()
        True
    """
    with ExitStack() as stack:
        parts, home = dict[str, IO[bytes]](), str(folder)
        for tables in Corpus.numbered_tables(corpora):
            for name, frame in tables.items():
                if name not in parts:
                    parts[name] = stack.enter_context(SpooledTemporaryFile(_IN_MEMORY, dir=home))
                _write_rows(TABLES[name], frame, parts[name])
        stream.write(HEADER)
        for name in TABLES:
            if name in parts:
                parts[name].seek(0)
                shutil.copyfileobj(parts[name], stream, _IN_MEMORY)


def _write_rows(table: Table, frame: pl.DataFrame, stream: IO[bytes]) -> None:
    """Write the rows of a table as JSON objects, some at a time."""
    for part in frame.iter_slices(_SLICE) if frame.height else ():
        cells, text = list[pl.Expr](), f'{{"table":"{table.name}"'
        for values in part:
            if values.null_count() == part.height:
                continue
            name, is_text = values.name, values.dtype == pl.String
            mark, is_plain = '"' if is_text else "", is_text or values.dtype == pl.Int64
            if is_text:  # which is JSON between quotes, as numbers are without them
                is_plain = not values.str.contains(_ESCAPED).any()
            if is_plain and not values.has_nulls():
                cells += [pl.lit(f'{text},"{name}":{mark}'), pl.col(name)]
                text = mark
                continue
            member = pl.struct(name).struct.json_encode().str.strip_prefix("{")
            member = pl.lit(",") + member.str.strip_suffix("}")
            cells += [pl.lit(text), pl.when(pl.col(name).is_not_null()).then(member)]
            text = ""
        line = pl.concat_str(*cells, pl.lit(f"{text}}}"), ignore_nulls=True)
        buffer = BytesIO()
        # JSON has no line breaks, so lines without any quoting are lines of JSON.
        part.select(line).write_csv(buffer, include_header=False, quote_style="never")
        stream.write(buffer.getbuffer())


#: Bytes of lines that are decoded at once.
CHUNK = 4_000_000


#: Gives up to so many bytes at an offset, fewer only at the end.
ReadAt = Callable[[int, int], bytes]


class _Chunk(NamedTuple):
    """The start of a chunk, in bytes and lines, and its size."""

    offset: int
    number: int
    size: int


class Lines:
    r"""The lines of a file by their numbers, from 1; only a line feed ends a line.

    Where a chunk begins is noted when it is read for the first time, and where its lines end when
    one of them is read again.

    Args:
        read: reads the bytes.
        size: bytes of a chunk, more or less: it ends with its last line. The first line is one.

    Examples:
        >>> file = b"a\nbc\n\nd"
        >>> lines = Lines(lambda offset, size: file[offset : offset + size], 3)
        >>> list(lines.chunks())
        [(1, b'a\n'), (2, b'bc\n\n'), (4, b'd')]
        >>> [lines[number] for number in (3, 2, 4)]
        [b'', b'bc', b'd']
    """

    def __init__(self, read: ReadAt, size: int = CHUNK) -> None:
        self._read, self._size = read, size
        self._chunks: list[_Chunk] = []
        self._ends: dict[int, array[int]] = {}  # of lines in a chunk, not counting line feeds
        self._last: tuple[int, bytes] = (-1, b"")

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """The chunks of whole lines, each with the number of its first line."""
        offset, number = 0, 1
        for chunk in self._pieces():
            self._chunks.append(_Chunk(offset, number, len(chunk)))
            yield number, chunk
            offset += len(chunk)
            number += chunk.count(b"\n")

    def _pieces(self) -> Iterator[bytes]:
        """The first line, and then as many lines as end in a piece of the file."""
        rest: list[bytes] = []  # the beginning of a line, which may be longer than a piece
        offset, find = 0, bytes.find
        while piece := self._read(offset, self._size):
            offset += len(piece)
            if end := find(piece, b"\n") + 1:
                find = bytes.rfind
                chunk, rest = b"".join([*rest, piece[:end]]), []
                yield chunk
            rest.append(piece[end:])
        if chunk := b"".join(rest):
            rest.clear()
            yield chunk

    def __getitem__(self, number: int) -> bytes:
        """A line of a chunk that was read, without its line feed."""
        at = bisect_right(self._chunks, number, key=lambda chunk: chunk.number) - 1
        if at < 0:  # an empty file has one line
            return b""
        chunk = self._chunks[at]
        if at not in self._ends:
            content = self._read(chunk.offset, chunk.size)
            self._ends[at] = array("Q", accumulate(map(len, content.split(b"\n"))))
            self._last = (at, content)
        ends, index = self._ends[at], number - chunk.number
        if index >= len(ends):  # the file was changed
            return b""
        begin, end = index + (ends[index - 1] if index else 0), index + ends[index]
        if self._last[0] == at:
            return self._last[1][begin:end]
        return self._read(chunk.offset + begin, end - begin)


class LineNumbers:
    """The lines of the rows of a table, which are mostly in lines that follow each other.

    Examples:
        >>> numbers = LineNumbers()
        >>> for first, count in ((2, 3), (5, 1), (9, 2)):
        ...     numbers.add(first, count)
        >>> [numbers[row] for row in range(6)]
        [2, 3, 4, 5, 9, 10]
    """

    def __init__(self) -> None:
        self._count = 0
        self._rows, self._lines = array("Q"), array("Q")

    def add(self, first: int, count: int) -> None:
        """Add rows in lines from a first one."""
        if not self._rows or first != self._lines[-1] + self._count - self._rows[-1]:
            self._rows.append(self._count)
            self._lines.append(first)
        self._count += count

    def __getitem__(self, row: int) -> int:
        """The line of a row, by its 0-based index."""
        at = bisect_right(self._rows, row) - 1
        return self._lines[at] + row - self._rows[at]


#: Rows in lines that follow each other, with the number of the first line.
_Run = tuple[int, Sequence[msgspec.Struct]]


class JsonRows(NamedTuple):
    """The rows of a file, which may have keys that are repeated or dangling.

    Attributes:
        tables: the rows by table, where there are any.
        numbers: the line of each row, by table.
    """

    tables: Mapping[str, pl.DataFrame]
    numbers: Mapping[str, LineNumbers]


#: Takes a line that is not a row: its number, its error or that of an equal line, and the line.
Reject = Callable[[int, parquet.StoreError, bytes], None]


def read_rows(
    lines: Lines, file: str | None, report: Callable[[parquet.StoreError], None], reject: Reject
) -> JsonRows:
    r"""Read the rows of a corpus without a check of their keys.

    The rows of a table keep their order; the tables may come in any order.

    Args:
        lines: the lines, which are read in chunks.
        file: their name in errors.
        report: called for each column that is ignored because this version does not know it, with
            the first line that has it.
        reject: called for each line that is not a row.

    Raises:
        StoreError: if the first line is not the header of this schema version.

    Examples:
        >>> file = b'{"format":"hlteval-corpus","version":1}\n{"table":"documents","row":0}\n'
        >>> lines = Lines(lambda offset, size: file[offset : offset + size])
        >>> rejected = []
        >>> reject = lambda number, error, line: rejected.append(number)
        >>> rows = read_rows(lines, "c.jsonl", print, reject)
        >>> rows.tables, rejected
        ({}, [2])
    """
    frames: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
    numbers = {name: LineNumbers() for name in TABLES}
    decoder, chunks = _Decoder(file, report, reject), lines.chunks()
    _check_header(next(chunks, (1, b""))[1], file)
    for begin, chunk in chunks:
        groups: dict[str, list[msgspec.Struct]] = {}
        for first, rows in decoder.rows(begin, chunk):
            number = first
            for kind, run in groupby(rows, type):
                alike = list(run)
                groups.setdefault(kind.__name__, []).extend(alike)
                numbers[kind.__name__].add(number, len(alike))
                number += len(alike)
        for name, group in groups.items():
            schema = TABLES[name].schema
            columns = {column: list(map(attrgetter(column), group)) for column in schema}
            for column, dtype in schema.items():
                if isinstance(dtype, pl.List):
                    columns[column] = msgspec.to_builtins(columns[column])
            frames[name].append(pl.DataFrame(columns, schema=schema))
    tables = {name: pl.concat(parts) for name, parts in frames.items() if parts}
    return JsonRows(tables, numbers)


def _check_header(first: bytes, file: str | None) -> None:
    """Check the first line."""
    try:
        header = msgspec.json.decode(first, type=Header)
    except (ValueError, RecursionError):
        header = None
    if header is None or header.format != NAME:
        line = HEADER.decode().rstrip()
        raise parquet.StoreError(f"the first line must be {line}", file, 1, 1)
    if message := parquet.version_problem(header.version):
        raise parquet.StoreError(message, file, 1, _column(first.removesuffix(b"\n"), "version"))


def _column(line: bytes, key: str) -> int:
    """The 1-based column of the value of a key in a line; 1 where it is not there any more."""
    try:
        return column_of(line.decode(), (key,))
    except (ValueError, LookupError):  # the file was changed after it was read
        return 1


@cache
def _decoder(*, strict: bool) -> msgspec.json.Decoder[Any]:
    """Reads a line as a value of the type of its table; if strict, without undeclared columns."""
    types = []
    options: Any = {"forbid_unknown_fields": strict, "kw_only": True, "gc": False}
    for name, table in TABLES.items():
        columns = [(column, _python_type(column.dtype)) for column in table.columns]
        fields = [(c.name, *((t | None, None) if c.nullable else (t,))) for c, t in columns]
        types.append(msgspec.defstruct(name, fields, tag_field="table", tag=name, **options))
    return msgspec.json.Decoder(reduce(or_, types))


_PYTHON_TYPES = {
    pl.Int64: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)],
    pl.String: str,
    pl.Float64: float,
    pl.Boolean: bool,
}


def _python_type(dtype: object) -> Any:
    """The type that the JSON of a column of a Polars type is held to."""
    if isinstance(dtype, pl.List):
        return list[_python_type(dtype.inner)]  # type: ignore[misc]
    if isinstance(dtype, pl.Struct):
        fields = [(field.name, _python_type(field.dtype)) for field in dtype.fields]
        return msgspec.defstruct("item", fields, forbid_unknown_fields=True, gc=False)
    return next(kind for polars_type, kind in _PYTHON_TYPES.items() if dtype == polars_type)


@dataclass(frozen=True, slots=True)
class _Decoder:
    """Decodes the lines of a file, and finds the places of its problems."""

    file: str | None
    report: Callable[[parquet.StoreError], None]
    reject: Reject
    unknown: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

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
        known: dict[bytes, tuple[str, int]] = {}  # many lines may be the same
        for at, line in enumerate(chunk.removesuffix(b"\n").split(b"\n"), number):
            try:
                if line not in known:
                    row, names = decoder.decode(line), msgspec.json.decode(line)
            except (ValueError, RecursionError) as error:
                known[line] = problem(line, error)
            if line in known:
                message, column = known[line]
                self.reject(at, parquet.StoreError(message, self.file, at, column), line)
                continue
            table = type(row).__name__
            declared, reported = {"table", *TABLES[table].schema}, self.unknown[table]
            unknown = [name for name in names if name not in declared and name not in reported]
            columns = member_columns(line.decode(), unknown) if unknown else {}
            for name in unknown:
                message = parquet.unknown_column(table, name)
                self.report(parquet.StoreError(message, self.file, at, columns[name]))
            reported.update(unknown)
            yield at, (row,)


#: Bytes of a line that is not a row that are kept as its text.
_KEPT = 1000


def sniff(source: Source) -> bool:
    """Whether the source is a single file that begins with the header."""
    return f'"{NAME}"' in head(source, 200).partition("\n")[0]


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus, as one batch."""
    for member in source.members:
        try:
            if kind := kind_of_file(source):
                found = finding("SRC205", file=member.display, kind=kind)
                yield ReadResult(Corpus(), (found,))
                continue
            yield read_lines(Lines(member.reader()), member)
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,))


def read_lines(lines: Lines, member: Member) -> ReadResult:
    """The rows of a file that can be kept."""
    ignored: list[parquet.StoreError] = []
    numbers: list[int] = []
    texts: list[str] = []
    explained: dict[int, parquet.StoreError] = {}

    def reject(number: int, error: parquet.StoreError, line: bytes) -> None:
        numbers.append(number)
        texts.append(intern(line[:_KEPT].decode("utf-8", "replace")))  # many may be the same
        if not member.max_per_code or len(explained) <= member.max_per_code:
            explained[number] = error

    def of_line(code: str, error: parquet.StoreError) -> Finding:
        line = lines[error.line] if error.line else b""
        return parquet.store_finding(code, error, member.display, line)

    def of_row(number: int, defect: Defect) -> Finding:
        line = lines[number]
        start = _column(line, defect.group.column) - 1
        problem = Problem(defect.group.code, number, start, start + 1, defect.values)
        return problem.in_line(member.display, line.decode("utf-8", "replace"))

    try:
        rows = read_rows(lines, member.display, ignored.append, reject)
    except parquet.StoreError as error:
        return ReadResult(Corpus(), (of_line("COR101", error),))
    found = check(rows.tables, member.display, numbers, texts)
    bounded = Bounded(member.max_per_code)
    for number in numbers:
        bounded.add("COR103", number, lambda at, _: of_line("COR103", explained[at]), None)
    for unknown in ignored:
        bounded.add("COR102", unknown.line, lambda _, error: of_line("COR102", error), unknown)
    for defect in found.defects:
        number = rows.numbers[defect.group.table][defect.ordinal]
        bounded.add(defect.group.code, number, of_row, defect)
    return ReadResult(found.corpus, tuple(bounded.findings))


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All batches as one corpus."""
    with path.open("wb") as stream:
        write_batches(corpora, stream, path.parent)


FORMAT = declaration(__name__)
