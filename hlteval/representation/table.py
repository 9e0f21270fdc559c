"""What a table of the representation is: its columns, and the keys that it has of other tables."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, Polars type, meaning, unit and whether it may be null."""

    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str
    unit: str = ""
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, and its columns in order."""

    name: str
    row_is: str
    columns: tuple[Column, ...]
    references: tuple[tuple[str, str], ...] = ()
    """Columns that hold the `row` of another table, with that table's name."""

    @property
    def schema(self) -> dict[str, pl.DataType | type[pl.DataType]]:
        """Column names and Polars types, in order."""
        return {column.name: column.dtype for column in self.columns}

    def empty(self) -> pl.DataFrame:
        """A table of this shape without rows."""
        return pl.DataFrame(schema=self.schema)


_WITHOUT_DOCUMENT = ("rejected_records", "mappings")
"""The tables whose rows may belong to no document."""


def declare(name: str, row_is: str, *columns: Column, placed: bool = True, **refs: str) -> Table:
    """Declare a table; `placed` adds the columns for the place of a row in its file."""
    head: tuple[Column, ...] = (Column("row", pl.Int64, "key of this table"),)
    references = dict(refs)
    if placed:
        head += (
            Column("document", pl.Int64, "row of `documents`", nullable=name in _WITHOUT_DOCUMENT),
            Column("origin", pl.Int64, "row of `sources`"),
            Column(
                "record", pl.Int64, "number of the record in that source", "1-based line or item"
            ),
        )
        references |= {"document": "documents", "origin": "sources"}
    return Table(name, row_is, head + columns, tuple(references.items()))
