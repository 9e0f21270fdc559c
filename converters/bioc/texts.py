"""Annotations of BioC beside the texts they are from: their text is what stands at their locations.

Line breaks count as blanks. Of a discontinuous annotation the parts may be joined with or without a
blank or dots, or all be there from the first to the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_JOINTS = (" ", "", "...", " ... ", "…", " … ")
_BLANK = str.maketrans("\r\n\t", "   ")
_LONGEST = 300
"""Of a text that is looked for elsewhere."""
_WINDOW = 50_000
"""Characters on either side in which it is."""
Spans = Sequence[tuple[int, int]]


class Stretch(NamedTuple):
    """A text, and the offset at which it begins."""

    text: str
    start: int


class Misfit(NamedTuple):
    """An annotation whose text is not what stands at its locations in the text that it is in."""

    ordinal: int
    record: str | None
    spans: tuple[tuple[int, int], ...]
    text: str
    within: Stretch


CONVENTIONS: Mapping[str, tuple[str, str, int]] = {
    "utf-8": ("bytes", "utf-8", 1),
    "utf-16": ("UTF-16 units", "utf-16-le", 2),
}
"""Other units that offsets are counted in: what they are, their encoding, and bytes of each."""


def fits(stretch: Stretch, spans: Spans, text: str) -> bool:
    """Whether a text is what stands at some places.

    Examples:
        >>> fits(Stretch("liver and lung cancer", 10), [(10, 15), (25, 31)], "liver cancer")
        True
    """
    if len(spans) == 1:
        (start, end), begin = spans[0], stretch.start
        if start < begin:
            return False
        said = stretch.text[start - begin : end - begin]
        return said == text or said.translate(_BLANK) == text.translate(_BLANK)
    return any(
        said.translate(_BLANK) == text.translate(_BLANK) for said in _readings(stretch, spans)
    )


def _readings(stretch: Stretch, spans: Spans) -> list[str]:
    begin = stretch.start
    if min(spans)[0] < begin:
        return []
    pieces = [stretch.text[start - begin : end - begin] for start, end in spans]
    first, last = min(spans)[0] - begin, max(end for _, end in spans) - begin
    return [*(joint.join(pieces) for joint in _JOINTS), stretch.text[first:last]]


def counted(misfit: Misfit, unit: str) -> bool:
    """Whether an annotation would fit if its offsets counted other units within its passage."""
    _, encoding, width = CONVENTIONS[unit]
    begin, data = misfit.within.start, misfit.within.text.encode(encoding)
    pieces = [
        data[width * (start - begin) : width * (end - begin)].decode(encoding, "replace")
        for start, end in misfit.spans
        if start >= begin
    ]
    return any(joint.join(pieces) == misfit.text for joint in _JOINTS)


def nearest(misfit: Misfit) -> str:
    """Where the text of an annotation stands instead, as a hint."""
    units = [name for unit, (name, _, _) in CONVENTIONS.items() if counted(misfit, unit)]
    also = f"; the given offsets match if they count {units[0]}" if units else ""
    text, begin = misfit.text, misfit.within.start
    at = misfit.spans[0][0] - begin
    if not text or len(text) > _LONGEST:
        return f"count offsets in characters from the start of the document{also}"
    low = max(0, at - _WINDOW)
    window = misfit.within.text[low : max(0, at) + _WINDOW]
    middle = max(0, at - low)
    before, behind = window.rfind(text, 0, middle + len(text)), window.find(text, middle)
    found = [place + low for place in (before, behind) if place >= 0]
    if found:
        return f"use offset {min(found, key=lambda one: abs(one - at)) + begin}{also}"
    if also:
        return f"count offsets in characters{also}"
    return "check the passage; it does not contain this text"
