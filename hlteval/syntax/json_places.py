"""Places in a text of JSON: lines and columns, and paths as people write them."""

from __future__ import annotations

from hlteval.findings import Excerpt, Span
from hlteval.findings.excerpts import WINDOW
from hlteval.syntax.json_parser import Parsed, Path, line_end


class Places:
    """Lines and columns of places of a text; quick where they are asked for in their order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line, self.begin, self.end = 1, 0, line_end(text, 0)

    def seek(self, at: int) -> None:
        """Go to the line of a place."""
        if at < self.begin:
            self.line, self.begin, self.end = 1, 0, line_end(self.text, 0)
        if at > self.end:
            self.line += self.text.count("\n", self.end, at)
            self.begin = self.text.rfind("\n", 0, at) + 1
            self.end = line_end(self.text, at)

    def span(self, start: int, end: int) -> Span:
        """The place of a stretch, which is cut at the end of its first line."""
        self.seek(start)
        end = max(start, min(end, self.end))
        return Span(self.line, start - self.begin + 1, end - self.begin + 1)

    def excerpt(self, span: Span) -> Excerpt:
        """The window of the line that was asked for last; it may have many megabytes."""
        length = self.end - self.begin
        if length <= WINDOW:
            return Excerpt(self.text[self.begin : self.end].removesuffix("\r"))
        offset = max(0, min(span.column - 1 - WINDOW // 4, length - WINDOW))
        begin = self.begin + offset
        return Excerpt(self.text[begin : begin + WINDOW], offset, cut=offset + WINDOW < length)


def shown(path: Path) -> str:
    """A path as people write it.

    Examples:
        >>> shown((3, "Status", "Need"))
        '$[3].Status.Need'
    """
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "$" + "".join(parts)


def place_of(text: str, one: Parsed, path: Path) -> tuple[int, int]:
    """Where a part of an item stands; of an object or array, only where it begins.

    Examples:
        >>> from hlteval.syntax.json_parser import parse
        >>> text = '{"a": [1, 23]}'
        >>> place_of(text, parse(text), ("a", 1)), place_of(text, parse(text), ("a",))
        ((10, 12), (6, 7))
    """
    start, end = one.values.get(path, (one.start, one.start + 1))
    whole = not path or text[start : start + 1] in {"{", "["}
    return (start, start + 1) if whole else (start, end)
