r"""How data is shown in a terminal, and how wide it is there.

Data may hold anything; what is shown must neither move the cursor nor reorder a line, and a caret
must stand under the character that it means:

- A tab is drawn as `→`. What cannot be seen (control characters, line separators, directional
  overrides, spaces of other widths, unassigned characters) is written as an escape: `\x1b`,
  `\u202e`. Joiners stay where they shape a letter or an emoji.
- Everything is measured in cells, a base with its combining marks or a joined emoji as one piece.
  A mark without a base gets a dotted circle for one.
- Terminals that know right-to-left scripts reorder a line, others do not. Left-to-right marks
  around tabs and around the marked stretch keep these in place in both.
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
_DRAWN = {"\t": "→", "\n": "\\n", "\r": "\\r"}
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_LEAST_ROOM = 20


class Piece(NamedTuple):
    """What is shown for one character as a reader sees it.

    `begin` is the code point where it begins; `literal` says that the data itself is shown.
    """

    shown: str
    cells: int
    begin: int
    literal: bool


class Drawn(NamedTuple):
    """A line as it is shown, and where in it the marked stretch is, in cells."""

    pieces: tuple[Piece, ...]
    column: int
    width: int

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(piece.shown for piece in self.pieces)


def visible(text: str) -> str:
    r"""A text on one line in which everything that cannot be seen is made visible.

    Examples:
        >>> visible("a\tb\x1b[2J\u202ec")
        'a→b\\x1b[2J\\u202ec'
    """
    if text.isprintable():
        return text
    return "".join(_shown(text, index) for index in range(len(text)))


def isolate_bidi(text: str) -> str:
    """A visible text that does not reorder what stands beside it."""
    shown = visible(text)
    return f"{LEFT_TO_RIGHT}{shown}{LEFT_TO_RIGHT}" if has_rtl(shown) else shown


def has_rtl(text: str) -> bool:
    """Whether a terminal may show a part of the text from right to left.

    Examples:
        >>> has_rtl("שלום"), has_rtl("東京")
        (True, False)
    """
    return not text.isascii() and any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in text)


def pieces(text: str) -> list[Piece]:
    r"""A line of data in pieces, each of which is shown as a whole.

    Examples:
        >>> [(piece.shown, piece.cells) for piece in pieces("a\t東\u0301")]
        [('a', 1), ('→', 1), ('東́', 2)]
    """
    result: list[Piece] = []
    for index, character in enumerate(text):
        shown = _shown(text, index)
        literal = shown == character
        narrow = literal and not cell_len(character)
        base = result[-1] if result and result[-1].literal else None
        if base and literal and (narrow or text[index - 1] == _JOINER):
            whole = base.shown + shown
            result[-1] = Piece(whole, cell_len(whole), base.begin, True)
        else:
            whole = "◌" + shown if narrow else shown
            result.append(Piece(whole, cell_len(whole), index, literal))
    return result


def draw(excerpt: Excerpt, span: Span, room: int) -> Drawn:
    """A window of a line in which a span is marked.

    Args:
        excerpt: the part of the line that is at hand; the span is clipped to it.
        span: what is marked; where it is empty, the place of its first column.
        room: how many cells may be used; not less than 20 are.

    Examples:
        >>> draw(Excerpt("T1 東京 x"), Span(1, 4, 6), 80)[1:]
        (3, 4)
    """
    line = pieces(excerpt.text)
    first, end = _marked(line, excerpt, span)
    edges = list(accumulate((piece.cells for piece in line), initial=0))
    left, right = _window(edges, edges[first], max(room, _LEAST_ROOM), excerpt)
    end = max(first, min(end, right))
    before = [_cut(left)] if left or excerpt.offset else []
    behind = [_cut(right)] if right < len(line) or excerpt.cut else []
    shown = line[left:right]
    if any(piece.literal and has_rtl(piece.shown) for piece in shown):
        shown = _steadied(shown, first - left, end - left)
    column = edges[first] - edges[left] + len(before)
    return Drawn((*before, *shown, *behind), column, max(1, edges[end] - edges[first]))


def _marked(line: Sequence[Piece], excerpt: Excerpt, span: Span) -> tuple[int, int]:
    """The range of the pieces that a span touches; it is empty where the span is."""
    begin = max(0, span.column - 1 - excerpt.offset)
    begins = [piece.begin for piece in line]
    if begin >= len(excerpt.text):
        return len(line), len(line)
    first = bisect_right(begins, begin) - 1
    return first, max(first, bisect_left(begins, span.end_column - 1 - excerpt.offset))


def _window(edges: list[int], mark: int, room: int, excerpt: Excerpt) -> tuple[int, int]:
    """Which pieces fit into the room, the mark among them, with a cell for each cut."""
    whole = edges[-1] + bool(excerpt.offset) + excerpt.cut
    if whole <= room:
        return 0, len(edges) - 1
    inner = room - 2
    begin = max(0, min(mark - inner // 4, edges[-1] - inner))
    left = next(index for index, edge in enumerate(edges) if edge >= begin)
    right = max(index for index, edge in enumerate(edges) if edge <= edges[left] + inner)
    return left, right


def _steadied(line: list[Piece], first: int, end: int) -> list[Piece]:
    """The pieces with left-to-right marks between stretches that must not change places."""
    places = {0, first, end, len(line)}
    for index, piece in enumerate(line):
        if not piece.literal:
            places |= {index, index + 1}
    result = []
    for index in range(len(line) + 1):
        if index in places:
            result.append(Piece(LEFT_TO_RIGHT, 0, index, False))
        result.extend(line[index : index + 1])
    return result


def _cut(begin: int) -> Piece:
    return Piece("…", 1, begin, False)


def _shown(text: str, index: int) -> str:
    character = text[index]
    if character.isprintable() or character == _WIDE_SPACE or _shapes(text, index):
        return character
    return _DRAWN.get(character) or _escape(ord(character))


def _escape(number: int) -> str:
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _shapes(text: str, index: int) -> bool:
    """Whether a joiner stands where scripts and emoji need it: elsewhere it is unseen dirt."""
    if index == 0:
        return False
    before, behind = text[index - 1], text[index + 1 : index + 2]
    if text[index] == _NON_JOINER:
        return unicodedata.category(before)[0] in "LM" and before > "\u0300"
    return (
        text[index] == _JOINER
        and (before == _EMOJI_STYLE or unicodedata.category(before) in {"So", "Sk"})
        and unicodedata.category(behind or " ") == "So"
    )
