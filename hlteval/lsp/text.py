"""Texts of an editor: lines, changes, and positions in the units of the protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from hlteval.findings import Span

Units = Literal["utf-8", "utf-16", "utf-32"]
"""What the columns of a client count."""
_LINE = re.compile(r"[^\r\n]*+(?:\r\n?+|\n)|[^\r\n]++")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BOM = "\ufeff"
_ENDS = "\r\n"


class Position(NamedTuple):
    """A position of the protocol: both 0-based, `character` in the units of the client."""

    line: int
    character: int


class Range(NamedTuple):
    """Two positions of the protocol; the end is exclusive."""

    start: Position
    end: Position


NOWHERE = Range(Position(0, 0), Position(0, 0))
"""The range of what concerns a whole file: its beginning."""


def split(text: str) -> list[str]:
    r"""The lines of a text with their ends; the last one has none, and may be empty.

    Lines end as the protocol says, with LF, CR LF or CR; nothing else ends a line.

    Examples:
        >>> split("a\r\nb\rc\u2028\n")
        ['a\r\n', 'b\r', 'c\u2028\n', '']
    """
    if not text.isascii() and _SURROGATE.search(text):  # halves of a character from two changes
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    lines: list[str] = _LINE.findall(text)
    if not lines or lines[-1].endswith(("\r", "\n")):
        lines.append("")
    return lines


def units(text: str, count: Units) -> int:
    r"""The length of a text in the units of a client.

    Examples:
        >>> [units("a\U0001f600", count) for count in ("utf-8", "utf-16", "utf-32")]
        [5, 3, 2]
    """
    if count == "utf-32" or text.isascii():
        return len(text)
    if count == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def column(line: str, character: int, count: Units) -> int:
    r"""The column of a line in code points, 0-based, for one in units of a client.

    Columns beyond the line are its end; one inside a character is that of the character.

    Examples:
        >>> [column("\U0001f600b\n", character, "utf-16") for character in range(5)]
        [0, 0, 1, 2, 2]
    """
    body = line.rstrip(_ENDS)
    if character < 0:
        return 0
    if count == "utf-32" or line.isascii():
        return min(character, len(body))
    if count == "utf-8":
        return len(body.encode("utf-8", "surrogatepass")[:character].decode("utf-8", "ignore"))
    data = body.encode("utf-16-le", "surrogatepass")[: 2 * character]
    return len(data.decode("utf-16-le", "ignore" if not _SURROGATE.search(body) else "replace"))


@dataclass(frozen=True)
class Text:
    """A text as lines, which is never changed.

    Attributes:
        lines: with their ends, as `split` gives them.
        units: what the columns of the client count.
    """

    lines: Sequence[str]
    units: Units = "utf-16"

    @classmethod
    def of(cls, text: str, units: Units = "utf-16") -> Text:
        """The lines of a text."""
        return cls(split(text), units)

    @property
    def content(self) -> str:
        """The text."""
        return "".join(self.lines)

    def inside(self, position: Position) -> tuple[int, int]:
        """The line and the column in code points of a position; beyond the text its end."""
        line = max(0, position.line)
        if line >= len(self.lines):
            return len(self.lines) - 1, len(self.lines[-1])
        return line, column(self.lines[line], position.character, self.units)

    def position(self, line: int, column: int) -> Position:
        """The position of a column in code points, at most the end of its line."""
        body = self.lines[line].rstrip(_ENDS)
        return Position(line, units(body[: max(0, column)], self.units))

    def changed(self, place: Range, put: str) -> Text:
        r"""The text with another text in a range; only the lines around it are looked at.

        Examples:
            >>> text = Text.of("ab\ncd\n")
            >>> text.changed(Range(Position(0, 1), Position(1, 1)), "x\ny").content
            'ax\nyd\n'
        """
        (first, start), (last, end) = sorted(map(self.inside, place))
        begin = first - 1 if first and self.lines[first - 1].endswith("\r") else first
        parts = [*self.lines[begin:first], self.lines[first][:start], put, self.lines[last][end:]]
        fresh = split("".join(parts))
        if last + 1 < len(self.lines):  # the next line begins after the end of a line
            fresh.pop()
        return Text([*self.lines[:begin], *fresh, *self.lines[last + 1 :]], self.units)

    def range(self, span: Span | None) -> Range:
        """The range of a span of a finding; the beginning of the text without one."""
        if span is None:
            return NOWHERE
        start = self._place(span.line, span.column)
        if span.end_column <= span.column:
            return Range(start, start)
        return Range(start, self._place(span.line, span.end_column))

    def _place(self, number: int, column: int) -> Position:
        """The position of a line and column of a finding.

        Lines of findings end with LF alone, and a byte order mark is not part of the first one.
        """
        line, rest = self._line(number), column - 1
        if line == 0 and self.lines[0].startswith(_BOM):
            rest += 1
        while rest >= len(self.lines[line]) and self.lines[line].endswith("\r"):
            rest -= len(self.lines[line])
            line += 1
        return self.position(line, rest)

    def _line(self, number: int) -> int:
        """The first line of the protocol of a line that ends with LF, 1-based; at most the last."""
        if self._starts is None:
            return min(number, len(self.lines)) - 1
        return self._starts[min(number, len(self._starts)) - 1]

    @cached_property
    def _starts(self) -> Sequence[int] | None:
        """Where lines that end with LF begin; None if all lines do, but for the last."""
        if not any(line.endswith("\r") for line in self.lines):
            return None
        fed = (at + 1 for at, line in enumerate(self.lines[:-1]) if line.endswith("\n"))
        return [0, *fed]
