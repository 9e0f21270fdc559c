"""The disk: errors of writing, temporary folders, and streams as files that can be read twice."""

from __future__ import annotations

import os
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

UNCHANGED = "what was there before is unchanged, and no part of a file is left"


class NotWritten(OSError):
    """A file cannot be written: the disk is full, or the system refuses it.

    The message says what is safe.

    Examples:
        >>> print(NotWritten(28, "No space left on device", "a.json", UNCHANGED))
        cannot write a.json: No space left on device; what was there before is unchanged, and \
no part of a file is left
    """

    def __init__(self, number: int | None, reason: str, path: str, safe: str) -> None:
        super().__init__(number, reason, path)
        self.safe = safe

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}; {self.safe}"


@contextmanager
def report_write_errors(path: Path | str, safe: str = UNCHANGED) -> Iterator[None]:
    """Report an error of the system while a path is written under the name of this path.

    Args:
        path: as its user knows it, not that of an unfinished file.
        safe: what is safe after an error.

    Raises:
        NotWritten: for an error of the system, which has a number. That something is missing, or a
            file where a folder is wanted, is an error of the path, which is raised as it is.
    """
    try:
        yield
    except (NotWritten, FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError):
        raise
    except OSError as error:
        if error.errno is None:
            raise
        raise NotWritten(error.errno, error.strerror or str(error), str(path), safe) from error


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed at the end.

    Raises:
        NotWritten: if the disk for temporary files is full.
    """
    with temporary(), tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def temporary() -> Iterator[None]:
    """Report an error of the system while temporary files are written.

    Raises:
        NotWritten: for an error of the system, or if no folder can be written.
    """
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError as error:  # no folder can be written
        reason = "no folder for them can be written"
        raise NotWritten(error.errno, reason, "temporary files", "nothing was changed") from error
    with report_write_errors(
        f"temporary files to {folder}", "nothing was changed; set TMPDIR to another disk"
    ):
        yield


#: Number of bytes per read from a stream of unknown length.
CHUNK = 1 << 16

#: Without O_NONBLOCK, open() would block for ever if a file was replaced by a pipe.
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)

if sys.platform == "win32":

    def _read_at(descriptor: int, size: int, offset: int) -> bytes:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)
else:
    _read_at = os.pread  # has no shared position, so forked processes can read the same file


class SizedFile(Protocol):
    """A file that can be read at any offset."""

    size: int

    def read(self, offset: int, size: int, /) -> bytes:
        """Up to `size` bytes at `offset`, fewer only at the end of the file."""


class Spool:
    """A file that can be read at any offset and is closed when it is garbage collected.

    Members refer to it through `fetch`, so a source does not need to be closed.

    Args:
        descriptor: an open file, which this object closes.
    """

    __slots__ = ("__weakref__", "_descriptor", "size")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)
        self.size = os.fstat(descriptor).st_size

    @classmethod
    def open(cls, path: str) -> Spool:
        """A file of the disk; opening never blocks, not even for a pipe without a writer.

        Raises:
            OSError: if the file cannot be opened.
        """
        return cls(os.open(path, OPEN_FLAGS))

    def __call__(self) -> bytes:
        """All bytes.

        Raises:
            OSError: if the file cannot be read.
        """
        return self.read(0, self.size)

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes at `offset`, fewer only at the end of the file.

        Raises:
            OSError: if the file cannot be read.
        """
        data = _read_at(self._descriptor, size, offset)
        while 0 < len(data) < size:
            more = _read_at(self._descriptor, size - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data

    def chunks(self, offset: int = 0) -> Iterator[bytes]:
        """The bytes from `offset` to the end, in chunks."""
        while chunk := self.read(offset, CHUNK):
            yield chunk
            offset += len(chunk)


def spool(chunks: Iterable[bytes]) -> Spool:
    """Write bytes to a temporary file without a name, which is deleted with the object.

    Raises:
        NotWritten: if the disk has no space for them.

    Examples:
        >>> spool([b"ab", b"cd"]).read(1, 2)
        b'bc'
    """
    with temporary(), tempfile.TemporaryFile() as file:
        file.writelines(chunks)
        file.flush()
        return Spool(os.dup(file.fileno()))
