"""Tables in Parquet, and the sizes and counts that a file announces before it is unpacked.

Polars reserves memory for the values that the header of a page announces. A damaged or hostile
header announces any number, and the process aborts where that memory does not exist. The headers
are structs of the compact protocol of Thrift, as in the Parquet format
(https://parquet.apache.org/docs/file-format/metadata/).
"""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, cast

import polars as pl

from hlteval.sources import Member, Unreadable

#: Rows that a table may have whatever its size; above, a row takes a byte or more.
#:
#: A file as `save` writes it takes more than one byte for the key of a row alone.
MOST_ROWS = 100_000
#: Values of lists that a row may have on average, where a file has the maximum of rows.
_VALUES_PER_ROW = 16
_UNPACKED_RATIO = 1_000
#: Bytes that pages may unpack to: a thousand times the file, or this size if that is less.
_UNPACKED_BYTES = 256 << 20
_DEPTH = 16
#: The first and last bytes of a file.
MAGIC = b"PAR1"

# Kinds of the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _, _STRUCT = range(1, 13)

# Kinds of the fields that are used here and of those beside them: Polars decides by the number of
# a field alone, so a field of another kind would be read as something else.
_FILE = {1: _I32, 2: _LIST, 3: _I64, 4: _LIST, 5: _LIST, 6: _BINARY, 7: _LIST, 8: _STRUCT}
_ROW_GROUP = {1: _LIST, 2: _I64, 3: _I64, 4: _LIST, 5: _I64, 6: _I64, 7: _I16}
_CHUNK = {1: _BINARY, 2: _I64, 3: _STRUCT, 4: _I64, 5: _I32, 6: _I64, 7: _I32, 8: _STRUCT}
_COLUMN = {
    **dict.fromkeys((1, 4, 15), _I32),
    **dict.fromkeys((2, 3, 8, 13), _LIST),
    **dict.fromkeys((5, 6, 7, 9, 10, 11, 14), _I64),
    **dict.fromkeys((12, 16), _STRUCT),
}
_PAGE = {**dict.fromkeys(range(1, 5), _I32), **dict.fromkeys(range(5, 9), _STRUCT)}
_DATA_PAGE = {1: _I32, 2: _I32, 3: _I32, 4: _I32, 5: _STRUCT}
_DICTIONARY_PAGE = {1: _I32, 2: _I32}
_DATA_PAGE_2 = {**dict.fromkeys(range(1, 7), _I32), 8: _STRUCT}
_PAGE_CONTENT = {5: _DATA_PAGE, 7: _DICTIONARY_PAGE, 8: _DATA_PAGE_2}


class _Field(NamedTuple):
    kind: int
    value: object


_Struct = Mapping[int, _Field]


#: Polars panics on some damaged files; a panic is not an Exception.
_DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


class ParquetTable(NamedTuple):
    """A table with the metadata of its file; or why there is none."""

    table: pl.DataFrame
    metadata: Mapping[str, str]
    problem: str = ""


def read_table(data: bytes) -> ParquetTable:
    """The table of a file, unless it announces more than a file of its size has.

    Examples:
        >>> read_table(b"PAR1").problem
        'not a Parquet file'
    """
    try:
        problem = size_problem(data)  # a few bytes may hold any number of rows
        if not problem:
            return ParquetTable(pl.read_parquet(data), pl.read_parquet_metadata(BytesIO(data)))
    except _DAMAGED as error:
        problem = str(error).split("\n")[0][:100]
    return ParquetTable(pl.DataFrame(), {}, problem)


