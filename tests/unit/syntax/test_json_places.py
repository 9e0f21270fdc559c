"""Where findings about JSON are: inside their file, whatever comes after the last value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.syntax.json_parser import parse
from hlteval.syntax.json_text import Layout, broken_keywords, items
from tests.effort import tries

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


@pytest.mark.parametrize("text", ["\n", " \n\n", "/* none */\n", "[\n\n", '[{"a": 1},\n'])
def test_what_ends_too_early_ends_after_its_last_character(text: str) -> None:
    found = items(text)
    problems = [*found.problems, *(problem for item in found.parsed for problem in item.problems)]
    early = [problem for problem in problems if problem.code == "JSN115"]
    assert [problem.start for problem in early] == [len(text.rstrip())]


@settings(max_examples=tries(40))
@given(VALUES, st.sampled_from((None, 1)))
def test_a_layout_has_the_places_that_the_parser_finds(value: Any, indent: int | None) -> None:
    text = f" {json.dumps(value, indent=indent)} "
    layout, parsed = Layout(text, 1), parse(text, 1)
    assert {path: layout.stretch(path) for path in parsed.values} == dict(parsed.values)
    assert layout.stretch(("nowhere", 0)) is None


def test_a_layout_of_what_is_not_valid_json_is_that_of_the_parser() -> None:
    text = "[{'a': 1}, {b: 2}]"
    assert Layout(text, 0).stretch((0, "a")) == parse(text, 0).values[0, "a"] == (7, 8)


def test_what_a_list_holds_twice_breaks_the_schema_twice() -> None:
    frame = {"DocumentID": "d", "SEC": [{}, {"Sentiment": 1}, {}, {"Sentiment": 9}, {}]}
    once = broken_keywords("lorehlt-sf", frame, "plan-frame")
    assert sorted(broken_keywords("lorehlt-sf", frame, "plan-frame", ["SEC"])) == sorted(once)
    tracks = {"tracks": [{"relations": [{}, 1, {}]}, 1, {"relations": [{}, 1, {}]}, 1]}
    lists = ("tracks", "relations")
    once = broken_keywords("pubannotation", tracks)
    assert sorted(broken_keywords("pubannotation", tracks, lists=lists), key=str) == sorted(
        once, key=str
    )
    assert len(once) == 8
