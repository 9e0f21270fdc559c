"""Rules over a submission as a package of files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from hlteval.findings import Finding, Span, excerpt, finding
from hlteval.sources import Member, Source, Unreadable
from hlteval.sources.archives import first_names


@dataclass(frozen=True, slots=True)
class Package:
    """A submission as a package of files, beside the documents it is for.

    Attributes:
        submission: what was submitted, with all its files.
        found: its files with predictions, by document.
        reference: what it is checked against; None where the submission brings its own documents.
        expected: the files of the reference, by document.
    """

    submission: Source
    found: Mapping[str, tuple[Member, ...]]
    reference: Source | None
    expected: Mapping[str, tuple[Member, ...]]


def documents(package: Package, code: str, unread: str, suffix: str) -> Iterator[Finding]:
    """The findings about a submission with a file per document.

    Args:
        package: the submission.
        code: of a submission with files, none of which is a document.
        unread: of a file that is not read, but looks like a document.
        suffix: of the names of documents.
    """
    source = package.submission
    if source.members and not package.found:
        yield finding(code, file=source.path)
        return
    read = {member.name for members in package.found.values() for member in members}
    for member in source.members:
        if member.name not in read and (hint := _hint(member.basename, suffix)):
            yield finding(unread, file=member.display, hint=hint)


def entity_header(member: Member) -> Iterator[Finding]:
    """The finding about the header of a table of entity mentions: submissions have none.

    Args:
        member: the file of the table.
    """
    from hlteval.converters.edl.edl_tab import is_header

    try:
        head = member.fetch()[:1000].decode("utf-8", "replace")
    except Unreadable:
        return
    line = head.removeprefix("\ufeff").partition("\n")[0].rstrip("\r")
    if is_header(line):
        span = Span(1, 1, len(line) + 1)
        yield finding("EDL102", file=member.display, span=span, excerpt=excerpt(line, span))


def _hint(name: str, suffix: str) -> str:
    """The fix for a file that looks like a document but is not read; empty for other files.

    Examples:
        >>> _hint("D1.LTF.XML", ".ltf.xml"), _hint("D1.laf.xml", ".ltf.xml")
        ('rename it to D1.ltf.xml, with a lower-case suffix', '')
    """
    lower = name.lower()
    bare = lower.removesuffix(next(filter(lower.endswith, _PACKED), ""))
    if bare.endswith(suffix):
        if bare != lower:
            return f"unpack it to {name[: len(bare)]}"
        return f"rename it to {name[: -len(suffix)]}{suffix}, with a lower-case suffix"
    kind = suffix.split(".")[1]
    kinds = [each for each in _KINDS if f".{each}." in f"{bare}."]
    if kind in kinds or (bare.endswith(".xml") and not kinds):
        return f"rename it to {name.partition('.')[0]}{suffix} if it is a document, or remove it"
    return ""


_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tgz")
#: Kinds of files of language packs, as their suffixes name them.
_KINDS = ("ltf", "laf", "psm", "rsd")


# Packing: which files of a user become which files of an archive.
#
# Each family with rules for its packages has a module `packing` beside its `package`: what is
# arranged here must pass there. Nothing is left out, renamed or made in silence.


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
    return rename_files(source, {member.name: member.basename for member in chosen})


def rename_files(
    source: Source, names: Mapping[str, str], made: Sequence[Member] = (), *more: Finding
) -> Arranged:
    """The files of an archive, with findings about those that are renamed and those left out.

    Args:
        source: the files of the user.
        names: the names in the archive, by those in the source.
        made: files that nobody has written.
        *more: further findings.
    """
    members, renamed, rest = [], [], []
    for member in source.members:
        if member.name not in names:
            rest.append(member.name)
            continue
        members.append(msgspec.structs.replace(member, name=names[member.name]))
        if members[-1].basename != member.basename:
            name = members[-1].basename
            renamed.append(finding("PKG104", file=member.display, name=name))
    if rest and (members or made):
        listed = first_names(rest)
        renamed.append(finding("PKG103", file=source.path, count=len(rest), names=listed))
    return Arranged((*members, *made), (*more, *renamed))


def new_member(name: str, content: bytes) -> Member:
    """A file that nobody has written; findings have no other name of it."""
    return Member(name, "", len(content), lambda: content)


def collisions(members: Iterable[Member]) -> list[Finding]:
    """The findings about files that would have the name of another one in the archive."""
    first: dict[str, Member] = {}
    findings = []
    for member in members:
        other = first.setdefault(member.name, member)
        if other is not member:
            display = other.display
            findings.append(finding("PKG102", file=member.display, name=member.name, other=display))
    return findings


#: Gives the files of an archive from its name without suffix and the files of a user.
Arrange = Callable[[str, Source], Arranged]
