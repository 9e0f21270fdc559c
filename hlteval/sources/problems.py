"""Findings that files, folders and archives share."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from hlteval.findings import Finding, finding
from hlteval.sources.decoding import not_text
from hlteval.sources.source import Source, Unreadable

_TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "symbolic link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}
_HEAD = 4096
"""Bytes that show whether a file is a text."""
_SHOWN = 3
"""Maximum number of names in a finding about several files."""


def type_name(mode: int) -> str:
    """The file type of a Unix mode in words.

    Examples:
        >>> type_name(0o120777), type_name(0o100644)
        ('symbolic link', 'file')
    """
    return _TYPES.get(stat.S_IFMT(mode), "file of unknown type")


def unreadable(display: str, error: OSError) -> Unreadable:
    """The error for a file that the operating system cannot read."""
    reason = error.strerror or str(error)
    return Unreadable(finding("SRC108", file=display, reason=reason))


def too_large(display: str, size: int | str, limit: int) -> Unreadable:
    """The error for a file above its limit; both in bytes."""
    return Unreadable(finding("SRC125", file=display, size=size, limit=limit))


def special_file(path: str, display: str) -> Finding:
    """The finding for a path that is neither a file nor a folder, or a broken link."""
    try:
        type_ = type_name(Path(path).stat().st_mode)
    except OSError:
        type_ = "broken link"
    return finding("SRC109", file=display, type=type_)


def ignored_files(label: str, names: Sequence[str]) -> list[Finding]:
    """The warning about hidden files and files of an operating system, if there are any."""
    if not names:
        return []
    return [finding("SRC107", file=label, count=len(names), names=shown_names(names))]


def shown_names(names: Sequence[str]) -> str:
    """The first of some names, for a finding about several files.

    Examples:
        >>> shown_names(["b", "a", "d", "c"])
        'a, b, c, ...'
    """
    return ", ".join(sorted(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def kind_of_file(source: Source) -> str:
    """The kind of a single file that is no text, in words; empty for a text, or several files.

    Args:
        source: the source, of which only the beginning is read if it is a text.
    """
    if source.kind not in {"file", "stdin"} or len(source.members) != 1:
        return ""
    member = source.members[0]
    try:
        begin = member.reader().read(0, _HEAD)
        return not_text(member.fetch()) if not_text(begin) else ""
    except Unreadable:
        return ""
