"""How the first row of a table can be read: as its header, with other names, or as a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlteval.findings.suggest import closest
from hlteval.syntax.tsv import Column, Table
from hlteval.syntax.tsv_columns import shortened
from hlteval.syntax.tsv_steps import NO_WORD, Columns, fits

NAMES, MISSING, EXTRA = "TAB103", "TAB104", "TAB105"
_ALIKE = 50.0
"""Least similarity, in percent, of a name in a header; the cells below it must fit too."""
_MOST = 100
"""Most columns of a table."""


@dataclass(frozen=True)
class Header:
    """A way to read the first row of a table.

    Attributes:
        columns: those of the other rows, in the order of the file.
        is_row: whether the first row is a header.
        code: of what is wrong with it; empty if nothing is.
        values: of the message.
        written: the header as it should be; empty where there should be none.
        known: whether it names columns.
    """

    columns: Columns
    is_row: bool
    code: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    written: Sequence[str] = ()
    known: bool = False


def read_header(rows: Sequence[Sequence[str]], table: Table) -> Iterator[Header]:
    """The ways to read the first of some rows, the likeliest first.

    Args:
        rows: the first rows of a file, in the notation that it may have.
        table: the declaration.
    """
    first = [cell.strip() for cell in rows[0]]
    if len(first) > _MOST:
        return
    known = table.ordered_by("\t".join(rows[0])) if table.header != "none" else None
    if known is not None:
        own: Columns = tuple(None if "\t" in column.name else column for column in known.columns)
        yield Header(own, is_row=True, written=rows[0], known=True)
        return
    if table.header != "required":
        yield from _without_header(first, table)
        return
    titles = [column.title for column in table.columns]
    needed = tuple(column for column in table.columns if not column.optional)
    if is_numbered(first) and len(first) in {len(titles), len(needed)}:
        columns = table.columns if len(first) == len(titles) else needed
        yield from _renamed(first, list(columns), table)
        return
    if 2 * sum(cell in titles for cell in first) > len(first) or not _recurs(rows):
        if not any(character in title for title in first for character in '",;|'):
            yield from _renamed(first, _named(first, rows[1:], table), table)
        return
    for columns in dict.fromkeys((table.columns, needed)):
        if len(first) == len(columns):
            names = [column.title for column in columns]
            values = {"header": shortened(" ".join(names), 200)}
            yield Header(columns, False, MISSING, values, names)


def _without_header(first: Sequence[str], table: Table) -> Iterator[Header]:
    """The readings of the first row of a table that needs no header."""
    yield Header(table.columns, is_row=False)
    words = [cell for cell in first if cell and not any(map(str.isdigit, cell))]
    wrong = [
        cell for column, cell in zip(table.columns, first, strict=False) if not fits(column, cell)
    ]
    named = len(words) >= len(first) - 1 and len(set(first)) == len(first)
    if wrong and (named or is_numbered(first)):
        given = shortened(" ".join(first), 80)
        yield Header(table.columns, True, EXTRA, {"given": given})


def is_numbered(cells: Sequence[str]) -> bool:
    """Whether cells are the numbers that programs give columns without names.

    Examples:
        >>> is_numbered(["0", "1", "2"]), is_numbered(["1", "2", "3"]), is_numbered(["0"])
        (True, False, False)
    """
    return len(cells) > 1 and list(cells) == list(map(str, range(len(cells))))


def _recurs(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows looks like the others, and not like a header."""
    first, *others = rows
    numbers = [any(map(str.isdigit, cell)) for cell in first]
    return any(
        cell and any(at < len(row) and (row[at] == cell or numbers[at]) for row in others)
        for at, cell in enumerate(first)
    )


def _named(
    titles: Sequence[str], rows: Sequence[Sequence[str]], table: Table
) -> list[Column | None]:
    """The column that each title of a header names, or nearly names; None for the others.

    A title that is like no name names the only column that its cells fit.
    """
    free = {column.title: column for column in table.columns}
    found: list[Column | None] = [free.pop(title, None) for title in titles]
    for at, title in enumerate(titles):
        if found[at] is None and (other := closest(title, free, cutoff=_ALIKE)):
            found[at] = free.pop(other)
    unknown = [at for at, column in enumerate(found) if column is None]
    fitting = {
        at: [column for column in free.values() if _tells(column) and _all_fit(column, rows, at)]
        for at in unknown
    }
    for at, columns in fitting.items():
        if len(columns) == 1 and sum(columns[0] in others for others in fitting.values()) == 1:
            found[at] = columns[0]
    return found


def _tells(column: Column) -> bool:
    """Whether cells tell a column from others: a pattern that fits anything does not."""
    return not fits(column, NO_WORD)


def _all_fit(column: Column, rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether all cells at a place fit a column, and some is not empty."""
    cells = [row[at] for row in rows if at < len(row)]
    return any(cells) and all(fits(column, cell) for cell in cells)


def _renamed(titles: Sequence[str], found: list[Column | None], table: Table) -> Iterator[Header]:
    """The reading of a header with other names, of which some columns may have been found.

    A header that lacks a column is none: its format reports the name.
    """
    there = {column.name for column in found if column}
    missing = [
        column
        for column in table.columns
        if column.name not in there and not (column.optional or column.nullable)
    ]
    if missing:
        return
    written = [
        column.title if column else title for column, title in zip(found, titles, strict=True)
    ]
    pairs = [
        f"{shortened(title, 30) or 'nothing'} for {right}"
        for title, right in zip(titles, written, strict=True)
        if title != right
    ]
    values = {"names": ", ".join(pairs), "header": shortened(" ".join(written), 200)}
    yield Header(tuple(found), True, NAMES if pairs else "", values, written, known=True)
