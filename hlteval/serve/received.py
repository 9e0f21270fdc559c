"""Uploaded files as sources: their names are judged as those of the members of an archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from hlteval.serve.orders import Upload
from hlteval.sources.archives import FILE, Entry, admit
from hlteval.sources.folders import read_file
from hlteval.sources.limits import LIMITS, Limits
from hlteval.sources.names import is_text, printable, unsafe_reason
from hlteval.sources.opening import open_named
from hlteval.sources.problems import too_large
from hlteval.sources.signatures import archive_suffix
from hlteval.sources.source import Source

PLAIN = replace(LIMITS, file_bytes=LIMITS.member_bytes)
"""The limits of uploads: a file is held to what a member of an archive is held to."""
LOOSE = "upload"
"""The name of several files that are not in one folder."""


def open_uploads(uploads: Sequence[Upload], folder: Path, limits: Limits = PLAIN) -> Source:
    """Uploaded files as one file, one archive or one folder.

    Args:
        uploads: the files; a folder that all are in is the name of the source.
        folder: where they are, under their numbers.
        limits: the limits of their sizes.
    """
    single = uploads[0] if len(uploads) == 1 else None
    if single and is_plain(single.name):
        return _single(single, folder, limits)
    label, names = _rooted([upload.name for upload in uploads])
    entries = [
        _entry(name, label, upload, folder, limits)
        for name, upload in zip(names, uploads, strict=True)
    ]
    members, findings = admit(entries, printable(label), limits)
    return Source(label, "folder", members, tuple(findings))


def is_plain(name: str) -> bool:
    """Whether a name is that of one file, without folders, and means nothing else.

    Examples:
        >>> is_plain("run1.tgz"), is_plain("-"), is_plain("../run1.tgz")
        (True, False, False)
    """
    odd = name in {"-", ".", ".."} or name.startswith("<") or "/" in name or not name.strip()
    return not odd and is_text(name) and unsafe_reason(name) is None


def _single(upload: Upload, folder: Path, limits: Limits) -> Source:
    """A file or an archive; a file that was not kept is too large."""
    is_file = archive_suffix(upload.name) is None
    limit = limits.file_bytes if is_file else limits.total_bytes
    if not upload.file:
        problem = too_large(printable(upload.name), upload.size, limit).finding
        return Source(upload.name, "file", (), (problem,))
    return open_named(str(folder / upload.file), upload.name, limits=limits)


def _rooted(names: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that all files are in, and their names there.

    Examples:
        >>> _rooted(["run/a", "run/b/c"]), _rooted(["a", "run/b"])
        (('run', ['a', 'b/c']), ('upload', ['a', 'run/b']))
    """
    roots = {name.partition("/")[0] for name in names if "/" in name}
    root = next(iter(roots), "")
    shared = len(roots) == 1 and all("/" in name for name in names)
    if not shared or not is_plain(root):
        return LOOSE, list(names)
    return root, [name.partition("/")[2] for name in names]


def _entry(name: str, label: str, upload: Upload, folder: Path, limits: Limits) -> Entry:
    display = f"{printable(label)}/{printable(name)}"
    read = partial(read_file, str(folder / upload.file), display, limits)
    return Entry(name, FILE, upload.size, read)
