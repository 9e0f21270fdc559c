"""Folders and single files.

Listing and reading tens of thousands of small files takes most of a run, so a file costs one entry
of `os.scandir` and one open, read and close; only the size of a large file is looked up.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

import msgspec

from hlteval.findings import Finding, Severity, finding
from hlteval.sources.limits import Limits
from hlteval.sources.names import are_ordinary, is_junk, is_text, printable
from hlteval.sources.problems import ignored_files, special_file, too_large, unreadable
from hlteval.sources.source import Member, Source
from hlteval.sources.spooling import CHUNK, Spool

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Without O_NONBLOCK, open() would block for ever if a file was replaced by a pipe."""


def open_folder(path: str, limits: Limits) -> Source:
    """A folder with all files below it; links to files are followed, links to folders are not."""
    root = path.rstrip("/") or path
    try:
        names, findings = _walk(root, limits.files)
    except _TooManyError:
        problem = finding("SRC126", file=printable(path), limit=limits.files)
        return Source(path, "folder", (), (problem,))
    hidden: list[str] = []
    if not are_ordinary(names):
        hidden = [printable(name) for name in names if is_junk(name)]
        names = [name for name in names if not is_junk(name)]
        foreign = [printable(f"{root}/{name}") for name in names if not is_text(name)]
        findings += [finding("SRC117", file=name, name=name) for name in foreign]
    members = tuple(_member(root, name, limits) for name in sorted(names) if is_text(name))
    if not members and all(item.severity != Severity.ERROR for item in findings):
        blocking = {"severity": Severity.ERROR, "blocking": True}  # such as links to folders
        findings = [msgspec.structs.replace(item, **blocking) for item in findings]
        findings = findings or [finding("SRC104", file=printable(path), what="folder")]
    findings += ignored_files(printable(path), hidden)
    return Source(path, "folder", members, tuple(findings))


def _member(root: str, name: str, limits: Limits) -> Member:
    path = f"{root}/{name}"
    display = printable(path)
    return Member(name, display, None, partial(read_file, path, display, limits))


class _TooManyError(Exception):
    """A folder contains more files and folders than the limit."""


def _walk(root: str, limit: int) -> tuple[list[str], list[Finding]]:
    """The names of all files below a folder, hidden ones included, and findings of the rest.

    Raises:
        _TooManyError: if there are more files and folders than the limit; `/` has millions.
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
                        raise _TooManyError
                    name = prefix + entry.name
                    if entry.is_file(follow_symlinks=False) or is_junk(name):
                        names.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{name}/")
                    elif problem := _problem(f"{root}/{name}"):
                        findings.append(problem)
                    else:
                        names.append(name)
        except OSError as error:
            findings.append(unreadable(printable(f"{root}/{prefix}".rstrip("/")), error).finding)
    return names, findings


def _problem(path: str) -> Finding | None:
    """The finding for a path that is not a regular file; None for a link to a file."""
    if os.path.isfile(path):  # noqa: PTH113 - False, not an exception, for a loop of links
        return None
    if os.path.isdir(path):  # noqa: PTH112
        return finding("SRC110", file=printable(path))
    return special_file(path, printable(path))


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
        descriptor = os.open(path, _FLAGS)
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


def open_file(path: str, size: int, limits: Limits) -> Source:
    """A single file as a source with one member, whose name is empty."""
    display = printable(path)
    return Source(path, "file", (Member("", display, size, DiskFile(path, display, limits)),))


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
