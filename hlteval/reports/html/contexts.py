"""Contexts: the text around places, with what each side marks there, each context once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

REFERENCE, SYSTEM = 1, 2
"""Who marks a part of a text; 3 where both do."""
Span = tuple[int, int]
"""Half-open offsets in code points."""
Parts = tuple[str | int, ...]
"""Parts of a text in turn with who marks them, 0 for nobody."""
_AROUND = 60
"""Characters of context on either side."""
_LONGEST = 400
"""Characters of a part; of longer ones the middle is left out."""
_WORD = 15
"""How far a context looks for the beginning or end of a word."""
_SPACE = re.compile(r"\s")


@dataclass
class Contexts:
    """The contexts of rows, each written once.

    Attributes:
        values: the contexts; a context is one text, or two where those of both sides differ.
    """

    values: list[tuple[Parts, ...]] = field(default_factory=list)
    _numbers: dict[tuple[Parts, ...], int] = field(default_factory=dict, repr=False)

    def add(self, *texts: Parts) -> int | None:
        """The number of a context; None if there is no text.

        Examples:
            >>> contexts = Contexts()
            >>> contexts.add(("Osh", 3)), contexts.add(("Osh", 3)), contexts.add(())
            (0, 0, None)
        """
        context = tuple(parts for parts in texts if parts)
        if not context:
            return None
        number = self._numbers.setdefault(context, len(self.values))
        if number == len(self.values):
            self.values.append(context)
        return number


def plain(text: str) -> str:
    r"""A text whose line breaks and tabs are spaces, at the same offsets.

    Examples:
        >>> plain("Osh\n\tmet")
        'Osh  met'
    """
    return _SPACE.sub(" ", text)


def marked(text: str, reference: Iterable[Span] = (), system: Iterable[Span] = ()) -> Parts:
    """The surroundings of places in a text; empty if no place is inside the text.

    Args:
        text: of a document, as `plain` gives it.
        reference: places of the reference.
        system: places of the system.

    Examples:
        >>> marked("In Osh, the UN met.", [(12, 14)], [(8, 14)])
        ('In Osh, ', 0, 'the ', 2, 'UN', 3, ' met.', 0)
    """
    sides = ((REFERENCE, reference), (SYSTEM, system))
    found = [
        (max(start, 0), min(end, len(text)), side) for side, spans in sides for start, end in spans
    ]
    spans = sorted(span for span in found if span[0] < span[1])
    parts: list[str | int] = []
    last = 0
    for begin, end in _windows(text, spans):
        if begin > last or (begin and not parts):
            parts += ["… " if not parts else " … ", 0]
        parts += _parts(text, begin, end, spans)
        last = end
    if parts and last < len(text):
        parts += [" …", 0]
    return _joined(parts)


def beginning(text: str) -> Parts:
    """The first characters of a text.

    Examples:
        >>> beginning("Osh. Naryn.")
        ('Osh. Naryn.', 0)
    """
    start = text[: 3 * _AROUND]
    return (start + (" …" if len(text) > 3 * _AROUND else ""), 0) if start.strip() else ()


def _windows(text: str, spans: Sequence[tuple[int, int, int]]) -> Iterator[Span]:
    """What is shown of a text, without overlaps, from the beginning to the end of words."""
    begin, end = -1, -1
    for start, stop, _ in spans:
        if begin >= 0 and start - 2 * _AROUND > end:
            yield _at_words(text, begin, end)
            begin = -1
        begin, end = (start, stop) if begin < 0 else (begin, max(end, stop))
    if begin >= 0:
        yield _at_words(text, begin, end)


def _at_words(text: str, start: int, end: int) -> Span:
    begin, stop = max(start - _AROUND, 0), min(end + _AROUND, len(text))
    if begin:
        space = text.find(" ", begin, min(begin + _WORD, start))
        begin = space + 1 if space >= 0 else begin
    if stop < len(text):
        space = text.rfind(" ", max(stop - _WORD, end), stop)
        stop = space if space >= 0 else stop
    return begin, stop


def _parts(
    text: str, begin: int, end: int, spans: Sequence[tuple[int, int, int]]
) -> Iterator[str | int]:
    """The parts of a window, cut where who marks them changes."""
    inside = [span for span in spans if span[0] < end and span[1] > begin]
    cuts = sorted({begin, end, *(at for start, stop, _ in inside for at in (start, stop))})
    for start, stop in pairwise(cuts):
        sides = {side for first, last, side in inside if first <= start and stop <= last}
        yield _short(text[start:stop])
        yield sum(sides)


def _short(part: str) -> str:
    half = _LONGEST // 2
    return part if len(part) <= _LONGEST else f"{part[:half]} … {part[-half:]}"


def _joined(parts: Sequence[str | int]) -> Parts:
    """Parts of which those that follow each other and have the same marks are one."""
    whole: list[str | int] = []
    for text, side in zip(parts[::2], parts[1::2], strict=True):
        if whole and whole[-1] == side:
            whole[-2] = f"{whole[-2]}{text}"
        else:
            whole += [text, side]
    return tuple(whole)
