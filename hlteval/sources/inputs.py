"""Inputs of a program: whatever it has in place of a path, as a name that represents it.

A path stays a path. An open file, a corpus or tables get a name, an `OpenInput`, that represents
them in messages and that `open_source` opens.
"""

import errno
import math
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, Union

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.representation import TABLES, Column, Corpus, Table
from hlteval.sources.archives import within_limit
from hlteval.sources.names import printable
from hlteval.sources.opening import OpenInput, is_url, open_stream
from hlteval.sources.source import LIMITS, Source
from hlteval.sources.spooling import CHUNK


class ArrowTable(Protocol):
    """A data frame or table that exports the Arrow C stream: polars, pyarrow, pandas and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns, as the Arrow PyCapsule interface has them."""


class Readable(Protocol):
    """An open file: bytes, or text."""

    def read(self, size: int, /) -> bytes | str:
        """The next bytes or characters; empty at the end."""


Input: TypeAlias = Union[
    str, os.PathLike[str], Readable, "Corpus", ArrowTable, Mapping[str, ArrowTable]
]
"""What can be in place of a path: a path, an open file, a corpus, or data frames.

Several frames are a mapping by the names of the tables of a corpus; one frame is the table that a
task scores."""


class WrongArgument(ValueError):
    """An argument has a value that it cannot have; the message names the argument."""


CORPUS, FRAME, STREAM = "<corpus>", "<data frame>", "<stream>"
"""The names of inputs that have none."""
_KINDS = "a path, an open file, a Corpus, a data frame, or a mapping of table names to data frames"
_FILES = "a path or an open file"


def as_path(argument: str, value: Input, *, table: str = "", files_only: bool = False) -> str:
    """An input as a path, or as an `OpenInput` where it is something else.

    Args:
        argument: the name of the argument, for messages.
        value: the input.
        table: the table that a single data frame is.
        files_only: whether a corpus and data frames cannot be in this place.

    Raises:
        TypeError: for another type.
        FileNotFoundError: for a path that does not exist.
        WrongArgument: for an empty path, a file that cannot be read, or frames that are not the
            tables of a corpus.

    Examples:
        >>> from io import BytesIO
        >>> as_path("reference", BytesIO(b"T1"))
        '<stream>'
    """
    if isinstance(value, OpenInput):
        return value
    if isinstance(value, str | os.PathLike):
        path = _plain(argument, value)
        if path != "-" and not is_url(path) and not os.path.lexists(path):
            raise FileNotFoundError(errno.ENOENT, f"{argument}: no such file or folder", path)
        return path
    if not isinstance(value, type):
        if callable(getattr(value, "read", None)):
            name = getattr(value, "name", None)
            path = os.fspath(name) if isinstance(name, str | Path) and str(name) else STREAM
            chunks = _Chunks(argument, value, printable(path))
            source = open_stream(within_limit(chunks, chunks.label, LIMITS.file_bytes), path)
            return OpenInput(source, decoded=chunks.is_text)
        if not files_only and (corpus := _corpus(argument, value, table)) is not None:
            return corpus
    kind = "a class" if isinstance(value, type) else type(value).__name__
    expected = _FILES if files_only else _KINDS
    raise TypeError(f"{argument}: expected {expected}, got {kind}")


def output_path(argument: str, value: str | os.PathLike[str]) -> str:
    """A path to write to, as text.

    Raises:
        TypeError: for another type.
        WrongArgument: for an empty path.
    """
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{argument}: expected a path, got {type(value).__name__}")
    return _plain(argument, value)


def _plain(argument: str, value: str | os.PathLike[str]) -> str:
    path = os.fspath(value)
    if not isinstance(path, str):
        raise TypeError(f"{argument}: expected a path as text, got {type(path).__name__}")
    if not path or "\0" in path:
        raise WrongArgument(f"{argument}: {path!r} is not a path")
    return path


