"""Where findings about JSON are: inside their file, whatever comes after the last value."""

from __future__ import annotations

import pytest

from hlteval.syntax.json_text import items


@pytest.mark.parametrize("text", ["\n", " \n\n", "/* none */\n", "[\n\n", '[{"a": 1},\n'])
def test_what_ends_too_early_ends_after_its_last_character(text: str) -> None:
    found = items(text)
    problems = [*found.problems, *(problem for item in found.parsed for problem in item.problems)]
    early = [problem for problem in problems if problem.code == "JSN115"]
    assert [problem.start for problem in early] == [len(text.rstrip())]
