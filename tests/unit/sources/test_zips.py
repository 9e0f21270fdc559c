"""Zip archives as programs write them, and as they must not be."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hlteval.sources import Source, open_source

Codes = Callable[[Source], set[str]]
Write = Callable[[bytes], Source]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def open_bytes(data: bytes) -> Source:
        path = tmp_path / "run1.zip"
        path.write_bytes(data)
        return open_source(str(path))

    return open_bytes


def stored(**contents: bytes) -> bytearray:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return bytearray(stream.getvalue())


class Pipe(io.RawIOBase):
    """Where a writer cannot go back, so that sizes and checksum follow the data."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.data += data
        return len(data)


def test_sizes_may_follow_the_data(write: Write) -> None:
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d1.a2", b"E1" * 1000)
        archive.writestr("d2.a2", b"E2")
    source = write(bytes(pipe.data))
    assert [member.fetch() for member in source.members] == [b"E1" * 1000, b"E2"]
    assert not source.findings


def test_sizes_may_be_in_the_field_for_large_archives(write: Write) -> None:
    stream = io.BytesIO()
    archive = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("d1.a2", "w", force_zip64=True) as member:
        member.write(b"E1" * 1000)
    source = write(stream.getvalue())
    assert [member.fetch() for member in source.members] == [b"E1" * 1000]
    assert not source.findings


def as_zip64(data: bytes) -> bytes:
    """The same archive with its numbers where those of large archives stand."""
    end = data.rindex(b"PK\5\6")
    count, size, start = struct.unpack_from("<H2L", data, end + 10)
    header = bytearray(data[start:end])
    packed, full = struct.unpack_from("<2L", header, 20)
    name, offset = struct.unpack_from("<H", header, 28)[0], struct.unpack_from("<L", header, 42)[0]
    extra = struct.pack("<2H3Q", 1, 24, full, packed, offset)
    struct.pack_into("<2L", header, 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<H", header, 30, len(extra))
    struct.pack_into("<L", header, 42, 0xFFFFFFFF)
    directory = bytes(header[: 46 + name]) + extra + bytes(header[46 + name :])
    size, here = len(directory), start + len(directory)
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, here, 1)
    ending = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)
    return data[:start] + directory + record + locator + ending


def test_the_record_for_large_archives_is_read(write: Write) -> None:
    data = as_zip64(bytes(stored(d1=b"E1")))
    assert zipfile.ZipFile(io.BytesIO(data)).read("d1") == b"E1"  # another reader agrees
    source = write(data)
    assert [member.fetch() for member in source.members] == [b"E1"]
    assert not source.findings


def test_a_comment_is_no_trailing_data(write: Write) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("d1.a2", b"E1")
        archive.comment = b"made by hand"
    assert not write(stream.getvalue()).findings


@pytest.mark.parametrize(
    ("place", "value", "code"),
    [
        ((b"PK\1\2", 10), 8, "SRC119"),  # deflated, but stored in the local header
        ((b"PK\1\2", 16), 1, "SRC119"),  # another checksum
        ((b"PK\1\2", 20), 1, "SRC119"),  # another size
        ((b"PK\1\2", 46), 0x41, "SRC119"),  # another name
        ((b"PK\1\2", 42), 5, "SRC105"),  # another offset
        ((b"PK\1\2", 0), 0, "SRC105"),  # no header
        ((b"PK\1\2", 28), 200, "SRC105"),  # a name longer than the list
        ((b"PK\1\2", 41), 0xA1, "SRC112"),  # a symbolic link
        ((b"PK\1\2", 41), 0x41, "SRC112"),  # a folder without a slash
        ((b"PK\5\6", 4), 1, "SRC105"),  # the second of several parts
        ((b"PK\5\6", 8), 2, "SRC105"),  # more members here than in the whole
        ((b"PK\5\6", 12), 1, "SRC105"),  # a shorter list
        ((b"PK\5\6", 16), 1, "SRC105"),  # a list elsewhere
        ((b"PK\5\6", 20), 9, "SRC105"),  # a comment beyond the end
        ((b"PK\3\4", 30), 0x41, "SRC119"),  # another name, seen from the other side
        ((b"PK\3\4", 28), 200, "SRC119"),  # content that begins in the list
    ],
)
def test_one_wrong_number_is_noticed(
    write: Write, codes: Codes, place: tuple[bytes, int], value: int, code: str
) -> None:
    data = stored(d1=b"E1")
    data[data.index(place[0]) + place[1]] = value
    source = write(bytes(data))
    assert codes(source) == {code}
    assert not source.members


