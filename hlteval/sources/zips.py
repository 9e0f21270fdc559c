"""Zip archives, read strictly.

Python's zipfile keeps the last of two members with one name, takes sizes and methods from either of
two headers, accepts overlapping members, and differs in all this between its versions. Here the
central directory and the local headers must agree, members must not overlap, and no more bytes are
unpacked than declared. Supported are stored and deflated members, and sizes above 4 GiB (zip64).
"""

import stat
import struct
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from hlteval.findings import Finding, finding
from hlteval.sources.archives import FILE, FOLDER, Entry, check_ratio, damage, too_many, type_name
from hlteval.sources.names import is_text, printable
from hlteval.sources.source import Limits
from hlteval.sources.spooling import SizedFile

_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_HEADER = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_LONGEST_COMMENT = 0xFFFF
#: Maximum size of the central directory per allowed member; usual entries take a tenth.
_HEADER_BYTES = 1024
#: The value of a size or an offset that is in the zip64 extra field instead.
_IN_EXTRA = 0xFFFFFFFF
_ENCRYPTED, _SIZES_FOLLOW, _UTF8 = 1 << 0, 1 << 3, 1 << 11
_COMPARED = _ENCRYPTED | _SIZES_FOLLOW | _UTF8
_STORED, _DEFLATED = 0, 8
#: The names of other methods of compression.
_NAMES = {1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "LZMA", 93: "zstd", 95: "xz"}
_DISAGREES = -1


class _Header(NamedTuple):
    """One entry of the central directory."""

    name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    offset: int


def list_zip(
    file: SizedFile, label: str, limits: Limits, problems: list[Finding] | None
) -> Iterator[Entry]:
    """The list of a zip archive, by its central directory.

    Args:
        file: the archive.
        label: name of the archive in findings.
        limits: the limits of an archive.
        problems: gets the findings of the archive, for which local headers are read; None where
            only the list is wanted.

    Raises:
        Unreadable: if the members cannot be listed.
        OSError: if the file cannot be read.
    """
    end, size, count, trailing = _end(file, label)
    if size > limits.members * _HEADER_BYTES:
        raise too_many(label, limits.members)
    headers = _headers(file.read(end, size), label, limits)
    if len(headers) != count:
        raise damage(label, f"{count} members declared, but {len(headers)} listed")
    starts = [header.offset for header in headers]
    if problems is not None:
        starts = [_start(file, header, label) for header in headers]
        problems += _overlaps(headers, starts, end, label)
        for header, begin in zip(headers, starts, strict=True):
            problems += _check_member(header, begin, label, limits)
        if trailing:
            problems.append(finding("SRC106", file=label, size=trailing))
        undeclared = [_name(h) for h in headers if not h.flags & _UTF8 and not h.name.isascii()]
        names = [printable(name) for name in undeclared if is_text(name)]
        if names:
            problems.append(finding("SRC118", file=label, count=len(names), name=names[0]))
    for header, begin in zip(headers, starts, strict=True):
        yield _entry(file, header, begin, label)


def _end(file: SizedFile, label: str) -> tuple[int, int, int, int]:
    """Offset, size and length of the central directory, and the bytes after the archive."""
    tail_start = max(0, file.size - _END.size - _LONGEST_COMMENT)
    tail = file.read(tail_start, file.size - tail_start)
    index = tail.rfind(b"PK\5\6")
    if index < 0 or len(tail) - index < _END.size:
        raise damage(label, "central directory is missing, file is probably truncated")
    _, disk, first, here, count, size, start, comment = _END.unpack_from(tail, index)
    end = tail_start + index
    trailing = file.size - end - _END.size - comment
    if trailing < 0:
        raise damage(label, "unexpected end of file")
    if disk or first or here != count:
        raise damage(label, "one of several parts of a split archive")
    if 0xFFFF in (here, count) or _IN_EXTRA in (size, start):
        end, start, size, count = _end_64(file, end, label) or (end, start, size, count)
    if start + size != end:
        raise damage(label, "central directory is not where it should be")
    return start, size, count, trailing


def _end_64(file: SizedFile, end: int, label: str) -> tuple[int, int, int, int] | None:
    """The zip64 end record: its own offset, then offset, size and length of the directory."""
    locator = file.read(max(0, end - _LOCATOR.size), _LOCATOR.size)
    if len(locator) < _LOCATOR.size or not locator.startswith(b"PK\6\7"):
        return None
    offset = _LOCATOR.unpack(locator)[2]
    if offset > file.size:
        raise damage(label, "central directory is not where it should be")
    record = file.read(offset, _END_64.size)
    if len(record) < _END_64.size or not record.startswith(b"PK\6\6"):
        raise damage(label, "central directory is missing")
    *_, count, size, start = _END_64.unpack(record)
    return offset, start, size, count


def _headers(directory: bytes, label: str, limits: Limits) -> list[_Header]:
    """The entries of the central directory."""
    headers: list[_Header] = []
    rest = memoryview(directory)
    while rest:
        if len(headers) == limits.members:
            raise too_many(label, limits.members)
        if bytes(rest[:4]) != b"PK\1\2" or len(rest) < _HEADER.size:
            raise damage(label, f"entry {len(headers) + 1} of the central directory is invalid")
        fields = _HEADER.unpack_from(rest)
        name_end = _HEADER.size + fields[10]
        extra_end = name_end + fields[11]
        end = extra_end + fields[12]
        if end > len(rest):
            raise damage(label, f"entry {len(headers) + 1} of the central directory is truncated")
        name, extra = bytes(rest[_HEADER.size : name_end]), bytes(rest[name_end:extra_end])
        headers.append(_header(fields, name, extra, label))
        rest = rest[end:]
    return headers


