"""Uploads: the files of an input in one body, streamed to numbered files.

Format of the body:
    For each file a line of JSON, `{"name": …, "size": …}`, which ends in a line feed, then its
    bytes. The names are those that the browser gives, with folders.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import msgspec
from starlette.requests import ClientDisconnect, Request

from hlteval.serve.settings import Upload
from hlteval.sources.archives import FILE, Entry, admit, too_large
from hlteval.sources.names import archive_suffix, is_text, printable, unsafe_reason
from hlteval.sources.opening import open_named, read_file
from hlteval.sources.source import LIMITS, Limits, Source

#: Bytes of the line before a file at most; names of files have at most 4,096.
_HEADER = 8_192
#: Bytes of the disk that a file takes beside its own.
_BLOCK = 4_096


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


class _Body:
    """The bytes of a body, as lines and contents.

    Args:
        chunks: of the body.
    """

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks, self._rest = chunks, b""

    async def line(self) -> bytes:
        """The next line; nothing at the end of the body.

        Raises:
            Rejected: if the line is too long, or not complete.
        """
        line = b""
        while not line.endswith(b"\n"):
            if not self._rest and not await self._more():
                if line:
                    raise Rejected(400, "The upload ended before it was complete.")
                break
            part, feed, self._rest = self._rest.partition(b"\n")
            line += part + feed
            if len(line) - len(feed) > _HEADER:
                raise Rejected(400, "A file has too long a name.")
        return line

    async def content(self, most: int) -> bytes:
        """The next bytes of a file.

        Raises:
            Rejected: if there are none.
        """
        if not self._rest and not await self._more():
            raise Rejected(400, "The upload ended before it was complete.")
        content, self._rest = self._rest[:most], self._rest[most:]
        return content

    async def _more(self) -> bool:
        """Wait for bytes; whether there are any."""
        async for chunk in self._chunks:
            if chunk:
                self._rest = chunk
                return True
        return False


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

    async def receive(self, chunks: AsyncIterator[bytes]) -> tuple[Upload, ...]:
        """The files of a body.

        Raises:
            Rejected: if the body has another form, or is too large.
            NotWritten: if the disk is full.
        """
        body, total = _Body(chunks), 0
        while line := await body.line():
            try:
                header = msgspec.json.decode(line, type=_Header)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                reason = "The upload has a form that the server does not know."
                raise Rejected(400, reason) from error
            total += header.size
            if header.size < 0:
                raise Rejected(400, "A file has a size below 0.")
            if len(self.uploads) >= self.limits.members:
                raise Rejected(413, f"There are more than {self.limits.members:,} files.")
            if total > self.limits.total_bytes:
                most = self.limits.total_bytes >> 20
                raise Rejected(413, f"The files are larger than {most:,} MiB together.")
            is_archive = archive_suffix(header.name) is not None  # as large as its members
            limit = self.limits.total_bytes if is_archive else self.limits.member_bytes
            number = f"{self.first + len(self.uploads):06}" if header.size <= limit else ""
            if number:
                self._take(_BLOCK)
            left = header.size
            with (self.folder / number).open("xb") if number else nullcontext() as file:
                while left:
                    content = await body.content(left)
                    left -= len(content)
                    if file is not None:
                        self._take(len(content))
                        file.write(content)
            self.uploads.append(Upload(header.name, header.size, number))
        if not self.uploads:
            raise Rejected(400, "The upload contains no files.")
        return tuple(self.uploads)

    def _take(self, size: int) -> None:
        self.space.take(size)
        self.taken += size


#: The limits of uploads: a file is held to what a member of an archive is held to.
PLAIN = replace(LIMITS, file_bytes=LIMITS.member_bytes)
#: The name of several files that are not in one folder.
LOOSE = "upload"


def open_uploads(uploads: Sequence[Upload], folder: Path, limits: Limits = PLAIN) -> Source:
    """Uploaded files as one file, one archive or one folder.

    Args:
        uploads: the files; a folder that all are in is the name of the source.
        folder: where they are, under their numbers.
        limits: the limits of their sizes.
    """
    upload = uploads[0]
    if len(uploads) == 1 and is_plain(upload.name):
        if upload.file:
            return open_named(str(folder / upload.file), upload.name, limits=limits)
        is_file = archive_suffix(upload.name) is None
        limit = limits.file_bytes if is_file else limits.total_bytes
        problem = too_large(printable(upload.name), upload.size, limit).finding
        return Source(upload.name, "file", (), (problem,))
    label, names = _split_root([upload.name for upload in uploads])
    entries = []
    for name, upload in zip(names, uploads, strict=True):
        display = f"{printable(label)}/{printable(name)}"
        read = partial(read_file, str(folder / upload.file), display, limits)
        entries.append(Entry(name, FILE, upload.size, read))
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


def _split_root(names: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that all files are in, and their names there.

    Examples:
        >>> _split_root(["run/a", "run/b/c"]), _split_root(["a", "run/b"])
        (('run', ['a', 'b/c']), ('upload', ['a', 'run/b']))
    """
    roots = {name.partition("/")[0] for name in names if "/" in name}
    root = next(iter(roots), "")
    shared = len(roots) == 1 and all("/" in name for name in names)
    if not shared or not is_plain(root):
        return LOOSE, list(names)
    return root, [name.partition("/")[2] for name in names]


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


#: Bytes of a body that is not an upload at most.
SMALL = 65_536


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
