r"""The tables of a corpus as JSON Lines: human-readable, and for tools that do not read Parquet.

Format:
    A header, then one line per row: the name of its table and its columns, without nulls.

Conventions:
    Those of the representation: nothing is lost. Columns that a row lacks are null where that is
    allowed; unknown columns are ignored.

Example lines:
    {"format":"hlteval-corpus","version":1}
    {"table":"documents","row":0,"name":"d1","text":"aba"}

Codes raised: CORxxx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hlteval.converters.corpus.checks import BadLine, Defect, checked
from hlteval.converters.corpus.parquet import locate, store_finding
from hlteval.converters.format import EVERYTHING, Format, ReadResult
from hlteval.converters.toolkit.single_file import head
from hlteval.findings import Finding, Span, entry, excerpt
from hlteval.representation import Corpus, StoreError, write_jsonl
from hlteval.representation.jsonl import JsonRows, read_rows
from hlteval.sources import Source, Unreadable

_HEADER = '"hlteval-corpus"'
_KEPT = 1000
"""Bytes of a line that is not a row that are kept as its text."""


def sniff(source: Source) -> bool:
    """Whether the source is a single file that begins with the header."""
    return _HEADER in head(source, 200).partition("\n")[0]


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus, as one batch."""
    for member in source.members:
        try:
            content = member.fetch()
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,))
        else:
            yield _read(content, member.display)


def _read(content: bytes, display: str) -> ReadResult:
    """The rows of a file that can be kept."""
    ignored: list[StoreError] = []
    bad: list[StoreError] = []
    try:
        rows = read_rows(content, display, ignored.append, bad.append)
    except StoreError as error:
        first = content.split(b"\n", error.line or 0)
        return ReadResult(Corpus(), (store_finding("COR101", error, display, first),))
    lines = [BadLine.of(error.line or 0, _text(rows.lines, error)) for error in bad]
    found = checked(rows.tables, display, lines)
    findings = [store_finding("COR103", error, display, rows.lines) for error in bad]
    findings += [store_finding("COR102", error, display, rows.lines) for error in ignored]
    findings += [_finding(defect, rows, display) for defect in found.defects]
    return ReadResult(found.corpus, tuple(findings))


def _text(lines: Sequence[bytes], error: StoreError) -> str:
    return lines[(error.line or 1) - 1][:_KEPT].decode("utf-8", "replace")


def _finding(defect: Defect, rows: JsonRows, display: str) -> Finding:
    """The finding of a row at its line."""
    place = rows.error("", defect.table, defect.ordinal, defect.column)
    line = rows.lines[(place.line or 1) - 1].decode()
    column = place.column or 1
    span = Span(place.line or 1, column, column + 1)
    return entry(defect.code).finding(
        defect.values, file=display, span=span, excerpt=excerpt(line, span)
    )


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All batches as one corpus."""
    with path.open("wb") as stream:
        write_jsonl(Corpus.concat(corpora), stream)


FORMAT = Format(
    name="jsonl",
    title="tables as JSON Lines: one row per line",
    suffixes=(".jsonl",),
    layout="single_file",
    carries=EVERYTHING,
    sniff=sniff,
    read=read,
    codes=("COR",),
    locate=locate,
    write=write,
    has_rows=True,
)
