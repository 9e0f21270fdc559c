"""The finding: one problem of the data as a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

SUBMISSION: Final = "submission"
#: The sides of an evaluation; the file of an option is a side of its own, e.g. `--kb`.
REFERENCE: Final = "reference"


class Severity(StrEnum):
    """The severity of a finding; by default, validation fails on errors."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the most severe.

        Examples:
            >>> Severity.ERROR.rank < Severity.INFO.rank
            True
        """
        return list(Severity).index(self)


class Span(msgspec.Struct, frozen=True, order=True):
    """A span within one line of a file: 1-based, in code points, `end_column` exclusive.

    An empty span (`end_column == column`) is a position between two characters, or the end of a
    line. Every span is inside its file: the line exists, where nothing after the last line break is
    none, and the column is that of a character, or of the end of the line if the span is empty.
    """

    line: int
    column: int
    end_column: int


class Excerpt(msgspec.Struct, frozen=True):
    """The part of a line that is shown; `text` starts at code point `offset` of the line."""

    text: str
    offset: int = 0
    cut: bool = False
    """Whether the line continues after the excerpt."""


class Further(msgspec.Struct, frozen=True):
    """Problems of one code in one file that are counted, but not explained one by one.

    Attributes:
        places: the line of each, in JSON its path; None for one that has no place.
        names: the identifier that each misses or defines, for codes that follow from others by it;
            otherwise empty.
        is_cause: whether the finding explains the common cause of all of them; otherwise they are
            those beyond the maximum that is explained.
    """

    places: tuple[int | str | None, ...]
    names: tuple[str, ...] = ()
    is_cause: bool = False


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One problem: what is wrong and where, how to fix it, and the clause that it violates.

    A finding without `file` and `span` concerns the whole submission, one without `span` a whole
    file. In a corpus or a data frame, `table` and `row` (its key, from 0) are the place instead of
    a line. A submission with a `blocking` finding cannot be scored. `side` says whose problem it
    is: that of the submission, of the reference, or of the file of an option, e.g. `--kb`. A
    finding with `further` represents so many problems that are only counted.
    """

    code: str
    name: str
    severity: Severity
    blocking: bool
    message: str
    file: str | None = None
    span: Span | None = None
    excerpt: Excerpt | None = None
    record: str | None = None
    help: str | None = None
    clause: str | None = None
    side: str = SUBMISSION
    table: str | None = None
    row: int | None = None
    further: Further | None = None

    @property
    def count(self) -> int:
        """The number of problems that it represents."""
        return len(self.further.places) if self.further else 1

    @property
    def only_counts(self) -> bool:
        """Whether it explains nothing, but counts problems beyond the maximum of its code."""
        return self.further is not None and not self.further.is_cause

    @property
    def position(self) -> str:
        """The place in the file, as it follows the name of the file; empty for the whole file.

        Examples:
            >>> from hlteval.findings import finding
            >>> finding("SRC104", file="runs", what="folder").position
            ''
        """
        if self.span:
            return f":{self.span.line}:{self.span.column}"
        return "" if self.table is None else f":{self.table}[{self.row}]"

    @property
    def order(self) -> tuple[bool, str, str, int, int, str, str]:
        """The sort key: side (the submission first), file, line or row, column, code, message."""
        line, column = (self.span.line, self.span.column) if self.span else (0, 0)
        if self.row is not None:
            line = self.row + 1
        place = (self.file or "", line, column, self.code, self.message)
        return (self.side != SUBMISSION, self.side, *place)

    def of(self, side: str) -> Finding:
        """The finding as a problem of some side.

        Examples:
            >>> from hlteval.findings import finding
            >>> finding("SRC201", offset=3, byte="0xe9", guess="").of("reference").side
            'reference'
        """
        return self if self.side == side else msgspec.structs.replace(self, side=side)


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A reference to a record of a file or to one of its fields, to look up its location.

    Attributes:
        record: the 1-based ordinal of the record in its file.
        field: name of the field in the terms of the format, with a number if it is repeated:
            `label`, `role 2`. Empty for the whole record.
    """

    record: int
    field: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """A span of a file, and the excerpt of its line."""

    span: Span
    excerpt: Excerpt


#: Maximum length of an excerpt in code points; a line may have millions.
WINDOW = 160


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


#: The pattern of an invisible character, also of spaces other than U+0020.
INVISIBLE = (
    "[\x00-\x1f\x7f-\xa0\xad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u2064"
    "\u2066-\u206f\u3000\ufeff]"
)


def code_point(character: str) -> str:
    """The number of a character as Unicode writes it."""
    return f"U+{ord(character):04X}"
