"""Tables and lists of names in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells contain Markdown.

    Examples:
        >>> print(table(("a", "b"), [("1", "2")]), end="")
        | a | b |
        |---|---|
        | 1 | 2 |
    """
    lines = [f"| {' | '.join(cells)} |\n" for cells in (heads, *rows)]
    return "".join([lines[0], f"|{'---|' * len(heads)}\n", *lines[1:]])


def code(names: Iterable[str]) -> str:
    """A list of names as code, separated by commas.

    Examples:
        >>> code(["a", "b"])
        '`a`, `b`'
    """
    return ", ".join(f"`{name}`" for name in names)
