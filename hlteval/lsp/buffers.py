"""Buffers: what an editor holds, in place of what is on the disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec

from hlteval.lsp.uris import is_path
from hlteval.sources import Member, OpenInput, Source, Unreadable, open_source
from hlteval.sources.names import is_junk, printable

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
        head = _head(path)
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
        return f"{_BOM * self.mark}{text}".encode(encoding, _errors(encoding))


def _head(path: str) -> bytes:
    """The first bytes of a file; nothing of what cannot be read."""
    if not is_path(path) or not _is_file(path):
        return b""
    try:
        with Path(path).open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that is too long, or no name
        return False


def _plain(text: str) -> str:
    """A text with LF only: an editor may show any end of a line as the one of its buffer."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _errors(encoding: str) -> str:
    """How a character is written that an encoding does not have."""
    return "surrogatepass" if encoding.lower().startswith("utf") else "replace"


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
            if path not in self.buffers and not any(self._below(path)):
                raise
            kind = "file" if path in self.buffers else "folder"
            source = Source(path, kind, ())
        return self._covered(source, path)

    def content(self, path: str) -> bytes:
        """The bytes of a file, of its buffer if it is open.

        Raises:
            Unreadable, FileNotFoundError: if it is neither open nor readable.
        """
        (member,) = self.source(path).members
        return member.fetch()

    def _covered(self, source: Source, path: str) -> Source:
        """A source with the buffers that belong to it."""
        if path in self.buffers:  # whatever the disk has under this name
            disk = next((member for member in source.members if not member.name), None)
            kind = "file" if is_path(path) else "stdin"
            return Source(source.path, kind, (self._member("", path, source.path, disk),))
        if source.kind != "folder":
            return source
        members = {member.name: member for member in source.members}
        for name in self._below(path):
            inner = f"{path.rstrip('/')}/{name}"
            members[name] = self._member(name, inner, inner, members.get(name))
        kept = tuple(found for found in source.findings if not members or found.code != "SRC104")
        return replace(source, members=tuple(members[n] for n in sorted(members)), findings=kept)

    def _below(self, folder: str) -> Iterator[str]:
        """The names of the buffers in a folder."""
        prefix = folder.rstrip("/") + "/"
        at = len(prefix)
        for known in self.buffers:
            if is_path(known) and known.startswith(prefix) and not is_junk(name := known[at:]):
                yield name

    def _member(self, name: str, path: str, shown: str, disk: Member | None) -> Member:
        fetch = partial(_content, self.buffers[path], disk, self.encoding)
        if disk is not None:
            return msgspec.structs.replace(disk, fetch=fetch, size=None)
        return Member(name, printable(shown), None, fetch)


def _content(buffer: Buffer, disk: Member | None, encoding: str) -> bytes:
    """The bytes of a buffer over a file of the disk."""
    data = None
    with suppress(Unreadable):
        data = disk.fetch() if disk is not None else None
    return buffer.content(data, encoding)
