"""Ways in which all extents of a file may be off: what is at them if they are read that way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

_FEW = 3
"""Fewest extents that must be off in the same way for a common cause."""

_SHARE = 0.8
"""The share of the extents that are off which a cause must explain."""

_SAMPLE = 500
"""Extents that are off with which causes are tried."""


class Span(NamedTuple):
    """An extent that is off."""

    content: str
    begins: int | None
    start: int
    end: int
    wanted: str
    found: str


class Cause(NamedTuple):
    """A way in which extents are off, and the text at an extent that is read that way."""

    message: str
    fix: str
    read: Callable[[Span], str]

    def explains(self, span: Span) -> bool:
        """Whether an extent that is read that way has its text."""
        return self.read(span).replace("\r", "").replace("\n", " ") == span.wanted


def _moved(first: int, last: int) -> Callable[[Span], str]:
    return lambda span: span.content[max(span.start + first, 0) : max(span.end + last, 0)]


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
    ),
    Cause(
        "offsets count UTF-8 bytes",
        "count characters (code points), not bytes",
        _in_bytes,
    ),
    Cause(
        "offsets count UTF-16 code units",
        "count characters (code points), not UTF-16 code units",
        _in_utf16,
    ),
    Cause(
        "offsets are 1-based, and the end is inclusive",
        "subtract 1 from each start: the first character is 0, and the end is one past the last",
        _moved(-1, 0),
    ),
    Cause(
        "offsets are 1-based",
        "subtract 1 from each number: the first character is 0",
        _moved(-1, -1),
    ),
    Cause(
        "the end is inclusive",
        "add 1 to each end: it is the first character after the text",
        _moved(0, 1),
    ),
    Cause(
        "offsets count from the beginning of the corpus",
        "count from the < of each document's start tag, or use --unsegmented",
        _in_file,
    ),
)


def cause_of(spans: list[Span]) -> Cause | None:
    """The cause that explains most of some extents that are off, if it explains nearly all.

    Of equal ones the first counts. Units come first: behind a single character of two UTF-16 code
    units, offsets look 1-based, but if they were, those before it would be off too.
    """
    sample = spans[:: max(1, len(spans) // _SAMPLE)]
    causes = [*_CAUSES, *_shifts(sample)]
    counts = [sum(map(cause.explains, sample)) for cause in causes]
    most = max(counts)
    return causes[counts.index(most)] if most >= max(_FEW, _SHARE * len(sample)) else None


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
        )


def nearest(span: Span) -> int | None:
    """The occurrence of the text that is nearest to its extent; None if there is none."""
    content = span.content.replace("\n", " ")
    before = content.rfind(span.wanted, 0, span.start + len(span.wanted))
    after = content.find(span.wanted, span.start)
    near = [at for at in (before, after) if at >= 0]
    return min(near, key=lambda at: abs(at - span.start), default=None)
