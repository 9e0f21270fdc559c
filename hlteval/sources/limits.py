"""Limits of the size of sources."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum sizes of sources; they apply to bytes that were read, not to declared sizes.

    The user chooses a plain file, which does not grow when it is read, so its limit only protects
    the memory from a wrong path. An archive comes from others and may unpack to a thousand times
    its size, so its limits are tight; unpack a larger one and pass the folder.

    Attributes:
        file_bytes: bytes of one plain file, or of standard input.
        growth: bytes that a file may have beyond its size: devices and files of the system
            have none, and some of them do not end.
        files: number of files and folders below a folder.
        member_bytes: bytes of one member of an archive, unpacked and packed.
        total_bytes: unpacked bytes of all members of an archive.
        members: number of members of an archive, folders included; released corpora have about
            30,000.
        tiny_members: number of members of a gzipped archive in which they take less than
            `packed_bytes` each: tens of thousands of empty files may be packed in a few bytes each.
        packed_bytes: packed bytes of a gzipped archive for each member above `tiny_members`.
        ratio: unpacked bytes per packed byte; annotations reach about 30, deflate 1,032.
        ratio_bytes: unpacked bytes up to which any ratio is accepted.
    """

    file_bytes: int = 2 * _GIB
    growth: int = 64 * _MIB
    files: int = 300_000
    member_bytes: int = 64 * _MIB
    total_bytes: int = _GIB
    members: int = 100_000
    tiny_members: int = 30_000
    packed_bytes: int = 64
    ratio: int = 200
    ratio_bytes: int = _MIB

    def members_of(self, packed: int) -> int:
        """The number of members that a gzipped archive of so many packed bytes may have.

        Examples:
            >>> LIMITS.members_of(1_000_000), LIMITS.members_of(4_000_000)
            (30000, 62500)
        """
        return min(self.members, max(self.tiny_members, packed // self.packed_bytes))


LIMITS = Limits()
"""The default limits."""