class _Chunks:
    """The bytes of an open file from where it is to its end; text is encoded as UTF-8."""

    def __init__(self, argument: str, stream: Any, label: str) -> None:
        self.argument, self.stream, self.label = argument, stream, label
        self.is_text = False

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.next, b"")

    def next(self) -> bytes:
        try:
            chunk = self.stream.read(CHUNK)
        except (OSError, ValueError) as error:  # closed, open for writing, or of another encoding
            reason = f"{self.argument}: cannot read {self.label}: {error}"
            raise WrongArgument(reason) from error
        if isinstance(chunk, str):
            self.is_text = True
            return chunk.encode("utf-8", "surrogatepass")  # what no UTF-8 is becomes a finding
        if not isinstance(chunk, bytes | bytearray | memoryview):
            kind = type(chunk).__name__
            raise TypeError(f"{self.argument}: read() of {self.label} returns {kind}, not bytes")
        return bytes(chunk)


def _corpus(argument: str, value: Any, table: str) -> OpenInput | None:
    """A corpus or data frames; None for anything else."""
    if isinstance(value, Corpus):
        return OpenInput(Source(CORPUS, "memory", (), corpus=value))
    try:
        if isinstance(value, Mapping):
            corpus = as_corpus(value, FRAME)
        elif is_frame(value):
            corpus = as_corpus(value, FRAME, table)
        else:
            return None
    except WrongFrame as error:
        raise WrongArgument(f"{argument}: {error}") from error
    return OpenInput(Source(FRAME, "memory", (), corpus=corpus))


_TEXT = (pl.Categorical, pl.Enum)
#: The columns that only place rows, and are added to frames without them.
_PLACES = {"row", "origin", "record"}


class WrongFrame(ValueError):
    """A data frame is not the table that it should be; the message names table, column and type."""


def is_frame(value: object) -> bool:
    """Whether something is a data frame that can be taken."""
    return isinstance(value, pl.LazyFrame) or hasattr(value, "__arrow_c_stream__")


def as_corpus(frames: Any, path: str, table: str = "") -> Corpus:
    """The corpus of data frames.

    Args:
        frames: a mapping of names of tables to frames, or one frame.
        path: name of the frames in `sources`.
        table: the table that one frame is; that with its columns if it is empty.

    Raises:
        WrongFrame: for an unknown table, an unknown or missing column, another type, or a null
            where none is allowed.

    Examples:
        >>> frame = pl.DataFrame({"name": ["d1"], "text": ["aba"]})
        >>> as_corpus({"documents": frame}, "<data frame>")
        <Corpus: 1 sources, 1 documents>
    """
    if isinstance(frames, Mapping):
        for name in frames:
            if not isinstance(name, str) or name not in TABLES:
                hint = did_you_mean(str(name), TABLES, f"use one of {', '.join(TABLES)}")
                raise WrongFrame(f"unknown table {name}; {hint}")
        tables = {name: _polars(name, frame) for name, frame in frames.items()}
    else:
        frame = _polars(table or "the data frame", frames)
        tables = {table or _table_of(frame): frame}
    if not tables:
        raise WrongFrame(f"no tables; a corpus has {', '.join(TABLES)}")
    numbered = _number_documents(tables)
    tables = {name: _convert(TABLES[name], frame) for name, frame in numbered.items()}
    if "sources" not in tables:
        source = {"row": 0, "path": path, "member": "", "format": "data frame", "sha256": ""}
        tables["sources"] = pl.DataFrame([source])
    try:
        return Corpus(**tables)
    except ValueError as error:
        raise WrongFrame(str(error)) from error


def _table_of(frame: pl.DataFrame) -> str:
    """The only table that has all columns of a frame, and of which it has all that are needed."""
    names = set(frame.columns)
    fitting = [
        name
        for name, table in TABLES.items()
        if names <= table.schema.keys() and _absent_columns(table, names).keys() <= _PLACES
    ]
    if len(fitting) != 1:
        reason = f"fits {' and '.join(fitting)}" if fitting else "fits no table of a corpus"
        columns = ", ".join(frame.columns)
        raise WrongFrame(f"a data frame of {columns} {reason}; use a mapping of table names")
    return fitting[0]


def _absent_columns(table: Table, names: Collection[str]) -> dict[str, Column]:
    """The columns that must be there and are not."""
    return {c.name: c for c in table.columns if not c.nullable and c.name not in names}