def test_announced_and_listed_members_must_agree(write: Write, codes: Codes) -> None:
    data = stored(d1=b"E1", d2=b"E2")
    end = data.index(b"PK\5\6")
    struct.pack_into("<2H", data, end + 8, 1, 1)
    assert codes(write(bytes(data))) == {"SRC105"}


def test_members_that_share_their_bytes_are_refused(write: Write, codes: Codes) -> None:
    data = stored(d1=b"E1")
    start, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    header = data[start:end]
    twice = data[:end] + header + data[end:]
    struct.pack_into("<2HL", twice, twice.index(b"PK\5\6") + 8, 2, 2, 2 * len(header))
    assert codes(write(bytes(twice))) == {"SRC113", "SRC119"}


def test_content_beyond_the_announced_end_is_noticed(write: Write, codes: Codes) -> None:
    """Two deflate streams after each other, both within the packed size: one would be lost."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d1.a2", b"E1")
    data = bytearray(stream.getvalue())
    start = data.index(b"PK\1\2")
    data[start:start] = b"more"
    for place in (18, data.index(b"PK\1\2") + 20):
        struct.pack_into("<L", data, place, struct.unpack_from("<L", data, place)[0] + 4)
    end = data.index(b"PK\5\6")
    struct.pack_into("<L", data, end + 16, start + 4)
    assert codes(write(bytes(data))) == {"SRC105"}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((b"PK\6\7", 8), b"\xff" * 8),  # a record beyond the end
        ((b"PK\6\7", 8), bytes(8)),  # a record where a member is
        ((b"PK\6\6", 40), b"\xff" * 8),  # a list of members of 16 EiB
        ((b"PK\6\6", 48), b"\xff" * 8),  # a list of members far away
        ((b"PK\6\6", 32), b"\xff" * 8),  # countless members
        ((b"PK\6\7", 0), b"none"),  # nothing where it should be
        ((b"PK\1\2", 48), b"\2\0"),  # no field with the sizes
        ((b"PK\1\2", 50), b"\x10\0"),  # a field that lacks the offset
        ((b"PK\1\2", 50), b"\0\0"),  # an empty field
        ((b"PK\1\2", 68), b"\xff" * 8),  # a member far away
    ],
)
def test_wrong_large_numbers_are_noticed(
    write: Write, codes: Codes, place: tuple[bytes, int], value: bytes
) -> None:
    data = bytearray(as_zip64(bytes(stored(d1=b"E1"))))
    start = data.index(place[0]) + place[1]
    data[start : start + len(value)] = value
    assert codes(write(bytes(data))) == {"SRC105"}


def test_a_large_packed_size_is_no_reason_to_read_it(write: Write, codes: Codes) -> None:
    data = bytearray(as_zip64(bytes(stored(d1=b"E1"))))
    struct.pack_into("<Q", data, data.index(b"PK\1\2") + 60, 1 << 62)
    assert codes(write(bytes(data))) == {"SRC119", "SRC122"}


def test_what_is_not_compressed_has_one_size(write: Write, codes: Codes) -> None:
    data = stored(d1=b"E1")
    for place in (22, data.index(b"PK\1\2") + 24):
        struct.pack_into("<L", data, place, 1)
    assert codes(write(bytes(data))) == {"SRC119"}
