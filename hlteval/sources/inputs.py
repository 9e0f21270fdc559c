"""Inputs of a program: whatever it has in place of a path, as a name that represents it.

A path stays a path. An open file, a corpus or tables get a name, an `OpenInput`, that represents
them in messages and that `open_source` opens.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, Union

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.representation import TABLES, Column, Corpus, Table
from hlteval.sources.archives import too_large
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
        return _existing(argument, value)
    if not isinstance(value, type):
        if callable(getattr(value, "read", None)):
            return _stream(argument, value)
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


def _existing(argument: str, value: str | os.PathLike[str]) -> str:
    """A path of the disk, a URL, or `-`."""
    path = _plain(argument, value)
    if path != "-" and not is_url(path) and not os.path.lexists(path):
        reason = f"{argument}: no such file or folder"
        raise FileNotFoundError(errno.ENOENT, reason, path)
    return path


def _stream(argument: str, stream: Any) -> OpenInput:
    """An open file, read from where it is to its end."""
    name = getattr(stream, "name", None)
    path = os.fspath(name) if isinstance(name, str | Path) and str(name) else STREAM
    chunks = _Chunks(argument, stream, printable(path))
    return OpenInput(open_stream(chunks, path), decoded=chunks.is_text)


class _Chunks:
    """The bytes of an open file; text is encoded as UTF-8."""

    def __init__(self, argument: str, stream: Any, label: str) -> None:
        self.argument, self.stream, self.label = argument, stream, label
        self.is_text = False

    def __iter__(self) -> Iterator[bytes]:
        total = 0
        while chunk := self.next():
            total += len(chunk)
            if total > LIMITS.file_bytes:
                limit = LIMITS.file_bytes
                raise too_large(self.label, f"more than {limit}", limit)
            yield chunk

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
    from hlteval.representation import Corpus

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
        given = {_table(name): _polars(name, frame) for name, frame in frames.items()}
    else:
        frame = _polars(table or "the data frame", frames)
        given = {table or _table_of(frame): frame}
    if not given:
        raise WrongFrame(f"no tables; a corpus has {', '.join(TABLES)}")
    given = _with_documents(given)
    placed = {name: _placed(TABLES[name], frame) for name, frame in given.items()}
    if "sources" not in placed:
        source = {"row": 0, "path": path, "member": "", "format": "data frame", "sha256": ""}
        placed["sources"] = pl.DataFrame([source])
    try:
        return Corpus(**{name: _typed(TABLES[name], frame) for name, frame in placed.items()})
    except WrongFrame:
        raise
    except ValueError as error:
        raise WrongFrame(str(error)) from error


def _table(name: object) -> str:
    if not isinstance(name, str) or name not in TABLES:
        hint = did_you_mean(str(name), TABLES, f"use one of {', '.join(TABLES)}")
        raise WrongFrame(f"unknown table {name}; {hint}")
    return name


def _table_of(frame: pl.DataFrame) -> str:
    """The only table that has all columns of a frame, and of which it has all that are needed."""
    names = set(frame.columns)
    fitting = [
        name
        for name, table in TABLES.items()
        if names <= table.schema.keys() and {c.name for c in _needed(table)} <= names
    ]
    if len(fitting) != 1:
        reason = f"fits {' and '.join(fitting)}" if fitting else "fits no table of a corpus"
        columns = ", ".join(frame.columns)
        raise WrongFrame(f"a data frame of {columns} {reason}; use a mapping of table names")
    return fitting[0]


def _needed(table: Table) -> list[Column]:
    """The columns that must be there."""
    filled = {"row", "origin", "record"}
    return [c for c in table.columns if not c.nullable and c.name not in filled]


def _polars(name: object, frame: Any) -> pl.DataFrame:
    """A frame of another library in Polars."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if not is_frame(frame) or isinstance(frame, type):
        raise WrongFrame(f"{name} is {type(frame).__name__}, expected a data frame")
    try:
        return _exported(frame)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise WrongFrame(f"{name} cannot be read as a data frame: {error}") from error


