"""Opening: what a path is, and standard input."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hlteval.sources import Source, open_source

Pack = Callable[[Mapping[str, bytes]], str]
Codes = Callable[[Source], set[str]]


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], Source]:
    def open_stdin(data: bytes) -> Source:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return open_source("-")

    return open_stdin


def test_a_file_is_a_source_with_one_member(tmp_path: Path) -> None:
    path = tmp_path / "d1.a2"
    path.write_bytes(b"E1")
    source = open_source(str(path))
    (member,) = source.members
    assert (source.kind, source.findings) == ("file", ())
    assert (member.name, member.display, member.basename) == ("", str(path), "d1.a2")
    assert (member.size, member.fetch(), member.fetch()) == (2, b"E1", b"E1")


@pytest.mark.parametrize("name", ["absent", "absent.zip", "d1.a2/absent", "d1.a2/absent.tgz"])
def test_a_path_that_leads_nowhere_is_an_exception(tmp_path: Path, name: str) -> None:
    (tmp_path / "d1.a2").write_bytes(b"")
    with pytest.raises(FileNotFoundError) as caught:
        open_source(str(tmp_path / name))
    assert caught.value.filename == str(tmp_path / name)


@pytest.mark.parametrize("name", ["pipe", "pipe.zip"])
def test_a_pipe_is_a_finding(tmp_path: Path, codes: Codes, name: str) -> None:
    os.mkfifo(tmp_path / name)
    assert codes(open_source(str(tmp_path / name))) == {"SRC109"}


def test_a_file_that_may_not_be_opened_is_a_finding(
    packed: Pack, codes: Codes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    path = packed({"d1.a2": b"E1"})
    monkeypatch.setattr(os, "open", refusing)
    assert codes(open_source(path)) == {"SRC108"}


def test_a_suffix_may_be_in_capitals(packed: Pack) -> None:
    path = Path(packed({"d1.a2": b"E1"}))
    path = path.rename(path.with_suffix(path.suffix.upper()))
    assert [member.name for member in open_source(str(path)).members] == ["d1.a2"]


def test_the_content_decides_which_archive_it_is(packed: Pack) -> None:
    path = Path(packed({"d1.a2": b"E1"}))
    other = path.rename(path.with_suffix(".tgz" if path.suffix == ".zip" else ".zip"))
    source = open_source(str(other))
    assert source.kind == path.suffix[1:]
    assert [member.fetch() for member in source.members] == [b"E1"]
    assert [finding.code for finding in source.findings] == ["SRC103"]


def test_a_folder_may_be_named_like_an_archive(tmp_path: Path) -> None:
    (tmp_path / "run1.zip").mkdir()
    (tmp_path / "run1.zip" / "d1.a2").write_bytes(b"E1")
    assert open_source(str(tmp_path / "run1.zip")).kind == "folder"


def test_standard_input_can_be_read_again(piped: Callable[[bytes], Source]) -> None:
    data = os.urandom(200_000)
    source = piped(data)
    (member,) = source.members
    assert (source.path, source.kind, source.findings) == ("-", "stdin", ())
    assert (member.name, member.display, member.size) == ("", "<stdin>", 200_000)
    assert member.fetch() == member.fetch() == data


def test_an_archive_on_standard_input_is_unpacked(
    packed: Pack, piped: Callable[[bytes], Source]
) -> None:
    path = Path(packed({"out/d1.a2": b"E1"}))
    source = piped(path.read_bytes())
    (member,) = source.members
    assert source.kind == path.suffix[1:]
    assert (member.name, member.display, member.fetch()) == (
        "out/d1.a2",
        "<stdin>/out/d1.a2",
        b"E1",
    )


def test_empty_standard_input_is_an_empty_file(piped: Callable[[bytes], Source]) -> None:
    (member,) = piped(b"").members
    assert member.fetch() == b""
