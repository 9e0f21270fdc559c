"""What zip and tgz archives have in common: members, names, limits, and no traces left."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hlteval.findings import catalogue
from hlteval.sources import Limits, Source, open_source

Pack = Callable[[Mapping[str, bytes]], str]
Codes = Callable[[Source], set[str]]


def test_members_are_sorted_and_can_be_read_again(packed: Pack) -> None:
    path = packed({"out/d2.a2": b"E2", "d1.a2": b"", "./out/d10.a2": bytes(100_000)})
    source = open_source(path)
    assert [member.name for member in source.members] == ["d1.a2", "out/d10.a2", "out/d2.a2"]
    assert [member.size for member in source.members] == [0, 100_000, 2]
    assert [member.fetch() for member in source.members] == [b"", bytes(100_000), b"E2"]
    assert source.members[2].fetch() == b"E2"
    assert source.members[2].display == f"{path}/out/d2.a2"
    assert source.members[2].basename == "d2.a2"
    assert source.kind == Path(path).suffix[1:]
    assert not source.findings


def test_names_of_all_scripts_are_kept(packed: Pack) -> None:
    names = {"東京/ملف.a2": b"1", "d e (2).a2": b"2", "de\u0301.a2": b"3", "𐎀.a2": b"4"}
    source = open_source(packed(names))
    assert {member.name: member.fetch() for member in source.members} == names
    assert not source.findings


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../d1.a2", "SRC111"),
        ("out/../../d1.a2", "SRC111"),
        ("out/..", "SRC111"),
        ("/d1.a2", "SRC111"),
        ("//server/d1.a2", "SRC111"),
        ("c:/d1.a2", "SRC111"),
        ("out\\d1.a2", "SRC111"),
        ("d1\n.a2", "SRC111"),
        ("d1\x7f.a2", "SRC111"),
        ("d1\x85.a2", "SRC111"),
        (".", "SRC111"),
        ("__MACOSX/../../d1.a2", "SRC111"),
        ("D0.A2", "SRC114"),
        ("./d0.a2", "SRC113"),
        ("d0.a2/d1.a2", "SRC114"),
        ("more.tar", "SRC116"),
        ("more.ZIP", "SRC116"),
        ("out/.hidden", "SRC107"),
        ("Thumbs.db", "SRC107"),
        ("a/__MACOSX/d1.a2", "SRC107"),
        ("PaxHeaders.12/d1.a2", "SRC107"),
    ],
)
def test_a_name_is_judged(packed: Pack, codes: Codes, name: str, code: str) -> None:
    source = open_source(packed({"d0.a2": b"E1", name: b"E1"}))
    assert code in codes(source)
    assert not source.members or code in {"SRC107", "SRC116"}
    assert [member.name for member in source.members] == ["d0.a2"][: len(source.members)]


@pytest.mark.parametrize("name", ["a..b.a2", "a./b.a2", "...a2", "C/d:1.a2", "co-zip", "x.zipped"])
def test_a_harmless_name_is_not_refused(packed: Pack, codes: Codes, name: str) -> None:
    found = codes(open_source(packed({"d0.a2": b"E1", name: b"E1"})))
    assert found <= {"SRC107"}
    assert found == set() or name.startswith(".")


def test_every_fault_of_a_list_is_told(packed: Pack) -> None:
    names = {"../a": b"", "/b": b"", "c\\d": b"", "e": b"", "E": b"", "f.zip": b""}
    source = open_source(packed(names))
    found = [finding.code for finding in source.findings]
    assert found == ["SRC111", "SRC111", "SRC111", "SRC116", "SRC114"]
    assert not source.members


def test_invisible_characters_never_reach_a_message(packed: Pack) -> None:
    source = open_source(packed({"a\x1b[2J\u202e.a2": b"", "b\u202e.a2": b""}))
    (finding,) = source.findings
    assert "a\\x1b[2J\\u202e.a2" in finding.message


def test_an_archive_inside_is_known_by_its_content(packed: Pack, codes: Codes) -> None:
    inner = Path(packed({"d1.a2": b"E1"})).read_bytes()
    source = open_source(packed({"inner.dat": inner, "d2.a2": b"E2"}))
    assert not source.findings
    assert codes(source) == {"SRC116"}


def open_files() -> set[tuple[str, str]]:
    found = set()
    for number in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was the folder itself
            found.add((number.name, str(number.readlink())))
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts the open files of Linux")
def test_files_are_closed_when_the_source_is_gone(packed: Pack) -> None:
    path = packed({"d1.a2": b"E1"})
    before = open_files()
    source = open_source(path)
    member = source.members[0]
    del source
    assert member.fetch() == b"E1"  # one member is enough to keep the archive open
    opened = open_files() - before
    assert opened
    del member
    gc.collect()
    assert not opened & open_files()


def test_nothing_is_unpacked_beside_the_archive(packed: Pack, tmp_path: Path) -> None:
    for member in open_source(packed({"out/d1.a2": b"E1"})).members:
        member.fetch()
    assert len(list(tmp_path.iterdir())) == 1


def test_what_refuses_an_archive_is_blocking() -> None:
    refused = {
        code for code, entry in catalogue().items() if "the archive is rejected" in entry.message
    }
    assert refused
    assert all(catalogue()[code].blocking for code in refused)


def test_folders_count_as_members_and_hold_nothing(packed: Pack, codes: Codes) -> None:
    source = open_source(packed({"a/b/d1.a2": b"E1"}), limits=Limits(members=1))
    assert codes(source) == set()
