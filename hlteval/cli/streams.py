"""Standard streams that are closed, full, or closed by the program that reads them."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

_CLOSED = ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY))
"""How the null device is opened in place of each closed stream, so that its use fails."""


class OutputLost(Exception):
    """Standard output cannot be written; the message is the reason."""


class _Results(io.FileIO):
    """Standard output: the rest is dropped where its reader has had enough, as `head` has."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            drop(self.fileno())
            return len(data)
        except OSError as error:
            closed = error.errno == errno.EBADF
            raise OutputLost("it is closed" if closed else str(error.strerror)) from error


class _Remarks(io.FileIO):
    """Standard error: what cannot be written is dropped, since nothing could report it."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            drop(self.fileno())
            return len(data)


def prepare() -> None:
    """Replace the standard streams of this process, unless a program has replaced them.

    The descriptor of a closed stream is occupied: the next file that is opened would get it, and
    whatever is printed would be written to that file.
    """
    for descriptor, mode in _CLOSED:
        try:
            os.fstat(descriptor)
        except OSError:
            _occupy(descriptor, mode)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    if os.name != "posix":  # consoles of Windows have streams of their own
        return
    if sys.stdout is sys.__stdout__:
        sys.stdout = _replacement(_Results(1, "w", closefd=False), sys.stdout, "strict")
    if sys.stderr is sys.__stderr__:
        sys.stderr = _replacement(_Remarks(2, "w", closefd=False), sys.stderr, "backslashreplace")


def _occupy(descriptor: int, mode: int) -> None:
    opened = os.open(os.devnull, mode)
    if opened != descriptor:
        os.dup2(opened, descriptor)
        os.close(opened)


def _replacement(raw: io.FileIO, old: Any, errors: str) -> io.TextIOWrapper:
    """A stream like an old one, which may be absent, over other writing of bytes."""
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffered,
        encoding=getattr(old, "encoding", None),
        errors=getattr(old, "errors", None) or errors,
        line_buffering=raw.isatty() or errors == "backslashreplace",
    )


def finish() -> None:
    """Write what is still in memory, where an error can be reported.

    Raises:
        OutputLost: if it cannot be written.
    """
    sys.stdout.flush()
    sys.stderr.flush()


def drop(descriptor: int) -> None:
    """Let everything that is still written to a descriptor vanish."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
