r"""Display of data in a terminal, and its width in cells.

Data may contain any character. Its display must not move the cursor or reorder a line, and carets
must be below the characters that they mark:

- A tab is displayed as `→`. Invisible characters (control characters, line separators, directional
  overrides, spaces of other widths, unassigned characters) are displayed as an escape: `\x1b`,
  `\u202e`. Joiners are kept where they shape a letter or an emoji.
- Widths are in cells. A base character with its combining marks, or a joined emoji, is one piece.
  A combining mark without a base is displayed on a dotted circle.
- Some terminals reorder a line in a right-to-left script, others do not. Left-to-right marks around
  tabs and around the marked span keep these in place in both.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from rich.cells import cell_len

from hlteval.findings import Excerpt, Span

LEFT_TO_RIGHT = "\u200e"
_NON_JOINER, _JOINER, _EMOJI_STYLE = "\u200c", "\u200d", "\ufe0f"
_WIDE_SPACE = "\u3000"
_REPLACEMENTS = {"\t": "→", "\n": "\\n", "\r": "\\r"}
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_MIN_WIDTH = 20


class Piece(NamedTuple):
    """The display of one character as a reader perceives it.

    Attributes:
        text: the text that is displayed.
        cells: its width in cells.
        begin: the index of its first code point in the line.
        literal: whether `text` is the data itself and not a replacement.
    """

    text: str
    cells: int
    begin: int
    literal: bool


class MarkedLine(NamedTuple):
    """The display of a line with a marked span.

    Attributes:
        pieces: the pieces of the line.
        column: the number of cells before the span.
        width: the width of the span in cells, at least 1.
    """

    pieces: tuple[Piece, ...]
    column: int
    width: int

    @property
    def text(self) -> str:
        """The text of the line."""
        return "".join(piece.text for piece in self.pieces)


def visible(text: str) -> str:
    r"""A text on one line, with replacements for all invisible characters.

    Examples:
        >>> visible("a\tb\x1b[2J\u202ec")
        'a→b\\x1b[2J\\u202ec'
    """
    if text.isprintable():
        return text
    return "".join(_display(text, index) for index in range(len(text)))


def isolate_bidi(text: str) -> str:
    """The visible text, with left-to-right marks if it could reorder the text next to it."""
    display = visible(text)
    return f"{LEFT_TO_RIGHT}{display}{LEFT_TO_RIGHT}" if has_rtl(display) else display


def has_rtl(text: str) -> bool:
    """Whether a terminal may show a part of the text from right to left.

    Examples:
        >>> has_rtl("שלום"), has_rtl("東京")
        (True, False)
    """
    return not text.isascii() and any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in text)


def pieces(text: str) -> list[Piece]:
    r"""The pieces of a line: base characters with their marks, and replacements.

    Examples:
        >>> [(piece.text, piece.cells) for piece in pieces("a\t東\u0301")]
        [('a', 1), ('→', 1), ('東́', 2)]
    """
    result: list[Piece] = []
    for index, character in enumerate(text):
        display = _display(text, index)
        literal = display == character
        narrow = literal and not cell_len(character)
        base = result[-1] if result and result[-1].literal else None
        if base and literal and (narrow or text[index - 1] == _JOINER):
            joined = base.text + display
            result[-1] = Piece(joined, cell_len(joined), base.begin, True)
        else:
            display = "◌" + display if narrow else display
            result.append(Piece(display, cell_len(display), index, literal))
    return result


def draw(excerpt: Excerpt, span: Span, width: int) -> MarkedLine:
    """A window of a line with a marked span.

    Args:
        excerpt: the excerpt of the line; the span is clipped to it.
        span: the span to mark; of an empty span, its first column is marked.
        width: maximum width of the window in cells; at least 20 are used.

    Examples:
        >>> draw(Excerpt("T1 東京 x"), Span(1, 4, 6), 80)[1:]
        (3, 4)
    """
    line = pieces(excerpt.text)
    first, end = _marked(line, excerpt, span)
    edges = list(accumulate((piece.cells for piece in line), initial=0))
    left, right = _window(edges, edges[first], max(width, _MIN_WIDTH), excerpt)
    end = max(first, min(end, right))
    before = [Piece("…", 1, left, False)] if left or excerpt.offset else []
    after = [Piece("…", 1, right, False)] if right < len(line) or excerpt.cut else []
    window = line[left:right]
    if any(piece.literal and has_rtl(piece.text) for piece in window):
        window = _isolate_pieces(window, first - left, end - left)
    column = edges[first] - edges[left] + len(before)
    return MarkedLine((*before, *window, *after), column, max(1, edges[end] - edges[first]))


def _marked(line: Sequence[Piece], excerpt: Excerpt, span: Span) -> tuple[int, int]:
    """The range of the pieces that overlap a span, empty for an empty span."""
    begin = max(0, span.column - 1 - excerpt.offset)
    begins = [piece.begin for piece in line]
    if begin >= len(excerpt.text):
        return len(line), len(line)
    first = bisect_right(begins, begin) - 1
    return first, max(first, bisect_left(begins, span.end_column - 1 - excerpt.offset))


def _window(edges: list[int], mark: int, width: int, excerpt: Excerpt) -> tuple[int, int]:
    """The range of the pieces around a mark that fit a width, with a cell for each ellipsis."""
    if edges[-1] + bool(excerpt.offset) + excerpt.cut <= width:
        return 0, len(edges) - 1
    inner = width - 2
    begin = max(0, min(mark - inner // 4, edges[-1] - inner))
    left = next(index for index, edge in enumerate(edges) if edge >= begin)
    right = max(index for index, edge in enumerate(edges) if edge <= edges[left] + inner)
    return left, right


def _isolate_pieces(line: list[Piece], first: int, end: int) -> list[Piece]:
    """The pieces with left-to-right marks around replacements and around the marked span."""
    borders = {0, first, end, len(line)}
    for index, piece in enumerate(line):
        if not piece.literal:
            borders |= {index, index + 1}
    result = []
    for index in range(len(line) + 1):
        if index in borders:
            result.append(Piece(LEFT_TO_RIGHT, 0, index, False))
        result.extend(line[index : index + 1])
    return result


def _display(text: str, index: int) -> str:
    """The character at an index, or its replacement."""
    character = text[index]
    if character.isprintable() or character == _WIDE_SPACE or _is_shaping(text, index):
        return character
    if character in _REPLACEMENTS:
        return _REPLACEMENTS[character]
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # Python's surrogate for a byte that is not UTF-8
        number -= 0xDC00
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _is_shaping(text: str, index: int) -> bool:
    """Whether a joiner is between letters or emoji that it shapes; elsewhere it is invisible."""
    if index == 0:
        return False
    before, after = text[index - 1], text[index + 1 : index + 2]
    if text[index] == _NON_JOINER:
        return unicodedata.category(before)[0] in "LM" and before > "\u0300"
    return (
        text[index] == _JOINER
        and (before == _EMOJI_STYLE or unicodedata.category(before) in {"So", "Sk"})
        and unicodedata.category(after or " ") == "So"
    )
