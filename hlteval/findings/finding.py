"""The finding: one fault in the data, told as a value."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Severity(StrEnum):
    """How bad a finding is; validation fails on an error."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst.

        Examples:
            >>> Severity.ERROR.rank < Severity.INFO.rank
            True
        """
        return list(Severity).index(self)


class Span(msgspec.Struct, frozen=True, order=True):
    """A stretch of one line of a file: 1-based, in code points, `end_column` exclusive.

    An empty span (`end_column == column`) is a place between two characters.
    """

    line: int
    column: int
    end_column: int


class Excerpt(msgspec.Struct, frozen=True):
    """The part of a line that is shown: `text` begins at code point `offset` of the line."""

    text: str
    offset: int = 0
    cut: bool = False
    """Whether the line goes on behind the excerpt."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault: what is wrong, where, what to do, and the clause that says so.

    A finding with neither `file` nor `span` is about the submission as a whole, one without `span`
    about a file. `blocking` says that nothing sensible can be scored.
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

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """The key that findings are listed by: file, line, column, code."""
        line, column = (self.span.line, self.span.column) if self.span else (0, 0)
        return (self.file or "", line, column, self.code, self.message)
