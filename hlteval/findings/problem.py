"""Problem: what is wrong with a record of a file, as every reader reports it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hlteval.findings.catalogue import entry
from hlteval.findings.excerpts import excerpt
from hlteval.findings.finding import Excerpt, Finding, Span


class Problem(NamedTuple):
    """Something wrong with a record: its code, its place, and the values of its message.

    Attributes:
        code: of the catalogue.
        record: the 1-based ordinal of the record in its file, in a line format the line number.
        start: the first code point concerned, 0-based: in the line of a line format, in the text
            of a JSON file.
        end: one past the last code point concerned.
        values: what the templates of the code name.
    """

    code: str
    record: int
    start: int
    end: int
    values: Mapping[str, object] = MappingProxyType({})

    def finding(
        self, file: str, span: Span | None, line: Excerpt | None, identifier: str | None = None
    ) -> Finding:
        """The finding of this problem at a place.

        Args:
            file: the display path of the file.
            span: the place in the file; None for the whole file.
            line: the line at that place.
            identifier: the identifier of the record, as written.
        """
        return entry(self.code).finding(
            self.values, file=file, span=span, excerpt=line, record=identifier
        )

    def in_line(self, file: str, line: str, identifier: str | None = None) -> Finding:
        r"""The finding of this problem in a file whose records are its lines.

        Args:
            file: the display path of the file.
            line: the line, without its line break.
            identifier: the identifier of the record, as written.

        Examples:
            >>> problem = Problem("SNT101", 3, 3, 5, {"given": "xx"})
            >>> problem.in_line("s.tsv", "d1\txx\t9").span
            Span(line=3, column=4, end_column=6)
        """
        span = Span(self.record, self.start + 1, self.end + 1)
        return self.finding(file, span, excerpt(line, span), identifier)

    def rejected(
        self, kind: str, text: str, *, expected: str = "", **more: object
    ) -> dict[str, object]:
        """The row of the table `rejected_records` for a record that this problem makes unreadable.

        Args:
            kind: what the record should be, such as `mention`.
            text: the record as written.
            expected: what was expected at the place.
            **more: further columns, such as `row`, `origin` and `id`.
        """
        return {
            "record": self.record,
            "code": self.code,
            "kind": kind,
            "text": text,
            "column": self.start + 1,
            "end_column": self.end + 1,
            "expected": expected,
            **more,
        }
