"""Gzipped tar archives of all dialects, and as they must not be."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hlteval.sources import Source, open_source

Codes = Callable[[Source], set[str]]
Write = Callable[[bytes], Source]
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def open_bytes(data: bytes) -> Source:
        path = tmp_path / "run1.tar.gz"
        path.write_bytes(data)
        return open_source(str(path))

    return open_bytes


def tar(
    contents: Mapping[str, bytes],
    form: int = tarfile.PAX_FORMAT,
    headers: Mapping[str, str] | None = None,
    **fields: object,
) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for name, data in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            member.pax_headers = dict(headers or {})
            for field, value in fields.items():
                setattr(member, field, value)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def resummed(data: bytes, offset: int, new: bytes) -> bytes:
    """The first header with other bytes at an offset, and a checksum that fits."""
    header = bytearray(data[:512])
    header[offset : offset + len(new)] = new
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data[512:]


LENGTHS = [1, 99, 100, 101, 150, 240]


@pytest.mark.parametrize(
    ("form", "length"),
    [
        *(("ustar", length) for length in LENGTHS),  # it has no room for longer names
        *(("gnu", length) for length in [*LENGTHS, 300, 2000]),
        *(("pax", length) for length in [*LENGTHS, 300, 2000]),
    ],
)
def test_names_of_every_length(write: Write, form: str, length: int) -> None:
    name = "/".join(["f" * 49] * (length // 50) + ["n" * (length % 50 or 1)])[:length].rstrip("/")
    source = write(gzip.compress(tar({name: b"E1", "z.a2": b"E2"}, FORMATS[form])))
    assert [(member.name, member.fetch()) for member in source.members] == [
        (name, b"E1"),
        ("z.a2", b"E2"),
    ]
    assert not source.findings


def test_the_names_that_pax_gives_are_read(write: Write) -> None:
    source = write(
        gzip.compress(tar({"東京.a2": b"E1"}, headers={"comment": "a=b\nc", "mtime": "1.5"}))
    )
    assert [member.name for member in source.members] == ["東京.a2"]
    assert not source.findings


def test_a_size_may_be_binary_or_in_an_extended_header(write: Write) -> None:
    data = tar({"d1.a2": b"E1"})
    binary = resummed(data, 124, b"\x80" + (2).to_bytes(11, "big"))
    assert [member.fetch() for member in write(gzip.compress(binary)).members] == [b"E1"]
    extended = tar({"d1.a2": b"E1"}, headers={"size": "2"})
    assert [member.fetch() for member in write(gzip.compress(extended)).members] == [b"E1"]


def test_an_archive_of_the_oldest_dialect_is_read(write: Write) -> None:
    data = resummed(tar({"d1.a2": b"E1"}), 156, b"\0" + bytes(355))
    source = write(gzip.compress(data))
    assert [(member.name, member.fetch()) for member in source.members] == [("d1.a2", b"E1")]


def test_global_headers_are_passed_over(write: Write) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", pax_headers={"comment": "0123abc"}) as archive:
        archive.addfile(tarfile.TarInfo("d1.a2"))
    source = write(gzip.compress(stream.getvalue()))
    assert [member.name for member in source.members] == ["d1.a2"]
    assert not source.findings


def test_several_gzip_streams_are_one_archive(write: Write) -> None:
    data = tar({"d1.a2": b"E1" * 5000})
    source = write(gzip.compress(data[:1000]) + gzip.compress(b"") + gzip.compress(data[1000:]))
    assert [member.fetch() for member in source.members] == [b"E1" * 5000]
    assert not source.findings


def test_an_archive_without_end_blocks_is_read(write: Write) -> None:
    source = write(gzip.compress(tar({"d1.a2": b"E1"})[:1024]))
    assert [member.fetch() for member in source.members] == [b"E1"]


def test_a_second_archive_behind_the_first_is_told(write: Write, codes: Codes) -> None:
    data = tar({"d1.a2": b"E1"})
    source = write(gzip.compress(data + data))
    assert codes(source) == {"SRC106"}
    assert len(source.members) == 1


@pytest.mark.parametrize("cut", [1, 4, 8, 9, 40])
def test_a_stream_that_was_cut_off_is_noticed(write: Write, codes: Codes, cut: int) -> None:
    """Python's tarfile reads all of these but the last without a word."""
    source = write(gzip.compress(tar({"d1.a2": b"E1" * 100}))[:-cut])
    assert codes(source) == {"SRC105"}
    assert not source.members


@pytest.mark.parametrize(
    ("offset", "new"),
    [
        (124, b"9" * 11),  # a size that is no octal number
        (124, b"-0000000001"),
        (124, b"7" * 11),  # a size beyond the archive
        (124, b"\x80" + b"\xff" * 11),  # the largest binary size
        (124, b"\xff" * 12),  # a negative size
    ],
)
def test_an_impossible_size_is_noticed(write: Write, codes: Codes, offset: int, new: bytes) -> None:
    assert codes(write(gzip.compress(resummed(tar({"d1.a2": b"E1"}), offset, new)))) == {"SRC105"}


@pytest.mark.parametrize("type_", [b"1", b"2", b"3", b"4", b"6", b"S", b"D", b"M", b"V", b"Z"])
def test_only_files_and_folders_are_members(write: Write, codes: Codes, type_: bytes) -> None:
    data = resummed(tar({"d1.a2": b""}), 156, type_)
    source = write(gzip.compress(data))
    assert codes(source) == {"SRC112"}
    assert not source.members


def test_a_folder_has_no_content(write: Write, codes: Codes) -> None:
    assert codes(write(gzip.compress(tar({"out/": b"E1"})))) == {"SRC112"}


@pytest.mark.parametrize(
    "body",
    [
        b"99 path=d2.a2\n",
        b"14 path=d2.a2",
        b"0 path=d2.a2\n",
        b"path=d2.a2\n",
        b"5 p\n",
        b"12345678 path=d2.a2\n",
    ],
)
def test_a_broken_extended_header_is_noticed(write: Write, codes: Codes, body: bytes) -> None:
    header = resummed(tar({"x": body}), 156, b"x")[:1024]
    assert codes(write(gzip.compress(header + tar({"d1.a2": b"E1"})))) == {"SRC105"}


def test_headers_for_all_members_and_for_none_are_refused(write: Write, codes: Codes) -> None:
    named = resummed(tar({"x": b"14 path=d2.a2\n"}), 156, b"g")[:1024]
    assert codes(write(gzip.compress(named + tar({"d1.a2": b"E1"})))) == {"SRC105"}
    dangling = resummed(tar({"x": b"14 path=d2.a2\n"}), 156, b"x")[:1024]
    assert codes(write(gzip.compress(dangling))) == {"SRC105"}
    assert codes(write(gzip.compress(dangling + bytes(1024)))) == {"SRC105"}


def test_an_endless_extended_header_is_not_read(write: Write, codes: Codes) -> None:
    header = resummed(tar({"x": bytes(range(256)) * 5000}), 156, b"x")
    assert codes(write(gzip.compress(header, 0))) == {"SRC105"}
