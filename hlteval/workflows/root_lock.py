"""The lock of a folder: one process at a time writes to it.

The lock is that of the operating system (flock), which frees it when its process ends, however it
ends; the file names the process that holds it, or held it last.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hlteval.sources.disk import written

FILE = ".hlteval.lock"


class InUse(ValueError):
    """Another process works on the folder."""


@contextmanager
def locked(root: Path) -> Iterator[str]:
    """Hold the lock of a folder.

    Yields:
        A note about the process that held it and did not come to its end; empty if there is none.

    Raises:
        InUse: if another process holds it.
        NotWritten: if the file cannot be written, or the system has no such locks.
    """
    path = root / FILE
    with written(path, "nothing was changed"):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        before = _take(file, root)
        _write(file, json.dumps({"process": os.getpid(), "host": socket.gethostname()}))
        yield _note(before)
        _write(file, "")
    finally:
        os.close(file)


def _take(file: int, root: Path) -> str:
    """Take the lock; gives what the file said before.

    Raises:
        InUse: if another process holds it.
    """
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(os.pread(file, 1000, 0).decode("utf-8", "replace"))
        raise InUse(f"{root} is in use by {holder}; wait until it ends, or end it") from None
    return os.pread(file, 1000, 0).decode("utf-8", "replace")


def _write(file: int, text: str) -> None:
    os.ftruncate(file, 0)
    os.pwrite(file, text.encode(), 0)


def _holder(written_by: str) -> str:
    """The process that a lock names."""
    try:
        known = json.loads(written_by)
        return f"process {int(known['process'])} on {known['host']}"
    except (ValueError, KeyError, TypeError):
        return "another process"


def _note(before: str) -> str:
    return f"continues where {_holder(before)} was interrupted" if before else ""
