"""Opening: from what the user named to a source of members."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from hlteval.findings import Finding, finding
from hlteval.sources.faults import special, too_large, unreadable
from hlteval.sources.folders import open_file, open_folder
from hlteval.sources.limits import LIMITS, Limits
from hlteval.sources.names import shown
from hlteval.sources.signatures import KINDS, by_content, by_suffix
from hlteval.sources.source import Member, Source, Unreadable
from hlteval.sources.spooling import CHUNK, Spooled, opened, spool
from hlteval.sources.tarballs import read_tgz
from hlteval.sources.zips import read_zip

_STDIN = "<stdin>"
_HEAD = 512
_Reader = Callable[[Spooled, str, Limits], tuple[tuple[Member, ...], list[Finding]]]
_READERS: dict[str | None, tuple[str, _Reader]] = {
    "zip": ("zip", read_zip),
    "gzip": ("tgz", read_tgz),
}


def open_source(path: str, *, limits: Limits = LIMITS, encoding: str = "utf-8") -> Source:
    """What a path holds: a folder and all below it, a file, a `.zip`, `.tgz` or `.tar.gz`, or `-`.

    What is wrong with it is in the source's findings, or in the `Unreadable` that a member's
    `fetch` raises; only a path that leads nowhere is an exception here.

    Args:
        path: as the user wrote it; `-` is standard input, which is read to its end.
        limits: how much is read.
        encoding: of its files, where they are text.

    Raises:
        FileNotFoundError: if there is nothing of that name.
        LookupError: if there is no such encoding.
        OSError: if the disk has no room for the unpacked archive.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "d1.a2").write_bytes(b"E1")
        ...     [(member.name, member.fetch()) for member in open_source(folder).members]
        [('d1.a2', b'E1')]
    """
    source = _open(path, limits)
    return source if encoding == "utf-8" else source.encoded(encoding)


def _open(path: str, limits: Limits) -> Source:
    if path == "-":
        return _open_stdin(sys.stdin.buffer, limits)
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode) or by_suffix(path) is None:
            return _open_plain(path, status.st_mode, status.st_size, limits)
        file = opened(path)
        head = file.read(0, _HEAD)
    except FileNotFoundError:
        raise
    except NotADirectoryError as error:
        raise FileNotFoundError(error.errno, error.strerror, path) from error
    except OSError as error:
        return Source(path, "file", (), (unreadable(shown(path), error).finding,))
    return _open_archive(file, head, path, limits)


def _open_plain(path: str, mode: int, size: int, limits: Limits) -> Source:
    """A folder, a file that is no archive by its name, or neither."""
    if stat.S_ISDIR(mode):
        return open_folder(path, limits)
    if stat.S_ISREG(mode):
        return open_file(path, size, limits)
    return Source(path, "file", (), (special(path, shown(path)),))


def _open_archive(file: Spooled, head: bytes, path: str, limits: Limits) -> Source:
    """A file that is an archive by its name; its content decides which one."""
    label, wanted, found = shown(path), by_suffix(path), by_content(head)
    if wanted not in _READERS:
        fault = finding("SRC102", file=label, what=KINDS[wanted])
    elif found is not None and found not in _READERS:
        fault = finding("SRC102", file=label, what=KINDS[found])
    elif found is None:
        fault = finding("SRC101", file=label, wanted=KINDS[wanted])
    elif found != wanted:
        fault = finding("SRC103", file=label, found=KINDS[found], wanted=KINDS[wanted])
        return _unpacked(file, found, path, label, limits, fault)
    else:
        return _unpacked(file, found, path, label, limits)
    return Source(path, "file", (), (fault,))


def _unpacked(
    file: Spooled, found: str, path: str, label: str, limits: Limits, *findings: Finding
) -> Source:
    """An archive of a known kind; without members where it is refused as a whole."""
    kind, read = _READERS[found]
    try:
        members, more = read(file, label, limits)
    except Unreadable as refused:
        return Source(path, kind, (), (*findings, refused.finding))
    return Source(path, kind, members, (*findings, *more))


def _open_stdin(stream: BinaryIO, limits: Limits) -> Source:
    """Standard input, kept so that it can be read again; it has no name, so its content decides."""
    try:
        file = spool(_bounded(stream, limits.file_bytes))
    except Unreadable as refused:
        return Source("-", "stdin", (), (refused.finding,))
    found = by_content(file.read(0, _HEAD))
    if found is not None and found in _READERS:
        return _unpacked(file, found, "-", _STDIN, limits)
    fetch = partial(file.read, 0, file.size)
    return Source("-", "stdin", (Member("", _STDIN, file.size, fetch),))


def _bounded(stream: BinaryIO, limit: int) -> Iterator[bytes]:
    total = 0
    while chunk := stream.read(CHUNK):
        total += len(chunk)
        if total > limit:
            raise too_large(_STDIN, f"more than {limit}", limit)
        yield chunk
