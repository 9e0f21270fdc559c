"""Archives: checks of the list of members, before any member is read.

Nothing is unpacked to the disk. Names and types that would do harm there, or that two programs
would read differently, are rejected nevertheless: the next program may unpack the archive.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from hlteval.findings import Finding, Severity, finding
from hlteval.sources.limits import Limits
from hlteval.sources.names import (
    are_ordinary,
    is_junk,
    is_text,
    normalize,
    printable,
    unsafe_reason,
)
from hlteval.sources.problems import ignored_files, unreadable
from hlteval.sources.signatures import (
    KINDS,
    archive_kind,
    archive_suffix,
    document_kind,
    is_archive,
)
from hlteval.sources.source import Member, Unreadable

FILE, FOLDER = "file", "folder"


class Entry(NamedTuple):
    """A member in the list of an archive.

    Attributes:
        name: the name as stored; bytes that are not UTF-8 are surrogates.
        type: `file`, `folder`, or any other type in words.
        size: unpacked size in bytes.
        read: function that returns the bytes; raises `Unreadable` or OSError.
        encrypted: whether the member needs a password.
    """

    name: str
    type: str
    size: int
    read: Callable[[], bytes]
    encrypted: bool = False


def damaged(display: str, reason: str) -> Unreadable:
    """The error for a damaged archive, or a damaged member."""
    return Unreadable(finding("SRC105", file=display, reason=reason))


def too_many(label: str, limit: int) -> Unreadable:
    """The error for an archive with more members than a limit."""
    return Unreadable(finding("SRC121", file=label, limit=limit))


def check_ratio(display: str, unpacked: int, compressed: int, limits: Limits) -> Finding | None:
    """The finding for bytes whose compression ratio is that of a decompression bomb, or None."""
    if unpacked <= limits.ratio_bytes or unpacked <= limits.ratio * max(compressed, 1):
        return None
    ratio = unpacked // max(compressed, 1)
    return finding("SRC124", file=display, size=unpacked, ratio=ratio, limit=limits.ratio)


def admit(
    entries: Sequence[Entry], label: str, limits: Limits
) -> tuple[tuple[Member, ...], list[Finding]]:
    """The files of an archive that may be read, sorted by name, and the findings of the archive.

    Args:
        entries: all members, at most `limits.members`.
        label: name of the archive in findings.
        limits: the limits of an archive.

    Returns:
        The files, none if a finding is blocking, and the findings.
    """
    files = [entry for entry in entries if entry.type == FILE]
    findings = _check_entries(entries, label, limits)
    total = sum(entry.size for entry in files)
    if total > limits.total_bytes:
        findings.append(finding("SRC123", file=label, size=total, limit=limits.total_bytes))
    findings += _collisions(entries, label)
    data, hidden = files, []
    if not are_ordinary([entry.name for entry in files]):
        hidden = [printable(entry.name) for entry in files if is_junk(entry.name)]
        data = [entry for entry in files if not is_junk(entry.name)]
    if not data and all(item.severity != Severity.ERROR for item in findings):
        findings.append(finding("SRC104", file=label, what="archive"))
    findings += ignored_files(label, hidden)
    if any(found.blocking for found in findings):
        return (), findings
    members = [_member(entry, label) for entry in data if archive_suffix(entry.name) is None]
    return tuple(sorted(members, key=lambda member: member.name)), findings


def _check_entries(entries: Sequence[Entry], label: str, limits: Limits) -> list[Finding]:
    """The problems of single members; ordinary members are not checked one by one."""
    if are_ordinary([entry.name.removesuffix("/") for entry in entries]):
        entries = [
            entry
            for entry in entries
            if entry.type != FILE or entry.encrypted or entry.size > limits.member_bytes
        ]
    return [found for entry in entries for found in _check_entry(entry, label, limits)]


def _check_entry(entry: Entry, label: str, limits: Limits) -> Iterator[Finding]:
    """The problems of one member."""
    name, reason = printable(entry.name), unsafe_reason(entry.name)
    display = f"{label}/{name}"
    if not is_text(entry.name):
        yield finding("SRC117", file=display, name=name)
    if reason is None and entry.type == FILE and not normalize(entry.name):
        reason = "not a file name"
    if reason is not None:
        yield finding("SRC111", file=label, name=name, reason=reason)
    if entry.type not in (FILE, FOLDER):
        yield finding("SRC112", file=display, type=entry.type)
    if entry.encrypted:
        yield finding("SRC115", file=display)
    if entry.type == FILE and entry.size > limits.member_bytes:
        yield finding("SRC122", file=display, size=entry.size, limit=limits.member_bytes)
    kind = archive_suffix(entry.name)
    if entry.type == FILE and kind is not None and not is_junk(entry.name):
        yield finding("SRC116", file=display, what=KINDS[kind])


def _collisions(entries: Sequence[Entry], label: str) -> Iterator[Finding]:
    """Names that are equal, here or on other systems, or name a file and a folder."""
    names = [normalize(entry.name) for entry in entries if entry.type == FILE]
    folders = _folders(names) | {normalize(entry.name) for entry in entries if entry.type == FOLDER}
    seen: dict[str, str] = {}
    for name in names:
        # Some file systems ignore case and Unicode forms.
        key = name.lower() if name.isascii() else unicodedata.normalize("NFC", name).lower()
        if key in seen:
            yield _collision(name, seen[key], label)
        if name in folders:
            yield _collision(name, f"{name}/", label)
        seen.setdefault(key, name)


def _collision(name: str, other: str, label: str) -> Finding:
    code = "SRC113" if name == other else "SRC114"
    display = f"{label}/{printable(name)}"
    return finding(code, file=display, name=printable(name), other=printable(other))


def _folders(names: Iterable[str]) -> set[str]:
    """All folders of a list of files."""
    folders: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _member(entry: Entry, label: str) -> Member:
    name = normalize(entry.name)
    display = f"{label}/{printable(name)}"
    return Member(name, display, entry.size, partial(_fetch, entry.read, display))


def _fetch(read: Callable[[], bytes], display: str) -> bytes:
    """The bytes of a member, which must not be an archive itself, whatever its name."""
    try:
        data = read()
    except OSError as error:
        raise unreadable(display, error) from error
    if is_archive(data) and not document_kind(data):
        raise Unreadable(finding("SRC116", file=display, what=KINDS[archive_kind(data[:512])]))
    return data
