"""The corpus on disk as Parquet: a folder with one file per table.

Every table is written, also an empty one. The schema version stands in the key-value metadata of
each file, under `hlteval.schema`. The same corpus gives the same bytes.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import polars as pl

from hlteval.representation.corpus import BrokenKey, Corpus
from hlteval.representation.schema import SCHEMA_VERSION, TABLES, Table

VERSION_KEY = "hlteval.schema"
"""Where a Parquet file says which schema version it holds."""

# Polars panics on some damaged files; a panic is no Exception.
_DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, UnicodeError)


class StoreError(ValueError):
    """A stored corpus cannot be read.

    Attributes:
        message: what is wrong and what to do.
        file: the file at fault, where its name is known.
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
    """Write a corpus as Parquet into a folder, which is made where it does not exist.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}])
        >>> with TemporaryDirectory() as folder:
        ...     save(corpus, Path(folder))
        ...     load(Path(folder)) == corpus
        True
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in corpus.tables():
        buffer = BytesIO()
        frame.rechunk().write_parquet(buffer, metadata={VERSION_KEY: str(SCHEMA_VERSION)})
        (folder / f"{name}.parquet").write_bytes(buffer.getvalue())


def load(folder: Path) -> Corpus:
    """Read a corpus that `save` wrote.

    Raises:
        StoreError: if a table is missing, is no Parquet file, was written with another schema
            version, has other columns or types, or if a key is repeated or leads nowhere.
    """
    tables = {name: _read(table, folder / f"{name}.parquet") for name, table in TABLES.items()}
    try:
        corpus = Corpus(**tables)
        corpus.check_keys()
    except BrokenKey as error:
        raise StoreError(str(error), str(folder / f"{error.table}.parquet")) from error
    except ValueError as error:
        raise StoreError(str(error), str(folder)) from error
    return corpus


def version_fault(version: object) -> str | None:
    """What to say of a schema version, or None if it is the one that is read here.

    Examples:
        >>> version_fault(SCHEMA_VERSION) is None
        True
    """
    if str(version) == str(SCHEMA_VERSION):
        return None
    return (
        f"the corpus has schema version {version}, but this version of hlteval reads "
        f"{SCHEMA_VERSION}; convert it again from its sources"
    )


def _read(table: Table, path: Path) -> pl.DataFrame:
    # Bytes, not the path: Polars would take `*` and `[` in it for a pattern.
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise StoreError(f"missing table {table.name}", str(path)) from error
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", str(path)) from error
    try:
        fault = _metadata_fault(content)
        frame = table.empty() if fault else pl.read_parquet(content)
    except _DAMAGED as error:
        raise StoreError("invalid or truncated Parquet file", str(path)) from error
    if fault := fault or _shape_fault(table, frame):
        raise StoreError(fault, str(path))
    return frame


def _metadata_fault(content: bytes) -> str | None:
    version = pl.read_parquet_metadata(content).get(VERSION_KEY)
    if version is None:
        return "Parquet file is not a table of a corpus"
    return version_fault(version)


def _shape_fault(table: Table, frame: pl.DataFrame) -> str | None:
    """How a frame differs from its declaration, in words."""
    declared, given = table.schema, frame.schema
    for name, dtype in declared.items():
        if name not in given:
            return f"table {table.name} is missing the column {name}"
        if given[name] != dtype:
            return f"column {table.name}.{name} is {given[name]}, expected {dtype}"
    for name in given:
        if name not in declared:
            return f"unknown column {name} in table {table.name}"
    return None
