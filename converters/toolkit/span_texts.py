"""Texts of spans that are not what is at their offsets, and the units that explain it."""

from functools import lru_cache
from typing import NamedTuple

from hlteval.converters.toolkit.offsets import CHARACTERS, COUNTINGS, UnitText
from hlteval.syntax.places import Path

#: The names of units in messages.
UNIT_NAMES = {CHARACTERS: "characters"} | {
    unit: COUNTINGS[unit].called for unit in ("bytes", "utf-16", "graphemes")
}
_SPACE = str.maketrans("\r\n\t", "   ")
#: Characters of a text that is searched for elsewhere.
_LONGEST = 300


class Mismatch(NamedTuple):
    """A span whose text is not what is at its offsets.

    Attributes:
        document: the index of its document in the file.
        path: the path to it.
        text: the text of the document.
        start: where it starts, as written.
        end: where it ends.
        given: its text.
        there: the text at its offsets.
        units: other units in which its offsets match.
    """

    document: int
    path: Path
    text: str
    start: int
    end: int
    given: str
    there: str
    units: frozenset[str]

    def values(self) -> dict[str, object]:
        """The values of the message about it."""
        return {"given": self.given[:40], "actual": self.there[:40], "hint": self.hint}

    @property
    def hint(self) -> str:
        """A hint where the text is instead."""
        units = [UNIT_NAMES[unit] for unit in UNIT_NAMES if unit in self.units]
        also = f"; the offsets match if they count {units[0]}" if units else ""
        if not self.given or len(self.given) > _LONGEST:
            return f"count offsets from the start of the text{also}"
        before = self.text.rfind(self.given, 0, self.start + len(self.given))
        places = [at for at in (before, self.text.find(self.given, self.start)) if at >= 0]
        if not places:
            return f"check the text; it does not contain this{also}"
        nearest = min(places, key=lambda place: abs(place - self.start))
        return f"use {nearest} to {nearest + len(self.given)}{also}"


def matching_units(text: str, start: int, end: int, given: str) -> frozenset[str]:
    r"""The units in which a span has a text.

    Examples:
        >>> sorted(matching_units("\u00d6, Osh", 4, 7, "Osh"))
        ['bytes']
    """
    if text.isascii():
        return frozenset()
    units = {CHARACTERS} if text[start:end] == given else set[str]()
    for unit in UNIT_NAMES.keys() - {CHARACTERS}:
        character = _unit_text(text, unit).character
        if text[character(start) : character(end)] == given:
            units.add(unit)
    return frozenset(units)


_unit_text = lru_cache(maxsize=4)(UnitText)


def is_text_of(given: str, there: str) -> bool:
    r"""Whether a text is what is at a place, but for spaces at its ends and escaped line breaks.

    Examples:
        >>> is_text_of("a\\nb", "a\nb "), is_text_of("a", "b")
        (True, False)
    """
    if given == there:
        return True
    plain = (part.replace("\\n", "\n").translate(_SPACE).strip(" ") for part in (given, there))
    return next(plain) == next(plain)
