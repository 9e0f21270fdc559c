"""Writing: results appear under their name complete, or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def writing(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """A place to write a file or a folder to, which takes its name once it is complete.

    An existing file is replaced. Whatever happens before the end, even the loss of the process,
    leaves what was there before; the unfinished rest is hidden (its name begins with `.`), and
    `open_source` passes over it. Only where a folder is replaced, the name is free for a moment,
    and the old folder is hidden beside it.

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
        _exchange(unfinished, target)
    except BaseException:
        _remove(unfinished)
        raise


def _check(target: Path, *, replace: bool) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {target.parent}")
    if target.is_dir():
        if not replace and any(target.iterdir()):
            raise FileExistsError(f"{target} is a folder that holds something")
    elif target.exists() and not target.is_file():
        raise FileExistsError(f"{target} is neither a file nor a folder")


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")


def _exchange(unfinished: Path, target: Path) -> None:
    """Give the new thing its name: at once, or with the old folder out of the way for a moment."""
    if not target.is_dir() and not unfinished.is_dir():
        unfinished.replace(target)
        return
    if not target.exists():
        unfinished.rename(target)
        return
    old = _beside(target)
    target.rename(old)
    try:
        unfinished.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
