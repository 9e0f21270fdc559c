"""Invalid JSON: how much of the text is looked at for each of many errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hlteval.syntax import json_parser, json_text
from hlteval.syntax.json_text import broken_keywords, items

FRAME = '{"Type": "Shelter", "Other": "x"}'


@pytest.mark.parametrize(
    "fault", ['{"a": 1} /* , ', '{"a": "\\q"}, ', '{"a": "\\ud8"}, ', '{"a": 1, /* */ "b": 2}, ']
)
def test_of_each_error_only_its_surroundings_are_scanned(
    monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    seen: list[int] = []

    def watched(scan: Callable[..., Any]) -> Callable[..., Any]:
        def scanned(text: str, *arguments: Any) -> Any:
            seen.append(len(text))
            return scan(text, *arguments)

        return scanned

    monkeypatch.setattr(json_text, "_SCAN", watched(json_text._SCAN))
    monkeypatch.setattr(json_parser, "scanstring", watched(json_parser.scanstring))
    found = items(f"[{fault * 2_000}1]")
    assert sum(len(item.problems) for item in found.parsed) >= 1_999
    assert max(seen) <= json_text._WINDOW


def test_long_items_and_strings_are_read_whole() -> None:
    long = "x" * 3 * json_text._WINDOW
    found = items(f'[{{"a": "{long}"}}, {{"a": "\\u0041{long}", "b": [1]}}, {FRAME},]')
    assert [item.value["a"] for item in found.parsed[:2]] == [long, f"A{long}"]
    assert [problem.code for problem in found.problems] == ["JSN104"]
    assert all(item.complete for item in found.parsed)


@pytest.mark.parametrize("name", ["0", "01", "+1", "-1", "\0a", "a", "18446744073709551616"])
def test_names_that_are_numbers_are_no_indices(name: str) -> None:
    document = {"text": "a", "spans": {name: [{"end": 1}, {"start": 0, "end": 1}], "1": []}}
    broken = [(("spans", name, 0), "required")]
    assert broken_keywords("spacy-json", document) == broken
    assert broken_keywords("spacy-json", document, lists=["spans"]) == broken
