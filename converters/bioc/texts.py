"""The texts of annotations in BioC, which are what is at their locations in a passage or document.

Line breaks count as spaces; spaces at either end are often lost, by tools and by formats that have
none there. The parts of a discontinuous annotation may be joined with or without a
space or dots, or be followed from the first to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from hlteval.findings import Problem

_JOINTS = (" ", "", "...", " ... ", "…", " … ")
_SPACE = str.maketrans("\r\n\t", "   ")
#: Characters of a text that is searched for elsewhere.
_LONGEST = 300
#: Characters on either side in which it is searched for.
_NEAR = 50_000
#: Mismatches that show how offsets are counted: how many, and which share of all.
_LEAST, _SHARE = 3, 0.9
#: Mismatches after which the unit of the offsets is decided.
_MOST = 10_000
#: Other units that offsets may count: their name, their encoding, and bytes of each.
UNITS: Mapping[str, tuple[str, str, int]] = {
    "utf-8": ("bytes", "utf-8", 1),
    "utf-16": ("UTF-16 code units", "utf-16-le", 2),
}


class TextWindow(NamedTuple):
    """The text of a passage, sentence or document, and the offset at which it starts."""

    text: str
    start: int

    def has(self, spans: Sequence[tuple[int, int]], text: str) -> bool:
        """Whether a text is what is at some places; spaces at its ends may be lost.

        Examples:
            >>> TextWindow("liver and lung cancer", 10).has([(10, 15), (25, 31)], "liver cancer")
            True
        """
        pieces = [self.text[max(0, a - self.start) : max(0, b - self.start)] for a, b in spans]
        first, last = min(spans)[0], max(end for _, end in spans)
        if first < self.start:
            return False
        if len(spans) > 1:
            whole = self.text[first - self.start : last - self.start]
            pieces = [*(joint.join(pieces) for joint in _JOINTS), whole]
        plain = text.translate(_SPACE).strip(" ")
        return any(piece.translate(_SPACE).strip(" ") == plain for piece in pieces)


class Mismatch(NamedTuple):
    """An annotation whose text is not what is at its locations.

    Attributes:
        record: the ordinal of the annotation in the file.
        identifier: its identifier.
        spans: its locations.
        text: its text.
        window: the text of the passage that holds it.
    """

    record: int
    identifier: str | None
    spans: tuple[tuple[int, int], ...]
    text: str
    window: TextWindow

    def fits(self, unit: str) -> bool:
        """Whether it matches if its offsets count another unit from the start of the passage."""
        _, encoding, width = UNITS[unit]
        begin, data = self.window.start, _encoded(self.window.text, encoding)
        pieces = [
            data[width * (start - begin) : width * (end - begin)].decode(encoding, "replace")
            for start, end in self.spans
            if start >= begin
        ]
        return any(joint.join(pieces) == self.text for joint in _JOINTS)

    def problem(self) -> Problem:
        """The problem of this annotation, with a hint where its text is."""
        begin = self.window.start
        pieces = (
            self.window.text[max(0, start - begin) : max(0, end - begin)][:40]
            for start, end in self.spans[:3]
        )
        values = {"actual": " … ".join(pieces), "given": self.text[:40], "hint": self.hint()}
        return Problem("BIO203", self.record, 0, 0, values)

    def hint(self) -> str:
        """Where the text is instead."""
        units = [name for unit, (name, _, _) in UNITS.items() if self.fits(unit)]
        also = f"; the given offsets match if they count {units[0]}" if units else ""
        if not self.text or len(self.text) > _LONGEST:
            return f"count offsets in characters from the start of the document{also}"
        at = self.spans[0][0] - self.window.start
        low = max(0, at - _NEAR)
        near = self.window.text[low : max(0, at) + _NEAR]
        middle = max(0, at - low)
        before = near.rfind(self.text, 0, middle + len(self.text))
        after = near.find(self.text, middle)
        found = [place + low for place in (before, after) if place >= 0]
        if found:
            nearest = min(found, key=lambda place: abs(place - at)) + self.window.start
            if nearest == self.spans[0][0]:
                single = "" if len(self.spans) == 1 else f"a single location at {nearest} with "
                return f"use {single}length {len(self.text)}{also}"
            return f"use offset {nearest}{also}"
        if also:
            return f"count offsets in characters{also}"
        return "check the passage; it does not contain this text"


@lru_cache(maxsize=2)
def _encoded(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


#: Takes a problem, the line and column of its element, and the identifier of the record.
Report = Callable[[Problem, tuple[int, int], str | None], None]


class Mismatches:
    """The mismatches of a file.

    Offsets that count bytes, or units of UTF-16, are one problem of the whole file. So mismatches
    are kept until enough are seen, whatever the parts that the file is read in.

    Attributes:
        unit: the unit that offsets count, once it is decided; empty for characters.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.unit: str | None = None
        self.kept: list[tuple[Problem, tuple[int, int], str | None, frozenset[str]]] = []

    def relevant(self, mismatches: Iterable[Mismatch]) -> list[Mismatch]:
        """Those that the unit does not explain, as far as it is decided."""
        return [found for found in mismatches if not (self.unit and found.fits(self.unit))]

    def add(self, mismatch: Mismatch, place: tuple[int, int]) -> None:
        """Take a mismatch at its line and column, and report what can be reported by now."""
        units = frozenset(unit for unit in UNITS if mismatch.fits(unit))
        if self.unit is None:
            self.kept.append((mismatch.problem(), place, mismatch.identifier, units))
            if len(self.kept) >= _MOST:
                self.decide()
        elif self.unit not in units:
            self.report(mismatch.problem(), place, mismatch.identifier)

    def decide(self) -> None:
        """Decide on the unit that nearly all fit in, and report what it does not explain."""
        if self.unit is not None:
            return
        self.unit = ""
        for unit, (name, _, _) in UNITS.items():
            fitting = [entry for entry in self.kept if unit in entry[-1]]
            if len(fitting) >= max(_LEAST, _SHARE * len(self.kept)):
                problem, place, identifier, _ = fitting[0]
                setting = "bytes" if unit == "utf-8" else unit
                values = {"what": name, "element": "annotation", "setting": setting}
                self.report(problem._replace(code="BIO204", values=values), place, identifier)
                self.unit = unit
                break
        for problem, place, identifier, units in self.kept:
            if self.unit not in units:
                self.report(problem, place, identifier)
        self.kept.clear()
