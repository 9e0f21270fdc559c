"""Which files of a source are annotations, and which of them are not read, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from hlteval.converters.situations.appen_blocks import KEYS
from hlteval.findings import Finding, finding
from hlteval.sources import Member, Source, Unreadable
from hlteval.sources.archives import first_names

SUFFIX, FOLDER = ".txt", "ANNOTATION"
#: Bytes of a file in which a key is looked for.
_HEAD = 4000
#: Names in the path of a file that the official script reads: pack, ANNOTATION, file.
_SCRIPT_DEPTH = 3


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each segment, by name: those in folders ANNOTATION, or else all.

    Annotations with another suffix (`.TXT`) or outside these folders are files of a segment too,
    but are not read; `unread` has the reason.
    """
    if source.kind in {"file", "stdin"}:
        found = list(source.members)
    else:
        inside = _has_folder(source)
        texts = (member for member in source.members if _is_text(member))
        found = [item for item in texts if not _reason(item, inside=inside) or _is_lost(item)]
    named: dict[str, list[Member]] = {}
    for member in found:
        named.setdefault(member.document(member.basename.partition(".")[0]), []).append(member)
    return {name: tuple(named[name]) for name in sorted(named)}


def sniff(source: Source) -> bool:
    """Whether a file is in a folder ANNOTATION, or one of the first has a line with a key."""
    first = (members[0] for members in islice(documents(source).values(), 3))
    return any(_in_folder(member) or _has_key(member) for member in first)


def read_by_script(source: Source) -> tuple[Source, list[Finding]]:
    """The files that the official script reads, and the finding about others.

    It reads `ROOT/*/ANNOTATION/*.txt`. In an archive, whose root is unknown, these are the files of
    the shallowest folders; where no file is so deep, all are taken.
    """
    depths = {member: member.name.count("/") + 1 for member in source.members}
    annotations = [depths[member] for member in source.members if _in_folder(member)]
    archive = source.kind not in {"folder", "file", "stdin"}
    wanted = min(annotations, default=0) if archive else _SCRIPT_DEPTH
    others = {m: None for m in source.members if _in_folder(m) and depths[m] != wanted}
    if wanted not in annotations or not others:
        return source, []
    names = first_names([member.name for member in others])
    remark = finding("APN406", file=source.path, count=len(others), names=names)
    return source.only(member for member in source.members if member not in others), [remark]


def unread(source: Source) -> Mapping[Member, str]:
    """Why texts of a source are not read, by member."""
    if source.kind in {"file", "stdin"}:
        return {}
    inside = _has_folder(source)
    reasons = {item: _reason(item, inside=inside) for item in source.members if _is_text(item)}
    return {member: reason for member, reason in reasons.items() if reason}


def others(source: Source, reasons: Mapping[Member, str]) -> Iterator[Finding]:
    """The finding about texts that are not annotations, if there are any."""
    names = [member.name for member in reasons if not _is_lost(member)]
    if names:
        shown = first_names(names)
        yield finding("APN405", file=source.path, count=len(names), names=shown)


def _is_text(member: Member) -> bool:
    return member.basename.lower().endswith(SUFFIX)


def _in_folder(member: Member) -> bool:
    return member.name.split("/")[-2:-1] == [FOLDER]


def _has_folder(source: Source) -> bool:
    return any(_is_text(member) and _in_folder(member) for member in source.members)


def _reason(member: Member, *, inside: bool) -> str:
    """Why a text is not read; empty if it is."""
    if inside and not _in_folder(member):
        return f"it is outside the folders {FOLDER}"
    if not member.basename.endswith(SUFFIX):
        return f"its suffix is not {SUFFIX}"
    return ""


def _is_lost(member: Member) -> bool:
    """Whether a text that is not read is an annotation."""
    return _in_folder(member) or _has_key(member)


def _has_key(member: Member) -> bool:
    try:
        head = member.fetch()[:_HEAD].decode("utf-8", "replace")
    except Unreadable:
        return False
    return any(line.partition(":")[0] in KEYS for line in head.split("\n") if ":" in line)
