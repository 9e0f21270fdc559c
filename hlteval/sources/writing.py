"""Writing: results are complete under their name, or absent."""

import ctypes
import gzip
import hashlib
import os
import re
import secrets
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from itertools import islice
from pathlib import Path

from hlteval.sources.names import archive_suffix
from hlteval.sources.source import Source
from hlteval.sources.spooling import report_write_errors

#: Maximum number of files of a folder that are synchronized with the disk.
_MAX_SYNCED = 100
#: The names of what is not complete.
_UNFINISHED = re.compile(r"\..*\.[0-9a-f]{8}\.part", re.DOTALL)
#: Arguments of renameat2 of Linux: paths from the working directory, exchange of two names.
_HERE, _SWAP = -100, 2


@contextmanager
def writing(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Write a file or a folder that takes its name when it is complete.

    An existing file is replaced. If writing fails, even if the process is killed, the old file or
    folder is not changed; the unfinished one remains as a hidden `.NAME.XXXXXXXX.part` in the same
    folder, which `open_source` ignores. A new folder is exchanged with the old one in one step on
    Linux; on other systems the name is free for a moment, and the old folder is hidden until it is
    deleted.

    Args:
        path: path of the result, in an existing folder. A link is followed.
        replace: whether to replace a folder that is not empty.

    Yields:
        A path in the same folder, at which the caller creates a file or a folder.

    Raises:
        FileExistsError: if the path is a folder that is not empty and `replace` is not set, or
            neither a file nor a folder, such as a device.
        FileNotFoundError: if the folder of the path does not exist.
        NotWritten: if the system refuses it, as a full disk does, or the caller created nothing.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with writing(Path(folder, "scores.json")) as unfinished:
        ...         _ = unfinished.write_text("{}")
        ...     [file.name for file in Path(folder).iterdir()]
        ['scores.json']
    """
    target = resolve_path(path)
    _check(target, replace=replace)
    with unfinished_path(path) as made:
        yield made
        _check(target, replace=replace)
        finish(made, target)


@contextmanager
def unfinished_path(target: Path) -> Iterator[Path]:
    """A hidden path in the folder of a target, at which the caller creates a file or a folder.

    What is still there at the end is removed, also when the process is interrupted.

    Raises:
        NotWritten: for an error of the system.
    """
    path = hidden_path(target)
    with report_write_errors(target):
        try:
            yield path
        finally:
            _remove_surely(path)


def resolve_path(path: Path | str) -> Path:
    """The path behind links; that of a loop of links is a link."""
    return Path(os.path.realpath(path))


def finish(made: Path, target: Path) -> None:
    """Give a complete file or folder its name; an existing file or folder is replaced."""
    _synchronize(made)
    _replace(made, resolve_path(target))


def merge(made: Path, folder: Path) -> list[str]:
    """Move the files of a complete folder to an existing one, each in one step.

    Files of the same name are replaced, and no others are touched.

    Returns:
        The names of the files that were there and stay.

    Raises:
        FileExistsError: if a file is in the way of a folder or a folder in the way of a file; then
            nothing is moved.
    """
    _synchronize(made)
    names = [*files_below(made)]
    for name in names:
        target = folder / name
        if target.is_dir():
            raise FileExistsError(f"{target} is a folder, not a file")
        for parent in Path(name).parents:
            if (folder / parent).exists() and not (folder / parent).is_dir():
                raise FileExistsError(f"{folder / parent} is a file, not a folder")
    stay = sorted(files_below(folder).keys() - names)
    with report_write_errors(
        folder, "every file in it is complete, but some may be new and some old"
    ):
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).replace(folder / name)
    return stay


def files_below(folder: Path) -> dict[str, int]:
    """The sizes of the files of a folder by their paths in it, in the order of these.

    A folder that cannot be read has none.

    Examples:
        >>> list(files_below(Path("fixtures/ctm/valid")))
        ['meeting.ctm']
    """
    found = dict(sizes_below(folder))
    return {name: found[name] for name in sorted(found, key=lambda name: name.split("/"))}


def sizes_below(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the path of each file of a folder, and its size, as the system lists them.

    There may be 100,000: objects of paths cost too much.
    """
    waiting = [("", os.fspath(folder))]
    for begin, path in waiting:
        with suppress(PermissionError), os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((f"{begin}{entry.name}/", entry.path))
                elif entry.is_file():
                    yield begin + entry.name, entry.stat().st_size


def check_outputs(
    outputs: Iterable[str | Path], inputs: Iterable[str | Path], *, merged: bool = False
) -> None:
    """Check, before any work, that no output is, holds or lies in what a command reads.

    Links are resolved, also those among the files of a folder.

    Args:
        outputs: paths of the files and folders that are written; `-` is standard output.
        inputs: paths of the files and folders that are read. Standard input, URLs and paths that
            do not exist are never replaced.
        merged: whether an output that is a folder keeps the files in it that are not replaced.

    Raises:
        FileExistsError: for an output that would replace an input, or be part of it.
        NotWritten: if the system does not accept the name of an output.

    Examples:
        >>> check_outputs(["tests/report.html"], ["tests"])
        Traceback (most recent call last):
        FileExistsError: tests/report.html is an input: it is in tests, which is read; write ...
    """
    written = {str(path): resolve_path(path) for path in outputs if str(path) not in {"", "-"}}
    read = {str(path): resolve_path(path) for path in inputs if str(path) not in {"", "-"}}
    for target in written.values() if read else ():
        check_name(target)
    for name, source in read.items() if written else ():
        linked = linked_files(source)
        for output, target in written.items():
            if target == source or target in linked:
                raise FileExistsError(f"{output} is an input; write to another path")
            if target.is_relative_to(source) and source.is_dir():
                raise FileExistsError(
                    f"{output} is an input: it is in {name}, which is read; write it elsewhere"
                )
            if source.is_relative_to(target) and not merged and source.exists():
                raise FileExistsError(
                    f"{output} contains an input, {name}; write to another folder"
                )


def linked_files(folder: Path | str) -> set[Path]:
    """The files to which links in a folder lead; none if it is not a folder."""
    if not Path(folder).is_dir():
        return set()
    paths = (Path(root, name) for root, _, names in os.walk(folder) for name in names)
    return {resolve_path(path) for path in paths if path.is_symlink()}


def check_name(target: Path) -> None:
    """Check that the system accepts a name.

    Raises:
        NotWritten: if it does not, as where it is too long.
    """
    with (
        report_write_errors(target, "choose another name"),
        suppress(FileNotFoundError, NotADirectoryError),
    ):
        target.lstat()


def _check(target: Path, *, replace: bool) -> None:
    check_name(target)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {target.parent}")
    if target.is_dir():
        if not replace and any(target.iterdir()):
            raise FileExistsError(f"{target} is a folder that is not empty")
    elif os.path.lexists(target) and not target.is_file():
        raise FileExistsError(f"{target} is neither a file nor a folder")


def _synchronize(unfinished: Path) -> None:
    """Write the content to the disk before the name, in case of a power failure.

    Folders with very many files are not synchronized, which would take longer than writing them.
    """
    files = [unfinished]
    if unfinished.is_dir():
        files = [path for path in islice(unfinished.iterdir(), _MAX_SYNCED + 1) if path.is_file()]
    for file in files if len(files) <= _MAX_SYNCED else ():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())


