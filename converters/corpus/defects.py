"""Problems of the rows of a corpus, in groups of one kind, which are described when they are shown.

Any number of rows may have a problem, and only some of them are explained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, NamedTuple

import polars as pl

from hlteval.sources.names import printable

_SHOWN = 60


@dataclass(frozen=True)
class DefectGroup:
    """Rows of a table with the same problem.

    Attributes:
        code: of the catalogue.
        table: the table of the rows.
        column: the column with the problem.
        ordinals: 0-based ordinals of the rows in the table as it was read.
        facts: a row of values for each, of which its description is made.
        describe: the values of the templates of the code, from a row of facts.
    """

    code: str
    table: str
    column: str
    ordinals: pl.Series
    facts: pl.DataFrame
    describe: Callable[..., Mapping[str, object]]

    def values(self, at: int) -> Mapping[str, object]:
        """The values of the templates of the code, for a row of the group."""
        described = self.describe(*self.facts.row(at))
        return {"table": self.table, "column": self.column, **described}


class Defect(NamedTuple):
    """A problem of a row.

    Attributes:
        group: what problem it is, and of which rows.
        at: 0-based index in the group.
        ordinal: 0-based ordinal of the row in the table as it was read.
    """

    group: DefectGroup
    at: int
    ordinal: int

    @property
    def code(self) -> str:
        """The code of the catalogue."""
        return self.group.code

    @property
    def table(self) -> str:
        """The table of the row."""
        return self.group.table

    @property
    def column(self) -> str:
        """The column with the problem."""
        return self.group.column

    @property
    def values(self) -> Mapping[str, object]:
        """The values of the templates of the code."""
        return self.group.values(self.at)


def in_order(groups: Sequence[DefectGroup], tables: Sequence[str]) -> Iterator[Defect]:
    """The problems of all groups by table, row and code.

    Args:
        groups: the groups.
        tables: the tables in order.
    """
    parts = [
        pl.select(
            group=pl.lit(number, pl.UInt32),
            at=pl.int_range(len(group.ordinals), dtype=pl.UInt32),
            ordinal=group.ordinals.cast(pl.UInt32),
            table=pl.lit(tables.index(group.table), pl.UInt32),
            code=pl.lit(group.code),
        )
        for number, group in enumerate(groups)
    ]
    if not parts:
        return iter(())
    rows = pl.concat(parts).sort("table", "ordinal", "code", maintain_order=True)

    def defect(group: int, at: int, ordinal: int) -> Defect:
        return Defect(groups[group], at, ordinal)

    return starmap(defect, _rows(rows.select("group", "at", "ordinal")))


def _rows(rows: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    return rows.iter_rows(buffer_size=10_000)


def bad_value(table: str, column: str, value: object) -> dict[str, object]:
    """The value that a row cannot have."""
    what = "incomplete or out of range"
    if value is None or isinstance(value, float | int):
        what = "missing" if value is None else f"{value}"
    limits = ", out of range" if isinstance(value, int) else ""
    return {"reason": f"{table}.{column} is {what}{limits}"}


def bad_reference(target: str, key: int) -> dict[str, object]:
    """The row that a reference does not lead to."""
    return {"key": key, "target": target}


def renaming(name: str, first: int | None, new: str) -> dict[str, object]:
    """The name that a document cannot have, why, and its new one."""
    problem = " is empty" if first is None else f" is already in row {first}"
    return {"name": _shown(name), "problem": problem, "new": new}


def odd_name(name: str) -> dict[str, object]:
    """The name that no file can have."""
    return {"name": _shown(name)}


def outside_text(
    item: str, start: float, end: float, document: str, length: int | None
) -> dict[str, object]:
    """The offsets of an item outside of the text of its document."""
    limit = "" if length is None else f", which has {length:,} characters"
    place = {"start": start, "end": end, "document": _shown(document), "limit": limit}
    return {"item": item, **place}


def unread_record(kind: str, name: str | None, code: str, text: str) -> dict[str, object]:
    """The record that could not be read when the corpus was made."""
    return {"kind": _shown(kind), "id": _shown(name or text), "original": _shown(code)}


def _shown(text: str) -> str:
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\u2026")
