"""How plots look: colours that colour-blind readers tell apart, markers, and names as they are."""

from __future__ import annotations

from typing import Literal, NamedTuple

from hlteval.reports.display import visible

GRID = 0.4
"""Width of the lines of the grid in points."""
LONGEST = 40
"""Most characters of a name."""


_Line = Literal["-", "--", "-.", ":"]


class Style(NamedTuple):
    """How a system is drawn: no two differ in colour alone.

    Attributes:
        color: of its line and its points.
        line: the kind of its line.
        marker: the kind of its points.
    """

    color: str
    line: _Line
    marker: str


_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES: tuple[_Line, ...] = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
STYLES = tuple(Style(_COLORS[at % 7], _LINES[at % 4], _MARKERS[at % 9]) for at in range(63))
"""Those of the systems in order, no two of the same colour and marker.

The colours are Okabe and Ito's, without yellow.
"""


def plain(name: str) -> str:
    r"""A name as text that is not a formula, on one line.

    Examples:
        >>> plain("a$b$"), plain("a\tb")
        ('a\\$b\\$', 'a→b')
    """
    return visible(name).replace("$", r"\$")


def short(names: list[str]) -> list[str]:
    """Names that fit: long ones lose their middle, and get a number if alike.

    Examples:
        >>> short(["a", "b" * 50])
        ['a', 'bbbbbbbbbbbbbbbbbbb…bbbbbbbbbbbbbbbbbbbb']
    """
    half = LONGEST // 2
    cut = [n if len(n) <= LONGEST else f"{n[: half - 1]}…{n[-half:]}" for n in names]
    return [f"{at} {n}" if cut.count(n) > 1 else n for at, n in enumerate(cut, start=1)]
