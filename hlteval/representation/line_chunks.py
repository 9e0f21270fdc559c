"""The lines of a file that need not be in memory: read in chunks, and again by their numbers."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple, Protocol

CHUNK = 4_000_000
"""Bytes of lines that are decoded at once."""


class Readable(Protocol):
    """Bytes that are read from any offset."""

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes at `offset`, fewer only at the end."""


class _Bytes(NamedTuple):
    content: bytes

    def read(self, offset: int, size: int) -> bytes:
        return self.content[offset : offset + size]


class _Chunk(NamedTuple):
    """Where a chunk begins, in bytes and lines, and its size."""

    offset: int
    number: int
    size: int


class Lines:
    r"""The lines of a file by their numbers, from 1; only a line feed ends a line.

    Where a chunk begins is noted when it is read for the first time, and where its lines end when
    one of them is read again.

    Args:
        source: the bytes, or what reads them.
        size: bytes of a chunk, more or less: it ends with its last line. The first line is one.

    Examples:
        >>> lines = Lines(b"a\nbc\n\nd", 3)
        >>> list(lines.chunks())
        [(1, b'a\n'), (2, b'bc\n\n'), (4, b'd')]
        >>> [lines[number] for number in (3, 2, 4)]
        [b'', b'bc', b'd']
    """

    def __init__(self, source: Readable | bytes, size: int = CHUNK) -> None:
        self._source = _Bytes(source) if isinstance(source, bytes) else source
        self._size = size
        self._chunks: list[_Chunk] = []
        self._ends: dict[int, array[int]] = {}  # of lines in a chunk, not counting line feeds
        self._last: tuple[int, bytes] = (-1, b"")

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """The chunks of whole lines, each with the number of its first line."""
        offset, number = 0, 1
        for chunk in self._pieces():
            self._chunks.append(_Chunk(offset, number, len(chunk)))
            yield number, chunk
            offset += len(chunk)
            number += chunk.count(b"\n")

    def _pieces(self) -> Iterator[bytes]:
        """The first line, and then as many lines as end in a piece of the file."""
        rest: list[bytes] = []  # the beginning of a line, which may be longer than a piece
        offset, find = 0, bytes.find
        while piece := self._source.read(offset, self._size):
            offset += len(piece)
            if end := find(piece, b"\n") + 1:
                find = bytes.rfind
                chunk, rest = b"".join([*rest, piece[:end]]), []
                yield chunk
            rest.append(piece[end:])
        chunk = b"".join(rest)
        rest.clear()
        if chunk:
            yield chunk

    def __getitem__(self, number: int) -> bytes:
        """A line of a chunk that was read, without its line feed."""
        at = bisect_right(self._chunks, number, key=lambda chunk: chunk.number) - 1
        if at < 0:  # an empty file has one line
            return b""
        chunk = self._chunks[at]
        if at not in self._ends:
            content = self._source.read(chunk.offset, chunk.size)
            self._ends[at] = array("Q", accumulate(map(len, content.split(b"\n"))))
            self._last = (at, content)
        ends, index = self._ends[at], number - chunk.number
        if index >= len(ends):  # the file was changed
            return b""
        begin, end = index + (ends[index - 1] if index else 0), index + ends[index]
        if self._last[0] == at:
            return self._last[1][begin:end]
        return self._source.read(chunk.offset + begin, end - begin)


class LineNumbers:
    """The lines of the rows of a table, which are mostly in lines that follow each other.

    Examples:
        >>> numbers = LineNumbers()
        >>> for first, count in ((2, 3), (5, 1), (9, 2)):
        ...     numbers.add(first, count)
        >>> [numbers[row] for row in range(6)]
        [2, 3, 4, 5, 9, 10]
    """

    def __init__(self) -> None:
        self._count = 0
        self._rows, self._lines = array("Q"), array("Q")

    def add(self, first: int, count: int) -> None:
        """Add rows in lines from a first one."""
        if not self._rows or first != self._lines[-1] + self._count - self._rows[-1]:
            self._rows.append(self._count)
            self._lines.append(first)
        self._count += count

    def __getitem__(self, row: int) -> int:
        """The line of a row, by its 0-based index."""
        at = bisect_right(self._rows, row) - 1
        return self._lines[at] + row - self._rows[at]
