"""Schema of the tables of the representation; `tables.toml` declares their columns and keys.

A record that cannot be read is a row of `rejected_records`, because official software counts
some.

The texts of a segment, its source, references and outputs of systems, are rows of one table,
`translations`. Formats without sources take the segments of LTF as such when they are written.

Fills of templates are a table of their own: arguments have no slots, alternatives, extents or
minimal strings. What only one format says of a document is a row of `attributes`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import polars as pl

#: Raised whenever a table or column changes its name, type or meaning, or one is added that may not
#: be null.
SCHEMA_VERSION = 1
FRAGMENTS = pl.List(pl.Struct({"start": pl.Int64, "end": pl.Int64}))
_TYPES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "text": pl.String,
    "integer": pl.Int64,
    "number": pl.Float64,
    "flag": pl.Boolean,
    "spans": FRAGMENTS,
}


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


def _declare(
    name: str,
    row_is: str,
    columns: Mapping[str, tuple[str, ...]],
    references: Mapping[str, str] = MappingProxyType({}),
    *,
    placed: bool = True,
    without_document: bool = False,
) -> Table:
    """Declare a table; `placed` adds the columns for the place of a row in its file."""
    head = [Column("row", pl.Int64, "key of this table")]
    if placed:
        number = "number of the record in that source"
        head += [
            Column("document", pl.Int64, "row of `documents`", nullable=without_document),
            Column("origin", pl.Int64, "row of `sources`"),
            Column("record", pl.Int64, number, "1-based line or item"),
        ]
        references = {**references, "document": "documents", "origin": "sources"}
    for column, (kind, meaning, *unit) in columns.items():
        dtype = _TYPES[kind.removesuffix("?")]
        head.append(Column(column, dtype, meaning, "".join(unit), kind.endswith("?")))
    return Table(name, row_is, tuple(head), tuple(references.items()))


_declared = tomllib.loads(Path(__file__).with_name("tables.toml").read_text("utf-8"))
#: Every table of the representation by name, in the order in which they refer to each other.
TABLES: Mapping[str, Table] = MappingProxyType(
    {name: _declare(name, **declaration) for name, declaration in _declared.items()}
)
