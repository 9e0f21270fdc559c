"""Sources at a URL, through fsspec: they are listed and read where they are, file by file."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

from hlteval.findings import finding
from hlteval.sources.limits import Limits
from hlteval.sources.names import is_junk, printable
from hlteval.sources.problems import ignored_files, too_large, unreadable
from hlteval.sources.source import Member, Source
from hlteval.sources.spooling import CHUNK

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


def located(url: str) -> tuple[Any, str]:
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
    found = [] if members else [finding("SRC104", file=display, what="folder")]
    return Source(url, "folder", members, (*found, *ignored_files(display, hidden)))


def remote_member(system: Any, path: str, name: str, display: str, limits: Limits) -> Member:
    """One file of a file system."""
    fetch = partial(_fetched, system, path, printable(display), limits)
    return Member(name, printable(display), None, fetch)


def _fetched(system: Any, path: str, display: str, limits: Limits) -> bytes:
    """The bytes of a file.

    Raises:
        Unreadable: if it cannot be read, or is too large.
    """
    return b"".join(remote_chunks(system, path, display, limits))


def remote_chunks(system: Any, path: str, display: str, limits: Limits) -> Iterator[bytes]:
    """The bytes of a file, part by part.

    Raises:
        Unreadable: if it cannot be read, or is too large.
    """
    total = 0
    try:
        with system.open(path, "rb") as stream:
            while chunk := stream.read(CHUNK):
                total += len(chunk)
                if total > limits.file_bytes:
                    raise too_large(display, f"more than {limits.file_bytes}", limits.file_bytes)
                yield chunk
    except OSError as error:
        raise unreadable(display, error) from error


def absent(url: str) -> FileNotFoundError:
    """The error for a URL at which there is nothing."""
    return FileNotFoundError(errno.ENOENT, "no such file or folder", url)
