"""Sections: the documents of a large table, where each has its lines together.

One pass over the bytes, some megabytes at a time, finds where documents begin and end, so that they
can be read a few at a time, or in several processes. It accepts plain tables only, in which every
line has all of its cells and a document has no lines elsewhere, or a line begins each document; any
other file is read as a whole.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hlteval.sources import Member

#: Bytes that are searched at a time.
CHUNK = 16_000_000
#: Bytes of a name, which bound how many lengths of names are compared.
LONGEST = 250
_TAB, _LF = b"\t\n"
_WORD = 8
#: What no plain table begins with.
_BOM = b"\xef\xbb\xbf"
_Bytes = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.int64]


class Stretch(NamedTuple):
    """Consecutive lines of a file.

    Attributes:
        start: the offset of their first byte.
        end: the offset after their last one.
        lines: how many lines of the file are before them.
        documents: how many documents of the file are before them, where numbers are their names.
    """

    start: int
    end: int
    lines: int
    documents: int | None = None


@dataclass(frozen=True)
class Sections:
    """The documents of a file, in its order.

    Attributes:
        names: their names.
        starts: the offset of the first byte of each, and the size of the file.
        lines: the number of lines before each, and of all lines.
        sha256: the digest of the file.
        numbered: whether the names are numbers from 1, which the file does not have.
    """

    names: list[str]
    starts: list[int]
    lines: list[int]
    sha256: str
    numbered: bool = False

    def stretch(self, first: int, last: int) -> Stretch:
        """The lines of the documents from one, to but not including another, by their numbers."""
        before = first if self.numbered else None
        return Stretch(self.starts[first], self.starts[last], self.lines[first], before)


def cell_sections(member: Member, *, column: int, columns: int, until: bytes) -> Sections | None:
    r"""The documents of a table without quoting, which a cell of each line names.

    Args:
        member: the file, in UTF-8. Its first line may name the columns.
        column: the number of the cell, from 0.
        columns: how many cells each line has.
        until: the character whose last occurrence in the cell ends the name.

    Returns:
        None where a line is not plain, a name is longer than `LONGEST`, or a document has lines in
        several places.

    Examples:
        >>> table = b"id\tplace\nm1\td1:0-2\nm2\td1:4-5\nm3\td2:0-2\n"
        >>> sections = cell_sections(
        ...     Member("", "s.tab", None, lambda: table), column=1, columns=2, until=b":"
        ... )
        >>> sections.names, sections.lines
        (['d1', 'd2'], [0, 3, 4])
    """
    names: list[str] = []
    starts: list[int] = []
    numbers: list[int] = []
    lines = offset = 0
    digest = hashlib.sha256()
    for chunk in _chunks(member, digest.update):
        if b"\r" in chunk or (not offset and chunk.startswith(_BOM)):
            return None
        data = np.frombuffer(chunk, np.uint8)
        cells = np.flatnonzero(data <= _LF)  # where each ends; no other byte is as small
        if len(cells) % columns:
            return None
        table = cells.reshape(-1, columns)
        if (data[table[:, :-1]] != _TAB).any() or (data[table[:, -1]] != _LF).any():
            return None
        ends = table[:, -1]
        begins = np.r_[0, ends[:-1] + 1]
        bounds = np.c_[begins - 1, table]
        first, last = bounds[:, column] + 1, bounds[:, column + 1]
        marks = np.flatnonzero(data == until[0])
        place = np.searchsorted(marks, last) - 1
        name_ends = np.where(place >= 0, marks[place] if len(marks) else -1, -1)
        headed = int(not lines and name_ends[0] < first[0])  # the line of the names of columns
        first, name_ends, begins = first[headed:], name_ends[headed:], begins[headed:]
        if (name_ends <= first).any() or (name_ends - first > LONGEST).any():
            return None
        for at in _changes(data, first, name_ends).tolist():
            name = bytes(data[first[at] : name_ends[at]]).decode("utf-8", "replace")
            if not (names and at == 0 and name == names[-1]):
                names.append(name)
                starts.append(offset + int(begins[at]))
                numbers.append(lines + headed + at)
        offset += len(chunk)
        lines += len(ends)
    if len({*names}) < len(names) or not names:
        return None
    starts[0] = numbers[0] = 0
    return Sections(names, [*starts, offset], [*numbers, lines], digest.hexdigest())


def marked_sections(
    member: Member, marks: Sequence[bytes], name: Callable[[str], str | None]
) -> Sections | None:
    r"""The documents of a file in which a line begins each.

    Args:
        member: the file, in UTF-8.
        marks: what these lines begin with.
        name: gives the name of the document that such a line begins; an empty one for its number,
            None where the line does not begin a document.

    Returns:
        None where it is not a file of such documents from its first line on, where some have names
        and others numbers, or where two have one name.

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
    lines = offset = 0
    digest = hashlib.sha256()
    for chunk in _chunks(member, digest.update):
        if b"\r" in chunk or (not offset and chunk.startswith(_BOM)):
            return None
        begins = sorted(at for mark in marks for at in _occurrences(chunk, mark))
        if not names and (not begins or chunk[: begins[0]].strip()):
            return None
        breaks = np.frombuffer(chunk, np.uint8) == ord("\n")
        done = 0
        for at in begins:
            line = chunk[at : chunk.find(b"\n", at)]
            if line not in known:
                known[line] = name(line.decode("utf-8", "replace"))
            own = known[line]
            if own is None:
                return None
            lines += int(np.count_nonzero(breaks[done:at]))
            done = at
            names.append(own)
            starts.append(offset + at)
            numbers.append(lines)
        lines += int(np.count_nonzero(breaks[done:]))
        offset += len(chunk)
    numbered = not any(names)
    if not names or (not numbered and len({*names, ""}) <= len(names)):
        return None
    starts[0] = numbers[0] = 0
    if numbered:
        names = [str(number) for number in range(1, len(names) + 1)]
    return Sections(names, [*starts, offset], [*numbers, lines], digest.hexdigest(), numbered)


