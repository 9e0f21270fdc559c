r"""Uploads: the files of an input in one body, streamed to numbered files.

Format of the body:
    For each file a line of JSON, `{"name": …, "size": …}`, which ends in a line feed, then its
    bytes. The names are those that the browser gives, with folders.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from hlteval.serve.orders import Upload
from hlteval.sources.limits import LIMITS, Limits
from hlteval.sources.signatures import archive_suffix

_HEADER = 8_192
"""Bytes of the line before a file at most; names of files have at most 4,096."""
_BLOCK = 4_096
"""Bytes of the disk that a file takes beside its own."""


class Rejected(Exception):
    """A request is not accepted.

    Attributes:
        status: of HTTP.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The line before a file."""

    name: str
    size: int


@dataclass
class Space:
    """The bytes on the disk that uploads have, of all sessions together.

    Attributes:
        most: that they may have.
        used: that they have.
    """

    most: int
    used: int = 0

    def take(self, size: int) -> None:
        """Count some bytes.

        Raises:
            Rejected: if there is no room for them.
        """
        if self.used + size > self.most:
            raise Rejected(507, "The server has no room for more files now. Try again later.")
        self.used += size

    def give(self, size: int) -> None:
        """Count some bytes no more."""
        self.used -= size


@dataclass
class Receiver:
    """Receives the files of an input.

    Attributes:
        folder: where they go.
        first: the number of the first.
        space: what they may take.
        limits: of archives.
        uploads: the files that are complete.
        taken: the bytes that were written.
    """

    folder: Path
    first: int
    space: Space
    limits: Limits = LIMITS
    uploads: list[Upload] = field(default_factory=list)
    taken: int = 0
    _waiting: bytearray = field(default_factory=bytearray)
    _header: _Header | None = None
    _left: int = 0
    _total: int = 0
    _file: IO[bytes] | None = None

    async def receive(self, chunks: AsyncIterator[bytes]) -> tuple[Upload, ...]:
        """The files of a body.

        Raises:
            Rejected: if the body has another form, or is too large.
            NotWritten: if the disk is full.
        """
        try:
            async for chunk in chunks:
                self._add(chunk)
        finally:
            if self._file is not None:
                self._file.close()
        if self._header is not None or self._waiting:
            raise Rejected(400, "The upload ended before it was complete.")
        if not self.uploads:
            raise Rejected(400, "The upload contains no files.")
        return tuple(self.uploads)

    def _add(self, chunk: bytes) -> None:
        """Take bytes: headers and contents, in turn."""
        rest = memoryview(chunk)
        while rest:
            rest = self._content(rest) if self._header else self._line(rest)

    def _line(self, chunk: memoryview) -> memoryview:
        """Take bytes of a header; the rest."""
        data = bytes(chunk)
        line, feed, rest = data.partition(b"\n")
        self._waiting += line
        if len(self._waiting) > _HEADER:
            raise Rejected(400, "A file has too long a name.")
        if feed:
            self._begin(bytes(self._waiting))
            self._waiting.clear()
        return memoryview(rest)

    def _begin(self, line: bytes) -> None:
        """Begin a file."""
        try:
            header = msgspec.json.decode(line, type=_Header)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Rejected(400, "The upload has a form that the server does not know.") from error
        if header.size < 0:
            raise Rejected(400, "A file has a size below 0.")
        if len(self.uploads) >= self.limits.members:
            raise Rejected(413, f"There are more than {self.limits.members:,} files.")
        self._total += header.size
        if self._total > self.limits.total_bytes:
            most = self.limits.total_bytes >> 20
            raise Rejected(413, f"The files are larger than {most:,} MiB together.")
        self._header, self._left = header, header.size
        if header.size <= self._most(header.name):
            self._take(_BLOCK)
            self._file = (self.folder / self._number).open("xb")
        self._finish_if_complete()

    def _take(self, size: int) -> None:
        self.space.take(size)
        self.taken += size

    def _most(self, name: str) -> int:
        """The bytes of a file that are kept: archives are as large as all their members."""
        is_archive = archive_suffix(name) is not None
        return self.limits.total_bytes if is_archive else self.limits.member_bytes

    @property
    def _number(self) -> str:
        return f"{self.first + len(self.uploads):06}"

    def _content(self, chunk: memoryview) -> memoryview:
        """Take bytes of a file; the rest."""
        own = chunk[: self._left]
        if self._file is not None:
            self._take(len(own))
            self._file.write(own)
        self._left -= len(own)
        self._finish_if_complete()
        return chunk[len(own) :]

    def _finish_if_complete(self) -> None:
        if self._left or self._header is None:
            return
        number = self._number if self._file is not None else ""
        if self._file is not None:
            self._file.close()
        self.uploads.append(Upload(self._header.name, self._header.size, number))
        self._header = self._file = None
