"""Documents of an editor: their keys, their texts as lines, and buffers over the files of the disk.

The key of a file is its absolute path; that of anything else, such as a buffer without a name, is
its URI.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec

from hlteval.findings import Span
from hlteval.sources import Member, OpenInput, Source, Unreadable, open_source
from hlteval.sources.names import is_junk, printable

_DRIVE = re.compile(r"/[A-Za-z]:")


def key(uri: str) -> str:
    """The key of a document.

    Examples:
        >>> key("file:///runs/a%20b.tab"), key("untitled:Untitled-1")
        ('/runs/a b.tab', 'untitled:Untitled-1')
    """
    try:
        parts = urlsplit(uri)
        local = parts.scheme == "file" and parts.netloc in {"", "localhost"}
    except ValueError:  # half of an address
        return uri
    path = os.fsdecode(unquote_to_bytes(parts.path)) if local else ""
    if "\0" in path or not path.startswith("/"):
        return uri
    return os.path.normpath(path[1:] if os.name == "nt" and _DRIVE.match(path) else path)


def is_path(known: str) -> bool:
    """Whether a key is the path of a file.

    Examples:
        >>> is_path("/runs/a.tab"), is_path("untitled:Untitled-1")
        (True, False)
    """
    return Path(known).is_absolute()


def uri(known: str) -> str:
    """The URI of a key.

    Examples:
        >>> uri("/runs/a b.tab"), uri("untitled:Untitled-1")
        ('file:///runs/a%20b.tab', 'untitled:Untitled-1')
    """
    return Path(known).as_uri() if is_path(known) else known


def absolute(path: str) -> str:
    """The key of a path that is relative to the working directory; links are not followed.

    Examples:
        >>> absolute("/runs/../a.tab")
        '/a.tab'
    """
    return os.path.normpath(Path.cwd() / path)


_BOM = "\ufeff"
_HEAD = 4096


@dataclass(frozen=True)
class Buffer:
    """The text of a document that is open in an editor.

    Attributes:
        text: as the editor sends it.
        changed: whether it was changed since it was opened or saved.
        mark: whether the file has a byte order mark that the editor does not show.
        returns: whether the lines of the file end with CR LF, of which the editor shows LF.
    """

    text: str
    changed: bool = False
    mark: bool = False
    returns: bool = False

    @classmethod
    def beside(cls, text: str, path: str) -> Buffer:
        """The buffer of a file as it was opened or saved; only the head of the file is read."""
        head = b""
        with suppress(OSError, ValueError):  # not readable, a name that is too long, or no name
            if is_path(path) and Path(path).is_file():
                with Path(path).open("rb") as file:
                    head = file.read(_HEAD)
        mark = head.startswith(_BOM.encode()) and not text.startswith(_BOM)
        line, feed, _ = head.partition(b"\n")
        return cls(text, mark=mark, returns=line[-1:] + feed == b"\r\n" and "\r" not in text)

    def content(self, disk: bytes | None, encoding: str) -> bytes:
        r"""The bytes of the file when the editor saves it; those of the disk if nothing changed.

        Args:
            disk: the bytes on the disk; None if there is no such file.
            encoding: of the file.

        Examples:
            >>> Buffer("a\nb\n", returns=True, changed=True).content(b"a\r\n", "utf-8")
            b'a\r\nb\r\n'
        """
        if disk is not None and not self.changed:
            on_disk = disk.decode(encoding, "replace").removeprefix(_BOM)
            if _plain(on_disk) == _plain(self.text.removeprefix(_BOM)):
                return disk
        text = self.text.replace("\n", "\r\n") if self.returns else self.text
        has_all_characters = encoding.lower().startswith("utf")
        errors = "surrogatepass" if has_all_characters else "replace"
        return f"{_BOM * self.mark}{text}".encode(encoding, errors)


def _plain(text: str) -> str:
    """A text with LF only: an editor may show any end of a line as the one of its buffer."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class OpenFiles:
    """The buffers of an editor over the files of the disk.

    Attributes:
        buffers: by key.
        encoding: of the files.
    """

    buffers: Mapping[str, Buffer]
    encoding: str = "utf-8"

    def input(self, path: str) -> OpenInput:
        """A file or folder as `source` gives it, under its path.

        Raises:
            FileNotFoundError: if it is neither on the disk nor open.
        """
        return OpenInput(self.source(path), name=path)

    def source(self, path: str) -> Source:
        """A file or folder of the disk, with the buffers in place of its files.

        Raises:
            FileNotFoundError: if it is neither on the disk nor open.
        """
        try:
            source = open_source(path) if is_path(path) else Source(f"<{path}>", "stdin", ())
        except FileNotFoundError:
            if path not in self.buffers and not self._below(path):
                raise
            source = Source(path, "folder", ())
        members = {member.name: member for member in source.members}
        if path in self.buffers:  # whatever the disk has under this name
            kind = "file" if is_path(path) else "stdin"
            member = self._member("", path, source.path, members.get(""))
            return Source(source.path, kind, (member,))
        if source.kind != "folder":
            return source
        for name in self._below(path):
            inner = f"{path.rstrip('/')}/{name}"
            members[name] = self._member(name, inner, inner, members.get(name))
        findings = [each for each in source.findings if not members or each.code != "SRC104"]
        ordered = tuple(members[name] for name in sorted(members))
        return replace(source, members=ordered, findings=tuple(findings))

    def _below(self, folder: str) -> list[str]:
        """The names of the buffers in a folder."""
        prefix = folder.rstrip("/") + "/"
        paths = (path for path in self.buffers if is_path(path) and path.startswith(prefix))
        return [name for path in paths if not is_junk(name := path.removeprefix(prefix))]

    def _member(self, name: str, path: str, display: str, disk: Member | None) -> Member:
        """A buffer as a member of a source, over a file of the disk."""

        def fetch() -> bytes:
            data = None
            with suppress(Unreadable):
                data = disk.fetch() if disk is not None else None
            return self.buffers[path].content(data, self.encoding)

        if disk is not None:
            return msgspec.structs.replace(disk, fetch=fetch, size=None)
        return Member(name, printable(display), None, fetch)


