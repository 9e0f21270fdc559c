"""Texts of spans that are not what is at their offsets, and the units that explain it.

Line breaks count as spaces; spaces at either end are often lost, by tools and by formats that have
none there. The parts of a discontinuous span may be joined with or without a space or dots, or be
followed from the first to the last.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from hlteval.converters.toolkit.offsets import CHARACTERS, COUNTINGS, UnitText, likeliest

#: Characters from the start of a passage, instead of the document that has it.
PASSAGES = "passages"
#: The names of units in messages.
_UNITS = ("bytes", "utf-16", "graphemes")
UNIT_NAMES = {
    CHARACTERS: "characters",
    **{unit: COUNTINGS[unit].called for unit in _UNITS},
    PASSAGES: "characters from the start of each passage",
}
_JOINTS = (" ", "", "...", " ... ", "…", " … ")
_SPACE = str.maketrans("\r\n\t", "   ")
#: Characters of a text that is searched for elsewhere, and in how many on either side.
_LONGEST, _NEAR = 300, 50_000
#: Characters by which what is at a place may exceed twice its text.
_MORE = 300
#: Characters of a text whose grapheme clusters are found.
_MOST = 1_000_000
#: Mismatches after which the unit of the offsets is decided, and the share that must fit in it.
_ENOUGH, _SHARE = 10_000, 0.9
#: Units of offsets, the likeliest first; and spans that are not clean.
_LIKELY, _FEWEST = (CHARACTERS, "utf-16", "graphemes", "bytes"), 2
#: The sign that joins emoji; signs in clusters of emoji, and of letters with marks.
_JOINER, _MARKS = "\u200d", "\u0300-\u036f\u200d\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff"
_CLUSTERS, _NOT_ASCII = re.compile(f"[{_MARKS}]"), re.compile("[^\x00-\x7f]")
_WIDE = re.compile(f"\r\n|[{_MARKS}\U00010000-\U0010ffff]")


class TextWindow(NamedTuple):
    """The text of a passage, sentence or document, and the offset at which it starts."""

    text: str
    start: int

    def pieces(self, spans: Sequence[tuple[int, int]]) -> list[str]:
        """The texts at some places."""
        return [self.text[max(0, a - self.start) : max(0, b - self.start)] for a, b in spans]

    def has(self, spans: Sequence[tuple[int, int]], text: str) -> bool:
        """Whether a text is what is at some places; spaces at its ends may be lost.

        Examples:
            >>> TextWindow("liver and lung cancer", 10).has([(10, 15), (25, 31)], "liver cancer")
            True
        """
        first, last = min(spans)[0], max(end for _, end in spans)
        if first < self.start or (len(spans) == 1 and last - first > _MORE + 2 * len(text)):
            return False  # what is much longer is not compared
        pieces = self.pieces(spans)
        if len(spans) > 1:
            whole = self.text[first - self.start : last - self.start]
            pieces = [*(joint.join(pieces) for joint in _JOINTS), whole]
        plain = text.translate(_SPACE).strip(" ")
        return any(piece.translate(_SPACE).strip(" ") == plain for piece in pieces)

    def mismatch(self, place: object, spans: Sequence[tuple[int, int]], text: str) -> "Mismatch":
        """A text that is not what is at some places, with the units in which it is."""
        return Mismatch(place, self, spans, text, matching_units(self, spans, text))


class WordEdges:
    """The spans of a file that have no text, whose offsets show by words which unit they count.

    Counted are spans after a character that has several units, or a line end of two characters.

    Attributes:
        count: how many there are.
        wrong: how many of these cut words, or have spaces at their ends.
        clean: how many of those do not if their offsets count another unit, by its setting.
        first: where the first of these is.
    """

    def __init__(self) -> None:
        self.count, self.wrong, self.clean = 0, 0, Counter[str]()
        self.first: Any = None
        self._text, self._begin, self._units = "", 0, dict[str, UnitText]()

    def add(self, place: Any, text: str, span: tuple[int, int], own: tuple[int, int]) -> None:
        """Take a span.

        Args:
            place: where it is, for the report.
            text: the text of the document.
            span: its offsets as written.
            own: its place as read.
        """
        if text is not self._text:
            plain = text.isascii() and "\r\n" not in text
            wide = None if plain else _WIDE.search(text) or _NOT_ASCII.search(text)
            self._text, self._begin, self._units = text, wide.start() if wide else -1, {}
        if self._begin < 0 or own[1] <= self._begin:
            return
        self.count += 1
        if _is_clean(text, *own):
            return
        self.wrong += 1
        self.first = self.first or place
        if not self._units:
            units = ["bytes", "utf-16", *(["graphemes"] if len(text) <= _MOST else [])]
            self._units = {unit: UnitText(text, unit) for unit in units}
        there = {CHARACTERS: span} | {
            unit: (places.character(span[0]), places.character(span[1]))
            for unit, places in self._units.items()
        }
        self.clean.update(unit for unit, at in there.items() if _is_clean(text, *at))

    @property
    def unit(self) -> str:
        """The unit in which nearly all spans are clean if most are not as read; else empty."""
        if self.wrong < max(_FEWEST, self.count / 2):
            return ""
        counts = ((unit, self.clean[unit]) for unit in _LIKELY)
        return likeliest(counts, self.wrong, _SHARE * self.wrong)[0]


def _is_clean(text: str, start: int, end: int) -> bool:
    """Whether a span cuts neither words nor clusters, and has no space at its ends."""
    if not 0 <= start < end <= len(text) or text[start].isspace() or text[end - 1].isspace():
        return False
    edges = ((text[at - 1], text[at]) for at in (start, end) if 0 < at < len(text))
    cuts = ((a.isalnum() and b.isalnum()) or a == _JOINER or _CLUSTERS.match(b) for a, b in edges)
    return not any(cuts)


class Mismatch(NamedTuple):
    """A span whose text is not what is at its offsets.

    Attributes:
        place: where it is, for the report.
        window: the text that holds it.
        spans: the start and end of each of its parts.
        given: its text.
        units: other units in which its offsets match.
    """

    place: Any
    window: TextWindow
    spans: Sequence[tuple[int, int]]
    given: str
    units: frozenset[str]

    @property
    def also(self) -> str:
        """The end of a hint: the unit that explains it."""
        named = [name for unit, name in UNIT_NAMES.items() if unit in self.units]
        return f"; the offsets match if they count {named[0]}" if named else ""

    @property
    def is_short(self) -> bool:
        """Whether its text is short enough to be searched for."""
        return 0 < len(self.given) <= _LONGEST

    def nearest(self) -> int | None:
        """The offset nearest to its start at which its text is; None if it is not near.

        Examples:
            >>> window = TextWindow("Osh, Naryn, Osh", 10)
            >>> Mismatch(None, window, [(20, 23)], "Osh", frozenset()).nearest()
            22
        """
        text, begin = self.window
        first = self.spans[0][0]
        low = max(0, first - begin - _NEAR)
        near = text[low : max(0, first - begin) + _NEAR]
        middle = max(0, first - begin - low)
        before = near.rfind(self.given, 0, middle + len(self.given))
        places = [at + low + begin for at in (before, near.find(self.given, middle)) if at >= 0]
        return min(places, key=lambda place: abs(place - first), default=None)

    @property
    def hint(self) -> str:
        """A hint where its text is instead."""
        if not self.is_short:
            return f"count offsets from the start of the text{self.also}"
        nearest = self.nearest()
        if nearest is None:
            return f"check the text; it does not contain this{self.also}"
        return f"use {nearest} to {nearest + len(self.given)}{self.also}"

    def values(self, unit: str = "", hint: str | None = None) -> dict[str, object]:
        """The values of the message about it, with a hint, or about the unit that explains most."""
        if unit:
            return {"what": UNIT_NAMES[unit], "setting": unit}
        pieces = (piece[:40] for piece in self.window.pieces(self.spans[:3]))
        return {"given": self.given[:40], "actual": " … ".join(pieces), "hint": hint or self.hint}


def matching_units(
    window: TextWindow, spans: Sequence[tuple[int, int]], given: str
) -> frozenset[str]:
    r"""The units in which spans have a text, counted from the start of a window.

    Examples:
        >>> sorted(matching_units(TextWindow("\u00d6, Osh", 0), [(4, 7)], "Osh"))
        ['bytes']
    """
    text, begin = window
    units = set[str]()
    if begin and TextWindow(text, 0).has(spans, given):
        units.add(PASSAGES)
    if text.isascii() or min(spans)[0] < begin:
        return frozenset(units)
    for unit in (CHARACTERS, *_UNITS):
        if unit == "graphemes" and len(text) > _MOST:  # they are found in many times the time
            continue
        place = int if unit == CHARACTERS else _unit_text(text, unit).character
        pieces = [text[place(start - begin) : place(end - begin)] for start, end in spans]
        if any(joint.join(pieces) == given for joint in _JOINTS):
            units.add(unit)
    return frozenset(units)


_unit_text = lru_cache(maxsize=3)(UnitText)  # the units of one text


class Mismatches:
    """The mismatches of a file.

    Offsets that count another unit are one problem of the whole file. So mismatches are kept until
    enough are seen.

    Attributes:
        report: reports a mismatch; or, with a unit, that this explains nearly all of them.
        least: how many a unit has to explain.
        unit: the unit that offsets count, once it is decided; empty before.
    """

    def __init__(self, report: Callable[[Mismatch, str], None], least: int = 3) -> None:
        self.report, self.least, self.unit = report, least, ""
        self.kept: list[Mismatch] = []

    def add(self, mismatch: Mismatch) -> None:
        """Take a mismatch, unless the unit explains it."""
        if self.unit not in mismatch.units:
            self.kept.append(mismatch)
            if len(self.kept) >= _ENOUGH:
                self.decide()

    def decide(self) -> None:
        """Report mismatches; those that another unit explains once, if it explains nearly all."""
        if not self.unit:
            counts = ((unit, sum(unit in each.units for each in self.kept)) for unit in UNIT_NAMES)
            least = max(self.least, _SHARE * len(self.kept))
            self.unit, _ = likeliest(counts, len(self.kept), least)
            if self.unit:
                first = next(each for each in self.kept if self.unit in each.units)
                self.report(first, self.unit)
        for mismatch in self.kept:
            if self.unit not in mismatch.units:
                self.report(mismatch, "")
        self.kept.clear()


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
