"""Opening: folders, single files, URLs, archives and streams as sources.

Listing and reading tens of thousands of small files takes most of a run, so a file costs one entry
of `os.scandir` and one open, read and close; only the size of a large file is looked up.

A URL becomes a `Source` in `sources/opening.py`; no other code knows that it is not on disk.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import msgspec

from hlteval.findings import Finding, Severity, finding
from hlteval.sources.archives import (
    ignored_files,
    special_file,
    too_large,
    unreadable,
    within_limit,
)
from hlteval.sources.names import (
    KINDS,
    archive_kind,
    archive_suffix,
    are_ordinary,
    is_junk,
    is_text,
    printable,
)
from hlteval.sources.source import LIMITS, Limits, Listed, Member, Source, Unreadable
from hlteval.sources.spooling import CHUNK, OPEN_FLAGS, Spool, spool
from hlteval.sources.tarballs import list_tgz, read_tgz
from hlteval.sources.zips import list_zip, read_zip


def open_folder(path: str, limits: Limits) -> Source:
    """A folder with all files below it; links to files are followed, links to folders are not."""
    root = path.rstrip("/") or path
    try:
        names, findings = _walk(root, limits.files)
    except Unreadable:  # too many
        problem = finding("SRC126", file=printable(path), limit=limits.files)
        return Source(path, "folder", (), (problem,))
    hidden: list[str] = []
    if not are_ordinary(names):
        hidden = [printable(name) for name in names if is_junk(name)]
        names = [name for name in names if not is_junk(name)]
        foreign = [printable(f"{root}/{name}") for name in names if not is_text(name)]
        findings += [finding("SRC117", file=name, name=name) for name in foreign]
    members = []
    for name in filter(is_text, sorted(names)):
        file = f"{root}/{name}"
        display = printable(file)
        members.append(Member(name, display, None, partial(read_file, file, display, limits)))
    if not members and all(item.severity != Severity.ERROR for item in findings):
        blocking = {"severity": Severity.ERROR, "blocking": True}  # such as links to folders
        findings = [msgspec.structs.replace(item, **blocking) for item in findings]
        findings = findings or [finding("SRC104", file=printable(path), what="folder")]
    findings += ignored_files(printable(path), hidden)
    return Source(path, "folder", tuple(members), tuple(findings))


def _walk(root: str, limit: int) -> tuple[list[str], list[Finding]]:
    """The names of all files below a folder, hidden ones included, and findings of the rest.

    Raises:
        Unreadable: if there are more files and folders than the limit; `/` has millions.
    """
    seen = 0
    names: list[str] = []
    findings: list[Finding] = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(f"{root}/{prefix}") as entries:
                for entry in entries:
                    seen += 1
                    if seen > limit:
                        raise Unreadable(finding("SRC126", file=printable(root), limit=limit))
                    name, path = prefix + entry.name, f"{root}/{prefix}{entry.name}"
                    if entry.is_file(follow_symlinks=False) or is_junk(name):
                        names.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{name}/")
                    elif os.path.isfile(path):  # noqa: PTH113 - no exception for a loop of links
                        names.append(name)
                    elif os.path.isdir(path):  # noqa: PTH112
                        findings.append(finding("SRC110", file=printable(path)))
                    else:
                        findings.append(special_file(path, printable(path)))
        except OSError as error:
            findings.append(unreadable(printable(f"{root}/{prefix}".rstrip("/")), error).finding)
    return names, findings


def read_file(path: str, display: str, limits: Limits) -> bytes:
    """The bytes of a file of the disk.

    Args:
        path: path of the file.
        display: name of the file in findings.
        limits: the limits of its size.

    Raises:
        Unreadable: if the file cannot be read (SRC108) or is too large (SRC125).
    """
    try:
        descriptor = os.open(path, OPEN_FLAGS)
        try:
            data = os.read(descriptor, CHUNK)
            if data and (len(data) == CHUNK or os.read(descriptor, 1)):
                data = _read_large(descriptor, display, limits)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise unreadable(display, error) from error
    if len(data) > limits.file_bytes:
        raise too_large(display, len(data), limits.file_bytes)
    return data


def _read_large(descriptor: int, display: str, limits: Limits) -> bytes:
    """The bytes of a large file; in one read, unless the file grows."""
    size = os.fstat(descriptor).st_size
    if size > limits.file_bytes:
        raise too_large(display, size, limits.file_bytes)
    os.lseek(descriptor, 0, os.SEEK_SET)
    parts = [os.read(descriptor, size + 1)]
    total, limit = len(parts[0]), min(size + limits.growth, limits.file_bytes)
    while more := os.read(descriptor, CHUNK):
        parts.append(more)
        total += len(more)
        if total > limit:
            raise too_large(display, f"more than {limit}", limit)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def open_file(path: str, size: int, limits: Limits, name: str = "") -> Source:
    """A single file as a source with one member, whose name is empty.

    Args:
        path: path of the file.
        size: its size in bytes.
        limits: the limits of its size.
        name: its name for people, by default the path.
    """
    display = printable(name or path)
    member = Member("", display, size, DiskFile(path, display, limits))
    return Source(name or path, "file", (member,))


@dataclass(frozen=True, slots=True)
class DiskFile:
    """The bytes of a single file, as `read_file` reads them, or some of them.

    Attributes:
        path: path of the file.
        display: name of the file in findings.
        limits: the limits of its size.
    """

    path: str
    display: str
    limits: Limits

    def __call__(self) -> bytes:
        """All bytes."""
        return read_file(self.path, self.display, self.limits)

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes at `offset`, fewer only at the end of the file.

        Raises:
            Unreadable: as `read_file` does.
        """
        try:
            file = Spool.open(self.path)
            data = file.read(offset, size)
        except OSError as error:
            raise unreadable(self.display, error) from error
        if file.size > self.limits.file_bytes:
            raise too_large(self.display, file.size, self.limits.file_bytes)
        limit = min(file.size + self.limits.growth, self.limits.file_bytes)
        if offset + len(data) > limit:
            raise too_large(self.display, f"more than {limit}", limit)
        return data