#: What the columns of a client count.
Units = Literal["utf-8", "utf-16", "utf-32"]
_LINE = re.compile(r"[^\r\n]*+(?:\r\n?+|\n)|[^\r\n]++")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENDS = "\r\n"
#: The encodings in which a column has one or more units, and the bytes of a unit.
_CODECS: Mapping[Units, tuple[str, int]] = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


class Position(NamedTuple):
    """A position of the protocol: both 0-based, `character` in the units of the client."""

    line: int
    character: int


class Range(NamedTuple):
    """Two positions of the protocol; the end is exclusive."""

    start: Position
    end: Position


class Edit(NamedTuple):
    """A text in place of a range."""

    place: Range
    put: str


#: The range of what concerns a whole file: its beginning.
NOWHERE = Range(Position(0, 0), Position(0, 0))


def split(text: str) -> list[str]:
    r"""The lines of a text with their ends; the last one has none, and may be empty.

    Lines end as the protocol says, with LF, CR LF or CR; nothing else ends a line.

    Examples:
        >>> split("a\r\nb\rc\u2028\n")
        ['a\r\n', 'b\r', 'c\u2028\n', '']
    """
    if not text.isascii() and _SURROGATE.search(text):  # halves of a character from two changes
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    lines: list[str] = _LINE.findall(text)
    if not lines or lines[-1].endswith(("\r", "\n")):
        lines.append("")
    return lines


def units(text: str, count: Units) -> int:
    r"""The length of a text in the units of a client.

    Examples:
        >>> [units("a\U0001f600", count) for count in ("utf-8", "utf-16", "utf-32")]
        [5, 3, 2]
    """
    if count == "utf-32" or text.isascii():
        return len(text)
    codec, width = _CODECS[count]
    return len(text.encode(codec, "surrogatepass")) // width


