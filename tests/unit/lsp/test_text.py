"""Texts, their changes, and positions in the units of clients."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.editor import edited
from hlteval.findings import Span
from hlteval.lsp.documents import Position, Range, Text, Units, column, key, split, units, uri

PIECES = ["a", "\t", "\n", "\r", "\r\n", "é", "e\u0301", "\U0001f600", "\u2028", "\x0b", "\ufeff"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
POSITIONS = st.builds(Position, st.integers(0, 6), st.integers(0, 6))


@given(TEXTS, st.lists(st.tuples(POSITIONS, POSITIONS, TEXTS), max_size=3))
def test_changes_make_the_text_of_the_client(
    text: str, changes: list[tuple[Position, Position, str]]
) -> None:
    ours = Text.of(text)
    for one, other, put in changes:
        start, end = sorted([one, other])
        place = {"start": start._asdict(), "end": end._asdict()}
        text = edited(text, [{"range": place, "newText": put}])
        ours = ours.with_change(Range(start, end), put)
        assert ours.content == text
        assert list(ours.lines) == split(text)


@given(TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_every_code_point_has_its_position(text: str, count: Units) -> None:
    ours = Text.of(text, count)
    begin = 0
    for number, line in enumerate(ours.lines):
        body = line.rstrip("\r\n")
        for at in range(len(body) + 1):
            position = ours.position(number, at)
            assert ours.inside(position) == (number, at)
        begin += len(line)
    assert begin == len(text)


@given(TEXTS)
def test_spans_of_findings_are_where_their_characters_are(text: str) -> None:
    ours = Text.of(text)
    shown = text.removeprefix("\ufeff")
    for number, line in enumerate(shown.split("\n"), start=1):
        for at, character in enumerate(line):
            if character == "\r":
                continue
            place = ours.range(Span(number, at + 1, at + 2))
            found, inside = ours.inside(place.start)
            assert ours.lines[found][inside] == character


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("\U0001f600\tb\n", Span(1, 3, 4), ((0, 3), (0, 4))),
        ("a\rb\nc", Span(1, 3, 4), ((1, 0), (1, 1))),
        ("a\rb\nc", Span(2, 1, 2), ((2, 0), (2, 1))),
        ("a\r\nb", Span(2, 1, 2), ((1, 0), (1, 1))),
        ("\ufeffab\n", Span(1, 1, 2), ((0, 1), (0, 2))),
        ("e\u0301x", Span(1, 3, 4), ((0, 2), (0, 3))),
        ("a\u2028b", Span(1, 3, 4), ((0, 2), (0, 3))),
        ("a\n", Span(1, 9, 12), ((0, 1), (0, 1))),
        ("a\n", Span(7, 1, 1), ((1, 0), (1, 0))),
        ("a\n", None, ((0, 0), (0, 0))),
    ],
)
def test_places_of_findings(text: str, span: Span | None, expected: object) -> None:
    assert Text.of(text).range(span) == expected


def test_halves_of_a_character_become_one() -> None:
    text = Text.of("\ud83d").with_change(Range(Position(0, 1), Position(0, 1)), "\ude00")
    assert text.content == "\U0001f600"


def test_positions_beyond_the_text_are_its_end() -> None:
    text = Text.of("ab\nc")
    assert text.inside(Position(9, 9)) == (1, 1)
    assert text.inside(Position(0, 9)) == (0, 2)
    assert text.inside(Position(-1, -1)) == (0, 0)
    assert column("\U0001f600", 1, "utf-16") == 0


def test_units_of_a_lone_surrogate_can_be_counted() -> None:
    assert [units("\ud800", count) for count in ("utf-8", "utf-16", "utf-32")] == [3, 1, 1]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("file:///a/b%20c.tab", "/a/b c.tab"),
        ("file:///a/%E6%9D%B1.tab", "/a/東.tab"),
        ("file:///a/%FF.tab", "/a/\udcff.tab"),
        ("file://localhost/a.tab", "/a.tab"),
        ("file:///a/../b.tab", "/b.tab"),
        ("file://server/a.tab", "file://server/a.tab"),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
        ("file:///a%00b", "file:///a%00b"),
        ("http://[", "http://["),
        ("", ""),
    ],
)
def test_keys_of_addresses(address: str, expected: str) -> None:
    assert key(address) == expected


@pytest.mark.parametrize("path", ["/a/b c.tab", "/a/東.tab", "/a/#?%.tab", "/a/\udcff.tab"])
def test_the_address_of_a_path_leads_to_it(path: str) -> None:
    assert key(uri(path)) == path