def _polars(name: object, frame: Any) -> pl.DataFrame:
    """A frame of another library in Polars."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if not is_frame(frame) or isinstance(frame, type):
        raise WrongFrame(f"{name} is {type(frame).__name__}, expected a data frame")
    try:
        try:
            return pl.DataFrame(frame)
        except ImportError:  # pandas exports through pyarrow only, which need not be there
            names = getattr(frame, "columns", None)
            if names is None:  # a single column
                raise TypeError("it has no columns with names") from None
            columns = {str(name): frame[name].tolist() for name in names}
            for values in columns.values():
                for row, value in enumerate(values):
                    is_nan = isinstance(value, float) and math.isnan(value)
                    if is_nan or type(value).__name__ in {"NAType", "NaTType"}:
                        values[row] = None
            return pl.DataFrame(columns)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise WrongFrame(f"{name} cannot be read as a data frame: {error}") from error


def _number_documents(frames: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The frames with numbers for documents that they name, and a table of these documents."""
    names = {
        table: frame["document"].cast(pl.String)
        for table, frame in frames.items()
        if "document" in TABLES[table].schema
        and isinstance(frame.schema.get("document"), (pl.String, *_TEXT))
    }
    if not names:
        return dict(frames)
    listed = frames.get("documents")
    if listed is None:
        every = pl.concat(names.values()).drop_nulls().unique(maintain_order=True)
        listed = pl.DataFrame({"name": every})
    documents = _convert(TABLES["documents"], listed)
    if documents["name"].is_duplicated().any():
        raise WrongFrame("documents.name must be unique")
    tables = {**frames, "documents": documents}
    numbers = dict(documents.select("name", "row").iter_rows())
    for table, column in names.items():
        unknown = column.filter(~column.is_in(list(numbers)) & column.is_not_null())
        if len(unknown):
            hint = did_you_mean(unknown[0], numbers, "add it to the table documents")
            raise WrongFrame(f"{table}.document: unknown document {unknown[0]}; {hint}")
        rows = column.replace_strict(numbers, return_dtype=pl.Int64) if numbers else column
        tables[table] = frames[table].with_columns(document=rows)
    return tables


def _convert(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with the declared types, where nothing changes in that.

    The columns that only place its rows are added.
    """
    position = pl.int_range(frame.height, dtype=pl.Int64, eager=True)
    places = {"row": position, "record": position + 1, "origin": position * 0}
    for name in frame.columns:
        if name not in table.schema:
            hint = did_you_mean(name, table.schema, f"it has {', '.join(table.schema)}")
            raise WrongFrame(f"{table.name} has no column {name}; {hint}")
    absent = _absent_columns(table, frame.columns)
    for name, column in absent.items():
        if name not in places:
            raise WrongFrame(f"{table.name}.{name} is missing ({column.dtype})")
    frame = frame.with_columns(places[name].alias(name) for name in absent)
    columns = {column.name: column for column in table.columns}
    return frame.select(_cast(table.name, columns[each.name], each) for each in frame.get_columns())


def _cast(table: str, column: Column, values: pl.Series) -> pl.Series:
    """Values as the type of a column, if nothing changes in that."""
    dtype, expected = values.dtype, column.dtype
    if dtype.is_float() and expected != pl.String:
        values = values.fill_nan(None)  # pandas has no other null in numbers
    if dtype == expected:
        return values
    if column.name == "label" and dtype.is_numeric():  # as tables have them
        texts = values.fill_nan(None) if dtype.is_float() else values
        return texts.cast(pl.String).str.strip_suffix(".0")
    converts = (
        dtype == pl.Null
        or (expected == pl.String and isinstance(dtype, _TEXT))
        or (expected == pl.Float64 and dtype.is_numeric())
        or (isinstance(expected, pl.List) and isinstance(dtype, pl.List))
        or (expected == pl.Int64 and dtype.is_integer())
        or (expected == pl.Int64 and dtype.is_numeric() and (values == values.floor()).all())
    )
    if not converts:
        raise WrongFrame(f"{table}.{column.name} is {dtype}, expected {expected}")
    try:
        return values.cast(expected)
    except pl.exceptions.PolarsError as error:  # beyond the range of the type
        raise WrongFrame(f"{table}.{column.name} is not {expected}: {error}") from error
