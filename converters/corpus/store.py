"""The corpus on disk as Parquet: a folder with one file per table.

Every table is written, also an empty one. The key-value metadata of each file hold the schema
version under `hlteval.schema`. The same corpus gives the same bytes.

Columns that may be null can be added without a new schema version: a reader fills those that a file
lacks, and ignores and reports those that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import polars as pl

from hlteval.converters.toolkit.parquet_sizes import size_problem
from hlteval.representation import SCHEMA_VERSION, Corpus, Table

#: The key of the schema version in the metadata of a Parquet file.
VERSION_KEY = "hlteval.schema"

# Polars panics on some damaged files; a panic is not an Exception.
_DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError)


class StoreError(ValueError):
    """A saved corpus cannot be read, or not all of it.

    Attributes:
        message: the problem and its fix.
        file: the file with the problem, if its name is known.
        line: 1-based; None for a Parquet file.
        column: 1-based, in code points; None for a Parquet file.
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.file, self.line, self.column = message, file, line, column


def save(corpus: Corpus, folder: Path) -> None:
    """Write a corpus as Parquet into a folder, which is created if necessary.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}])
        >>> with TemporaryDirectory() as folder:
        ...     save(corpus, Path(folder))
        ...     pl.read_parquet(Path(folder, "documents.parquet"))["name"].to_list()
        ['d1']
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in corpus.tables():
        buffer = BytesIO()
        frame.rechunk().write_parquet(buffer, metadata={VERSION_KEY: str(SCHEMA_VERSION)})
        (folder / f"{name}.parquet").write_bytes(buffer.getvalue())


def version_problem(version: object) -> str | None:
    """The message about a schema version; None for the version that is read here.

    Examples:
        >>> version_problem(SCHEMA_VERSION) is None
        True
    """
    if str(version) == str(SCHEMA_VERSION):
        return None
    return (
        f"the corpus has schema version {version}, but this version of hlteval reads "
        f"{SCHEMA_VERSION}; convert it again from its sources"
    )


def unknown_column(table: str, column: str) -> str:
    """The message about a column that is ignored.

    Examples:
        >>> unknown_column("frames", "colour")
        'the table frames has an unknown column colour'
    """
    return f"the table {table} has an unknown column {column}"


def missing_table(name: str) -> str:
    """The message about a table without a file.

    Examples:
        >>> missing_table("frames")
        'missing table frames'
    """
    return f"missing table {name}"


def read_table(
    table: Table, content: bytes, file: str, report: Callable[[StoreError], None]
) -> pl.DataFrame:
    """A table of a corpus, which may have nulls and keys that are not allowed.

    Args:
        table: its declaration.
        content: its Parquet file.
        file: the name of that in errors.
        report: called for each column that is ignored because this version does not know it.

    Raises:
        StoreError: if it is not a Parquet file, has another schema version or more rows than its
            size allows, lacks a column that may not be null, or holds another type.

    Examples:
        >>> from hlteval.representation import TABLES
        >>> try:
        ...     read_table(TABLES["documents"], b"", "d.parquet", print)
        ... except StoreError as error:
        ...     print(error)
        d.parquet: invalid or truncated Parquet file
    """
    try:
        version = pl.read_parquet_metadata(BytesIO(content)).get(VERSION_KEY)
        problem = (
            "Parquet file is not a table of a corpus"
            if version is None
            else version_problem(version) or size_problem(content)
        )
        frame = pl.DataFrame() if problem else pl.read_parquet(content)
    except _DAMAGED as error:
        raise StoreError("invalid or truncated Parquet file", file) from error
    if problem:
        raise StoreError(problem, file)
    if problem := _shape_problem(table, frame):
        raise StoreError(problem, file)
    for name in frame.columns:
        if name not in table.schema:
            report(StoreError(unknown_column(table.name, name), file))
    return frame.select(name for name in table.schema if name in frame.columns)


def _shape_problem(table: Table, frame: pl.DataFrame) -> str:
    """The first difference of a frame from its declaration that cannot be made up for."""
    for column in table.columns:
        if column.name not in frame.columns:
            if not column.nullable:
                return f"table {table.name} is missing the column {column.name}"
        elif frame.schema[column.name] != column.dtype:
            dtype = frame.schema[column.name]
            return f"column {table.name}.{column.name} is {dtype}, expected {column.dtype}"
    return ""
