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

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path

from hlteval.converters.corpus.checks import BadLines, Defect, checked
from hlteval.converters.corpus.lines import JsonRows, Lines, read_rows, write_batches
from hlteval.converters.corpus.parquet import StoreError, store_finding
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import head
from hlteval.findings import Bounded, Finding, Span, entry, excerpt, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable
from hlteval.sources.archives import kind_of_file

_HEADER = '"hlteval-corpus"'
#: Different lines whose text is one value where they are repeated.
_ALIKE = 1000
#: Bytes of a line that is not a row that are kept as its text.
_KEPT = 1000


def sniff(source: Source) -> bool:
    """Whether the source is a single file that begins with the header."""
    return _HEADER in head(source, 200).partition("\n")[0]


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus, as one batch."""
    for member in source.members:
        try:
            if kind := kind_of_file(source):
                found = finding("SRC205", file=member.display, kind=kind)
                yield ReadResult(Corpus(), (found,))
                continue
            yield read_lines(Lines(member.reader()), member)
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,))


def read_lines(lines: Lines, member: Member) -> ReadResult:
    """The rows of a file that can be kept."""
    ignored: list[StoreError] = []
    bad = _Rejected(member.max_per_code)
    try:
        rows = read_rows(lines, member.display, ignored.append, bad.add)
    except StoreError as error:
        return ReadResult(Corpus(), (_of_line("COR101", member, lines, None, error),))
    found = checked(rows.tables, member.display, BadLines(bad.numbers, bad.texts))
    bounded = Bounded(member.max_per_code)
    for number in bad.numbers:
        of_line = partial(_of_line, "COR103", member, lines)
        bounded.add("COR103", number, of_line, bad.explained.get(number))
    for unknown in ignored:
        of_line = partial(_of_line, "COR102", member, lines)
        bounded.add("COR102", unknown.line, of_line, unknown)
    for defect in found.defects:
        place = rows.numbers[defect.table][defect.ordinal]
        bounded.add(defect.code, place, partial(_of_row, member, rows), defect)
    return ReadResult(found.corpus, tuple(bounded.findings))


class _Rejected:
    """The lines that are not rows, of which the first are explained.

    Attributes:
        numbers: their numbers.
        texts: the beginning of each.
        explained: the errors of the first ones, by number.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.numbers: list[int] = []
        self.texts: list[str] = []
        self.explained: dict[int, StoreError] = {}
        self._text = lru_cache(_ALIKE)(_text)

    def add(self, number: int, error: StoreError, line: bytes) -> None:
        """Add a line with its error, or that of an equal one."""
        self.numbers.append(number)
        self.texts.append(self._text(line))
        if not self.most or len(self.explained) <= self.most:
            self.explained[number] = StoreError(error.message, error.file, number, error.column)


def _text(line: bytes) -> str:
    return line[:_KEPT].decode("utf-8", "replace")


def _of_line(
    code: str, member: Member, lines: Lines, _: int | None, error: StoreError | None
) -> Finding:
    """The finding of a line that is not a row, or that has an unknown column."""
    error = error or StoreError("")
    line = lines[error.line] if error.line else b""
    return store_finding(code, error, member.display, line)


def _of_row(member: Member, rows: JsonRows, _: int | None, defect: Defect) -> Finding:
    """The finding of a row at its line."""
    number, column = rows.place(defect.table, defect.ordinal, defect.column)
    line, span = rows.lines[number].decode("utf-8", "replace"), Span(number, column, column + 1)
    return entry(defect.code).finding(
        defect.values, file=member.display, span=span, excerpt=excerpt(line, span)
    )


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All batches as one corpus."""
    with path.open("wb") as stream:
        write_batches(corpora, stream, path.parent)


FORMAT = declaration(__name__)
