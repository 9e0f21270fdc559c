"""Sentences in a terminal, wrapped at words; in a pipe, a line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

from hlteval.reports.display import isolate_bidi


def wrap(text: str, width: int, first: int = 0) -> list[str]:
    r"""The lines of a text, wrapped at spaces; a longer word has a line of its own.

    Nothing but spaces is a place to wrap: paths, identifiers and numbers are never broken.

    Args:
        text: the text, on one line.
        width: width of the lines in cells.
        first: the cells of the first line that are taken.

    Examples:
        >>> wrap("see docs/very-long-name.md for 東京", 14)
        ['see', 'docs/very-long-name.md', 'for 東京']
        >>> wrap("2 of 3", 6, first=5)
        ['2', 'of 3']
    """
    lines: list[str] = []
    line, room = "", width - first
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and cell_len(longer) > room:
            lines.append(line)
            line, room = word, width
        else:
            line = longer
    return [*lines, line]


def hanging(text: str, width: int | None, first: int = 0, indent: str = "  ") -> str:
    r"""A text with line breaks, and with indents after them.

    Args:
        text: the text, on one line.
        width: width of the terminal in cells; None in a pipe, where nothing is wrapped.
        first: the cells before it in its first line.
        indent: what later lines begin with.

    Examples:
        >>> hanging("2 errors in 1 file", 16, first=len("fail: "))
        '2 errors\n  in 1 file'
    """
    if width is None:
        return text
    inner = width - len(indent)
    return f"\n{indent}".join(wrap(text, inner, first - len(indent)))


@dataclass(frozen=True, slots=True)
class Prose:
    """A sentence, such as a note, a title or a hint.

    Attributes:
        text: the sentence; what a terminal should not receive is replaced.
        style: of all of it.
        indent: what the lines after the first begin with.
    """

    text: str
    style: str = ""
    indent: str = "  "

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = options.max_width if console.is_terminal else None
        text = hanging(isolate_bidi(self.text), width, 0, self.indent)
        yield Text(text, style=self.style)


def note(text: str) -> Prose:
    """A remark on how to read a result."""
    return Prose(f"note: {text}", "yellow", " " * len("note: "))


def warning(text: str) -> Prose:
    """What makes a result meaningless."""
    return Prose(f"WARNING: {text}", "bold red", " " * len("WARNING: "))
