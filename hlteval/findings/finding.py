"""The finding: one problem of the data as a value."""

from __future__ import annotations

from enum import StrEnum

import msgspec


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

    An empty span (`end_column == column`) is a position between two characters.
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


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One problem: what is wrong and where, how to fix it, and the clause that it violates.

    A finding without `file` and `span` concerns the whole submission, one without `span` a whole
    file. A submission with a `blocking` finding cannot be scored.
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
        """The sort key of findings: file, line, column, code, message."""
        line, column = (self.span.line, self.span.column) if self.span else (0, 0)
        return (self.file or "", line, column, self.code, self.message)
