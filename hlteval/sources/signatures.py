"""Signatures: kinds of archives by first bytes and by suffix, and documents that are no text."""

from __future__ import annotations

import re

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


_PLAIN: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"SQLite format 3\0", "an SQLite database"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of the files of Office before 2007."""
_OLE_STREAMS = {"Workbook": "an Excel spreadsheet", "WordDocument": "a Word document"}
_IN_ZIP = re.compile(rb"PK(?:\x01\x02.{42}|\x03\x04.{26})(xl|word|ppt)/", re.DOTALL)
"""A member, in the list of a zip archive or before its content, that only Office writes."""
_OFFICE = {
    b"xl": "an Excel spreadsheet",
    b"word": "a Word document",
    b"ppt": "a PowerPoint presentation",
}
_OPEN_DOCUMENT = re.compile(
    rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument\.(spreadsheet|text)?", re.DOTALL
)


def document_kind(data: bytes) -> str:
    r"""A spreadsheet, picture or other document in words, by its bytes; empty for other files.

    Archives are none, but for those that are the files of an office program.

    Examples:
        >>> document_kind(b"%PDF-1.7\n"), document_kind(b"T1\tGene 0 4\tABI3")
        ('a PDF document', '')
    """
    if data.startswith(b"PK\x03\x04"):
        if found := _OPEN_DOCUMENT.match(data):
            return f"an OpenDocument {(found[1] or b'file').decode()}"
        member = _IN_ZIP.search(data)
        return _OFFICE[member[1]] if member else ""
    if data.startswith(_OLE):
        streams = (kind for name, kind in _OLE_STREAMS.items() if name.encode("utf-16-le") in data)
        return next(streams, "a file of Microsoft Office")
    return next((kind for first, kind in _PLAIN if data.startswith(first)), "")
