"""What is lost in the words of the format that people have: `3 N lines`, not rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl

from hlteval.representation import TABLES

#: The words that all formats share.
COMMON: Mapping[str, str] = MappingProxyType(
    {"documents": "document", "documents.text": "text", "rejected_records": "unreadable record"}
)
_IDENTIFIERS = {"mentions": "mention", "frames": "frame", "modifiers": "modifier"}


def worded(words: Mapping[str, str], item: str, rows: pl.DataFrame) -> Mapping[str, int]:
    """The counts of rows by the word of a format for them.

    Args:
        words: of a format, for the names of tables and of columns, such as `mentions.entity`;
            `modifiers:N` is the word for modifiers whose identifiers begin with N.
        item: the name of a table or column.
        rows: of that table.

    Examples:
        >>> rows = pl.DataFrame({"modifier": ["N1", "N2", "A1"]})
        >>> worded({"modifiers": "modifier", "modifiers:N": "N line"}, "modifiers", rows)
        {'N line': 2, 'modifier': 1}
    """
    word = words.get(item) or COMMON.get(item) or _default(item)
    letters = {key[-1]: words[key] for key in words if key[:-1] == f"{item}:"}
    if not letters or item not in _IDENTIFIERS:
        return {word: rows.height} if rows.height else {}
    first = rows[_IDENTIFIERS[item]].str.head(1)
    sizes = pl.DataFrame({"letter": first}).group_by("letter", maintain_order=True).len()
    counts: dict[str, int] = {}
    for letter, size in sizes.iter_rows():
        name = letters.get(letter or "", word)
        counts[name] = counts.get(name, 0) + size
    return counts


def _default(item: str) -> str:
    """The word of a format that declares none: that of the representation."""
    return f"row of {item}" if item in TABLES else f"value of {item}"
