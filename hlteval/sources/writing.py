"""Writing: results appear under their name complete, or not at all."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

_SETTLED = 100
"""Files of a folder that are waited for until they are on the disk."""
_HERE, _SWAP = -100, 2
"""Of renameat2: paths count from the working directory, names are exchanged."""


@contextmanager
def writing(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """A place to write a file or a folder to, which takes its name once it is complete.

    An existing file is replaced. Whatever happens before the end, even the loss of the process,
    leaves what was there before; the unfinished rest stays beside it, hidden, as
    `.NAME.XXXXXXXX.part`, and `open_source` passes over it. A folder changes places with the old
    one at once, where the system can (Linux); elsewhere its name is free for a moment, and the old
    folder is hidden beside it.

    Args:
        path: where the result belongs; its folder exists. A link is followed.
        replace: whether a folder that holds something may be replaced.

    Yields:
        A path beside it where nothing is yet; the caller makes a file or a folder there.

    Raises:
        FileExistsError: if there is a folder that holds something and `replace` is not set, or a
            thing that is neither file nor folder, such as a device.
        FileNotFoundError: if its folder does not exist, or the caller made nothing.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with writing(Path(folder, "scores.json")) as unfinished:
        ...         _ = unfinished.write_text("{}")
        ...     [file.name for file in Path(folder).iterdir()]
        ['scores.json']
    """
    target = path.resolve()
    _check(target, replace=replace)
    unfinished = _beside(target)
    try:
        yield unfinished
        _check(target, replace=replace)
        _settle(unfinished)
        _exchange(unfinished, target)
    except BaseException:
        _remove(unfinished)
        raise


def _check(target: Path, *, replace: bool) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {target.parent}")
    if target.is_dir():
        if not replace and any(target.iterdir()):
            raise FileExistsError(f"{target} is a folder that is not empty")
    elif target.exists() and not target.is_file():
        raise FileExistsError(f"{target} is neither a file nor a folder")


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")


def _settle(unfinished: Path) -> None:
    """Bring what was written to the disk, so that no loss of power leaves a name without content.

    Of folders with very many files it is not asked: that would take longer than writing them.
    """
    files = [unfinished]
    if unfinished.is_dir():
        files = [path for path in islice(unfinished.iterdir(), _SETTLED + 1) if path.is_file()]
    for file in files if len(files) <= _SETTLED else ():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())


def _exchange(unfinished: Path, target: Path) -> None:
    """Give the new thing its name: at once, or with the old folder out of the way for a moment."""
    if not target.is_dir() and not unfinished.is_dir():
        unfinished.replace(target)
        return
    if not target.exists():
        unfinished.rename(target)
        return
    if _swapped(unfinished, target):
        _remove(unfinished)
        return
    old = _beside(target)
    target.rename(old)
    try:
        unfinished.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove(old)


def _swapped(one: Path, two: Path) -> bool:
    """Whether the system exchanged two names, in one step (renameat2 of Linux)."""
    swap = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if swap is None:
        return False
    done: int = swap(_HERE, os.fsencode(one), _HERE, os.fsencode(two), _SWAP)
    return done == 0


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
