"""Lines and columns of offsets in a text."""

from __future__ import annotations

from hlteval.findings import Excerpt, Finding, Problem, Span
from hlteval.findings.finding import WINDOW


def line_end(text: str, at: int) -> int:
    """The end of the line that an offset is in."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


class Places:
    """Lines and columns of offsets in a text; quick for offsets that are near the previous one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line, self.begin, self.end = 1, 0, line_end(text, 0)

    def seek(self, at: int) -> None:
        """Go to the line of an offset."""
        if at < self.begin:
            self.line -= self.text.count("\n", at, self.begin)
        elif at > self.end:
            self.line += self.text.count("\n", self.end, at)
        else:
            return
        self.begin = self.text.rfind("\n", 0, at) + 1
        self.end = line_end(self.text, at)

    def span(self, start: int, end: int) -> Span:
        """The span of a stretch of the text, up to the end of its first line."""
        self.seek(start)
        if end > self.end:
            end = max(start, self.end - self.text.endswith("\r", self.begin, self.end))
        return Span(self.line, start - self.begin + 1, end - self.begin + 1)

    def excerpt(self, span: Span) -> Excerpt:
        """The excerpt of the current line, which may have many megabytes."""
        length = self.end - self.begin
        if length <= WINDOW:
            return Excerpt(self.text[self.begin : self.end].removesuffix("\r"))
        offset = max(0, min(span.column - 1 - WINDOW // 4, length - WINDOW))
        begin = self.begin + offset
        return Excerpt(self.text[begin : begin + WINDOW], offset, cut=offset + WINDOW < length)

    def finding(self, problem: Problem, file: str, identifier: str | None = None) -> Finding:
        r"""The finding of a problem whose start and end are offsets in the text.

        Args:
            problem: the problem.
            file: the display path of the file.
            identifier: the identifier of the record, such as its path in a JSON file.

        Examples:
            >>> problem = Problem("JSN106", 2, 4, 5, {"path": "$"})
            >>> Places("[1\n 2]").finding(problem, "a.json").span
            Span(line=2, column=2, end_column=3)
        """
        span = self.span(problem.start, problem.end)
        return problem.finding(file, span, self.excerpt(span), identifier)
