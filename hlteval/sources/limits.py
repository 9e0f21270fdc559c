"""Limits: how much a source may hold before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read before a source is refused; every number counts bytes that were really seen.

    A plain file was chosen by the user and does not grow by being read, so its limit only keeps a
    wrong path from filling the memory. An archive comes from somebody else and may unpack to a
    thousand times its size, so its limits are tight; who needs more unpacks it and gives the
    folder.

    Attributes:
        file_bytes: bytes of one plain file, or of standard input.
        member_bytes: bytes of one member of an archive, unpacked (and packed).
        total_bytes: bytes of all members of an archive together, unpacked.
        members: number of members of an archive, its folders included. Released corpora have
            about 30,000.
        ratio: unpacked bytes per packed byte; annotations reach about 30, deflate's limit is 1,032.
        ratio_bytes: unpacked bytes up to which the ratio is not looked at.
    """

    file_bytes: int = 2 * _GIB
    member_bytes: int = 64 * _MIB
    total_bytes: int = _GIB
    members: int = 100_000
    ratio: int = 200
    ratio_bytes: int = _MIB


LIMITS = Limits()
"""The limits that hold unless others are given."""
