"""Excerpts: the part of a line that is shown with a finding."""

from __future__ import annotations

from hlteval.findings.finding import Excerpt, Span

WINDOW = 160
"""Maximum length of an excerpt in code points; a line may have millions."""


def excerpt(line: str, span: Span) -> Excerpt:
    """The excerpt of a line around a span.

    Args:
        line: the line, without its line break.
        span: the span in the line.

    Examples:
        >>> excerpt("x" * 1_000_000, Span(1, 500_001, 500_003)).offset
        499960
    """
    if len(line) <= WINDOW:
        return Excerpt(line)
    offset = max(0, min(span.column - 1 - WINDOW // 4, len(line) - WINDOW))
    return Excerpt(line[offset : offset + WINDOW], offset, cut=offset + WINDOW < len(line))


def spot(text: str, index: int) -> Span:
    r"""The span of one code point of a text whose lines end with ``\n``.

    Examples:
        >>> spot("ab\ncd", 4)
        Span(line=2, column=2, end_column=3)
    """
    line = text.count("\n", 0, index) + 1
    column = index - text.rfind("\n", 0, index)
    return Span(line, column, column + 1)
