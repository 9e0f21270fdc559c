"""Archives in an archive or a folder, where INCEpTION packs them into an exported project.

The annotation of a document by a user that consists of several files, such as an XMI file and its
TypeSystem.xml, is `annotation/<document>/<user>.zip`, and the curated one
`curation/<document>/CURATION_USER.zip`. Their files become members of the project, named
`annotation/<document>/<user>.zip/<file>`. Archives at other places, and within these, stay closed.

Conventions:
    Numbers of files and bytes count over all archives, and each inner one has the limits of an
    outer one. It is unpacked to be listed, and again for each of its files, since a project may
    have thousands: neither their bytes nor open files are kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from hlteval.findings import Finding, finding
from hlteval.sources.archives import admit, too_large, too_many
from hlteval.sources.names import KINDS, archive_kind, is_inner_archive
from hlteval.sources.source import Limits, Member, Unreadable
from hlteval.sources.zips import list_zip


class UnpackedFile:
    """The bytes of an inner archive, which are kept while it is listed.

    Args:
        unpack: gives the bytes, the same each time.

    Examples:
        >>> file = UnpackedFile(lambda: b"abcd")
        >>> file.forget()
        >>> file.size, file.read(1, 2)
        (4, b'bc')
    """

    def __init__(self, unpack: Callable[[], bytes]) -> None:
        self._unpack = unpack
        self._data: bytes | None = unpack()
        self.size = len(self._data)

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes at `offset`, fewer only at the end of the file."""
        data = self._unpack() if self._data is None else self._data
        return data[offset : offset + size]

    def forget(self) -> None:
        """Do not keep the bytes any longer."""
        self._data = None


def with_inner_files(
    members: Sequence[Member], label: str, limits: Limits
) -> tuple[tuple[Member, ...], list[Finding]]:
    """The files of a source with those of its inner archives, and the findings of these.

    Args:
        members: the files of a folder or an archive.
        label: name of the source in findings.
        limits: the limits of an archive.

    Returns:
        The files, sorted by name, none of an archive that is rejected, and the findings.
    """
    if not any(is_inner_archive(member.name) for member in members):
        return tuple(members), []
    every: list[Member] = [member for member in members if not is_inner_archive(member.name)]
    count, total = len(members), sum(member.size or 0 for member in members)
    findings: list[Finding] = []
    for member in filter(lambda member: is_inner_archive(member.name), members):
        try:
            file, problems = UnpackedFile(member.fetch), list[Finding]()
            if file.size > limits.member_bytes:
                raise too_large(member.display, file.size, limits.member_bytes)
            if archive_kind(file.read(0, file.size)) != "zip":
                wanted = KINDS["zip"]
                raise Unreadable(finding("SRC101", file=member.display, wanted=wanted))
            entries = [*list_zip(file, member.display, limits, problems)]
        except Unreadable as error:
            findings.append(error.finding)
            continue
        file.forget()
        count, total = count + len(entries), total + sum(entry.size for entry in entries)
        if count > limits.members:
            return (), [*findings, too_many(label, limits.members).finding]
        if total > limits.total_bytes:
            excess = finding("SRC123", file=label, size=total, limit=limits.total_bytes)
            return (), [*findings, excess]
        inner, more = admit(entries, member.display, replace(limits, projects=False))
        findings += [*problems, *more]
        if not any(problem.blocking for problem in problems):
            every += (
                msgspec.structs.replace(each, name=f"{member.name}/{each.name}") for each in inner
            )
    return tuple(sorted(every, key=lambda member: member.name)), findings
