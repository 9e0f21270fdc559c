"""Fields of lines are located alike in small files and in large ones, which are split in parts."""

from __future__ import annotations

import pytest

from hlteval.converters.toolkit import source_files
from hlteval.findings import FieldRef


@pytest.mark.parametrize("text", ["", "\n", "a", "a\n", "a\r\nb", "a\n\nb\n", "\r\n\r", "a\rb\n\n"])
def test_lines_are_found_alike_in_small_and_large_files(text, monkeypatch):
    places = [FieldRef(record) for record in (3, 0, 1, 2, 5, 1, 4)]
    small = source_files.locate_in_text(text, places)
    monkeypatch.setattr(source_files, "SLICE", 0)
    assert source_files.locate_in_text(text, places) == small
    lines = text.split("\n")
    shown = [found and found.excerpt.text for found in small]
    assert shown == [
        lines[place.record - 1].removesuffix("\r") if 1 <= place.record <= len(lines) else None
        for place in places
    ]
