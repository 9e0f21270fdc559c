"""Ways in which all extents of a file may be off: what is at them if they are read that way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

#: Fewest extents that must be off in the same way for a common cause.
_FEW = 3

#: The share of the extents that are off which a cause must explain.
_SHARE = 0.8

#: Extents that are off with which causes are tried.
_SAMPLE = 500


class Span(NamedTuple):
    """An extent that is off."""

    content: str
    begins: int | None
    start: int
    end: int
    wanted: str
    found: str


Pair = tuple[int, int]


class Cause(NamedTuple):
    """A way in which extents are off.

    Attributes:
        message: what is wrong.
        fix: what to do.
        read: gives the text at an extent that is read that way.
        back: gives the right start and end of such an extent; None if it is inside a character.
    """

    message: str
    fix: str
    read: Callable[[Span], str]
    back: Callable[[Span], Pair | None]

    def explains(self, span: Span) -> bool:
        """Whether an extent that is read that way has its text."""
        return self.read(span).replace("\r", "").replace("\n", " ") == span.wanted

    def corrected(self, span: Span) -> Pair | None:
        """The right start and end of an extent; None if that is outside the document."""
        pair = self.back(span)
        inside = pair is not None and min(pair) >= 0 and max(pair) <= len(span.content)
        return pair if inside else None


def _moved(first: int, last: int) -> Callable[[Span], str]:
    return lambda span: span.content[max(span.start + first, 0) : max(span.end + last, 0)]


def _moved_back(first: int, last: int) -> Callable[[Span], Pair]:
    return lambda span: (span.start + first, span.end + last)


def _from_crlf(span: Span) -> Pair | None:
    return _counted(span, "crlf")


def _from_bytes(span: Span) -> Pair | None:
    return _counted(span, "utf-8")


def _from_utf16(span: Span) -> Pair | None:
    return _counted(span, "utf-16")


def _counted(span: Span, unit: str) -> Pair | None:
    places = _places(span.content, unit)
    start, end = places.get(span.start), places.get(span.end)
    return None if start is None or end is None else (start, end)


@lru_cache(maxsize=8)
def _places(text: str, unit: str) -> Mapping[int, int]:
    """The index of each character, and of the end, by its offset in another unit."""
    if unit == "crlf":
        widths = [2 if character == "\n" else 1 for character in text]
    elif unit == "utf-16":
        widths = [2 if character > "\uffff" else 1 for character in text]
    else:
        widths = [len(character.encode()) for character in text]
    return {offset: index for index, offset in enumerate(accumulate(widths, initial=0))}


def _from_file(span: Span) -> Pair:
    begins = span.begins or 0
    return span.start - begins, span.end - begins


def _in_crlf(span: Span) -> str:
    return _with_crlf(span.content)[span.start : span.end]


@lru_cache(maxsize=8)
def _with_crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def _in_bytes(span: Span) -> str:
    return _bytes(span.content, "utf-8")[span.start : span.end].decode("utf-8", "replace")


def _in_utf16(span: Span) -> str:
    units = _bytes(span.content, "utf-16-le")[2 * span.start : 2 * span.end]
    return units.decode("utf-16-le", "replace")


@lru_cache(maxsize=8)
def _bytes(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


def _in_file(span: Span) -> str:
    begins = span.begins or 0
    return span.content[max(span.start - begins, 0) : max(span.end - begins, 0)]


_CAUSES = (
    Cause(
        "each line end counts as two characters",
        "count a line end as one character, as if the corpus had LF, or use --line-ends as-written",
        _in_crlf,
        _from_crlf,
    ),
    Cause(
        "offsets count UTF-8 bytes",
        "count characters (code points), not bytes",
        _in_bytes,
        _from_bytes,
    ),
    Cause(
        "offsets count UTF-16 code units",
        "count characters (code points), not UTF-16 code units",
        _in_utf16,
        _from_utf16,
    ),
    Cause(
        "offsets are 1-based, and the end is inclusive",
        "subtract 1 from each start: the first character is 0, and the end is one past the last",
        _moved(-1, 0),
        _moved_back(-1, 0),
    ),
    Cause(
        "offsets are 1-based",
        "subtract 1 from each number: the first character is 0",
        _moved(-1, -1),
        _moved_back(-1, -1),
    ),
    Cause(
        "the end is inclusive",
        "add 1 to each end: it is the first character after the text",
        _moved(0, 1),
        _moved_back(0, 1),
    ),
    Cause(
        "offsets count from the beginning of the corpus",
        "count from the < of each document's start tag, or use --unsegmented",
        _in_file,
        _from_file,
    ),
)


def cause_of(spans: list[Span]) -> Cause | None:
    """The cause that explains most of some extents that are off, if it explains nearly all.

    Of equal ones the first counts. Units come first: behind a single character of two UTF-16 code
    units, offsets look 1-based, but if they were, those before it would be off too.
    """
    return next(iter(causes_of(spans)), None)


def causes_of(spans: list[Span]) -> list[Cause]:
    """The causes that explain most of some extents that are off, all equally many."""
    sample = spans[:: max(1, len(spans) // _SAMPLE)]
    causes = [*_CAUSES, *_shifts(sample)]
    counts = [sum(map(cause.explains, sample)) for cause in causes]
    most = max(counts)
    if most < max(_FEW, _SHARE * len(sample)):
        return []
    return [cause for cause, count in zip(causes, counts, strict=True) if count == most]


def _shifts(sample: list[Span]) -> Iterator[Cause]:
    """The distance between texts and their extents, if it is often the same."""
    distances: dict[int, int] = {}
    for span in sample:
        at = nearest(span)
        if at is not None:
            distances[at - span.start] = distances.get(at - span.start, 0) + 1
    if distances:
        distance = max(distances, key=lambda count: distances[count])
        way = "small" if distance > 0 else "large"
        yield Cause(
            f"offsets are too {way} by {abs(distance):,}",
            f"{'add' if distance > 0 else 'subtract'} {abs(distance):,} "
            f"{'to' if distance > 0 else 'from'} each number; 0 is the < of the start tag",
            _moved(distance, distance),
            _moved_back(distance, distance),
        )


def nearest(span: Span) -> int | None:
    """The occurrence of the text that is nearest to its extent; None if there is none."""
    content = span.content.replace("\n", " ")
    before = content.rfind(span.wanted, 0, span.start + len(span.wanted))
    after = content.find(span.wanted, span.start)
    near = [at for at in (before, after) if at >= 0]
    return min(near, key=lambda at: abs(at - span.start), default=None)
