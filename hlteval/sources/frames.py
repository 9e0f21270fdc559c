"""Data frames of other libraries as the tables of a corpus.

Columns that only place a row may be left out: `row` is then the position of the row, `record` the
same counted from 1, and `origin` the frame itself. `document` may hold the names of documents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.representation import TABLES, Column, Corpus, Table

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
