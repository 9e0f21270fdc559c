"""Archives come out as they went in, or it is said why not; whatever happened to their bytes."""

from __future__ import annotations

import gzip
import io
import tarfile
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlteval.sources import Source, Unreadable, decode, open_source, writing
from hlteval.sources.names import is_archive, is_junk

Contents = dict[str, bytes]
WORDS = b"E1\tBinds_To Functional_Molecule:T1 Molecule:T2\n"
FIXED: Contents = {"out/d1.a2": WORDS * 20, "out/d2.a2": b"", "d3.a2": bytes(range(256)) * 3}
PARTS = st.text(st.characters(categories=["L", "Mn", "Nd", "Zs", "So"]), min_size=1, max_size=12)
NAMES = st.lists(PARTS, min_size=1, max_size=3).map("/".join).filter(lambda name: not is_junk(name))
CONTENTS = (
    st.binary(max_size=300) | st.binary(min_size=1, max_size=8).map(lambda data: data * 2_000)
).filter(lambda data: not is_archive(data))


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).lower()


def no_file_is_a_folder(contents: Contents) -> bool:
    return not any(f"{other}/" in name[: len(other) + 1] for name in contents for other in contents)


ARCHIVES = (
    st.lists(st.tuples(NAMES, CONTENTS), min_size=1, max_size=6, unique_by=lambda e: folded(e[0]))
    .map(dict)
    .filter(no_file_is_a_folder)
)
DAMAGE = st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 255)), max_size=3)
CUTS = st.none() | st.integers(0, 10_000)


def zipped(contents: Contents, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return stream.getvalue()


def stored(contents: Contents) -> bytes:
    return zipped(contents, zipfile.ZIP_STORED)


def tar(contents: Contents, form: int = tarfile.PAX_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for name, data in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def tarred(contents: Contents) -> bytes:
    return gzip.compress(tar(contents), mtime=0)


def gnu(contents: Contents) -> bytes:
    return gzip.compress(tar(contents, tarfile.GNU_FORMAT), mtime=0)


PACKED = {"stored.zip": stored, "deflated.zip": zipped, "pax.tgz": tarred, "gnu.tar.gz": gnu}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


def read(source: Source) -> tuple[Contents, set[str]]:
    contents, codes = {}, {finding.code for finding in source.findings}
    for member in source.members:
        try:
            contents[member.name] = member.fetch()
        except Unreadable as reason:
            codes.add(reason.finding.code)
    return contents, codes


def open_bytes(folder: Path, name: str, data: bytes) -> Source:
    with writing(folder / name) as unfinished:
        unfinished.write_bytes(data)
    return open_source(str(folder / name))


def damaged(data: bytes, damage: list[tuple[int, int]], cut: int | None) -> bytes:
    changed = bytearray(data)
    for place, bits in damage:
        changed[place % len(data)] ^= bits
    return bytes(changed[: None if cut is None else cut % (len(data) + 1)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PACKED)
@given(contents=ARCHIVES)
def test_contents_come_out_as_they_went_in(folder: Path, name: str, contents: Contents) -> None:
    found, codes = read(open_bytes(folder, name, PACKED[name](contents)))
    assert found == contents
    assert not codes


@pytest.mark.parametrize("name", PACKED)
@given(damage=DAMAGE, cut=CUTS)
def test_damage_is_told_or_does_no_harm(
    folder: Path, name: str, damage: list[tuple[int, int]], cut: int | None
) -> None:
    found, codes = read(open_bytes(folder, name, damaged(PACKED[name](FIXED), damage, cut)))
    assert found.items() <= FIXED.items()
    assert found == FIXED or codes


@given(damage=DAMAGE, cut=CUTS)
def test_a_hostile_tar_inside_a_sound_gzip_stream_is_no_surprise(
    folder: Path, damage: list[tuple[int, int]], cut: int | None
) -> None:
    """Where the checksum of gzip is true, those of tar cover its headers only, and are sums.

    One changed byte of a header is told; several may cancel out, and then a name is another.
    """
    data = gzip.compress(damaged(tar(FIXED), damage, cut), 1, mtime=0)
    found, codes = read(open_bytes(folder, "run1.tgz", data))
    assert len(found) <= len(FIXED)
    if len(damage) <= 1:
        assert found.keys() <= FIXED.keys()
        assert found.keys() == FIXED.keys() or codes or cut is not None


@given(
    data=st.binary(max_size=2000),
    head=st.sampled_from([b"PK\3\4", b"PK\5\6", b"\x1f\x8b\x08", b""]),
)
def test_any_bytes_are_read_or_refused(folder: Path, data: bytes, head: bytes) -> None:
    for name in ("run1.zip", "run1.tgz", "run1.txt"):
        source = open_bytes(folder, name, head + data)
        assert source.findings or name.endswith(".txt")
        read(source)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_text_is_decoded_as_it_was_encoded(text: str) -> None:
    decoded = decode(text.encode(), display="d1.txt")
    assert (decoded.text, decoded.findings) == (text, ())


@given(
    data=st.binary(max_size=200), encoding=st.sampled_from(["utf-8", "ascii", "utf-16", "gb18030"])
)
def test_any_bytes_are_text_or_have_one_finding(data: bytes, encoding: str) -> None:
    decoded = decode(data, display="d1.txt", encoding=encoding)
    assert len(decoded.findings) <= 1
    assert (decoded.text is None) == any(finding.blocking for finding in decoded.findings)


@given(before=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_the_place_of_a_wrong_byte_is_the_end_of_what_is_right(before: str) -> None:
    (finding,) = decode(before.encode() + b"\xff" + before.encode(), display="d1.txt").findings
    lines = before.split("\n")
    assert finding.span is not None
    assert (finding.span.line, finding.span.column) == (len(lines), len(lines[-1]) + 1)
    assert f"offset {len(before.encode())} " in finding.message
