"""Findings that files, folders and archives share, and the members of an archive."""

import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hlteval.findings import Finding, Severity, finding
from hlteval.sources.decoding import not_text
from hlteval.sources.names import (
    KINDS,
    archive_kind,
    archive_suffix,
    are_ordinary,
    document_kind,
    is_archive,
    is_inner_archive,
    is_junk,
    is_text,
    normalize,
    printable,
    unsafe_reason,
)
from hlteval.sources.source import Limits, Member, Source, Unreadable

_TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "symbolic link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}
#: Bytes that show whether a file is a text.
_HEAD = 4096
#: Maximum number of names in a finding about several files.
_SHOWN = 3


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


def within_limit(chunks: Iterable[bytes], display: str, limit: int) -> Iterator[bytes]:
    """The bytes of a stream, part by part.

    Raises:
        Unreadable: if it is too large.
    """
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise too_large(display, f"more than {limit}", limit)
        yield chunk


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
    return [finding("SRC107", file=label, count=len(names), names=first_names(names))]


def first_names(names: Sequence[str]) -> str:
    """The first of some names, for a finding about several files.

    Examples:
        >>> first_names(["b", "a", "d", "c"])
        'a, b, c, ...'
    """
    return ", ".join(sorted(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def kind_of_file(source: Source) -> str:
    """The kind of a single file that is not text, in words; empty for a text, or several files.

    Args:
        source: the source, of which only the beginning is read if it is a text.
    """
    if source.kind not in {"file", "stdin"} or len(source.members) != 1:
        return ""
    member = source.members[0]
    try:
        begin = member.reader()(0, _HEAD)
        return not_text(member.fetch()) if not_text(begin) else ""
    except Unreadable:
        return ""


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


def damage(display: str, reason: str) -> Unreadable:
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
    checked = entries
    if are_ordinary([entry.name.removesuffix("/") for entry in entries]):
        checked = [  # ordinary members are not checked one by one
            entry
            for entry in entries
            if entry.type != FILE or entry.encrypted or entry.size > limits.member_bytes
        ]
    findings = [problem for entry in checked for problem in _check_entry(entry, label, limits)]
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
    if any(problem.blocking for problem in findings):
        return (), findings
    members = []
    for entry in data:
        name = normalize(entry.name)
        opened = _may_be_archive(name, limits)
        if opened or archive_suffix(entry.name) is None:
            display = f"{label}/{printable(name)}"
            read = partial(_read, entry.read, display, nested=opened)
            members.append(Member(name, display, entry.size, read))
    return tuple(sorted(members, key=lambda member: member.name)), findings


def _may_be_archive(name: str, limits: Limits) -> bool:
    """Whether a member of this name may be an archive itself."""
    return limits.nested or (limits.projects and is_inner_archive(name))


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
    opened = is_junk(entry.name) or _may_be_archive(normalize(entry.name), limits)
    if entry.type == FILE and kind is not None and not opened:
        yield finding("SRC116", file=display, what=KINDS[kind])


def _collisions(entries: Sequence[Entry], label: str) -> Iterator[Finding]:
    """Names that are equal, here or on other systems, or name a file and a folder."""
    names = [normalize(entry.name) for entry in entries if entry.type == FILE]
    folders: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    folders |= {normalize(entry.name) for entry in entries if entry.type == FOLDER}
    seen: dict[str, str] = {}
    for name in names:
        # Some file systems ignore case and Unicode forms.
        key = name.lower() if name.isascii() else unicodedata.normalize("NFC", name).lower()
        others = [seen[key]] if key in seen else []
        for other in [*others, f"{name}/"] if name in folders else others:
            code = "SRC113" if name == other else "SRC114"
            shown, display = printable(name), f"{label}/{printable(name)}"
            yield finding(code, file=display, name=shown, other=printable(other))
        seen.setdefault(key, name)


def _read(read: Callable[[], bytes], display: str, *, nested: bool = False) -> bytes:
    """The bytes of a member, which is no archive itself, whatever its name, unless it may be."""
    try:
        data = read()
    except OSError as error:
        raise unreadable(display, error) from error
    if not nested and is_archive(data) and not document_kind(data):
        raise Unreadable(finding("SRC116", file=display, what=KINDS[archive_kind(data[:512])]))
    return data
