"""The disk: what cannot be written to it, and what is safe then."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
def written(path: Path | str, safe: str = UNCHANGED) -> Iterator[None]:
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
    with written(f"temporary files to {folder}", "nothing was changed; set TMPDIR to another disk"):
        yield