def _occurrences(chunk: bytes, mark: bytes) -> Iterator[int]:
    """The places of lines that begin with a mark."""
    if chunk.startswith(mark):
        yield 0
    at, wanted = 0, b"\n" + mark
    while (at := chunk.find(wanted, at)) >= 0:
        at += 1
        yield at


def _chunks(member: Member, seen: Callable[[bytes], None]) -> Iterator[bytes]:
    """Whole lines of a file, some megabytes at a time; the last one ends in a line break.

    Of a line of more bytes only a carriage return is given, which no plain table has.

    Args:
        member: the file.
        seen: is called with all bytes, in order.
    """
    read, offset, rest = member.reader(), 0, b""
    while data := read(offset, CHUNK):
        offset += len(data)
        seen(data)
        if end := data.rfind(b"\n") + 1:
            yield b"".join((rest, memoryview(data)[:end]))  # copied once
            rest = data[end:]
        else:
            rest += data
        if len(rest) > CHUNK:  # a line of so many bytes is not plain
            yield b"\r"
            return
    if rest:
        yield rest + b"\n"


def _changes(data: _Bytes, first: _Places, last: _Places) -> _Places:
    """The lines whose name differs from that of the line before, and the first line.

    Args:
        data: the bytes.
        first: where the name of each line begins.
        last: where it ends.
    """
    sizes = last - first
    differs = np.r_[True, sizes[1:] != sizes[:-1]]
    padded = np.r_[data, np.zeros(_WORD, np.uint8)]
    words = np.ndarray((len(data) + 1,), np.uint64, padded.data, strides=(1,))  # from each byte
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero((sizes == size) & ~differs)
        ours, before, changed = first[rows], first[rows - 1], np.zeros(len(rows), bool)
        for at in (*range(0, size - _WORD, _WORD), max(size - _WORD, 0)):
            pair = words[ours + at] ^ words[before + at]
            changed |= (pair << np.uint64(8 * max(_WORD - size, 0))) != 0
        differs[rows] = changed
    return np.flatnonzero(differs)
