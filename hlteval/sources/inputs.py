"""Inputs of a program: whatever it has in place of a path, as a name that represents it.

A path stays a path. An open file, a corpus or tables get a name, an `OpenInput`, that represents
them in messages and that `open_source` opens.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

from hlteval.sources.limits import LIMITS
from hlteval.sources.names import printable
from hlteval.sources.open_input import OpenInput
from hlteval.sources.opening import open_stream
from hlteval.sources.problems import too_large
from hlteval.sources.remote import is_url
from hlteval.sources.source import Source
from hlteval.sources.spooling import CHUNK

if TYPE_CHECKING:
    from hlteval.representation import Corpus


class ArrowTable(Protocol):
    """A data frame or table that exports the Arrow C stream: polars, pyarrow, pandas and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns, as the Arrow PyCapsule interface has them."""


class Readable(Protocol):
    """An open file: bytes, or text."""

    def read(self, size: int, /) -> bytes | str:
        """The next bytes or characters; empty at the end."""


Input: TypeAlias = Union[
    str, os.PathLike[str], Readable, "Corpus", ArrowTable, Mapping[str, ArrowTable]
]
"""What can be in place of a path: a path, an open file, a corpus, or data frames.

Several frames are a mapping by the names of the tables of a corpus; one frame is the table that a
task scores."""


class WrongArgument(ValueError):
    """An argument has a value that it cannot have; the message names the argument."""


CORPUS, FRAME, STREAM = "<corpus>", "<data frame>", "<stream>"
"""The names of inputs that have none."""
_KINDS = "a path, an open file, a Corpus, a data frame, or a mapping of table names to data frames"
_FILES = "a path or an open file"


def as_path(argument: str, value: Input, *, table: str = "", files_only: bool = False) -> str:
    """An input as a path, or as an `OpenInput` where it is something else.

    Args:
        argument: the name of the argument, for messages.
        value: the input.
        table: the table that a single data frame is.
        files_only: whether a corpus and data frames cannot be in this place.

    Raises:
        TypeError: for another type.
        FileNotFoundError: for a path that does not exist.
        WrongArgument: for an empty path, a file that cannot be read, or frames that are not the
            tables of a corpus.

    Examples:
        >>> from io import BytesIO
        >>> as_path("reference", BytesIO(b"T1"))
        '<stream>'
    """
    if isinstance(value, OpenInput):
        return value
    if isinstance(value, str | os.PathLike):
        return _existing(argument, value)
    if not isinstance(value, type):
        if callable(getattr(value, "read", None)):
            return _stream(argument, value)
        if not files_only and (corpus := _corpus(argument, value, table)) is not None:
            return corpus
    kind = "a class" if isinstance(value, type) else type(value).__name__
    expected = _FILES if files_only else _KINDS
    raise TypeError(f"{argument}: expected {expected}, got {kind}")


def output_path(argument: str, value: str | os.PathLike[str]) -> str:
    """A path to write to, as text.

    Raises:
        TypeError: for another type.
        WrongArgument: for an empty path.
    """
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{argument}: expected a path, got {type(value).__name__}")
    return _plain(argument, value)


def _plain(argument: str, value: str | os.PathLike[str]) -> str:
    path = os.fspath(value)
    if not isinstance(path, str):
        raise TypeError(f"{argument}: expected a path as text, got {type(path).__name__}")
    if not path or "\0" in path:
        raise WrongArgument(f"{argument}: {path!r} is not a path")
    return path


def _existing(argument: str, value: str | os.PathLike[str]) -> str:
    """A path of the disk, a URL, or `-`."""
    path = _plain(argument, value)
    if path != "-" and not is_url(path) and not os.path.lexists(path):
        reason = f"{argument}: no such file or folder"
        raise FileNotFoundError(errno.ENOENT, reason, path)
    return path


def _stream(argument: str, stream: Any) -> OpenInput:
    """An open file, read from where it is to its end."""
    name = getattr(stream, "name", None)
    path = os.fspath(name) if isinstance(name, str | Path) and str(name) else STREAM
    chunks = _Chunks(argument, stream, printable(path))
    return OpenInput(open_stream(chunks, path), decoded=chunks.is_text)


class _Chunks:
    """The bytes of an open file; text is encoded as UTF-8."""

    def __init__(self, argument: str, stream: Any, label: str) -> None:
        self.argument, self.stream, self.label = argument, stream, label
        self.is_text = False

    def __iter__(self) -> Iterator[bytes]:
        total = 0
        while chunk := self.next():
            total += len(chunk)
            if total > LIMITS.file_bytes:
                limit = LIMITS.file_bytes
                raise too_large(self.label, f"more than {limit}", limit)
            yield chunk

    def next(self) -> bytes:
        try:
            chunk = self.stream.read(CHUNK)
        except (OSError, ValueError) as error:  # closed, open for writing, or of another encoding
            reason = f"{self.argument}: cannot read {self.label}: {error}"
            raise WrongArgument(reason) from error
        if isinstance(chunk, str):
            self.is_text = True
            return chunk.encode("utf-8", "surrogatepass")  # what no UTF-8 is becomes a finding
        if not isinstance(chunk, bytes | bytearray | memoryview):
            kind = type(chunk).__name__
            raise TypeError(f"{self.argument}: read() of {self.label} returns {kind}, not bytes")
        return bytes(chunk)


def _corpus(argument: str, value: Any, table: str) -> OpenInput | None:
    """A corpus or data frames; None for anything else."""
    from hlteval.representation import Corpus
    from hlteval.sources.frames import WrongFrame, as_corpus, is_frame

    if isinstance(value, Corpus):
        return OpenInput(Source(CORPUS, "memory", (), corpus=value))
    try:
        if isinstance(value, Mapping):
            corpus = as_corpus(value, FRAME)
        elif is_frame(value):
            corpus = as_corpus(value, FRAME, table)
        else:
            return None
    except WrongFrame as error:
        raise WrongArgument(f"{argument}: {error}") from error
    return OpenInput(Source(FRAME, "memory", (), corpus=corpus))