def column(line: str, character: int, count: Units) -> int:
    r"""The column of a line in code points, 0-based, for one in units of a client.

    Columns beyond the line are its end; one inside a character is that of the character.

    Examples:
        >>> [column("\U0001f600b\n", character, "utf-16") for character in range(5)]
        [0, 0, 1, 2, 2]
    """
    body, character = line.rstrip(_ENDS), max(0, character)
    if count == "utf-32" or line.isascii():
        return min(character, len(body))
    codec, width = _CODECS[count]
    errors = "replace" if width > 1 and _SURROGATE.search(body) else "ignore"
    return len(body.encode(codec, "surrogatepass")[: width * character].decode(codec, errors))


@dataclass(frozen=True)
class Text:
    """A text as lines, which is never changed.

    Attributes:
        lines: with their ends, as `split` gives them.
        units: what the columns of the client count.
    """

    lines: Sequence[str]
    units: Units = "utf-16"

    @classmethod
    def of(cls, text: str, units: Units = "utf-16") -> Text:
        """The lines of a text."""
        return cls(split(text), units)

    @property
    def content(self) -> str:
        """The text."""
        return "".join(self.lines)

    def inside(self, position: Position) -> tuple[int, int]:
        """The line and the column in code points of a position; beyond the text its end."""
        line = max(0, position.line)
        if line >= len(self.lines):
            return len(self.lines) - 1, len(self.lines[-1])
        return line, column(self.lines[line], position.character, self.units)

    def position(self, line: int, column: int) -> Position:
        """The position of a column in code points, at most the end of its line."""
        body = self.lines[line].rstrip(_ENDS)
        return Position(line, units(body[: max(0, column)], self.units))

    def with_change(self, place: Range, put: str) -> Text:
        r"""The text with another text in a range; only the lines around it are looked at.

        Examples:
            >>> text = Text.of("ab\ncd\n")
            >>> text.with_change(Range(Position(0, 1), Position(1, 1)), "x\ny").content
            'ax\nyd\n'
        """
        (first, start), (last, end) = sorted(map(self.inside, place))
        begin = first - 1 if first and self.lines[first - 1].endswith("\r") else first
        parts = [*self.lines[begin:first], self.lines[first][:start], put, self.lines[last][end:]]
        fresh = split("".join(parts))
        if last + 1 < len(self.lines):  # the next line begins after the end of a line
            fresh.pop()
        return Text([*self.lines[:begin], *fresh, *self.lines[last + 1 :]], self.units)

    def range(self, span: Span | None) -> Range:
        """The range of a span of a finding; the beginning of the text without one."""
        if span is None:
            return NOWHERE
        columns = span.column, max(span.column, span.end_column)
        return Range(*(self.place(span.line, column) for column in columns))

    def place(self, number: int, column: int) -> Position:
        """The position of a line and column of a finding; of a line beyond the text, in the last.

        Lines of findings end with LF alone, and a byte order mark is not part of the first one.
        """
        starts, rest = self._starts, column - 1
        line = starts[min(number, len(starts)) - 1]
        if line == 0 and self.lines[0].startswith(_BOM):
            rest += 1
        while rest >= len(self.lines[line]) and self.lines[line].endswith("\r"):
            rest -= len(self.lines[line])
            line += 1
        return self.position(line, rest)

    @cached_property
    def _starts(self) -> Sequence[int]:
        """The first line of the protocol of each line that ends with LF."""
        if not any(line.endswith("\r") for line in self.lines):
            return range(len(self.lines))
        ends = (n for n, line in enumerate(self.lines[:-1]) if line.endswith("\n"))
        return [0, *(n + 1 for n in ends)]


@dataclass(frozen=True)
class Document:
    """An open document, at one version.

    Attributes:
        uri: as the editor writes it.
        version: number of its version.
        text: the text.
        saved: how the file was when it was opened or saved, and whether it was changed since.
    """

    uri: str
    version: int
    text: Text
    saved: Buffer

    @cached_property
    def buffer(self) -> Buffer:
        """The buffer for the worker."""
        return replace(self.saved, text=self.text.content)
