"""Folders: what is listed, what is passed over, and that nothing ever waits."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from hlteval.sources import Source, Unreadable, open_source

Codes = Callable[[Source], set[str]]


def test_a_folder_is_listed_with_all_below_it(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "d1.a2").write_bytes(b"E1")
    (tmp_path / "b" / "d2.a2").write_bytes(b"E2")
    (tmp_path / "a.a2").write_bytes(b"")
    (tmp_path / "run.zip").write_bytes(b"any")
    source = open_source(f"{tmp_path}/")
    names = ["a.a2", "b/c/d1.a2", "b/d2.a2", "run.zip"]
    assert [member.name for member in source.members] == names
    assert [member.display for member in source.members] == [f"{tmp_path}/{name}" for name in names]
    assert [member.fetch() for member in source.members] == [b"", b"E1", b"E2", b"any"]
    assert (source.kind, source.findings) == ("folder", ())


def test_what_is_hidden_is_passed_over_with_one_warning(tmp_path: Path) -> None:
    for name in (".DS_Store", "._d1.a2", "Thumbs.db", "d1.a2"):
        (tmp_path / name).write_bytes(b"")
    for folder in (".git", "__MACOSX"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "d2.a2").write_bytes(b"")
    source = open_source(str(tmp_path))
    assert [member.name for member in source.members] == ["d1.a2"]
    (finding,) = source.findings
    assert (finding.code, finding.file) == ("SRC107", str(tmp_path))
    assert finding.message.startswith(
        "ignored 5 hidden or system files: .DS_Store, ._d1.a2, .git, ..."
    )


def test_links_to_files_are_followed_and_links_to_folders_are_not(tmp_path: Path) -> None:
    (tmp_path / "d1.a2").write_bytes(b"E1")
    (tmp_path / "d2.a2").symlink_to("d1.a2")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    source = open_source(str(tmp_path))
    assert {member.name: member.fetch() for member in source.members} == {
        "d1.a2": b"E1",
        "d2.a2": b"E1",
    }
    assert [(finding.code, finding.file) for finding in source.findings] == [
        ("SRC110", f"{tmp_path}/again")
    ]


def test_what_is_no_file_is_told_and_never_opened(tmp_path: Path) -> None:
    (tmp_path / "d1.a2").write_bytes(b"E1")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nowhere").symlink_to("absent")
    (tmp_path / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        source = open_source(str(tmp_path))
    assert [member.name for member in source.members] == ["d1.a2"]
    assert {finding.code for finding in source.findings} == {"SRC109"}
    told = {Path(finding.file or "").name: finding.message for finding in source.findings}
    assert told.keys() == {"pipe", "nowhere", "circle", "socket"}
    assert "pipe instead of a file" in told["pipe"]
    assert "broken link" in told["nowhere"]


def test_a_pipe_in_the_place_of_a_file_does_not_make_reading_wait(tmp_path: Path) -> None:
    path = tmp_path / "d1.a2"
    path.write_bytes(b"E1")
    (member,) = open_source(str(tmp_path)).members
    path.unlink()
    os.mkfifo(path)
    assert member.fetch() == b""


def test_a_file_that_vanishes_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "d1.a2"
    path.write_bytes(b"E1")
    (member,) = open_source(str(tmp_path)).members
    path.unlink()
    with pytest.raises(Unreadable, match="No such file") as caught:
        member.fetch()
    assert (caught.value.finding.code, caught.value.finding.file) == ("SRC108", str(path))
    path.mkdir()
    with pytest.raises(Unreadable, match="directory"):
        member.fetch()


def test_a_folder_that_cannot_be_listed_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d1.a2").write_bytes(b"E1")
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def refusing(path: str) -> object:
        if "closed" in path:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    source = open_source(str(tmp_path))
    assert [member.name for member in source.members] == ["d1.a2"]
    assert [(finding.code, finding.file) for finding in source.findings] == [
        ("SRC108", f"{tmp_path}/closed")
    ]


def test_a_name_that_is_no_text_is_told_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "d1.a2").write_bytes(b"E1")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe9.a2")).write_bytes(b"E2")
    source = open_source(str(tmp_path))
    assert [member.name for member in source.members] == ["d1.a2"]
    (finding,) = source.findings
    assert finding.code == "SRC117"
    assert finding.message.encode().endswith(b"d\\xe9.a2 is not valid UTF-8")


@pytest.mark.parametrize("name", [b"d\xe9.a2", b"d\xe9.zip", b"d\xe9"])
def test_a_path_that_is_not_text_is_reported_and_not_read(tmp_path: Path, name: bytes) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    path.write_bytes(b"E1") if path.suffix else path.mkdir()
    source = open_source(str(path))
    assert source.members == ()
    (finding,) = source.findings
    assert (finding.code, finding.blocking) == ("SRC117", True)
    assert finding.file == source.path == str(path).replace("\udce9", "\\xe9")


def test_an_empty_folder_is_a_finding(tmp_path: Path, codes: Codes) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert codes(open_source(str(tmp_path))) == {"SRC104"}


def test_folders_in_folders_in_folders(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 500)
    deep.mkdir(parents=True)
    (deep / "d1.a2").write_bytes(b"E1")
    (member,) = open_source(str(tmp_path)).members
    assert member.fetch() == b"E1"


def test_a_folder_of_links_to_folders_only_cannot_be_read(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "d1.a2").write_bytes(b"")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "real").symlink_to(tmp_path / "real")
    source = open_source(str(tmp_path / "links"))
    assert [(item.code, item.severity, item.blocking) for item in source.findings] == [
        ("SRC110", "error", True)
    ]
    beside = open_source(str(tmp_path))  # a file is read, too
    assert [(item.code, item.severity, item.blocking) for item in beside.findings] == [
        ("SRC110", "warning", False)
    ]
