"""The problem of a record of a file, as all readers report it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hlteval.findings.catalogue import entry
from hlteval.findings.excerpts import excerpt
from hlteval.findings.finding import Excerpt, Finding, Span


class Problem(NamedTuple):
    """A problem of a record: its code, location and values.

    Attributes:
        code: of the catalogue.
        record: the 1-based ordinal of the record in its file, in a line format or XML the line
            number; 0 where the problem is in no record.
        start: the first code point concerned, 0-based: in the line of a line format or of a tag of
            XML, in the text of a JSON or SGML file.
        end: one past the last code point concerned.
        values: the values that the templates of the code name, and others.
        field: in XML the attribute concerned, or `text` for the text after the tag; empty for the
            tag itself.
    """

    code: str
    record: int
    start: int
    end: int
    values: Mapping[str, object] = MappingProxyType({})
    field: str = ""

    def moved(self, distance: int) -> Problem:
        """The problem as many code points further on, in a line with more before the record.

        Examples:
            >>> Problem("SNT101", 3, 3, 5).moved(2)[2:4]
            (5, 7)
        """
        return self._replace(start=self.start + distance, end=self.end + distance)

    def finding(
        self, file: str, span: Span | None, line: Excerpt | None, identifier: str | None = None
    ) -> Finding:
        """The finding of this problem at a location.

        Args:
            file: display path of the file.
            span: location in the file; None for the whole file.
            line: excerpt of the line at that location.
            identifier: identifier of the record, as written.
        """
        return entry(self.code).finding(
            self.values, file=file, span=span, excerpt=line, record=identifier
        )

    def in_line(self, file: str, line: str, identifier: str | None = None) -> Finding:
        r"""The finding of this problem in a file whose records are its lines.

        Args:
            file: display path of the file.
            line: the line, without its line break.
            identifier: identifier of the record, as written.

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
            kind: kind of the record, such as `mention`.
            text: the record as written.
            expected: what the format expects at that location.
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
