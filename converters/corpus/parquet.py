"""The corpus itself, as Parquet: a folder with a file per table.

Format:
    `<table>.parquet` for every table of docs/representation.md, each with the schema version.

Conventions:
    Those of the representation: nothing is lost.

Codes raised: COR101.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hlteval.converters.format import EVERYTHING, Format, ReadResult
from hlteval.findings import FieldRef, Finding, Location, Span, finding
from hlteval.representation import Corpus, StoreError, load, save
from hlteval.sources import Member, Source


def sniff(source: Source) -> bool:
    """Whether it is a folder with the table of documents."""
    return source.kind == "folder" and any(m.name == "documents.parquet" for m in source.members)


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus, as one batch."""
    try:
        yield ReadResult(load(Path(source.path)))
    except StoreError as error:
        yield ReadResult(Corpus(), (unreadable(error, source.path),))


def unreadable(error: StoreError, path: str) -> Finding:
    """The finding that a stored corpus cannot be read."""
    span = Span(error.line, error.column or 1, (error.column or 1) + 1) if error.line else None
    return finding("COR101", file=error.file or path, span=span, reason=error.message)


def locate(_: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Nothing: the records of a corpus stand in the files that it was read from."""
    return [None for _ in places]


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All batches as one corpus."""
    save(Corpus.concat(corpora), path)


FORMAT = Format(
    name="corpus",
    title="the representation as Parquet: a folder with a file per table",
    suffixes=(".corpus",),
    layout="single_file",
    carries=EVERYTHING,
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
)