def _replace(unfinished: Path, target: Path) -> None:
    """Give a file or folder its name; in one step if the system supports it."""
    if not target.is_dir() and not unfinished.is_dir():
        unfinished.replace(target)
        return
    if not target.exists():
        unfinished.rename(target)
        return
    if _exchange(unfinished, target):
        _remove(unfinished)
        return
    old = hidden_path(target)
    target.rename(old)
    try:
        unfinished.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove_surely(old)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two names in one step (renameat2 of Linux); False if the system cannot."""
    swap = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if swap is None:
        return False
    return bool(swap(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _SWAP) == 0)


def hidden_path(target: Path) -> Path:
    """A path in the folder of a target at which to make what is not complete."""
    target = resolve_path(target)
    return target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")


def remove_unfinished(folder: Path) -> None:
    """Remove what killed processes left unfinished in a folder to which nobody else writes."""
    for path in folder.iterdir():
        if _UNFINISHED.fullmatch(path.name):
            _remove_surely(path)


def _remove_surely(path: Path) -> None:
    """Remove a path if it exists, to the end even if a signal interrupts it."""
    try:
        if os.path.lexists(path):
            _remove(path)
    except BaseException:
        _remove(path)
        raise


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


#: Suffixes of the archives that are written, by kind of source.
SUFFIXES = {"zip": (".zip",), "tgz": (".tgz", ".tar.gz")}
_READ_WRITE = 0o644


def suffix_problem(source: Source, target: str) -> str | None:
    """Return the reason why a copy of a source cannot have a name, by its suffix; or None.

    Examples:
        >>> suffix_problem(Source("run.zip", "zip", ()), "fixed")
        'the name of a copy of a zip archive ends in .zip'
    """
    suffixes = SUFFIXES.get(source.kind)
    if suffixes is None:
        packed = archive_suffix(target) is not None
        return "the name of a copy that is not an archive has no suffix of one" if packed else None
    if target.lower().endswith(suffixes):
        return None
    return f"the name of a copy of a {source.kind} archive ends in {' or '.join(suffixes)}"


def pack(source: Source, path: Path) -> None:
    """Write the files of a source as a source of the same kind.

    Dates and modes in archives are constant, so that equal files make equal archives.

    Args:
        source: the source; nothing but its members is written.
        path: the folder or file, which does not exist.

    Raises:
        Unreadable: if a member cannot be read.
    """
    if source.kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in source.members:
                entry = zipfile.ZipInfo(member.name)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = _READ_WRITE << 16
                archive.writestr(entry, member.fetch())
    elif source.kind == "tgz":
        _pack_tgz(source, path)
    elif source.kind == "folder":
        for member in source.members:
            file = path / member.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(member.fetch())
    else:
        (member,) = source.members
        path.write_bytes(member.fetch())


def file_sha256(path: Path) -> str:
    """The SHA-256 digest of a file of any size, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _pack_tgz(source: Source, path: Path) -> None:
    with (
        path.open("wb") as stream,
        gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member in source.members:
            data = member.fetch()
            info = tarfile.TarInfo(member.name)
            info.size, info.mode = len(data), _READ_WRITE
            archive.addfile(info, BytesIO(data))
