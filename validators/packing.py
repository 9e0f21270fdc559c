"""Packing: which files of a user become which files of an archive.

Each family with rules for its packages has a module `packing` beside its `package`: what is
arranged here must pass there. Nothing is left out, renamed or made in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from hlteval.findings import Finding, finding
from hlteval.sources import Member, Source
from hlteval.sources.archives import first_names


class Arranged(NamedTuple):
    """The files of an archive.

    Attributes:
        members: the files, under their names in the archive.
        findings: what is left out, renamed or made, and what is in the way.
    """

    members: tuple[Member, ...]
    findings: tuple[Finding, ...] = ()


def as_they_are(stem: str, source: Source) -> Arranged:  # noqa: ARG001 - the name says nothing
    """All files, under the names that they have.

    Args:
        stem: the name of the archive without its suffix.
        source: the files of the user.
    """
    return Arranged(source.members)


def flat(stem: str, source: Source, *, suffixes: tuple[str, ...]) -> Arranged:  # noqa: ARG001
    """The files of some suffixes, without folders.

    Args:
        stem: the name of the archive without its suffix.
        source: the files of the user.
        suffixes: those of files of a submission; none for all files.
    """
    chosen = [m for m in source.members if not suffixes or m.basename.endswith(suffixes)]
    return arranged(source, {member.name: member.basename for member in chosen})


def arranged(
    source: Source, names: Mapping[str, str], made: Sequence[Member] = (), *more: Finding
) -> Arranged:
    """The files of an archive, with findings about those that are renamed and those left out.

    Args:
        source: the files of the user.
        names: the names in the archive, by those in the source.
        made: files that nobody has written.
        *more: further findings.
    """
    chosen = [member for member in source.members if member.name in names]
    members = [as_named(member, names[member.name]) for member in chosen]
    renamed = [
        finding("PKG104", file=old.display, name=new.basename)
        for old, new in zip(chosen, members, strict=True)
        if old.basename != new.basename
    ]
    rest = [member.name for member in source.members if member.name not in names]
    left = [_left_out(source, rest)] if rest and (chosen or made) else []
    return Arranged((*members, *made), (*more, *renamed, *left))


def as_named(member: Member, name: str) -> Member:
    """A file under another name."""
    return msgspec.structs.replace(member, name=name)


def made(name: str, content: bytes) -> Member:
    """A file that nobody has written; findings have no other name of it."""
    return Member(name, "", len(content), lambda: content)


def collisions(members: Iterable[Member]) -> list[Finding]:
    """The findings about files that would have the name of another one in the archive."""
    seen: dict[str, Member] = {}
    found = []
    for member in members:
        if member.name in seen:
            other = seen[member.name].display
            found.append(finding("PKG102", file=member.display, name=member.name, other=other))
        seen.setdefault(member.name, member)
    return found


def _left_out(source: Source, names: Sequence[str]) -> Finding:
    listed = first_names(names)
    return finding("PKG103", file=source.path, count=len(names), names=listed)


#: Gives the files of an archive from its name without suffix and the files of a user.
Arrange = Callable[[str, Source], Arranged]