def listing(file: Spool, kind: str, limits: Limits) -> tuple[Listed, ...]:
    """Everything that the list of an archive names, in its order, up to where it is damaged.

    Args:
        file: the archive.
        kind: `zip` or `tgz`.
        limits: the limits of an archive.
    """
    entries = list_zip(file, "", limits) if kind == "zip" else list_tgz(file, "", limits, [])
    files: list[Listed] = []
    with suppress(Unreadable, OSError):
        files.extend(Listed(printable(entry.name), entry.type, entry.size) for entry in entries)
    return tuple(files)


class OpenInput(str):
    """The name of an open file, a corpus or a table, with its source.

    It is text in messages, and `open_source` returns its source: whatever takes a path takes it.

    Args:
        source: the source.
        decoded: whether its bytes are UTF-8 whatever the encoding of other files is.
        name: the name; by default that of the source.

    Examples:
        >>> name = OpenInput(Source("<stream>", "stdin", ()))
        >>> name, name.in_encoding("latin-1").kind
        ('<stream>', 'stdin')
    """

    __slots__ = ("_decoded", "_source")
    _source: Source
    _decoded: bool

    def __new__(cls, source: Source, *, decoded: bool = False, name: str = "") -> Self:  # noqa: D102 - see the class
        self = super().__new__(cls, name or source.path)
        self._source, self._decoded = source, decoded
        return self

    def in_encoding(self, encoding: str) -> Source:
        """The source, with an encoding of its files.

        Raises:
            LookupError: for an unknown encoding.
        """
        return self._source if self._decoded else self._source.with_encoding(encoding)


_URL = re.compile(r"[a-z][a-z0-9+.-]+://")


class NoRemoteError(FileNotFoundError):
    """A URL cannot be opened here: the library is absent, or does not know its scheme."""


def is_url(path: str) -> bool:
    """Whether a path is the URL of a file or folder.

    Examples:
        >>> is_url("s3://bucket/runs"), is_url("runs/a"), is_url("C:/runs")
        (True, False, False)
    """
    return _URL.match(path) is not None


