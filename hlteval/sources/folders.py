"""Folders and single files: listed without opening, read without a second look.

Listing and reading tens of thousands of small files is most of a run, so a file costs one entry of
`os.scandir` and one open, read and close; its size is asked for only once it turns out to be large.
"""

from __future__ import annotations

import os
from functools import partial

from hlteval.findings import Finding, finding
from hlteval.sources.faults import ignored, special, too_large, unreadable
from hlteval.sources.limits import Limits
from hlteval.sources.names import is_text, junk, ordinary, shown
from hlteval.sources.source import Member, Source
from hlteval.sources.spooling import CHUNK

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Without O_NONBLOCK, a pipe that took the place of a file would make open() wait for ever."""


def open_folder(path: str, limits: Limits) -> Source:
    """A folder and everything below it; links to files are followed, links to folders are not."""
    root = path.rstrip("/") or path
    names, findings = _walk(root)
    hidden: list[str] = []
    if not ordinary(names):
        hidden = [shown(name) for name in names if junk(name)]
        names = [name for name in names if not junk(name)]
        foreign = [shown(f"{root}/{name}") for name in names if not is_text(name)]
        findings += [finding("SRC117", file=name, name=name) for name in foreign]
    members = tuple(_member(root, name, limits) for name in sorted(names) if is_text(name))
    if not members and not findings:
        findings.append(finding("SRC104", file=shown(path), what="folder"))
    findings += ignored(shown(path), hidden)
    return Source(path, "folder", members, tuple(findings))


def _member(root: str, name: str, limits: Limits) -> Member:
    path = f"{root}/{name}"
    display = shown(path)
    return Member(name, display, None, partial(read_file, path, display, limits.file_bytes))


def _walk(root: str) -> tuple[list[str], list[Finding]]:
    """The names of all files below a folder, what is hidden included, and what cannot be read."""
    names: list[str] = []
    findings: list[Finding] = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(f"{root}/{prefix}") as entries:
                for entry in entries:
                    name = prefix + entry.name
                    if entry.is_file(follow_symlinks=False) or junk(name):
                        names.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{name}/")
                    elif fault := _fault(f"{root}/{name}"):
                        findings.append(fault)
                    else:
                        names.append(name)
        except OSError as error:
            findings.append(unreadable(shown(f"{root}/{prefix}".rstrip("/")), error).finding)
    return names, findings


def _fault(path: str) -> Finding | None:
    """What is wrong with something that is no file, or not directly; None for a link to a file."""
    if os.path.isfile(path):  # noqa: PTH113 - False, not an exception, for a loop of links
        return None
    if os.path.isdir(path):  # noqa: PTH112
        return finding("SRC110", file=shown(path))
    return special(path, shown(path))


def read_file(path: str, display: str, limit: int) -> bytes:
    """The bytes of a file of the disk.

    Args:
        path: where it is.
        display: how findings name it.
        limit: most bytes that are read.

    Raises:
        Unreadable: if it cannot be read (SRC108) or is larger (SRC125).
    """
    try:
        descriptor = os.open(path, _FLAGS)
        try:
            data = os.read(descriptor, CHUNK)
            if data and (len(data) == CHUNK or os.read(descriptor, 1)):
                data = _read_large(descriptor, display, limit)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise unreadable(display, error) from error
    if len(data) > limit:
        raise too_large(display, len(data), limit)
    return data


def _read_large(descriptor: int, display: str, limit: int) -> bytes:
    """A file from its beginning, in one piece where its size is what the system says."""
    size = os.fstat(descriptor).st_size
    if size > limit:
        raise too_large(display, size, limit)
    os.lseek(descriptor, 0, os.SEEK_SET)
    data = os.read(descriptor, size + 1)
    while len(data) <= limit and (more := os.read(descriptor, CHUNK)):
        data += more
    return data


def open_file(path: str, size: int, limits: Limits) -> Source:
    """A single file, as a source with one member that has no name."""
    display = shown(path)
    fetch = partial(read_file, path, display, limits.file_bytes)
    return Source(path, "file", (Member("", display, size, fetch),))
