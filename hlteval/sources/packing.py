"""Packing: the files of a source written as a folder, a file or an archive of the same kind."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

from hlteval.sources.signatures import archive_suffix
from hlteval.sources.source import Source

SUFFIXES = {"zip": (".zip",), "tgz": (".tgz", ".tar.gz")}
"""Suffixes of the archives that are written, by kind of source."""
_READ_WRITE = 0o644


def suffix_problem(source: Source, target: str) -> str | None:
    """Why a copy of a source cannot have a name, by its suffix; None if it can.

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
        _zip(source, path)
    elif source.kind == "tgz":
        _tgz(source, path)
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


def _zip(source: Source, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.members:
            info = zipfile.ZipInfo(member.name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = _READ_WRITE << 16
            archive.writestr(info, member.fetch())


def _tgz(source: Source, path: Path) -> None:
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
