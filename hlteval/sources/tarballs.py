"""Gzipped tar archives, read strictly.

The stream is unpacked once, up to the limits, into a temporary file; headers are read from it at
once, members later. Python's tarfile does not detect a truncated gzip stream, keeps the last of two
members with one name, and reads hostile extended headers with patterns that take for ever.
Supported are ustar, GNU long names and pax, but not sparse files.
"""

import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial

from hlteval.findings import Finding, finding
from hlteval.sources.archives import FILE, FOLDER, Entry, check_ratio, damage, too_many
from hlteval.sources.source import Limits, Unreadable
from hlteval.sources.spooling import CHUNK, Spool, spool

_BLOCK = 512
_PIECE = 1 << 20
#: Maximum size of an extended header; systems allow names of 4,096 bytes.
_LONGEST_HEADER = 1 << 20
_EXTENDED = frozenset(b"xXgLK")
_TYPES = {
    ord("\0"): FILE,
    ord("0"): FILE,
    ord("7"): FILE,
    ord("5"): FOLDER,
    ord("1"): "hard link",
    ord("2"): "symbolic link",
    ord("3"): "character device",
    ord("4"): "block device",
    ord("6"): "pipe",
    ord("S"): "sparse file",
}
#: Types without content, whatever the size in their header.
_WITHOUT_CONTENT = frozenset(b"123456")
_MEMBER_KEYS = ("path", "size")
_ASCII = bytes(range(0x80))
_OCTAL = re.compile(rb"[0-7]*")
_RECORD = re.compile(rb"([0-9]{1,7}) ([^=\n]{1,255})=")


def list_tgz(
    file: Spool, label: str, limits: Limits, problems: list[Finding] | None
) -> Iterator[Entry]:
    """The list of a gzipped tar archive.

    Args:
        file: the archive.
        label: name of the archive in findings.
        limits: the limits of an archive.
        problems: gets the findings that reject nothing.

    Raises:
        Unreadable: if the next member cannot be listed.
        OSError: if the file cannot be read or the disk is full.
    """
    warnings = [] if problems is None else problems
    tar = spool(_unpack(file, label, limits, warnings))
    most = limits.members_of(file.size)
    for count, entry in enumerate(_entries(tar, label, warnings)):
        if count == most:
            raise too_many(label, most)
        yield entry


def _unpack(file: Spool, label: str, limits: Limits, warnings: list[Finding]) -> Iterator[bytes]:
    """The bytes of all gzip streams of a file in sequence, up to the limits."""
    start = produced = 0
    for _ in range(limits.members):
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16)  # 16: with the header and trailer of gzip
        read = start
        while not stream.eof:
            block = stream.unconsumed_tail or file.read(read, CHUNK)
            read += 0 if stream.unconsumed_tail else len(block)
            try:
                piece = stream.decompress(block, _PIECE)
            except zlib.error:
                raise damage(label, "invalid compressed data") from None
            if not block and not piece and not stream.eof:
                raise damage(label, "unexpected end of file, probably truncated")
            produced += len(piece)
            if produced > limits.total_bytes:
                size, limit = f"more than {limits.total_bytes}", limits.total_bytes
                raise Unreadable(finding("SRC123", file=label, size=size, limit=limit))
            if bomb := check_ratio(label, produced, read, limits):
                raise Unreadable(bomb)
            yield piece
        start = read - len(stream.unused_data)
        if file.read(start, 2) != b"\x1f\x8b":
            break
    else:
        raise damage(label, f"more than {limits.members} gzip streams")
    if start < file.size:
        warnings.append(finding("SRC106", file=label, size=file.size - start))