def file_system_of(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it.

    Raises:
        NoRemoteError: if it cannot be opened here.
    """
    try:
        system, path = import_module("fsspec.core").url_to_fs(url)
    except ImportError as error:
        raise NoRemoteError(f"{url} needs a library: pip install 'hlteval[cluster]'") from error
    except ValueError as error:
        raise NoRemoteError(f"{url} cannot be opened: {error}") from error
    return system, path


def open_remote_folder(url: str, system: Any, root: str, limits: Limits) -> Source:
    """A folder at a URL, with all files below it."""
    display, prefix = printable(url.rstrip("/")), root.rstrip("/") + "/"
    try:
        names = sorted(path.removeprefix(prefix) for path in system.find(root))
    except OSError as error:
        return Source(url, "folder", (), (unreadable(display, error).finding,))
    if len(names) > limits.files:
        return Source(url, "folder", (), (finding("SRC126", file=display, limit=limits.files),))
    hidden = [printable(name) for name in names if is_junk(name)]
    kept = [name for name in names if not is_junk(name)]
    members = tuple(
        remote_member(system, prefix + name, name, f"{display}/{name}", limits) for name in kept
    )
    problems = [] if members else [finding("SRC104", file=display, what="folder")]
    return Source(url, "folder", members, (*problems, *ignored_files(display, hidden)))


def remote_member(system: Any, path: str, name: str, display: str, limits: Limits) -> Member:
    """One file of a file system."""
    display = printable(display)
    return Member(name, display, None, partial(_fetch, system, path, display, limits))


def _fetch(system: Any, path: str, display: str, limits: Limits) -> bytes:
    return b"".join(remote_chunks(system, path, display, limits))


def remote_chunks(system: Any, path: str, display: str, limits: Limits) -> Iterator[bytes]:
    """The bytes of a file, part by part.

    Raises:
        Unreadable: if it cannot be read, or is too large.
    """
    try:
        with system.open(path, "rb") as stream:
            chunks = iter(partial(stream.read, CHUNK), b"")
            yield from within_limit(chunks, display, limits.file_bytes)
    except OSError as error:
        raise unreadable(display, error) from error


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
    if path == "-":
        chunks = within_limit(iter(_read_stdin, b""), _STDIN, limits.file_bytes)
        source = open_stream(chunks, path, limits)
    else:
        source = _open_url(path, limits) if is_url(path) else _open(path, limits)
    return source if encoding == "utf-8" else source.with_encoding(encoding)


def _open(path: str, limits: Limits) -> Source:
    try:
        status = Path(path).stat()
        if not is_text(path):
            label = printable(path)
            return Source(label, "file", (), (finding("SRC117", file=label, name=label),))
        if stat.S_ISDIR(status.st_mode):
            return open_folder(path, limits)
        if not stat.S_ISREG(status.st_mode):
            problem = special_file(path, printable(path))
            return Source(path, "file", (), (msgspec.structs.replace(problem, blocking=True),))
        if archive_suffix(path) is None:
            return open_file(path, status.st_size, limits)
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
    system, path = file_system_of(url)
    label = printable(url)
    try:
        if system.isdir(path):
            return open_remote_folder(url, system, path, limits)
        if not system.isfile(path):
            raise FileNotFoundError(errno.ENOENT, "no such file or folder", url)
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


def _open_archive(file: Spool, head: bytes, path: str, limits: Limits) -> Source:
    """A file with the suffix of an archive; its content decides how it is read."""
    label, wanted, kind = printable(path), archive_suffix(path), archive_kind(head)
    unsupported = [name for name in (wanted, kind) if name is not None and name not in _READERS]
    if unsupported:
        problem = finding("SRC102", file=label, what=KINDS[unsupported[0]])
        return Source(path, "file", (), (problem,))
    if kind is None:
        return Source(path, "file", (), (finding("SRC101", file=label, wanted=KINDS[wanted]),))
    problems = []
    if kind != wanted:
        problems = [finding("SRC103", file=label, found=KINDS[kind], wanted=KINDS[wanted])]
    return _read_archive(file, kind, path, label, limits, *problems)


def _read_archive(
    file: Spool, content: str, path: str, label: str, limits: Limits, *findings: Finding
) -> Source:
    """An archive of a supported kind, without members if it is rejected as a whole."""
    kind, read = _READERS[content]
    members: tuple[Member, ...] = ()
    try:
        members, more = read(file, label, limits)
    except Unreadable as error:
        more = [error.finding]
    entries = partial(listing, file, kind, limits)
    return Source(path, kind, members, (*findings, *more), listing=entries)


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
        return open_file(path, Path(path).stat().st_size, limits, name)
    file = Spool.open(path)
    return _open_archive(file, file.read(0, _HEAD), name, limits)


def _read_stdin() -> bytes:
    """The next bytes of standard input.

    Raises:
        Unreadable: if it is closed or cannot be read.
    """
    try:
        if sys.stdin is None:  # closed before Python began
            raise OSError(errno.EBADF, "")
        return sys.stdin.buffer.read(CHUNK)
    except OSError as error:
        closed = OSError(errno.EBADF, "it is closed")
        raise unreadable(_STDIN, closed if error.errno == errno.EBADF else error) from error
