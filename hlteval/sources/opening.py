"""Opening: from a path on the command line to a source."""

from __future__ import annotations

import errno
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from hlteval.findings import Finding, finding
from hlteval.sources.folders import DiskFile, open_file, open_folder
from hlteval.sources.limits import LIMITS, Limits
from hlteval.sources.listing import listing
from hlteval.sources.names import is_text, printable
from hlteval.sources.open_input import OpenInput
from hlteval.sources.problems import special_file, too_large, unreadable
from hlteval.sources.remote import (
    absent,
    is_url,
    located,
    open_remote_folder,
    remote_chunks,
    remote_member,
)
from hlteval.sources.signatures import KINDS, archive_kind, archive_suffix
from hlteval.sources.source import Member, Source, Unreadable
from hlteval.sources.spooling import CHUNK, Spool, spool
from hlteval.sources.tarballs import read_tgz
from hlteval.sources.zips import read_zip

_STDIN = "<stdin>"
_HEAD = 512
_Reader = Callable[[Spool, str, Limits], tuple[tuple[Member, ...], list[Finding]]]
_READERS: dict[str | None, tuple[str, _Reader]] = {
    "zip": ("zip", read_zip),
    "gzip": ("tgz", read_tgz),
}


def open_source(path: str, *, limits: Limits = LIMITS, encoding: str = "utf-8") -> Source:
    """Open a folder, a file, an archive (`.zip`, `.tgz`, `.tar.gz`) or standard input (`-`).

    A URL, such as `s3://bucket/runs`, is opened through fsspec.

    Problems are in the findings of the source, or in the `Unreadable` that `fetch` of a member
    raises; only a path that does not exist raises an exception here.

    Args:
        path: the path or URL; `-` is standard input, which is read to its end. An `OpenInput` is
            open.
        limits: the limits of its size.
        encoding: encoding of its text files.

    Raises:
        FileNotFoundError: if the path does not exist.
        LookupError: for an unknown encoding.
        NotWritten: if the disk has no space for the unpacked archive.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "d1.a2").write_bytes(b"E1")
        ...     [(member.name, member.fetch()) for member in open_source(folder).members]
        [('d1.a2', b'E1')]
    """
    if isinstance(path, OpenInput):
        return path.in_encoding(encoding)
    source = _open(path, limits)
    return source if encoding == "utf-8" else source.with_encoding(encoding)


def _open(path: str, limits: Limits) -> Source:
    if path == "-":
        return open_stream(_chunks(_STDIN, limits.file_bytes), path, limits)
    if is_url(path):
        return _open_url(path, limits)
    try:
        status = Path(path).stat()
        if not is_text(path):
            label = printable(path)
            return Source(label, "file", (), (finding("SRC117", file=label, name=label),))
        if not stat.S_ISREG(status.st_mode) or archive_suffix(path) is None:
            return _open_plain(path, status.st_mode, status.st_size, limits)
        file = Spool.open(path)
        head = file.read(0, _HEAD)
    except FileNotFoundError:
        raise
    except NotADirectoryError as error:
        raise FileNotFoundError(error.errno, error.strerror, path) from error
    except OSError as error:
        return Source(path, "file", (), (unreadable(printable(path), error).finding,))
    return _open_archive(file, head, path, limits)


def _open_url(url: str, limits: Limits) -> Source:
    """A folder, file or archive at a URL; an archive is spooled, all else is read when needed."""
    system, path = located(url)
    label = printable(url)
    try:
        if system.isdir(path):
            return open_remote_folder(url, system, path, limits)
        if not system.isfile(path):
            raise absent(url)
        if archive_suffix(url) is None:
            return Source(url, "file", (remote_member(system, path, "", label, limits),))
        file = spool(remote_chunks(system, path, label, limits))
        return _open_archive(file, file.read(0, _HEAD), url, limits)
    except FileNotFoundError:
        raise
    except OSError as error:
        return Source(url, "file", (), (unreadable(label, error).finding,))
    except Unreadable as error:
        return Source(url, "file", (), (error.finding,))


