"""Sources at URLs: the members and findings of the same source on the disk."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

import hlteval
from hlteval.sources import LIMITS, Unreadable, open_source
from hlteval.sources import opening as module
from tests.unit.campaign.demo import run, unpacked

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def members(path):
    return [(each.name, each.fetch()) for each in open_source(path).members]


def test_a_folder_is_listed_and_read_file_by_file(memory, tmp_path):
    for name, data in (("d2.a2", b"E2"), ("sub/d1.a2", b"E1"), (".DS_Store", b"x")):
        memory.pipe(f"/runs/a/{name}", data)
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    for url in ("memory://runs/a", "memory://runs/a/"):
        there, here = open_source(url), open_source(str(tmp_path))
        assert (there.kind, members(url)) == ("folder", members(str(tmp_path)))
        assert [each.code for each in there.findings] == [each.code for each in here.findings]
    assert there.members[0].display == "memory://runs/a/d2.a2"


def test_files_and_archives_are_read(memory, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("d1.a2", "E1")
    memory.pipe("/runs/a.zip", (tmp_path / "a.zip").read_bytes())
    memory.pipe("/runs/b.zip", b"no archive")
    memory.pipe("/runs/run.tab", b"R")
    assert members("memory://runs/a.zip") == [("d1.a2", b"E1")]
    assert members("memory://runs/run.tab") == [("", b"R")]
    (found,) = open_source("memory://runs/b.zip").findings
    assert (found.code, found.file) == ("SRC101", "memory://runs/b.zip")


def test_what_is_absent_or_cannot_be_opened_is_an_error_of_usage(memory, monkeypatch):
    with pytest.raises(FileNotFoundError) as caught:
        open_source("memory://nothing")
    assert caught.value.filename == "memory://nothing"
    with pytest.raises(FileNotFoundError, match="nosuch://a cannot be opened: Protocol not known"):
        open_source("nosuch://a")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(FileNotFoundError, match=r"pip install 'hlteval\[cluster\]'"):
        open_source("memory://runs")


def test_files_that_fail_or_are_too_large_are_unreadable(memory, monkeypatch):
    memory.pipe("/runs/run.tab", b"R" * 100)
    monkeypatch.setattr(module, "CHUNK", 10)
    limits = LIMITS.__class__(file_bytes=50)
    (large,) = open_source("memory://runs/run.tab", limits=limits).members
    with pytest.raises(Unreadable) as caught:
        large.fetch()
    assert caught.value.finding.code == "SRC125"
    (gone,) = open_source("memory://runs").members
    memory.rm("/runs/run.tab")
    with pytest.raises(Unreadable) as caught:
        gone.fetch()
    assert caught.value.finding.code == "SRC108"


def test_a_campaign_scores_what_is_at_urls(memory, tmp_path):
    path = unpacked(tmp_path / "demo")
    for file in path.parent.rglob("*.a*"):
        memory.pipe(f"/{file.relative_to(path.parent)}", file.read_bytes())
    for file in path.parent.rglob("*.txt"):
        memory.pipe(f"/{file.relative_to(path.parent)}", file.read_bytes())
    cache = tmp_path / "cache"
    here = run(path, cache)
    text = path.read_text().replace('= "', '= "memory://').replace("memory://Demo", "Demo")
    path.write_text(text)
    there = run(path, cache)
    assert {row.cell.submission for row in there.rows if row.new} == {"absent"}
    columns = ["submission", "metric", "resample", "value", "status"]
    assert there.to_frame().select(columns).equals(here.to_frame().select(columns))
    files = {each["file"] for row in there.to_frame()["findings"] for each in row}
    assert "memory://flawed/demo-1.a2" in files
    assert Path(path).name in {Path(file).name for file in files}


def test_python_takes_urls(memory):
    line = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"
    memory.pipe("/runs/run.tab", line.encode())
    url = "memory://runs/run.tab"
    assert hlteval.score("lorehlt-edl", url, url).metrics["mention_ceaf.fscore"] == 1.0
