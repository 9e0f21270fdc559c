"""Spooling: bytes that can be read again at any place, without being held in memory."""

from __future__ import annotations

import os
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator

CHUNK = 1 << 16
"""Bytes that are read at once from something of unknown length."""

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)

if sys.platform == "win32":

    def _read_at(descriptor: int, size: int, offset: int) -> bytes:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)
else:
    _read_at = os.pread  # it shares no position, so forked processes may read the same file


class Spooled:
    """A file that can be read at any place and is closed when nothing refers to it any more.

    Members hold it through their `fetch`, so a source needs no closing.

    Args:
        descriptor: an open file; from now on it belongs to this object.
    """

    __slots__ = ("__weakref__", "_descriptor", "size")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)
        self.size = os.fstat(descriptor).st_size

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
        """All bytes from `offset` on, piece by piece."""
        while chunk := self.read(offset, CHUNK):
            yield chunk
            offset += len(chunk)


def opened(path: str) -> Spooled:
    """A file of the disk; it never waits, not even for a pipe that nobody writes to.

    Raises:
        OSError: if it cannot be opened.
    """
    return Spooled(os.open(path, _FLAGS))


def spool(chunks: Iterable[bytes]) -> Spooled:
    """Bytes in a temporary file that has no name and vanishes with the object.

    Examples:
        >>> spool([b"ab", b"cd"]).read(1, 2)
        b'bc'
    """
    with tempfile.TemporaryFile() as file:
        file.writelines(chunks)
        file.flush()
        return Spooled(os.dup(file.fileno()))
