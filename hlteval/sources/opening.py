"""Opening: from a path on the command line to a source."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from hlteval.findings import Finding, finding
from hlteval.sources.folders import open_file, open_folder
from hlteval.sources.limits import LIMITS, Limits
from hlteval.sources.names import printable
from hlteval.sources.problems import special_file, too_large, unreadable
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

    Problems are in the findings of the source, or in the `Unreadable` that `fetch` of a member
    raises; only a path that does not exist raises an exception here.

    Args:
        path: the path; `-` is standard input, which is read to its end.
        limits: the limits of its size.
        encoding: encoding of its text files.

    Raises:
        FileNotFoundError: if the path does not exist.
        LookupError: for an unknown encoding.
        OSError: if the disk has no space for the unpacked archive.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "d1.a2").write_bytes(b"E1")
        ...     [(member.name, member.fetch()) for member in open_source(folder).members]
        [('d1.a2', b'E1')]
    """
    source = _open(path, limits)
    return source if encoding == "utf-8" else source.with_encoding(encoding)


def _open(path: str, limits: Limits) -> Source:
    if path == "-":
        return _open_stdin(sys.stdin.buffer, limits)
    try:
        status = Path(path).stat()
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


def _open_plain(path: str, mode: int, size: int, limits: Limits) -> Source:
    """A folder, a file without the suffix of an archive, or a special file."""
    if stat.S_ISDIR(mode):
        return open_folder(path, limits)
    if stat.S_ISREG(mode):
        return open_file(path, size, limits)
    return Source(path, "file", (), (special_file(path, printable(path)),))


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
    try:
        members, more = read(file, label, limits)
    except Unreadable as error:
        return Source(path, kind, (), (*findings, error.finding))
    return Source(path, kind, members, (*findings, *more))


def _open_stdin(stream: BinaryIO, limits: Limits) -> Source:
    """Standard input, spooled to be read again; without a suffix, its content decides."""
    try:
        file = spool(_chunks(stream, limits.file_bytes))
    except Unreadable as error:
        return Source("-", "stdin", (), (error.finding,))
    kind = archive_kind(file.read(0, _HEAD))
    if kind is not None and kind in _READERS:
        return _read_archive(file, kind, "-", _STDIN, limits)
    fetch = partial(file.read, 0, file.size)
    return Source("-", "stdin", (Member("", _STDIN, file.size, fetch),))


def _chunks(stream: BinaryIO, limit: int) -> Iterator[bytes]:
    total = 0
    while chunk := stream.read(CHUNK):
        total += len(chunk)
        if total > limit:
            raise too_large(_STDIN, f"more than {limit}", limit)
        yield chunk
