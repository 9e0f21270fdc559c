"""What is said alike about files, folders and archives."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from hlteval.findings import Finding, finding
from hlteval.sources.source import Unreadable

_TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "symbolic link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}
_SHOWN = 3
"""Names that a finding about many files lists."""


def type_name(mode: int) -> str:
    """What the type bits of a Unix mode say.

    Examples:
        >>> type_name(0o120777), type_name(0o100644)
        ('symbolic link', 'file')
    """
    return _TYPES.get(stat.S_IFMT(mode), "file of unknown type")


def unreadable(display: str, error: OSError) -> Unreadable:
    """A file that the operating system does not give."""
    reason = error.strerror or str(error)
    return Unreadable(finding("SRC108", file=display, reason=reason))


def too_large(display: str, size: int | str, limit: int) -> Unreadable:
    """A plain file above its limit; both in bytes."""
    return Unreadable(finding("SRC125", file=display, size=size, limit=limit))


def special(path: str, display: str) -> Finding:
    """A file that is neither a file nor a folder, or a link that leads nowhere."""
    try:
        type_ = type_name(Path(path).stat().st_mode)
    except OSError:
        type_ = "broken link"
    return finding("SRC109", file=display, type=type_)


def ignored(label: str, names: Sequence[str]) -> list[Finding]:
    """The one warning about hidden and left-behind files, if there are any."""
    if not names:
        return []
    listed = ", ".join(sorted(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    noun = "file" if len(names) == 1 else "files"
    return [finding("SRC107", file=label, count=len(names), noun=noun, names=listed)]
