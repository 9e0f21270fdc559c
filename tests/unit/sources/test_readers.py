"""A file need not be in memory as a whole: it is read from any offset, within the same limits."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from hlteval.converters import load
from hlteval.converters.toolkit.source_files import head
from hlteval.sources import Limits, Unreadable, open_source
from hlteval.sources.opening import open_stream

HEADER = b'{"format":"hlteval-corpus","version":1}\n'
CONTENT = HEADER + b'{"table":"documents","row":0,"name":"d1"}\n'


def test_a_file_a_stream_and_a_member_are_read_from_any_offset(tmp_path: Path) -> None:
    path, archive = tmp_path / "c.jsonl", tmp_path / "c.zip"
    path.write_bytes(CONTENT)
    with ZipFile(archive, "w") as file:
        file.writestr("c.jsonl", CONTENT)
    for source in (open_source(str(path)), open_stream([CONTENT], "-"), open_source(str(archive))):
        (member,) = source.members
        assert member.fetch() == CONTENT
        assert member.reader()(2, 6) == b"format"
        assert member.reader()(len(CONTENT) - 2, 100) == b"}\n"
        (result,) = load("jsonl").read(source)
        assert result.corpus.documents["name"].to_list() == ["d1"]


def test_the_limit_holds_for_a_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(CONTENT)
    source = open_source(str(path), limits=Limits(file_bytes=len(CONTENT) - 1))
    with pytest.raises(Unreadable) as caught:
        source.members[0].reader()(0, 5)
    assert caught.value.finding.code == "SRC125"
    assert head(source) == ""


def test_a_file_that_is_gone_has_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(CONTENT)
    source = open_source(str(path))
    path.unlink()
    (result,) = load("jsonl").read(source)
    assert [found.code for found in result.findings] == ["SRC108"]
    assert result.corpus.documents.is_empty()
