"""Corpora that were saved, read as the formats of saved corpora read their tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hlteval.converters.corpus import jsonl
from hlteval.converters.corpus.parquet import StoreError, read_table
from hlteval.representation import TABLES, Corpus


def _ignore(_: StoreError) -> None:
    """Report nothing."""


def _refuse(_number: int, error: StoreError, _line: bytes) -> None:
    """Raise an error."""
    raise error


def load(folder: Path, report: Callable[[StoreError], None] = _ignore) -> Corpus:
    """Read a corpus that `save` wrote."""
    files = {name: folder / f"{name}.parquet" for name in TABLES}
    return Corpus(
        **{
            name: read_table(TABLES[name], file.read_bytes(), str(file), report)
            for name, file in files.items()
        }
    )


def lines_of(content: bytes, *size: int) -> jsonl.Lines:
    """The lines of a file in memory, in chunks of some size."""
    return jsonl.Lines(lambda offset, count: content[offset : offset + count], *size)


def read_jsonl(
    content: bytes, file: str | None = None, report: Callable[[StoreError], None] = _ignore
) -> Corpus:
    """Read a corpus that `write_jsonl` wrote; raise the error of the first line that is no row."""
    return Corpus(**jsonl.read_rows(lines_of(content), file, report, _refuse).tables)
