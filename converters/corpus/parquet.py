"""The tables of a corpus as Parquet: a folder with one file per table.

Format:
    `<table>.parquet` for every table of docs/representation.md, with the schema version as
    metadata.

Conventions:
    Those of the representation: nothing is lost. Columns that a file lacks are null where that is
    allowed; unknown columns are ignored.

Codes raised: COR101, COR102.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from hlteval.converters.format import EVERYTHING, Format, ReadResult
from hlteval.findings import FieldRef, Finding, Location, Span, finding
from hlteval.representation import TABLES, Corpus, StoreError, load, save
from hlteval.sources import Member, Source

_FILES = frozenset(f"{table}.parquet" for table in TABLES)


def sniff(source: Source) -> bool:
    """Whether the source is a folder with the table of documents."""
    return source.kind == "folder" and any(m.name == "documents.parquet" for m in source.members)


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus, as one batch."""
    yield loaded(partial(load, Path(source.path)), source.path)


def loaded(read: Callable[[Callable[[StoreError], None]], Corpus], path: str) -> ReadResult:
    """A saved corpus with its findings.

    Args:
        read: reads the corpus; its argument is called for each column that is ignored.
        path: the file of findings about all of it.
    """
    ignored: list[StoreError] = []
    try:
        corpus = read(ignored.append)
    except StoreError as error:
        return ReadResult(Corpus(), (_finding("COR101", error, path),))
    return ReadResult(corpus, tuple(_finding("COR102", error, path) for error in ignored))


def _finding(code: str, error: StoreError, path: str) -> Finding:
    span = Span(error.line, error.column or 1, (error.column or 1) + 1) if error.line else None
    return finding(code, file=error.file or path, span=span, reason=error.message)


def locate(_: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """None: a corpus has no places of its own."""
    return [None for _ in places]


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All batches as one corpus."""
    save(Corpus.concat(corpora), path)


FORMAT = Format(
    name="corpus",
    title="tables as Parquet: a folder with one file per table",
    suffixes=(".corpus",),
    layout="single_file",
    carries=EVERYTHING,
    sniff=sniff,
    documents=lambda source: {"": tuple(m for m in source.members if m.name in _FILES)},
    read=read,
    codes=("COR",),
    locate=locate,
    write=write,
    has_rows=True,
)
