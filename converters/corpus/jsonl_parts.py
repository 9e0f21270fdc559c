r"""Large saved corpora as JSON Lines in parts: some documents, with their rows of all tables.

A file that was written at once has its tables one after the other, each in the order of documents.
Only its sources and the names of its documents are read when it is opened; where the rows of a
document begin is found in each table by halving. Whether all is as it was written shows when a part
is read: it has to be, byte for byte, what its rows are written as.
"""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import pairwise
from typing import NamedTuple

import msgspec
import polars as pl

from hlteval.converters.corpus import jsonl
from hlteval.converters.corpus.checks import check
from hlteval.converters.format import ReadResult
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable
from hlteval.sources.source import ReadAt
from hlteval.syntax.sections import CHUNK, Sections, Stretch

#: Bytes of a file that is read in parts.
LARGE = 24_000_000
#: Bytes in which a line is looked for first.
_LINE = 1_000
#: The tables with rows of documents, in their order in a file.
_TABLES = {
    name.encode(): number
    for number, (name, table) in enumerate(TABLES.items())
    if "document" in table.schema
}
_NUMBER = re.compile(rb'{"table":"\w+","row":(\d+)[,}]')
_ROW = re.compile(rb'{"table":"(\w+)","row":\d+,"document":(\d+)[,}]')


class _Document(msgspec.Struct):
    """A document, of which only the name is kept."""

    name: str


class Outline(NamedTuple):
    """The sources and documents of a file, which are known before its parts are read.

    Attributes:
        sources: the rows of its sources.
        names: of its documents.
        starts: the offset of the row of each, and of the first row of another table.
    """

    sources: list[dict[str, object]]
    names: list[str]
    starts: list[int]


def outline(member: Member) -> Outline | None:
    r"""The sources of a file and its documents; None where these are not its first rows.

    Examples:
        >>> text = b'{"format":"hlteval-corpus","version":1}\n{"table":"documents","row":0}\n'
        >>> outline(Member("", "s.jsonl", None, lambda: text)) is None
        True
    """
    sources, names, starts, offset = list[dict[str, object]](), list[str](), list[int](), 0
    try:
        for number, chunk in jsonl.Lines(member.reader()).chunks():
            for line in BytesIO(chunk):
                if number == 1 and not offset:
                    if line != jsonl.HEADER:
                        return None
                elif line.startswith(b'{"table":"sources",'):
                    sources.append(msgspec.json.decode(line))
                elif line.startswith(b'{"table":"documents",'):
                    names.append(msgspec.json.decode(line, type=_Document).name)
                    starts.append(offset)
                else:
                    return Outline(sources, names, [*starts, offset]) if sources and names else None
                offset += len(line)
    except (ValueError, RecursionError, Unreadable):
        return None
    return None


def open_outline(source: Source, least: int = LARGE) -> Source | None:
    """A saved corpus of which sources and names of documents are in memory; None for others.

    Args:
        source: any source.
        least: bytes that a file has at least.
    """
    if source.kind != "file" or len(source.members) != 1 or source.findings:
        return None
    (member,) = source.members
    if (member.size or 0) < least or not hasattr(member.fetch, "read") or not jsonl.sniff(source):
        return None
    if (found := outline(member)) is None:
        return None
    rows = [{name: row.get(name) for name in TABLES["sources"].schema} for row in found.sources]
    documents = [{"row": row, "name": name} for row, name in enumerate(found.names)]
    try:
        corpus, written = Corpus(sources=rows, documents=documents), BytesIO()
    except ValueError:
        return None
    jsonl.write_jsonl(corpus.replace(documents=()), written)
    if written.getvalue() != member.reader()(0, found.starts[0]):
        return None
    return replace(source, members=(), corpus=corpus, saved=member)