def _exported(frame: Any) -> pl.DataFrame:
    try:
        return pl.DataFrame(frame)
    except ImportError:  # pandas exports through pyarrow only, which need not be there
        columns = {str(column): frame[column].tolist() for column in frame.columns}
        values = {name: [None if _is_null(v) else v for v in c] for name, c in columns.items()}
        return pl.DataFrame(values)


def _is_null(value: object) -> bool:
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan or type(value).__name__ in {"NAType", "NaTType"}


def _with_documents(frames: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The frames with numbers for documents that they name, and a table of these documents."""
    named = {name: frame for name, frame in frames.items() if _names_documents(name, frame)}
    if not named:
        return dict(frames)
    columns = [frame["document"].cast(pl.String) for frame in named.values()]
    listed = frames.get("documents")
    if listed is None:
        names = pl.concat(columns).drop_nulls().unique(maintain_order=True)
        listed = pl.DataFrame({"name": names})
    documents = _typed(TABLES["documents"], _placed(TABLES["documents"], listed))
    if documents["name"].is_duplicated().any():
        raise WrongFrame("documents.name must be unique")
    numbers = dict(documents.select("name", "row").iter_rows())
    renumbered = {name: _numbered(name, frame, numbers) for name, frame in named.items()}
    return {**frames, "documents": documents, **renumbered}


def _names_documents(name: str, frame: pl.DataFrame) -> bool:
    """Whether documents are named, not numbered."""
    if "document" not in TABLES[name].schema or "document" not in frame.columns:
        return False
    dtype = frame.schema["document"]
    return dtype == pl.String or isinstance(dtype, _TEXT)


def _numbered(table: str, frame: pl.DataFrame, numbers: Mapping[str, int]) -> pl.DataFrame:
    names = frame["document"].cast(pl.String)
    unknown = names.filter(~names.is_in(list(numbers)) & names.is_not_null())
    if len(unknown):
        hint = did_you_mean(unknown[0], numbers, "add it to the table documents")
        raise WrongFrame(f"{table}.document: unknown document {unknown[0]}; {hint}")
    found = names.replace_strict(numbers, return_dtype=pl.Int64) if numbers else names
    return frame.with_columns(found.alias("document"))


def _placed(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with the columns that only place its rows."""
    position = pl.int_range(frame.height, dtype=pl.Int64, eager=True)
    needed = {column.name for column in table.columns if not column.nullable}
    own = {"row": position, "record": position + 1, "origin": position * 0}
    absent = [own[name].alias(name) for name in own if name in needed - {*frame.columns}]
    return frame.with_columns(absent)


def _typed(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with the declared types, where nothing changes in that."""
    for name in frame.columns:
        if name not in table.schema:
            hint = did_you_mean(name, table.schema, f"it has {', '.join(table.schema)}")
            raise WrongFrame(f"{table.name} has no column {name}; {hint}")
    for column in _needed(table):
        if column.name not in frame.columns:
            raise WrongFrame(f"{table.name}.{column.name} is missing ({column.dtype})")
    columns = {column.name: column for column in table.columns}
    return pl.DataFrame(
        [_cast(table.name, columns[values.name], values) for values in frame.get_columns()]
    )


def _cast(table: str, column: Column, values: pl.Series) -> pl.Series:
    dtype = values.dtype
    if dtype.is_float() and column.dtype != pl.String:
        values = values.fill_nan(None)  # pandas has no other null in numbers
    if dtype == column.dtype:
        return values
    if _converts(values, column.dtype):
        try:
            return values.cast(column.dtype)
        except pl.exceptions.PolarsError as error:  # beyond the range of the type
            raise WrongFrame(f"{table}.{column.name} is not {column.dtype}: {error}") from error
    raise WrongFrame(f"{table}.{column.name} is {dtype}, expected {column.dtype}")


def _converts(values: pl.Series, expected: object) -> bool:
    """Whether values can be cast without a change."""
    dtype = values.dtype
    if dtype == pl.Null:
        return True
    if expected == pl.String:
        return isinstance(dtype, _TEXT)
    if expected == pl.Float64:
        return dtype.is_numeric()
    if isinstance(expected, pl.List):
        return isinstance(dtype, pl.List)
    if expected != pl.Int64 or not dtype.is_numeric():
        return False
    return dtype.is_integer() or bool((values == values.floor()).all())
