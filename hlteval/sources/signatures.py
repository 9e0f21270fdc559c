"""Signatures: kinds of archives by first bytes and by suffix."""

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
"""The kinds of archives in words."""


def is_archive(data: bytes) -> bool:
    """Whether bytes start with the signature of an archive or a compressed file.

    Examples:
        >>> is_archive(b"PK" + bytes([3, 4])), is_archive(b"T1")
        (True, False)
    """
    return data.startswith(_ALL) or data[257:262] == b"ustar"


def archive_kind(head: bytes) -> str | None:
    """The kind of an archive by its first 262 bytes: `zip`, `gzip`, `tar`, …; None for other files.

    Examples:
        >>> archive_kind(bytes([0x1F, 0x8B, 8]))
        'gzip'
    """
    if not is_archive(head):
        return None
    return next((kind for kind, first in _FIRST_BYTES if head.startswith(first)), "tar")


def archive_suffix(name: str) -> str | None:
    """The kind of an archive by the suffix of its name; None for other suffixes.

    Examples:
        >>> archive_suffix("run1.TAR.GZ"), archive_suffix("ref.tab.gz"), archive_suffix("d1.a2")
        ('gzip', 'compressed file', None)
    """
    lower = name.lower()
    if not lower.endswith(ARCHIVE_SUFFIXES):
        return None
    return next(kind for suffix, kind in _SUFFIXES.items() if lower.endswith(suffix))
