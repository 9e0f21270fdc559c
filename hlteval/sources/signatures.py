"""Signatures: what a file is by its first bytes and by its suffix."""

from __future__ import annotations

_BZIP2 = tuple(b"BZh%d1AY&SY" % level for level in range(1, 10))
_FIRST_BYTES: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    ("zip", (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")),
    ("gzip", (b"\x1f\x8b",)),
    ("bzip2", _BZIP2),
    ("xz", (b"\xfd7zXZ\x00",)),
    ("zstd", (b"\x28\xb5\x2f\xfd",)),
    ("7z", (b"7z\xbc\xaf\x27\x1c",)),
    ("rar", (b"Rar!\x1a\x07",)),
)
_ALL = tuple(signature for _, signatures in _FIRST_BYTES for signature in signatures)
_SUFFIXES = {
    ".zip": "zip",
    ".tgz": "gzip",
    ".tar.gz": "gzip",
    ".tar": "tar",
    ".gz": "compressed file",
    ".bz2": "bzip2",
    ".tbz": "bzip2",
    ".tbz2": "bzip2",
    ".xz": "xz",
    ".txz": "xz",
    ".zst": "zstd",
    ".7z": "7z",
    ".rar": "rar",
}
ARCHIVE_SUFFIXES = tuple(_SUFFIXES)
KINDS: dict[str | None, str] = {
    "zip": "a zip archive",
    "gzip": "a gzip archive",
    "tar": "an uncompressed tar archive",
    "compressed file": "a single compressed file",
    "bzip2": "a bzip2 archive",
    "xz": "an xz archive",
    "zstd": "a zstd archive",
    "7z": "a 7z archive",
    "rar": "a rar archive",
}
"""How findings speak of them."""


def packed(data: bytes) -> bool:
    """Whether bytes begin like an archive or a compressed file.

    Examples:
        >>> packed(b"PK" + bytes([3, 4])), packed(b"T1")
        (True, False)
    """
    return data.startswith(_ALL) or data[257:262] == b"ustar"


def by_content(head: bytes) -> str | None:
    """What the first 262 bytes say that a file is: `zip`, `gzip`, `tar`, ..., or None.

    Examples:
        >>> by_content(bytes([0x1F, 0x8B, 8]))
        'gzip'
    """
    if not packed(head):
        return None
    return next((kind for kind, first in _FIRST_BYTES if head.startswith(first)), "tar")


def by_suffix(name: str) -> str | None:
    """What its name says that a file is, or None where it names no archive.

    Examples:
        >>> by_suffix("run1.TAR.GZ"), by_suffix("ref.tab.gz"), by_suffix("d1.a2")
        ('gzip', 'compressed file', None)
    """
    lower = name.lower()
    if not lower.endswith(ARCHIVE_SUFFIXES):
        return None
    return next(kind for suffix, kind in _SUFFIXES.items() if lower.endswith(suffix))
