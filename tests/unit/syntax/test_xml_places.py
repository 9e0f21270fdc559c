"""Places in XML: tags and the values of their attributes, however long they are."""

from __future__ import annotations

import re

import pytest

from hlteval.syntax import xml_places
from hlteval.syntax.xml_places import Lines


class _Searches:
    """A pattern that counts the characters in which it searches."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.characters = 0

    def finditer(self, text: str, start: int, end: int):
        self.characters += end - start
        return self.pattern.finditer(text, start, end)


def test_the_name_of_a_tag_is_not_searched_for_attributes(monkeypatch):
    searches = _Searches(xml_places._ATTRIBUTE)
    monkeypatch.setattr(xml_places, "_ATTRIBUTE", searches)
    name, attributes = "tion" * 1_000, """ id="T1" b='2'/"""
    found = Lines(f"<a/><{name}{attributes}>").tag(1, 5)
    assert searches.characters == len(f"{attributes}>")
    spans = {field: found.written[start:end] for field, (start, end) in found.spans.items()}
    assert spans == {"": f"<{name}{attributes}>", "text": "", "id": "T1", "b": "2"}


@pytest.mark.parametrize("tag", ["<a>", "<a >", "<a/>", '<a b="1" />', "<a\nb='<'\n>"])
def test_tags_are_found_as_written(tag):
    assert Lines(f"{tag}x").tag(1, 1).spans[""] == (0, len(tag))
