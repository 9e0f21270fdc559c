"""Opening: folders, single files, URLs, archives and streams as sources.

Listing and reading tens of thousands of small files takes most of a run, so a file costs one entry
of `os.scandir` and one open, read and close; only the size of a large file is looked up.

A URL becomes a `Source` in `sources/opening.py`; no other code knows that it is not on disk.
"""

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
from itertools import chain
from pathlib import Path
from typing import Any, Self

import msgspec

from hlteval.findings import Finding, Severity, finding
from hlteval.sources import archives
from hlteval.sources.inner_archives import with_inner_files
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
from hlteval.sources.spooling import CHUNK, OPEN_FLAGS, NotWritten, Spool, spool
from hlteval.sources.tarballs import list_tgz
from hlteval.sources.zips import list_zip


def open_folder(path: str, limits: Limits) -> Source:
    """A folder with all files below it; links to files are followed, links to folders are not."""
    root = path.rstrip("/") or path
    try:
        names, findings = _walk(root, limits.files)
    except Unreadable:  # too many
        problem = finding("SRC126", file=printable(path), limit=limits.files)
        return Source(path, "folder", (), (problem,))
    label, prefix = printable(path), f"{root}/"
    return _folder(path, label, root, prefix, names, findings, read_file, limits)


def _folder(
    path: str,
    label: str,
    root: str,
    prefix: str,
    names: list[str],
    findings: list[Finding],
    read: Callable[[str, str, Limits], bytes],
    limits: Limits,
) -> Source:
    """A folder as a source.

    Args:
        path: the folder, as written by the user.
        label: its name in findings.
        root: the beginning of the names of its files in findings.
        prefix: the beginning of the paths of its files.
        names: the names of all files.
        findings: of what else is in it.
        read: gives the bytes of a file by its path, and its name in findings.
        limits: the limits of its size.
    """
    hidden: list[str] = []
    if not (ordinary := are_ordinary(names)):
        hidden = [printable(name) for name in names if is_junk(name)]
        names = [name for name in names if not is_junk(name)]
        foreign = [printable(f"{root}/{name}") for name in names if not is_text(name)]
        findings += [finding("SRC117", file=name, name=name) for name in foreign]
        names = [name for name in names if is_text(name)]
    names, begin = sorted(names), printable(f"{root}/")
    shown = [f"{begin}{name if ordinary else printable(name)}" for name in names]
    members = tuple(
        Member(name, shown_name, None, partial(read, prefix + name, shown_name, limits))
        for name, shown_name in zip(names, shown, strict=True)
    )
    if not members and all(item.severity != Severity.ERROR for item in findings):
        blocking = {"severity": Severity.ERROR, "blocking": True}  # such as links to folders
        findings = [msgspec.structs.replace(item, **blocking) for item in findings]
        findings = findings or [finding("SRC104", file=label, what="folder")]
    members, problems = with_inner_files(members, label, limits)
    findings += problems
    return Source(path, "folder", members, (*findings, *archives.ignored_files(label, hidden)))


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
                        findings.append(archives.special_file(path, printable(path)))
        except OSError as error:
            folder = printable(f"{root}/{prefix}".rstrip("/"))
            findings.append(archives.unreadable(folder, error).finding)
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
            if data and (len(data) == CHUNK or os.read(descriptor, 1)):  # a large file
                size = os.fstat(descriptor).st_size
                if size > limits.file_bytes:
                    raise archives.too_large(display, size, limits.file_bytes)
                os.lseek(descriptor, 0, os.SEEK_SET)
                whole = os.read(descriptor, size + 1)  # in one read, unless the file grows
                rest = iter(partial(os.read, descriptor, CHUNK), b"")
                limit = min(size + limits.growth, limits.file_bytes)
                data = b"".join(archives.within_limit(chain([whole], rest), display, limit))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise archives.unreadable(display, error) from error
    if len(data) > limits.file_bytes:
        raise archives.too_large(display, len(data), limits.file_bytes)
    return data


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
            raise archives.unreadable(self.display, error) from error
        if file.size > self.limits.file_bytes:
            raise archives.too_large(self.display, file.size, self.limits.file_bytes)
        limit = min(file.size + self.limits.growth, self.limits.file_bytes)
        if offset + len(data) > limit:
            raise archives.too_large(self.display, f"more than {limit}", limit)
        return data


