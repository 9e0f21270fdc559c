"""Spelling: a global map applied to words, as the filter of the speech evaluations does it.

A cursor moves over the text. Of the rules that fit at the cursor the first is applied, and the
cursor goes behind what it rewrote; contexts are looked for in the text as it was given, and what a
rule wrote is not looked at again. Where no rule fits, a character is copied, unless the map says
not to.

Conventions:
    Texts are words with a space between, in capitals, and a space at either end. Alternatives
    `{A / B}` that a rule writes are between marks, which are words of their own and occur in no
    text; `@` is an empty alternative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import NamedTuple

from hlteval.representation.global_map import GlobalMap, Rule

_KEY = 3
#: Marks of alternatives: code points that Unicode reserves for use inside programs.
BEGIN, OR, END = "\ufdd0", "\ufdd1", "\ufdd2"
#: How a global map writes each of these marks.
NOTATION = ((f"{BEGIN} ", "{"), (OR, "/"), (f" {END}", "}"))
#: What stands for these code points where a text has them.
MARKS = str.maketrans(dict.fromkeys((BEGIN, OR, END), "\ufffd"))
_WRITTEN = re.compile(r"\{([^{}]*)\}")
_MARKED = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
#: Most combinations of alternatives of one text that are looked at.
MOST = 4096


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
                marked = Rule(rule.source, _marked(rule.target), rule.left, rule.right)
                kept = marked if self.sensitive else Rule(*map(capitals, _parts(marked)))
                index.setdefault((kept.source + kept.right)[:_KEY], []).append((rank, kept))
        return index

    @property
    def changes(self) -> bool:
        """Whether there is a rule that could change more than the case."""
        return bool(self._index)

    def text(self, written: str) -> str:
        """A text in capitals with its spellings made the usual ones.

        Examples:
            >>> SpellingFilter(GlobalMap((Rule("GONNA", "GOING TO"),))).text("gonna go")
            'GOING TO GO'
        """
        return " ".join(word.text for word in self.words(written.translate(MARKS).split()))

    def words(self, written: Sequence[str]) -> list[Word]:
        """The words of a text with their spellings made the usual ones, each with its origin."""
        if not self.changes:
            return [Word(capitals(word), place, place) for place, word in enumerate(written)]
        text = f" {' '.join(written)} "
        origin = [place for place, word in enumerate(written) for _ in range(len(word) + 1)]
        origin = [0, *origin]  # a blank belongs to the word before it
        return list(_split(self._pieces(text if self.sensitive else capitals(text)), origin))

    def _pieces(self, text: str) -> Iterator[tuple[str, int, int]]:
        """What is written, with the stretch of the text that it is written for."""
        place, copies = 0, self.rules is None or self.rules.copy_no_hit
        while place < len(text):
            rule = self._fitting(text, place)
            end = place + (len(rule.source) if rule else 1)
            unmatched = text[place] if copies else ""
            yield capitals(rule.target if rule else unmatched), place, end
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


def _marked(target: str) -> str:
    """A target with its alternatives between marks; a single word in braces is not one."""
    return _WRITTEN.sub(lambda found: _between_marks(found[1].split("/")), target)


def _between_marks(members: Sequence[str]) -> str:
    bare = [member.strip() for member in members]
    bare = [item[1:-1] if item[:1] + item[-1:] == "[]" else item for item in bare]
    bare = ["" if item == "@" else item for item in bare]
    if len(bare) == 1:
        return bare[0]
    return f" {BEGIN} {f' {OR} '.join(bare)} {END} "


@lru_cache(maxsize=4096)
def variants(text: str) -> tuple[str, ...]:
    """All texts that one with alternatives may be; no more than `MOST`.

    Examples:
        >>> variants(SpellingFilter(GlobalMap((Rule("C", "{A / B}"),))).text("c d"))
        ('A D', 'B D')
    """
    if BEGIN not in text:
        return (text,)
    parts = _MARKED.split(text)  # what is between two marks is at the odd places
    members = (part.split(OR) if at % 2 else [part] for at, part in enumerate(parts))
    found = (" ".join("".join(chosen).split()) for chosen in product(*members))
    return tuple(dict.fromkeys(islice(found, MOST)))


def shown(text: str) -> str:
    """A text with its alternatives as a global map writes them.

    Examples:
        >>> shown(f"{BEGIN} A {OR} B {END} C")
        '{A / B} C'
    """
    for mark, written in NOTATION:
        text = text.replace(mark, written)
    return text


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