def _header(fields: Sequence[int], name: bytes, extra: bytes, label: str) -> _Header:
    """One entry of the central directory, with large numbers from its zip64 field."""
    flags, method, crc, packed, size = fields[3], fields[4], *fields[7:10]
    mode, offset = fields[15] >> 16, fields[16]
    if _IN_EXTRA in (packed, size, offset):
        numbers: list[int] = []
        while len(extra) >= 4:
            kind, length = struct.unpack_from("<2H", extra)
            if kind == 1:
                body = extra[4 : 4 + length]
                numbers += [n for (n,) in struct.iter_unpack("<Q", body[: length // 8 * 8])]
            extra = extra[4 + length :]
        try:
            size = numbers.pop(0) if size == _IN_EXTRA else size
            packed = numbers.pop(0) if packed == _IN_EXTRA else packed
            offset = numbers.pop(0) if offset == _IN_EXTRA else offset
        except IndexError:
            member = printable(name.decode("utf-8", "surrogateescape"))
            raise damage(f"{label}/{member}", "size is missing") from None
    return _Header(name, flags, method, crc, packed, size, mode, offset)


def _start(file: SizedFile, header: _Header, label: str) -> int:
    """The offset of the bytes of a member; -1 if its local header contradicts the directory."""
    local = b""
    if header.offset < file.size:
        local = file.read(header.offset, _LOCAL.size + len(header.name))
    if len(local) < _LOCAL.size or not local.startswith(b"PK\3\4"):
        raise damage(_path(header, label), "member is not where the central directory says")
    _, _, flags, method, _, _, crc, packed, size, name, extra = _LOCAL.unpack_from(local)
    agree = name == len(header.name) and local.endswith(header.name)
    agree = agree and method == header.method and not (flags ^ header.flags) & _COMPARED
    if not flags & _SIZES_FOLLOW:
        agree = agree and crc == header.crc
        agree = agree and packed in (header.packed, _IN_EXTRA) and size in (header.size, _IN_EXTRA)
    return header.offset + _LOCAL.size + name + extra if agree else _DISAGREES


def _overlaps(headers: list[_Header], starts: list[int], end: int, label: str) -> Iterator[Finding]:
    """Members that overlap another or the directory, which makes small archives huge."""
    free = 0
    for header, start in sorted(zip(headers, starts, strict=True), key=lambda pair: pair[0].offset):
        stop = max(start, header.offset) + header.packed
        if header.offset < free or stop > end:
            yield _inconsistent(header, label, "member overlaps another part of the archive")
        free = max(free, stop)


def _check_member(header: _Header, start: int, label: str, limits: Limits) -> Iterator[Finding]:
    """The problems of one member that are specific to zip archives."""
    display = _path(header, label)
    if start == _DISAGREES:
        yield _inconsistent(header, label, "local header and central directory differ")
    elif header.method == _STORED and header.packed != header.size:
        yield _inconsistent(header, label, "uncompressed member with two different sizes")
    if header.method not in (_STORED, _DEFLATED):
        yield finding("SRC120", file=display, method=_NAMES.get(header.method, header.method))
    if header.packed > limits.member_bytes >= header.size:
        yield finding("SRC122", file=display, size=header.packed, limit=limits.member_bytes)
    bomb = check_ratio(display, header.size, header.packed, limits)
    if bomb is not None and header.size <= limits.member_bytes:
        yield bomb


def _inconsistent(header: _Header, label: str, reason: str) -> Finding:
    return finding("SRC119", file=_path(header, label), reason=reason)


def _name(header: _Header) -> str:
    return header.name.decode("utf-8", "surrogateescape")


def _path(header: _Header, label: str) -> str:
    return f"{label}/{printable(_name(header))}"


def _entry(file: SizedFile, header: _Header, start: int, label: str) -> Entry:
    """A member, whose type is by its mode and the slash at the end of a folder's name."""
    format_ = stat.S_IFMT(header.mode)
    type_ = "folder named like a file" if format_ == stat.S_IFDIR else FILE
    if format_ not in (0, stat.S_IFREG, stat.S_IFDIR):
        type_ = type_name(header.mode)
    elif header.name.endswith(b"/"):
        type_ = "folder with content" if header.size else FOLDER
    read = partial(_unpack, file, start, header, label)
    return Entry(_name(header), type_, header.size, read, bool(header.flags & _ENCRYPTED))


def _unpack(file: SizedFile, start: int, header: _Header, label: str) -> bytes:
    """The bytes of a member; at most one byte more than declared is unpacked."""
    data = file.read(start, header.packed)
    complete = True
    if header.method == _DEFLATED:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = unpacker.decompress(data, header.size + 1)
        except zlib.error:
            raise damage(_path(header, label), "invalid compressed data") from None
        complete = unpacker.eof and not unpacker.unused_data
    if not complete or len(data) != header.size:
        raise damage(_path(header, label), f"size is not the declared {header.size} bytes")
    if zlib.crc32(data) != header.crc:
        raise damage(_path(header, label), "checksum mismatch")
    return data