#: Gives the entries of an archive in their order, and findings of it to a list if there is one.
_List = Callable[[Spool, str, Limits, list[Finding] | None], Iterator[archives.Entry]]
#: The kinds of sources that archives are, by the kinds of their content.
_LISTS: dict[str | None, tuple[str, _List]] = {"zip": ("zip", list_zip), "gzip": ("tgz", list_tgz)}


def listing(file: Spool, entries: _List, limits: Limits) -> tuple[Listed, ...]:
    """Everything that the list of an archive names, in its order, up to where it is damaged."""
    files: list[Listed] = []
    with suppress(Unreadable, OSError):
        for entry in entries(file, "", limits, None):
            files.append(Listed(printable(entry.name), entry.type, entry.size))
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
            yield from archives.within_limit(chunks, display, limits.file_bytes)
    except OSError as error:
        raise archives.unreadable(display, error) from error


_STDIN = "<stdin>"
_HEAD = 512


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
    try:
        source = _open(path, limits)
    except (FileNotFoundError, NotWritten):
        raise
    except NotADirectoryError as error:
        raise FileNotFoundError(error.errno, error.strerror, path) from error
    except OSError as error:
        source = Source(path, "file", (), (archives.unreadable(printable(path), error).finding,))
    except Unreadable as error:
        source = Source(path, "file", (), (error.finding,))
    return source if encoding == "utf-8" else source.with_encoding(encoding)


def _open(path: str, limits: Limits) -> Source:
    if path == "-":
        chunks = archives.within_limit(iter(_read_stdin, b""), _STDIN, limits.file_bytes)
        return open_stream(chunks, path, limits)
    if is_url(path):
        return _open_url(path, limits)
    mode = Path(path).stat().st_mode
    if is_text(path) and stat.S_ISDIR(mode):
        return open_folder(path, limits)
    if is_text(path) and not stat.S_ISREG(mode):
        problem = archives.special_file(path, printable(path))
        return Source(path, "file", (), (msgspec.structs.replace(problem, blocking=True),))
    return open_named(path, path, limits=limits)


def _open_url(url: str, limits: Limits) -> Source:
    """A folder, file or archive at a URL; an archive is spooled, all else is read when needed."""
    system, path = file_system_of(url)
    label = printable(url)
    if system.isdir(path):
        label, prefix = printable(url.rstrip("/")), path.rstrip("/") + "/"
        try:
            names = [name.removeprefix(prefix) for name in system.find(path)]
        except OSError as error:
            return Source(url, "folder", (), (archives.unreadable(label, error).finding,))
        if len(names) > limits.files:
            return Source(url, "folder", (), (finding("SRC126", file=label, limit=limits.files),))
        read = partial(_fetch, system)
        return _folder(url, label, url.rstrip("/"), prefix, names, [], read, limits)
    if not system.isfile(path):
        raise FileNotFoundError(errno.ENOENT, "no such file or folder", url)
    if archive_suffix(url) is None:
        member = Member("", label, None, partial(_fetch, system, path, label, limits))
        return Source(url, "file", (member,))
    return _open_archive(spool(remote_chunks(system, path, label, limits)), url, limits)


def _open_archive(file: Spool, path: str, limits: Limits) -> Source:
    """A file with the suffix of an archive; its content decides how it is read."""
    label, wanted, kind = printable(path), archive_suffix(path), archive_kind(file.read(0, _HEAD))
    unsupported = [name for name in (wanted, kind) if name is not None and name not in _LISTS]
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
    file: Spool, content: str | None, path: str, label: str, limits: Limits, *findings: Finding
) -> Source:
    """An archive of a supported kind, without members if it is rejected as a whole."""
    kind, entries = _LISTS[content]
    members: tuple[Member, ...] = ()
    problems: list[Finding] = []
    try:
        members, more = archives.admit([*entries(file, label, limits, problems)], label, limits)
        if not (limits.nested or any(problem.blocking for problem in problems)):
            members, inner = with_inner_files(members, label, limits)
            problems += inner
    except Unreadable as error:
        problems, more = [], [error.finding]
    if any(problem.blocking for problem in problems):
        members = ()
    found = (*findings, *problems, *more)
    return Source(path, kind, members, found, listing=partial(listing, file, entries, limits))


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
    if content in _LISTS:
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
        size = Path(path).stat().st_size
        return Source(name, "file", (Member("", label, size, DiskFile(path, label, limits)),))
    return _open_archive(Spool.open(path), name, limits)


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
        raise archives.unreadable(
            _STDIN, closed if error.errno == errno.EBADF else error
        ) from error
