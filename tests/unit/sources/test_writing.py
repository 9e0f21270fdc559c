"""Writing: complete or not at all, also when the process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

from hlteval.sources import open_source, writing

module = import_module("hlteval.sources.writing")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "scores.json"
    with writing(target) as unfinished:
        unfinished.write_text("new")
        assert not target.exists()
        assert unfinished.parent == tmp_path
        assert unfinished.name.startswith(".")
    assert target.read_text() == "new"
    assert names(tmp_path) == ["scores.json"]


def test_a_file_is_replaced_and_keeps_its_content_until_then(tmp_path: Path) -> None:
    target = tmp_path / "scores.json"
    target.write_text("old")
    with writing(target) as unfinished:
        unfinished.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    old, absent = tmp_path / "old.json", tmp_path / "absent"
    old.write_text("old")
    with pytest.raises(error), writing(old) as unfinished:
        unfinished.write_text("new")
        raise error
    with pytest.raises(error), writing(absent) as unfinished:
        (unfinished / "deep").mkdir(parents=True)
        (unfinished / "deep" / "file").write_text("new")
        raise error
    assert old.read_text() == "old"
    assert names(tmp_path) == ["old.json"]


@pytest.mark.parametrize("before", ["nothing", "an empty folder"])
def test_a_folder_appears_when_it_is_complete(tmp_path: Path, before: str) -> None:
    target = tmp_path / "corpus"
    if before != "nothing":
        target.mkdir()
    with writing(target) as unfinished:
        unfinished.mkdir()
        (unfinished / "d1.a2").write_text("E1")
        assert not list(target.glob("*"))
    assert names(target) == ["d1.a2"]
    assert names(tmp_path) == ["corpus"]


def test_a_folder_that_holds_something_is_replaced_only_if_asked(tmp_path: Path) -> None:
    target = tmp_path / "corpus"
    target.mkdir()
    (target / "old").write_text("old")
    with pytest.raises(FileExistsError), writing(target):
        raise AssertionError("refused before any work is done")
    with writing(target, replace=True) as unfinished:
        unfinished.mkdir()
        (unfinished / "new").write_text("new")
        assert names(target) == ["old"]
    assert names(target) == ["new"]
    assert names(tmp_path) == ["corpus"]


def test_a_folder_that_was_filled_meanwhile_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "corpus"
    target.mkdir()
    with pytest.raises(FileExistsError), writing(target) as unfinished:
        unfinished.write_text("new")
        (target / "other").write_text("kept")
    assert names(tmp_path) == ["corpus"]
    assert names(target) == ["other"]


@pytest.mark.parametrize("replace", [True, False])
def test_file_and_folder_may_take_each_others_place(tmp_path: Path, replace: bool) -> None:
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_text("old")
    folder.mkdir()
    with writing(file, replace=replace) as unfinished:
        unfinished.mkdir()
    with writing(folder, replace=replace) as unfinished:
        unfinished.write_text("new")
    assert file.is_dir()
    assert folder.read_text() == "new"
    assert names(tmp_path) == ["file", "folder"]


def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "corpus"
    target.mkdir()
    (target / "old").write_text("old")
    rename = Path.rename

    def failing(self: Path, to: Path) -> Path:
        if to == target and (self / "new").exists():
            raise OSError(5, "Input/output error")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", failing)
    monkeypatch.setattr(module, "_exchange", lambda *_: False)
    fails = pytest.raises(OSError, match="Input/output")
    with fails, writing(target, replace=True) as unfinished:
        unfinished.mkdir()
        (unfinished / "new").write_text("new")
    assert names(target) == ["old"]
    assert names(tmp_path) == ["corpus"]


@pytest.mark.parametrize("swapped", [True, False])
def test_a_folder_is_never_absent_where_names_can_be_exchanged(
    tmp_path: Path, swapped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where they cannot, the old one is beside it in the moment between two steps."""
    target, seen = tmp_path / "corpus", list[list[str]]()
    target.mkdir()
    (target / "old").write_text("old")
    remove, rename = module._remove, Path.rename

    def watched(path: Path) -> None:
        seen.append(names(target))
        remove(path)

    def renamed(self: Path, to: Path) -> Path:
        moved = rename(self, to)
        seen.append(names(tmp_path))
        return moved

    monkeypatch.setattr(module, "_remove", watched)
    monkeypatch.setattr(Path, "rename", renamed)
    if not swapped:
        monkeypatch.setattr(module, "_exchange", lambda *_: False)
    with writing(target, replace=True) as unfinished:
        unfinished.mkdir()
        (unfinished / "new").write_text("new")
    assert names(target) == ["new"]
    assert names(tmp_path) == ["corpus"]
    if swapped and sys.platform == "linux":
        assert seen == [["new"]]
    else:
        both_hidden, in_place, replaced = seen
        assert [name.startswith(".corpus.") for name in both_hidden] == [True, True]
        assert [name.startswith(".corpus.") for name in in_place] == [True, False]
        assert replaced == ["new"]


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "scores.json", tmp_path / "scores.json"
    real.write_text("old")
    link.symlink_to(real)
    with writing(link) as unfinished:
        unfinished.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_what_is_neither_file_nor_folder_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(FileExistsError), writing(target):
            raise AssertionError("refused before any work is done")


def test_a_missing_folder_and_missing_work_are_exceptions(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), writing(tmp_path / "absent" / "scores.json"):
        raise AssertionError("refused before any work is done")
    with pytest.raises(FileNotFoundError), writing(tmp_path / "scores.json"):
        pass
    assert names(tmp_path) == []


def test_names_as_long_as_a_system_takes(tmp_path: Path) -> None:
    for name in ("n" * 255, "東" * 85):
        with writing(tmp_path / name) as unfinished:
            unfinished.write_text("new")
    assert len(names(tmp_path)) == 2


KILLED = """
    import sys, time
    from pathlib import Path
    from hlteval.sources import writing
    with writing(Path(sys.argv[1]), replace=True) as unfinished:
        if sys.argv[2] == "file":
            unfinished.write_text("half of the")
        else:
            unfinished.mkdir()
            (unfinished / "d1.a2").write_text("half of the")
        print("written", flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("before", ["nothing", "something"])
def test_a_killed_process_leaves_nothing_under_the_name(
    tmp_path: Path, kind: str, before: str
) -> None:
    target = tmp_path / "result"
    if before == "something":
        target.write_text("old")
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(target), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert target.exists() == (before == "something")
    assert before == "nothing" or target.read_text() == "old"
    (rest,) = set(names(tmp_path)) - {"result"}
    assert rest.startswith(".")
    assert "SRC107" in {finding.code for finding in open_source(str(tmp_path)).findings}


def test_files_below_a_folder_are_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name in ("b/x.txt", "b.txt", "a", "b/a/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "folder").symlink_to("b")
    (tmp_path / "broken").symlink_to("nothing")
    sizes = [("a", 1), ("b/a/x", 5), ("b/x.txt", 7), ("b.txt", 5), ("link", 1)]
    assert list(module.files_below(tmp_path).items()) == sizes
