"""The tables of a corpus as Parquet: a folder with one file per table.

Format:
    `<table>.parquet` for every table of docs/representation.md, with the schema version as
    metadata.

Conventions:
    Those of the representation: nothing is lost. Columns that a file lacks are null where that is
    allowed; unknown columns are ignored.

Codes raised: CORxxx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.corpus.checks import Defect, checked
from hlteval.converters.format import EVERYTHING, Format, ReadResult
from hlteval.findings import (
    MAX_PER_CODE,
    Bounded,
    FieldRef,
    Finding,
    Location,
    Span,
    entry,
    finding,
)
from hlteval.representation import TABLES, Corpus, StoreError, save
from hlteval.representation.store import missing_table, read_table
from hlteval.sources import Member, Source, Unreadable

_FILES = frozenset(f"{table}.parquet" for table in TABLES)


def sniff(source: Source) -> bool:
    """Whether the source is a folder with the table of documents."""
    return source.kind == "folder" and any(m.name == "documents.parquet" for m in source.members)


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus, as one batch; nothing of it if a table cannot be read."""
    files = {member.name: member for member in source.members}
    tables: dict[str, pl.DataFrame] = {}
    findings: list[Finding] = []
    for name, table in TABLES.items():
        file = f"{name}.parquet"
        display = files[file].display if file in files else f"{source.path}/{file}"
        ignored: list[StoreError] = []
        try:
            if file not in files:
                raise StoreError(missing_table(name), display)
            tables[name] = read_table(table, files[file].fetch(), display, ignored.append)
        except Unreadable as reason:
            findings.append(reason.finding)
        except StoreError as error:
            findings.append(store_finding("COR101", error, display))
        findings += [store_finding("COR102", error, display) for error in ignored]
    if len(tables) < len(TABLES):
        yield ReadResult(Corpus(), tuple(findings))
        return
    found = checked(tables, source.path)
    findings += row_findings(found.defects, tables, source.path, source.max_per_code)
    yield ReadResult(found.corpus, tuple(findings))


def row_findings(
    defects: Iterable[Defect],
    tables: Mapping[str, pl.DataFrame],
    path: str,
    most: int = MAX_PER_CODE,
) -> list[Finding]:
    """The findings of rows, each with its table and the key of its row.

    Args:
        defects: what is wrong with rows.
        tables: the tables as they were read.
        path: the file or folder of the corpus.
        most: maximum number of findings of a code that are explained; 0 for all.
    """

    def finding(_: None, defect: Defect) -> Finding:
        key = tables[defect.table]["row"][defect.ordinal]
        row = defect.ordinal if key is None else int(key)
        return entry(defect.code).finding(defect.values, file=path, table=defect.table, row=row)

    bounded = Bounded(most)
    for defect in defects:
        bounded.add(defect.code, None, finding, defect)
    return bounded.findings


def store_finding(code: str, error: StoreError, path: str, line: bytes = b"") -> Finding:
    """The finding of a corpus, or of a line of it, that cannot be read.

    Args:
        code: of the finding.
        error: what is wrong.
        path: of the corpus.
        line: the line of the error, if it has one.
    """
    span = None
    if error.line:
        column, length = error.column or 1, len(line.decode("utf-8", "replace"))
        span = Span(error.line, column, min(column, length) + 1)
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