def _entries(tar: Spool, label: str, warnings: list[Finding]) -> Iterator[Entry]:
    """The members, by their headers."""
    offset = 0
    extended: dict[str, bytes] = {}
    while header := tar.read(offset, _BLOCK):
        offset += _BLOCK
        if not header.strip(b"\0"):
            break
        if not _is_intact(header):
            first = offset == _BLOCK
            reason = "no tar archive in the gzip file" if first else "invalid member header"
            raise damage(label, reason)
        size = _size(header, extended, label)
        if offset + size > tar.size:
            raise damage(label, "a member is longer than the archive")
        if header[156] in _EXTENDED:
            extended |= _extended_header(header[156], tar, offset, size, label)
        else:
            yield _entry(header, extended, size, partial(tar.read, offset, size))
            extended = {}
        offset += -(-size // _BLOCK) * _BLOCK
    if extended:
        raise damage(label, "the last header has no member")
    if any(chunk.strip(b"\0") for chunk in tar.chunks(offset)):
        warnings.append(finding("SRC106", file=label, size=tar.size - offset))


def _is_intact(header: bytes) -> bool:
    """Whether the checksum of a header is the sum of its bytes, with spaces for itself."""
    summands = header[:148] + b" " * 8 + header[156:]
    total = sum(summands)
    signed = total - 256 * len(summands.translate(None, _ASCII))  # some old programs do this
    return len(header) == _BLOCK and _octal(header[148:156]) in (total, signed)


def _octal(field: bytes) -> int | None:
    """An octal number, padded with spaces or NUL; None if it is invalid."""
    digits = field.split(b"\0")[0].strip(b" ")
    return int(digits or b"0", 8) if _OCTAL.fullmatch(digits) else None


def _size(header: bytes, extended: dict[str, bytes], label: str) -> int:
    """The size of a member; sizes above 8 GiB are binary or in an extended header."""
    if header[156] in _WITHOUT_CONTENT:
        return 0
    field = header[124:136]
    size = int.from_bytes(field[1:], "big") if field[0] == 0x80 else _octal(field)
    if "size" in extended and header[156] not in _EXTENDED:
        digits = extended["size"]
        size = int(digits) if digits.isdigit() and len(digits) < 20 else None
    if size is None:
        raise damage(label, "the size of a member is not a number")
    return size


def _extended_header(kind: int, tar: Spool, offset: int, size: int, label: str) -> dict[str, bytes]:
    """The records of an extended header, which apply to the next member."""
    if size > _LONGEST_HEADER:
        raise damage(label, f"extended header of {size} bytes is too long")
    body = tar.read(offset, size)
    if kind == ord("L"):
        return {"path": body.split(b"\0")[0]}
    if kind == ord("K"):
        return {}
    records = _records(body, label)
    if kind != ord("g"):
        return records
    if not records.keys().isdisjoint(_MEMBER_KEYS):
        raise damage(label, "a global header sets one name or size for all members")
    return {}


def _records(body: bytes, label: str) -> dict[str, bytes]:
    """The records of a pax header, each of the form `length key=value` with a line break."""
    records: dict[str, bytes] = {}
    at = 0
    while at < len(body):
        match = _RECORD.match(body, at)
        stop = at + int(match[1]) if match else 0
        if match is None or not match.end() < stop <= len(body) or body[stop - 1] != ord("\n"):
            raise damage(label, "invalid extended header")
        records[match[2].decode("ascii", "replace")] = body[match.end() : stop - 1]
        at = stop
    return records


def _entry(
    header: bytes, extended: dict[str, bytes], size: int, read: Callable[[], bytes]
) -> Entry:
    name = extended.get("path")
    if name is None:
        name = header[:100].split(b"\0")[0]
        prefix = header[345:500].split(b"\0")[0] if header[257:263] == b"ustar\0" else b""
        name = prefix + b"/" + name if prefix else name
    type_ = _TYPES.get(header[156], f"file of unknown type {chr(header[156])!r}")
    if any(key.startswith("GNU.sparse.") for key in extended):
        type_ = "sparse file"
    if type_ == FILE and name.endswith(b"/"):
        type_ = "folder with content" if size else FOLDER
    return Entry(name.decode("utf-8", "surrogateescape"), type_, size, read)
