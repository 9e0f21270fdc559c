r"""The corpus as JSON Lines, for people.

The first line is a header; then follows one object per row, the tables and their columns in
declared order. A null is left out. The same corpus gives the same bytes.

    {"format":"hlteval-corpus","version":1}
    {"table":"documents","row":0,"name":"d1","text":"aba"}
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO

import msgspec
import polars as pl

from hlteval.representation.corpus import Corpus
from hlteval.representation.schema import SCHEMA_VERSION, TABLES
from hlteval.representation.table import Table

FORMAT = "hlteval-corpus"
"""The name of the format in the header."""
_SLICE = 50_000
"""Rows that are encoded at once."""
_IN_MEMORY = 1_000_000
"""Bytes of a table that wait in memory, not in a file, for the tables before it."""


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    format: str
    version: int


def write_jsonl(corpus: Corpus, stream: BinaryIO) -> None:
    r"""Write a corpus as JSON Lines in UTF-8.

    Examples:
        >>> stream = BytesIO()
        >>> write_jsonl(Corpus(documents=[{"row": 0, "name": "d1"}]), stream)
        >>> stream.getvalue().splitlines()[1]
        b'{"table":"documents","row":0,"name":"d1"}'
    """
    _write_header(stream)
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
        parts: dict[str, IO[bytes]] = {}
        for tables in Corpus.numbered(corpora):
            for name, frame in tables.items():
                if name not in parts:
                    parts[name] = stack.enter_context(
                        SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(folder))
                    )
                _write_rows(TABLES[name], frame, parts[name])
        _write_header(stream)
        for name in TABLES:
            if name in parts:
                parts[name].seek(0)
                shutil.copyfileobj(parts[name], stream, _IN_MEMORY)


def _write_header(stream: IO[bytes]) -> None:
    stream.write(msgspec.json.encode(Header(FORMAT, SCHEMA_VERSION)) + b"\n")


def _write_rows(table: Table, frame: pl.DataFrame, stream: IO[bytes]) -> None:
    """The rows of a table, some at a time."""
    line = _line(table)
    for part in frame.iter_slices(_SLICE) if frame.height else ():
        buffer = BytesIO()
        # JSON has no line breaks, so lines without any quoting are lines of JSON.
        part.select(line).write_csv(buffer, include_header=False, quote_style="never")
        stream.write(buffer.getbuffer())


def _line(table: Table) -> pl.Expr:
    """The rows as JSON objects; each column is encoded separately, so that nulls are left out."""
    members = [_member(column.name, column.dtype) for column in table.columns]
    head = pl.lit(f'{{"table":"{table.name}"')
    return pl.concat_str([head, *members], separator=",", ignore_nulls=True) + "}"


def _member(name: str, dtype: object) -> pl.Expr:
    """A column as members of objects, null where it is null."""
    if dtype == pl.Int64:
        return pl.lit(f'"{name}":') + pl.col(name).cast(pl.String)
    encoded = pl.struct(name).struct.json_encode().str.strip_prefix("{").str.strip_suffix("}")
    return pl.when(pl.col(name).is_not_null()).then(encoded)
