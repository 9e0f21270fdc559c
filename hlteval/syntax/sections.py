"""Sections: the documents of a large file, where each has its lines together.

The file is cut into parts where documents begin, so that some can be read without the others, or in
several processes. Lines that begin documents, or are documents, are all known from a pass over the
bytes (`Sections`). In a table, a cell of each line names its document: only lines near a cut are
looked at (`TableSections`), so that whoever reads the parts must check that none has documents of
another one.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hlteval.sources import Member

#: Bytes that are searched at a time.
CHUNK = 16_000_000
#: Bytes that are searched first, where something is likely to be near.
NEAR = 64_000
#: What no plain table begins with.
_BOM = b"\xef\xbb\xbf"


class Stretch(NamedTuple):
    """Consecutive lines of a file.

    Attributes:
        start: the offset of their first byte.
        end: the offset after their last one.
        lines: how many lines of the file are before them.
        head: the first lines of the file, which name columns and are read before these.
        names: the names of their documents, where the lines do not have all of them.
        in_lines: whether a line is a record; others are numbered by bytes, so that those of all
            lines differ and are in order.
        pieces: the offsets of the lines, where these are in several places; `start` and `end` only
            order them then, and their records have their numbers.
    """

    start: int
    end: int
    lines: int
    head: bytes = b""
    names: tuple[str, ...] | None = None
    in_lines: bool = True
    pieces: tuple[tuple[int, int], ...] = ()

    @property
    def shift(self) -> int:
        """The shift of the numbers of lines that are read after the head."""
        return self.lines - self.head.count(b"\n")

    @property
    def records(self) -> int:
        """The shift of the numbers of records."""
        return self.shift if self.in_lines else self.start


class Divisible(ABC):
    """The documents of a file that is divided where some of them begin."""

    @abstractmethod
    def begins(self, at: int) -> Iterator[tuple[str, int]]:
        """The documents that begin after an offset: their names and offsets, in order."""

    @abstractmethod
    def find(self, names: Sequence[str], at: int, near: int = NEAR) -> tuple[str, int] | None:
        """A document of some that begins at an offset or after it, and its offset.

        Args:
            names: the documents, the first of which is preferred.
            at: the offset, at which a line begins.
            near: the number of bytes in which all are looked for first.
        """

    @abstractmethod
    def stretches(self, cuts: Sequence[int]) -> tuple[list[Stretch], str] | None:
        """The lines between offsets where documents begin, and the digest of the file.

        Returns:
            None where the file cannot be divided.
        """


@dataclass(frozen=True)
class Sections(Divisible):
    """The documents of a file, in its order.

    Attributes:
        names: their names.
        starts: the offset of the first byte of each, and the size of the file.
        lines: the number of lines before each, and of all lines.
        sha256: the digest of the file.
        numbered: whether the file does not have all names, but numbers are in them.
        head: the lines before the first document that name columns.
        in_lines: whether a line is a record. No document has more other records than bytes.
    """

    names: list[str]
    starts: list[int]
    lines: list[int]
    sha256: str
    numbered: bool = False
    head: bytes = b""
    in_lines: bool = True

    def begins(self, at: int) -> Iterator[tuple[str, int]]:
        """The documents that begin after an offset: their names and offsets, in order."""
        for number in range(bisect_right(self.starts, at, hi=len(self.names)), len(self.names)):
            yield self.names[number], self.starts[number]

    def find(self, names: Sequence[str], at: int, near: int = 0) -> tuple[str, int] | None:  # noqa: ARG002
        """The first of some documents that begins at an offset or after it, and its offset."""
        own = self._begins
        return next(((name, own[name]) for name in names if own.get(name, -1) >= at), None)

    @cached_property
    def _begins(self) -> dict[str, int]:
        """The offsets of documents, by name."""
        return dict(zip(self.names, self.starts, strict=False))

    def stretches(self, cuts: Sequence[int]) -> tuple[list[Stretch], str] | None:
        """The lines between offsets where documents begin, and the digest of the file."""
        numbers = [0, *(bisect_right(self.starts, cut) - 1 for cut in cuts), len(self.names)]
        return [self.stretch(*own) for own in pairwise(numbers)], self.sha256

    def stretch(self, first: int, last: int) -> Stretch:
        """The lines of the documents from one, to but not including another, by their numbers."""
        bounds = self.starts[first], self.starts[last], self.lines[first]
        names = tuple(self.names[first:last]) if self.numbered else None
        return Stretch(*bounds, self.head if first else b"", names, self.in_lines)


@dataclass(frozen=True)
class TableSections(Divisible):
    r"""The documents of a table, of which a cell of each line is the name.

    Attributes:
        member: the file, in UTF-8.
        column: the number of the cell, from 0; it is not the last one.
        separator: the character between cells.
        until: the character whose last occurrence in the cell ends the name, if one does.
        head: the first lines, which name columns.
        excluded: characters that the lines cannot have: such tables are not divided.
        comment: the beginning of lines without a document; empty where there are none.

    Examples:
        >>> table = b"m1\td1:0-2\t\nm2\td1:4-5\t\nm3\td2:0-2\t\n"
        >>> member = Member("", "s.tab", len(table), lambda: table)
        >>> sections = TableSections(member, column=1, until=b":")
        >>> [*sections.begins(0)], sections.find(["d3", "d2"], 0)
        ([('d2', 22)], ('d2', 22))
        >>> [(own.start, own.end, own.lines) for own in sections.stretches([22])[0]]
        [(0, 22, 0), (22, 33, 2)]
    """

    member: Member
    column: int
    separator: bytes = b"\t"
    until: bytes = b""
    head: bytes = b""
    excluded: bytes = b"\r"
    comment: bytes = b""

    def _document(self, line: bytes) -> bytes:
        """The name of the document of a line; empty without one."""
        if self.comment and line.startswith(self.comment):
            return b""
        cell = line.split(self.separator, self.column + 1)[self.column : self.column + 1]
        name = cell[0] if cell else b""
        return name.rpartition(self.until)[0] if self.until else name

    def begins(self, at: int) -> Iterator[tuple[str, int]]:
        """The documents that begin after an offset: their names and offsets, in order."""
        offset, before = max(at, len(self.head)), b""
        if offset > len(self.head):  # it may be within a line
            offset += len(next(BytesIO(self.member.reader()(offset - 1, CHUNK)), b"\n")) - 1
        for chunk in _chunks(self.member, offset, NEAR):
            for line in BytesIO(chunk):
                name = self._document(line)
                if before and name and name != before:
                    yield name.decode("utf-8", "replace"), offset
                before = name or before
                offset += len(line)

    def find(self, names: Sequence[str], at: int, near: int = NEAR) -> tuple[str, int] | None:
        """A document of some that begins at an offset or after it, and its offset."""
        offset = at
        begin, end = self.separator if self.column else b"\n", self.until or self.separator
        for chunk in _chunks(self.member, at, near):
            text = chunk if self.column else b"\n" + chunk
            for name in names:
                own, place = name.encode(), -1
                while (place := text.find(begin + own + end, place + 1)) >= 0:
                    first = text.rfind(b"\n", 0, place + 1) + 1
                    last = text.find(b"\n", first)
                    if self._document(text[first:last]) == own:
                        return name, offset + first - (not self.column)
                    place = last - 1  # the line may have the name a million times elsewhere
            offset += len(chunk)
        return None

    def stretches(self, cuts: Sequence[int]) -> tuple[list[Stretch], str] | None:
        """The lines between offsets where documents begin, and the digest of the file.

        Returns:
            None where the file has excluded characters.
        """
        read, digest, lines, offset = self.member.reader(), hashlib.sha256(), 0, 0
        found = list[Stretch]()
        for start, end in pairwise([0, *cuts, self.member.size or 0]):
            found.append(Stretch(start, end, lines, self.head if start else b""))
            while offset < end and (chunk := read(offset, min(CHUNK, end - offset))):
                if any(own in chunk for own in self.excluded) or chunk.startswith(_BOM):
                    return None
                digest.update(chunk)
                lines += chunk.count(b"\n")
                offset += len(chunk)
        return found, digest.hexdigest()


def first_line(member: Member) -> bytes:
    """The first line of a file, with its line break."""
    return next(BytesIO(member.reader()(0, CHUNK)), b"")


def field_sections(member: Member, column: int, comment: bytes) -> TableSections:
    """The documents of a table whose cells are between spaces, or between tabs.

    Args:
        member: the file, in UTF-8.
        column: the number of the cell that names the document.
        comment: the beginning of lines without a document.
    """
    begin = member.reader()(0, NEAR)
    separator = b" " if begin.count(b" ") > begin.count(b"\t") else b"\t"
    return TableSections(member, column, separator, comment=comment)


def marked_sections(
    member: Member, marks: Sequence[bytes], name: Callable[[str], str | None], head: bytes = rb"\s*"
) -> Sections | None:
    r"""The documents of a file in which a line begins each.

    Args:
        member: the file, in UTF-8.
        marks: what these lines begin with.
        name: gives the name of the document that such a line begins; an empty one for its number,
            None where the line does not begin a document.
        head: a pattern of the lines before the first document.

    Returns:
        None where it is not a file of such documents after its head, where some have names and
        others numbers, or where two have one name.

    Examples:
        >>> text = b"\n# a\nx\n# b\ny\n"
        >>> sections = marked_sections(
        ...     Member("", "s.txt", None, lambda: text), [b"#"], lambda line: line[2:]
        ... )
        >>> sections.names, sections.lines, sections.starts
        (['a', 'b'], [0, 3, 5], [0, 7, 13])
    """
    names, starts, numbers = list[str](), list[int](), list[int]()
    known = dict[bytes, str | None]()  # many have no name
    lines, offset, first = 0, 0, b""
    digest = hashlib.sha256()
    for chunk in _chunks(member, seen=digest.update):
        if b"\r" in chunk or (not offset and chunk.startswith(_BOM)):
            return None
        breaks = np.frombuffer(chunk, np.uint8) == ord("\n")
        done = 0
        for at in sorted(at for mark in marks for at in _occurrences(chunk, mark)):
            line = chunk[at : chunk.find(b"\n", at)]
            if line not in known:
                known[line] = name(line.decode("utf-8", "replace"))
            own = known[line]
            if own is None:
                continue
            if not names:
                first = chunk[:at]
            lines += int(np.count_nonzero(breaks[done:at]))
            done = at
            names.append(own)
            starts.append(offset + at)
            numbers.append(lines)
        if not names or not re.fullmatch(head, first):
            return None
        lines += int(np.count_nonzero(breaks[done:]))
        offset += len(chunk)
    numbered = not any(names)
    if not names or (not numbered and len({*names, ""}) <= len(names)):
        return None
    starts[0] = numbers[0] = 0
    if numbered:
        names = [str(number) for number in range(1, len(names) + 1)]
    ends = [*starts, offset], [*numbers, lines]
    return Sections(names, *ends, digest.hexdigest(), numbered, first if first.strip() else b"")


def line_sections(
    member: Member, name: Callable[[bytes, int], str | None], *, in_lines: bool
) -> Sections | None:
    r"""The documents of a file in which each line that is not empty is one, or a part of one.

    Args:
        member: the file, in UTF-8.
        name: gives the name of the document of a line by its number from 1 among those that are not
            empty; None where the line is not plain. Lines of one name follow each other.
        in_lines: whether a line is a record.

    Returns:
        None where a line is not plain, or a name is in several places.

    Examples:
        >>> text = b"a 1\n\nb 2\nb 3\n"
        >>> member = Member("", "s.txt", None, lambda: text)
        >>> sections = line_sections(member, lambda line, _: line[:1].decode(), in_lines=True)
        >>> sections.names, sections.lines, sections.starts
        (['a', 'b'], [0, 2, 4], [0, 5, 13])
    """
    names, starts, numbers = list[str](), list[int](), list[int]()
    lines = offset = count = 0
    digest = hashlib.sha256()
    for chunk in _chunks(member, seen=digest.update):
        if not chunk.endswith(b"\n") or (not offset and chunk.startswith(_BOM)):
            return None
        for line in BytesIO(chunk):
            if line.strip():
                count += 1
                own = name(line, count)
                if own is None:
                    return None
                if not names or own != names[-1]:
                    names.append(own)
                    starts.append(offset)
                    numbers.append(lines)
            offset += len(line)
            lines += 1
    if not names or len({*names}) < len(names):
        return None
    starts[0] = numbers[0] = 0
    ends = [*starts, offset], [*numbers, lines]
    return Sections(names, *ends, digest.hexdigest(), numbered=True, in_lines=in_lines)


def _occurrences(chunk: bytes, mark: bytes) -> Iterator[int]:
    """The places of lines that begin with a mark."""
    if chunk.startswith(mark):
        yield 0
    at, wanted = 0, b"\n" + mark
    while (at := chunk.find(wanted, at)) >= 0:
        at += 1
        yield at


def _chunks(
    member: Member, offset: int = 0, size: int = CHUNK, seen: Callable[[bytes], object] = len
) -> Iterator[bytes]:
    """Whole lines of a file, some megabytes at a time; the last one ends in a line break.

    Of a line of more bytes only a carriage return is given, which no plain table has.

    Args:
        member: the file.
        offset: where a line begins.
        size: how many bytes are read first; each time it is twice as many, up to `CHUNK`.
        seen: is called with all bytes, in order.
    """
    read, rest = member.reader(), b""
    while data := read(offset, size):
        offset, size = offset + len(data), max(size, min(2 * size, CHUNK))
        seen(data)
        if end := data.rfind(b"\n") + 1:
            yield b"".join((rest, memoryview(data)[:end]))
            rest = b""
        rest += data[end:]
        if len(rest) > CHUNK:  # a line of so many bytes is not plain
            yield b"\r"
            return
    if rest:
        yield rest + b"\n"
