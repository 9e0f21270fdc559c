"""Hostile content ends at a limit, whatever its headers promise."""

from __future__ import annotations

import gzip
import io
import os
import struct
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hlteval.sources import LIMITS, Limits, Source, Unreadable, open_source

Pack = Callable[[Mapping[str, bytes]], str]
Codes = Callable[[Source], set[str]]
MIB = 1 << 20


def only_finding(source: Source) -> str:
    assert not source.members
    (finding,) = source.findings
    assert finding.blocking
    return f"{finding.code} {finding.message}"


def test_at_a_limit_an_archive_is_read_and_beyond_it_is_not(packed: Pack) -> None:
    path = packed({f"d{number}.a2": os.urandom(100) for number in range(10)})
    assert len(open_source(path, limits=Limits(members=10, member_bytes=200)).members) == 10
    assert only_finding(open_source(path, limits=Limits(members=9))).startswith("SRC121")
    large = open_source(path, limits=Limits(member_bytes=99))
    assert not large.members
    assert [finding.code for finding in large.findings] == ["SRC122"] * 10


def test_the_sum_of_a_zip_is_limited(zipped: Pack) -> None:
    path = zipped({f"d{number}.a2": bytes(100) for number in range(10)})
    assert len(open_source(path, limits=Limits(total_bytes=1000)).members) == 10
    assert "1000 bytes; the limit is 999" in only_finding(
        open_source(path, limits=Limits(total_bytes=999))
    )


def test_the_sum_of_a_tgz_is_limited_while_it_is_unpacked(tarred: Pack) -> None:
    path = tarred({f"d{number}.a2": os.urandom(MIB) for number in range(10)})
    assert len(open_source(path, limits=Limits(total_bytes=11 * MIB)).members) == 10
    assert only_finding(open_source(path, limits=Limits(total_bytes=9 * MIB))).startswith("SRC123")


def test_a_bomb_is_refused_and_a_small_run_of_one_byte_is_not(packed: Pack, codes: Codes) -> None:
    assert codes(open_source(packed({"d1.a2": bytes(1000_000)}))) == set()
    assert only_finding(open_source(packed({"d1.a2": bytes(50 * MIB)}))).startswith("SRC124")


@pytest.fixture
def lying(tmp_path: Path) -> str:
    """A zip archive whose member unpacks to 50 MiB, says 1,000 bytes, and has a true checksum."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d1.a2", bytes(50 * MIB))
    data = bytearray(stream.getvalue())
    struct.pack_into("<L", data, 22, 1000)
    struct.pack_into("<L", data, data.rindex(b"PK\1\2") + 24, 1000)
    path = tmp_path / "lying.zip"
    path.write_bytes(data)
    return str(path)


def test_no_more_is_unpacked_than_a_header_says(lying: str) -> None:
    (member,) = open_source(lying).members
    tracemalloc.start()
    with pytest.raises(Unreadable) as caught:
        member.fetch()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.finding.code == "SRC105"
    assert peak < MIB


def test_a_tgz_is_unpacked_in_little_memory(tarred: Pack) -> None:
    path = tarred({"d1.a2": os.urandom(20 * MIB)})
    tracemalloc.start()
    source = open_source(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(source.members) == 1
    assert peak < 8 * MIB


def test_a_gzip_file_of_countless_streams_ends(tmp_path: Path) -> None:
    path = tmp_path / "run1.tgz"
    path.write_bytes(gzip.compress(b"", mtime=0) * 1001)
    assert only_finding(open_source(str(path), limits=Limits(members=1000))).startswith("SRC105")


def test_a_list_of_members_that_is_too_long_to_hold_is_not_read(zipped: Pack) -> None:
    path = zipped({f"{'n' * 200}{number}": b"" for number in range(100)})
    assert only_finding(open_source(path, limits=Limits(members=10))).startswith("SRC121")


def test_a_tgz_of_tiny_members_has_fewer(tarred: Pack) -> None:
    path = tarred({f"d{number}.a2": b"" for number in range(12)})
    assert len(open_source(path, limits=Limits(tiny_members=12)).members) == 12
    assert "more than 11 members" in only_finding(open_source(path, limits=Limits(tiny_members=11)))
    enough = Limits(tiny_members=11, packed_bytes=1)
    assert len(open_source(path, limits=enough).members) == 12


def test_a_plain_file_is_limited_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "d1.a2"
    with path.open("wb") as file:
        file.truncate(LIMITS.file_bytes + 1)  # takes no room on the disk
    for source in (open_source(str(path)), open_source(str(tmp_path))):
        tracemalloc.start()
        with pytest.raises(Unreadable) as caught:
            source.members[0].fetch()
        assert tracemalloc.get_traced_memory()[1] < MIB
        tracemalloc.stop()
        assert caught.value.finding.code == "SRC125"
        assert str(LIMITS.file_bytes + 1) in caught.value.finding.message


@pytest.mark.parametrize("size", [9, 10, 11, 65535, 65536, 65537, 200_000])
def test_a_plain_file_is_read_up_to_its_limit(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    path = tmp_path / "d1.a2"
    path.write_bytes(data)
    (member,) = open_source(str(tmp_path), limits=Limits(file_bytes=size)).members
    assert member.fetch() == data
    (member,) = open_source(str(tmp_path), limits=Limits(file_bytes=size - 1)).members
    with pytest.raises(Unreadable, match=f"the limit is {size - 1}"):
        member.fetch()


def test_a_folder_is_limited_before_it_is_listed_to_its_end(tmp_path: Path) -> None:
    """Files, folders and links count, at any depth: `/` has no end."""
    for name in ("a", "b/c", "b/d"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "d1.a2").write_bytes(b"E1")
    (tmp_path / "loop").symlink_to("loop")
    assert len(open_source(str(tmp_path), limits=Limits(files=8)).members) == 3
    assert only_finding(open_source(str(tmp_path), limits=Limits(files=7))).startswith("SRC126")


@pytest.mark.parametrize("path", ["/dev/zero", "/proc/self/mem", "/proc/self/pagemap"])
def test_what_has_no_end_is_limited(path: str) -> None:
    if not os.path.lexists(path):
        pytest.skip(f"the system has no {path}")
    source = open_source(path, limits=Limits(growth=1_000_000))
    codes = [found.code for found in source.findings]
    for member in source.members:
        with pytest.raises(Unreadable) as caught:
            member.fetch()
        codes.append(caught.value.finding.code)
    assert len(codes) == 1
    assert codes[0] in {"SRC108", "SRC109", "SRC125"}


def test_standard_input_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bytes(11))))
    assert only_finding(open_source("-", limits=Limits(file_bytes=10))).startswith("SRC125")


def test_a_file_that_claims_to_be_empty_is_read_to_its_end() -> None:
    """The files of /proc have no size; reading them tells."""
    path = Path("/proc/self/maps")
    if not path.exists():
        pytest.skip("no /proc")
    (member,) = open_source(str(path)).members
    assert member.size == 0
    assert member.fetch().count(b"\n") > 10
