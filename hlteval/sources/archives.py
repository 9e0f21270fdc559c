"""Archives: what is held against the list of members before anything of it is read.

Nothing is ever unpacked to the disk, but a name or a type that would do harm there, or that two
programs would read differently, is refused all the same: the next program may unpack it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from hlteval.findings import Finding, finding
from hlteval.sources.faults import ignored, unreadable
from hlteval.sources.limits import Limits
from hlteval.sources.names import is_text, junk, ordinary, plain, shown, unsafe
from hlteval.sources.signatures import KINDS, by_content, by_suffix, packed
from hlteval.sources.source import Member, Unreadable

FILE, FOLDER = "file", "folder"


class Entry(NamedTuple):
    """One member as the list of an archive tells it.

    Attributes:
        name: as stored, bytes that are no text being surrogates.
        type: `file`, `folder`, or what else it is, in words.
        size: bytes, unpacked.
        read: gives its bytes; raises `Unreadable` or OSError.
        encrypted: whether a password is needed.
    """

    name: str
    type: str
    size: int
    read: Callable[[], bytes]
    encrypted: bool = False


def damaged(display: str, reason: str) -> Unreadable:
    """An archive, or a member of one, that is not as it was written."""
    return Unreadable(finding("SRC105", file=display, reason=reason))


def too_many(label: str, limits: Limits) -> Unreadable:
    """An archive with more members than are listed."""
    return Unreadable(finding("SRC121", file=label, limit=limits.members))


def inflated(display: str, unpacked: int, compressed: int, limits: Limits) -> Finding | None:
    """Whether bytes grew so much that they can only be meant to fill the memory."""
    if unpacked <= limits.ratio_bytes or unpacked <= limits.ratio * max(compressed, 1):
        return None
    ratio = unpacked // max(compressed, 1)
    return finding("SRC124", file=display, size=unpacked, ratio=ratio, limit=limits.ratio)


def admit(
    entries: Sequence[Entry], label: str, limits: Limits
) -> tuple[tuple[Member, ...], list[Finding]]:
    """The files of an archive that may be read, sorted by name, and everything against it.

    Args:
        entries: the complete list, at most `limits.members` long.
        label: the archive, as findings name it.
        limits: what it may hold.

    Returns:
        No members at all where a finding is blocking.
    """
    files = [entry for entry in entries if entry.type == FILE]
    findings = _each(entries, label, limits)
    total = sum(entry.size for entry in files)
    if total > limits.total_bytes:
        findings.append(finding("SRC123", file=label, size=total, limit=limits.total_bytes))
    findings += _collisions(entries, label)
    kept, hidden = _sifted(files)
    if not kept and not findings:
        findings.append(finding("SRC104", file=label, what="archive"))
    findings += ignored(label, hidden)
    if any(fault.blocking for fault in findings):
        return (), findings
    members = [_member(entry, label) for entry in kept if by_suffix(entry.name) is None]
    return tuple(sorted(members, key=lambda member: member.name)), findings


def _each(entries: Sequence[Entry], label: str, limits: Limits) -> list[Finding]:
    """What is wrong with members by themselves; usually nothing, and that is seen at once."""
    names = [entry.name.removesuffix("/") for entry in entries]
    if ordinary(names):
        entries = [
            entry
            for entry in entries
            if entry.type != FILE or entry.encrypted or entry.size > limits.member_bytes
        ]
    return [fault for entry in entries for fault in _faults(entry, label, limits)]


def _sifted(files: Sequence[Entry]) -> tuple[Sequence[Entry], list[str]]:
    """The files that are data, and the names of the others."""
    if ordinary([entry.name for entry in files]):
        return files, []
    hidden = [shown(entry.name) for entry in files if junk(entry.name)]
    return [entry for entry in files if not junk(entry.name)], hidden


def _faults(entry: Entry, label: str, limits: Limits) -> Iterator[Finding]:
    """What is wrong with one member by itself."""
    name, reason = shown(entry.name), unsafe(entry.name)
    display = f"{label}/{name}"
    if not is_text(entry.name):
        yield finding("SRC117", file=display, name=name)
    if reason is None and entry.type == FILE and not plain(entry.name):
        reason = "not a file name"
    if reason is not None:
        yield finding("SRC111", file=label, name=name, reason=reason)
    if entry.type not in (FILE, FOLDER):
        yield finding("SRC112", file=display, type=entry.type)
    if entry.encrypted:
        yield finding("SRC115", file=display)
    if entry.type == FILE and entry.size > limits.member_bytes:
        yield finding("SRC122", file=display, size=entry.size, limit=limits.member_bytes)
    if entry.type == FILE and by_suffix(entry.name) is not None and not junk(entry.name):
        yield finding("SRC116", file=display, what=KINDS[by_suffix(entry.name)])


def _collisions(entries: Sequence[Entry], label: str) -> Iterator[Finding]:
    """Names that are one and the same, here or on other systems, or a file and a folder at once."""
    names = [plain(entry.name) for entry in entries if entry.type == FILE]
    folders = _folders(names) | {plain(entry.name) for entry in entries if entry.type == FOLDER}
    seen: dict[str, str] = {}
    for name in names:
        key = _folded(name)
        if key in seen:
            yield _collision(name, seen[key], label)
        if name in folders:
            yield _collision(name, f"{name}/", label)
        seen.setdefault(key, name)


def _collision(name: str, other: str, label: str) -> Finding:
    code = "SRC113" if name == other else "SRC114"
    display = f"{label}/{shown(name)}"
    return finding(code, file=display, name=shown(name), other=shown(other))


def _folded(name: str) -> str:
    """A name as file systems compare it that know neither case nor Unicode forms."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", name).lower()


def _folders(names: Iterable[str]) -> set[str]:
    """Every folder that a file lies in."""
    folders: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _member(entry: Entry, label: str) -> Member:
    name = plain(entry.name)
    display = f"{label}/{shown(name)}"
    return Member(name, display, entry.size, partial(_fetch, entry.read, display))


def _fetch(read: Callable[[], bytes], display: str) -> bytes:
    """The bytes of a member; an archive inside an archive is not opened whatever its name is."""
    try:
        data = read()
    except OSError as error:
        raise unreadable(display, error) from error
    if packed(data):
        raise Unreadable(finding("SRC116", file=display, what=KINDS[by_content(data[:512])]))
    return data
