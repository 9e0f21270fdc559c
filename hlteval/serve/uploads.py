"""Uploads: the files of an input in one body, streamed to numbered files.

Format of the body:
    For each file a line of JSON, `{"name": …, "size": …}`, which ends in a line feed, then its
    bytes. The names are those that the browser gives, with folders.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO

import msgspec
from starlette.requests import ClientDisconnect, Request

from hlteval.serve.settings import Upload
from hlteval.sources.archives import FILE, Entry, admit, too_large
from hlteval.sources.names import archive_suffix, is_text, printable, unsafe_reason
from hlteval.sources.opening import open_named, read_file
from hlteval.sources.source import LIMITS, Limits, Source

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


PLAIN = replace(LIMITS, file_bytes=LIMITS.member_bytes)
"""The limits of uploads: a file is held to what a member of an archive is held to."""
LOOSE = "upload"
"""The name of several files that are not in one folder."""


def open_uploads(uploads: Sequence[Upload], folder: Path, limits: Limits = PLAIN) -> Source:
    """Uploaded files as one file, one archive or one folder.

    Args:
        uploads: the files; a folder that all are in is the name of the source.
        folder: where they are, under their numbers.
        limits: the limits of their sizes.
    """
    single = uploads[0] if len(uploads) == 1 else None
    if single and is_plain(single.name):
        return _single(single, folder, limits)
    label, names = _rooted([upload.name for upload in uploads])
    entries = [
        _entry(name, label, upload, folder, limits)
        for name, upload in zip(names, uploads, strict=True)
    ]
    members, findings = admit(entries, printable(label), limits)
    return Source(label, "folder", members, tuple(findings))


def is_plain(name: str) -> bool:
    """Whether a name is that of one file, without folders, and means nothing else.

    Examples:
        >>> is_plain("run1.tgz"), is_plain("-"), is_plain("../run1.tgz")
        (True, False, False)
    """
    odd = name in {"-", ".", ".."} or name.startswith("<") or "/" in name or not name.strip()
    return not odd and is_text(name) and unsafe_reason(name) is None


def _single(upload: Upload, folder: Path, limits: Limits) -> Source:
    """A file or an archive; a file that was not kept is too large."""
    is_file = archive_suffix(upload.name) is None
    limit = limits.file_bytes if is_file else limits.total_bytes
    if not upload.file:
        problem = too_large(printable(upload.name), upload.size, limit).finding
        return Source(upload.name, "file", (), (problem,))
    return open_named(str(folder / upload.file), upload.name, limits=limits)


def _rooted(names: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that all files are in, and their names there.

    Examples:
        >>> _rooted(["run/a", "run/b/c"]), _rooted(["a", "run/b"])
        (('run', ['a', 'b/c']), ('upload', ['a', 'run/b']))
    """
    roots = {name.partition("/")[0] for name in names if "/" in name}
    root = next(iter(roots), "")
    shared = len(roots) == 1 and all("/" in name for name in names)
    if not shared or not is_plain(root):
        return LOOSE, list(names)
    return root, [name.partition("/")[2] for name in names]


def _entry(name: str, label: str, upload: Upload, folder: Path, limits: Limits) -> Entry:
    display = f"{printable(label)}/{printable(name)}"
    read = partial(read_file, str(folder / upload.file), display, limits)
    return Entry(name, FILE, upload.size, read)


@dataclass(frozen=True)
class Pace:
    """How slow the body of a request may be.

    Attributes:
        pause: seconds without a byte at most.
        grace: seconds that a body may take in any case.
        rate: bytes per second after these, on average.
    """

    pause: float = 20.0
    grace: float = 30.0
    rate: float = 50_000.0


@dataclass(frozen=True)
class Timing:
    """How slow a client may be.

    Attributes:
        headers: seconds for the headers of a request.
        reading: seconds in which a client reads nothing of an answer.
        pace: of the bodies of requests.
    """

    headers: float = 10.0
    reading: float = 30.0
    pace: Pace = field(default_factory=Pace)


SMALL = 65_536
"""Bytes of a body that is not an upload at most."""


async def chunks(request: Request, most: int, pace: Pace) -> AsyncIterator[bytes]:
    """The bytes of a body as they come.

    Args:
        request: the request.
        most: its bytes at most.
        pace: how slow it may be.

    Raises:
        Rejected: if it is too large or too slow.
        ClientDisconnect: if the client has gone.
    """
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > most:
        raise Rejected(413, f"More than {most >> 20:,} MiB cannot be uploaded.")
    loop = asyncio.get_running_loop()
    begun, total = loop.time(), 0
    stream = request.stream()
    while True:
        left = begun + pace.grace + total / pace.rate - loop.time()
        try:
            chunk = await asyncio.wait_for(anext(stream), max(0.0, min(pace.pause, left)))
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise Rejected(408, "The upload is too slow.") from error
        total += len(chunk)
        if total > most:
            raise Rejected(413, f"More than {most >> 20:,} MiB cannot be uploaded.")
        yield chunk


async def small(request: Request, pace: Pace) -> bytes:
    """A whole body, which is small.

    Raises:
        Rejected: if it is too large or too slow, or the client has gone.
    """
    try:
        return b"".join([chunk async for chunk in chunks(request, SMALL, pace)])
    except ClientDisconnect as error:
        raise Rejected(400, "The request ended before it was complete.") from error