def write_table(table: pl.DataFrame, path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write a table to a file, whatever its path is: Polars takes none that is not UTF-8.

    Arrow reads the schema that Polars adds, which has no metadata, instead of those of the file: in
    a file with metadata, its key has another name.
    """
    content = BytesIO()
    table.write_parquet(content, metadata=dict(metadata or {}))
    data = content.getvalue()
    if metadata:
        begin, key, end = data.rpartition(b"ARROW:schema")
        data = begin + key.replace(b":", b"_") + end
    path.write_bytes(data)


def is_parquet(member: Member) -> bool:
    """Whether a file begins as Parquet does."""
    try:
        return member.reader()(0, len(MAGIC)) == MAGIC
    except Unreadable:
        return False


def column_names(member: Member) -> list[str]:
    """The names of the columns of a file; none of a file that is not Parquet, or damaged."""
    try:
        return [*pl.read_parquet_schema(BytesIO(member.fetch()))] if is_parquet(member) else []
    except (Unreadable, *_DAMAGED):
        return []


def size_problem(content: bytes) -> str:
    """Why a Parquet file is not unpacked; empty if its pages and counts agree with its size.

    Args:
        content: the bytes of the file.

    Raises:
        ValueError: if its metadata or a header of a page cannot be read, or a page is not in it.

    Examples:
        >>> size_problem(b"PAR1")
        Traceback (most recent call last):
        ValueError: not a Parquet file
    """
    size = max(MOST_ROWS, len(content))
    rows = packed = unpacked = 0
    for group in _row_groups(content):
        rows += _count(group, 3)
        for chunk in _structs(group, 1, _CHUNK):
            column = _fields(cast("_Struct", _value(chunk, 3)), _COLUMN)
            packed += _count(column, 7)
            if packed > len(content):
                raise ValueError("the columns are larger than the file")
            values = _count(column, 5)
            if values > size * _VALUES_PER_ROW:
                return f"{len(content):,} bytes unpack to {values:,} values"
            for values_of_page, size_of_page in _pages(content, column):
                unpacked += size_of_page
                if values_of_page > values:
                    raise ValueError("a page announces more values than its column has")
    if rows > size:
        return f"{len(content):,} bytes unpack to {rows:,} rows"
    if unpacked > max(_UNPACKED_BYTES, _UNPACKED_RATIO * len(content)):
        return f"{len(content):,} bytes unpack to {unpacked:,} bytes"
    return ""


def _row_groups(content: bytes) -> Iterator[_Struct]:
    """The row groups that the metadata at the end of a file list."""
    if len(content) < 12 or content[:4] != MAGIC or content[-4:] != MAGIC:
        raise ValueError("not a Parquet file")
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    if start < 4:
        raise ValueError("the metadata are larger than the file")
    metadata = _fields(_Compact(content, start, len(content) - 8).struct(), _FILE)
    yield from _structs(metadata, 4, _ROW_GROUP)


def _pages(content: bytes, column: _Struct) -> Iterator[tuple[int, int]]:
    """The counts of values and bytes that the headers of the pages of a column announce."""
    position = _count(column, 11 if 11 in column else 9)
    end = position + _count(column, 7)
    if end > len(content):
        raise ValueError("a column is not in the file")
    while position < end:
        reader = _Compact(content, position, end)
        header = _fields(reader.struct(), _PAGE)
        position = reader.position + _count(header, 3)
        if position > end:
            raise ValueError("a page is not in its column")
        values = 0
        for number, kinds in _PAGE_CONTENT.items():
            if number in header:
                page = _fields(cast("_Struct", header[number].value), kinds)
                values = max(values, _count(page, 1))
        yield values, _count(header, 2)


def _fields(struct: _Struct, kinds: Mapping[int, int]) -> _Struct:
    """The fields of a struct, if those that are declared have their kinds."""
    for number, field in struct.items():
        if kinds.get(number, field.kind) != field.kind:
            raise ValueError(f"field {number} has another kind")
    return struct


def _structs(struct: _Struct, number: int, kinds: Mapping[int, int]) -> Iterator[_Struct]:
    """The structs in the list of a field."""
    for value in cast("list[object]", _value(struct, number)):
        if not isinstance(value, dict):
            raise ValueError(f"field {number} is not a list of structs")
        yield _fields(value, kinds)


def _count(struct: _Struct, number: int) -> int:
    """The number in a field, which is not negative."""
    value = cast("int", _value(struct, number))
    if value < 0:
        raise ValueError(f"field {number} is negative")
    return value


def _value(struct: _Struct, number: int) -> object:
    if number not in struct:
        raise ValueError(f"field {number} is missing")
    return struct[number].value


class _Compact:
    """Reader of values in the compact protocol of Thrift, up to a position in some bytes."""

    def __init__(self, content: bytes, position: int, end: int) -> None:
        self.content, self.position, self.end = content, position, end

    def struct(self, depth: int = 0) -> _Struct:
        """The fields of a struct by their numbers."""
        if depth > _DEPTH:
            raise ValueError("structs are nested too deep")
        fields: dict[int, _Field] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            value = kind == _TRUE if kind in {_TRUE, _FALSE} else self._read(kind, depth)
            fields[number] = _Field(kind, value)
        return fields

    def _read(self, kind: int, depth: int) -> object:
        if kind in {_I16, _I32, _I64}:
            return self._signed()
        if kind in {_TRUE, _FALSE, _BYTE}:
            return self._byte()
        if kind in {_DOUBLE, _BINARY}:
            self._skip(8 if kind == _DOUBLE else self._unsigned())
            return None
        if kind in {_LIST, _SET}:
            return self._list(depth + 1)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"unknown kind {kind}")

    def _list(self, depth: int) -> list[object]:
        if depth > _DEPTH:
            raise ValueError("lists are nested too deep")
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._unsigned()
        if size > self.end - self.position:
            raise ValueError("a list is longer than the file")
        return [self._read(head & 15, depth) for _ in range(size)]

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _unsigned(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")
        return number | byte << shift

    def _byte(self) -> int:
        self._skip(1)
        return self.content[self.position - 1]

    def _skip(self, size: int) -> None:
        """Go on by some bytes."""
        self.position += size
        if self.position > self.end:
            raise ValueError("a value ends after the file")
