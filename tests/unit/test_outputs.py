"""The outputs of all commands, which `house.outputs` writes to compare two checkouts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hlteval import converters, tasks
from house import outputs


def test_every_task_and_every_readable_format_of_the_demonstration_is_run() -> None:
    found = {name for name in tasks.BUILTIN if outputs.inputs(name)}
    covered = {*found, *_named(outputs.TABLES["commands"]["standard"])}
    assert set(tasks.BUILTIN) <= covered
    assert set(outputs.TABLES["inputs"]) <= set(converters.known())


def _named(lines: list[str]) -> set[str]:
    return {words[1] for words in map(str.split, lines) if len(words) > 1}


def test_a_case_records_exit_code_both_streams_and_files_without_what_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.list").write_text("D1\n")
    text = outputs.record([["convert", "one.list", "out/x.jsonl"], ["convert"]], tmp_path)
    assert text.count("$ hlteval convert") == 2
    assert "exit code 0\n" in text
    assert "exit code 2\n" in text
    assert "--- out/x.jsonl\n" in text
    assert str(tmp_path) not in text


def test_the_cases_of_a_group_have_files_of_their_own() -> None:
    before = dict(os.environ)
    names = [outputs.file_name(case) for case in outputs.cases("lorehlt-edl")]
    assert len(set(names)) == len(names) > 50
    assert dict(os.environ) == before
