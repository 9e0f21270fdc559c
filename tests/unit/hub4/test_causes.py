"""The way in which extents are off is the one that explains most of them."""

from __future__ import annotations

import pytest

from hlteval.validators.hub4.extents import Span, causes_of

TEXT = "<DOC> the baker \U0001f35e and the bread \U0001f35e of Åsa won in Lyon </DOC>"


def off(word: str, shift: int) -> Span:
    at = TEXT.index(word)
    start, end = at + shift, at + len(word) + shift
    return Span(TEXT, 0, start, end, word, TEXT[start:end])


@pytest.mark.parametrize(
    ("shifts", "cause"),
    [
        ({"and": 1, "bread": 1, "the bread": 1}, "UTF-16 code units"),
        ({"and": 1, "bread": 1, "Åsa": 2, "won": 2, "Lyon": 2}, "UTF-16 code units"),
        ({"baker": 1, "and": 1, "bread": 1, "won": 1}, "1-based"),
        ({"and": 3, "bread": 3, "won": 7, "Lyon": 7}, "UTF-8 bytes"),
    ],
)
def test_units_are_not_taken_for_another_first_number(shifts: dict[str, int], cause: str) -> None:
    found, *_ = causes_of([off(word, shift) for word, shift in shifts.items()])
    assert cause in found.message
    assert ("count characters" in found.fix) is (cause != "1-based")
