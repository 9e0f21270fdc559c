"""Spelling: a global map applied to words, as the filter of the speech evaluations does it.

A cursor moves over the text. Of the rules that fit at the cursor the first is applied, and the
cursor goes behind what it rewrote; contexts are looked for in the text as it was given, and what a
rule wrote is not looked at again. Where no rule fits, a character is copied.

Conventions:
    Texts are words with a blank between, in capitals, and a blank at either end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from hlteval.representation.global_map import GlobalMap, Rule

_KEY = 3


class Word(NamedTuple):
    """A word after the filter: its text, and which of the given words it comes from."""

    text: str
    first: int
    last: int


class SpellingFilter:
    """A global map, ready to be applied.

    Args:
        rules: the map; None changes nothing but the case.

    Examples:
        >>> rules = GlobalMap((Rule("CEASEFIRE", "CEASE FIRE", " ", " "),))
        >>> SpellingFilter(rules).words(["A", "ceasefire"])
        [Word(text='A', first=0, last=0), Word(text='CEASE', first=1, last=1), \
Word(text='FIRE', first=1, last=1)]
    """

    def __init__(self, rules: GlobalMap | None) -> None:
        self.rules = rules
        self.sensitive = rules is not None and rules.case_sensitive

    @cached_property
    def _index(self) -> dict[str, list[tuple[int, Rule]]]:
        """The rules by what their text begins with, up to `_KEY` characters, with their ranks."""
        index: dict[str, list[tuple[int, Rule]]] = {}
        for rank, rule in enumerate(self.rules.rules if self.rules else ()):
            if rule.source:
                kept = rule if self.sensitive else Rule(*map(capitals, _parts(rule)))
                index.setdefault((kept.source + kept.right)[:_KEY], []).append((rank, kept))
        return index

    def text(self, written: str) -> str:
        """A text in capitals with its spellings made the usual ones.

        Examples:
            >>> SpellingFilter(GlobalMap((Rule("GONNA", "GOING TO"),))).text("gonna go")
            'GOING TO GO'
        """
        return " ".join(word.text for word in self.words(written.split()))

    def words(self, written: Sequence[str]) -> list[Word]:
        """The words of a text with their spellings made the usual ones, each with its origin."""
        if not self._index:
            return [Word(capitals(word), place, place) for place, word in enumerate(written)]
        text = f" {' '.join(written)} "
        origin = [place for place, word in enumerate(written) for _ in range(len(word) + 1)]
        origin = [0, *origin]  # a blank belongs to the word before it
        return list(_split(self._pieces(text if self.sensitive else capitals(text)), origin))

    def _pieces(self, text: str) -> Iterator[tuple[str, int, int]]:
        """What is written, with the stretch of the text that it is written for."""
        place = 0
        while place < len(text):
            rule = self._fitting(text, place)
            end = place + (len(rule.source) if rule else 1)
            yield capitals(rule.target if rule else text[place]), place, end
            place = end

    def _fitting(self, text: str, place: int) -> Rule | None:
        found: list[tuple[int, Rule]] = []
        for size in range(1, _KEY + 1):
            found += self._index.get(text[place : place + size], ())
        for _, rule in sorted(found, key=lambda one: one[0]) if len(found) > 1 else found:
            before = place - len(rule.left)
            if before >= 0 and text.startswith(rule.left + rule.source + rule.right, before):
                return rule
        return None


def capitals(text: str) -> str:
    """A text in capitals, as many characters as before.

    Examples:
        >>> capitals("straße")
        'STRAßE'
    """
    if text.isascii():
        return text.upper()
    return "".join(big if len(big := item.upper()) == 1 else item for item in text)


def _parts(rule: Rule) -> tuple[str, str, str, str]:
    return rule.source, rule.target, rule.left, rule.right


def _split(pieces: Iterator[tuple[str, int, int]], origin: list[int]) -> Iterator[Word]:
    """The words of what was written, each with the first and last word it comes from."""
    text, first, last = "", 0, 0
    for written, start, end in pieces:
        for character in written:
            if character == " ":
                if text:
                    yield Word(text, first, last)
                text = ""
                continue
            if not text:
                first = origin[min(start, len(origin) - 1)]
            text += character
            last = origin[min(end - 1, len(origin) - 1)]
    if text:
        yield Word(text, first, last)