@dataclass(frozen=True)
class RowSections(Sections):
    """The documents of a file; their offsets are those of documents that are equally long.

    Attributes:
        member: the file.
        rows: the offset of the row of each document, and of the first row of another table.
    """

    member: Member = field(kw_only=True)
    rows: Sequence[int] = field(kw_only=True)

    def stretches(self, cuts: Sequence[int]) -> tuple[list[Stretch], str] | None:
        """The rows of documents between offsets where some begin, and the digest of the file.

        Returns:
            None where the rows of a table are not together, or not numbered from 0.
        """
        read, size = self.member.reader(), self.starts[-1]
        numbers = [0, *(bisect_left(self.starts, cut) for cut in cuts), len(self.names)]
        bounds, first = [[self.rows[number] for number in numbers]], self.rows[-1]
        for table in _TABLES.values():
            last = _place(read, (table + 1, 0), first, size)
            if last > first:
                inner = (_place(read, (table, number), first, last) for number in numbers[1:-1])
                bounds.append([first, *inner, last])
            first = last
        if first < size:
            return None
        digest = hashlib.sha256(read(0, self.rows[0]))
        for own in bounds:
            lines = 0
            for start, end in pairwise(own):
                row = _NUMBER.match(read(start, _LINE))
                if start < end and (row is None or int(row[1]) != lines):
                    return None
                for offset in range(start, end, CHUNK):
                    chunk = read(offset, min(CHUNK, end - offset))
                    digest.update(chunk)
                    lines += chunk.count(b"\n")
        found = list[Stretch]()
        for part, (start, end) in enumerate(pairwise([0, *cuts, size])):
            pieces = tuple((own[part], own[part + 1]) for own in bounds)
            found.append(Stretch(start, end, 0, jsonl.HEADER, pieces=pieces))
        return found, digest.hexdigest()


def _place(read: ReadAt, key: tuple[int, int], low: int, high: int) -> int:
    """The offset of the first row that is of a table and a document, or after these.

    Args:
        read: reads the bytes.
        key: the numbers of the table and of the document, by which rows are in order.
        low: an offset where a line begins.
        high: the offset after the last line that is looked at.
    """
    found = high
    while low < high:
        middle = (low + high) // 2
        begin, line = _line(read, middle)
        row = _ROW.match(line)
        if begin < high and row and (_TABLES.get(row[1], len(TABLES)), int(row[2])) < key:
            low = begin + len(line)
        else:
            found, high = min(found, begin), middle
    return found


def _line(read: ReadAt, at: int) -> tuple[int, bytes]:
    """The first line that begins at an offset, which is not 0, or after it; and its offset."""
    size, lines = _LINE, list[bytes]()
    while len(lines) < 3:
        data = read(at - 1, size)
        lines = data.split(b"\n", 2)
        if len(data) < size:
            lines += [b""] * 3
        size *= 2
    return at + len(lines[0]), lines[1] + b"\n"


def sections(member: Member) -> RowSections | None:
    """The documents of a file; None where its first rows are not sources and documents."""
    if (found := outline(member)) is None:
        return None
    size, count = member.size or 0, len(found.names)
    starts = [size * number // count for number in range(count + 1)]
    return RowSections(found.names, starts, [], "", member=member, rows=found.starts)


def read(source: Source) -> Iterator[ReadResult]:
    """The rows of a part; nothing if its bytes are not those that its rows are written as."""
    sources = (source.corpus or Corpus()).sources
    for member in source.members:
        content, written = member.fetch(), BytesIO()
        try:
            found = check({**_tables(content), "sources": sources})
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
            return
        jsonl.write_jsonl(found.corpus.replace(sources=()), written)
        keys = (table["row"].diff(null_behavior="drop") for _, table in found.corpus.tables())
        numbered = all((own == 1).all() for own in keys)
        if numbered and not found.groups and written.getvalue() == content:
            yield ReadResult(found.corpus)


def _tables(content: bytes) -> dict[str, pl.DataFrame]:
    """The tables of a file, where they are in order; Polars reads them, whatever it takes."""
    tables, offset = dict[str, pl.DataFrame](), len(jsonl.HEADER)
    for name, table in TABLES.items():
        begin = f'{{"table":"{name}",'.encode()
        if content.startswith(begin, offset):
            end = content.find(b"\n", content.rfind(b"\n" + begin) + 1) + 1
            tables[name] = pl.read_ndjson(content[offset:end], schema=table.schema)
            offset = end
    return tables