def _open_plain(path: str, mode: int, size: int, limits: Limits) -> Source:
    """A folder, a file without the suffix of an archive, or a special file."""
    if stat.S_ISDIR(mode):
        return open_folder(path, limits)
    if stat.S_ISREG(mode):
        return open_file(path, size, limits)
    problem = special_file(path, printable(path))
    return Source(path, "file", (), (msgspec.structs.replace(problem, blocking=True),))


def _open_archive(file: Spool, head: bytes, path: str, limits: Limits) -> Source:
    """A file with the suffix of an archive; its content decides how it is read."""
    label, wanted, found = printable(path), archive_suffix(path), archive_kind(head)
    if wanted not in _READERS:
        problem = finding("SRC102", file=label, what=KINDS[wanted])
    elif found is not None and found not in _READERS:
        problem = finding("SRC102", file=label, what=KINDS[found])
    elif found is None:
        problem = finding("SRC101", file=label, wanted=KINDS[wanted])
    elif found != wanted:
        problem = finding("SRC103", file=label, found=KINDS[found], wanted=KINDS[wanted])
        return _read_archive(file, found, path, label, limits, problem)
    else:
        return _read_archive(file, found, path, label, limits)
    return Source(path, "file", (), (problem,))


def _read_archive(
    file: Spool, content: str, path: str, label: str, limits: Limits, *findings: Finding
) -> Source:
    """An archive of a supported kind, without members if it is rejected as a whole."""
    kind, read = _READERS[content]
    named = partial(listing, file, kind, limits)
    try:
        members, more = read(file, label, limits)
    except Unreadable as error:
        return Source(path, kind, (), (*findings, error.finding), listing=named)
    return Source(path, kind, members, (*findings, *more), listing=named)


def open_stream(chunks: Iterable[bytes], path: str, limits: Limits = LIMITS) -> Source:
    """A stream, spooled to be read again; its content decides whether it is an archive.

    Args:
        chunks: the bytes, which may raise `Unreadable`.
        path: `-` for standard input, or the name of the stream.
        limits: the limits of its size.
    """
    label = _STDIN if path == "-" else printable(path)
    has_name = Source(path, "", ()).has_name and archive_suffix(path) is None
    kind = "file" if has_name else "stdin"
    try:
        file = spool(chunks)
    except Unreadable as error:
        return Source(path, kind, (), (error.finding,))
    content = archive_kind(file.read(0, _HEAD))
    if content is not None and content in _READERS:
        return _read_archive(file, content, path, label, limits)
    return Source(path, kind, (Member("", label, file.size, file),))


def open_named(path: str, name: str, *, limits: Limits = LIMITS) -> Source:
    """Open a file or an archive under another name, such as the one that it was uploaded under.

    Args:
        path: of the file, which no finding shows.
        name: its name for people, whose suffix decides whether it is an archive.
        limits: the limits of its size.

    Raises:
        OSError: if the file cannot be opened.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "000001").write_bytes(b"E1")
        ...     source = open_named(f"{folder}/000001", "d1.a2")
        ...     source.path, source.members[0].fetch()
        ('d1.a2', b'E1')
    """
    label = printable(name)
    if not is_text(name):
        return Source(label, "file", (), (finding("SRC117", file=label, name=label),))
    if archive_suffix(name) is None:
        fetch = DiskFile(path, label, limits)
        return Source(name, "file", (Member("", label, Path(path).stat().st_size, fetch),))
    file = Spool.open(path)
    return _open_archive(file, file.read(0, _HEAD), name, limits)


def _chunks(label: str, limit: int) -> Iterator[bytes]:
    """The bytes of standard input.

    Raises:
        Unreadable: if it is closed, cannot be read, or is too large.
    """
    total = 0
    while chunk := _next(label):
        total += len(chunk)
        if total > limit:
            raise too_large(label, f"more than {limit}", limit)
        yield chunk


def _next(label: str) -> bytes:
    """The next bytes of standard input."""
    try:
        if sys.stdin is None:  # closed before Python began
            raise OSError(errno.EBADF, "")
        return sys.stdin.buffer.read(CHUNK)
    except OSError as error:
        closed = OSError(errno.EBADF, "it is closed")
        raise unreadable(label, closed if error.errno == errno.EBADF else error) from error
